"""Sums over non-projective trees by elimination in log space.

The matrix-tree theorem turns the sum over all trees into a determinant of a Laplacian. Its elimination can be
done without a single subtraction (Grassmann, Taksar & Heyman): to eliminate word k is to let every word that k
heads be headed by k's own candidates instead,

    w(h, m) ← logaddexp(w(h, m), w(h, k) + w(k, m) − d_k),    d_k = logsumexp over the remaining heads h of w(h, k),

and log Z = Σ_k d_k. Nothing cancels, so scores that differ by thousands do no harm, where a determinant breaks once two
words prefer each other by 40.

With a single root, Z = Σ_r exp(w(0, r))·τ_r where τ_r sums the trees over words alone that hang from r. Eliminating
all words but one, s, gives log τ_s = Σ d_k, and by the Markov chain tree theorem τ is proportional to the stationary
distribution π of the chain that walks from a word to a head; going back through the elimination,
π_k = Σ_h π_h·exp(w(k, h) − d_k) over the words h that were left. A word whose only possible head is the root cannot be
eliminated there, so each step takes the word with the greatest d.
"""

from __future__ import annotations

import torch
from torch import Tensor


def logsumexp(weights: Tensor, dim: int) -> Tensor:
    """As torch's, with gradient 0 where everything is -inf."""
    best = weights.detach().amax(dim, keepdim=True)
    possible = best > -torch.inf
    total = (weights - torch.where(possible, best, 0.0)).exp().sum(dim, keepdim=True)
    value = torch.where(possible, total, 1.0).log() + torch.where(possible, best, 0.0)
    return torch.where(possible, value, -torch.inf).squeeze(dim)


def logaddexp(left: Tensor, right: Tensor) -> Tensor:
    return logsumexp(torch.stack((left, right)), 0)


def log_partition(weights: Tensor, lengths: Tensor, single_root: bool) -> Tensor:
    """log Z [B] for arc weights [B, size, size] (-inf where there is no arc)."""
    if not len(weights):  # and perhaps without words too
        return weights.sum((1, 2))
    return _single_root(weights, lengths) if single_root else _multi_root(weights, lengths)


def _with_padding(weights: Tensor, lengths: Tensor, anchor: int) -> Tensor:
    """Hang the words beyond each sentence from `anchor` with weight 0: they add a factor of 1."""
    beyond = torch.arange(weights.shape[1], device=weights.device) > lengths[:, None]
    padded = weights.clone()
    padded[:, anchor] = torch.where(beyond, 0.0, weights[:, anchor])
    return padded


def _multi_root(weights: Tensor, lengths: Tensor) -> Tensor:
    weights = _with_padding(weights, lengths, 0)
    total = weights.new_zeros(weights.shape[0])
    while (words := weights.shape[1] - 1) > 0:
        into, out = weights[:, :words, words], weights[:, words, :words]
        outgoing = logsumexp(into, 1)
        total = total + outgoing
        share = into - torch.where(outgoing > -torch.inf, outgoing, 0.0)[:, None]
        weights = _fill(weights[:, :words, :words], share[:, :, None] + out[:, None, :])
    return total


def _fill(weights: Tensor, through: Tensor) -> Tensor:
    """Add the ways through an eliminated word; a way from a word to itself is a cycle and counts for nothing."""
    cycle = torch.eye(weights.shape[1], dtype=torch.bool, device=weights.device)
    return logaddexp(weights, through.masked_fill(cycle, -torch.inf))


def _single_root(weights: Tensor, lengths: Tensor) -> Tensor:
    batch, size, _ = weights.shape
    rows = torch.arange(batch, device=weights.device)
    roots, words = weights[:, 0, 1:], _with_padding(weights, lengths, 1)[:, 1:, 1:]
    total = weights.new_zeros(batch)
    gone = torch.zeros(batch, size - 1, dtype=torch.bool, device=weights.device)
    steps: list[tuple[Tensor, Tensor, Tensor]] = []
    for _ in range(size - 2):
        outgoing = logsumexp(words, 1)  # of every word that is left, over the heads that are left
        pivot = outgoing.detach().masked_fill(gone, -torch.inf).argmax(1)
        # Among words that cannot be eliminated argmax may name one that is gone; there is no tree then.
        degree = outgoing[rows, pivot].masked_fill(gone[rows, pivot], -torch.inf)
        into, out = words[rows, :, pivot], words[rows, pivot]
        share = into - torch.where(degree > -torch.inf, degree, 0.0)[:, None]
        total = total + degree
        steps.append((pivot, degree, out))
        gone = gone.scatter(1, pivot[:, None], True)
        words = _fill(words, share[:, :, None] + out[:, None, :])
        words = words.masked_fill(gone[:, :, None] | gone[:, None, :], -torch.inf)
    last = (~gone).to(torch.int8).argmax(1)
    place = torch.arange(size - 1, device=weights.device)
    stationary = torch.where(last[:, None] == place, 0.0, -torch.inf).to(weights.dtype)
    for pivot, degree, out in reversed(steps):
        value = logsumexp(stationary + out, 1) - torch.where(degree > -torch.inf, degree, 0.0)
        stationary = torch.where(pivot[:, None] == place, value[:, None], stationary)
    return total + logsumexp(roots + stationary, 1)
