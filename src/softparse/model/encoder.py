"""The sentence encoder: a stack of bidirectional LSTMs.

Each direction is an LSTM of its own over sentences that start at position 0, reversed for the backward one; so padding
comes last and cannot reach a word, and a word's state does not depend on what its sentence is batched with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ..configuration import at_least
from .dropout import dropped


@dataclass(frozen=True)
class EncoderConfig:
    layers: int = at_least(2, 1)
    hidden: int = at_least(125, 1)  # per direction
    dropout: float = at_least(0.0, 0.0, below=1.0)  # of the input of every layer but the first, and of the output


class Encoded(NamedTuple):
    """A batch as the encoder sees it, [B, n + 1, ...] each."""

    words: Tensor  # what it reads
    forwards: Tensor  # states of the first layer: the one at k has read the root and words 1 … k,
    backwards: Tensor  # and this one words n … k
    states: Tensor  # of the last layer, 2·hidden


class Encoder(nn.Module):
    """[B, n + 1, inputs] to states of its first and of its last layer."""

    def __init__(self, config: EncoderConfig, inputs: int):
        super().__init__()
        self.config = config
        sizes = [inputs] + [2 * config.hidden] * (config.layers - 1)
        self.forwards = nn.ModuleList(_lstm(size, config.hidden) for size in sizes)
        self.backwards = nn.ModuleList(_lstm(size, config.hidden) for size in sizes)
        self.dimension = 2 * config.hidden

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """`lengths` count words, without the root at position 0."""
        batch, size, _ = inputs.shape
        position = torch.arange(size, device=inputs.device)[:, None]
        place = torch.where(position <= lengths, lengths - position, position)  # [n + 1, B]
        mirror = place * batch + torch.arange(batch, device=inputs.device)  # rows of [(n + 1)·B, d]; its own inverse
        states = inputs.transpose(0, 1)  # time first, as the LSTM's kernels like it
        first: list[Tensor] = []
        for forward, backward in zip(self.forwards, self.backwards, strict=True):
            if first:
                states = dropped(states, self.config.dropout, self.training, time=0)
            ahead = forward(states)[0]
            back = Mirrored.apply(backward(Mirrored.apply(states, mirror))[0], mirror)
            first = first or [ahead, back]
            states = torch.cat([ahead, back], -1)
        states = dropped(states, self.config.dropout, self.training, time=0)
        return Encoded(inputs, *(tensor.transpose(0, 1) for tensor in (*first, states)))


class Mirrored(torch.autograd.Function):
    """Sentences read backwards. The rows are their own inverse, so the gradient is mirrored in the same way; torch's
    own look-up would have to sum up gradients, in case a row was taken twice."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, rows: Tensor) -> Tensor:
        ctx.rows = rows
        return _taken(states, rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _taken(gradients[0], ctx.rows), None


def _taken(states: Tensor, rows: Tensor) -> Tensor:
    """[n + 1, B, d] with row `rows[i, b]` of the flat states at i, b."""
    return states.flatten(0, 1).index_select(0, rows.flatten()).view_as(states)


def _lstm(inputs: int, hidden: int) -> nn.LSTM:
    lstm = nn.LSTM(inputs, hidden)
    weights = dict(lstm.named_parameters())
    nn.init.xavier_uniform_(weights["weight_ih_l0"])
    for gate in weights["weight_hh_l0"].chunk(4):
        nn.init.orthogonal_(gate)
    nn.init.zeros_(weights["bias_ih_l0"])
    nn.init.zeros_(weights["bias_hh_l0"])
    with torch.no_grad():
        weights["bias_ih_l0"][hidden : 2 * hidden] = 1  # remember, to begin with
    return lstm
