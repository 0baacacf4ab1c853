"""A decoder without an LSTM of its own: words are predicted from the states in which the parser's encoder reads.

The first layer of the encoder reads a sentence from the left and from the right. Its forward state at k has seen the
root and words 1 … k, so it can stand for r^k of the decoder; predicting words from it teaches the encoder to read, on
raw text too. The backward state at k has seen words n … k, and gives a second decoder, which predicts the sentence from
its end; there, what stands for the root and for the state before word n is learnt. In either direction

    g^i = tanh( M_self r^(i∓1)  +  Σ_h T[h, i] M_head r^h  +  Σ_m T[i, m] M_modifier r^m )

over the words that have been read. No word is predicted from itself or from one that has not been read.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .convolution import TreeConvolution
from .decoder import arcs_to_the_left
from .encoder import Encoded


class Reader(nn.Module):
    """States of the first layer and trees to the vectors that words are predicted from, in both directions."""

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.forwards = TreeConvolution(inputs, hidden)
        self.backwards = TreeConvolution(inputs, hidden)
        self.end = nn.Parameter(torch.zeros(inputs))
        self.root = nn.Parameter(torch.zeros(inputs))

    def forward(self, encoded: Encoded, lengths: Tensor, trees: Tensor) -> tuple[Tensor, Tensor]:
        """Twice [..., B, n, hidden], the i-th for word i + 1, from trees [..., B, n + 1, n + 1]."""
        left = self.forwards.mapped(encoded.forwards[:, :-1])
        return (
            self.forwards.combined(*left, *arcs_to_the_left(trees, "incident")),
            self._from_the_right(encoded.backwards, lengths, trees),
        )

    def _from_the_right(self, states: Tensor, lengths: Tensor, trees: Tensor) -> Tensor:
        batch, size, _ = states.shape
        root, end = (vector.expand(batch, 1, -1) for vector in (self.root, self.end))
        itself, others = self.backwards.mapped(torch.cat([root, states[:, 1:], end], 1))
        is_last = torch.arange(1, size, device=lengths.device) == lengths[:, None]
        following = torch.where(is_last[..., None], itself[:, -1:], itself[:, 2:])  # of r^(i+1), for word i
        heads, modifiers = trees.transpose(-1, -2)[..., 1:, :], trees[..., 1:, :]  # [..., word i, other]
        unread = torch.ones(size, size, dtype=torch.bool, device=states.device).tril()[1:]
        unread[:, 0] = False  # that a word hangs on the root is known
        heads, modifiers = (weights.masked_fill(unread, 0.0) for weights in (heads, modifiers))
        return self.backwards.combined(following, others[:, :, :-1], heads, modifiers)
