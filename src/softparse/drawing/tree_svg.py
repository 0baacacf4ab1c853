"""A labelled tree as arcs above the words, in SVG."""

from __future__ import annotations

from collections.abc import Container, Sequence
from html import escape

from .tree import check_tree
from .tree_layout import LABEL_SIZE, WORD_SIZE, Layout, PlacedArc, layout, shown
from .width import drawable, ems, is_right_to_left, printable

DIRECTIONS = ("auto", "ltr", "rtl")
CORNER = 9.0
FAINTEST_ARC, FAINTEST_LABEL = 0.2, 0.5  # at probability 0
STYLE = (
    ".softparse-tree{color:#1b3a57}.softparse-tree .paper{fill:#fff}"
    "@media(prefers-color-scheme:dark){.softparse-tree{color:#dbe6f0}.softparse-tree .paper{fill:#161b22}}"
    f".softparse-tree text{{font:{WORD_SIZE:g}px sans-serif;fill:currentColor;text-anchor:middle}}"
    f".softparse-tree .label{{font-size:{LABEL_SIZE:g}px}}"
    ".softparse-tree .line{fill:none;stroke:currentColor;stroke-width:1.4}"
    ".softparse-tree .tip{fill:currentColor}"
    ".softparse-tree .required .line{stroke-width:3}"
    ".softparse-tree .wrong{color:#c5221f}.softparse-tree .wrong .line{stroke-dasharray:5 3}"
    "@media(prefers-color-scheme:dark){.softparse-tree .wrong{color:#ff8a80}}"
)
CLICKABLE_STYLE = (
    ".softparse-tree [role=button]{cursor:pointer}.softparse-tree .hit{fill:none;stroke:transparent;stroke-width:14}"
    ".softparse-tree .word .hit{fill:transparent}"
    ".softparse-tree [role=button]:hover,.softparse-tree [role=button]:focus{color:#c2410c;outline:none}"
    ".softparse-tree [role=button]:focus .hit{stroke:#c2410c;stroke-opacity:.3}"
)


def tree_svg(
    words: Sequence[str],
    heads: Sequence[int],
    labels: Sequence[str],
    probabilities: Sequence[float] | None = None,
    direction: str = "auto",
    required: Container[int] = (),
    wrong: Container[int] = (),
    clickable: bool = False,
) -> str:
    """Draw a tree as a file that needs nothing else. Arrows point at modifiers, the root's from above; unknown heads
    (-1) have no arc.

    `probabilities` (one a word, from 0 to 1) make the arcs of uncertain heads paler. `direction` is "ltr", "rtl" or
    "auto": from the right where most letters are of a script such as Arabic or Hebrew. The arcs of words in `required`
    are thick, those of words in `wrong` red and dashed. For a page that answers, `clickable` makes arcs and words into
    buttons with `data-head` and `data-word`.

    >>> tree_svg(["They", "walk"], [2, 0], ["nsubj", "root"]).count('class="tip"')
    2
    """
    check_tree(words, heads, labels)
    _check(words, probabilities, direction)
    words, labels = [drawable(word) for word in words], [printable(label) for label in labels]
    right_to_left = direction == "rtl" or (direction == "auto" and is_right_to_left(words))
    sheet = layout(words, heads, labels, right_to_left)
    parts = []
    for word, x in sheet.roots.items():
        line = _line(f"M{x:.1f},{sheet.root_top:.1f} V{sheet.base - 5:.1f}", x, sheet.base, clickable)
        text = _text(x, sheet.root_top - 5, shown(labels[word - 1]))
        title = f"{words[word - 1]}: {labels[word - 1]}"
        attributes = _attributes(0, word, required, wrong, clickable)
        parts.append(_group(title, line, text, _weight(probabilities, word), attributes))
    for placed in reversed(sheet.arcs):  # low arcs last: their labels go over what crosses them
        head, word = placed.arc
        title = f"{words[head - 1]} → {words[word - 1]}: {labels[word - 1]}"
        line = _arc(placed, sheet, clickable)
        attributes = _attributes(head, word, required, wrong, clickable)
        parts.append(_group(title, line, _label(placed, labels), _weight(probabilities, word), attributes))
    turned = ' direction="rtl"' if right_to_left else ""
    y = sheet.base + WORD_SIZE * 1.1
    for word, (x, text) in enumerate(zip(sheet.centres, words, strict=True), 1):
        drawn = f'<text x="{x:.1f}" y="{y:.1f}"{turned}>{escape(text)}</text>'
        parts.append(_button(word, x, y, text, drawn) if clickable else drawn)
    return _document(sheet, " ".join(words), parts, clickable)


def _button(word: int, x: float, y: float, text: str, drawn: str) -> str:
    half = WORD_SIZE * ems(text) / 2 + 6
    hit = f'<rect class="hit" x="{x - half:.1f}" y="{y - 17:.1f}" width="{2 * half:.1f}" height="25"/>'
    name = escape(f"head of {text}, word {word}")
    return f'<g class="word" role="button" tabindex="0" data-word="{word}" aria-label="{name}">{hit}{drawn}</g>'


def _attributes(head: int, word: int, required: Container[int], wrong: Container[int], clickable: bool) -> str:
    kinds = [name for name, words in (("required", required), ("wrong", wrong)) if word in words]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f'{kind} role="button" tabindex="0" data-head="{head}" data-word="{word}"' if clickable else kind


def _check(words: Sequence[str], probabilities: Sequence[float] | None, direction: str) -> None:
    if direction not in DIRECTIONS:
        raise ValueError(f"direction is {direction!r}, but must be one of {', '.join(DIRECTIONS)}")
    if probabilities is None:
        return
    if len(probabilities) != len(words):
        raise ValueError(f"{len(words)} words need as many probabilities, not {len(probabilities)}")
    for word, probability in enumerate(probabilities, 1):
        if not 0 <= probability <= 1:
            raise ValueError(f"the probability of the head of word {word} is {probability:g}, not between 0 and 1")


def _weight(probabilities: Sequence[float] | None, word: int) -> float | None:
    return None if probabilities is None else float(probabilities[word - 1])


def _group(title: str, line: str, label: str, probability: float | None, attributes: str) -> str:
    if probability is None:
        return f"<g{attributes}><title>{escape(title)}</title>{line}{label}</g>"
    shades = [faintest + (1 - faintest) * probability for faintest in (FAINTEST_ARC, FAINTEST_LABEL)]
    line, label = (f'<g opacity="{shade:.3f}">{part}</g>' for shade, part in zip(shades, (line, label), strict=True))
    return f"<g{attributes}><title>{escape(title)} ({probability:.3f})</title>{line}{label}</g>"


def _arc(placed: PlacedArc, sheet: Layout, clickable: bool) -> str:
    """Up from the head, across and down to the modifier, with round corners."""
    start, end, top = placed.start, placed.end, placed.top
    bend = min(CORNER, abs(end - start) / 2) * (1 if end > start else -1)
    low = top + abs(bend)
    curve = (
        f"M{start:.1f},{sheet.base:.1f} V{low:.1f} Q{start:.1f},{top:.1f} {start + bend:.1f},{top:.1f} "
        f"H{end - bend:.1f} Q{end:.1f},{top:.1f} {end:.1f},{low:.1f} V{sheet.base - 5:.1f}"
    )
    return _line(curve, end, sheet.base, clickable)


def _line(curve: str, end: float, base: float, clickable: bool) -> str:
    hit = f'<path class="hit" d="{curve}"/>' if clickable else ""  # a line alone is hard to meet with a finger
    return f'{hit}<path class="line" d="{curve}"/>{_tip(end, base)}'


def _tip(x: float, base: float) -> str:
    return f'<path class="tip" d="M{x - 3.2:.1f},{base - 7:.1f} H{x + 3.2:.1f} L{x:.1f},{base:.1f} Z"/>'


def _label(placed: PlacedArc, labels: Sequence[str]) -> str:
    text = shown(labels[placed.arc.modifier - 1])
    label = _text(placed.label, placed.top - 5, text)
    if placed.is_crowded:
        width, height = LABEL_SIZE * ems(text) + 4, LABEL_SIZE + 1
        place = f'x="{placed.label - width / 2:.1f}" y="{placed.top - 3 - height:.1f}"'
        label = f'<rect class="paper" {place} width="{width:.1f}" height="{height:.1f}"/>{label}'
    return label


def _text(x: float, y: float, text: str) -> str:
    return f'<text class="label" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>' if text else ""


def _document(sheet: Layout, title: str, parts: Sequence[str], clickable: bool) -> str:
    body = "\n".join(parts)
    role, style = ("group", STYLE + CLICKABLE_STYLE) if clickable else ("img", STYLE)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="softparse-tree" role="{role}" aria-label="{escape(title)}" '
        f'viewBox="0 0 {sheet.width:.0f} {sheet.height:.0f}" width="{sheet.width:.0f}" height="{sheet.height:.0f}">'
        f'<style>{style}</style>\n<rect class="paper" width="100%" height="100%"/>\n{body}\n</svg>'
    )
