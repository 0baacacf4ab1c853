"""Dropout with one mask for all positions of a sentence (Gal & Ghahramani)."""

from __future__ import annotations

import torch
from torch import Tensor


def dropped(states: Tensor, probability: float, training: bool, time: int = 1) -> Tensor:
    """`states` [B, n, d] (or with time first, time=0) with the same features dropped at every position."""
    if not training or probability == 0:
        return states
    shape = list(states.shape)
    shape[time] = 1
    return states * dropout_mask(states.new_ones(shape), probability, training)


def dropout_mask(ones: Tensor, probability: float, training: bool) -> Tensor:
    """What to multiply with, of the shape of `ones`."""
    if not training or probability == 0:
        return ones
    return (torch.rand(ones.shape, device=ones.device) >= probability).to(ones.dtype) / (1 - probability)
