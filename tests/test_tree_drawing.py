"""Labelled trees as text, SVG, HTML and LaTeX."""

import itertools
import random
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from softparse.drawing import heat_text, tree_html, tree_svg, tree_text, tree_tikz
from softparse.drawing.tree_layout import LABEL_SIZE, layout
from softparse.drawing.tree_tikz import escaped
from softparse.drawing.width import columns, ems

WORDS = ["They", "walk", "the", "dog", "in", "the", "park"]
HEADS = [2, 0, 4, 2, 7, 7, 2]
LABELS = ["nsubj", "root", "det", "obj", "case", "det", "obl"]
HEBREW = ["הילד", "אכל", "(", "תפוח", ")"]
HEBREW_TREE = [2, 0, 4, 2, 4], ["nsubj", "root", "punct", "obj", "punct"]
DRAWINGS = [tree_text, tree_svg, tree_tikz]


def any_tree(chance, length):
    heads, attached = [0] * length, [0]
    for word in chance.sample(range(1, length + 1), length):
        heads[word - 1] = chance.choice(attached)
        attached.append(word)
    return heads


def projective_tree(chance, length):
    heads = [0] * length

    def attach(first, last, head):
        while first <= last:
            end = chance.randint(first, last)
            word = chance.randint(first, end)
            heads[word - 1] = head
            attach(first, word - 1, word)
            attach(word + 1, end, word)
            first = end + 1

    attach(1, length, 0)
    return heads


def trees(number, longest=25):
    chance = random.Random(number)
    for make in (any_tree, projective_tree):
        heads = make(chance, chance.randint(1, longest))
        words = ["".join(chance.choices("aimW漢", k=chance.randint(1, 6))) for _ in heads]
        labels = chance.choices(["root", "nsubj:pass", "a", "compound:prt", "x" * 20, "_"], k=len(heads))
        yield make is projective_tree, words, [-1 if chance.random() < 0.05 else head for head in heads], labels


# Text


def test_text():
    assert tree_text(WORDS, HEADS, LABELS).splitlines() == [
        "1  They  nsubj  ◄╮",
        "2  walk  root   ─┴─┬─┬◄*",
        "3  the   det    ◄╮ │ │",
        "4  dog   obj    ─┴◄╯ │",
        "5  in    case   ◄──╮ │",
        "6  the   det    ◄╮ │ │",
        "7  park  obl    ─┴─┴◄╯",
    ]


def heads_in(drawing, width):
    """Read the arcs back: from an arrow to the right, then up or down to the next junction."""
    rows = [line.replace("\u200e", "") for line in drawing.splitlines()]
    cells = [[*row[width:], *" " * 200] for row in rows]
    heads = []
    for row, line in enumerate(cells):
        if "◄" not in line:
            heads.append(-1)
            continue
        column = line.index("◄")
        while line[column] not in "╯╮*":
            column += 1
            assert line[column] in "─│╯╮*"
        step = {"╯": -1, "╮": 1, "*": 0}[line[column]]
        head = row + step
        while step and cells[head][column] == "│":
            head += step
        heads.append(head + 1 if step else 0)
    return heads


@pytest.mark.parametrize("number", range(60))
def test_text_can_be_read_back(number):
    for _, words, heads, _ in trees(number):
        words = ["w"] * len(words)
        drawing = tree_text(words, heads, ["x"] * len(words))
        assert heads_in(drawing, len(str(len(words))) + 8) == heads


def test_wide_characters_and_marks_are_aligned():
    text = tree_text(["犬", "cafe\u0301", "각"], [2, 0, 2], ["a", "root", "b"])
    starts = {columns(re.split("[◄─]", line)[0]) for line in text.splitlines()}
    assert len(starts) == 1


def test_a_line_from_the_right_keeps_its_direction():
    lines = tree_text(HEBREW, *HEBREW_TREE).splitlines()
    assert [line.startswith("\u200e") for line in lines] == [True, True, False, True, False]


def test_cycles_are_drawn_too():
    for drawing in DRAWINGS:
        assert drawing(list("abc"), [2, 3, 1], ["x"] * 3)


def test_nothing_to_draw():
    for drawing in DRAWINGS:
        assert isinstance(drawing([], [], []), str)


def test_long_chains():
    assert tree_text(["w"] * 400, range(400), ["x"] * 400).count("◄") == 400


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_wrong_trees(drawing):
    with pytest.raises(ValueError, match="2 words need as many heads and labels, not 1 and 2"):
        drawing(["a", "b"], [0], ["x", "y"])
    with pytest.raises(ValueError, match="the head of word 2 is 3, but heads are 1 to 2"):
        drawing(["a", "b"], [0, 3], ["x", "y"])
    with pytest.raises(ValueError, match="word 2 is its own head"):
        drawing(["a", "b"], [0, 2], ["x", "y"])


def test_matrix_of_wide_words_is_aligned():
    lines = heat_text(["犬", "犬犬犬"], [[0, 0, 1], [0, 0, 0], [0, 1, 0]]).splitlines()
    assert lines == ["        犬   犬犬犬", "     *       ██████", "    犬", "犬犬犬  ███"]


# SVG


def svg(*tree, **options):
    root = ElementTree.fromstring(tree_svg(*tree, **options))
    return root, lambda kind: [element for element in root.iter() if element.get("class") == kind]


def texts(root, kind=None):
    return [e for e in root.iter() if e.tag.endswith("}text") and e.get("class") == kind]


def test_svg_has_words_labels_and_arrows():
    root, of_class = svg(WORDS, HEADS, LABELS)
    assert [element.text for element in texts(root)] == WORDS
    assert sorted(element.text for element in texts(root, "label")) == sorted(LABELS)
    assert len(of_class("tip")) == len(of_class("line")) == 7


def test_unknown_heads_and_labels_are_left_out():
    root, of_class = svg(["a", "b", "c"], [-1, 1, 1], ["x", "_", "y"])
    assert len(of_class("tip")) == 2
    assert [element.text for element in texts(root, "label")] == ["y"]


def test_svg_is_escaped():
    words = ["<&", '"', "\x01", "a\tb", "\u2028"]
    root, _ = svg(words, [0, 1, 1, 1, 1], ["<root>", "]]>", "x", "y", "z"])
    assert [element.text for element in texts(root)] == ["<&", '"', "\ufffd", "a b", " "]
    assert "<root>" in [element.text for element in texts(root, "label")]


def test_svg_needs_nothing_else():
    picture = tree_svg(WORDS, HEADS, LABELS)
    assert "href" not in picture
    assert "url(" not in picture
    assert picture.count("http") == 1  # the name of the format


def places(*tree, **options):
    root, _ = svg(*tree, **options)
    return [float(element.get("x")) for element in texts(root)]


def test_direction():
    hebrew = places(HEBREW, *HEBREW_TREE)
    assert hebrew == sorted(hebrew, reverse=True)
    straight = places(HEBREW, *HEBREW_TREE, direction="ltr")
    assert straight == sorted(straight)
    assert places(WORDS, HEADS, LABELS) == sorted(places(WORDS, HEADS, LABELS))
    turned = places(WORDS, HEADS, LABELS, direction="rtl")
    assert turned == sorted(turned, reverse=True)
    with pytest.raises(ValueError, match="direction is 'up'"):
        tree_svg(WORDS, HEADS, LABELS, direction="up")


def test_uncertain_arcs_are_paler():
    root, _ = svg(["a", "b"], [2, 0], ["x", "root"], probabilities=[0.25, 1])
    shades = {
        group[0].text: [float(part.get("opacity")) for part in group if part.get("opacity")]
        for group in root
        if group.tag.endswith("}g")
    }
    assert shades == {"b → a: x (0.250)": [0.4, 0.625], "b: root (1.000)": [1.0, 1.0]}
    with pytest.raises(ValueError, match="2 words need as many probabilities, not 1"):
        tree_svg(["a", "b"], [2, 0], ["x", "root"], [1])
    with pytest.raises(ValueError, match=r"word 2 is 1.5, not between 0 and 1"):
        tree_svg(["a", "b"], [2, 0], ["x", "root"], [1, 1.5])


def boxes(sheet, labels):
    """Left, top, right and bottom of the labels, without those of the roots."""
    for placed in sheet.arcs:
        label = labels[placed.arc.modifier - 1]
        if label != "_":
            half = LABEL_SIZE * ems(label) / 2
            yield placed.label - half, placed.top - 5 - LABEL_SIZE, placed.label + half, placed.top - 2


def strokes(sheet):
    """Everything drawn, as upright or level boxes without area."""
    for placed in sheet.arcs:
        yield min(placed.start, placed.end), placed.top, max(placed.start, placed.end), placed.top
        for x in (placed.start, placed.end):
            yield x, placed.top, x, sheet.base
    for x in sheet.roots.values():
        yield x, sheet.root_top, x, sheet.base


def meet(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("number", range(60))
def test_nothing_overlaps(number):
    for is_projective, words, heads, labels in trees(number):
        # Unknown heads hide arcs, never add crossings; a root inside an arc does.
        sheet = layout(words, heads, labels, right_to_left=bool(number % 2))
        every = list(boxes(sheet, labels))
        assert not any(meet(one, other) for place, one in enumerate(every) for other in every[:place])
        levels = [stroke for stroke in strokes(sheet) if stroke[0] < stroke[2]]
        assert not any(meet(box, stroke) for box in every for stroke in levels)
        if is_projective:
            assert not any(meet(box, stroke) for box in every for stroke in strokes(sheet))
            upright = [stroke for stroke in strokes(sheet) if stroke[0] == stroke[2]]
            assert len({round(stroke[0], 3) for stroke in upright}) == len(upright)
            assert not any(crosses(level, leg) for level in levels for leg in upright)
        edges = [x for box in (*every, *strokes(sheet)) for x in (box[0], box[2])]
        assert all(0 <= x <= sheet.width for x in edges)
        assert all(box[1] >= 0 for box in every)


def crosses(level, leg):
    return level[0] + 1e-6 < leg[0] < level[2] - 1e-6 and leg[1] < level[1] < leg[3]


def test_a_crossed_label_has_paper_below_it():
    crossed = ["a", "b", "c"], [3, 0, 2], ["x" * 20, "root", "y"]
    plain = ["a", "b", "c"], [2, 0, 2], ["x" * 20, "root", "y"]
    assert [len(svg(*tree)[1]("paper")) for tree in (crossed, plain)] == [2, 1]


@pytest.mark.parametrize("number", range(20))
def test_words_do_not_touch(number):
    for _, words, heads, labels in trees(number):
        sheet = layout(words, heads, labels, right_to_left=False)
        ends = [(x - 8 * ems(word), x + 8 * ems(word)) for x, word in zip(sheet.centres, words, strict=True)]
        assert all(left + 8 < right for (_, left), (right, _) in itertools.pairwise(ends))


# HTML


class Reader(HTMLParser):
    """Counts tags, and checks that they close in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.seen, self.text = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_page():
    sentence = SimpleNamespace(words=WORDS, heads=HEADS, labels=LABELS, sent_id="en-1")
    hebrew = SimpleNamespace(words=HEBREW, heads=HEBREW_TREE[0], labels=HEBREW_TREE[1])
    page = tree_html([sentence, hebrew], "Trees of <x>")
    reader = Reader(page)
    assert reader.seen.count("svg") == reader.seen.count("section") == reader.seen.count("details") == 2
    assert reader.seen.count("tr") == len(WORDS) + len(HEBREW) + 2
    assert "script" not in reader.seen
    assert {"en-1", "2", "Trees of <x>", "4 dog", "root"} <= set(reader.text)
    assert '<h2 dir="rtl">' in page


def test_page_is_escaped():
    sentence = SimpleNamespace(words=["<script>alert(1)</script>"], heads=[-1], labels=["<b>"], sent_id="</p>")
    reader = Reader(tree_html(iter([sentence])))
    assert "script" not in reader.seen
    assert "not known" in reader.text


def test_page_with_probabilities():
    sentence = SimpleNamespace(words=["a", "b"], heads=[2, 0], labels=["x", "root"])
    assert "0.125" in Reader(tree_html([sentence], probabilities=[[0.125, 1]])).text
    with pytest.raises(ValueError, match="1 sentences need as many lists of probabilities, not 2"):
        tree_html([sentence], probabilities=[[1, 1], [1, 1]])


# LaTeX


def test_latex_special_characters():
    assert escaped(r"\{}$&#_%~^") == (r"\textbackslash{}\{\}\$\symbol{38}\#\_\%\textasciitilde{}\textasciicircum{}")
    assert escaped("``''---") == r"\textasciigrave{}\textasciigrave{}'{}'-{}-{}-"
    assert escaped("Größe 漢字") == "Größe 漢字"


def test_latex_words_are_no_options():
    text = tree_tikz(["[", "|", "a"], [-1, -1, 0], ["x", "y", "root"])
    assert r"{[} \& {\textbar{}} \& a \\" in text


def test_latex_arcs():
    text = tree_tikz(WORDS, HEADS, LABELS)
    assert set(re.findall(r"\\depedge\[edge height=\S+ex\](\{.*\})", text)) == {
        f"{{{head}}}{{{word}}}{{{label}}}"
        for word, (head, label) in enumerate(zip(HEADS, LABELS, strict=True), 1)
        if head
    }
    assert re.search(r"\\deproot\[edge height=15ex\]\{2\}\{root\}", text)
    assert r"\documentclass" not in text


def test_latex_room_for_labels():
    text = tree_tikz(["a", "b"], [0, 1], ["root", "parataxis:discourse"])
    assert float(re.search(r"\\&\[(.*)em\]", text)[1]) > 5


def test_latex_unknown_heads_and_labels():
    text = tree_tikz(["a", "b"], [-1, 1], ["_", "_"])
    assert text.count(r"\dep") == 1
    assert r"\depedge[hide label, edge height=3ex]{1}{2}{}" in text


def test_latex_from_the_right():
    text = tree_tikz(HEBREW, *HEBREW_TREE, standalone=True)
    cells = re.search(r"sep=1em\]\n(.*) \\\\", text)[1]
    words = [cell.strip(" {}") for cell in re.split(r"\\&(?:\[.*?\])?", cells)]
    assert words == ["(", "תפוח", ")", "אכל", "הילד"]  # brackets turned
    assert r"{4}{5}{nsubj}" in text
    assert "bidi=basic" in text


@pytest.mark.parametrize("number", range(10))
def test_latex_braces_balance(number):
    chance = random.Random(number)
    words = ["".join(chance.choices(r"\{}$&#_%~^[]|-'`\"<>x", k=5)) for _ in range(8)]
    text = tree_tikz(words, any_tree(chance, 8), words, standalone=True)
    bare = re.sub(r"\\[^a-zA-Z]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.startswith("% Compile")
    assert text.endswith("\\end{document}\n")


def test_buttons_of_a_clickable_tree():
    """Every arc and every word can be reached with the keyboard and says what it is."""
    plain = tree_svg(["They", "walk"], [2, 0], ["nsubj", "root"])
    assert "button" not in plain
    picture = ElementTree.fromstring(tree_svg(["They", "walk"], [2, 0], ["nsubj", "root"], clickable=True))
    buttons = [element for element in picture.iter() if element.get("role") == "button"]
    assert {(button.get("data-head"), button.get("data-word")) for button in buttons} == {
        ("0", "2"), ("2", "1"), (None, "1"), (None, "2"),
    }  # fmt: skip
    assert all(button.get("tabindex") == "0" for button in buttons)
    assert all(button.get("aria-label") or button[0].tag.endswith("title") for button in buttons)
    assert picture.get("role") == "group"  # the role img would hide the buttons


def test_required_arcs_are_thick_and_wrong_ones_red():
    drawn = tree_svg(["They", "walk"], [2, 0], ["nsubj", "root"], required={1}, wrong={1, 2})
    kinds = {group[0].text: group.get("class") for group in ElementTree.fromstring(drawn) if group.tag.endswith("}g")}
    assert kinds == {"walk → They: nsubj": "required wrong", "walk: root": "wrong"}
