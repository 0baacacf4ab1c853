"""Agreement with a teacher: the average of the parser's weights so far, which reads raw sentences without dropout.

What the average believes is better than what the weights of the moment believe, and the parser, which sees the sentence
through dropout, learns to believe it under worse conditions.

The two follow each other, and may agree ever better on ever worse trees. Dev sees that: after an epoch that is not the
best one so far, the teacher is what it was then, until there is a better one.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..model.network import Network
from ..trees import ProjectiveTrees
from .optimizers import Average
from .reading import Reading


class Teacher:
    """A network with the averaged weights, whatever they are at the moment, or with those of the best epoch."""

    def __init__(self, network: Network, average: Average):
        vectors = network.words.vectors  # large, and never changed
        self.network = copy.deepcopy(network, {id(vectors): vectors}).eval().requires_grad_(False)
        self.average = average.weights[: len(list(network.parameters()))]  # the parser's come first
        self.best: list[Tensor] = []
        self.is_back = False
        self._have(self.average)

    def judge(self, is_best: bool) -> None:
        """After an epoch whose dev scores are the best so far, or are not."""
        if is_best:
            self.best = [weight.clone() for weight in self.average]
        self.is_back = not is_best and bool(self.best)
        self._have(self.best if self.is_back else self.average)

    def _have(self, weights: Sequence[Tensor]) -> None:
        for parameter, weight in zip(self.network.parameters(), weights, strict=True):
            parameter.data = weight

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best, "is_back": self.is_back}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.best = [saved.to(mine.device) for saved, mine in zip(state["best"], self.average, strict=False)]
        self.is_back = state["is_back"]
        self._have(self.best if self.is_back else self.average)


def agreement(reading: Reading, teacher: Network, temperature: float = 1.0) -> Tensor:
    """Cross-entropies of the teacher's trees and of its labels under the parser's, summed over the batch.

    That of trees is exact, −E_teacher[log q(T|s)]. Labels are compared on the arcs of the teacher's best tree, each
    with the probability that the teacher gives to it. At a temperature below 1 the teacher is surer than it is.
    """
    with torch.no_grad():
        believed = Reading(teacher, reading.sentences, reading.batch, reading.single_root)
        trees = believed.trees
        if temperature != 1:
            trees = ProjectiveTrees(trees.scores / temperature, trees.lengths, single_root=trees.single_root)
        marginals, heads = trees.marginals, trees.mode
        labels = (teacher.label_scores(believed.views, heads) / temperature).softmax(-1)
        certainty = marginals.gather(1, heads.clamp(min=0)[:, None])[:, 0] * reading.batch.is_word
    arcs = reading.trees.log_partition.sum() - (marginals * reading.scores).sum()
    mine = reading.network.label_scores(reading.views, heads).log_softmax(-1)
    return arcs - ((labels * mine).sum(-1) * certainty).sum()
