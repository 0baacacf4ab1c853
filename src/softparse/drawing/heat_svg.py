"""An arc matrix as a picture: one row per head, one column per word, shaded by weight."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .heat import check_sizes
from .width import drawable, ems, is_right_to_left, printable

CELL, LETTER, MARGIN, LINE = 26.0, 13.0, 10.0, 20.0
FAINTEST = 0.002  # cells below this stay empty
STYLE = (
    ".softparse-heat{color:#1b3a57}.softparse-heat .paper{fill:#fff}.softparse-heat .cell{fill:#b4540a}"
    ".softparse-heat .grid{stroke:currentColor;stroke-opacity:.15}"
    "@media(prefers-color-scheme:dark){.softparse-heat{color:#dbe6f0}.softparse-heat .paper{fill:#161b22}"
    ".softparse-heat .cell{fill:#ffa657}}"
    f".softparse-heat text{{font:{LETTER:g}px sans-serif;fill:currentColor}}"
)


def heat_svg(words: Sequence[str], arcs: Sequence[Sequence[float]], caption: str = "") -> str:
    """Draw `arcs[h][m]` in [0, 1] as the opacity of the cell in the row of head h (`*` is the root) and the column of
    word m. For scripts such as Arabic or Hebrew columns run from the right.

    >>> heat_svg(["the", "dog"], [[0, 0, 1], [0, 0, 0], [0, 0.5, 0]]).count('class="cell"')
    2
    """
    check_sizes(words, arcs)
    if not words:
        raise ValueError("a sentence without words has no arcs to draw")
    names = ["*", *map(drawable, words)]
    right_to_left = is_right_to_left(words)
    side = max(map(ems, names)) * LETTER + 8
    top = MARGIN + (LINE if caption else 0) + side  # columns are named upwards
    width, height = 2 * MARGIN + side + CELL * len(words), MARGIN + top + CELL * len(names)
    columns = [MARGIN + side + CELL * place for place in range(len(words))]
    if right_to_left:
        columns = [width - x - CELL for x in columns]
    rows = [top + CELL * place for place in range(len(names))]
    left, bottom = min(columns), rows[-1] + CELL
    right = left + CELL * len(words)
    lines = [f"M{left:.1f},{y:.1f} H{right:.1f}" for y in (*rows, bottom)]
    lines += [f"M{x:.1f},{rows[0]:.1f} V{bottom:.1f}" for x in (*columns, right)]
    parts = [f'<path class="grid" d="{" ".join(lines)}"/>']
    turned = ' direction="rtl"' if right_to_left else ""
    if caption:
        parts.append(f'<text x="{MARGIN:g}" y="{MARGIN + LETTER:g}">{escape(printable(caption))}</text>')
    for y, name in zip(rows, names, strict=True):
        x = width - MARGIN - side + 5 if right_to_left else MARGIN + side - 5
        # Where text runs from the right, its end is on the left.
        parts.append(f'<text x="{x:.1f}" y="{y + CELL * 0.68:.1f}" text-anchor="end"{turned}>{escape(name)}</text>')
    for x, name in zip(columns, names[1:], strict=True):
        place = f"translate({x + CELL * 0.68:.1f},{rows[0] - 5:.1f}) rotate(-90)"
        anchor = "end" if right_to_left else "start"
        parts.append(f'<text transform="{place}" text-anchor="{anchor}"{turned}>{escape(name)}</text>')
    for head, y in enumerate(rows):
        for word, x in enumerate(columns, 1):
            weight = arcs[head][word]
            if head != word and weight >= FAINTEST:
                title = f"<title>{escape(names[head])} → {escape(names[word])}: {weight:.3f}</title>"
                place = f'x="{x + 1:.1f}" y="{y + 1:.1f}" width="{CELL - 2:g}" height="{CELL - 2:g}"'
                parts.append(f'<rect class="cell" {place} opacity="{min(weight, 1.0):.3f}">{title}</rect>')
    width = max(width, 2 * MARGIN + LETTER * ems(caption))
    body, name = "\n".join(parts), escape(printable(caption) or "probabilities of arcs")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="softparse-heat" role="img" aria-label="{name}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"><style>{STYLE}</style>\n'
        f'<rect class="paper" width="100%" height="100%"/>\n{body}\n</svg>'
    )
