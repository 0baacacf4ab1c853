"""All results, and what there is to say about them: tables in their order, pairs to compare, times. And in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .changes import are_about_roots, changes, changes_table, notable, roots_table
from .comparisons import CAVEAT, versus_table
from .curves import curves_table
from .results import Result
from .tables import Cell, cells, note, sizes_table, table, titles
from .times import times_table, total_time

# What readers ask first comes first; tables of other names follow.
HEADINGS = {
    "table-a": "With raw text and without, and what others do",
    "curves": "How many trees is raw text worth?",
    "unseen": "Treebanks from elsewhere",
    "corners": "Few trees with much raw text, many with little",
    "ablations": "One thing changed at a time",
}


class Findings:
    def __init__(self, results: Sequence[Result]):
        self.results = results
        self.found = cells(results)
        self.titles = titles(results)

    def tables(self) -> list[tuple[str, list[Result]]]:
        """The results by table."""
        known = list(HEADINGS)
        names = {result["table"] for result in self.results}
        ordered = sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))
        return [(name, [result for result in self.results if result["table"] == name]) for name in ordered]

    def twins(self) -> Iterator[tuple[str, str, str]]:
        """Settings, rows with raw text, and the same without, where both have test scores."""
        for name, _ in self.tables():
            for (row, setting), cell in self.found.items():
                first = cell.results[0]
                if first["table"] == name and first["options"].get("against") and cell.values("test", "las"):
                    twin = first["options"]["against"][0]
                    other = self.found.get((twin, setting), Cell())
                    if other.values("test", "las") and cell.is_comparable(other):
                        yield setting, row, twin

    def markdown(self) -> str:
        command = "softparse experiment report --markdown experiments/results/README.md"
        parts = ["# Results", f"Made by `{command}`. Means ± standard deviations over seeds (number of runs)."]
        parts += ["## Sizes", sizes_table(self.results)]
        for name, results in self.tables():
            parts += [f"## {heading(name)}", f"`softparse experiment run experiments/{name} --data DATA --jobs 2`"]
            parts += [*(table(results, part) for part in parts_of(results)), note(results)]
            if is_compared(results):
                parts += [CAVEAT, versus_table(results, parts_of(results)[0])]
            if are_about_roots(results):
                parts.append(roots_table(results, parts_of(results)[0]))
            if is_curve(results):
                parts.append(curves_table(results))
        for setting, row, twin in self.twins():
            before, after = self.found[twin, setting], self.found[row, setting]
            parts.append(f"## {setting}: {self.titles[row]} against {self.titles[twin]}")
            parts.append(changes_table(changes(before, after, "test", "distances"), "distance to the head"))
            parts.append(changes_table(notable(changes(before, after, "test", "labels")), "label"))
        parts += ["## Time", total_time(self.results), times_table(self.results)]
        return "\n\n".join(filter(None, parts)) + "\n"


def heading(table: str) -> str:
    return HEADINGS.get(table, table)


def parts_of(results: Sequence[Result]) -> list[str]:
    """The parts of the data that were scored, test first."""
    return [part for part in ("test", "dev") if any(part in result["scores"] for result in results)]


def is_compared(results: Sequence[Result]) -> bool:
    return any(result["options"].get("against") for result in results)


def is_curve(results: Sequence[Result]) -> bool:
    """Whether some setting has several numbers of trees, with all of its raw text or none."""
    numbers: dict[str, set[int]] = {}
    for result in results:
        if result["options"].get("raw_sentences"):
            return False
        numbers.setdefault(result["setting"], set()).add(result["options"]["trees"])
    return any(len(found) > 1 for found in numbers.values())
