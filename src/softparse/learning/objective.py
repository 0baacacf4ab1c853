"""The whole objective of an update: discriminative losses of trees, the autoencoder's terms, agreement with a teacher.

    L = −Σ log q(T|s) − Σ log q(labels|T, s)          of sentences with trees (or another discriminative loss)
        − Σ supervised bound − Σ unsupervised bound   of sentences with trees and of raw ones, see `autoencoder`
        + Σ agreement                                 of raw sentences, see `teacher`

each with its weight, divided by the number of words (or sentences) of its kind in the update.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..corpus.batches import Tree
from ..model.network import Network
from ..parser import Parser
from .autoencoder import Term, Terms
from .clock import Clock
from .config import Config
from .divergence import all_finite
from .objectives import arc_loss, label_loss
from .plan import Words
from .reading import Reading
from .teacher import agreement
from .unlabelled import Unlabelled

TERMS = ("arcs", "labels", "reconstruction", "kl_latent", "kl_trees")
RAW_TERMS = ("reconstruction", "kl_latent", "kl_trees", "teacher")
NAMES = (*TERMS, "words", *(f"raw_{name}" for name in RAW_TERMS), "raw_words")

Sums = dict[str, float]  # of the terms over a batch, with the number of words


class Objective:
    """Gradients of the objective, batch by batch."""

    def __init__(
        self, parser: Parser, config: Config, unlabelled: Unlabelled | None, teacher: Network | None, clock: Clock
    ):
        self.parser, self.train, self.config = parser, config.train, config.objective
        self.autoencoder = unlabelled.autoencoder if unlabelled else None
        self.teacher, self.clock = teacher, clock
        self.single_root = parser.config.decoding.single_root

    def learn_trees(self, trees: Sequence[Tree], divisor: float, epoch: int) -> Sums:
        """Add the gradient of sentences with trees, their losses divided by `divisor`; returns the losses."""
        with self.clock("batches"):
            batch = self.parser.numbering.training_batch(trees).to(self.parser.device)
        reading = Reading(self.parser.network, [tree.words for tree in trees], batch, self.single_root)
        if not self._read(reading):
            return {"arcs": math.nan}  # which stops all processes at the same place
        with self.clock("losses"):
            assert batch.heads is not None
            assert batch.labels is not None
            scores = self.parser.network.label_scores(reading.views, batch.heads)
            terms = {
                "arcs": Term(arc_loss(self.train.arc_loss, reading.scores, batch, self.single_root)),
                "labels": Term(label_loss(self.train.label_loss, scores, batch.labels), self.train.label_weight),
            }
        if self.autoencoder is not None and self.config.has_labelled(epoch):
            with self.clock("decoder"):
                terms |= _weighted(self.autoencoder.labelled(reading, epoch), self.config.labelled)
        return self._backward(terms, divisor) | {"words": sum(map(len, trees))}

    def learn_raw(self, sentences: Sequence[Words], divisor: float, epoch: int) -> Sums:
        """The same for raw sentences."""
        with self.clock("batches"):
            batch = self.parser.numbering.batch(sentences).to(self.parser.device)
        reading = Reading(self.parser.network, sentences, batch, self.single_root)
        if not self._read(reading):
            return {"raw_reconstruction": math.nan}
        terms: Terms = {}
        if self.autoencoder is not None and self.config.has_raw(epoch):
            with self.clock("decoder"):
                terms |= _weighted(self.autoencoder.raw(reading, epoch), self.config.raw)
        if self.teacher is not None and self.config.has_teacher(epoch):
            with self.clock("teacher"):
                terms["teacher"] = Term(agreement(reading, self.teacher), self.config.teacher)
        sums = self._backward(terms, divisor)
        return {f"raw_{name}": value for name, value in sums.items()} | {"raw_words": sum(map(len, sentences))}

    def _read(self, reading: Reading) -> bool:
        """Let the parser read. Returns whether its scores are numbers."""
        with self.clock("encoder"):
            return all_finite([reading.scores])

    def _backward(self, terms: Terms, divisor: float) -> Sums:
        """Gradients of the weighted sum of the terms; returns them unweighted."""
        with self.clock("backward"):
            (sum(term.weight * term.value for term in terms.values()) / divisor).backward()  # type: ignore[union-attr]
        return {name: float(term.value.detach()) for name, term in terms.items()}


def _weighted(terms: Terms, weight: float) -> Terms:
    return {name: Term(term.value, weight * term.weight) for name, term in terms.items()}


def by_word(sums: Sums) -> Sums:
    """The terms per word of their kind of sentence."""
    return {
        name: value / sums["raw_words" if name.startswith("raw_") else "words"]
        for name, value in sums.items()
        if not name.endswith("words")
    }
