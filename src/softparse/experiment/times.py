"""What runs cost: minutes of training and speeds of parsing, by row, setting and machine."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from .results import Result
from .tables import cells, titles


def times_table(results: Sequence[Result]) -> str:
    """In Markdown. Times of different machines are not averaged: they have a line each."""
    lines = [
        "| row | setting | minutes of training | sentences parsed a second | processor | threads | runs |",
        "|---|---|---|---|---|---|---|",
    ]
    names = titles(results)
    for (row, setting), cell in cells(results).items():
        by_machine: dict[tuple[str, int], list[Result]] = {}
        for result in cell.results:
            machine = result["machine"]
            by_machine.setdefault((machine["processor"], machine["threads"]), []).append(result)
        for (processor, threads), runs in by_machine.items():
            minutes = statistics.mean(result["seconds"]["training"] / 60 for result in runs)
            speeds = [
                result["sizes"]["dev"][0] / result["seconds"]["parsing dev"]
                for result in runs
                if result["seconds"].get("parsing dev")
            ]
            speed = f"{statistics.mean(speeds):.0f}" if speeds else ""
            lines.append(
                f"| {names[row]} | {setting} | {minutes:.1f} | {speed} | {processor} | {threads} | {len(runs)} |"
            )
    return "\n".join(lines)


def total_time(results: Sequence[Result]) -> str:
    """A sentence. A run that was taken from another row is not counted twice."""
    made = [result for result in results if not result.get("same_as")]
    hours = sum(result["seconds"]["training"] for result in made) / 3600
    return f"All {len(made)} runs together: {hours:.1f} hours of training."
