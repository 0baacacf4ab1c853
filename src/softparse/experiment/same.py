"""Runs that another row has made already: what is trained alike is trained once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..configuration import ConfigurationError
from .results import read_result
from .rows import DATA, Task


def same_run(
    task: Task, config: dict[str, Any], checksums: dict[str, str], versions: dict[str, str], results: Path
) -> dict[str, Any] | None:
    """The result of another row with the same data, settings, seed and versions, scored on what is asked for here."""
    wanted = [getattr(task.row, name) for name in DATA]
    for path in sorted(results.glob(f"*/*/{task.setting}-{task.seed}.json")):
        try:
            result = read_result(path)
        except ConfigurationError:  # somebody else's; tables tell of it
            continue
        if (
            [result["options"].get(name) for name in DATA] == wanted
            and result.get("config") == config
            and result.get("versions") == versions
            and result["data"] == checksums
            and set(task.row.score) <= set(result["scores"])
        ):
            return result
    return None
