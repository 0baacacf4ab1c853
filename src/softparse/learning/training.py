"""From a configuration to a trained parser in its folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor

from ..configuration import ConfigurationError, as_json
from ..parser import ModelError, Parser, folder
from ..parser.device import usable_device
from ..parser.temperature import CALIBRATION
from . import data, generative_files, state
from .calibration import calibrate
from .config import Config, doubts, settled
from .diagnostics import diagnose
from .distributed import Group
from .loop import Interrupted, Loop
from .new_parser import make_parser
from .observer import Observer, Record
from .priors import Prior
from .raw_setup import make_unlabelled
from .self_training import first_step, two_steps
from .tokenizers import Texts, TokenizerMaker

AFTER_A_FULL_DISK = "what was there before is whole; make room or mend the place, then --resume goes on"


def train(
    config: Config,
    *,
    resume: bool = False,
    force: bool = False,
    observer: Observer | None = None,
    tokenizers: TokenizerMaker | None = None,
) -> Parser:
    """Train a parser on treebanks, and save it to `config.data.output` (if that is given) whenever it gets better.

    `resume` goes on with a run that was stopped, or starts one if there is none; `force` allows to replace a model;
    `tokenizers` trains a tokenizer to save with it. Returns the best parser.
    """
    questions = doubts(config)
    config = settled(config)
    group = Group()
    watching = observer if observer and group.is_first else Observer()
    for question in questions:
        watching.warn(question)

    texts = Texts(config, tokenizers, state.place(config.data.output) if config.data.output else None, watching.warn)

    def run(config: Config, may_replace: bool = False, more: Mapping[str, Any] | None = None) -> Parser:
        metrics = {"settings": json.loads(as_json(config)), **(more or {})}
        return _run(config, resume, force or may_replace, watching, group, texts, metrics)

    is_orderly = False
    held = contextlib.ExitStack()
    try:
        if config.data.output:
            group.by_first(lambda: _hold(config.data.output, held))
        if config.method != "self-training":
            parser = run(config)
        elif config.data.output and group.by_first(lambda: _is_done(config, resume, force)):
            parser = _complete(config.data.output, watching)
        else:
            parser = two_steps(config, run, group, resume, lambda: texts.prepare().raw)
        is_orderly = True
        return parser
    except Interrupted:  # which all processes are, at the same step
        is_orderly = True
        raise
    finally:
        texts.close()
        held.close()
        watching.finished()
        group.close(is_orderly)


def _hold(output: str, held: contextlib.ExitStack) -> None:
    with _telling_place(output, "choose another place"):
        held.enter_context(state.alone(output))


def _run(
    config: Config, resume: bool, force: bool, observer: Observer, group: Group, texts: Texts, metrics: dict[str, Any]
) -> Parser:
    """One run; `metrics` are what is known of it beforehand."""
    output = config.data.output
    if output and not group.by_first(lambda: _begin(output, metrics["settings"], resume, force)):
        return _complete(output, observer)
    with _settings(config, group):
        return _train(config, resume, observer, group, texts, metrics)


def _complete(output: str, observer: Observer) -> Parser:
    observer.warn(f"{output}: training is complete; nothing to resume")
    return folder.load(output)


def _is_done(config: Config, resume: bool, force: bool) -> bool:
    """Whether a run in two steps is complete; raises if the run may not have its name."""
    output = config.data.output
    folder.refuse_other_content(output)
    has_model = folder.is_model(output)
    is_open = state.is_open(output) or first_step(output).exists() or state.is_open(first_step(output))
    _refuse_to_replace(output, has_model, is_open, resume or force)
    is_done = resume and has_model and not is_open
    if is_done:
        _refuse_other_settings(output, json.loads(as_json(config)))
    return is_done


def _refuse_to_replace(output: str, has_model: bool, is_open: bool, is_allowed: bool) -> None:
    if not is_allowed and (has_model or is_open):
        there = "a model" if has_model else "a run that was stopped"
        raise ModelError(f"{output}: there is {there} already; use --resume, --force or another name")


def _refuse_other_settings(output: str, settings: dict[str, Any]) -> None:
    """What is complete was not trained with these settings, if they differ."""
    different = state.differences(folder.load(output).metrics.get("settings", {}), settings)
    if different:
        raise ModelError(f"{output}: training is complete, with other settings ({', '.join(different[:5])}); "
                         "use --force to train anew, or another name")  # fmt: skip


def _begin(output: str, settings: dict[str, Any], resume: bool, force: bool) -> bool:
    """Make sure that the run may have its name, and that a kill from now on leaves no doubt whose name it is.

    Returns False if the run to resume is complete.
    """
    folder.refuse_other_content(output)
    is_open, has_model = state.is_open(output), folder.is_model(output)
    if resume and has_model and not is_open:
        _refuse_other_settings(output, settings)
        return False
    if not resume:
        _refuse_to_replace(output, has_model, is_open, force)
        with _telling_place(output, "choose another place"):
            state.begin(output)
    return True


def _train(
    config: Config, resume: bool, observer: Observer, group: Group, texts: Texts, metrics: dict[str, Any]
) -> Parser:
    output = config.data.output
    has_begun_here = group.is_first and not resume
    with _taken_back_on_error(output if has_begun_here else ""):
        prepared = group.by_first(texts.prepare)
        with group.together():
            found = data.load(replace(config.data, raw=prepared.raw), config.decoding.single_root, observer.warn)
            if config.data.raw:
                found.counts["raw"] = config.data.raw
            parser = make_parser(config, found, observer)
            parser.to(_device(config, group))
            unlabelled = make_unlabelled(config, found, parser, observer)
            loop = Loop(parser, found, config, group, observer, unlabelled)
            autoencoder = unlabelled.autoencoder if unlabelled else None
            fingerprint = _fingerprint(found, parser, autoencoder.prior if autoencoder else None)
            saved = state.load(output, config, fingerprint) if output and resume else None
    if group.size > 1:  # every process has made the same weights; their dropout differs from here on
        torch.manual_seed(config.train.seed + 7919 * (group.rank + 1))
    if saved is not None:
        loop.load_state_dict(saved)
    best: list[dict[str, Tensor]] = []

    def keep(record: Record) -> None:
        parser.metrics = {"best": record, "data": found.counts, "processes": group.size, **metrics}
        best[:] = [{name: tensor.detach().clone() for name, tensor in loop.networks.state_dict().items()}]
        if output:
            is_begun = any(entry.get("is_best") for entry in loop.progress.history[:-1])
            write = folder.update if is_begun and folder.is_model(output) else folder.write
            with _telling_place(output):
                history = {state.HISTORY: _lines(loop.progress.history).encode()}
                write(parser, output, {**history, **_generative(loop), **prepared.files})

    def save() -> None:
        content = loop.state_dict()
        if output and group.is_first:
            with _telling_place(state.place(output)):
                state.save(output, config, fingerprint, content, _lines(loop.progress.history))

    vocabulary = {"labels": len(parser.vocabulary.labels), "vocabulary": len(parser.vocabulary.words)}
    observer.started(found.counts | vocabulary, loop.steps, config.train.epochs)
    if saved is None:
        save()  # from now on, a run that is killed can be told from one that is complete
    with _stopping(loop), _telling_what_is_left(loop, output):
        loop.run(keep, save)
    generative = loop.generative
    if best:
        loop.networks.load_state_dict(best[0])
    elif output and group.is_first:  # the best epoch was before the run was resumed
        parser, generative = (folder.load(output), None) if generative is None else generative_files.load(output)
    if generative is not None and group.is_first:
        assert autoencoder is not None
        parser.metrics["autoencoder"] = diagnose(parser, generative, autoencoder.prior, found.dev)
        observer.diagnosed(parser.metrics["autoencoder"])
    if group.is_first:
        if found.dev:
            calibrate(parser, found.dev, names=(str(found.counts["dev"]), ""))
        observer.calibrated(parser.metrics.get(CALIBRATION, {}))
    if output and group.is_first:
        with _telling_place(output):
            folder.update_texts(parser, output, {state.HISTORY: _lines(loop.progress.history).encode()})
        state.discard(output)
    if group.size > 1:
        _as_the_first_has_it(parser, group)
    parser.network.eval()
    return parser


def _as_the_first_has_it(parser: Parser, group: Group) -> None:
    """The best weights, and what has been measured with them; only the first process kept them."""
    weights = {name: tensor.cpu() for name, tensor in parser.network.state_dict().items()} if group.is_first else {}
    weights, metrics = group.from_first((weights, parser.metrics))
    if not group.is_first:
        parser.network.load_state_dict(weights)
        parser.metrics = metrics


def _generative(loop: Loop) -> dict[str, bytes]:
    return {} if loop.generative is None else generative_files.contents(loop.generative, loop.parser)


@contextlib.contextmanager
def _taken_back_on_error(output: str) -> Iterator[None]:
    """A run that fails before it has done anything leaves what was there; after a kill it is to be resumed."""
    try:
        yield
    except Exception:
        if output:
            state.take_back(output)
        raise


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


def _device(config: Config, group: Group) -> torch.device:
    name = config.train.device
    if name == "auto":
        name = f"cuda:{group.local_rank}" if torch.cuda.is_available() else "cpu"
    try:
        return usable_device(name)
    except ConfigurationError as error:
        raise ConfigurationError(f"train.device: {error}") from None


def _fingerprint(found: data.Data, parser: Parser, prior: Prior | None) -> str:
    digest = hashlib.sha256()
    for tree in (*found.train, *found.parsed):
        digest.update(repr((tree.words, tree.heads, tree.labels)).encode())
    for sentence in found.dev:
        digest.update(repr((sentence.words, sentence.heads, sentence.labels)).encode())
    digest.update(repr(parser.vocabulary.words).encode())
    if parser.vector_words:
        digest.update(repr(parser.vector_words).encode())
        digest.update(parser.network.words.vectors.cpu().numpy().tobytes())
    if found.raw is not None:
        digest.update(found.raw.checksum.encode())
    if prior is not None:
        digest.update(repr(prior.as_table()).encode())
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
