"""Projective trees as torch operators: the CPU kernel behind `torch.library`, the torch path everywhere else.

`soft_trees`, `best_trees`, `sampled_trees` and `k_best_trees` choose the path: the kernel for CPU tensors when Numba is
there, otherwise `chart`. Registered operators are opaque to `torch.compile`, so a caller's graph does not break on them. Arguments are
taken as checked (`arguments.py`).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from . import chart
from .chart import BEST, LOG, RELAXED
from .kernels import kbest as kbest_kernel
from .kernels import threads
from .kernels.compiled import HAVE_NUMBA
from .kernels.trace import BEST_SPLIT, trace

if HAVE_NUMBA:
    from .kernels import projective as kernel
    from .kernels.simd import LANES
else:
    LANES = 1


def has_kernel(scores: Tensor) -> bool:
    return HAVE_NUMBA and scores.device.type == "cpu"


def soft_trees(
    scores: Tensor, lengths: Tensor, temperature: float, single_root: bool, view: int
) -> tuple[Tensor, Tensor]:
    """Soft trees [B, size, size] and the goal's weight [B], differentiable in the scores.

    View RELAXED is the paper's relaxation (its goal weight has no gradient), LOG gives marginals and log Z.
    """
    if has_kernel(scores):
        soft, weight, _, _ = _soft_trees(scores, lengths, 1.0 / temperature, single_root, view)
        return soft, weight
    return chart.soft_trees(scores, lengths, 1.0 / temperature, single_root, view)


def best_trees(scores: Tensor, lengths: Tensor, single_root: bool) -> tuple[Tensor, Tensor]:
    """Heads [B, size] of the best trees and their weights [B], -1 and -inf where a mask leaves no tree."""
    heads, weight = _decoded(scores.detach(), lengths, scores.new_empty(0), single_root)
    return heads[0], weight


def sampled_trees(scores: Tensor, lengths: Tensor, uniforms: Tensor, single_root: bool) -> Tensor:
    """Heads [S, B, size] of exact samples, from uniform numbers [S, B, 2·words]."""
    return _decoded(scores.detach(), lengths, uniforms, single_root)[0]


def k_best_trees(scores: Tensor, lengths: Tensor, k: int, single_root: bool) -> tuple[Tensor, Tensor]:
    """Heads [k, B, size] and weights [k, B] of the k best trees, -1 and -inf where there are fewer."""
    return _k_best(scores.detach(), lengths, k, single_root)


def _lanes(lengths: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Lengths, and the order of the sentences in the lanes: from long to short, -1 in empty lanes."""
    words = lengths.numpy()
    order = np.full(-(-words.size // LANES) * LANES, -1, np.int64)
    order[: words.size] = np.argsort(-words, kind="stable")
    return words, order


def _cost(words: np.ndarray) -> float:
    return float((words.astype(np.float64) ** 3).sum())


def _chart_shape(scores: Tensor) -> tuple[int, int]:
    batch, size, _ = scores.shape
    return (batch + LANES - 1) // LANES, size * size * LANES


@torch.library.custom_op("softparse::soft_trees", mutates_args=(), device_types="cpu")
def _soft_trees(
    scores: Tensor, lengths: Tensor, scale: float, single_root: bool, view: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Soft trees, goal weights, and the charts that the backward pass reads."""
    values = scores.detach().contiguous().numpy()
    words, order = _lanes(lengths)
    groups, room = _chart_shape(scores)
    # Zeroed, although the kernel fills all it reads: outputs of an operator are to be the same at every call.
    wide = torch.zeros(kernel.WIDE_CHARTS, groups, room, dtype=torch.float64)
    thin = torch.zeros(kernel.THIN_CHARTS, groups, room, dtype=scores.dtype)
    soft = torch.zeros(scores.shape, dtype=scores.dtype)
    weight = torch.empty(scores.shape[0], dtype=torch.float64)
    arrays = wide.numpy(), thin.numpy(), soft.numpy(), weight.numpy()

    def task(start: int, step: int) -> None:
        kernel.forward(values.dtype, start, step, values, words, order, scale, int(single_root), view, *arrays)

    threads.run(task, groups, _cost(words))
    return soft, weight.to(scores.dtype, copy=True), wide, thin


@_soft_trees.register_fake
def _(scores, lengths, scale, single_root, view):
    groups, room = _chart_shape(scores)
    return (
        torch.empty_like(scores, memory_format=torch.contiguous_format),
        scores.new_empty(scores.shape[0]),
        scores.new_empty((3, groups, room), dtype=torch.float64),
        scores.new_empty((4, groups, room)),
    )


@torch.library.custom_op("softparse::soft_trees_backward", mutates_args=(), device_types="cpu")
def _soft_trees_backward(
    gradient: Tensor, lengths: Tensor, scale: float, single_root: bool, view: int, wide: Tensor, thin: Tensor
) -> Tensor:
    """dL/dW from dL/dT, by the analytic backward pass."""
    slopes = gradient.detach().contiguous().numpy()
    words, order = _lanes(lengths)
    result = torch.zeros(gradient.shape, dtype=gradient.dtype)
    arrays = wide.numpy(), thin.numpy(), result.numpy()

    def task(start: int, step: int) -> None:
        kernel.backward(slopes.dtype, start, step, slopes, words, order, scale, int(single_root), view, *arrays)

    threads.run(task, order.size // LANES, _cost(words))
    return result


@_soft_trees_backward.register_fake
def _(gradient, lengths, scale, single_root, view, wide, thin):
    return torch.empty_like(gradient, memory_format=torch.contiguous_format)


def _setup(ctx, inputs, output):
    scores, lengths, ctx.scale, ctx.single_root, ctx.view = inputs
    ctx.save_for_backward(scores, lengths, *output)
    ctx.set_materialize_grads(False)


def _differentiate(ctx, soft_gradient, weight_gradient, wide_gradient, thin_gradient):
    scores, lengths, soft, _, wide, thin = ctx.saved_tensors
    result = None
    if soft_gradient is not None:
        if torch.is_grad_enabled():  # a second derivative is wanted: autograd through the torch path
            again, _ = chart.soft_trees(scores, lengths, ctx.scale, ctx.single_root, ctx.view)
            (result,) = torch.autograd.grad(again, scores, soft_gradient, create_graph=True)
        else:
            result = _soft_trees_backward(soft_gradient, lengths, ctx.scale, ctx.single_root, ctx.view, wide, thin)
    if weight_gradient is not None and ctx.view == LOG:
        # The marginals are the gradient of log Z; as a saved output they carry their own gradient on.
        slope = weight_gradient[:, None, None] * soft * ctx.scale
        result = slope if result is None else result + slope
    return result, None, None, None, None


torch.library.register_autograd(_soft_trees, _differentiate, setup_context=_setup)


@torch.library.custom_op("softparse::decode", mutates_args=())
def _decoded(scores: Tensor, lengths: Tensor, uniforms: Tensor, single_root: bool) -> tuple[Tensor, Tensor]:
    """Best trees (no uniform numbers) or samples, and the goal's weights. Weights are compared in float64."""
    batch, size, _ = scores.shape
    view = LOG if uniforms.dim() == 3 else BEST
    if view == BEST:
        numbers = np.full((1, batch, 2 * size), BEST_SPLIT)
    else:
        numbers = uniforms.double().cpu().contiguous().numpy()
    heads = np.full((numbers.shape[0], batch, size), -1, np.int64)
    weight = np.empty(batch)
    if has_kernel(scores):
        values = scores.detach().double().contiguous().numpy()
        words, order = _lanes(lengths)

        def task(start: int, step: int) -> None:
            kernel.decode(
                values.dtype, start, step, values, words, order, int(single_root), view, numbers, heads, weight
            )

        threads.run(task, order.size // LANES, _cost(words))
    else:
        _decode_charts(scores, lengths, single_root, view, numbers, heads, weight)
    return torch.from_numpy(heads).to(scores.device), torch.from_numpy(weight).to(scores.device)


@_decoded.register_fake
def _(scores, lengths, uniforms, single_root):
    batch, size, _ = scores.shape
    samples = uniforms.shape[0] if uniforms.dim() == 3 else 1
    return scores.new_empty((samples, batch, size), dtype=torch.int64), scores.new_empty(batch, dtype=torch.float64)


def _decode_charts(scores, lengths, single_root, view, numbers, heads, weight) -> None:
    """The same on charts filled by the torch path: matrices [head, reach], traced on the CPU."""
    weights = chart.arc_weights(scores, lengths)
    charts, _ = chart.inside(weights, view)
    weight[:] = chart.goal_weight(weights, charts, lengths, single_root, view).double().cpu().numpy()
    complete = chart.as_matrix(charts.right_by_left, charts.left_by_right)
    incomplete = chart.as_matrix(charts.arc_right, charts.arc_left)
    if single_root:
        incomplete[:, 0] = weights[:, 0]
    pair = chart.as_matrix(charts.pair, charts.pair)  # read above the diagonal only
    flat = [matrix.double().cpu().flatten(1).numpy() for matrix in (complete, incomplete, pair)]
    for sentence, words in enumerate(lengths.tolist()):
        if weight[sentence] > -np.inf:
            for sample in range(heads.shape[0]):
                trace(
                    *(matrix[sentence] for matrix in flat), 0, 1, scores.shape[1], words, int(single_root),
                    weight[sentence], numbers[sample, sentence], heads[sample, sentence],
                )  # fmt: skip


@torch.library.custom_op("softparse::k_best", mutates_args=())
def _k_best(scores: Tensor, lengths: Tensor, k: int, single_root: bool) -> tuple[Tensor, Tensor]:
    batch, size, _ = scores.shape
    values = scores.detach().double().cpu().contiguous().numpy()
    words = lengths.cpu().numpy()
    heads = np.full((k, batch, size), -1, np.int64)
    weight = np.full((k, batch), -np.inf)

    def task(start: int, step: int) -> None:
        kbest_kernel.k_best(values.dtype, start, step, values, words, int(single_root), heads, weight)

    threads.run(task, batch, _cost(words))
    return torch.from_numpy(heads).to(scores.device), torch.from_numpy(weight).to(scores.device)


@_k_best.register_fake
def _(scores, lengths, k, single_root):
    batch, size, _ = scores.shape
    return scores.new_empty((k, batch, size), dtype=torch.int64), scores.new_empty((k, batch), dtype=torch.float64)
