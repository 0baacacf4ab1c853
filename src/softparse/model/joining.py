"""What lies between two layers of the encoder: the states of both directions side by side, dropout, and the same read
backwards for the LSTM that comes from the right.

In plain operations these are a dozen copies of all states and of their gradients, which take as long as an LSTM's
sixth part. The kernels do them in one pass each; where they cannot run, the plain operations do.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..trees.kernels.compiled import HAVE_NUMBA, Int, array, compiled


def joined(ahead: Tensor, back: Tensor, mirror: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The input [n + 1, B, 2·hidden] of the next layer, and the same with every sentence read backwards.

    `ahead` and `back` [n + 1, B, hidden] are what the two LSTMs wrote, the second from the right; `mirror` [n + 1, B]
    are rows, counted through all sentences, that exchange the two orders; `mask` [B, 2·hidden] is the dropout.
    """
    if has_kernel(ahead):
        return _Joined.apply(ahead, back, mirror, mask)
    states = _plainly(ahead, back, mirror, mask)
    return states, Mirrored.apply(states, mirror)


def put_together(ahead: Tensor, back: Tensor, mirror: Tensor, mask: Tensor) -> Tensor:
    """The same after the last layer, [B, n + 1, 2·hidden]."""
    if has_kernel(ahead):
        return _PutTogether.apply(ahead, back, mirror, mask)
    return _plainly(ahead, back, mirror, mask).transpose(0, 1)


def has_kernel(states: Tensor) -> bool:
    return HAVE_NUMBA and states.device.type == "cpu" and states.dtype in (torch.float32, torch.float64)


def _plainly(ahead: Tensor, back: Tensor, mirror: Tensor, mask: Tensor) -> Tensor:
    return torch.cat([ahead, Mirrored.apply(back, mirror)], -1) * mask


class Mirrored(torch.autograd.Function):
    """Sentences read backwards. The rows are their own inverse, so the gradient is mirrored in the same way; torch's
    own look-up would have to sum up gradients, in case a row was taken twice."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, mirror: Tensor) -> Tensor:
        ctx.mirror = mirror
        return _taken(states, mirror)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _taken(gradients[0], ctx.mirror), None


def _taken(states: Tensor, rows: Tensor) -> Tensor:
    return states.flatten(0, 1).index_select(0, rows.flatten()).view_as(states)


class _Joined(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, ahead: Tensor, back: Tensor, mirror: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        ctx.mirror, ctx.mask = mirror, mask
        states, reverse = (ahead.new_empty(*ahead.shape[:2], mask.shape[1]) for _ in range(2))
        _run(_join, ahead, back, mirror, mask, states, reverse)
        return states, reverse

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        states, reverse = gradients
        ahead, back = (states.new_empty(*states.shape[:2], states.shape[2] // 2) for _ in range(2))
        _run(_part, ahead, back, ctx.mirror, ctx.mask, states, reverse)
        return ahead, back, None, None


class _PutTogether(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, ahead: Tensor, back: Tensor, mirror: Tensor, mask: Tensor) -> Tensor:
        ctx.mirror, ctx.mask = mirror, mask
        size, batch, _ = ahead.shape
        states = ahead.new_empty(batch, size, mask.shape[1])
        _run(_join_last, ahead, back, mirror, mask, states)
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        batch, size, width = gradients[0].shape
        ahead, back = (gradients[0].new_empty(size, batch, width // 2) for _ in range(2))
        _run(_part_last, ahead, back, ctx.mirror, ctx.mask, gradients[0])
        return ahead, back, None, None


def _run(kernel: Any, ahead: Tensor, back: Tensor, mirror: Tensor, mask: Tensor, *states: Tensor) -> None:
    tables = [part.flatten(0, 1) for part in (ahead, back, *states)]
    arrays = [tensor.detach().contiguous().numpy() for tensor in (*tables[:2], mirror.flatten(), mask, *tables[2:])]
    kernel(arrays[0].dtype, *arrays)


# The kernels see rows of [n + 1, B], one sentence after the other at each position, or of [B, n + 1] after the last
# layer. What the LSTM from the right wrote at a row is about the word at its mirror row.


def _tables(element: Any, tables: int) -> tuple:
    table = array(element, 2)
    return (table, table, array(Int, 1), *[table] * tables)


@compiled(lambda element: _tables(element, 3))
def _join(ahead, back, mirror, mask, states, reverse):
    hidden, batch = ahead.shape[1], mask.shape[0]
    for row in range(ahead.shape[0]):
        other, sentence = mirror[row], row % batch
        for k in range(hidden):
            value = ahead[row, k] * mask[sentence, k]
            states[row, k] = value
            reverse[other, k] = value
        for k in range(hidden):
            value = back[row, k] * mask[sentence, hidden + k]
            states[other, hidden + k] = value
            reverse[row, hidden + k] = value


@compiled(lambda element: _tables(element, 3))
def _part(ahead, back, mirror, mask, states, reverse):
    hidden, batch = ahead.shape[1], mask.shape[0]
    for row in range(ahead.shape[0]):
        other, sentence = mirror[row], row % batch
        for k in range(hidden):
            ahead[row, k] = (states[row, k] + reverse[other, k]) * mask[sentence, k]
        for k in range(hidden):
            back[row, k] = (states[other, hidden + k] + reverse[row, hidden + k]) * mask[sentence, hidden + k]


@compiled(lambda element: _tables(element, 2))
def _join_last(ahead, back, mirror, mask, states):
    hidden, batch = ahead.shape[1], mask.shape[0]
    size = ahead.shape[0] // batch
    for row in range(ahead.shape[0]):
        sentence = row % batch
        here, there = sentence * size + row // batch, sentence * size + mirror[row] // batch
        for k in range(hidden):
            states[here, k] = ahead[row, k] * mask[sentence, k]
        for k in range(hidden):
            states[there, hidden + k] = back[row, k] * mask[sentence, hidden + k]


@compiled(lambda element: _tables(element, 2))
def _part_last(ahead, back, mirror, mask, states):
    hidden, batch = ahead.shape[1], mask.shape[0]
    size = ahead.shape[0] // batch
    for row in range(ahead.shape[0]):
        sentence = row % batch
        here, there = sentence * size + row // batch, sentence * size + mirror[row] // batch
        for k in range(hidden):
            ahead[row, k] = states[here, k] * mask[sentence, k]
        for k in range(hidden):
            back[row, k] = states[there, hidden + k] * mask[sentence, hidden + k]
