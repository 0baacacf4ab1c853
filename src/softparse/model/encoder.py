"""The sentence encoder: a stack of bidirectional LSTMs.

Each direction is an LSTM of its own over sentences that start at position 0, reversed for the backward one; so padding
comes last and cannot reach a word, and a word's state does not depend on what its sentence is batched with.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from ..configuration import at_least
from .dropout import dropout_mask
from .joining import Mirrored, joined, put_together


@dataclass(frozen=True)
class EncoderConfig:
    layers: int = at_least(2, 1)
    hidden: int = at_least(125, 1)  # per direction
    dropout: float = at_least(0.0, 0.0, below=1.0)  # of the input of every layer but the first, and of the output


class Encoded:
    """A batch as the encoder sees it, [B, n + 1, ...] each."""

    def __init__(self, words: Tensor, first: tuple[Tensor, Tensor, Tensor], states: Tensor):
        self.words = words  # what it reads
        self.states = states  # of the last layer, 2·hidden
        self._ahead, self._back, self._mirror = first

    @cached_property
    def forwards(self) -> Tensor:
        """States of the first layer: the one at k has read the root and words 1 … k."""
        return self._ahead.transpose(0, 1)

    @cached_property
    def backwards(self) -> Tensor:
        """And this one words n … k."""
        return Mirrored.apply(self._back, self._mirror).transpose(0, 1)

    def rows(self, start: int, stop: int, size: int) -> Encoded:
        """Some of the sentences, up to position `size`."""
        part = copy(self)
        for name in "words", "states", "forwards", "backwards":
            setattr(part, name, getattr(self, name)[start:stop, :size])
        return part


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
        states = inputs.transpose(0, 1).contiguous()  # time first, as the LSTM's kernels like it
        reverse = Mirrored.apply(states, mirror)
        first: tuple[Tensor, Tensor, Tensor] | None = None
        for layer, (forward, backward) in enumerate(zip(self.forwards, self.backwards, strict=True), 1):
            ahead, back = forward(states)[0], backward(reverse)[0]
            first = first or (ahead, back, mirror)
            mask = dropout_mask(inputs.new_ones(batch, self.dimension), self.config.dropout, self.training)
            if layer < len(self.forwards):
                states, reverse = joined(ahead, back, mirror, mask)
        assert first is not None
        return Encoded(inputs, first, put_together(ahead, back, mirror, mask))


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
