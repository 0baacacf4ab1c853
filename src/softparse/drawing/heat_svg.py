"""An arc matrix as a heat-map in SVG: one row per head, one column per word, shaded by weight."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .heat import check_sizes
from .width import ems, printable

CELL, SIZE, MARGIN, LINE = 22.0, 12.0, 8.0, 20.0
FAINTEST = 0.005  # weights below this are not drawn
STYLE = (
    ".softparse-heat{color:#1b3a57}.softparse-heat .paper{fill:#fff}"
    "@media(prefers-color-scheme:dark){.softparse-heat{color:#dbe6f0}.softparse-heat .paper{fill:#161b22}}"
    f".softparse-heat text{{font:{SIZE:g}px sans-serif;fill:currentColor}}"
    ".softparse-heat .cell{fill:currentColor}"
    ".softparse-heat .frame{fill:none;stroke:currentColor;stroke-opacity:.3}"
)


def heat_svg(words: Sequence[str], arcs: Sequence[Sequence[float]], caption: str = "") -> str:
    """Draw `arcs[h][m]` in [0, 1] as the darkness of a square. Rows are heads (`*` is the root), columns are words, and
    every square says its arc and weight.

    >>> heat_svg(["the", "dog"], [[0, 0, 1], [0, 0, 0], [0, 0.5, 0]]).count('class="cell"')
    2
    """
    check_sizes(words, arcs)
    words = [printable(word) for word in words]
    labels = ["*", *words]
    widths = [SIZE * ems(label) for label in labels]
    left = MARGIN + max(widths) + 6
    top = MARGIN + (LINE if caption else 0) + max(widths[1:], default=0.0) + 6  # columns are written upwards
    parts = [] if not caption else [f'<text x="{MARGIN:g}" y="{MARGIN + SIZE:g}">{escape(caption)}</text>']
    for row, label in enumerate(labels):
        y = top + CELL * row
        parts.append(f'<text x="{left - 6:.1f}" y="{y + CELL * 0.7:.1f}" text-anchor="end">{escape(label)}</text>')
        for column, word in enumerate(words, 1):
            weight = arcs[row][column]
            if weight >= FAINTEST:
                title = f"<title>{escape(label)} → {escape(word)}: {weight:.3f}</title>"
                place = f'x="{left + CELL * (column - 1):.1f}" y="{y:.1f}" width="{CELL:g}" height="{CELL:g}"'
                parts.append(f'<rect class="cell" {place} fill-opacity="{min(1.0, weight):.3f}">{title}</rect>')
    for column, word in enumerate(words, 1):
        x, y = left + CELL * (column - 0.3), top - 6
        parts.append(f'<text transform="translate({x:.1f},{y:.1f}) rotate(-90)">{escape(word)}</text>')
    across, down = CELL * len(words), CELL * len(labels)
    parts.append(f'<rect class="frame" x="{left:.1f}" y="{top:.1f}" width="{across:g}" height="{down:g}"/>')
    width, height = max(left + across, MARGIN + SIZE * ems(caption)) + MARGIN, top + down + MARGIN
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="softparse-heat" role="img" '
        f'aria-label="{escape(caption or " ".join(words))}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">'
        f'<style>{STYLE}</style>\n<rect class="paper" width="100%" height="100%"/>\n{body}\n</svg>'
    )
