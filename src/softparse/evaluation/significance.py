"""Is one parser better than another? The paired bootstrap over sentences."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy
from numpy.typing import ArrayLike, NDArray

from ..corpus.problems import CorpusError
from ..corpus.sentence import Sentence
from .alignment import align
from .counts import count

DRAWS = 10_000
CHUNK = 1 << 20  # drawn sentences held at a time
ROUNDING = 1e-9  # sums of the same numbers in another order may differ by this much


@dataclass(frozen=True)
class Difference:
    """Second minus first, in percentage points, with its 95 % interval and its p."""

    difference: float
    low: float
    high: float
    p: float
    draws: int

    @property
    def shown_p(self) -> str:
        """Of so many draws none may be further out."""
        smallest = 1 / (1 + self.draws)
        return f"≤ {smallest:.4f}" if self.p <= smallest else f"{self.p:.4f}"

    def as_dict(self) -> dict[str, float | int]:
        return asdict(self)


@dataclass(frozen=True)
class Comparison:
    """Differences of two predictions."""

    uas: Difference
    las: Difference

    def as_dict(self) -> dict[str, dict[str, float | int]]:
        return {"uas": self.uas.as_dict(), "las": self.las.as_dict()}


@dataclass(frozen=True)
class SentenceCounts:
    """What `paired_bootstrap` draws from: words, right heads and right labelled heads of every sentence."""

    words: NDArray[numpy.float64]
    heads: NDArray[numpy.float64]
    labelled: NDArray[numpy.float64]


def paired_bootstrap(
    correct_a: ArrayLike, correct_b: ArrayLike, words: ArrayLike, draws: int = DRAWS, seed: int = 0
) -> Difference:
    """Compare two parsers by their correct words in each sentence (arrays [sentences]).

    The observed difference is d = 100 · (Σ correct_b − Σ correct_a) / Σ words. A draw takes as many sentences as there
    are, with replacement and the same ones for both parsers, and gives d* (its own words in the denominator). The
    interval is between the 2.5 % and 97.5 % quantiles of the d*. For the two-sided p the d* are moved to where no
    difference is expected, by d, and those at least as far out as d, on either side, are counted along with d itself:

        p = (1 + #{draws: |d* − d| ≥ |d|}) / (1 + draws)

    so p is 1 for equal parsers and never 0. The counts may be means over several runs with different seeds; then p
    speaks of the mean of these runs on other sentences, not of other runs.

    >>> result = paired_bootstrap([5, 6, 7] * 20, [7, 6, 9] * 20, [10, 10, 10] * 20)
    >>> round(result.difference, 2), round(result.p, 4)
    (13.33, 0.0001)
    """
    first, second, sizes = (numpy.asarray(values, dtype=numpy.float64) for values in (correct_a, correct_b, words))
    _check(first, second, sizes, draws)
    is_scored = sizes > 0
    gains, sizes = (second - first)[is_scored], sizes[is_scored]
    difference = 100 * gains.sum() / sizes.sum()
    drawn = 100 * _draw(gains, sizes, draws, seed)
    return _difference(float(difference), drawn)


def bootstrap_over_runs(
    correct_a: ArrayLike, correct_b: ArrayLike, words: ArrayLike, draws: int = DRAWS, seed: int = 0
) -> Difference:
    """Compare two ways to train by their correct words in each sentence in each run (arrays [runs, sentences]).

    As `paired_bootstrap` of the means over runs, but a draw also takes as many runs of each as there are, with
    replacement, so that p speaks of other runs on other sentences. Means of n drawn runs vary by (n − 1) / n of what
    they should, for which that part of a draw is widened by √(n / (n − 1)); that the spread of two or three runs is
    itself a guess is left out, so p is rather too small. One run has no spread: there must be two.

    >>> runs = [[5, 6, 7] * 20, [7, 8, 7] * 20]
    >>> result = bootstrap_over_runs(runs, [[8, 6, 9] * 20, [7, 9, 9] * 20], [10, 10, 10] * 20)
    >>> round(result.difference, 2), result.p > 0.05
    (13.33, True)
    """
    rows = [numpy.asarray(values, dtype=numpy.float64) for values in (correct_a, correct_b)]
    sizes = numpy.asarray(words, dtype=numpy.float64)
    for name, row in zip(("correct_a", "correct_b"), rows, strict=True):
        if row.ndim != 2 or len(row) < 2:
            raise ValueError(f"{name} needs several runs, [runs, sentences], but its shape is {list(row.shape)}")
    _check(rows[0].mean(0), rows[1].mean(0), sizes, draws)
    generator = numpy.random.default_rng(seed)
    is_scored = sizes > 0
    sizes = sizes[is_scored]
    gains = (rows[1].mean(0) - rows[0].mean(0))[is_scored]
    difference = 100 * gains.sum() / sizes.sum()
    drawn = _draw(gains, sizes, draws, seed)
    for row, sign in zip(rows, (-1, 1), strict=True):
        runs = row[:, is_scored].sum(1) / sizes.sum()
        chosen = generator.integers(len(runs), size=(draws, len(runs)))
        drawn += sign * (runs[chosen].mean(1) - runs.mean()) * numpy.sqrt(len(runs) / (len(runs) - 1))
    drawn *= 100
    return _difference(float(difference), drawn)


def _difference(difference: float, drawn: NDArray) -> Difference:
    """The observed one, with what the draws say about it."""
    low, high = numpy.quantile(drawn, (0.025, 0.975))
    further = int((numpy.abs(drawn - difference) >= abs(difference) - ROUNDING).sum())
    return Difference(difference, float(low), float(high), (1 + further) / (1 + len(drawn)), len(drawn))


def _draw(gains: NDArray, sizes: NDArray, draws: int, seed: int) -> NDArray:
    """Gains per word in every draw [draws]."""
    generator = numpy.random.default_rng(seed)
    result = numpy.empty(draws)
    rows = max(1, CHUNK // len(sizes))
    for start in range(0, draws, rows):
        part = result[start : start + rows]
        chosen = generator.integers(len(sizes), size=(len(part), len(sizes)), dtype=numpy.int32)
        part[:] = gains[chosen].sum(axis=1) / sizes[chosen].sum(axis=1)
    return result


def _check(first: NDArray, second: NDArray, sizes: NDArray, draws: int) -> None:
    if draws < 1:
        raise ValueError(f"draws is {draws}, but at least one is needed")
    if not first.shape == second.shape == sizes.shape or sizes.ndim != 1:
        shapes = ", ".join(str(list(values.shape)) for values in (first, second, sizes))
        raise ValueError(f"correct_a, correct_b and words need one number a sentence, but their shapes are {shapes}")
    for name, correct in (("correct_a", first), ("correct_b", second)):
        wrong = ~((correct >= -ROUNDING) & (correct <= sizes + ROUNDING))  # holds for nan too
        if wrong.any():
            sentence = int(wrong.argmax())
            message = (
                f"{name}[{sentence}] is {correct[sentence]:g}, but must lie between 0 and the words of the sentence"
            )
            raise ValueError(f"{message}, {sizes[sentence]:g}")
    if not sizes.sum() > 0:
        raise ValueError("there are no words to compare the parsers on")


def sentence_counts(gold_sentences: Iterable[Sentence], predicted_sentences: Iterable[Sentence]) -> SentenceCounts:
    """Words with a gold head and how many of them are right, by sentence.

    >>> sentence = Sentence.from_words(["They", "walk"])
    >>> gold = sentence.with_tree([2, 0], ["nsubj", "root"])
    >>> sentence_counts([gold], [sentence.with_tree([2, 0], ["obj", "root"])])
    SentenceCounts(words=array([2.]), heads=array([2.]), labelled=array([1.]))
    """
    counts = [_counts(gold, predicted) for gold, predicted in align(gold_sentences, predicted_sentences)]
    words, heads, labelled = numpy.array(counts, dtype=numpy.float64).reshape(-1, 3).T
    return SentenceCounts(words, heads, labelled)


def _counts(gold: Sentence, predicted: Sentence) -> tuple[int, int, int]:
    here = count(gold.heads, gold.labels, predicted.heads, predicted.labels)
    return here.words, here.heads, here.labelled


def compare(
    gold_sentences: Iterable[Sentence],
    first_sentences: Iterable[Sentence],
    second_sentences: Iterable[Sentence],
    draws: int = DRAWS,
    seed: int = 0,
) -> Comparison:
    """Compare two predictions of the same gold trees; positive differences are in favour of the second.

    >>> sentence = Sentence.from_words(["They", "walk"])
    >>> gold = sentence.with_tree([2, 0], ["nsubj", "root"])
    >>> compare([gold], [gold], [gold], draws=9).uas
    Difference(difference=0.0, low=0.0, high=0.0, p=1.0, draws=9)
    """
    once, again = itertools.tee(gold_sentences)
    counts = [
        (*_counts(gold, first), *_counts(gold, second)[1:])
        for (gold, first), (_, second) in zip(align(once, first_sentences), align(again, second_sentences), strict=True)
    ]
    words, heads_a, labelled_a, heads_b, labelled_b = numpy.array(counts, dtype=numpy.float64).reshape(-1, 5).T
    if not words.sum() > 0:
        raise CorpusError("there is no word with a gold head to compare on; is the first file the gold one?")
    return Comparison(
        paired_bootstrap(heads_a, heads_b, words, draws, seed),
        paired_bootstrap(labelled_a, labelled_b, words, draws, seed),
    )
