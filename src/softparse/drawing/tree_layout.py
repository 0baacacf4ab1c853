"""Where the words and arcs of a labelled tree go, in pixels: apart enough that no label touches anything."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .tree import Arc, arcs_of, levels
from .width import ems

WORD_SIZE, LABEL_SIZE = 16.0, 11.5  # of the letters
MARGIN, GAP, PORT, SIDE = 14.0, 16.0, 5.5, 9.0  # PORT: between arcs at a word; SIDE: beside a label
FIRST, LEVEL = 26.0, 22.0  # heights of the lowest arc and of one over another


@dataclass(frozen=True)
class PlacedArc:
    """An arc from a point above its head to one above its modifier, and the middle of its label."""

    arc: Arc
    start: float
    end: float
    top: float
    label: float
    is_crowded: bool  # other arcs leave no room for the label, which only happens where arcs cross


@dataclass(frozen=True)
class Layout:
    """Places on a sheet; y runs downward and `base` is where arcs end above the words."""

    width: float
    height: float
    base: float
    centres: list[float]
    arcs: list[PlacedArc]
    roots: dict[int, float]  # x of the arrow from above
    root_top: float


def layout(words: Sequence[str], heads: Sequence[int], labels: Sequence[str], right_to_left: bool) -> Layout:
    """Lay out a tree from the left, and turn it around for scripts from the right."""
    arcs = arcs_of(heads)
    heights = levels(arcs)
    ports = _ports(heads, arcs)
    centres, width = _centres(*_spaces(words, heads, labels, arcs, ports))
    has_root = 0 in heads
    top_level = max(heights.values(), default=0)
    root_top = MARGIN + LABEL_SIZE + 3
    base = root_top + FIRST + LEVEL * max(0, top_level - (0 if has_root else 1)) - (0 if has_root else 4)
    roots = {word: centres[word - 1] for word, head in enumerate(heads, 1) if head == 0}
    placed = []
    for arc in arcs:
        start, end = (centres[word - 1] + ports[arc, word] for word in arc)
        top = base - FIRST - LEVEL * (heights[arc] - 1)
        legs = [
            centres[word - 1] + ports[other, word]
            for other in arcs
            if heights[other] > heights[arc]
            for word in other
            if arc.left < word < arc.right
        ]
        legs += [x for word, x in roots.items() if arc.left < word < arc.right]
        middle, room = _widest(start, end, legs)
        is_crowded = room < LABEL_SIZE * ems(shown(labels[arc.modifier - 1]))
        if is_crowded:
            middle = (start + end) / 2
        placed.append(PlacedArc(arc, start, end, top, middle, is_crowded))
    if right_to_left:
        placed = [replace(p, start=width - p.start, end=width - p.end, label=width - p.label) for p in placed]
        centres, roots = [width - x for x in centres], {word: width - x for word, x in roots.items()}
    return Layout(width, base + WORD_SIZE * 1.25 + MARGIN, base, centres, placed, roots, root_top)


def _ports(heads: Sequence[int], arcs: Sequence[Arc]) -> dict[tuple[Arc, int], float]:
    """Where arcs meet their words, from the middle of the word.

    From left to right: arcs to the left, short ones first, and arcs to the right, long ones first, so that arcs of one
    word do not cross. The arrow from the head is in the middle.
    """
    ports: dict[tuple[Arc, int], float] = {}
    for word, head in enumerate(heads, 1):
        here: list[Arc | None] = [arc for arc in arcs if arc.right == word]
        if head == 0:
            here.append(None)
        here += [arc for arc in reversed(arcs) if arc.left == word]
        middle = (len(here) - 1) / 2 if head < 0 else here.index(None if head == 0 else Arc(head, word))
        ports |= {(arc, word): PORT * (place - middle) for place, arc in enumerate(here) if arc is not None}
    return ports


def _spaces(
    words: Sequence[str],
    heads: Sequence[int],
    labels: Sequence[str],
    arcs: Sequence[Arc],
    ports: dict[tuple[Arc, int], float],
) -> tuple[list[float], list[float]]:
    """Half the width of every word, and what must be between neighbours so that every label fits its arc."""
    halves = [WORD_SIZE * ems(word) / 2 for word in words]
    for arc, word in ports:
        halves[word - 1] = max(halves[word - 1], abs(ports[arc, word]))
    for place, head in enumerate(heads):
        if head == 0:
            halves[place] = max(halves[place], LABEL_SIZE * ems(shown(labels[place])) / 2)
    steps = [one + other + GAP for one, other in itertools.pairwise(halves)]
    between = [GAP] * len(steps)
    for arc in arcs:  # short ones first, so that long ones find room already made
        inside = slice(arc.left - 1, arc.right - 1)
        wanted = 2 * SIDE + LABEL_SIZE * ems(shown(labels[arc.modifier - 1]))
        missing = wanted - sum(steps[inside]) - ports[arc, arc.right] + ports[arc, arc.left]
        if missing > 0:
            for gaps in (steps, between):
                gaps[inside] = [gap + missing / arc.length for gap in gaps[inside]]
    return halves, between


def spaces(words: Sequence[str], heads: Sequence[int], labels: Sequence[str]) -> list[float]:
    """Spaces between neighbouring words, in ems, that leave room for the labels."""
    arcs = arcs_of(heads)
    return [gap / WORD_SIZE for gap in _spaces(words, heads, labels, arcs, _ports(heads, arcs))[1]]


def _centres(halves: Sequence[float], between: Sequence[float]) -> tuple[list[float], float]:
    """The middles of the words and the width of the sheet."""
    centres, right = [], MARGIN
    for half, gap in zip(halves, (*between, 0.0), strict=False):
        centres.append(right + half)
        right += 2 * half + gap
    return centres, right + MARGIN


def _widest(start: float, end: float, legs: Sequence[float]) -> tuple[float, float]:
    """The middle and the width of the widest part of an arc that no other arc goes through."""
    places = sorted([start, end, *legs])
    left, right = max(itertools.pairwise(places), key=lambda part: part[1] - part[0])
    return (left + right) / 2, right - left


def shown(label: str) -> str:
    """What is written on an arc; nothing if the label is not known."""
    return "" if label == "_" else label
