"""Reliability diagrams in SVG: what was promised against what came true, panels side by side.

In each panel a bar goes as high as the part of its bin that is right. What is missing up to the mean probability there
is drawn on top of it (too certain), what goes beyond it has a colour of its own (too doubtful); on the diagonal the two
are equal. The strip below shows how many predictions are in each bin.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

SIDE, STRIP, GAP = 220.0, 34.0, 9.0  # of a panel: the square, the strip below, the space between
LEFT, TOP, RIGHT, BOTTOM = 62.0, 24.0, 18.0, 48.0  # around a panel
HEADING, LEGEND, MARGIN = 26.0, 40.0, 14.0
TICKS = (0, 25, 50, 75, 100)
SCOPE = ".softparse-reliability"
LIGHT = {"ink": "#1b3a57", "paper": "#fff", "plot": "#f4f7fa", "grid": "#dde5ec", "bar": "#4a86b8", "over": "#e2725b",
         "under": "#3fa58a"}  # fmt: skip
DARK = {"ink": "#dbe6f0", "paper": "#161b22", "plot": "#1d242d", "grid": "#323c47", "bar": "#5b95c6", "over": "#e57d66",
        "under": "#4fb398"}  # fmt: skip


def _colours(palette: dict[str, str]) -> str:
    """Written out for each: not every program that shows SVG knows variables."""
    filled = "".join(f"{SCOPE} .{name}{{fill:{palette[name]}}}" for name in ("paper", "plot", "bar", "over", "under"))
    return f"{SCOPE}{{color:{palette['ink']}}}{filled}{SCOPE} .grid{{stroke:{palette['grid']}}}"


STYLE = (
    f"{_colours(LIGHT)}@media(prefers-color-scheme:dark){{{_colours(DARK)}}}"
    f"{SCOPE} text{{font:12px sans-serif;fill:currentColor}}"
    f"{SCOPE} .heading{{font-size:16px;font-weight:600}}"
    f"{SCOPE} .small{{font-size:10.5px;opacity:.75}}"
    f"{SCOPE} .error{{font-size:13px;font-weight:600}}"
    f"{SCOPE} .middle{{text-anchor:middle}}{SCOPE} .end{{text-anchor:end}}"
    f"{SCOPE} .equal{{stroke:currentColor;stroke-dasharray:4 4;opacity:.6;fill:none}}"
)


class Bar(NamedTuple):
    """A bin: its bounds, how many predictions it has, their mean probability, and the part that is right."""

    low: float
    high: float
    number: int
    predicted: float
    right: float


class Panel(NamedTuple):
    title: str
    error: float  # the expected calibration error
    bars: Sequence[Bar]


def reliability_svg(rows: Sequence[tuple[str, Sequence[Panel]]]) -> str:
    """Draw rows of panels, each row with a name for what is predicted in it.

    >>> picture = reliability_svg([("arcs", [Panel("before", 0.1, [Bar(0.5, 1.0, 8, 0.9, 0.8)])])])
    >>> picture.count('class="plot"'), "8 arcs: mean probability 90.0 %, right 80.0 %" in picture
    (1, True)
    """
    wide, high = LEFT + SIDE + RIGHT, HEADING + TOP + SIDE + GAP + STRIP + BOTTOM
    columns = max((len(panels) for _, panels in rows), default=0)
    parts: list[str] = []
    for row, (name, panels) in enumerate(rows):
        y = MARGIN + row * high
        count = max((sum(bar.number for bar in panel.bars) for panel in panels), default=0)
        parts.append(_text(LEFT, y + 17, f"{name[:1].upper()}{name[1:]} ({count:,})", "heading"))
        for column, panel in enumerate(panels):
            parts += _panel(panel, name, LEFT + column * wide, y + HEADING + TOP)
    bottom = MARGIN + len(rows) * high
    parts += _legend(LEFT, bottom + 12)
    return _document(columns * wide, bottom + LEGEND, parts)


def _panel(panel: Panel, name: str, x: float, y: float) -> list[str]:
    floor = y + SIDE
    parts = [_text(x, y - 8, panel.title), f'<rect class="plot" {_box(x, y, SIDE, SIDE)}/>']
    for tick in TICKS:
        at = SIDE * tick / 100
        parts.append(f'<path class="grid" d="M{x:.1f},{floor - at:.1f} h{SIDE:.1f}"/>')
        parts.append(_text(x - 6, floor - at + 4, f"{tick}", "small end"))
        parts.append(_text(x + at, floor + GAP + STRIP + 13, f"{tick}", "small middle"))
    most = max((bar.number for bar in panel.bars), default=0)
    parts += [_bar(bar, name, most, x, floor) for bar in panel.bars if bar.number]
    parts.append(f'<path class="equal" d="M{x:.1f},{floor:.1f} l{SIDE:.1f},{-SIDE:.1f}"/>')
    parts.append(_text(x + 10, y + 20, f"error {100 * panel.error:.1f} %", "error"))
    side = f"{x - 38:.1f} {y + SIDE / 2:.1f}"
    label = f'transform="rotate(-90 {side})"'
    parts.append(_text(x - 38, y + SIDE / 2, "right, %", "small middle", label))
    parts.append(_text(x + SIDE / 2, floor + GAP + STRIP + 25, "probability, %", "small middle"))
    return parts


def _bar(bar: Bar, name: str, most: int, x: float, floor: float) -> str:
    """A bin: its bar, the difference to its mean probability, and its number in the strip below the floor."""
    left, width = x + SIDE * bar.low + 1, SIDE * (bar.high - bar.low) - 2
    right, predicted = SIDE * bar.right, SIDE * bar.predicted
    title = f"{bar.number:,} {name}: mean probability {100 * bar.predicted:.1f} %, right {100 * bar.right:.1f} %"
    kind = "over" if predicted > right else "under"
    low, high = sorted((right, predicted))
    number = max(0.7, STRIP * bar.number / max(1, most))
    return (
        f"<g><title>{escape(title)}</title>"
        f'<rect class="bar" {_box(left, floor - low, width, low)}/>'
        f'<rect class="{kind}" {_box(left, floor - high, width, high - low)}/>'
        f'<rect class="bar" opacity="0.55" {_box(left, floor + GAP + STRIP - number, width, number)}/></g>'
    )


def _legend(x: float, y: float) -> list[str]:
    parts = []
    for kind, text in (("bar", "as promised"), ("over", "too certain"), ("under", "too doubtful")):
        parts.append(f'<rect class="{kind}" {_box(x, y, 12, 12)}/>')
        parts.append(_text(x + 18, y + 10.5, text))
        x += 36 + 6.6 * len(text)
    parts.append(_text(x, y + 10.5, "strip below: how many"))
    return parts


def _box(x: float, y: float, width: float, height: float) -> str:
    return f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'


def _text(x: float, y: float, text: str, kind: str = "", more: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{named}{" " + more if more else ""}>{escape(text)}</text>'


def _document(width: float, height: float, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="softparse-reliability" role="img" '
        f'aria-label="Reliability of probabilities" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}"><style>{STYLE}</style>\n'
        f'<rect class="paper" width="100%" height="100%"/>\n{body}\n</svg>\n'
    )
