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
from safetensors import SafetensorError
from torch import Tensor

from ..configuration import ConfigurationError, as_json, as_table, different_keys
from ..corpus.batches import Tree
from ..corpus.files import replacing
from ..corpus.problems import CorpusError
from ..corpus.projectivity import split_label
from ..corpus.sentence import Sentence
from ..corpus.vectors import Vectors, read_vectors
from ..corpus.vocabulary import Vocabulary, normal_form
from ..parser import ModelError, Parser, ParserConfig, folder
from . import data, state
from .config import Config
from .distributed import Group
from .loop import Interrupted, Loop
from .observer import Observer, Record
from .warm_start import copy_weights

AFTER_A_FULL_DISK = "what was there before is whole; make room or mend the place, then --resume goes on"


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
    is_orderly = False
    try:
        if output and not group.by_first(lambda: _begin(config, resume, force)):
            observer.warn(f"{output}: training is complete; nothing to resume")
            parser = folder.load(output)
        else:
            with _settings(config, group):
                parser = _train(config, resume, observer, group)
        is_orderly = True
        return parser
    except Interrupted:  # which all processes are, at the same step
        is_orderly = True
        raise
    finally:
        observer.finished()
        group.close(is_orderly)


def _begin(config: Config, resume: bool, force: bool) -> bool:
    """Make sure that the run may have its name, and that a kill from now on leaves no doubt whose name it is.

    Returns False if the run to resume is complete.
    """
    output = config.data.output
    folder.refuse_other_content(output)
    is_open, has_model = state.is_open(output), (Path(output) / folder.CONFIG).exists()
    if resume and has_model and not is_open:
        settings = folder.load(output).metrics.get("settings", {})
        different = state.differences(settings, config)
        if different:
            raise ModelError(f"{output}: training is complete, with other settings ({', '.join(different[:5])}); "
                             "use --force to train anew, or another name")  # fmt: skip
        return False
    if not resume:
        if not force and (has_model or is_open):
            there = "a model" if has_model else "a run that was stopped"
            raise ModelError(f"{output}: there is {there} already; use --resume, --force or another name")
        with _telling_place(output, "choose another place"):
            state.begin(output)
    return True


def _train(config: Config, resume: bool, observer: Observer, group: Group) -> Parser:
    output = config.data.output
    try:
        with group.together():
            found = data.load(config.data, config.decoding.single_root, observer.warn)
            parser = make_parser(config, found, observer)
            parser.to(_device(config, group))
            loop = Loop(parser, found.train, found.dev, config.train, group, observer)
            fingerprint = _fingerprint(found.train, found.dev, parser.vocabulary)
            saved = state.load(output, config, fingerprint) if output and resume else None
    except Exception:
        if output and group.is_first:
            state.take_back(output)
        raise
    if group.size > 1:  # every process has made the same weights; their dropout differs from here on
        torch.manual_seed(config.train.seed + 7919 * (group.rank + 1))
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
            is_begun = any(entry.get("is_best") for entry in loop.progress.history[:-1])
            write = folder.update if is_begun and (Path(output) / folder.CONFIG).exists() else folder.write
            with _telling_place(output):
                write(parser, output, {state.HISTORY: _lines(loop.progress.history)})

    def save() -> None:
        content = loop.state_dict()
        if output and group.is_first:
            with _telling_place(state.place(output)):
                state.save(output, config, fingerprint, content, _lines(loop.progress.history))

    vocabulary = {"labels": len(parser.vocabulary.labels), "vocabulary": len(parser.vocabulary.words)}
    observer.started(found.counts | vocabulary, loop.steps)
    if saved is None:
        save()  # from now on, a run that is killed can be told from one that is complete
    with _stopping(loop), _telling_what_is_left(loop, output):
        loop.run(keep, save)
    if output and group.is_first:
        with _telling_place(output), replacing(Path(output) / state.HISTORY) as file:
            file.write(_lines(loop.progress.history).encode())
        state.discard(output)
    if best:
        parser.network.load_state_dict(best[0])
    elif output and group.is_first:  # the best epoch was before the run was resumed
        parser = folder.load(output)
    parser.network.eval()
    return parser


def _lines(history: list[Record]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in history)


@contextlib.contextmanager
def _telling_what_is_left(loop: Loop, output: str) -> Iterator[None]:
    """A run that has diverged would do so again if it were resumed."""
    try:
        yield
    except FloatingPointError as error:
        best = loop.progress.best_record
        left = f"the best model so far, of epoch {best['epoch']}, is in {output}; " if best and output else ""
        raise FloatingPointError(f"{error}; {left}--force starts anew with other settings") from error


@contextlib.contextmanager
def _telling_place(path: str | Path, remedy: str = AFTER_A_FULL_DISK) -> Iterator[None]:
    """The system says that a disk is full, but not where, nor what becomes of the run."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{path}: cannot be written ({reason}); {remedy}") from error


def make_parser(config: Config, found: data.Data, observer: Observer) -> Parser:
    """An untrained parser for the data, or one that starts from another model."""
    counted = [Sentence.from_words(tree.words) for tree in found.train]
    labels = {label for tree in found.train for label in tree.labels}
    vocabulary = Vocabulary.of(counted, labels, config.model.words.least_count)
    if not vocabulary.labels:
        observer.warn("the training trees have no labels; the parser will predict heads, and _ as every label")
    _warn_of_unknown_labels(found.dev, {split_label(label)[0] for label in labels}, observer)
    start = _start(config)
    if start is not None:
        vocabulary = start.vocabulary.extended(vocabulary)
        found.counts["init"] = f"{config.data.init} (its network, in place of the preset's)"
    forms = {form for tree in found.train for form in tree.words}
    forms.update(form for sentence in found.dev for form in sentence.words)
    words, vectors = _vectors(config, forms, start, observer, found.counts)
    parser = Parser(ParserConfig(config.model, config.decoding), vocabulary, words, vectors)
    if start is not None:
        copy_weights(start.network, parser.network, config.data.init)
    return parser


def _start(config: Config) -> Parser | None:
    """The model to start from, if there is one; a network that the settings ask for otherwise is an error."""
    name = config.data.init
    if not name:
        return None
    start = folder.load(name)
    wanted, there = as_table(config.model), as_table(start.config.model)
    different = [f"model.{key}" for key in different_keys(wanted, there)]
    if different:
        raise ConfigurationError(
            f"{name}: a model to start from brings its own network, and this one has other settings than those given "
            f"({', '.join(different[:5])}); leave these out, or do not start from it"
        )
    return start


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
    if start is not None:
        _require_same_dimension(config, found.matrix.shape[1], start)
    have = set(found.words)
    covered = sum(form in have or normal_form(form) in have for form in forms)
    counts["vectors"] = f"{config.data.vectors} ({covered / len(forms):.0%} of the word forms)"
    if covered < 0.2 * len(forms):
        observer.warn(f"{config.data.vectors}: only {covered / len(forms):.0%} of the word forms have a vector; "
                      "is it the right language?")  # fmt: skip
    vectors = torch.from_numpy(found.matrix)
    return found.words, vectors / vectors.std()  # so that all files have the same scale


def _require_same_dimension(config: Config, dimension: int, start: Parser) -> None:
    there = start.network.words.vectors.shape[1]
    if dimension != there:
        had = f"with vectors of {there} numbers" if there else "without vectors"
        remedy = "give those (or none: it has them with it)" if there else "leave them out"
        raise CorpusError(f"{config.data.vectors}: vectors of {dimension} numbers, but {config.data.init} was trained "
                          f"{had}; {remedy}")  # fmt: skip


def _device(config: Config, group: Group) -> torch.device:
    name = config.train.device
    if name == "auto":
        name = f"cuda:{group.local_rank}" if torch.cuda.is_available() else "cpu"
    try:
        return torch.device(name)
    except RuntimeError:
        raise ConfigurationError(f"train.device: there is no device {name!r}; use auto, cpu or cuda") from None


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
