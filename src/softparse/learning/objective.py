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
from ..corpus.sentence import UNKNOWN
from ..model.network import Network
from ..parser import Parser
from .autoencoder import Autoencoder, Term, Terms
from .clock import Clock
from .config import Config
from .divergence import all_finite
from .objectives import arc_loss, label_loss
from .plan import Words
from .reading import Reading
from .teacher import agreement
from .unlabelled import Unlabelled

TERMS = ("arcs", "labels", "reconstruction", "kl_latent", "partial_reconstruction", "partial_kl_latent",
         "partial_kl_trees")  # fmt: skip
RAW_TERMS = ("reconstruction", "kl_latent", "kl_trees", "teacher")
NAMES = (*TERMS, "words", *(f"raw_{name}" for name in RAW_TERMS), "raw_words")

Sums = dict[str, float]  # of the terms over a batch, with the number of words


class Objective:
    """Gradients of the objective, batch by batch."""

    def __init__(
        self,
        parser: Parser,
        config: Config,
        unlabelled: Unlabelled | None,
        teacher: Network | None,
        clock: Clock,
        trees: int = 0,
    ):
        self.parser, self.train, self.config = parser, config.train, config.objective
        self.labelled_weight = config.objective.labelled_for(trees)
        self.teacher_weight, self.teacher_temperature = config.objective.teacher_for(trees)
        self.autoencoder = unlabelled.autoencoder if unlabelled else None
        self.unlabelled = unlabelled
        self.teacher, self.clock = teacher, clock
        self.single_root = parser.config.decoding.single_root

    def learn(self, trees: Sequence[Tree], raw: Sequence[Words], divisors: tuple[float, float], epoch: int) -> Sums:
        """Add the gradient of sentences with trees and of raw ones, the losses of each kind divided by its divisor.

        Both are read at once, which takes much less time than one after the other. Returns the losses.
        """
        with self.clock("batches"):
            if self.autoencoder is not None:
                trees = sorted(trees, key=_is_partial)
            every = [*trees, *(Tree(words, [UNKNOWN] * len(words), ["_"] * len(words)) for words in raw)]
            batch = self.parser.numbering.training_batch(every).to(self.parser.device)
        reading = Reading(self.parser.network, [tree.words for tree in every], batch, self.single_root)
        with self.clock("encoder"):
            parts = [reading.part(0, len(trees)), reading.part(len(trees), len(every))] if trees and raw else [reading]
            if not all_finite([part.scores for part in parts]):
                return {"arcs": math.nan}  # which stops all processes at the same place
        terms: Terms = {}
        sums: Sums = {}
        if trees:
            terms |= _weighted(self._of_trees(parts[0], sum(map(_is_partial, trees)), epoch), 1 / divisors[0])
            sums["words"] = sum(map(len, trees))
        if raw:
            found = self._of_raw(parts[-1], epoch)
            terms |= {f"raw_{name}": term for name, term in _weighted(found, 1 / divisors[1]).items()}
            sums["raw_words"] = sum(map(len, raw))
        with self.clock("backward"):
            sum(term.weight * term.value for term in terms.values()).backward()  # type: ignore[union-attr]
        return {name: float(term.value.detach()) for name, term in terms.items()} | sums

    def _of_trees(self, reading: Reading, partial: int, epoch: int) -> Terms:
        batch = reading.batch
        with self.clock("losses"):
            assert batch.heads is not None
            assert batch.labels is not None
            scores = self.parser.network.label_scores(reading.views, batch.heads)
            terms = {
                "arcs": Term(arc_loss(self.train.arc_loss, reading.scores, batch, self.single_root)),
                "labels": Term(label_loss(self.train.label_loss, scores, batch.labels), self.train.label_weight),
            }
        if self.unlabelled is not None and self.autoencoder is not None and epoch < self.unlabelled.until:
            with self.clock("decoder"):
                terms |= self._generative(self.autoencoder, reading, partial, epoch)
        return terms

    def _generative(self, autoencoder: Autoencoder, reading: Reading, partial: int, epoch: int) -> Terms:
        """Bounds of sentences with trees, the last ones of which are `partial`: those count like raw ones."""
        whole = len(reading.sentences) - partial
        terms: Terms = {}
        if whole and self.config.has_labelled(epoch):
            part, scale = _share(reading.part(0, whole) if partial else reading, self.config.labelled_part)
            found = autoencoder.labelled(part, epoch)
            weight = self.labelled_weight
            terms |= {name: Term(scale * term.value, weight * term.weight) for name, term in found.items()}
        if partial and self.config.has_raw(epoch):
            part = reading.part(whole, whole + partial) if whole else reading
            found = _weighted(autoencoder.partial(part, epoch), self.config.raw)
            terms |= {f"partial_{name}": term for name, term in found.items()}
        return terms

    def _of_raw(self, reading: Reading, epoch: int) -> Terms:
        terms: Terms = {}
        if self.autoencoder is not None and self.config.has_raw(epoch):
            with self.clock("decoder"):
                terms |= _weighted(self.autoencoder.raw(reading, epoch), self.config.raw)
        if self.teacher is not None and self.config.has_teacher(epoch):
            with self.clock("teacher"):
                taught, scale = _share(reading, self.config.teacher_part)
                loss = agreement(taught, self.teacher, self.teacher_temperature)
                terms["teacher"] = Term(scale * loss, self.teacher_weight)
        return terms


def _share(reading: Reading, part: float) -> tuple[Reading, float]:
    """The first sentences, as large a `part` as that, and how many times more words there are in all of them."""
    number = math.ceil(min(1.0, part) * len(reading.sentences))
    if number == len(reading.sentences):
        return reading, 1.0
    share = reading.part(0, number)
    return share, float(reading.batch.lengths.sum() / share.batch.lengths.sum())


def _is_partial(tree: Tree) -> bool:
    return UNKNOWN in tree.heads


def _weighted(terms: Terms, weight: float) -> Terms:
    return {name: Term(term.value, weight * term.weight) for name, term in terms.items()}


def by_word(sums: Sums) -> Sums:
    """The terms per word of their kind of sentence."""
    return {
        name: value / sums["raw_words" if name.startswith("raw_") else "words"]
        for name, value in sums.items()
        if not name.endswith("words")
    }
