"""Raw sentences without end: files of any size, read again and again, through a bounded buffer that shuffles them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from .conllu import read_all
from .problems import CorpusError


class RawStream:
    """Words of sentences from text or CoNLL-U files (heads are not looked at), in an order set by the seed.

    A sentence leaves the buffer at random when the next one comes in, so sentences move about as far as the buffer is
    long; files that fit into it are shuffled completely, anew in every pass. `left_out` counts the sentences of more
    than `longest` words that the passes so far have met.

    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("one\\ntwo\\nthree\\n")
    ...     file.flush()
    ...     stream = RawStream([file.name])
    ...     [sorted(" ".join(words) for words in stream.take(3)) for _ in range(2)]
    [['one', 'three', 'two'], ['one', 'three', 'two']]
    """

    def __init__(self, paths: Sequence[str | Path], seed: int = 1, buffer: int = 20_000, longest: int = 0):
        if buffer < 1:
            raise ValueError(f"the buffer must hold at least one sentence, got {buffer}")
        self.paths, self.seed, self.buffer, self.longest = list(paths), seed, buffer, longest
        self.position = 0  # sentences taken so far
        self.left_out = 0
        self._sentences = self._endless()

    def take(self, number: int) -> list[list[str]]:
        """The next sentences."""
        taken = list(itertools.islice(self._sentences, number))
        self.position += number
        return taken

    def skip_to(self, position: int) -> None:
        """Go on where another stream of the same files and seed was."""
        if position < self.position:
            raise ValueError(f"cannot go back from sentence {self.position} to {position}")
        for _ in itertools.islice(self._sentences, position - self.position):
            pass
        self.position = position

    def _endless(self) -> Iterator[list[str]]:
        for number in itertools.count():
            is_empty = True
            for words in self._shuffled(number):
                is_empty = False
                yield words
            if is_empty:
                limit = f" of at most {self.longest} words" if self.longest else ""
                raise CorpusError(f"{', '.join(map(str, self.paths))}: no sentence{limit} in the raw text")

    def _shuffled(self, number: int) -> Iterator[list[str]]:
        """One pass over the files."""
        generator = np.random.default_rng([self.seed, number])
        waiting: list[list[str]] = []
        for sentence in read_all(self.paths):
            words = sentence.words
            if self.longest and len(words) > self.longest:
                self.left_out += 1
            elif len(waiting) < self.buffer:
                waiting.append(words)
            else:
                place = int(generator.integers(self.buffer))
                yield waiting[place]
                waiting[place] = words
        generator.shuffle(waiting)
        yield from waiting
