"""Scores as dots with whiskers on one axis, so that rows of a table can be compared at a glance, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from .chart import COLOURS, document, round_numbers
from .width import ems

STEP, TOP, BOTTOM, AXIS, SIZE = 22.0, 44.0, 30.0, 300.0, 12.0


@dataclass(frozen=True)
class Dot:
    name: str
    value: float
    deviation: float = 0.0
    group: int = 0  # dots of a group share a colour


def dots_svg(title: str, dots: Sequence[Dot], unit: str = "") -> str:
    """Draw a dot a line, with a whisker of one deviation to both sides.

    >>> dots_svg("English", [Dot("trees alone", 74.8, 0.1), Dot("with raw text", 77.9, 0.3)]).count("<circle")
    2
    """
    if not dots:
        raise ValueError(f"{title}: there is nothing to draw; give at least one dot")
    ends = [dot.value + sign * dot.deviation for dot in dots for sign in (-1, 1)]
    ticks = round_numbers(min(ends), max(ends))
    left = 20 + SIZE * max(ems(dot.name) for dot in dots)
    width, height = left + AXIS + 70, TOP + BOTTOM + STEP * len(dots)
    width = max(width, 24 + 14 * ems(title) + SIZE * ems(unit))

    def across(value: float) -> float:
        return left + 12 + (value - ticks[0]) / (ticks[-1] - ticks[0]) * (AXIS - 24)

    parts = [
        f'<text class="title" x="12" y="18">{escape(title)}</text>',
        f'<text x="{width - 12:.1f}" y="18" text-anchor="end">{escape(unit)}</text>',
    ]
    for tick in ticks:
        parts.append(f'<path class="grid" d="M{across(tick):.1f},{TOP - 8:g} V{height - BOTTOM:.1f}"/>')
        parts.append(f'<text x="{across(tick):.1f}" y="{height - 12:.1f}" text-anchor="middle">{tick:g}</text>')
    for row, dot in enumerate(dots):
        colour = COLOURS[dot.group % len(COLOURS)]
        parts.append(_dot(dot, colour, left, across, TOP + STEP * (row + 0.5)))
    return document(width, height, title, parts)


def _dot(dot: Dot, colour: str, left: float, across: Callable[[float], float], y: float) -> str:
    note = f"{dot.name}: {dot.value:.2f}" + (f" ± {dot.deviation:.2f}" if dot.deviation else "")
    first, last = across(dot.value - dot.deviation), across(dot.value + dot.deviation)
    return (
        f"<g><title>{escape(note)}</title>"
        f'<text x="{left:.1f}" y="{y + 4:.1f}" text-anchor="end">{escape(dot.name)}</text>'
        f'<path d="M{first:.1f},{y:.1f} H{last:.1f}" stroke="{colour}" stroke-width="3" stroke-opacity="0.5"/>'
        f'<circle cx="{across(dot.value):.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
        f'<text x="{max(last, across(dot.value) + 5) + 6:.1f}" y="{y + 4:.1f}">{dot.value:.2f}</text></g>'
    )
