"""A labelled tree for the terminal: a word a line, arcs beside them."""

from __future__ import annotations

from collections.abc import Sequence

from .tree import Arc, check_tree, inside_out, levels
from .width import columns, is_right_to_left, padded, printable

ARROW, ROOT = "◄", "*"
JUNCTIONS = {  # by whether the arc goes up, down, and the stem goes on to the right
    (True, False, False): "╯",
    (True, False, True): "┴",
    (False, True, False): "╮",
    (False, True, True): "┬",
    (True, True, False): "┤",
    (True, True, True): "┼",
}
LEFT_TO_RIGHT_MARK = "\u200e"


def tree_text(words: Sequence[str], heads: Sequence[int], labels: Sequence[str]) -> str:
    """Draw a tree in box characters. Arrows point at modifiers; `*` is the root; unknown heads (-1) have no arc.

    >>> print(tree_text(["They", "walk", "the", "dog"], [2, 0, 4, 2], ["nsubj", "root", "det", "obj"]))
    1  They  nsubj  ◄╮
    2  walk  root   ─┴─┬◄*
    3  the   det    ◄╮ │
    4  dog   obj    ─┴◄╯
    """
    check_tree(words, heads, labels)
    words, labels = [printable(word) for word in words], [printable(label) for label in labels]
    heights = levels(inside_out(heads), head_inside=True)
    margin = len(str(len(words)))
    widths = [max(map(columns, texts), default=0) for texts in (words, labels)]
    lines = []
    for place, (word, label) in enumerate(zip(words, labels, strict=True), 1):
        # Without the mark a terminal that knows both directions would turn the line around.
        mark = LEFT_TO_RIGHT_MARK if is_right_to_left([word]) else ""
        cells = f"{place:>{margin}}", padded(word, widths[0]) + mark, padded(label, widths[1])
        lines.append((mark + "  ".join([*cells, _row(place, heads[place - 1], heights)])).rstrip())
    return "\n".join(lines)


def _row(word: int, head: int, heights: dict[Arc, int]) -> str:
    """The stem of a word: a piece and a junction for every level."""
    own = {level: arc for arc, level in heights.items() if word in arc}
    passing = {level for arc, level in heights.items() if arc.left < word < arc.right}
    outgoing = max((level for arc, level in heights.items() if arc.head == word), default=0)
    reach = max(own, default=0)
    if head == 0:
        reach = 1 + max(reach, *passing, 0)
    row = ""
    for level in range(1, max([reach, *passing]) + 1):
        is_arrow = level == outgoing + 1 and head >= 0
        row += " " if level > reach else ARROW if is_arrow else "─"
        if level in passing:
            row += "│"
        elif level == reach and head == 0:
            row += ROOT
        elif level in own:
            up = any(lower == level and arc.right == word for arc, lower in heights.items())
            down = any(lower == level and arc.left == word for arc, lower in heights.items())
            row += JUNCTIONS[up, down, level < reach]
        else:
            row += "─" if level < reach else " "
    return row
