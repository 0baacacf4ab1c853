"""Learning curves: scores by number of trees, with and without raw text. How many trees is raw text worth?"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .agreement import of_one_preset
from .results import Result


@dataclass(frozen=True)
class Point:
    trees: int
    mean: float
    deviation: float
    runs: int

    def __str__(self) -> str:
        spread = f" ± {self.deviation:.2f}" if self.runs > 1 else ""
        return f"{self.mean:.2f}{spread} ({self.runs})"


def curve(results: Sequence[Result], setting: str, raw: bool, part: str = "test", measure: str = "las") -> list[Point]:
    """Points by number of trees, of our own rows that name one; of two rows for a point, the first.

    All are of one preset: where there are results of what it is now, those of an earlier one do not count.
    """
    own = [
        result
        for result in results
        if result["setting"] == setting and result["options"]["trees"] and not result["options"]["peer"]
    ]
    found: dict[int, list[float]] = {}
    rows: dict[int, str] = {}
    for result in of_one_preset(own):
        options = result["options"]
        if options["raw"] != raw or part not in result["scores"]:
            continue
        if rows.setdefault(options["trees"], result["row"]) == result["row"]:
            found.setdefault(options["trees"], []).append(result["scores"][part][measure])
    return [
        Point(trees, statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0, len(values))
        for trees, values in sorted(found.items())
    ]


def worth(without: Sequence[Point], score: float, trees: int) -> float | None:
    """How many trees alone give the score that so many `trees` have with raw text; None beyond the ends of the curve.

    Between points it goes by logarithms. It is searched for from the point of `trees` on: to more trees if the score is
    higher than there, to fewer if it is lower.

    >>> worth([Point(100, 50.0, 0.0, 1), Point(400, 60.0, 0.0, 1)], 55.0, 100)
    200.0
    """
    here = next(point for point in without if point.trees == trees)
    if score == here.mean:
        return trees
    pairs = list(itertools.pairwise(without))
    if score > here.mean:
        pairs = [(low, high) for low, high in pairs if low.trees >= trees]
    else:
        pairs = [(low, high) for low, high in reversed(pairs) if high.trees <= trees]
    for low, high in pairs:
        if low.mean <= score <= high.mean:
            part = (score - low.mean) / (high.mean - low.mean) if high.mean > low.mean else 0.0
            return round(math.exp(math.log(low.trees) + part * math.log(high.trees / low.trees)), 6)
    return None


def curves_table(results: Sequence[Result], part: str = "test") -> str:
    """In Markdown: LAS by setting and number of trees, and what raw text is worth; nothing if no row has a twin."""
    lines = [
        f"| LAS on {part} | trees | trees alone | with raw text | gain | as good as, in trees alone |",
        "|---|---|---|---|---|---|",
    ]
    for setting in dict.fromkeys(result["setting"] for result in results):
        alone, both = (curve(results, setting, raw, part) for raw in (False, True))
        by_trees = {point.trees: point for point in both}
        for point in alone:
            with_raw = by_trees.get(point.trees)
            if with_raw is None:
                continue
            trees = worth(alone, with_raw.mean, point.trees)
            shown = f"{trees:.0f}" if trees else _beyond(alone, point, with_raw.mean)
            lines.append(
                f"| {setting} | {point.trees} | {point} | {with_raw} | {with_raw.mean - point.mean:+.2f} | {shown} |"
            )
    return "\n".join(lines) if len(lines) > 2 else ""


def _beyond(alone: Sequence[Point], point: Point, score: float) -> str:
    """What a score beyond an end of the curve says; of the point at that end it says nothing but the gain's sign."""
    end, side = (alone[-1], "more") if score > point.mean else (alone[0], "fewer")
    return "–" if end == point else f"{side} than {end.trees}"
