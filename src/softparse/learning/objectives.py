"""Discriminative losses of a batch of trees: of the arcs, three ways, and of their labels, two ways.

All are sums over the batch. Trees may be partial: an arc loss then is about the completions of what is known.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..corpus.batches import Batch
from ..trees import ProjectiveTrees


def arc_loss(kind: str, scores: Tensor, batch: Batch, single_root: bool) -> Tensor:
    """Of scores [B, n + 1, n + 1] for the batch's heads."""
    assert batch.heads is not None
    if kind == "heads":
        return independent_heads(scores, batch)
    trees = ProjectiveTrees(scores, batch.lengths, single_root=single_root, validate_args=False)
    if kind == "hinge":
        return structured_hinge(trees, batch.heads)
    if bool(((batch.heads >= 0) == batch.is_word).all()):
        # Whole trees, which were checked when they were read: their weights against all others'.
        return trees.log_partition.sum() - _total(scores, batch.heads).sum()
    return -trees.log_prob(batch.heads).sum()


def independent_heads(scores: Tensor, batch: Batch) -> Tensor:
    """Every word chooses its head by a softmax, whatever the others do."""
    assert batch.heads is not None
    size = scores.shape[1]
    position = torch.arange(size, device=scores.device)
    possible = (position <= batch.lengths[:, None])[:, :, None] & (position[:, None] != position)
    known = batch.heads >= 0  # [B, modifier]
    chosen = scores.masked_fill(~possible, -torch.inf).transpose(1, 2)[known]
    return torch.nn.functional.cross_entropy(chosen, batch.heads[known], reduction="sum")


def structured_hinge(trees: ProjectiveTrees, heads: Tensor) -> Tensor:
    """max over trees of (score + number of wrong heads) − the score of the right tree.

    Where heads are unknown, the right tree is the best one that contains the known heads, and any head is right.
    """
    known = heads >= 0
    with torch.no_grad():
        wrong = torch.ones_like(trees.scores)
        wrong.scatter_(1, heads.clamp(min=0)[:, None, :], 0.0)
        wrong = wrong * known[:, None, :]
        augmented = ProjectiveTrees(trees.scores + wrong, trees.lengths, single_root=trees.single_root)
        violator = augmented.mode
        is_partial = (~known[:, 1:] & (trees.mode[:, 1:] >= 0)).any()
        right = trees.given(heads).mode if is_partial else heads
    return (_total(trees.scores + wrong, violator) - _total(trees.scores, right)).clamp(min=0).sum()


def _total(scores: Tensor, heads: Tensor) -> Tensor:
    """The score [B] of trees."""
    values = scores.gather(1, heads.clamp(min=0)[:, None, :])[:, 0]
    return torch.where(heads >= 0, values, 0.0).sum(-1)


def label_loss(kind: str, scores: Tensor, labels: Tensor) -> Tensor:
    """Of label scores [B, n + 1, labels] for gold labels [B, n + 1] (-1 where there is none)."""
    if kind == "cross-entropy":  # of everything, as choosing those with a label takes longer than to compute the others
        flat = scores.flatten(0, 1), labels.flatten()
        return torch.nn.functional.cross_entropy(*flat, ignore_index=-1, reduction="sum")
    known = labels >= 0
    scores, labels = scores[known], labels[known]
    right = scores.gather(1, labels[:, None])[:, 0]
    others = scores.scatter(1, labels[:, None], -torch.inf)
    if others.shape[1] < 2:
        return right.sum() * 0
    return (1 + others.amax(1) - right).clamp(min=0).sum()
