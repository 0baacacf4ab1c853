"""Rows of tables: a way to train, over settings and seeds. A row is a TOML file, and its folder is a table.

title = "VAE without z"
preset = "paper-vae"
settings = ["english", "french", "swedish"]
seeds = 3                            # or a table by setting
raw = true                           # with the setting's raw text
raw_sentences = 0                    # so many sentences of it, spread over the files; 0 is all
vectors = true                       # and its vectors
trees = 0                            # so many trees, spread over the file; 0 is all
score = ["dev", "test"]
set = ["train.epochs=30"]
against = ["5-default"]              # rows that it is compared with, the first one its twin without raw text
peer = ""                            # another parser, which the script of this name in `peers` trains and runs
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..configuration import ConfigurationError, at_least, build, read_toml

SCORED = ("dev", "test")
# What a row says about its data. Configurations in results do not tell it, since paths are left out of them.
DATA = ("raw", "raw_sentences", "vectors", "trees")


@dataclass(frozen=True)
class Row:
    title: str = ""
    preset: str = "default"
    settings: list[str] = field(default_factory=list)
    raw: bool = False
    raw_sentences: int = at_least(0, 0)
    vectors: bool = False
    trees: int = at_least(0, 0)
    score: list[str] = field(default_factory=lambda: ["dev", "test"])
    set: list[str] = field(default_factory=list)
    against: list[str] = field(default_factory=list)
    peer: str = ""


@dataclass(frozen=True)
class Task:
    """One run of a row."""

    path: Path  # of the row's file, absolute: its folders tell the table and where its settings are
    row: Row
    setting: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}/{self.setting}-{self.seed}"


def read_row(path: Path) -> tuple[Row, dict[str, int] | int]:
    """A row and its numbers of seeds."""
    table = read_toml(path)
    seeds: Any = table.pop("seeds", 1)
    counts = seeds.values() if isinstance(seeds, dict) else [seeds]
    if not all(isinstance(count, int) and count > 0 for count in counts):
        raise ConfigurationError(f"{path}: seeds must be a number, or a table of numbers by setting")
    row = build(Row, table, f"{path.name}: ")
    if not row.settings:
        raise ConfigurationError(f"{path}: names no settings")
    if row.raw_sentences and not row.raw:
        raise ConfigurationError(f"{path}: raw_sentences is of raw text; set raw to true")
    if row.peer and max(counts) > 1:
        raise ConfigurationError(f"{path}: peers have no seeds; set seeds to 1")
    _refuse_unknown(path, "score", row.score, SCORED)
    _refuse_unknown(path, "seeds", seeds if isinstance(seeds, dict) else [], row.settings)
    _refuse_unknown(path, "against", row.against, sorted(other.stem for other in path.parent.glob("*.toml")))
    return row, seeds


def _refuse_unknown(path: Path, name: str, given: Iterable[str], known: Sequence[str]) -> None:
    for each in given:
        if each not in known:
            raise ConfigurationError(f"{path}: {name} names {each!r}, but there are only {', '.join(known)}")


def row_path(path: str | Path) -> Path:
    """With the names of all its folders, wherever one is; links keep the names they have."""
    return Path(os.path.abspath(path))


def rows_in(paths: Sequence[str | Path]) -> list[Path]:
    """Files of rows, in folders too, in the order of their names."""
    found: list[Path] = []
    for path in map(row_path, paths):
        found += sorted(path.glob("*.toml")) if path.is_dir() else [path]
    if not found:
        raise ConfigurationError(f"{', '.join(map(str, paths))}: no experiment in it")
    return found


def tasks_of(paths: Iterable[Path], seeds: int | None = None, settings: Sequence[str] = ()) -> list[Task]:
    """All runs of rows: first the first seed of everything, so that a table is there early."""
    tasks = []
    paths = list(dict.fromkeys(paths))
    known = {setting for path in paths for setting in read_row(path)[0].settings}
    for setting in settings:
        if setting not in known:
            raise ConfigurationError(f"no row has the setting {setting!r}; there are {', '.join(sorted(known))}")
    for path in paths:
        row, own = read_row(path)
        for setting in dict.fromkeys(row.settings):
            if settings and setting not in settings:
                continue
            number = seeds or (own.get(setting, 1) if isinstance(own, dict) else own)
            number = 1 if row.peer else number  # peers have no seeds
            tasks += [Task(path, row, setting, seed) for seed in range(1, number + 1)]
    return sorted(tasks, key=lambda task: task.seed)
