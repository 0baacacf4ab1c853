"""One run: train, parse, score, and write down everything about it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from ..configuration import as_table
from ..corpus.conllu import read, write
from ..corpus.files import replacing
from ..evaluation import break_down, score, sentence_counts
from ..learning.config import Config, configure, settled
from ..learning.observer import Observer
from ..learning.training import train
from ..parser import Parser
from .rows import Task
from .settings import Files, copy, prepare, read_setting


def result_path(task: Task, results: Path) -> Path:
    return results / f"{task.name}.json"


def run(task: Task, data: Path, work: Path, results: Path, observer: Observer | None = None) -> Path:
    """Do a run from wherever it was left; its result is written at the end, at once."""
    place = work / "runs" / task.name
    place.mkdir(parents=True, exist_ok=True)
    setting = task.path.parent.parent / "settings" / f"{task.setting}.toml"
    files = prepare(setting, data, work / "settings" / task.setting)
    config = configuration(task, files, setting, work, place)
    started = time.time()
    parser = train(config, resume=True, observer=observer)
    trained = time.time()
    scores = {part: _scored(parser, getattr(files, part), place / f"{part}.conllu") for part in task.row.score}
    content = {
        "table": task.path.parent.name,
        "row": task.path.stem,
        "title": task.row.title,
        "setting": task.setting,
        "seed": task.seed,
        "options": asdict(task.row),
        "scores": scores,
        "seconds": {"training": _seconds(place / "model"), "this_start": trained - started},
        "best": parser.metrics.get("best"),
        "autoencoder": parser.metrics.get("autoencoder"),
        "history": _history(place / "model"),
        "config": _without_paths(as_table(settled(config))),
        "data": files.checksums,
        "versions": {name: importlib.metadata.version(name) for name in ("softparse", "torch", "numpy", "numba")},
        "machine": machine(),
    }
    path = result_path(task, results)
    with replacing(path) as file:
        file.write((json.dumps(content, ensure_ascii=False) + "\n").encode())
    return path


def configuration(task: Task, files: Files, setting: Path, work: Path, place: Path) -> Config:
    row = task.row
    trees = files.labeled
    if row.trees:
        trees = place / "trees.conllu"
        every = max(1, sum(1 for _ in read(files.labeled, "conllu")) // row.trees)
        copy([files.labeled], trees, every, row.trees)
    data: dict[str, Any] = {"train": [str(trees)], "dev": [str(files.dev)], "output": str(place / "model")}
    if row.raw:
        data["raw"] = [str(path) for path in files.raw]
    if row.vectors:
        data["vectors"] = str(vectors(setting, files, work / "vectors" / f"{task.setting}.vec.gz"))
    return configure(row.preset, assignments=row.set, data=data, train={"seed": task.seed})


def vectors(setting: Path, files: Files, target: Path) -> Path:
    """The word vectors of a setting, fetched or trained once by the command for it."""
    if target.exists():
        return target
    how = read_setting(setting)[0].vectors.split()
    if not how:
        raise ValueError(f"{setting}: names no vectors, which this row needs")
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "softparse", "vectors", *how]
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        if how[0] == "train":
            made = Path(folder) / target.name
            subprocess.run([*command, str(files.labeled), *map(str, files.raw), "-o", str(made)], check=True)
        else:
            made = Path(folder) / f"{how[1]}.vec.gz"
            subprocess.run([*command, "-o", folder], check=True)
        os.replace(made, target)
    return target


def _scored(parser: Parser, gold: Path, target: Path) -> dict[str, Any]:
    """Scores, their breakdown, and counts by sentence, which the bootstrap needs. The parses go to a file."""
    sentences = list(read(gold, "conllu"))
    started = time.perf_counter()
    parses = parser.parse(sentences)
    seconds = time.perf_counter() - started
    predicted = [
        sentence.with_tree(parse.heads, parse.labels) for sentence, parse in zip(sentences, parses, strict=True)
    ]
    with replacing(target) as file:
        file.writelines(write(sentence) for sentence in predicted)
    counts = sentence_counts(sentences, predicted)
    return {
        **score(sentences, predicted).as_dict(),
        "seconds": seconds,
        "breakdown": break_down(sentences, predicted).as_dict(),
        "by_sentence": {
            name: [int(value) for value in getattr(counts, name)] for name in ("words", "heads", "labelled")
        },
    }


def _seconds(model: Path) -> float:
    history = _history(model)
    return history[-1]["seconds"] if history else 0.0


def _history(model: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (model / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def _without_paths(table: dict[str, Any]) -> dict[str, Any]:
    """Settings without the places of this machine; checksums say which data it was."""
    data = {key: value for key, value in table["data"].items() if key not in ("train", "dev", "raw", "output")}
    return {**table, "data": {**data, "vectors": bool(data["vectors"])}}


def machine() -> dict[str, Any]:
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
    }
