"""Facts about trees given as heads: validity, projectivity, matrices, and how many trees there are."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def adjacency(heads: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Heads [..., size] as matrices [..., size, size] with a 1 at [h, m] for each arc h → m."""
    size = heads.shape[-1]
    candidates = torch.arange(size, device=heads.device)[:, None]
    modifiers = torch.arange(size, device=heads.device)
    return ((heads[..., None, :] == candidates) & (modifiers > 0)).to(dtype)


def is_tree(heads: Tensor, lengths: Tensor, *, single_root: bool, projective: bool) -> Tensor:
    """Whether heads [..., B, size] are trees, [..., B]. An unknown head inside the sentence makes none."""
    size = heads.shape[-1]
    position = torch.arange(size, device=heads.device)
    inside = (position > 0) & (position <= lengths[:, None])
    known = (heads >= 0) & (heads <= lengths[:, None])
    heads = torch.where(inside & known, heads, 0)
    result = _reaches_root(heads) & (known | ~inside).all(-1)
    if single_root:
        result &= ((heads == 0) & inside).sum(-1) == 1
    if projective:
        # Arcs as intervals; two cross when one starts strictly inside the other and ends outside of it.
        low, high = torch.minimum(heads, position), torch.maximum(heads, position)
        low, high = torch.where(inside, low, 0), torch.where(inside, high, 0)
        inner = (low[..., :, None] < low[..., None, :]) & (low[..., None, :] < high[..., :, None])
        result &= ~(inner & (high[..., None, :] > high[..., :, None])).flatten(-2).any(-1)
    return result


def _reaches_root(heads: Tensor) -> Tensor:
    """Whether following heads from every word ends at 0; each round doubles the number of steps."""
    size = heads.shape[-1]
    for _ in range(max(1, math.ceil(math.log2(max(2, size))))):
        heads = heads.gather(-1, heads)
    return (heads == 0).all(-1)


def log_number_of_trees(lengths: Tensor, *, single_root: bool, projective: bool, dtype: torch.dtype) -> Tensor:
    """log of the number of trees over n words.

    Projective: C(3n, n) / (2n + 1), with a single root C(3n − 2, n − 1) / n.
    All: (n + 1)^(n − 1), with a single root n^(n − 1).
    """
    n = lengths.double()
    if projective and single_root:
        value = _log_binomial(3 * n - 2, n - 1) - n.log()
    elif projective:
        value = _log_binomial(3 * n, n) - (2 * n + 1).log()
    else:
        value = (n - 1) * (n if single_root else n + 1).log()
    return value.to(dtype)


def _log_binomial(n: Tensor, k: Tensor) -> Tensor:
    return torch.lgamma(n + 1) - torch.lgamma(k + 1) - torch.lgamma(n - k + 1)
