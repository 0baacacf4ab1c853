"""Projective trees as torch operators: the CPU kernel behind `torch.library`, the torch path everywhere else.

`soft_trees`, `best_trees`, `sampled_trees` and `k_best_trees` choose the path: the kernel for CPU tensors when Numba is
there, otherwise `chart`. Registered operators are opaque to `torch.compile`, so a caller's graph does not break on
them; in plain eager mode the same functions are called directly, which saves most of the dispatcher's price.
Arguments are taken as checked (`arguments.py`).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from . import chart
from .arguments import is_transformed, words_of
from .kernels import buffers, threads
from .kernels import kbest as kbest_kernel
from .kernels.checks import spoil
from .kernels.compiled import HAVE_NUMBA
from .kernels.trace import BEST_SPLIT, trace
from .kernels.views import BEST, LOG, THIN_CHARTS, WIDE_CHARTS

if HAVE_NUMBA:
    from .kernels import products
    from .kernels import projective as kernel
    from .kernels.lanes import arrange
    from .kernels.simd import LANES
else:
    LANES = 1


def has_kernel(scores: Tensor) -> bool:
    return HAVE_NUMBA and scores.device.type == "cpu" and not is_transformed(scores)


def soft_trees(
    scores: Tensor, lengths: Tensor, temperature: float, single_root: bool, view: int, keep: bool = True
) -> tuple[Tensor, Tensor]:
    """Soft trees [B, size, size] and the goal's weight [B] (float64), differentiable in the scores.

    View RELAXED is the paper's relaxation (its goal weight has no gradient), LOG gives marginals and log Z. Without
    `keep` there are no charts for the backward pass of the soft trees (they are filled if it comes to that; the
    gradient of log Z does not need them), which lets the kernel work by plain products.
    """
    if has_kernel(scores):
        arguments = (scores, lengths, 1.0 / temperature, single_root, view, keep)
        if not is_eager(scores):
            return _soft_trees(*arguments)[:2]
        if scores.requires_grad and torch.is_grad_enabled():
            return _EagerSoftTrees.apply(*arguments)
        return _forward_eagerly(*arguments[:-1], False)[:2]
    return chart.soft_trees(scores, lengths, 1.0 / temperature, single_root, view)


def best_trees(scores: Tensor, lengths: Tensor, single_root: bool) -> tuple[Tensor, Tensor]:
    """Heads [B, size] of the best trees and their weights [B], -1 and -inf where a mask leaves no tree."""
    run = _decode if is_eager(scores) else _decoded
    heads, weight = run(scores.detach(), lengths, scores.new_empty(0), single_root)
    return heads[0], weight


def sampled_trees(scores: Tensor, lengths: Tensor, uniforms: Tensor, single_root: bool) -> Tensor:
    """Heads [S, B, size] of exact samples, from uniform numbers [S, B, 2·words]."""
    return _decoded(scores.detach(), lengths, uniforms, single_root)[0]


def k_best_trees(scores: Tensor, lengths: Tensor, k: int, single_root: bool) -> Tensor:
    """Heads [k, B, size] of the k best trees, -1 where there are fewer."""
    return _k_best(scores.detach(), lengths, k, single_root)


def _lanes(lengths: Tensor, size: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Lengths, the order of the sentences in the lanes (-1 in empty lanes), and the cost Σ words³."""
    words = lengths.contiguous().numpy()
    order = np.empty(-(-words.size // LANES) * LANES, np.int64)
    cost = arrange(words.dtype, words, size, order)
    if cost < 0:
        words_of(lengths, size)  # says which length is wrong
    return words, order, cost


def _chart_shape(scores: Tensor, keep: bool) -> tuple[int, int]:
    batch, size, _ = scores.shape
    return (batch + LANES - 1) // LANES if keep else 0, size * size * LANES


def is_eager(*tensors: Tensor) -> bool:
    """Whether these are plain tensors that nobody is tracing."""
    return (
        all(type(tensor) in (Tensor, torch.nn.Parameter) for tensor in tensors)
        and not torch.compiler.is_compiling()
        and not any(map(torch._C._functorch.is_functorch_wrapped_tensor, tensors))
        # Many gradients at once, as autograd.functional.jacobian(vectorize=True) asks for, look like one.
        and not any(map(torch._C._functorch.is_legacy_batchedtensor, tensors))
        and torch._C._len_torch_dispatch_stack() == 0
    )


def _forward(
    scores: Tensor, lengths: Tensor, scale: float, single_root: bool, view: int, keep: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Soft trees, goal weights, and the charts that the backward pass reads (none without `keep`)."""
    groups, room = _chart_shape(scores, keep)
    # The kernel fills all that it reads, but the outputs of an operator are to be the same at every call.
    wide = np.zeros((WIDE_CHARTS, groups, room))
    thin = np.zeros((THIN_CHARTS, groups, room), _dtype(scores))
    return _fill(scores, lengths, scale, single_root, view, keep, wide, thin)


def _forward_eagerly(
    scores: Tensor, lengths: Tensor, scale: float, single_root: bool, view: int, keep: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The same in memory that has been used before."""
    groups, room = _chart_shape(scores, keep)
    wide = buffers.take((WIDE_CHARTS, groups, room), np.float64)
    thin = buffers.take((THIN_CHARTS, groups, room), _dtype(scores))
    return _fill(scores, lengths, scale, single_root, view, keep, wide, thin)


def _dtype(scores: Tensor) -> np.dtype:
    return np.dtype(np.float32 if scores.dtype == torch.float32 else np.float64)


def _fill(
    scores: Tensor, lengths: Tensor, scale: float, single_root: bool, view: int, keep: bool, *kept: np.ndarray
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    values = scores.detach().contiguous().numpy()
    soft, weight = np.zeros_like(values), np.empty(len(values))
    if view == LOG and not keep:
        _fill_by_products(values, lengths, scale, single_root, soft, weight)
    else:
        _fill_charts(values, lengths, scale, single_root, view, keep, soft, weight, *kept)
    spoil(values.dtype, values, lengths.contiguous().numpy(), soft, weight)
    results = soft, weight, *kept
    return tuple(torch.from_numpy(result) for result in results)  # type: ignore[return-value]


def _fill_by_products(values, lengths, scale, single_root, soft, weight) -> None:
    """Marginals and log Z where no charts are wanted: by products, and in log space for the sentences they fail for."""
    words, order, cost = _lanes(lengths, values.shape[1])
    room = values.shape[1] ** 2 * LANES

    def task(start: int, step: int) -> None:
        with buffers.borrowed(8 * products.CHARTS * room) as memory:
            charts = memory[: 8 * products.CHARTS * room].view(np.float64).reshape(products.CHARTS, room)
            products.marginals(
                values.dtype, start, step, values, words, order, scale, int(single_root), charts, soft, weight
            )

    threads.run(task, order.size // LANES, cost / products.LIGHTER)
    failed = np.flatnonzero(np.isnan(weight))
    if failed.size:
        some_soft, some_weight = soft[failed], weight[failed]
        some_lengths = lengths[torch.from_numpy(failed)]
        _fill_charts(values[failed], some_lengths, scale, single_root, LOG, False, some_soft, some_weight)
        soft[failed], weight[failed] = some_soft, some_weight


def _fill_charts(values, lengths, scale, single_root, view, keep, soft, weight, *kept: np.ndarray) -> None:
    words, order, cost = _lanes(lengths, values.shape[1])
    room = values.shape[1] ** 2 * LANES

    def run(start: int, step: int, wide: np.ndarray, thin: np.ndarray) -> None:
        kernel.forward(
            values.dtype, start, step, values, words, order, scale, int(single_root), view, wide, thin, soft, weight
        )

    def task(start: int, step: int) -> None:
        if keep:
            run(start, step, *kept)
            return
        wide_size, thin_size = 8 * WIDE_CHARTS * room, values.itemsize * THIN_CHARTS * room
        with buffers.borrowed(wide_size + thin_size) as memory:
            wide = memory[:wide_size].view(np.float64).reshape(WIDE_CHARTS, 1, room)
            thin = memory[wide_size : wide_size + thin_size].view(values.dtype).reshape(THIN_CHARTS, 1, room)
            run(start, step, wide, thin)

    threads.run(task, order.size // LANES, cost)


def _backward(
    gradient: Tensor, lengths: Tensor, scale: float, single_root: bool, view: int, wide: Tensor, thin: Tensor
) -> Tensor:
    """dL/dW from dL/dT, by the analytic backward pass."""
    slopes = gradient.detach().contiguous().numpy()
    words, order, cost = _lanes(lengths, gradient.shape[1])
    result = np.zeros_like(slopes)
    charts = wide.numpy(), thin.numpy()

    def task(start: int, step: int) -> None:
        kernel.backward(slopes.dtype, start, step, slopes, words, order, scale, int(single_root), view, *charts, result)

    threads.run(task, order.size // LANES, cost)
    return torch.from_numpy(result)


_soft_trees = torch.library.custom_op("softparse::soft_trees", _forward, mutates_args=(), device_types="cpu")
_soft_trees_backward = torch.library.custom_op(
    "softparse::soft_trees_backward", _backward, mutates_args=(), device_types="cpu"
)


@_soft_trees.register_fake
def _(scores, lengths, scale, single_root, view, keep):
    groups, room = _chart_shape(scores, keep)
    return (
        torch.empty_like(scores, memory_format=torch.contiguous_format),
        scores.new_empty(scores.shape[0], dtype=torch.float64),
        scores.new_empty((WIDE_CHARTS, groups, room), dtype=torch.float64),
        scores.new_empty((THIN_CHARTS, groups, room)),
    )


@_soft_trees_backward.register_fake
def _(gradient, lengths, scale, single_root, view, wide, thin):
    return torch.empty_like(gradient, memory_format=torch.contiguous_format)


def _setup(ctx, inputs, output) -> None:
    scores, lengths, ctx.scale, ctx.single_root, ctx.view, ctx.keep = inputs
    soft, _, wide, thin = output
    # A relaxed tree is not needed again, and its owner may change it.
    ctx.save_for_backward(scores, lengths, soft if ctx.view == LOG else None, wide, thin)
    ctx.set_materialize_grads(False)


def _differentiate(ctx, soft_gradient, weight_gradient, *charts_have_none):
    scores, lengths, soft, wide, thin = ctx.saved_tensors
    result = None
    if soft_gradient is not None:
        if torch.is_grad_enabled():  # a second derivative is wanted: autograd through the torch path
            again, _ = chart.soft_trees(scores, lengths, ctx.scale, ctx.single_root, ctx.view)
            (result,) = torch.autograd.grad(again, scores, soft_gradient, create_graph=True)
        else:
            eager = is_eager(soft_gradient, wide)
            if not ctx.keep:
                fill = _forward_eagerly if eager else _soft_trees
                wide, thin = fill(scores, lengths, ctx.scale, ctx.single_root, ctx.view, True)[2:]
            run = _backward if eager else _soft_trees_backward
            result = run(soft_gradient, lengths, ctx.scale, ctx.single_root, ctx.view, wide, thin)
    if weight_gradient is not None and ctx.view == LOG:
        # The marginals are the gradient of log Z; as a saved output they carry their own gradient on.
        if torch.is_grad_enabled() or not is_eager(weight_gradient, soft):
            slope = (weight_gradient * ctx.scale).to(soft.dtype)[:, None, None] * soft
        else:  # not with torch's threads, which would go on spinning on the cores that the next kernel needs
            marginals = soft.detach().numpy()
            factor = (weight_gradient.numpy() * ctx.scale).astype(marginals.dtype)
            slope = torch.from_numpy(factor[:, None, None] * marginals)
        result = slope if result is None else result + slope
    return result, None, None, None, None, None


torch.library.register_autograd(_soft_trees, _differentiate, setup_context=_setup)


class _EagerSoftTrees(torch.autograd.Function):
    """The same operator without the dispatcher."""

    @staticmethod
    def forward(ctx, *inputs):
        results = _forward_eagerly(*inputs)
        _setup(ctx, inputs, results)
        return results[:2]

    @staticmethod
    def backward(ctx, *gradients):
        return _differentiate(ctx, *gradients)


def _decode(scores: Tensor, lengths: Tensor, uniforms: Tensor, single_root: bool) -> tuple[Tensor, Tensor]:
    """Best trees (no uniform numbers) or samples, and the goal's weights. Weights are compared in float64."""
    batch, size, _ = scores.shape
    view = LOG if uniforms.dim() == 3 else BEST
    if view == BEST:
        numbers = np.full((1, batch, 2 * size), BEST_SPLIT)
    else:
        numbers = uniforms.double().cpu().contiguous().numpy()
    heads = np.full((numbers.shape[0], batch, size), -1, np.int64)
    weight = np.empty(batch)
    device, scores, lengths = scores.device, scores.detach().cpu(), lengths.cpu()
    if has_kernel(scores):
        values = scores.double().contiguous().numpy()
        words, order, cost = _lanes(lengths, size)

        def task(start: int, step: int) -> None:
            kernel.decode(
                values.dtype, start, step, values, words, order, int(single_root), view, numbers, heads, weight
            )

        threads.run(task, order.size // LANES, cost)
    elif batch:
        _decode_charts(scores, lengths, single_root, view, numbers, heads, weight)
    return torch.from_numpy(heads).to(device), torch.from_numpy(weight).to(device)


_decoded = torch.library.custom_op("softparse::decode", _decode, mutates_args=())


@_decoded.register_fake
def _(scores, lengths, uniforms, single_root):
    batch, size, _ = scores.shape
    samples = uniforms.shape[0] if uniforms.dim() == 3 else 1
    return scores.new_empty((samples, batch, size), dtype=torch.int64), scores.new_empty(batch, dtype=torch.float64)


def _decode_charts(scores, lengths, single_root, view, numbers, heads, weight) -> None:
    """The same on charts filled by the torch path: matrices [head, reach]."""
    weights, offset = chart.arc_weights(scores, lengths)
    charts, _ = chart.inside(weights, view)
    goal = chart.goal_weight(weights, charts, lengths, single_root, view)
    weight[:] = (goal + offset).numpy()
    complete = chart.as_matrix(charts.right_by_left, charts.left_by_right)
    incomplete = chart.as_matrix(charts.arc_right, charts.arc_left)
    if single_root:
        incomplete[:, 0] = weights[:, 0]
    pair = chart.as_matrix(charts.pair, charts.pair)  # read above the diagonal only
    flat = [matrix.flatten(1).numpy() for matrix in (complete, incomplete, pair)]
    for sentence, words in enumerate(lengths.tolist()):
        if weight[sentence] > -np.inf:
            for sample in range(heads.shape[0]):
                trace(
                    *(matrix[sentence] for matrix in flat), 0, 1, scores.shape[1], words, int(single_root),
                    goal[sentence].item(), numbers[sample, sentence], heads[sample, sentence],
                )  # fmt: skip


@torch.library.custom_op("softparse::k_best", mutates_args=())
def _k_best(scores: Tensor, lengths: Tensor, k: int, single_root: bool) -> Tensor:
    batch, size, _ = scores.shape
    words = words_of(lengths, size)
    values = chart.arc_weights(scores.detach().cpu(), lengths.cpu())[0].contiguous().numpy()
    heads = np.full((k, batch, size), -1, np.int64)

    def task(start: int, step: int) -> None:
        kbest_kernel.k_best(values.dtype, start, step, values, words, int(single_root), heads)

    threads.run(task, batch, float((words.astype(np.float64) ** 3).sum()))
    return torch.from_numpy(heads).to(scores.device)


@_k_best.register_fake
def _(scores, lengths, k, single_root):
    batch, size, _ = scores.shape
    return scores.new_empty((k, batch, size), dtype=torch.int64)
