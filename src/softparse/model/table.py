"""Word embeddings whose gradient is summed in one place, however often they are looked up.

In training on raw text a table of tens of thousands of words is read twice in an update, for what a sentence reads and
for what it predicts, a thousand rows each. Autograd would make a whole table of zeros for each, and add them up. Who
takes a step along the gradient may ask which rows it has.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Table(nn.Embedding):
    """An embedding; while it `collects`, nothing but look-ups may use its weights in a loss."""

    def __init__(self, size: int, dimension: int, padding_idx: int | None = None):
        super().__init__(size, dimension, padding_idx)
        self.collects = False
        self._gradient: Tensor | None = None  # zero but for the rows of the last update
        self._rows: list[Tensor] = []
        self._touched: Tensor | None = None

    def forward(self, places: Tensor) -> Tensor:
        return self.looked_up(places, self.padding_idx)

    def looked_up(self, places: Tensor, padding: int | None = None) -> Tensor:
        """The rows at these places; there is no gradient for that of the `padding`."""
        if self.collects and torch.is_grad_enabled():
            return _Rows.apply(self.weight, places, self, padding)
        return functional.embedding(places, self.weight, padding)

    def touched(self) -> Tensor | None:
        """The rows of the gradient that has been collected, each once; None if it has not been."""
        if self._gradient is None or self.weight.grad is not self._gradient:
            return None
        if self._touched is None:
            self._touched = torch.cat(self._rows).unique()
        return self._touched

    def collect(self, places: Tensor, slopes: Tensor) -> None:
        if self._gradient is None or self._gradient.dtype != slopes.dtype:
            self._gradient, self._rows = torch.zeros_like(self.weight), []
        if self.weight.grad is not self._gradient:  # a new update: the last one's gradient has been used
            for rows in self._rows:
                self._gradient.index_fill_(0, rows, 0.0)
            self._rows = []
            self.weight.grad = self._gradient
        self._rows.append(places)
        self._touched = None
        self._gradient.index_add_(0, places, slopes)


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, places: Tensor, table: Table, padding: int | None) -> Tensor:
        ctx.table, ctx.padding = table, padding
        ctx.save_for_backward(places)
        return functional.embedding(places, weight)

    @staticmethod
    def backward(ctx: Any, slopes: Tensor) -> tuple[None, ...]:
        (places,) = ctx.saved_tensors
        flat = slopes.reshape(-1, slopes.shape[-1])
        if ctx.padding is not None:
            flat = flat.masked_fill((places == ctx.padding).reshape(-1, 1), 0.0)
        ctx.table.collect(places.reshape(-1), flat)
        return None, None, None, None
