"""Files in, files out: parsing streams of sentences, in this process or in several."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

import torch

from ..corpus.batches import in_windows
from ..corpus.conllu import read_all, write
from ..corpus.sentence import Sentence
from .folder import load
from .parsing import WINDOW_SENTENCES, WINDOW_WORDS, Parse, Parser

Block = tuple[bytes, int, int]  # CoNLL-U text, sentences, words


@dataclass(frozen=True)
class Options:
    """What the command `parse` can be asked for; see `Parser.pipe`."""

    confidence: bool = False
    kbest: int = 1
    complete: bool = False
    clear_deps: bool = False
    method: str | None = None
    single_root: bool | None = None


def parse_files(
    model: str, paths: Sequence[str], options: Options, kind: str | None = None, workers: int = 1,
    threads: int | None = None, device: str = "cpu",
) -> Iterator[Block]:  # fmt: skip
    """Blocks of parsed text in the order of the input, as they are ready; memory does not grow with the input."""
    yield from parse_stream(model, windows(paths, kind), options, workers, threads, device)


def parse_stream(
    model: str, windows: Iterable[list[Sentence]], options: Options, workers: int = 1, threads: int | None = None,
    device: str = "cpu",
) -> Iterator[Block]:  # fmt: skip
    """The same for sentences from anywhere, in lists that are parsed together."""
    if workers == 1:
        _start(model, threads, device)
        yield from map(_parsed, windows, _repeated(options))
        return
    load(model, device)  # what is wrong with it is said here; a worker could only end
    try:
        yield from _by_workers(windows, options, workers, (model, threads or 1, device))
    except BrokenProcessPool:
        message = "a worker process was ended from outside, perhaps for want of memory; use fewer --workers"
        raise ChildProcessError(message) from None


def windows(paths: Sequence[str], kind: str | None = None) -> Iterator[list[Sentence]]:
    """The sentences of files, cut into the lists that are parsed together.

    They do not depend on who parses them, and so neither does the last digit of a probability.
    """
    return windows_of(read_all(paths, kind))


def windows_of(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    return in_windows(sentences, len, WINDOW_SENTENCES, WINDOW_WORDS)


def _by_workers(
    stream: Iterable[list[Sentence]], options: Options, workers: int, start: tuple[str, int, str]
) -> Iterator[Block]:
    # Processes are started anew, not forked: forking a process with threads in it may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _start_worker, start) as pool:
        try:
            with _without_interrupts():
                for _ in range(workers):
                    pool.submit(os.getpid)  # they all start now, and not one with each window that has been read
            waiting: deque[Future[Block]] = deque()
            for window in stream:
                waiting.append(pool.submit(_parsed, window, options))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:  # nobody waits for what is still to be parsed
            for process in list(pool._processes.values()):
                process.terminate()
            raise


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that are started here leave a Ctrl-C, which reaches all of them, to this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _repeated(options: Options) -> Iterator[Options]:
    while True:
        yield options


_parser: Parser | None = None


def _start_worker(model: str, threads: int | None, device: str) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _start(model, threads, device)


def _end_with_parent() -> None:
    """A parent that is killed cannot stop its workers, and they would wait for it for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _start(model: str, threads: int | None, device: str) -> None:
    """Load the model of this process, once."""
    global _parser
    if threads:
        torch.set_num_threads(threads)
    _parser = load(model, device)


def _parsed(window: list[Sentence], options: Options) -> Block:
    assert _parser is not None
    return parsed(_parser, window, options)


def parsed(parser: Parser, window: list[Sentence], options: Options) -> Block:
    """The text of a window, and how much it is."""
    return b"".join(parsed_texts(parser, window, options)), len(window), sum(map(len, window))


def parsed_texts(parser: Parser, sentences: Iterable[Sentence], options: Options) -> Iterator[bytes]:
    """The sentences with their trees, as CoNLL-U."""
    sentences = list(sentences)
    choices: dict[str, Any] = {
        "confidence": options.confidence,
        "kbest": options.kbest,
        "complete": options.complete,
        "method": options.method,
        "single_root": options.single_root,
    }
    for sentence, parse in zip(sentences, parser.pipe(sentences, **choices), strict=True):
        yield from written_trees(sentence, parse, options)


def written_trees(sentence: Sentence, parse: Parse, options: Options) -> Iterator[bytes]:
    """A sentence with its tree, and with each of its other ones."""
    ranked = [parse, *parse.others]
    for rank, tree in enumerate(ranked, 1):
        copy = _with(sentence, tree, rank if options.kbest > 1 else 0, options)
        if rank > 1:  # what is around the sentence comes once, around all of its trees
            copy = copy.without_mark().without_comments("newdoc", "newpar")
            copy.before = ""
        if rank < len(ranked):
            copy.after = ""
        yield write(copy)


def _with(sentence: Sentence, parse: Parse, rank: int, options: Options) -> Sentence:
    comments = [f"rank = {rank}"] if rank else []
    misc = None
    if parse.log_probability is not None:
        comments.append(f"tree_probability = {math.exp(parse.log_probability):.6g}")
    if parse.probabilities is not None:
        misc = [f"ArcProbability={probability:.4f}" for probability in parse.probabilities]
    return sentence.with_tree(parse.heads, parse.labels, clear_deps=options.clear_deps, misc=misc, comments=comments)
