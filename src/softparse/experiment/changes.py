"""What raw text changes: recall and precision by distance to the head and by label, means over seeds.

There are two readings of "right" (see `evaluation.breakdown`): the class alone agrees, or the head as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from .results import Result
from .tables import Cell, cells, titles

READINGS = {"alone": "same class", "with_head": "and same head"}
PAPER_LABELS = ("fixed", "mwe", "advmod", "appos")  # those that the paper looks at; `mwe` is `fixed` in version 2 of UD
LARGEST = 6


@dataclass(frozen=True)
class Side:
    """A class of words in the predictions of one row, counts averaged over its runs."""

    gold: float
    predicted: float
    alone: float
    with_head: float

    def recall(self, reading: str) -> float | None:
        """Of nothing there is none."""
        return 100 * getattr(self, reading) / self.gold if self.gold else None

    def precision(self, reading: str) -> float | None:
        return 100 * getattr(self, reading) / self.predicted if self.predicted else None

    def shown(self, reading: str) -> str:
        """Recall / precision."""
        parts = self.recall(reading), self.precision(reading)
        return " / ".join("–" if part is None else f"{part:.1f}" for part in parts)

    def f1(self, reading: str) -> float:
        return 200 * getattr(self, reading) / (self.gold + self.predicted) if self.gold + self.predicted else 0.0


@dataclass(frozen=True)
class Change:
    """A class before (trees alone) and after (with raw text)."""

    name: str
    before: Side
    after: Side

    def gain(self, reading: str = "with_head") -> float:
        return self.after.f1(reading) - self.before.f1(reading)

    @property
    def weight(self) -> float:
        """How many words more are right."""
        return self.after.with_head - self.before.with_head


def changes(first: Cell, second: Cell, part: str, kind: str) -> list[Change]:
    """All classes of a kind (distances or labels), in the order of the first run."""
    names = list(
        dict.fromkeys(name for cell in (first, second) for table in _tables(cell, part, kind) for name in table)
    )
    return [Change(name, _side(first, part, kind, name), _side(second, part, kind, name)) for name in names]


def notable(labels: Sequence[Change]) -> list[Change]:
    """Of labels: those of the paper, and those where the number of right words changes most."""
    largest = sorted(labels, key=lambda change: -abs(change.weight))[:LARGEST]
    return [change for change in labels if change.name in PAPER_LABELS or change in largest]


def changes_table(found: Sequence[Change], title: str) -> str:
    """In Markdown: recall / precision before and after, in both readings, and predicted / gold counts."""
    heading = [title, "predicted / gold before", "after"]
    for reading in READINGS.values():
        heading += [f"recall / precision, {reading}: before", "after"]
    lines = ["| " + " | ".join(heading) + " |", "|---" * len(heading) + "|"]
    for change in found:
        sides = change.before, change.after
        row = [change.name, *(f"{side.predicted:.0f} / {side.gold:.0f}" for side in sides)]
        for reading in READINGS:
            row += [side.shown(reading) for side in sides]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def are_about_roots(results: Sequence[Result]) -> bool:
    """Whether some of these parsers know that a tree has a single root, and others do not."""
    return len({_single_root(result) for result in results} - {None}) > 1


def roots_table(results: Sequence[Result], part: str) -> str:
    """In Markdown: recall and precision of the roots. Those who may predict several pay for it in precision."""
    names = titles(results)
    lines = [
        f"| roots on {part} | setting | trees have | predicted / gold | recall / precision |",
        "|---" * 5 + "|",
    ]
    for (row, setting), cell in cells(results).items():
        single = _single_root(cell.results[0])
        if single is not None and cell.values(part, "las"):
            side = _side(cell, part, "distances", "root")
            lines.append(
                f"| {names[row]} | {setting} | {'one root' if single else 'any number'} | "
                f"{side.predicted:.0f} / {side.gold:.0f} | {side.shown('alone')} |"
            )
    return "\n".join(lines)


def _single_root(result: Result) -> bool | None:
    """None for peers, who do not say."""
    return (result.get("config") or {}).get("decoding", {}).get("single_root")


def _tables(cell: Cell, part: str, kind: str) -> list[dict[str, dict[str, float]]]:
    return [result["scores"][part]["breakdown"][kind] for result in cell.results if part in result["scores"]]


def _side(cell: Cell, part: str, kind: str, name: str) -> Side:
    rows = [table.get(name, {}) for table in _tables(cell, part, kind)]
    return Side(*(mean(row.get(key, 0) for row in rows) for key in ("gold", "predicted", "alone", "with_head")))
