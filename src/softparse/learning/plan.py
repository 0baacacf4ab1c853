"""What an epoch does: its updates, each from trees, from raw sentences, or from both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..corpus.batches import Tree, batched, shuffle
from ..corpus.raw import RawStream
from .config import TrainConfig
from .exchange import Exchange

Words = list[str]


def passes(lengths: Sequence[int], config: TrainConfig) -> int:
    """How often an epoch goes through trees of these lengths.

    >>> passes([5] * 20, TrainConfig(batch_sentences=10, epoch_batches=7))
    4
    """
    if not lengths:
        return 1
    batches = len(batched(lengths, config.batch_sentences, config.batch_words))
    return max(1, math.ceil(config.epoch_batches / batches))


@dataclass(frozen=True)
class Update:
    """One step of the optimiser."""

    trees: list[Tree] = field(default_factory=list)
    raw: list[Words] = field(default_factory=list)


class TreeBatches:
    """The trees of every epoch, in batches of similar length. They depend on the seed and the epoch alone."""

    def __init__(self, trees: Sequence[Tree], parsed: Sequence[Tree], config: TrainConfig):
        self.trees, self.parsed, self.config = trees, parsed, config  # parsed ones were made by a parser
        self.passes = passes([len(tree) for tree in trees], config)
        self.exchange = Exchange(trees) if config.exchange else None
        self.exchanges = config.exchanges_for(len(trees))

    def epoch(self, number: int) -> list[list[Tree]]:
        return [batch for turn in range(self.passes) for batch in self._pass(number * self.passes + turn)]

    def _pass(self, number: int) -> list[list[Tree]]:
        """Once through the trees, and through as many of the parsed ones, others every time."""
        chosen = list(self.trees)
        if self.exchange is not None:
            generator = np.random.default_rng([self.config.seed, number, 4])
            chosen = [self.exchange.exchanged(tree, self.exchanges, generator) for tree in chosen]
        if self.parsed:
            others = np.random.default_rng([self.config.seed, number, 3]).permutation(len(self.parsed))
            chosen += [self.parsed[place] for place in others[: len(self.trees)]]
        generator = np.random.default_rng([self.config.seed, number])
        lengths = [len(tree) for tree in chosen]
        batches = batched(lengths, self.config.batch_sentences, self.config.batch_words, generator)
        return [[chosen[place] for place in batch] for batch in batches]


class RawBatches:
    """The raw sentences of every epoch: the next ones of an endless stream, in batches of similar length."""

    def __init__(self, stream: RawStream, number: int, most_sentences: int, most_words: int, seed: int):
        self.stream, self.number, self.seed = stream, number, seed
        self.most_sentences, self.most_words = most_sentences, most_words
        self._last: tuple[int, list[Words]] = (-1, [])

    def epoch(self, turn: int) -> list[list[Words]]:
        """Those of the epoch that is number `turn`, from 0, of those with raw text. The last one can be had again."""
        if self._last[0] != turn:
            self.stream.skip_to(turn * self.number)
            self._last = turn, self.stream.take(self.number)
        drawn = self._last[1]
        generator = np.random.default_rng([self.seed, turn, 1])
        lengths = [len(words) for words in drawn]
        # Not blurred like those of trees: other sentences come every time, so batches differ anyway.
        batches = batched(lengths, self.most_sentences, self.most_words)
        shuffle(batches, generator)
        return [[drawn[index] for index in batch] for batch in batches]


def alternating(trees: Sequence[list[Tree]], raw: Sequence[list[Words]]) -> list[Update]:
    """Batches of trees in their order, and the raw ones spread evenly among them.

    >>> tree = Tree(["hello"], [0], ["root"])
    >>> [("trees" if update.trees else "raw") for update in alternating([[tree]] * 2, [[["a"]], [["b"]], [["c"]]])]
    ['trees', 'raw', 'trees', 'raw', 'raw']
    """
    updates, done = [], 0
    for place, batch in enumerate(trees, 1):
        updates.append(Update(trees=batch))
        until = place * len(raw) // len(trees)
        updates += [Update(raw=sentences) for sentences in raw[done:until]]
        done = until
    return updates + [Update(raw=sentences) for sentences in raw[done:]]


def joint(trees: Sequence[list[Tree]], raw: Sequence[list[Words]], generator: np.random.Generator) -> list[Update]:
    """As many updates as there are batches of trees, each with raw batches of about its length, in any order."""
    by_length = sorted(trees, key=lambda batch: max(map(len, batch)))
    waiting = sorted(raw, key=lambda batch: max(map(len, batch)))
    updates = []
    for place, batch in enumerate(by_length):
        start, end = (part * len(waiting) // len(by_length) for part in (place, place + 1))
        updates.append(Update(batch, [words for sentences in waiting[start:end] for words in sentences]))
    generator.shuffle(updates)
    return updates
