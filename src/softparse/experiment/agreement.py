"""Do results belong together? Runs of a row should have been made alike, and as the row says now.

A setting that a result does not know came later, and stands at its default, which leaves things as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from ..configuration import ConfigurationError, as_table
from ..learning.config import Config, configure, settled
from . import peers
from .results import VECTORS, Result
from .rows import DATA, Row, Task
from .settings import Setting

OPTIONS = (*DATA, "peer")  # of a row, which its configuration does not tell
# Settings of a result that say nothing about how it was made, or that its options and checksums tell.
NOT_TOLD = {"train": ("seed", "threads", "device"), "data": ("train", "dev", "raw", "output", "vectors")}
SHOWN = 5


def mixed(results: Iterable[Result]) -> list[str]:
    """What the runs behind one number do not agree about, a line for each; and settings whose rows had other data."""
    found = []
    results = list(results)
    firsts: dict[tuple[str, bool], Result] = {}
    for result in results:
        firsts.setdefault((result["setting"], bool(result["options"]["raw"])), result)
    for result in results:
        others = [firsts[key] for with_raw in (False, True) if (key := (result["setting"], with_raw)) in firsts]
        different = [name for other in others for name in _other_data(other, result)]
        if different:
            found.append(f"{result['row']}, {result['setting']}: other files than in other rows ({_listed(different)})")
    runs: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        runs.setdefault((result["row"], result["setting"]), []).append(result)
    for (row, setting), (first, *others) in runs.items():
        different = [name for other in others for name in contradictions(_told(first), _told(other))]
        if different:
            found.append(f"{row}, {setting}: its runs differ in {_listed(different)}")
    return found


def _other_data(one: Result, other: Result) -> list[str]:
    """In what the data of two results of a setting differ. Those without raw text may not have had its files."""
    both_raw = one["options"]["raw"] and other["options"]["raw"]
    sizes = {part: size for part, size in one["sizes"].items() if both_raw or part != "raw"}
    found = contradictions(one["data"], other["data"]) + contradictions(sizes, other["sizes"], "sizes.")
    return found + (sorted((set(one["data"]) ^ set(other["data"])) - {VECTORS}) if both_raw else [])


def outdated(task: Task, result: Result, setting: Setting, checksums: dict[str, str]) -> list[str]:
    """In what a result differs from what its row says now, its setting, and the script of a peer."""
    missing = [f"score of {part}" for part in task.row.score if part not in result["scores"]]
    needed = {*setting.train, *setting.dev, *setting.test, *(setting.raw if task.row.raw else ())}
    had = set(result["data"]) - {VECTORS}
    files = sorted((needed - had) | (had - needed - set(setting.raw)))
    told = wanted(task.row) | {"checksums": checksums}
    if task.row.peer:
        told["script"] = peers.digest(peers.folder(task.path))
    return contradictions(_told(result), told) + files + missing


def is_earlier(result: Result) -> bool:
    """Whether what the row of a result says gives other settings now: its preset has changed."""
    known = {each.name for each in fields(Row)}
    row = Row(**{name: value for name, value in result["options"].items() if name in known})
    try:
        return bool(contradictions(_told(result), wanted(row)))
    except ConfigurationError:  # of a setting or a preset that is no more
        return True


def of_one_preset(results: Sequence[Result]) -> list[Result]:
    """Those of the preset as it is now, or all if there are none: half a table that is made again is no mixture."""
    return [result for result in results if not is_earlier(result)] or list(results)


def wanted(row: Row) -> dict[str, Any]:
    """What a row says about how its runs are made, in full."""
    now: dict[str, Any] = {"options": {name: getattr(row, name) for name in OPTIONS}}
    if not row.peer:
        data = {"train": ["trees"], "raw": ["text"] if row.raw else []}
        now["config"] = as_table(settled(configure(row.preset, assignments=row.set, data=data)))
    return now


def contradictions(one: Any, other: Any, prefix: str = "") -> list[str]:
    """Dotted names of what two nested tables both have, and not alike.

    >>> contradictions({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 5, "c": 2}, "e": 4})
    ['a.b']
    """
    if isinstance(one, dict) and isinstance(other, dict):
        both = [key for key in one if key in other]
        return [name for key in both for name in contradictions(one[key], other[key], f"{prefix}{key}.")]
    return [] if one == other else [prefix.rstrip(".")]


def _told(result: Result) -> dict[str, Any]:
    """What a result says about how it was made, without its seed and machine."""
    config = _filled(result["config"], as_table(Config())) if result.get("config") else {}
    for table, names in NOT_TOLD.items():
        if table in config:
            config[table] = {name: value for name, value in config[table].items() if name not in names}
    options = {name: value for name, value in result["options"].items() if name in OPTIONS}
    script = {"script": result["script"]} if "script" in result else {}
    return {"options": options, "config": config, "checksums": result["data"], **script}


def _filled(table: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """A nested table, and what it lacks of the defaults."""
    found = dict(table)
    for name, default in defaults.items():
        found[name] = _filled(found.get(name, {}), default) if isinstance(default, dict) else found.get(name, default)
    return found


def _listed(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - SHOWN} more" if len(distinct) > SHOWN else ""
    return ", ".join(distinct[:SHOWN]) + more
