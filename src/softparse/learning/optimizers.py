"""Optimisers, the learning rate over time, and the average of the weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ..model.table import Table
from .config import TrainConfig


def optimizer(config: TrainConfig, parameters: Iterable[Tensor], tables: Sequence[Table]) -> torch.optim.Optimizer:
    """The `tables` are those of the parameters that are looked up."""
    if config.optimizer == "adadelta":
        return Adadelta(parameters, tables, config.learning_rate)
    return torch.optim.Adam(parameters, lr=config.learning_rate, betas=(0.9, config.beta2), fused=True)


class Adadelta(torch.optim.Adadelta):
    """As in DyNet: with its settings, and rows of tables that were not looked up in an update stay as they are.

    With one sentence an update those are almost all rows, so it takes much less time too.
    """

    def __init__(self, parameters: Iterable[Tensor], tables: Sequence[Table], learning_rate: float):
        super().__init__(parameters, lr=learning_rate, rho=0.95, eps=1e-6)
        self.tables = list(tables)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        found = [(table, table.touched(), table.weight.grad) for table in self.tables]
        for table, _, _ in found:
            table.weight.grad = None
        super().step(closure)  # of everything else
        for table, rows, gradient in found:
            table.weight.grad = gradient
            if gradient is not None:
                if rows is None:  # of several processes
                    rows = gradient.ne(0).any(1).nonzero().flatten()
                self._step_of_rows(table.weight, gradient, rows)

    def _step_of_rows(self, weight: Tensor, gradient: Tensor, rows: Tensor) -> None:
        group = self.param_groups[0]
        rho, eps = group["rho"], group["eps"]
        state = self.state[weight]
        if not state:
            state["step"] = torch.zeros(())
            state["square_avg"], state["acc_delta"] = torch.zeros_like(weight), torch.zeros_like(weight)
        state["step"] += 1
        slope, squares, changes = (tensor[rows] for tensor in (gradient, state["square_avg"], state["acc_delta"]))
        squares = rho * squares + (1 - rho) * slope**2
        change = ((changes + eps) / (squares + eps)).sqrt() * slope
        state["square_avg"][rows] = squares
        state["acc_delta"][rows] = rho * changes + (1 - rho) * change**2
        weight[rows] -= group["lr"] * change


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
        if self.updates % self.EVERY:
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
