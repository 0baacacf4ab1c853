"""Files in, files out: parsing streams of sentences, in this process or in several."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..corpus.batches import in_windows
from ..corpus.conllu import of_one_width, read_all, write
from ..corpus.sentence import Sentence
from .folder import load
from .parsing import WINDOW_SENTENCES, WINDOW_WORDS, Parse, Parser
from .workers import in_processes

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


def parse_stream(
    model: str, windows: Iterable[list[Sentence]], options: Options, workers: int = 1, threads: int | None = None,
    device: str = "cpu",
) -> Iterator[Block]:  # fmt: skip
    """Blocks of parsed text in the order of the input, as they are ready; memory does not grow with the input.

    `windows` are lists of sentences that are parsed together.
    """
    if workers == 1:
        yield from map(_parsing(model, options, threads, device), windows)
        return
    load(model, device)  # what is wrong with it is said here; a worker could only end
    yield from in_processes(_parsing, (model, options, threads or 1, device), windows, workers)


def windows(paths: Sequence[str], kind: str | None = None) -> Iterator[list[Sentence]]:
    """The sentences of files, cut into the lists that are parsed together.

    They do not depend on who parses them, and so neither does the last digit of a probability.
    """
    return windows_of(of_one_width(read_all(paths, kind)))


def windows_of(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    return in_windows(sentences, len, WINDOW_SENTENCES, WINDOW_WORDS)


def _parsing(model: str, options: Options, threads: int | None, device: str) -> Callable[[list[Sentence]], Block]:
    """What parses windows in this process."""
    if threads:
        torch.set_num_threads(threads)
    parser = load(model, device)
    return lambda window: parsed(parser, window, options)


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
