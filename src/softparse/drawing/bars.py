"""Gains and losses as bars to the right and to the left of a line, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .chart import COLOURS, document
from .width import ems

BAR, GAP, TOP, BOTTOM, HALF, SIZE, AIR = 16.0, 7.0, 34.0, 12.0, 130.0, 12.0, 5.0
GAIN, LOSS = COLOURS[:2]


@dataclass(frozen=True)
class Bar:
    name: str
    value: float
    note: str = ""  # said when one points at it
    interval: tuple[float, float] | None = None  # within which it lies, drawn as a line over its end


def bars_svg(title: str, bars: Sequence[Bar], unit: str = "") -> str:
    """Draw signed numbers.

    >>> bars_svg("changes", [Bar("root", 1.5), Bar("≥7", -0.5)]).count('class="bar"')
    2
    """
    if not bars:
        raise ValueError(f"{title}: there is nothing to draw; give at least one bar")
    most = max(abs(end) for bar in bars for end in _ends(bar)) or 1.0
    margin = 20 + SIZE * max(ems(bar.name) for bar in bars)
    side = HALF + 3 * AIR + SIZE * max(ems(f"{bar.value:+.2f}") for bar in bars)  # a bar and its number
    middle = margin + side
    width, height = middle + side, TOP + BOTTOM + len(bars) * (BAR + GAP)
    width = max(width, 24 + 14 * ems(title) + SIZE * ems(unit))
    parts = [
        f'<text class="title" x="12" y="18">{escape(title)}</text>',
        f'<text x="{width - 12:.1f}" y="18" text-anchor="end">{escape(unit)}</text>',
        f'<path class="grid" d="M{middle:.1f},{TOP - 4:g} V{height - BOTTOM:.1f}"/>',
    ]
    for row, bar in enumerate(bars):
        y = TOP + row * (BAR + GAP)
        length = HALF * abs(bar.value) / most
        left = middle if bar.value >= 0 else middle - length
        is_gain = bar.value >= 0
        place = middle + (HALF * max(_ends(bar)) / most + AIR if is_gain else HALF * min(_ends(bar)) / most - AIR)
        anchor = "start" if is_gain else "end"
        parts.append(
            f'<g class="bar"><title>{escape(bar.note or bar.name)}</title>'
            f'<text x="{margin:.1f}" y="{y + 12:.1f}" text-anchor="end">{escape(bar.name)}</text>'
            f'<rect x="{left:.1f}" y="{y:.1f}" width="{length:.1f}" height="{BAR:g}" rx="2" '
            f'fill="{GAIN if is_gain else LOSS}"/>{_whisker(bar, middle, y + BAR / 2, HALF / most)}'
            f'<text x="{place:.1f}" y="{y + 12:.1f}" text-anchor="{anchor}">{bar.value:+.2f}</text></g>'
        )
    return document(width, height, title, parts)


def _ends(bar: Bar) -> tuple[float, ...]:
    return bar.value, *(bar.interval or ())


def _whisker(bar: Bar, middle: float, y: float, scale: float) -> str:
    if bar.interval is None:
        return ""
    low, high = (middle + scale * end for end in bar.interval)
    return f'<path class="whisker" d="M{low:.1f},{y - 4:.1f} v8 m0,-4 H{high:.1f} m0,-4 v8"/>'
