"""Gains and losses as bars to the right and to the left of a line, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .chart import COLOURS, document
from .width import ems

BAR, GAP, TOP, BOTTOM, HALF, SIZE = 16.0, 7.0, 34.0, 12.0, 130.0, 12.0
GAIN, LOSS = COLOURS[:2]


@dataclass(frozen=True)
class Bar:
    name: str
    value: float
    note: str = ""  # said when one points at it


def bars_svg(title: str, bars: Sequence[Bar], unit: str = "") -> str:
    """Draw signed numbers.

    >>> bars_svg("changes", [Bar("root", 1.5), Bar("≥7", -0.5)]).count('class="bar"')
    2
    """
    if not bars:
        raise ValueError(f"{title}: there is nothing to draw; give at least one bar")
    most = max(abs(bar.value) for bar in bars) or 1.0
    margin = 20 + SIZE * max(ems(bar.name) for bar in bars)
    middle = margin + HALF + 40
    width, height = middle + HALF + 50, TOP + BOTTOM + len(bars) * (BAR + GAP)
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
        place = middle + length + 5 if bar.value >= 0 else middle - length - 5
        anchor = "start" if bar.value >= 0 else "end"
        parts.append(
            f'<g class="bar"><title>{escape(bar.note or bar.name)}</title>'
            f'<text x="{margin:.1f}" y="{y + 12:.1f}" text-anchor="end">{escape(bar.name)}</text>'
            f'<rect x="{left:.1f}" y="{y:.1f}" width="{length:.1f}" height="{BAR:g}" rx="2" '
            f'fill="{GAIN if bar.value >= 0 else LOSS}"/>'
            f'<text x="{place:.1f}" y="{y + 12:.1f}" text-anchor="{anchor}">{bar.value:+.2f}</text></g>'
        )
    return document(width, height, title, parts)
