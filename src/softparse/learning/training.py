"""From a configuration to a trained parser in its folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..configuration import ConfigurationError, as_json
from ..corpus.batches import Tree
from ..corpus.problems import CorpusError
from ..corpus.projectivity import split_label
from ..corpus.sentence import Sentence
from ..corpus.vectors import Vectors, read_vectors
from ..corpus.vocabulary import Vocabulary, normal_form
from ..parser import ModelError, Parser, ParserConfig, folder
from ..parser.device import usable_device
from . import data, state
from .config import Config
from .distributed import Group
from .loop import Loop
from .observer import Observer, Record
from .warm_start import copy_weights

HISTORY = "metrics.jsonl"


def train(config: Config, *, resume: bool = False, force: bool = False, observer: Observer | None = None) -> Parser:
    """Train a parser on treebanks, and save it to `config.data.output` (if that is given) whenever it gets better.

    `resume` goes on with a run that was stopped, or starts one if there is none; `force` allows to replace a model.
    Returns the best parser.
    """
    observer = observer or Observer()
    output = config.data.output
    group = Group()
    if not group.is_first:
        observer = Observer()
    try:
        if output:
            folder.refuse_other_content(output)
        if output and not resume and not force and (Path(output) / folder.CONFIG).exists():
            raise ModelError(f"{output}: there is a model already; use --resume, --force or another name")
        if resume and output and _is_complete(output):
            observer.warn(f"{output}: training is complete; nothing to resume")
            return folder.load(output)
        with _settings(config, group):
            return _train(config, resume, observer, group)
    finally:
        observer.finished()
        group.close()


def _is_complete(output: str) -> bool:
    return (Path(output) / folder.CONFIG).exists() and not state.place(output).exists()


def _train(config: Config, resume: bool, observer: Observer, group: Group) -> Parser:
    output = config.data.output
    found = data.load(config.data, config.decoding.single_root, observer.warn)
    parser = make_parser(config, found, observer)
    parser.to(_device(config, group))
    if group.size > 1:  # every process has made the same weights; their dropout differs from here on
        torch.manual_seed(config.train.seed + 7919 * (group.rank + 1))
    loop = Loop(parser, found.train, found.dev, config.train, group, observer)
    fingerprint = _fingerprint(found.train, found.dev, parser.vocabulary)
    saved = state.load(output, config, fingerprint) if output and resume else None
    if saved is not None:
        loop.load_state_dict(saved)
    best: list[dict[str, Tensor]] = []

    def keep(record: Record) -> None:
        parser.metrics = {
            "best": record,
            "data": found.counts,
            "settings": json.loads(as_json(config)),
            "processes": group.size,
        }
        best[:] = [{name: tensor.detach().clone() for name, tensor in parser.network.state_dict().items()}]
        if output:
            lines = "".join(json.dumps(entry) + "\n" for entry in loop.progress.history)
            is_begun = loop.progress.history and any(entry.get("is_best") for entry in loop.progress.history[:-1])
            write = folder.update if is_begun and (Path(output) / folder.CONFIG).exists() else folder.write
            write(parser, output, {HISTORY: lines})

    def save() -> None:
        content = loop.state_dict()
        if output and group.is_first:
            state.save(output, config, fingerprint, content)
            with open(state.place(output) / HISTORY, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(entry) + "\n" for entry in loop.progress.history)

    vocabulary = {"labels": len(parser.vocabulary.labels), "vocabulary": len(parser.vocabulary.words)}
    observer.started(found.counts | vocabulary, loop.steps)
    if saved is None:
        save()  # from now on, a run that is killed can be told from one that is complete
    with _stopping(loop):
        loop.run(keep, save)
    if output and group.is_first:
        _add_history(output, loop.progress.history)
        state.discard(output)
    if best:
        parser.network.load_state_dict(best[0])
    elif output and group.is_first:  # the best epoch was before the run was resumed
        parser = folder.load(output)
    parser.network.eval()
    return parser


def _add_history(output: str, history: list[Record]) -> None:
    from ..corpus.files import replacing

    with replacing(Path(output) / HISTORY) as file:
        file.write("".join(json.dumps(entry) + "\n" for entry in history).encode())


def make_parser(config: Config, found: data.Data, observer: Observer) -> Parser:
    """An untrained parser for the data, or one that starts from another model."""
    counted = [Sentence.from_words(tree.words) for tree in found.train]
    labels = {label for tree in found.train for label in tree.labels}
    vocabulary = Vocabulary.of(counted, labels, config.model.words.least_count)
    _warn_of_unknown_labels(found.dev, {split_label(label)[0] for label in labels}, observer)
    model, start = config.model, None
    if config.data.init:
        start = folder.load(config.data.init)
        vocabulary, model = start.vocabulary.extended(vocabulary), start.config.model
    forms = {form for tree in found.train for form in tree.words}
    forms.update(form for sentence in found.dev for form in sentence.words)
    words, vectors = _vectors(config, forms, start, observer, found.counts)
    parser = Parser(ParserConfig(model, config.decoding), vocabulary, words, vectors)
    if start is not None:
        copy_weights(start.network, parser.network, config.data.init)
    return parser


def _warn_of_unknown_labels(dev: list[Sentence], known: set[str], observer: Observer) -> None:
    """Each label of the dev set that training never sees, where it comes first."""
    seen = known | {"_"}
    for sentence in dev:
        for word, label in enumerate(sentence.labels, 1):
            if label not in seen:
                seen.add(label)
                message = f"training never sees the label {label!r}, so the parser cannot predict it"
                observer.warn(str(sentence.problem(message, word, is_error=False)))


def _vectors(
    config: Config, forms: Iterable[str], start: Parser | None, observer: Observer, counts: dict[str, Any]
) -> tuple[list[str], Tensor | None]:
    if not config.data.vectors:
        if start is None or not start.vector_words:
            return [], None
        return start.vector_words, start.network.words.vectors[1:]
    forms = set(forms)
    wanted = forms | {normal_form(form) for form in forms}
    found: Vectors = read_vectors(config.data.vectors, wanted, config.data.vectors_kept)
    if not found.words:
        raise CorpusError(f"{config.data.vectors}: has no vector for any word of the treebank")
    have = set(found.words)
    covered = sum(form in have or normal_form(form) in have for form in forms)
    counts["vectors"] = f"{config.data.vectors} ({covered / len(forms):.0%} of the word forms)"
    if covered < 0.2 * len(forms):
        observer.warn(f"{config.data.vectors}: only {covered / len(forms):.0%} of the word forms have a vector; "
                      "is it the right language?")  # fmt: skip
    vectors = torch.from_numpy(found.matrix)
    return found.words, vectors / vectors.std()  # so that all files have the same scale


def _device(config: Config, group: Group) -> torch.device:
    name = config.train.device
    if name == "auto":
        name = f"cuda:{group.local_rank}" if torch.cuda.is_available() else "cpu"
    try:
        return usable_device(name)
    except ConfigurationError as error:
        raise ConfigurationError(f"train.device: {error}") from None


def _fingerprint(trees: list[Tree], dev: list[Sentence], vocabulary: Vocabulary) -> str:
    digest = hashlib.sha256()
    for tree in trees:
        digest.update(repr((tree.words, tree.heads, tree.labels)).encode())
    for sentence in dev:
        digest.update(repr((sentence.words, sentence.heads, sentence.labels)).encode())
    digest.update(repr(vocabulary.words).encode())
    return digest.hexdigest()


@contextlib.contextmanager
def _settings(config: Config, group: Group) -> Iterator[None]:
    """The run's own random numbers and threads; the caller's are put back."""
    threads = torch.get_num_threads()
    wanted = config.train.threads or (max(1, (os.cpu_count() or 1) // group.size) if group.size > 1 else threads)
    torch.set_num_threads(wanted)
    try:
        with torch.random.fork_rng():
            torch.manual_seed(config.train.seed)
            yield
    finally:
        torch.set_num_threads(threads)


@contextlib.contextmanager
def _stopping(loop: Loop) -> Iterator[None]:
    """Ctrl-C and a polite kill stop after the current step; a second Ctrl-C stops at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        if loop.stop_requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        loop.stop_requested = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
