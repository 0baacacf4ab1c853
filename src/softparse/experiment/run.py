"""One run: train, parse, score, and write down everything about it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
import sys
import tempfile
import time
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from ..configuration import ConfigurationError, as_table
from ..corpus.conllu import read, read_all, write
from ..corpus.files import opened, replacing
from ..corpus.locks import locked
from ..corpus.splits import spread
from ..evaluation import break_down, score, sentence_counts
from ..learning.config import Config, configure, settled
from ..learning.observer import Observer
from ..learning.self_training import FIRST_STEP
from ..learning.training import train
from ..parser import Parser
from . import peers
from .agreement import wanted
from .machine import machine
from .processes import call
from .results import VECTORS
from .rows import Task
from .same import same_run
from .settings import MADE_FROM, PARTS, Files, copy, made_from, prepare, read_setting


def result_path(task: Task, results: Path) -> Path:
    return results / f"{task.name}.json"


def setting_path(task: Task) -> Path:
    return task.path.parent.parent / "settings" / f"{task.setting}.toml"


def run(task: Task, data: Path, work: Path, results: Path, observer: Observer | None = None) -> Path:
    """Do a run from wherever it was left; its result is written at the end, at once. `Taken` while another does it."""
    with locked(work / "runs" / f"{task.name}.lock"):
        return _run(task, data, work, results, observer)


def _run(task: Task, data: Path, work: Path, results: Path, observer: Observer | None) -> Path:
    setting = setting_path(task)
    files = prepare(setting, data, work / "settings" / task.setting, needs_raw=_needs_raw(task))
    place = work / "runs" / task.name
    checksums = files.checksums | _of_vectors(task, files, work)
    identity = _identity(task, files, checksums.get(VECTORS, ""))
    if made_from(place) != identity:  # what was made otherwise must not be taken for this run's
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True, exist_ok=True)
        with replacing(place / MADE_FROM) as file:
            file.write(identity.encode())
    for part in ("dev", *task.row.score):
        if not getattr(files, part).exists():
            raise ConfigurationError(f"{setting}: names no files under {part}, which {task.path.name} needs")
    if task.row.peer:
        script = peers.folder(task.path) / f"{task.row.peer}.py"
        found = peers.run(script, _trees(task, files, place), files, place) | {"script": peers.digest(script.parent)}
    else:
        config = configuration(task, files, setting, work, place)
        told = _without_paths(as_table(settled(config)))
        same = same_run(task, told, checksums, versions(), results)
        if same is not None:
            taken = {
                "same_as": f"{same['table']}/{same['row']}",
                "scores": {part: same["scores"][part] for part in task.row.score},
                "parses": same["parses"] if is_shown(task) else [],
            }
            return _write(task, {**same, **_names(task), **taken}, results)
        found = {**_train(task, config, files, place, observer), "config": told, "versions": versions()}
    content = {
        "scores": {part: scored(getattr(files, part), place / f"{part}.conllu") for part in task.row.score},
        **found,
        "parses": parses(place / "dev.conllu") if is_shown(task) else [],
        "data": checksums,
        "sizes": sizes(files),
        "machine": machine(),
    }
    return _write(task, {**_names(task), **content}, results)


def _needs_raw(task: Task) -> bool:
    """Whether a run needs the raw text of its setting, which not everybody has, or vectors that are trained on it."""
    return task.row.raw or (task.row.vectors and read_setting(setting_path(task))[0].vectors == "train")


def _of_vectors(task: Task, files: Files, work: Path) -> dict[str, str]:
    """The checksum of the word vectors, if the row has any: those that are trained differ with what trains them."""
    if not task.row.vectors or task.row.peer:
        return {}
    with opened(vectors(setting_path(task), files, _vectors_path(task, work))) as file:
        return {VECTORS: hashlib.sha256(file.read()).hexdigest()}


def _identity(task: Task, files: Files, of_vectors: str) -> str:
    """What is in the folder of a run depends on this."""
    made_by = {"peers": peers.digest(peers.folder(task.path))} if task.row.peer else {"versions": versions()}
    return json.dumps({"data": files.identity, VECTORS: of_vectors, "row": wanted(task.row)} | made_by)


def _names(task: Task) -> dict[str, Any]:
    return {
        "table": task.path.parent.name,
        "row": task.path.stem,
        "title": task.row.title,
        "setting": task.setting,
        "seed": task.seed,
        "options": asdict(task.row),
    }


def _write(task: Task, content: dict[str, Any], results: Path) -> Path:
    path = result_path(task, results)
    with replacing(path) as file:
        file.write((json.dumps(content, ensure_ascii=False) + "\n").encode())
    return path


def _train(task: Task, config: Config, files: Files, place: Path, observer: Observer | None) -> dict[str, Any]:
    """Train this project's parser, and parse what is to be scored into files."""
    parser = train(config, resume=True, observer=observer)
    history = _history(place / "model")
    seconds = {"training": parser.metrics.get(FIRST_STEP, {}).get("seconds", 0.0) + history[-1]["seconds"]}
    for part in task.row.score:
        seconds[f"parsing {part}"] = _parse(parser, getattr(files, part), place / f"{part}.conllu")
    return {
        "seconds": seconds,
        "best": parser.metrics.get("best"),
        "autoencoder": parser.metrics.get("autoencoder"),
        "history": history,
    }


def _parse(parser: Parser, gold: Path, target: Path) -> float:
    """The seconds it took."""
    sentences = list(read(gold, "conllu"))
    started = time.perf_counter()
    parses = parser.parse(sentences)
    seconds = time.perf_counter() - started
    with replacing(target) as file:
        for sentence, parse in zip(sentences, parses, strict=True):
            file.write(write(sentence.with_tree(parse.heads, parse.labels)))
    return seconds


def _trees(task: Task, files: Files, place: Path) -> Path:
    """The trees to learn from: all of the setting, or some of them."""
    if not task.row.trees:
        return files.labeled
    return _some(task, "trees", task.row.trees, [files.labeled], place / "trees.conllu", "conllu")


def _raw(task: Task, files: Files, place: Path) -> list[Path]:
    """The raw text to learn from, likewise."""
    if not task.row.raw_sentences:
        return files.raw
    return [_some(task, "raw sentences", task.row.raw_sentences, files.raw, place / "raw.conllu", None)]


def _some(task: Task, what: str, number: int, paths: list[Path], target: Path, kind: str | None) -> Path:
    """So many sentences of files, spread over them, in one."""
    count = sum(1 for _ in read_all(paths, kind))
    if number > count:
        raise ConfigurationError(f"{task.path}: wants {number} {what}, and {task.setting} has {count}")
    copy(paths, target, set(spread(number, count)), kind)
    return target


def sizes(files: Files) -> dict[str, tuple[int, int]]:
    """Sentences and words of every part."""
    found = {part: [getattr(files, part)] for part in PARTS} | {"raw": files.raw}
    counts = {}
    for part, paths in found.items():
        lengths = [len(sentence) for sentence in read_all(path for path in paths if path.exists())]
        if lengths:
            counts[part] = len(lengths), sum(lengths)
    return counts


def configuration(task: Task, files: Files, setting: Path, work: Path, place: Path) -> Config:
    row = task.row
    data: dict[str, Any] = {
        "train": [str(_trees(task, files, place))],
        "dev": [str(files.dev)],
        "output": str(place / "model"),
    }
    if row.raw and not files.raw:
        raise ConfigurationError(f"{setting}: names no raw text, which this row needs")
    if row.raw:
        data["raw"] = [str(path) for path in _raw(task, files, place)]
    if row.vectors:
        data["vectors"] = str(vectors(setting, files, _vectors_path(task, work)))
    return configure(row.preset, assignments=row.set, data=data, train={"seed": task.seed})


def _vectors_path(task: Task, work: Path) -> Path:
    return work / "settings" / task.setting / "words.vec.gz"


def vectors(setting: Path, files: Files, target: Path) -> Path:
    """The word vectors of a setting, fetched or trained once by the command for it, and again on other text."""
    how = read_setting(setting)[0].vectors
    wanted_from = files.identity if how == "train" else how
    note = target.with_name(f"{target.name}.{MADE_FROM}")
    with locked(target.parent.with_suffix(".lock"), wait=True):
        if not target.exists() or (note.exists() and note.read_text(encoding="utf-8") != wanted_from):
            target.unlink(missing_ok=True)  # first, so that the note never speaks of other vectors
            with replacing(note) as file:
                file.write(wanted_from.encode())
            _make_vectors(setting, files, target)
    return target


def _make_vectors(setting: Path, files: Files, target: Path) -> None:
    how = read_setting(setting)[0].vectors.split()
    if not how:
        raise ConfigurationError(f"{setting}: names no vectors, which this row needs")
    command = [sys.executable, "-m", "softparse", "vectors", *how]
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        if how[0] == "train":
            made = Path(folder) / target.name
            command += [str(files.labeled), *map(str, files.raw), "-o", str(made)]
        else:
            made = Path(folder) / f"{how[1]}.vec.gz"
            command += ["-o", folder]
        if call(command):
            raise ConfigurationError(f"{setting}: there are no vectors; what their command said is above")
        os.replace(made, target)


def scored(gold: Path, predicted: Path) -> dict[str, Any]:
    """Scores, their breakdown, and counts by sentence, which the bootstrap needs."""
    sentences, parses = list(read(gold, "conllu")), list(read(predicted, "conllu"))
    counts = sentence_counts(sentences, parses)
    return {
        **score(sentences, parses).as_dict(),
        "breakdown": break_down(sentences, parses).as_dict(),
        "by_sentence": {
            name: [int(value) for value in getattr(counts, name)] for name in ("words", "heads", "labelled")
        },
    }


def is_shown(task: Task) -> bool:
    """Whether its trees may be looked at in the report: those of one run of each row that is final."""
    return task.seed == 1 and {"dev", "test"} <= set(task.row.score)


def parses(path: Path) -> list[tuple[str, str]]:
    """Heads and labels of every sentence, without its words: those belong to the data."""
    return [(" ".join(map(str, sentence.heads)), "\t".join(sentence.labels)) for sentence in read(path, "conllu")]


def _history(model: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (model / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def _without_paths(table: dict[str, Any]) -> dict[str, Any]:
    """Settings without the places of this machine; checksums say which data it was."""
    data = {key: value for key, value in table["data"].items() if key not in ("train", "dev", "raw", "output")}
    return {**table, "data": {**data, "vectors": bool(data["vectors"])}}


def versions() -> dict[str, str]:
    """Of what a result depends on; `code` is a digest of the rooms of this package that training goes through."""
    found = {name: importlib.metadata.version(name) for name in ("softparse", "torch", "numpy", "numba")}
    return found | {"code": _code()}


@cache
def _code() -> str:
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for room in ("corpus", "evaluation", "learning", "model", "parser", "trees"):
        for path in sorted(path for kind in ("py", "toml") for path in (package / room).rglob(f"*.{kind}")):
            digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]
