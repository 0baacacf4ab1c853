"""Is a row better than another? Scores averaged over seeds, and a paired bootstrap over sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from ..evaluation.significance import DRAWS, Comparison, paired_bootstrap
from .tables import Cell, Result, cells, titles


@dataclass(frozen=True)
class Versus:
    """A row against another in a setting."""

    setting: str
    row: str
    against: str
    runs: tuple[int, int]  # of the row, and of the other one
    comparison: Comparison

    @property
    def is_better(self) -> bool:
        """In both measures, and not by chance."""
        measures = self.comparison.uas, self.comparison.las
        return all(measure.difference > 0 and measure.p < 0.05 for measure in measures)


def versus(results: Sequence[Result], part: str = "test", draws: int = DRAWS) -> list[Versus]:
    """Every row against those that its file names under `against`, where both have results."""
    found = cells(results)
    wanted = {(result["row"], result["setting"]): result["options"].get("against", []) for result in results}
    every = []
    for (row, setting), others in wanted.items():
        for other in others:
            first, second = found.get((other, setting), Cell()), found[row, setting]
            if first.values(part, "las") and second.values(part, "las"):
                runs = len(second.values(part, "las")), len(first.values(part, "las"))
                every.append(Versus(setting, row, other, runs, compared(first, second, part, draws)))
    return every


def compared(first: Cell, second: Cell, part: str, draws: int = DRAWS) -> Comparison:
    """Second minus first, each the mean of its runs."""
    words = numpy.array(first.by_sentence(part, "words")[0])
    measures = []
    for name in ("heads", "labelled"):
        before, after = (numpy.mean(cell.by_sentence(part, name), 0) for cell in (first, second))
        measures.append(paired_bootstrap(before, after, words, draws))
    return Comparison(*measures)


def versus_table(results: Sequence[Result], part: str = "test", draws: int = DRAWS) -> str:
    """In Markdown: differences with their p."""
    names = titles(results)
    lines = [
        f"| on {part} | against | setting | runs | UAS | p | LAS | p |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in versus(results, part, draws):
        cells = [f"{m.difference:+.2f} | {_shown(m.p, m.draws)}" for m in (each.comparison.uas, each.comparison.las)]
        runs = " and ".join(map(str, each.runs))
        lines.append(
            f"| {names[each.row]} | {names.get(each.against, each.against)} | {each.setting} | {runs} | "
            + " | ".join(cells)
            + " |"
        )
    return "\n".join(lines)


def _shown(p: float, draws: int) -> str:
    smallest = 1 / (1 + draws)
    return f"≤ {smallest:.4f}" if p <= smallest else f"{p:.4f}"
