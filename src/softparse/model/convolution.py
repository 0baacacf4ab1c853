"""One layer of graph convolution over a soft or hard tree, for the words of a batch at once.

    g = tanh( M_self x  +  Σ_h A[h] M_head y^h  +  Σ_m B[m] M_modifier y^m )

for every word to predict, where x is what the word itself is predicted from, y^k is what stands for word k, and A and B
are the weights with which word k is its head and its modifier.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class TreeConvolution(nn.Module):
    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.of_itself = nn.Linear(inputs, outputs)
        self.of_heads = nn.Linear(inputs, outputs, bias=False)
        self.of_modifiers = nn.Linear(inputs, outputs, bias=False)

    def forward(self, itself: Tensor, others: Tensor, heads: Tensor, modifiers: Tensor) -> Tensor:
        """[..., B, n, outputs] from states [B, n, inputs] and [B, k, inputs], and weights [..., B, n, k]."""
        neighbours = heads @ self.of_heads(others) + modifiers @ self.of_modifiers(others)
        return torch.tanh(self.of_itself(itself) + neighbours)
