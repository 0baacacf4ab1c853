"""Marginals and log Z of non-projective trees, differentiable: the CPU kernel, or the torch path of `matrix_tree`."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from . import chart, matrix_tree, operators
from .arguments import is_transformed, words_of
from .kernels import threads
from .kernels.checks import spoil
from .kernels.elimination import sum_trees


def tree_sums(scores: Tensor, lengths: Tensor, temperature: float, single_root: bool) -> tuple[Tensor, Tensor]:
    """Marginals [B, size, size] and log Z [B] (float64) of the scores divided by the temperature."""
    if torch.compiler.is_compiling():
        from .uncompiled import tree_sums as stays_as_it_is

        return stays_as_it_is(scores, lengths, temperature, single_root)
    return sums_now(scores, lengths, temperature, single_root)


def sums_now(scores: Tensor, lengths: Tensor, temperature: float, single_root: bool) -> tuple[Tensor, Tensor]:
    """The same, not to be compiled."""
    if torch.autograd.forward_ad._current_level >= 0:
        raise NotImplementedError("non-projective trees have no forward-mode derivatives; use backward()")
    if operators.has_kernel(scores):
        return _TreeSums.apply(scores, lengths, 1.0 / temperature, single_root)
    if is_transformed(scores):
        return _by_transformation(scores, lengths, 1.0 / temperature, single_root)
    marginals, log_partition = _by_autograd(scores, lengths, 1.0 / temperature, single_root)
    if scores.requires_grad and torch.is_grad_enabled():
        return marginals, log_partition
    return marginals.detach(), log_partition.detach()


def _by_transformation(scores: Tensor, lengths: Tensor, scale: float, single_root: bool) -> tuple[Tensor, Tensor]:
    """The same inside of `torch.func`, where tensors cannot be told to require gradients."""

    def total(weights: Tensor) -> tuple[Tensor, Tensor]:
        log_partition = matrix_tree.log_partition(weights, lengths, single_root)
        return log_partition.sum(), log_partition

    weights, offset = chart.arc_weights(scores, lengths, scale)
    marginals, log_partition = torch.func.grad(total, has_aux=True)(weights)
    return chart.spoilt(scores, lengths, marginals.to(scores.dtype), log_partition + offset)


def _by_autograd(scores: Tensor, lengths: Tensor, scale: float, single_root: bool) -> tuple[Tensor, Tensor]:
    """The torch path: marginals as the gradient of log Z, with a graph of their own."""
    with torch.inference_mode(False), torch.enable_grad():
        source = scores if scores.requires_grad else scores.detach().clone().requires_grad_()
        weights, offset = chart.arc_weights(source, lengths, scale)
        log_partition = matrix_tree.log_partition(weights, lengths, single_root)
        (marginals,) = torch.autograd.grad(log_partition.sum(), weights, create_graph=True)
    return chart.spoilt(scores, lengths, marginals.to(scores.dtype), log_partition + offset)


class _TreeSums(torch.autograd.Function):
    """The kernel gives log Z with its gradient; the gradient of the marginals goes through the torch path."""

    @staticmethod
    def forward(ctx, scores, lengths, scale, single_root):
        words = words_of(lengths, scores.shape[1])
        weights, offset = chart.arc_weights(scores.detach(), lengths, scale)
        values = weights.contiguous().numpy()
        marginals, log_partition = np.zeros_like(values), np.empty(len(words))

        def task(start: int, step: int) -> None:
            sum_trees(values.dtype, start, step, values, words, int(single_root), marginals, log_partition)

        threads.run(task, len(words), 10 * float((words.astype(np.float64) ** 3).sum()))
        spoil(values.dtype, values, words, marginals, log_partition)
        results = torch.from_numpy(marginals).to(scores.dtype), torch.from_numpy(log_partition) + offset
        ctx.save_for_backward(scores, lengths, results[0])
        ctx.scale, ctx.single_root = scale, single_root
        ctx.set_materialize_grads(False)
        return results

    @staticmethod
    def backward(ctx, marginals_gradient, log_partition_gradient):
        scores, lengths, marginals = ctx.saved_tensors
        result = None
        if marginals_gradient is not None:
            again = torch.is_grad_enabled()
            with torch.enable_grad():
                source = scores if again else scores.detach().requires_grad_()
                output, _ = _by_autograd(source, lengths, ctx.scale, ctx.single_root)
                (result,) = torch.autograd.grad(output, source, marginals_gradient, create_graph=again)
        if log_partition_gradient is not None:
            slope = (log_partition_gradient * ctx.scale).to(marginals.dtype)[:, None, None] * marginals
            result = slope if result is None else result + slope
        return result, None, None, None
