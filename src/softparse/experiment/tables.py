"""Tables of results: means and standard deviations over seeds, in Markdown."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..configuration import ConfigurationError

Result = dict[str, Any]
KEYS = {"table", "row", "title", "setting", "seed", "options", "scores", "data", "sizes", "seconds", "machine"}


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

    def shown(self, part: str, measures: Sequence[str] = ("uas", "las")) -> str:
        """Mean ± standard deviation, and the number of runs."""
        values = [self.values(part, measure) for measure in measures]
        if not values[0]:
            return ""
        means = " / ".join(f"{statistics.mean(column):.2f}" for column in values)
        if len(values[0]) < 2:
            return f"{means} (1)"
        spread = " / ".join(f"{statistics.stdev(column):.2f}" for column in values)
        return f"{means} ± {spread} ({len(values[0])})"


def read_results(folders: Iterable[Path]) -> list[Result]:
    """All results below these folders."""
    paths: list[Path] = []
    for folder in folders:
        if not folder.exists():
            raise ConfigurationError(f"{folder}: there are no results")
        if folder.is_file():
            raise ConfigurationError(f"{folder}: is a file; give a folder of results")
        paths += sorted(folder.rglob("*.json"), key=_order)
    distinct = {path.resolve(): path for path in paths}  # folders may lie in each other
    found = list(map(read_result, distinct.values()))
    tables: dict[str, str] = {}
    for result in found:
        other = tables.setdefault(result["row"], result["table"])
        if other != result["table"]:
            raise ConfigurationError(f"the tables {other} and {result['table']} both have a row {result['row']}; "
                                     "rename one of them, lest they be taken for one")  # fmt: skip
    return found


def read_result(path: Path) -> Result:
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigurationError(f"{path}: not a result ({error}); delete it to run it again") from None
    if not isinstance(result, dict) or not set(result) >= KEYS:
        raise ConfigurationError(f"{path}: not a result; delete it to run it again")
    return result


def _order(path: Path) -> tuple[str, int, str, str]:
    """Rows by their numbers, 2 before 10."""
    row = path.parent.name
    number = row.split("-")[0]
    return path.parent.parent.as_posix(), int(number) if number.isdigit() else 0, row, path.name


def cells(results: Iterable[Result]) -> dict[tuple[str, str], Cell]:
    """By row and setting."""
    found: dict[tuple[str, str], Cell] = {}
    for result in results:
        found.setdefault((result["row"], result["setting"]), Cell()).results.append(result)
    return found


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
