"""The sentence posterior q(z|s): a diagonal Gaussian from a left-to-right LSTM."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..configuration import at_least, choice


@dataclass(frozen=True)
class PosteriorConfig:
    hidden: int = at_least(100, 1)
    dimension: int = at_least(100, 1)  # of z
    bound: str = choice("tanh", "hardtanh")  # of means and log-variances
    shared: bool = False  # read the states of the encoder's first layer instead of the words


class Gaussian(NamedTuple):
    """A diagonal Gaussian for every sentence, [B, dimension] each."""

    mean: Tensor
    log_variance: Tensor

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """z = m + exp(½ log v) · ε, differentiable."""
        where = self.mean.device if generator is None else generator.device
        noise = torch.randn(self.mean.shape, generator=generator, dtype=self.mean.dtype, device=where)
        return self.mean + torch.exp(0.5 * self.log_variance) * noise.to(self.mean.device)

    def kl_standard(self) -> Tensor:
        """KL(q ‖ N(0, 1)) [B]."""
        return 0.5 * (self.mean**2 + self.log_variance.exp() - 1 - self.log_variance).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """log q(z) [B]."""
        squared = (value - self.mean) ** 2 * torch.exp(-self.log_variance)
        return -0.5 * (squared + self.log_variance + math.log(2 * math.pi)).sum(-1)


class SentencePosterior(nn.Module):
    """Word vectors [B, n + 1, d] to the Gaussian of each sentence."""

    def __init__(self, config: PosteriorConfig, inputs: int):
        super().__init__()
        self.lstm = nn.LSTM(inputs, config.hidden)
        bound: type[nn.Module] = nn.Tanh if config.bound == "tanh" else nn.Hardtanh
        self.mean, self.log_variance = (
            nn.Sequential(nn.Linear(config.hidden, config.dimension), bound()) for _ in range(2)
        )

    def forward(self, inputs: Tensor, lengths: Tensor) -> Gaussian:
        states, _ = self.lstm(inputs.transpose(0, 1))
        last = states[lengths, torch.arange(len(lengths), device=lengths.device)]  # the root is at 0, word n at n
        return Gaussian(self.mean(last), self.log_variance(last))
