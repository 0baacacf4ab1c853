"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells in columns: the first one to the left, the others to the right; the first row is the heading.

    >>> print(table([["", "UAS"], ["all words", "88.79"], ["root", "9.50"]]))
                 UAS
    all words  88.79
    root        9.50
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
