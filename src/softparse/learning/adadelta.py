"""Adadelta as in DyNet, fast enough for one sentence an update.

With gradient g, and averages of squared gradients and of squared changes that decay by ρ,

    G ← ρ G + (1 − ρ) g²        δ = √((D + ε) / (G + ε)) g        D ← ρ D + (1 − ρ) δ²        w ← w − rate · δ

Rows of tables that were not looked up in an update stay as they are, averages and all: that is what DyNet does, and it
saves most of the work. A kernel passes over weights, gradients and averages once, where torch passes over them for
every operation of the formula; where it cannot run, torch's own operations do the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..model.table import Table
from ..trees.kernels.compiled import HAVE_NUMBA, Int, array, compiled

DECAY, SMALLEST = 0.95, 1e-6  # ρ and ε
ALL = np.zeros(1, np.int64)  # of a matrix with one row


class Adadelta(torch.optim.Optimizer):
    """`tables` are those of the parameters that are looked up."""

    def __init__(self, parameters: Iterable[Tensor], tables: Sequence[Table], learning_rate: float):
        super().__init__(parameters, {"lr": learning_rate})
        self.tables = {table.weight: table for table in tables}

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._step(weight, group["lr"])

    def _step(self, weight: Tensor, rate: float) -> None:
        assert weight.grad is not None
        state = self.state[weight]
        if not state:
            state["squares"], state["changes"] = torch.zeros_like(weight), torch.zeros_like(weight)
        tensors = weight.detach(), weight.grad, state["squares"], state["changes"]
        rows = self._rows(weight, weight.grad)
        if not (HAVE_NUMBA and weight.device.type == "cpu" and weight.is_contiguous()):
            step_plainly(*tensors, rate, rows)
            return
        width = weight.numel() if rows is None else weight[0].numel()
        arrays = (tensor.contiguous().view(-1, width).numpy() for tensor in tensors)  # only a gradient may be copied
        kind = tensors[0].numpy().dtype
        numbers = (kind.type(number) for number in (rate, DECAY, 1 - DECAY, SMALLEST))
        _step(kind, *arrays, ALL if rows is None else rows.numpy(), *numbers)

    def _rows(self, weight: Tensor, gradient: Tensor) -> Tensor | None:
        """Those that have a gradient, or None for all of them."""
        table = self.tables.get(weight)
        if table is None:
            return None
        rows = table.touched()
        if rows is None:  # the gradient was not collected, or is the sum of several processes'
            rows = gradient.ne(0).any(1).nonzero().flatten()
        return rows


def step_plainly(
    weight: Tensor, gradient: Tensor, squares: Tensor, changes: Tensor, rate: float, rows: Tensor | None = None
) -> None:
    """A step of all of a tensor, or of some of its rows."""
    place = slice(None) if rows is None else rows
    slope = gradient[place]
    squares[place] = DECAY * squares[place] + (1 - DECAY) * slope**2
    change = ((changes[place] + SMALLEST) / (squares[place] + SMALLEST)).sqrt() * slope
    changes[place] = DECAY * changes[place] + (1 - DECAY) * change**2
    weight[place] -= rate * change


@compiled(lambda real: (*(array(real, 2),) * 4, array(Int, 1), *(real,) * 4))
def _step(weight, gradient, squares, changes, rows, rate, decay, rest, smallest):
    for row in rows:
        for column in range(weight.shape[1]):
            slope = gradient[row, column]
            square = decay * squares[row, column] + rest * slope * slope
            change = math.sqrt((changes[row, column] + smallest) / (square + smallest)) * slope
            squares[row, column] = square
            changes[row, column] = decay * changes[row, column] + rest * change * change
            weight[row, column] -= rate * change
