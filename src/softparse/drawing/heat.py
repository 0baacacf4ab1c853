"""An arc matrix as text: one row per head, one column per word, shaded by weight."""

from __future__ import annotations

from collections.abc import Sequence

from .width import columns, padded, printable

SHADES = " ░▒▓█"


def heat_text(words: Sequence[str], arcs: Sequence[Sequence[float]]) -> str:
    """Rows are heads (`*` is the root), columns are words; darker is heavier.

    >>> print(heat_text(["the", "dog"], [[0, 0, 1], [0, 0, 0], [0, 0.5, 0]]))
         the  dog
      *       ███
    the
    dog  ▒▒▒
    """
    check_sizes(words, arcs)
    words = [printable(word) for word in words]
    labels = ["*", *words]
    margin = max(map(columns, labels))
    widths = [max(3, columns(word)) for word in words]
    lines = [" " * margin + "".join(f"  {_centred(word, width)}" for word, width in zip(words, widths, strict=True))]
    for label, row in zip(labels, arcs, strict=True):
        cells = (_shade(weight) * width for weight, width in zip(row[1:], widths, strict=True))
        lines.append(" " * (margin - columns(label)) + label + "".join(f"  {cell}" for cell in cells))
    return "\n".join(line.rstrip() for line in lines)


def _centred(word: str, width: int) -> str:
    left = (width - columns(word)) // 2
    return " " * left + padded(word, width - left)


def _shade(weight: float) -> str:
    return SHADES[min(len(SHADES) - 1, max(0, round(weight * (len(SHADES) - 1))))]


def check_sizes(words: Sequence[str], arcs: Sequence[Sequence[float]]) -> None:
    if len(arcs) != len(words) + 1 or any(len(row) != len(words) + 1 for row in arcs):
        raise ValueError(f"{len(words)} words need a matrix of {len(words) + 1} rows and columns, root included")
