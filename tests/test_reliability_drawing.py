import xml.etree.ElementTree as ElementTree

from softparse.drawing import reliability_svg
from softparse.drawing.reliability_svg import SIDE, Bar, Panel

BARS = [Bar(0.0, 0.5, 0, 0.0, 0.0), Bar(0.5, 0.75, 10, 0.7, 0.8), Bar(0.75, 1.0, 20, 0.9, 0.5)]


def drawn(rows):
    return [
        (element.tag.rpartition("}")[2], element) for element in ElementTree.fromstring(reliability_svg(rows)).iter()
    ]


def test_heights_are_what_is_right_and_what_is_missing():
    elements = drawn([("arcs", [Panel("before", 0.2, BARS)])])
    heights = {
        name: [float(element.get("height")) for tag, element in elements if element.get("class") == name]
        for name in ("over", "under")
    }
    assert heights["under"][0] == round(0.1 * SIDE, 1)
    assert heights["over"][0] == round(0.4 * SIDE, 1)
    assert len(heights["over"]) == len(heights["under"]) == 2  # one in the plot, one in the legend
    titles = [element.text for tag, element in elements if tag == "title"]
    assert titles == [  # none for the empty bin
        "10 arcs: mean probability 70.0 %, right 80.0 %",
        "20 arcs: mean probability 90.0 %, right 50.0 %",
    ]


def test_panels_side_by_side_and_rows_below():
    panels = [Panel("a < b", 0.123, BARS), Panel("after", 0.01, BARS)]
    elements = drawn([("arcs", panels), ("trees", panels)])
    texts = [element.text for tag, element in elements if tag == "text"]
    assert texts.count("a < b") == texts.count("after") == 2
    assert {"Arcs (30)", "Trees (30)", "error 12.3 %", "error 1.0 %"} <= set(texts)
    squares = [element for _, element in elements if element.get("class") == "plot"]
    places = [(float(square.get("x")), float(square.get("y"))) for square in squares]
    assert places[0][1] == places[1][1] < places[2][1] == places[3][1]
    assert places[0][0] == places[2][0] < places[1][0] == places[3][0]
