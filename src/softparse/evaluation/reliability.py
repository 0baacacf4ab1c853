"""Whether probabilities mean what they say: of the arcs that have 80 % of it, are 80 % right?

Predictions are put into bins by their probability. In each bin the mean probability is what was promised, and the part
that is right is what came of it. The expected calibration error (Naeini et al. 2015; Guo et al. 2017) is the mean over
all predictions of how far the two are apart in their bin:

    ECE = Σ_b |b| / N · |right(b) − predicted(b)|
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..corpus.sentence import UNKNOWN, Sentence

BINS = 10
UNKNOWN_LABEL = "_"


class Bin(NamedTuple):
    """Predictions with a probability above `low` and up to `high`."""

    low: float
    high: float
    number: int
    predicted: float  # mean probability, 0 in an empty bin
    right: float  # the part that is right, 0 in an empty bin


@dataclass(frozen=True)
class Reliability:
    """Predictions by their probability."""

    bins: tuple[Bin, ...]

    @property
    def number(self) -> int:
        return sum(bin.number for bin in self.bins)

    @property
    def error(self) -> float:
        """The expected calibration error, from 0 to 1."""
        return sum(bin.number * abs(bin.right - bin.predicted) for bin in self.bins) / max(1, self.number)

    @property
    def predicted(self) -> float:
        """The mean probability."""
        return sum(bin.number * bin.predicted for bin in self.bins) / max(1, self.number)

    @property
    def right(self) -> float:
        """The part that is right."""
        return sum(bin.number * bin.right for bin in self.bins) / max(1, self.number)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        whole = {"number": self.number, "predicted": self.predicted, "right": self.right}
        return whole | {"expected_calibration_error": self.error, "bins": [bin._asdict() for bin in self.bins]}


def reliability(probabilities: Sequence[float], is_right: Sequence[bool], bins: int = BINS) -> Reliability:
    """Bins of the same width, each with its upper bound and without its lower one (the first one has 0 too).

    >>> found = reliability([0.9, 0.9, 0.9, 0.9, 0.6], [True, True, True, False, True], bins=2)
    >>> found.bins[1].number, round(found.bins[1].predicted, 2), found.bins[1].right
    (5, 0.84, 0.8)
    >>> round(found.error, 2)
    0.04
    """
    if len(probabilities) != len(is_right):
        raise ValueError(f"{len(probabilities)} probabilities, but {len(is_right)} predictions that are right or wrong")
    values, rights = np.asarray(probabilities, np.float64), np.asarray(is_right, np.float64)
    if len(values) and not (values.min() >= 0 and values.max() <= 1):
        raise ValueError(f"probabilities must be between 0 and 1, got {values.min():g} to {values.max():g}")
    edges = np.arange(bins + 1) / bins
    places = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, bins - 1)
    counts = np.bincount(places, minlength=bins)
    some = np.maximum(1, counts)
    predicted = np.bincount(places, values, bins) / some
    right = np.bincount(places, rights, bins) / some
    columns = (edges[:-1], edges[1:], counts, predicted, right)
    return Reliability(tuple(Bin(*row) for row in zip(*(column.tolist() for column in columns), strict=True)))


@dataclass(frozen=True)
class Reliabilities:
    """Of the three kinds of prediction that a parser makes."""

    arcs: Reliability
    labelled_arcs: Reliability
    trees: Reliability

    def __iter__(self) -> Iterator[tuple[str, Reliability]]:
        """Names and reliabilities of the kinds that there are predictions of."""
        for name in ("arcs", "labelled_arcs", "trees"):
            found: Reliability = getattr(self, name)
            if found.number:
                yield name, found


class Judgements:
    """Collects predictions with their probabilities, sentence by sentence.

    An arc is right if the head is; a labelled arc if head and label are, subtype included: what has the probability is
    the whole label. A tree is right if all heads are. Words without a gold head are not judged, those without a gold
    label not as labelled arcs, and sentences with such heads not as trees.
    """

    def __init__(self) -> None:
        self._arcs: list[tuple[float, bool]] = []
        self._labelled: list[tuple[float, bool]] = []
        self._trees: list[tuple[float, bool]] = []

    def add(
        self,
        gold: Sentence,
        heads: Sequence[int],
        labels: Sequence[str],
        of_arcs: Sequence[float],
        of_labels: Sequence[float],
        log_probability: float,
    ) -> None:
        """A predicted tree, with the probabilities of its arcs, of their labels given the arcs, and of the tree."""
        if not len(gold):
            return
        right_heads, right_labels = gold.heads, gold.labels
        for word, right in enumerate(right_heads):
            if right == UNKNOWN:
                continue
            is_right = heads[word] == right
            self._arcs.append((of_arcs[word], is_right))
            if right_labels[word] != UNKNOWN_LABEL:
                both = is_right and labels[word] == right_labels[word]
                self._labelled.append((of_arcs[word] * of_labels[word], both))
        if UNKNOWN not in right_heads:
            # Rounding may leave a certain tree a little above 1.
            self._trees.append((min(1.0, math.exp(log_probability)), list(heads) == right_heads))

    def reliabilities(self, bins: int = BINS) -> Reliabilities:
        pairs = (self._arcs, self._labelled, self._trees)
        return Reliabilities(*(reliability([p for p, _ in kind], [r for _, r in kind], bins) for kind in pairs))
