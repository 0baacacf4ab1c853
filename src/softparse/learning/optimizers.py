"""Optimisers, the learning rate over time, and the average of the weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from ..model.table import Table
from .adadelta import Adadelta
from .config import TrainConfig


def optimizer(config: TrainConfig, parameters: Iterable[Tensor], tables: Sequence[Table]) -> torch.optim.Optimizer:
    """The `tables` are those of the parameters that are looked up."""
    if config.optimizer == "adadelta":
        return Adadelta(parameters, tables, config.learning_rate)
    return torch.optim.Adam(parameters, lr=config.learning_rate, betas=(0.9, config.beta2), fused=True)


def learning_rate(config: TrainConfig, step: int, steps: int) -> float:
    """Of a step, from 0: rises during the warm-up, then falls to nothing or stays."""
    warmup = config.warmup * steps
    if step < warmup:
        return config.learning_rate * (step + 1) / (warmup + 1)
    if config.schedule == "constant":
        return config.learning_rate
    return config.learning_rate * (steps - step) / (steps - warmup)


@torch.no_grad()
def clip_gradient(parameters: Iterable[Tensor], most: float, tables: Sequence[Table] = ()) -> float:
    """Shorten the gradient to the norm `most` if it is longer; most steps leave it alone. Returns its norm before."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return 0.0
    sparse = {id(table.weight.grad): table.touched() for table in tables}
    parts = []
    for gradient in gradients:
        rows = sparse.get(id(gradient))  # the others are 0
        parts.append(torch.flatten(gradient if rows is None else gradient[rows]))
    # Dot products, which take half the time of norms.
    norm = math.sqrt(torch.stack([flat.dot(flat) for flat in parts]).sum())
    if math.isfinite(norm) and norm > most:
        torch._foreach_mul_(gradients, most / norm)
    return norm


class Average:
    """An exponential average of a network's weights, which is often better than the weights at any one moment.

    `decay` is per step. It is taken only at every `EVERY`-th step, which hardly changes it and costs less.
    """

    EVERY = 4

    def __init__(self, network: nn.Module, decay: float):
        self.network, self.decay = network, decay
        self.weights = [parameter.detach().clone() for parameter in network.parameters()]
        self.updates = 0

    @torch.no_grad()
    def update(self) -> None:
        self.updates += 1
        if self.updates % self.EVERY and self.updates > self.EVERY:  # a short run has an average, too
            return
        decay = min(self.decay**self.EVERY, self.updates / (self.updates + 9))  # the first weights are no good
        parameters = [parameter.detach() for parameter in self.network.parameters()]
        torch._foreach_lerp_(self.weights, parameters, 1 - decay)

    @torch.no_grad()
    def exchange(self) -> None:
        """Swap the average with the weights; a second call swaps them back."""
        for parameter, average in zip(self.network.parameters(), self.weights, strict=True):
            kept = parameter.detach().clone()
            parameter.copy_(average)
            average.copy_(kept)

    def state_dict(self) -> dict[str, object]:
        return {"weights": self.weights, "updates": self.updates}

    def load_state_dict(self, state: dict) -> None:
        self.updates = state["updates"]
        for mine, saved in zip(self.weights, state["weights"], strict=True):
            mine.copy_(saved)
