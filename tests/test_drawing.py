import xml.etree.ElementTree as ElementTree

import pytest

from softparse.drawing import arcs_svg, heat_text, stacked_svg

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
