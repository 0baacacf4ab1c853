import re
import xml.etree.ElementTree as ElementTree

import pytest

from softparse.drawing import Bar, arcs_svg, bars_svg, heat_svg, heat_text, stacked_svg

ARCS = [[0, 0, 1], [0, 0, 0], [0, 0.5, 0]]


def test_words_are_escaped():
    root = ElementTree.fromstring(arcs_svg(["<&", '"dog"'], ARCS, "a < b"))
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert texts == ["a < b", "*", "<&", '"dog"']


def test_opacity_is_weight():
    root = ElementTree.fromstring(arcs_svg(["the", "dog"], ARCS))
    groups = {element[0].text: element.get("opacity") for element in root.iter() if element.tag.endswith("}g")}
    assert groups == {"0 → 2: 1.000": "1.000", "2 → 1: 0.500": "0.500"}


def test_panels_are_stacked():
    root = ElementTree.fromstring(stacked_svg([arcs_svg(["a"], [[0, 1], [0, 0]])] * 3))
    offsets = [int(element.get("y")) for element in root if element.tag.endswith("svg")]
    assert offsets == sorted(set(offsets))
    assert len(offsets) == 3


def test_sizes_must_match():
    with pytest.raises(ValueError, match="2 words need a matrix of 3 rows"):
        arcs_svg(["a", "b"], [[0, 1], [0, 0]])
    with pytest.raises(ValueError, match="2 words need a matrix of 3 rows"):
        heat_text(["a", "b"], [[0, 1], [0, 0]])


def test_heat_as_a_picture():
    root = ElementTree.fromstring(heat_svg(["<the>", "dog"], ARCS))
    cells = {element[0].text: element.get("opacity") for element in root.iter() if element.get("class") == "cell"}
    assert cells == {"* → dog: 1.000": "1.000", "dog → <the>: 0.500": "0.500"}
    names = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert names == ["*", "<the>", "dog", "<the>", "dog"]


def test_scripts_from_the_right_are_turned():
    """The root and the first word are on the right, the heads' names too."""
    words = ["הכלב", "רץ"]
    picture = ElementTree.fromstring(arcs_svg(words, ARCS))
    places = [float(element.get("x")) for element in picture.iter() if element.tag.endswith("text")]
    assert places == sorted(places, reverse=True)
    heat = ElementTree.fromstring(heat_svg(words, ARCS))
    cells = [element for element in heat.iter() if element.get("class") == "cell"]
    dog, run = (float(element.get("x")) for element in sorted(cells, key=lambda element: element[0].text))
    names = [element for element in heat.iter() if element.get("x") and element.tag.endswith("text")]
    assert all(float(name.get("x")) > max(dog, run) for name in names)


def test_one_picture_does_not_style_another():
    """Pictures share a page: their rules are for themselves only."""
    for picture in (arcs_svg(["a"], [[0, 1], [0, 0]]), heat_svg(["a"], [[0, 1], [0, 0]])):
        rules = picture.split("<style>")[1].split("</style>")[0].replace("@media(prefers-color-scheme:dark){", "")
        selectors = [rule.split("{")[0] for rule in rules.replace("}}", "}").split("}") if rule]
        assert all(selector.startswith(".softparse-") for selector in selectors), selectors


def test_intervals_of_bars_are_on_their_scale_and_within_the_picture():
    bars = [Bar("gain", 2.0, interval=(1.0, 4.0)), Bar("loss", -1.0, interval=(-3.0, 1.0)), Bar("plain", 2.0)]
    root = ElementTree.fromstring(bars_svg("changes", bars))
    groups = [element for element in root.iter() if element.get("class") == "bar"]
    ends = []
    for group in groups[:2]:
        (line,) = (element.get("d") for element in group if element.get("class") == "whisker")
        ends.append([float(number) for number in re.findall(r"[MH]([-\d.]+)", line)])
    (bar,) = (element for element in groups[0] if element.tag.endswith("rect"))
    zero, unit = float(bar.get("x")), float(bar.get("width")) / 2
    assert ends[0] == pytest.approx([zero + unit, zero + 4 * unit], abs=0.1)
    assert ends[1] == pytest.approx([zero - 3 * unit, zero + unit], abs=0.1)
    assert not any(element.get("class") == "whisker" for element in groups[2])
    numbers = [float(list(group)[-1].get("x")) for group in groups]
    assert numbers[0] > ends[0][1]  # beyond the line, not on it
    assert numbers[1] < ends[1][0]
    assert max(numbers) < float(root.get("width"))


def test_numbers_of_losses_leave_the_names_alone():
    """The longest bar to the left has its number beside the names."""
    root = ElementTree.fromstring(bars_svg("by label", [Bar("fixed", -112.87), Bar("case", 1.1)]))
    group = next(element for element in root.iter() if element.get("class") == "bar")
    name, number = (element for element in group if element.tag.endswith("text"))
    assert number.text == "-112.87"
    letter = 0.55 * 12  # of digits
    assert float(number.get("x")) - letter * len(number.text) > float(name.get("x"))
