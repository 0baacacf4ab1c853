"""The decoder p(s|T, z): an autoregressive LSTM whose states are combined along the arcs of a soft or hard tree.

Let r^k be the state of the LSTM after it has read word k, where word 0 is a start symbol and the state before it is z.
Word i is predicted from

    g^i = tanh( M_self r^(i−1)  +  Σ_h A[h] M_head r^h  +  Σ_m B[m] M_modifier r^m ),

with the arcs between word i and words to its left (`incident`, the paper's formula),

    A[h] = T[h, i],  B[m] = T[i, m]   for h, m < i,

or the arcs between the word just read and words to its left (`history`, the paper's figure),

    A[h] = T[h, i − 1],  B[m] = T[i − 1, m]   for h, m < i − 1.

In the literal reading of the paper (`before`) a word stands for itself by the state before it was read, r^(h−1) in the
place of r^h. In no reading does g^i depend on word i or on a word after it, given the tree and z.

All words of a batch, and all samples of a tree, are computed at once by matrix products.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..configuration import at_least, choice
from .convolution import TreeConvolution


@dataclass(frozen=True)
class DecoderConfig:
    hidden: int = at_least(100, 1)
    arcs: str = choice("incident", "history")
    states: str = choice("after", "before")


class Decoder(nn.Module):
    """Embeddings of the words read, trees and z to the vectors that words are predicted from."""

    def __init__(self, config: DecoderConfig, inputs: int, latent: int = 0):
        super().__init__()
        self.config = config
        self.start = nn.Parameter(torch.zeros(inputs))
        self.lstm = nn.LSTM(inputs, config.hidden)
        self.from_latent = nn.Linear(latent, config.hidden) if latent not in (0, config.hidden) else None
        self.convolution = TreeConvolution(config.hidden, config.hidden)

    def forward(self, words: Tensor, trees: Tensor, latent: Tensor | None = None) -> Tensor:
        """[..., B, n, hidden], the i-th for word i + 1, from embeddings [B, n, d] of the words and trees
        [..., B, n + 1, n + 1]. `latent` [B, dimension] is z."""
        states, before = self._states(words, latent)
        is_literal = self.config.states == "before"
        spoken = torch.cat([before[:, None], states[:, :-1]], 1) if is_literal else states
        itself, others = self.convolution.mapped(states)
        if is_literal:
            others = self.convolution.mapped(spoken)[1]
        return self.convolution.combined(itself, others, *arcs_to_the_left(trees, self.config.arcs))

    def _states(self, words: Tensor, latent: Tensor | None) -> tuple[Tensor, Tensor]:
        """r^0 … r^(n−1) [B, n, hidden], and the state before them."""
        batch = words.shape[0]
        inputs = torch.cat([self.start.expand(batch, 1, -1), words[:, :-1]], 1).transpose(0, 1)
        if latent is None:
            first = words.new_zeros(batch, self.config.hidden)
        else:
            first = latent if self.from_latent is None else self.from_latent(latent)
        states, _ = self.lstm(inputs, (first[None], torch.zeros_like(first)[None]))
        return states.transpose(0, 1), first


def arcs_to_the_left(trees: Tensor, which: str) -> tuple[Tensor, Tensor]:
    """Weights [..., B, n, n] of the states r^0 … r^(n−1) for each word to predict, as its heads and its modifiers."""
    heads, modifiers = trees.transpose(-1, -2), trees  # [..., word, other]
    if which == "incident":
        heads, modifiers = heads[..., 1:, :-1], modifiers[..., 1:, :-1]
        return heads.tril(), modifiers.tril()  # row i − 1 is word i, and column h < i
    # Row i − 1 is about word i − 1, and column h < i − 1; nothing is known before word 1.
    heads, modifiers = heads[..., :-1, :-1], modifiers[..., :-1, :-1]
    return heads.tril(-1), modifiers.tril(-1)
