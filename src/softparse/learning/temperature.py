"""Fitting a temperature: the one at which the right answers are likeliest.

For scores s and β = 1 / temperature, the negative log-likelihood of right trees,

    L(β) = Σ log Z(β·s) − β·s(T),     L'(β) = Σ E_β[s] − s(T),     L''(β) = Σ Var_β[s] ≥ 0,

is convex in β, and its slope is exact from the marginals. Where a tree is known in part, s(T) is E_β[s | known heads];
L may have several minima then, and a minimum between two slopes of different sign is found. Labels are the same with a
softmax each. The slope's root is looked for on the scale of log β by regula falsi, in the Illinois variant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from ..corpus.batches import Tree, batched
from ..corpus.sentence import UNKNOWN
from ..model.evaluating import evaluating
from ..parser import Parser
from ..trees import NonProjectiveTrees, ProjectiveTrees
from ..trees.distribution import TreeDistribution

# How far from 0 to look for the root, in log β: temperatures between 1/16 and 16, few of which are more than 2 or so.
PLACES = [power * math.log(2) for power in range(5)]
PRECISION = 1e-5  # of log β
FLAT = 1e-5  # slopes below this, a word, are rounding errors
BATCH_SENTENCES, BATCH_WORDS = 128, 1500


@dataclass(frozen=True)
class Trees:
    """Scores of the arcs of some sentences, and their right heads (all known, or each partial)."""

    scores: Tensor  # [B, n + 1, n + 1]
    lengths: Tensor  # [B]
    heads: Tensor  # [B, n + 1]
    is_partial: bool
    single_root: bool
    kind: type[TreeDistribution] = ProjectiveTrees

    def at(self, inverse: float) -> TreeDistribution:
        scores = self.scores * inverse
        return self.kind(scores, self.lengths, single_root=self.single_root, validate_args=False)

    def slope(self, inverse: float) -> float:
        trees = self.at(inverse)
        if self.is_partial:
            known = self._expected(trees.given(self.heads))
        else:
            values = self.scores.gather(1, self.heads.clamp(min=0)[:, None])[:, 0]
            known = torch.where(self.heads >= 0, values, 0.0).sum(dtype=torch.float64)
        return float(self._expected(trees) - known)

    def _expected(self, trees: TreeDistribution) -> Tensor:
        return (trees.marginals * self.scores).sum(dtype=torch.float64)

    def log_likelihood(self, inverse: float) -> float:
        trees = self.at(inverse)
        _ = trees.marginals  # log Z comes with them, from sums that are compiled for everything here
        return float(trees.log_prob(self.heads).sum(dtype=torch.float64))


@dataclass(frozen=True)
class Labels:
    """Scores of labels on the right arcs, and which label is right."""

    scores: Tensor  # [N, labels]
    right: Tensor  # [N]

    def slope(self, inverse: float) -> float:
        expected = ((self.scores * inverse).softmax(1) * self.scores).sum(dtype=torch.float64)
        return float(expected - self.scores.gather(1, self.right[:, None]).sum(dtype=torch.float64))

    def log_likelihood(self, inverse: float) -> float:
        logs = (self.scores * inverse).log_softmax(1)
        return float(logs.gather(1, self.right[:, None]).sum(dtype=torch.float64))


@dataclass(frozen=True)
class Evidence:
    """What a parser's network says about sentences with trees, computed once, and the right answers."""

    trees: list[Trees]
    labels: Labels
    words: int

    def of_arcs(self) -> float | None:
        """The temperature of arc scores; None where these trees do not determine one."""
        return fitted(lambda inverse: sum(batch.slope(inverse) for batch in self.trees), self.words)

    def of_labels(self) -> float | None:
        return fitted(self.labels.slope, len(self.labels.right))

    def arc_loss(self, temperature: float) -> float:
        """−log q of the right trees, in nats a word."""
        return -sum(batch.log_likelihood(1 / temperature) for batch in self.trees) / max(1, self.words)

    def label_loss(self, temperature: float) -> float:
        """−log q of the right labels given the right arcs, in nats a label."""
        return -self.labels.log_likelihood(1 / temperature) / max(1, len(self.labels.right))


@torch.inference_mode()
def evidence(parser: Parser, trees: Sequence[Tree]) -> Evidence:
    """Read sentences with projective trees, which may be partial."""
    network, decoding = parser.network, parser.config.decoding
    kind = NonProjectiveTrees if decoding.method == "nonprojective" else ProjectiveTrees
    found: list[Trees] = []
    scores: list[Tensor] = []
    right: list[Tensor] = []
    with evaluating(network):
        for is_partial in (False, True):
            some = [tree for tree in trees if len(tree) and (UNKNOWN in tree.heads) == is_partial]
            for places in batched([len(tree) for tree in some], BATCH_SENTENCES, BATCH_WORDS):
                batch = parser.numbering.training_batch([some[place] for place in places]).to(parser.device)
                assert batch.heads is not None
                assert batch.labels is not None
                views = network.views(batch)
                arcs, lengths, heads = network.arc_scores(views).cpu(), batch.lengths.cpu(), batch.heads.cpu()
                found.append(Trees(arcs, lengths, heads, is_partial, decoding.single_root, kind))
                known = batch.labels >= 0
                scores.append(network.label_scores(views, batch.heads)[known].cpu())
                right.append(batch.labels[known].cpu())
    labels = Labels(torch.cat(scores), torch.cat(right)) if right else Labels(torch.zeros(0, 1), torch.zeros(0).long())
    return Evidence(found, labels, sum(map(len, trees)))


def fitted(slope: Callable[[float], float], size: int) -> float | None:
    """The temperature at which the slope of a loss over `size` words, a function of β = 1 / temperature, is zero.

    None if it is zero nowhere between the limits, or flat there. If every answer is right, a loss falls for ever with
    the temperature, and where scores say nothing about what is right, it falls the other way.

    >>> round(fitted(lambda inverse: inverse**3 - 1 / 8, 1), 3)
    2.0
    >>> fitted(lambda inverse: -1 / inverse, 1) is None
    True
    """
    values = cache(lambda log_inverse: slope(math.exp(log_inverse)))
    flat = FLAT * max(1, size)
    low = next((place for place in PLACES if values(-place) < -flat), None)
    high = next((place for place in PLACES if values(place) > flat), None)
    if low is None or high is None:
        return None
    return math.exp(-_root(values, -low, high))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where the function is zero, between a place where it is below and one where it is above."""
    at_low, at_high = function(low), function(high)
    place, last = low, math.inf
    while abs(place - last) > PRECISION:
        last, place = place, (low * at_high - high * at_low) / (at_high - at_low)
        value = function(place)
        if value < 0:
            # An end that stays twice holds the other one back: half of its value brings the next place nearer to it.
            at_high = at_high / 2 if low == last else at_high
            low, at_low = place, value
        elif value > 0:
            at_low = at_low / 2 if high == last else at_low
            high, at_high = place, value
        else:
            break
    return place
