"""One layer of graph convolution over a soft or hard tree, for the words of a batch at once.

    g = tanh( M_self x  +  Σ_h A[h] M_head y^h  +  Σ_m B[m] M_modifier y^m )

for every word to predict, where x is what the word itself is predicted from, y^k is what stands for word k, and A and B
are the weights with which word k is its head and its modifier.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class TreeConvolution(nn.Module):
    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.of_itself = nn.Linear(inputs, outputs)
        self.of_heads = nn.Linear(inputs, outputs, bias=False)
        self.of_modifiers = nn.Linear(inputs, outputs, bias=False)

    def mapped(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """M_self x (and its bias) [B, k, outputs] of the states, and M_head y and M_modifier y [B, 2, k, outputs]."""
        maps = (self.of_itself, self.of_heads, self.of_modifiers)
        itself, heads, modifiers = functional.linear(states, torch.cat([m.weight for m in maps])).chunk(3, -1)
        return itself + self.of_itself.bias, torch.stack([heads, modifiers], 1)

    @staticmethod
    def combined(itself: Tensor, others: Tensor, heads: Tensor, modifiers: Tensor) -> Tensor:
        """g [..., B, n, outputs] from what is mapped, [B, n, outputs] and [B, 2, k, outputs], and weights
        [..., B, n, k]."""
        neighbours = torch.cat([heads, modifiers], -1) @ others.flatten(1, 2)
        return torch.tanh(itself + neighbours)
