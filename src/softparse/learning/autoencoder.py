"""The terms of the variational autoencoder's objective, for sentences with trees and for raw ones.

For a raw sentence s the evidence lower bound is

    E_q(T, z|s)[ log p(s|T, z) ]  −  KL(q(T|s) ‖ p(T))  −  KL(q(z|s) ‖ N(0, 1)),

its first term by one of the estimators of the tree core; for a sentence with a tree T it is E_q(z|s)[log p(s|T, z)] −
KL(q(z|s) ‖ N(0, 1)), up to the constant log p(T). A tree that is partial stands between the two: the sentence counts as
a raw one whose q is restricted to the completions of its tree. All terms are sums over the batch, to be minimised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from ..configuration import at_least, choice
from ..model.generative import Generative
from ..trees import ProjectiveTrees, adjacency, expectation
from .priors import Prior
from .reading import Reading


class Term(NamedTuple):
    """A sum over the sentences of a batch, and its weight in the bound."""

    value: Tensor
    weight: float = 1.0


Terms = dict[str, Term]


@dataclass(frozen=True)
class ObjectiveConfig:
    # Weights of −log p(s|T, z) for sentences with trees and for raw ones, and of the KL divergences in both. That of
    # trees is 0, or 1 with a prior other than the uniform one, unless it is given.
    labelled: float = at_least(0.0, 0.0)
    labelled_part: float = at_least(1.0, 0.01)  # of the sentences with trees, others every time, to save time
    raw: float = at_least(0.0, 0.0)
    kl_latent: float = at_least(0.01, 0.0)
    kl_trees: float | None = at_least(None, 0.0)
    kl_annealing: int = at_least(0, 0)  # epochs in which the weights of the divergences rise from 0
    prior: str = "uniform"  # uniform, trees (estimated from the labelled ones), or a file of preferences
    teacher: float = at_least(0.0, 0.0)  # weight of agreeing with the averaged model on raw sentences
    # So many trees are enough to hold against raw text. With fewer the teacher counts in proportion, and its beliefs
    # are sharpened, down to this temperature: the parser sees sentences through dropout, and so believes a little less
    # than its teacher does, who follows it; without trees enough, the two lose all their beliefs together. The
    # reconstruction of their sentences counts still less, by the square of that: few are soon known by heart, word by
    # word.
    enough_trees: int = at_least(0, 0)
    teacher_temperature: float = at_least(1.0, 1e-2)
    teacher_part: float = at_least(1.0, 0.01)  # of them, to save time
    # Few trees are soon known by heart, and nothing holds against raw text then: so they have the last word. This part
    # of the epochs has raw sentences where there are hardly any trees; from `enough_trees` on all have them. Where dev
    # can tell, half of the epochs are enough, and raw text stays while dev has got better within so many epochs.
    raw_part: float = at_least(1.0, 0.0)
    raw_patience: int = at_least(0, 0)
    # The first epochs with these terms.
    labelled_from: int = at_least(3, 1)
    raw_from: int = at_least(7, 1)
    teacher_from: int = at_least(4, 1)
    # Raw sentences in an epoch, for each labelled one; but where there are few, none comes more often than a tree does.
    raw_sentences: float = at_least(1.0, 0.0)
    raw_batch: float = at_least(1.0, 0.1)  # size of a batch of raw sentences, in batches of trees
    updates: str = choice("alternate", "joint")  # raw and labelled batches in turns, or one of each in every update
    # How the gradient goes through the tree.
    estimator: str = choice("relaxed", "straight-through", "marginals", "perturbed-marginals", "score-function")
    noise: str = choice("gumbel", "sum-of-gamma", "none")
    samples: int = at_least(1, 1)
    temperature: float = at_least(1.0, 1e-3)
    last_temperature: float = at_least(0.0, 0.0)  # reached in the last epoch planned with raw text; 0 is no change

    @property
    def is_generative(self) -> bool:
        return self.labelled > 0 or self.raw > 0

    @property
    def needs_raw(self) -> bool:
        return (self.raw > 0 or self.teacher > 0) and self.raw_sentences > 0

    def teacher_for(self, trees: int) -> tuple[float, float]:
        """Weight and temperature of the teacher with so many trees to learn from.

        >>> objective = ObjectiveConfig(teacher=2.0, enough_trees=1000, teacher_temperature=0.5)
        >>> [objective.teacher_for(trees) for trees in (200, 1000, 5000)]
        [(0.4, 0.6), (2.0, 1.0), (2.0, 1.0)]
        """
        part = self._enough(trees)
        return self.teacher * part, self.teacher_temperature + (1 - self.teacher_temperature) * part

    def labelled_for(self, trees: int) -> float:
        """Weight of the reconstruction of sentences with trees, if there are so many.

        >>> objective = ObjectiveConfig(labelled=0.5, enough_trees=1000)
        >>> [objective.labelled_for(trees) for trees in (500, 1000, 5000)]
        [0.125, 0.5, 0.5]
        """
        return self.labelled * self._enough(trees) ** 2

    def raw_until(self, trees: int, epochs: int) -> int:
        """The number of epochs after which there are only trees to learn from, if dev does not tell.

        >>> objective = ObjectiveConfig(enough_trees=1000, raw_part=0.2)
        >>> [objective.raw_until(trees, 30) for trees in (0, 1, 500, 1000, 5000)]
        [30, 6, 18, 30, 30]
        """
        if not trees:
            return epochs
        part = self.raw_part + (1 - self.raw_part) * self._enough(trees)
        return max(1, round(epochs * min(1.0, part)))

    def raw_at_least(self, trees: int, epochs: int) -> int:
        """The number of epochs that have raw text however little it helps, if dev tells how much it does.

        >>> objective = ObjectiveConfig(enough_trees=1000, raw_part=0.2, raw_patience=5)
        >>> [objective.raw_at_least(trees, 30) for trees in (0, 1, 250, 1000, 5000)]
        [30, 6, 12, 15, 15]
        """
        planned = self.raw_until(trees, epochs)
        return min(planned, max(self.raw_patience, epochs // 2)) if trees and self.raw_patience else planned

    def _enough(self, trees: int) -> float:
        """The part that these are of as many trees as raw text needs beside it."""
        return min(1.0, trees / self.enough_trees) if self.enough_trees else 1.0

    @property
    def tree_weight(self) -> float:
        if self.kl_trees is not None:
            return self.kl_trees
        return 0.0 if self.prior == "uniform" else 1.0

    def has_labelled(self, epoch: int) -> bool:
        """Whether sentences with trees are reconstructed in this epoch, from 0."""
        return self.labelled > 0 and epoch + 1 >= self.labelled_from

    def has_raw(self, epoch: int) -> bool:
        return self.raw > 0 and epoch + 1 >= self.raw_from

    def has_teacher(self, epoch: int) -> bool:
        return self.teacher > 0 and epoch + 1 >= self.teacher_from

    def later_than(self, epoch: int) -> list[str]:
        """Terms with a weight that count after this epoch (from 1) only.

        >>> ObjectiveConfig(raw=1.0, raw_from=7, teacher=1.0, teacher_from=4).later_than(5)
        ['raw']
        """
        starts = {"labelled": self.labelled_from, "raw": self.raw_from, "teacher": self.teacher_from}
        return [name for name, first in starts.items() if getattr(self, name) > 0 and first > epoch]

    def annealed(self, epoch: int, first: int) -> float:
        """What the weights of the divergences are multiplied by, where they count from epoch `first` (from 1) on."""
        return min(1.0, (epoch + 2 - first) / (self.kl_annealing + 1)) if self.kl_annealing else 1.0

    def temperature_at(self, epoch: int, until: int) -> float:
        """Falls (or rises) geometrically from the first epoch with raw text to the last one, the `until`-th."""
        steps = until - self.raw_from
        if not self.last_temperature or steps <= 0:
            return self.temperature
        part = min(1.0, max(0, epoch + 1 - self.raw_from) / steps)
        return self.temperature * (self.last_temperature / self.temperature) ** part


class Autoencoder:
    """The generative model with the parser as its encoder, and what it adds to the losses of a batch."""

    def __init__(self, config: ObjectiveConfig, generative: Generative, prior: Prior | None, until: int):
        self.config, self.generative, self.prior = config, generative, prior
        self.until = until  # the number of epochs after which no raw text is planned

    def labelled(self, reading: Reading, epoch: int) -> Terms:
        """Terms of sentences with whole trees."""
        assert reading.batch.heads is not None
        latent, terms = self._latent(reading, epoch, self.config.labelled_from)
        loss = self._loss(reading, adjacency(reading.batch.heads, reading.scores.dtype), latent)
        terms["reconstruction"] = Term(loss.sum())
        return terms

    def partial(self, reading: Reading, epoch: int) -> Terms:
        """Terms of sentences with partial trees."""
        assert reading.batch.heads is not None
        return self._expected(reading, reading.trees.given(reading.batch.heads), epoch)

    def raw(self, reading: Reading, epoch: int) -> Terms:
        """Terms of sentences whose trees are not known."""
        return self._expected(reading, reading.trees, epoch)

    def _expected(self, reading: Reading, trees: ProjectiveTrees, epoch: int) -> Terms:
        config = self.config
        latent, terms = self._latent(reading, epoch, config.raw_from)
        expected = expectation(
            trees, lambda soft: self._loss(reading, soft, latent), config.estimator, samples=config.samples,
            noise=config.noise, temperature=config.temperature_at(epoch, self.until),
        )  # fmt: skip
        terms["reconstruction"] = Term(expected.sum())
        if config.tree_weight > 0:
            divergence = trees.kl_uniform() if self.prior is None else self.prior.divergence(trees, reading.sentences)
            weight = config.tree_weight * config.annealed(epoch, config.raw_from)
            terms["kl_trees"] = Term(divergence.sum(), weight)
        return terms

    def _latent(self, reading: Reading, epoch: int, first: int) -> tuple[Tensor | None, Terms]:
        gaussian = self.generative.gaussian(reading.encoded, reading.batch.lengths)
        if gaussian is None:
            return None, {}
        weight = self.config.kl_latent * self.config.annealed(epoch, first)
        return gaussian.sample(), {"kl_latent": Term(gaussian.kl_standard().sum(), weight)}

    def _loss(self, reading: Reading, soft: Tensor, latent: Tensor | None) -> Tensor:
        """−log p(s|T, z) [..., B], or what stands for it."""
        vectors = self.generative.vectors(reading.network, reading.batch, reading.encoded, soft, latent)
        return self.generative.loss(vectors, reading.batch)
