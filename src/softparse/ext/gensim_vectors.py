"""Training word vectors on raw text with gensim."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..corpus.conllu import read_all
from ..corpus.files import can_be_read_again
from ..corpus.problems import CorpusError
from ..corpus.vectors import Vectors, is_writable, write_vectors

ALGORITHMS = ("skip-gram", "subword")
FEWEST_EPOCHS, MOST_EPOCHS, ENOUGH_WORDS = 5, 30, 10_000_000
BUCKETS = 200_000  # for subwords; gensim's two million would take 800 MB for texts that are small


def train_vectors(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    dimension: int = 100,
    epochs: int | None = None,
    window: int = 5,
    min_count: int = 2,
    algorithm: str = "skip-gram",
    seed: int = 1,
    workers: int = 1,
    lower: bool = False,
    also: Collection[str] = (),
    report: Callable[[str], None] = lambda message: None,
) -> Vectors:
    """Train vectors on the words of text or CoNLL-U files and write them as word2vec text (packed if named .gz).

    "skip-gram" learns a vector for each word seen at least `min_count` times; "subword" (fastText) builds them from
    character n-grams, so it also has vectors for the words in `also` that the text does not have, such as those of a
    treebank. With one worker the result depends on nothing but the texts and the arguments. Unless `epochs` are given,
    short texts are gone through more often (see `epochs_for`).
    """
    models = _import_gensim()
    if algorithm not in ALGORITHMS:
        raise CorpusError(f"unknown algorithm {algorithm!r}; there are {' and '.join(ALGORITHMS)}")
    if also and algorithm != "subword":
        raise CorpusError(f"{algorithm} has no vectors for words it has not seen; use the algorithm subword")
    texts = _Texts(paths, lower)
    common: dict[str, Any] = {"vector_size": dimension, "window": window, "min_count": min_count}
    common |= {"sg": 1, "seed": seed, "workers": workers, "hashfxn": _stable_hash}
    model = models.FastText(bucket=BUCKETS, **common) if algorithm == "subword" else models.Word2Vec(**common)
    model.build_vocab(texts)
    texts.check()
    known: dict[str, int] = model.wv.key_to_index
    if not known:
        raise CorpusError(f"no word occurs {min_count} times; give more text or a lower min_count")
    epochs = epochs or epochs_for(model.corpus_total_words)
    report(f"{model.corpus_total_words} words, {len(known)} different ones seen at least {min_count} times")
    model.train(texts, total_examples=model.corpus_count, epochs=epochs, callbacks=[_Progress(epochs, report)])
    texts.check()
    unseen = {word.lower() if lower else word for word in also} - known.keys()
    words = [word for word in [*known, *sorted(unseen)] if is_writable(word)]
    matrix = np.stack([model.wv.get_vector(word) for word in words]).astype(np.float32)
    write_vectors(output, words, matrix)
    report(f"{output}: {len(words)} vectors of {dimension} numbers")
    return Vectors(words, matrix)


def epochs_for(words: int) -> int:
    """Vectors of few words move little in an epoch: after five through 300 000 words all still point the same way.

    >>> [epochs_for(words) for words in (10_000, 300_000, 1_000_000, 100_000_000)]
    [30, 30, 10, 5]
    """
    return max(FEWEST_EPOCHS, min(MOST_EPOCHS, round(ENOUGH_WORDS / max(1, words))))


def _import_gensim() -> Any:
    try:
        return importlib.import_module("gensim.models")
    except ImportError as error:
        message = f"training vectors needs gensim ({error}); run: pip install 'softparse[vectors]'"
        raise CorpusError(message) from None


class _Texts:
    """The sentences of files, read anew for every epoch so that none stays in memory."""

    def __init__(self, paths: Sequence[str | Path], lower: bool):
        if not paths:
            raise CorpusError("no text to train vectors on; give at least one file")
        for path in paths:
            if not can_be_read_again(path):
                raise CorpusError(f"{path}: training reads the text several times, so it must be a file")
        self.paths, self.lower = paths, lower
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[list[str]]:
        """An error is kept for `check`: gensim reads in a thread of its own, whose end it would wait for in vain."""
        try:
            for sentence in read_all(self.paths):
                yield [word.lower() for word in sentence.words] if self.lower else sentence.words
        except Exception as error:
            self.error = error

    def check(self) -> None:
        if self.error is not None:
            raise self.error


class _Progress:
    """What gensim calls around each epoch."""

    def __init__(self, epochs: int, report: Callable[[str], None]):
        self.epoch, self.epochs, self.report = 0, epochs, report

    def on_train_begin(self, model: Any) -> None: ...

    def on_train_end(self, model: Any) -> None: ...

    def on_epoch_begin(self, model: Any) -> None: ...

    def on_epoch_end(self, model: Any) -> None:
        self.epoch += 1
        self.report(f"epoch {self.epoch} of {self.epochs}")


def _stable_hash(text: str) -> int:
    """A hash that is the same in every process, which Python's own is not."""
    return zlib.crc32(text.encode("utf-8"))
