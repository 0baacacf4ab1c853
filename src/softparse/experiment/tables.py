"""Tables of results: means and standard deviations over seeds, in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .agreement import is_earlier, of_one_preset
from .results import Result

MARK = "†"
OF_EARLIER = f"{MARK} of an earlier preset, and not compared with what the preset of the same name gives now."


@dataclass
class Cell:
    """The results of a row in a setting, by seed."""

    results: list[Result] = field(default_factory=list)

    def values(self, part: str, measure: str) -> list[float]:
        return [result["scores"][part][measure] for result in self.results if part in result["scores"]]

    def by_sentence(self, part: str, name: str) -> list[list[int]]:
        """Counts of the sentences, a list for each run."""
        return [result["scores"][part]["by_sentence"][name] for result in self.results if part in result["scores"]]

    def parses(self) -> list[list[str]]:
        """Heads and labels of the dev sentences, as the first run parsed them."""
        return next((result["parses"] for result in self.results if result.get("parses")), [])

    @property
    def is_earlier(self) -> bool:
        """Whether its runs are of a preset that has changed since."""
        return any(map(is_earlier, self.results))

    def is_comparable(self, other: Cell) -> bool:
        """Not if a preset that both are of has changed between them: the difference would be that of the change."""
        presets = {_preset(result) for cell in (self, other) for result in cell.results}
        return len(presets) > 1 or self.is_earlier == other.is_earlier

    def shown(self, part: str, measures: Sequence[str] = ("uas", "las")) -> str:
        """Mean ± standard deviation, the number of runs, and a mark if they are of an earlier preset."""
        values = [self.values(part, measure) for measure in measures]
        if not values[0]:
            return ""
        means = " / ".join(f"{statistics.mean(column):.2f}" for column in values)
        mark = f" {MARK}" if self.is_earlier else ""
        if len(values[0]) < 2:
            return f"{means} (1){mark}"
        spread = " / ".join(f"{statistics.stdev(column):.2f}" for column in values)
        return f"{means} ± {spread} ({len(values[0])}){mark}"


def _preset(result: Result) -> str:
    return result["options"].get("peer") or result["options"].get("preset", "")


def note(results: Iterable[Result]) -> str:
    """What the mark in their tables means, if it is there."""
    return OF_EARLIER if any(map(is_earlier, results)) else ""


def cells(results: Iterable[Result]) -> dict[tuple[str, str], Cell]:
    """By row and setting. Where some runs are of the preset as it is now, those of an earlier one do not count."""
    found: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        found.setdefault((result["row"], result["setting"]), []).append(result)
    return {key: Cell(of_one_preset(runs)) for key, runs in found.items()}


def titles(results: Iterable[Result]) -> dict[str, str]:
    """What rows are called, in their order."""
    return {result["row"]: (result["title"] or result["row"]).replace("|", "/") for result in results}


def sizes_table(results: Sequence[Result]) -> str:
    """Sentences / words of every part of every setting."""
    every = {result["setting"]: result["sizes"] for result in results}
    sizes = {setting: every[setting] for setting in sorted(every)}
    parts = list(dict.fromkeys(part for found in sizes.values() for part in found))
    lines = ["| sentences / words | " + " | ".join(parts) + " |", "|---" * (len(parts) + 1) + "|"]
    for setting, found in sizes.items():
        shown = ["{:,} / {:,}".format(*found[part]) if part in found else "" for part in parts]
        lines.append(f"| {setting} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def table(results: Sequence[Result], part: str = "test") -> str:
    """UAS / LAS of every row in every setting."""
    found = cells(results)
    settings = sorted({result["setting"] for result in results})
    lines = [
        f"| UAS / LAS on {part} | " + " | ".join(settings) + " |",
        "|---" * (len(settings) + 1) + "|",
    ]
    for row, title in titles(results).items():
        shown = [found.get((row, setting), Cell()).shown(part) for setting in settings]
        if any(shown):
            lines.append(f"| {title} | " + " | ".join(shown) + " |")
    return "\n".join(lines)
