"""Curves with bands, as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 460.0, 280.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 14.0, 34.0, 44.0
# Each can be told from white and from the dark page.
COLOURS = ("#2f7fc1", "#d6604d", "#4d9221", "#8073ac", "#b8860b", "#35978f")
STYLE = (
    ".softparse-chart{color:#1b3a57}.softparse-chart .paper{fill:#fff}"
    "@media(prefers-color-scheme:dark){.softparse-chart{color:#dbe6f0}.softparse-chart .paper{fill:#161b22}}"
    ".softparse-chart text{font:12px sans-serif;fill:currentColor}"
    ".softparse-chart .title{font-size:14px;font-weight:600}"
    ".softparse-chart .grid{stroke:currentColor;stroke-opacity:.15}"
    ".softparse-chart .whisker{stroke:currentColor;stroke-width:1.5;fill:none}"
)


@dataclass(frozen=True)
class Curve:
    """Points x, y with half the width of the band around y, in the order of x."""

    name: str
    points: Sequence[tuple[float, float, float]]


def chart_svg(title: str, curves: Sequence[Curve], x_label: str = "", y_label: str = "", log_x: bool = False) -> str:
    """Draw curves with their bands, axes with round numbers and a legend.

    >>> chart_svg("LAS", [Curve("trees alone", [(100, 60.0, 1.0), (300, 70.0, 0.5)])], log_x=True).count("<polyline")
    1
    """
    curves = [curve for curve in curves if curve.points]
    if not curves:
        raise ValueError(f"{title}: there is nothing to draw; give at least one curve with a point")
    xs = [x for curve in curves for x, _, _ in curve.points]
    ends = [value for curve in curves for _, y, band in curve.points for value in (y - band, y + band)]
    if log_x and min(xs) <= 0:
        raise ValueError(f"{title}: {min(xs):g} has no place on an axis of logarithms; x must be above 0")
    ticks = round_numbers(min(ends), max(ends))
    across = _scale(_mapped(min(xs), log_x), _mapped(max(xs), log_x), LEFT, WIDTH - RIGHT)
    up = _scale(min(ticks[0], min(ends)), max(ticks[-1], max(ends)), HEIGHT - BOTTOM, TOP)
    parts = [f'<text class="title" x="{LEFT:g}" y="18">{escape(title)}</text>']
    for tick in ticks:
        parts.append(f'<path class="grid" d="M{LEFT:g},{up(tick):.1f} H{WIDTH - RIGHT:g}"/>')
        parts.append(f'<text x="{LEFT - 6:g}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in sorted(set(xs)) if len(set(xs)) <= 6 else round_numbers(min(xs), max(xs)):
        x = across(_mapped(tick, log_x))
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16:g}" text-anchor="middle">{tick:g}</text>')
    for curve, colour in zip(curves, _colours(len(curves)), strict=True):
        places = [(across(_mapped(x, log_x)), up(y), up(y - band), up(y + band)) for x, y, band in curve.points]
        parts.append(_curve(curve, colour, places))
    parts += [_legend(curve.name, colour, row) for row, (curve, colour) in enumerate(
        zip(curves, _colours(len(curves)), strict=True))]  # fmt: skip
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:g}" y="{HEIGHT - 8:g}" text-anchor="middle">{escape(x_label)}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT:g}" y="18" text-anchor="end">{escape(y_label)}</text>')
    return document(WIDTH, HEIGHT, title, parts)


def _curve(curve: Curve, colour: str, places: Sequence[tuple[float, float, float, float]]) -> str:
    band = [f"{x:.1f},{low:.1f}" for x, _, low, _ in places] + [f"{x:.1f},{high:.1f}" for x, _, _, high in places[::-1]]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in places)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}">'
        f"<title>{escape(curve.name)}: {value:.2f}{f' ± {width:.2f}' if width else ''} at {at:g}</title></circle>"
        for (x, y, _, _), (at, value, width) in zip(places, curve.points, strict=True)
        if len(places) <= 30
    )
    return (
        f'<polygon points="{" ".join(band)}" fill="{colour}" fill-opacity="0.16"/>'
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}'
    )


def _legend(name: str, colour: str, row: int) -> str:
    y = HEIGHT - BOTTOM - 10 - 16 * row
    line = f'<path d="M{WIDTH - RIGHT - 22:g},{y - 4:g} h18" stroke="{colour}" stroke-width="3"/>'
    return f'{line}<text x="{WIDTH - RIGHT - 28:g}" y="{y:g}" text-anchor="end">{escape(name)}</text>'


def round_numbers(low: float, high: float, most: int = 6) -> list[float]:
    """Numbers for an axis: multiples of 1, 2 or 5 times a power of ten, from below `low` to above `high`.

    >>> round_numbers(71.3, 79.9)
    [70.0, 72.0, 74.0, 76.0, 78.0, 80.0]
    """
    width = (high - low) or max(1.0, abs(high) / 10)
    step = 10.0 ** math.floor(math.log10(width / most))
    step = next(step * factor for factor in (1, 2, 5, 10, 20) if width / (step * factor) <= most - 1)
    first, last = math.floor(low / step), math.ceil(high / step)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(number * step, digits) for number in range(first, max(last, first + 1) + 1)]


def _mapped(x: float, log: bool) -> float:
    return math.log(x) if log else x


def _scale(low: float, high: float, first: float, last: float) -> Callable[[float], float]:
    width = (high - low) or 1.0
    return lambda value: first + (value - low) / width * (last - first)


def _colours(number: int) -> list[str]:
    return [COLOURS[place % len(COLOURS)] for place in range(number)]


def document(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="softparse-chart" role="img" aria-label="{escape(title)}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"><style>{STYLE}</style>\n'
        f'<rect class="paper" width="100%" height="100%"/>\n{body}\n</svg>'
    )
