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


@dataclass
class Cell:
    """The results of a row in a setting, by seed."""

    results: list[Result] = field(default_factory=list)

    def values(self, part: str, measure: str) -> list[float]:
        return [result["scores"][part][measure] for result in self.results if part in result["scores"]]

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
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*.json")):
            try:
                found.append(json.loads(path.read_text(encoding="utf-8")))
            except ValueError as error:
                raise ConfigurationError(f"{path}: not a result ({error}); delete it to run it again") from None
    return found


def cells(results: Iterable[Result]) -> dict[tuple[str, str], Cell]:
    """By row and setting."""
    found: dict[tuple[str, str], Cell] = {}
    for result in results:
        found.setdefault((result["row"], result["setting"]), Cell()).results.append(result)
    return found


def table(results: Sequence[Result], part: str = "test") -> str:
    """UAS / LAS of every row in every setting."""
    found = cells(results)
    titles = {result["row"]: result["title"] or result["row"] for result in results}
    settings = list(dict.fromkeys(result["setting"] for result in results))
    lines = [
        f"| UAS / LAS on {part} | " + " | ".join(settings) + " |",
        "|---" * (len(settings) + 1) + "|",
    ]
    for row, title in titles.items():
        shown = [found.get((row, setting), Cell()).shown(part) for setting in settings]
        if any(shown):
            lines.append(f"| {title} | " + " | ".join(shown) + " |")
    return "\n".join(lines)
