"""Is a row better than another? Scores averaged over seeds, and a paired bootstrap over sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from ..configuration import ConfigurationError
from ..evaluation.significance import DRAWS, Comparison, bootstrap_over_runs, paired_bootstrap
from .results import Result
from .tables import Cell, cells, titles

CAVEAT = (
    "p: paired bootstrap over sentences on scores averaged over runs, two-sided; it speaks of these runs on other "
    "sentences. p of runs: runs are drawn too, where both rows have several; it speaks of other runs as well. "
    "Nothing is corrected for the number of comparisons."
)


@dataclass(frozen=True)
class Versus:
    """A row against another in a setting."""

    setting: str
    row: str
    against: str
    runs: tuple[int, int]  # of the row, and of the other one
    comparison: Comparison
    over_runs: Comparison | None  # where runs are drawn too; it takes several of each


def versus(results: Sequence[Result], part: str = "test", draws: int = DRAWS) -> list[Versus]:
    """Every row against those that its file names under `against`, where both have results that can be compared."""
    found = cells(results)
    wanted = {(result["row"], result["setting"]): result["options"].get("against", []) for result in results}
    every = []
    for (row, setting), others in wanted.items():
        for other in others:
            first, second = found.get((other, setting), Cell()), found[row, setting]
            if first.values(part, "las") and second.values(part, "las") and second.is_comparable(first):
                runs = len(second.values(part, "las")), len(first.values(part, "las"))
                _refuse_other_sentences(first, second, part, f"{row} and {other} in {setting}")
                several = compared_over_runs(first, second, part, draws) if min(runs) > 1 else None
                every.append(Versus(setting, row, other, runs, compared(first, second, part, draws), several))
    return every


def _refuse_other_sentences(first: Cell, second: Cell, part: str, what: str) -> None:
    words = [*first.by_sentence(part, "words"), *second.by_sentence(part, "words")]
    if any(other != words[0] for other in words[1:]):
        raise ConfigurationError(f"{what} were scored on other {part} sentences, so they cannot be compared; "
                                 "delete the older results and run them again")  # fmt: skip


def compared(first: Cell, second: Cell, part: str, draws: int = DRAWS) -> Comparison:
    """Second minus first, each the mean of its runs."""
    words = numpy.array(first.by_sentence(part, "words")[0])
    measures = []
    for name in ("heads", "labelled"):
        before, after = (numpy.mean(cell.by_sentence(part, name), 0) for cell in (first, second))
        measures.append(paired_bootstrap(before, after, words, draws))
    return Comparison(*measures)


def compared_over_runs(first: Cell, second: Cell, part: str, draws: int = DRAWS) -> Comparison:
    """The same where runs are drawn, too."""
    words = first.by_sentence(part, "words")[0]
    uas, las = (
        bootstrap_over_runs(first.by_sentence(part, name), second.by_sentence(part, name), words, draws)
        for name in ("heads", "labelled")
    )
    return Comparison(uas, las)


def versus_table(results: Sequence[Result], part: str = "test", draws: int = DRAWS) -> str:
    """In Markdown: differences with their p."""
    names = titles(results)
    lines = [
        f"| on {part} | against | setting | runs | UAS | p | p of runs | LAS | p | p of runs |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for each in versus(results, part, draws):
        cells = []
        for name in ("uas", "las"):
            measure = getattr(each.comparison, name)
            of_runs = getattr(each.over_runs, name).shown_p if each.over_runs else "–"
            cells.append(f"{measure.difference:+.2f} | {measure.shown_p} | {of_runs}")
        runs = " and ".join(map(str, each.runs))
        lines.append(
            f"| {names[each.row]} | {names.get(each.against, each.against)} | {each.setting} | {runs} | "
            + " | ".join(cells)
            + " |"
        )
    return "\n".join(lines)
