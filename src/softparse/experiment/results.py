"""Results of runs, as their files have them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..configuration import ConfigurationError

Result = dict[str, Any]
VECTORS = "vectors"  # their name among the checksums of a result
KEYS = {"table", "row", "title", "setting", "seed", "options", "scores", "data", "sizes", "seconds", "machine"}


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
    found: list[Result] = []
    tables: dict[str, str] = {}
    runs: dict[tuple[str, str, str, int], Path] = {}
    for path in distinct.values():
        result = read_result(path)
        found.append(result)
        run = result["table"], result["row"], result["setting"], result["seed"]
        if runs.setdefault(run, path) != path:
            raise ConfigurationError(f"{runs[run]} and {path} are results of one and the same run; "
                                     "give one of their folders, lest they be taken for two")  # fmt: skip
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
