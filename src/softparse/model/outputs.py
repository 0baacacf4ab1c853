"""Predicting words from vectors: four ways to train a distribution over a large vocabulary.

    softmax       the full softmax
    sampled       softmax over the right word and drawn ones, each of these less the log of its expected number of draws
    nce           noise-contrastive estimation: the right word against drawn ones, by logistic regression
    adaptive      a softmax in clusters, rare words in smaller ones (Grave et al. 2017)

Words are numbered from the most frequent one down. Words are drawn by frequency to the power ¾, once for a whole batch.
`log_prob` is always that of a proper distribution: the full softmax of the weights, or the clusters' own.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..configuration import at_least, choice
from .table import Table


@dataclass(frozen=True)
class OutputConfig:
    kind: str = choice("sampled", "softmax", "nce", "adaptive")
    negatives: int = at_least(25, 1)  # drawn words that a right one is told from
    draws: int = at_least(300, 0)  # at least so many words are drawn for a batch, and shared: more cost little


class Output(nn.Module):
    """Losses and log-probabilities of words [N] given vectors [N, d]."""

    noise: Tensor

    def __init__(self, config: OutputConfig, inputs: int, counts: Tensor):
        super().__init__()
        self.config = config
        size = len(counts)
        weights = counts.double().clamp(min=1) ** 0.75
        self.register_buffer("noise", (weights / weights.sum()).float(), persistent=False)
        self.adaptive: nn.AdaptiveLogSoftmaxWithLoss | None = None
        self.words: Table | None = None  # a vector and a bias for each
        if config.kind == "adaptive" and size > 3:
            cutoffs = sorted({max(1, size // 20), max(2, size // 4)})
            self.adaptive = nn.AdaptiveLogSoftmaxWithLoss(inputs, size, cutoffs, div_value=2.0)
        else:
            self.words = Table(size, inputs)
            nn.init.uniform_(self.words.weight, -(inputs**-0.5), inputs**-0.5)
            # By frequency, to begin with: scores that are far from log-probabilities would make the losses of drawn
            # words, and their gradients, dozens of times as large as those of the parser.
            self.bias = nn.Parameter((counts.double().clamp(min=1) / counts.clamp(min=1).sum()).log().float())

    @property
    def only_looks_up(self) -> bool:
        """Whether training needs the weights of some words only."""
        return self.config.kind in ("sampled", "nce")

    def log_prob(self, states: Tensor, words: Tensor) -> Tensor:
        """log p(word) [N]."""
        if self.adaptive is not None:
            return self.adaptive(states, words).output
        assert self.words is not None
        logits = functional.linear(states, self.words.weight, self.bias)
        return -functional.cross_entropy(logits, words, reduction="none")

    def loss(self, states: Tensor, words: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """What is minimised [N]: −log p(word), or what stands for it."""
        if not self.only_looks_up:
            return -self.log_prob(states, words)
        number = max(self.config.negatives, self.config.draws)
        drawn = torch.multinomial(self.noise, number, replacement=True, generator=generator)
        right, others = self._scores(states, words, drawn)
        if self.config.kind == "nce":
            # The draws stand for `negatives` ones of each word.
            amount = self.config.negatives / len(drawn)
            odds = torch.log(self.config.negatives * self.noise)
            false = functional.softplus(others - odds[drawn]).sum(1) * amount
            return functional.softplus(odds[words] - right) + false
        # exp(right) + Σ exp(other) / expected number of draws: an unbiased estimate of the softmax's denominator.
        expected = torch.log(len(drawn) * self.noise[drawn])
        others = (others - expected).masked_fill(drawn == words[:, None], -torch.inf)
        return torch.logaddexp(right, others.logsumexp(1)) - right

    def _scores(self, states: Tensor, words: Tensor, drawn: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of the right words [N] and of the drawn ones [N, draws]."""
        assert self.words is not None
        places = torch.cat([words, drawn])
        rows = self.words.looked_up(places)
        # Not by indexing, whose gradient is summed in another order every time where there are many places.
        biases = functional.embedding(places, self.bias[:, None])[:, 0]
        right = (states * rows[: len(words)]).sum(1) + biases[: len(words)]
        return right, torch.addmm(biases[len(words) :], states, rows[len(words) :].T)
