"""The recursion over spans in plain torch, vectorised over the batch and over all items of a width.

It is the oracle of the CPU kernel (`kernels/spans.py` states the recursion), the path of every other device, and the
one that autograd can differentiate as often as wanted. O(n) steps of O(n²) work each, O(n³) memory under autograd.

Items are stored by one end and their width, so that all splits of all items of a width are one slice:
`right_by_left[b, i, w]` is [i cright i+w], found again as `right_by_right[b, i+w, w]`; `left_by_right[b, j, w]` is
[j-w cleft j], found again as `left_by_left[b, j-w, w]`; `arc_right[b, i, w]` and `arc_left[b, j, w]` are the incomplete
items.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .arguments import arcs
from .kernels.views import BEST, LOG


@dataclass
class Charts:
    right_by_left: Tensor
    right_by_right: Tensor
    left_by_right: Tensor
    left_by_left: Tensor
    arc_right: Tensor
    arc_left: Tensor
    pair: Tensor  # by left end and width: the incomplete items without their arc

    @classmethod
    def filled(cls, like: Tensor, value: float) -> Charts:
        return cls(*(torch.full_like(like, value) for _ in range(7)))


def widened(tensor: Tensor) -> Tensor:
    """In float64, where the device has it."""
    return tensor if tensor.device.type == "mps" else tensor.double()


def in_order(terms: Tensor) -> Tensor:
    """The sum over the last dimension, from left to right: zeros at the end change nothing, not even in rounding."""
    return terms.cumsum(-1)[..., -1] if terms.shape[-1] else terms.sum(-1)


def arc_weights(scores: Tensor, lengths: Tensor, scale: float = 1.0) -> tuple[Tensor, Tensor]:
    """Weights in float64, -inf wherever no arc can be, less the best weight of each word; and the sum of those, [B].

    A word has one head, so subtracting from all its arcs changes no choice; but it keeps large common offsets out of
    the sums.
    """
    weights = torch.where(arcs(lengths, scores.shape[1]), widened(scores) * scale, -torch.inf)
    best = weights.detach().amax(1) if weights.numel() else weights.detach().new_zeros(weights.shape[:2])
    best = torch.where(best > -torch.inf, best, 0.0)
    return weights - best[:, None], best.cumsum(1)[:, -1] if weights.numel() else best.new_zeros(len(best))


def choice(weights: Tensor, view: int) -> tuple[Tensor, Tensor]:
    """c and b of items from the weights a of their splits (last dimension). An impossible item has c = -inf, b = 0."""
    best = weights.detach().amax(-1)
    possible = best > -torch.inf
    if view == BEST:
        return best, weights
    origin = torch.where(possible, best, 0.0)
    relative = weights - origin[..., None]
    share = relative.exp()
    total = torch.where(possible, share.sum(-1), 1.0)
    soft = share / total[..., None]
    above = total.log() if view == LOG else (soft * torch.where(share > 0, relative, 0.0)).sum(-1)
    return torch.where(possible, origin + above, -torch.inf), soft


def inside(weights: Tensor, view: int) -> tuple[Charts, list[tuple[Tensor, Tensor, Tensor]]]:
    """Bottom-up: the weight of every item, and b of the pairs, right and left complete items of each width."""
    size = weights.shape[1]
    charts = Charts.filled(weights, -torch.inf)
    for chart in (charts.right_by_left, charts.right_by_right, charts.left_by_right, charts.left_by_left):
        chart[:, :, 0] = 0.0
    choices = []
    for width in range(1, size):
        starts, ends = slice(0, size - width), slice(width, size)
        splits, arcs = slice(0, width), slice(1, width + 1)
        value, pair = choice(
            charts.right_by_left[:, starts, splits] + charts.left_by_right[:, ends, splits].flip(-1), view
        )
        charts.pair[:, starts, width] = value
        charts.arc_right[:, starts, width] = weights.diagonal(width, 1, 2) + value
        charts.arc_left[:, ends, width] = weights.diagonal(-width, 1, 2) + value
        value, right = choice(charts.arc_right[:, starts, arcs] + charts.right_by_right[:, ends, splits].flip(-1), view)
        charts.right_by_left[:, starts, width] = value
        charts.right_by_right[:, ends, width] = value
        value, left = choice(charts.arc_left[:, ends, arcs].flip(-1) + charts.left_by_left[:, starts, splits], view)
        charts.left_by_right[:, ends, width] = value
        charts.left_by_left[:, starts, width] = value
        choices.append((pair, right, left))
    return charts, choices


def goal_splits(weights: Tensor, charts: Charts, lengths: Tensor) -> Tensor:
    """Weights of the trees with each single root, [B, size - 1]; -inf beyond the sentence."""
    size = weights.shape[1]
    root = torch.arange(1, size, device=weights.device)
    reach = (lengths[:, None] - root).clamp(min=0)
    to_the_left = charts.left_by_right[:, root, root - 1]
    to_the_right = charts.right_by_left[:, 1:].gather(2, reach[:, :, None])[:, :, 0]
    return weights[:, 0, 1:] + to_the_left + to_the_right


def goal_weight(weights: Tensor, charts: Charts, lengths: Tensor, single_root: bool, view: int) -> Tensor:
    """Weight of the goal item, [B]."""
    if single_root:
        return choice(goal_splits(weights, charts, lengths), view)[0]
    return charts.right_by_left[:, 0].gather(1, lengths[:, None])[:, 0]


def contributions(
    weights: Tensor, charts: Charts, choices: list[tuple[Tensor, Tensor, Tensor]], lengths: Tensor, single_root: bool
) -> Tensor:
    """Top-down: the soft tree, that is, the contributions of the incomplete items."""
    size = weights.shape[1]
    shares = Charts.filled(weights, 0.0)
    roots = torch.zeros_like(weights[:, 0])
    if single_root:
        _, soft = choice(goal_splits(weights, charts, lengths), LOG)
        roots[:, 1:] = soft
        root = torch.arange(1, size, device=weights.device)
        shares.left_by_right[:, root, root - 1] = soft
        reach = (lengths[:, None] - root).clamp(min=0)
        shares.right_by_left[:, 1:] = torch.zeros_like(weights[:, 1:]).scatter(2, reach[:, :, None], soft[:, :, None])
    else:
        shares.right_by_left[:, 0] = torch.nn.functional.one_hot(lengths, size).to(weights.dtype)
    for width in range(size - 1, 0, -1):
        pair, right, left = choices[width - 1]
        starts, ends = slice(0, size - width), slice(width, size)
        splits, arcs = slice(0, width), slice(1, width + 1)
        share = (shares.right_by_left[:, starts, width] + shares.right_by_right[:, ends, width])[:, :, None] * right
        shares.arc_right[:, starts, arcs] += share
        shares.right_by_right[:, ends, splits] += share.flip(-1)
        share = (shares.left_by_right[:, ends, width] + shares.left_by_left[:, starts, width])[:, :, None] * left
        shares.arc_left[:, ends, arcs] += share.flip(-1)
        shares.left_by_left[:, starts, splits] += share
        share = (shares.arc_right[:, starts, width] + shares.arc_left[:, ends, width])[:, :, None] * pair
        shares.right_by_left[:, starts, splits] += share
        shares.left_by_right[:, ends, splits] += share.flip(-1)
    position = torch.arange(size, device=weights.device)
    is_arc = (position > 0) & (position[:, None] != position)
    soft = torch.where(is_arc, as_matrix(shares.arc_right, shares.arc_left), 0.0)
    return soft + torch.nn.functional.pad(roots[:, None], (0, 0, 0, size - 1))


def as_matrix(to_the_right: Tensor, to_the_left: Tensor) -> Tensor:
    """Items by their head and width, to a matrix [head, other end]."""
    position = torch.arange(to_the_right.shape[1], device=to_the_right.device)
    distance = position - position[:, None]
    index = distance.abs().expand(to_the_right.shape)
    return torch.where(distance >= 0, to_the_right.gather(2, index), to_the_left.gather(2, index))


def soft_trees(scores: Tensor, lengths: Tensor, scale: float, single_root: bool, view: int) -> tuple[Tensor, Tensor]:
    """Soft trees (view RELAXED) or marginals (view LOG), and the weight of the goal, for the scores times `scale`.

    The weight is float64: differences of such sums are what a caller wants.
    """
    if not len(scores):  # and perhaps without words too
        return scores.clone(), widened(scores).sum((1, 2))
    weights, offset = arc_weights(scores, lengths, scale)
    charts, choices = inside(weights, view)
    soft = contributions(weights, charts, choices, lengths, single_root)
    goal = goal_weight(weights, charts, lengths, single_root, view) + offset
    return spoilt(scores, lengths, soft.to(scores.dtype), goal)


def spoilt(scores: Tensor, lengths: Tensor, soft: Tensor, goal: Tensor) -> tuple[Tensor, Tensor]:
    """NaN where an arc of a sentence has it: comparisons pass over it, and what they leave would look sound."""
    on_arcs = arcs(lengths, scores.shape[1])
    is_spoilt = (scores.detach().isnan() & on_arcs).any(-1).any(-1)
    return torch.where(is_spoilt[:, None, None] & on_arcs, torch.nan, soft), torch.where(is_spoilt, torch.nan, goal)
