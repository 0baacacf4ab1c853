"""A soft or hard tree as arcs above the words, in SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .heat import check_sizes
from .width import columns, drawable, is_right_to_left, printable

LETTER, GAP, LEVEL, MARGIN, LINE = 9.0, 26.0, 26.0, 14.0, 20.0
FAINTEST = 0.01  # arcs below this are not drawn
STYLE = (
    ".softparse-arcs{color:#1b3a57}.softparse-arcs .paper{fill:#fff}"
    "@media(prefers-color-scheme:dark){.softparse-arcs{color:#dbe6f0}.softparse-arcs .paper{fill:#161b22}}"
    ".softparse-arcs text{font:15px sans-serif;fill:currentColor}"
    ".softparse-arcs .caption{font-size:12px;fill-opacity:.75}"
)


def arcs_svg(words: Sequence[str], arcs: Sequence[Sequence[float]], caption: str = "") -> str:
    """Draw `arcs[h][m]` in [0, 1] as the opacity of the arc h → m over `words` (index 0 of the arcs is the root).

    Words of scripts such as Arabic or Hebrew run from the right.

    >>> arcs_svg(["walk"], [[0, 1], [0, 0]]).count("<path")
    2
    """
    check_sizes(words, arcs)
    labels = ["*", *map(drawable, words)]
    widths = [max(2.0, columns(label)) * LETTER for label in labels]
    centres, right = [], MARGIN
    for width in widths:
        centres.append(right + width / 2)
        right += width + GAP
    total = right - GAP + MARGIN
    turned = ' direction="rtl"' if is_right_to_left(words) else ""
    if turned:
        centres = [total - centre for centre in centres]
    top = MARGIN + (LINE if caption else 0.0)
    base = top + LEVEL * (1 + (len(words) ** 0.85))
    parts = []
    if caption:
        parts.append(f'<text x="{MARGIN}" y="{MARGIN + 9:g}" class="caption">{escape(printable(caption))}</text>')
    for head in range(len(labels)):
        for modifier in range(1, len(labels)):
            if head != modifier and arcs[head][modifier] >= FAINTEST:
                parts.append(_arc(head, modifier, centres, base, arcs[head][modifier]))
    parts += [
        f'<text x="{centre:.1f}" y="{base + LINE:.1f}" text-anchor="middle"{turned}>{escape(label)}</text>'
        for centre, label in zip(centres, labels, strict=True)
    ]
    return _document(total, base + LINE + MARGIN, parts)


def _arc(head: int, modifier: int, centres: Sequence[float], base: float, weight: float) -> str:
    """Half an ellipse with a small triangle at the modifier; a head's own arcs start a little to the side."""
    side = 4.0 if centres[modifier] > centres[head] else -4.0
    start, end = centres[head] + side, centres[modifier] - side / 2
    rise = LEVEL * abs(modifier - head) ** 0.85
    middle_y = base - rise * 1.33
    curve = f"M{start:.1f},{base:.1f} C{start:.1f},{middle_y:.1f} {end:.1f},{middle_y:.1f} {end:.1f},{base:.1f}"
    tip = f"M{end - 3:.1f},{base - 6:.1f} L{end + 3:.1f},{base - 6:.1f} L{end:.1f},{base:.1f} Z"
    title = f"<title>{head} → {modifier}: {weight:.3f}</title>"
    return (
        f'<g opacity="{weight:.3f}">{title}<path d="{curve}" fill="none" stroke="currentColor" stroke-width="1.8"/>'
        f'<path d="{tip}" fill="currentColor"/></g>'
    )


def _document(width: float, height: float, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="softparse-arcs" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}"><style>{STYLE}</style>\n'
        f'<rect class="paper" width="100%" height="100%"/>\n{body}\n</svg>'
    )


def stacked_svg(pictures: Sequence[str]) -> str:
    """Pictures of `arcs_svg` one below the other."""
    sizes = []
    for picture in pictures:
        box = picture.split('viewBox="', 1)[1].split('"', 1)[0].split()
        sizes.append((float(box[2]), float(box[3])))
    offset, parts = 0.0, []
    for picture, (_, height) in zip(pictures, sizes, strict=True):
        parts.append(picture.replace("<svg ", f'<svg y="{offset:.0f}" ', 1))
        offset += height
    return _document(max(width for width, _ in sizes), offset, parts)
