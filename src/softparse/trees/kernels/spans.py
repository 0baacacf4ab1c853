"""The recursion over spans, for `LANES` sentences side by side: one recursion, four passes.

A chart is a flat array of shape [size, size, LANES] (size = words + 1). `complete[h, m]` is the item headed by h
that reaches m: [h cright m] when h < m, [m cleft h] when m < h. `incomplete[h, m]` is the item that has just built
the arc h → m. Every item of width w chooses among w splits, and split k has the weight a_k = left_k + right_k:

    pair (i, j)     left = complete[i, i..j-1],    right = complete[j, i+1..j]    incomplete[i, j] and [j, i]
    [i cright j]    left = incomplete[i, i+1..j],  right = complete[i+1..j, j]    complete[i, j]
    [i cleft j]     left = incomplete[j, i..j-1],  right = complete[i..j-1, i]    complete[j, i]

(the two incomplete items over a pair share their splits, hence their choice). The views differ only in the choice:

    BEST      c = max_k a_k                             Eisner
    LOG       c = logsumexp a,      b = exp(a − c)      conditional random field
    RELAXED   c = Σ_k b_k·a_k,      b = softmax(a)      Corro & Titov

No b is ever stored: charts keep c and δ = c − logsumexp a, so that b_k = exp(a_k − c + δ) can be computed again. That
is what keeps memory at O(n²); time is O(n³). Weights (c, a) are float64 whatever the caller's dtype, since they grow
with the sentence while only differences matter; b, contributions and gradients have the caller's dtype.

An impossible item has c = −inf; its b is 0. `first` is 0 when the root takes part in the recursion (several roots)
and 1 when it is chosen after it (single root).
"""

from __future__ import annotations

from .compiled import inlined
from .simd import (
    LANES,
    any_nonzero,
    exponential,
    fused,
    load,
    logarithm,
    maximum,
    narrow,
    splat,
    store,
    where_possible,
    widen,
)
from .views import BEST, LOG


@inlined
def at(row, column, size):
    """Offset of a chart cell."""
    return (row * size + column) * LANES


@inlined
def choose(left, left_at, left_step, right, right_at, right_step, splits, view, like):
    """c and δ of an item, from the weights of its splits."""
    best = load(left, left_at) + load(right, right_at)
    for k in range(1, splits):
        best = maximum(best, load(left, left_at + k * left_step) + load(right, right_at + k * right_step))
    zero = splat(0.0, like)
    if view == BEST:
        return best, zero
    origin = where_possible(best, best, splat(0.0, left))  # −inf − (−inf) is not a number
    if view == LOG:
        total = zero
        for k in range(splits):
            weight = load(left, left_at + k * left_step) + load(right, right_at + k * right_step)
            total = total + exponential(narrow(weight - origin, like))
        total = where_possible(best, total, splat(1.0, like))
        return best + widen(logarithm(total)), zero
    lowest = splat(_LOWEST, like)
    total, moment = zero, zero
    for k in range(splits):
        weight = load(left, left_at + k * left_step) + load(right, right_at + k * right_step)
        # An exponential below the lowest argument is 0, so the clamp only keeps 0 · −inf from appearing.
        relative = maximum(narrow(weight - origin, like), lowest)
        share = exponential(relative)
        total = total + share
        moment = fused(share, relative, moment)
    total = where_possible(best, total, splat(1.0, like))
    mean = moment / total
    return best + widen(mean), mean - logarithm(total)


_LOWEST = -1000.0


@inlined
def inside(complete, incomplete, pair, complete_delta, pair_delta, words, first, view):
    """Bottom-up: the weight of every item. `incomplete` holds the arc weights on entry."""
    size = words + 1
    row = size * LANES
    for i in range(first, size):
        store(complete, at(i, i, size), splat(0.0, complete))
    for width in range(1, size):
        for i in range(first, size - width):
            j = i + width
            right_arc, left_arc = at(i, j, size), at(j, i, size)
            weight, delta = choose(
                complete, at(i, i, size), LANES, complete, at(j, i + 1, size), LANES, width, view, pair_delta
            )
            store(pair, right_arc, weight)
            store(pair_delta, right_arc, delta)
            store(incomplete, right_arc, load(incomplete, right_arc) + weight)
            store(incomplete, left_arc, load(incomplete, left_arc) + weight)
            weight, delta = choose(
                incomplete, at(i, i + 1, size), LANES, complete, at(i + 1, j, size), row, width, view, pair_delta
            )
            store(complete, right_arc, weight)
            store(complete_delta, right_arc, delta)
            if i > 0:
                weight, delta = choose(
                    incomplete, left_arc, LANES, complete, at(i, i, size), row, width, view, pair_delta
                )
                store(complete, left_arc, weight)
                store(complete_delta, left_arc, delta)


@inlined
def split_weight(left, left_at, right, right_at, weight, like):
    """a_k − c."""
    return narrow(load(left, left_at) + load(right, right_at) - weight, like)


@inlined
def spread(
    left, left_at, left_step, right, right_at, right_step, splits, weight, delta, contribution, to_left, to_right
):
    """Hand an item's contribution down to its antecedents, b_k of it to those of split k."""
    weight = where_possible(weight, weight, splat(0.0, left))
    for k in range(splits):
        one, other = left_at + k * left_step, right_at + k * right_step
        share = exponential(split_weight(left, one, right, other, weight, to_left) + delta) * contribution
        store(to_left, one, load(to_left, one) + share)
        store(to_right, other, load(to_right, other) + share)


@inlined
def contributions(
    complete, incomplete, pair, complete_delta, pair_delta, complete_share, incomplete_share, words, first
):
    """Top-down: how much each item takes part in the tree. The shares of the goal are in place on entry.

    The share of incomplete[h, m] is the soft arc h → m.
    """
    size = words + 1
    row = size * LANES
    for width in range(words, 0, -1):
        for i in range(first, size - width):
            j = i + width
            right_arc, left_arc = at(i, j, size), at(j, i, size)
            share = load(complete_share, right_arc)
            if any_nonzero(share):
                spread(
                    incomplete, at(i, i + 1, size), LANES, complete, at(i + 1, j, size), row, width,
                    load(complete, right_arc), load(complete_delta, right_arc), share, incomplete_share, complete_share,
                )  # fmt: skip
            share = load(complete_share, left_arc)
            if i > 0 and any_nonzero(share):
                spread(
                    incomplete, left_arc, LANES, complete, at(i, i, size), row, width,
                    load(complete, left_arc), load(complete_delta, left_arc), share, incomplete_share, complete_share,
                )  # fmt: skip
            share = load(incomplete_share, right_arc) + load(incomplete_share, left_arc)
            if any_nonzero(share):
                spread(
                    complete, at(i, i, size), LANES, complete, at(j, i + 1, size), LANES, width,
                    load(pair, right_arc), load(pair_delta, right_arc), share, complete_share, complete_share,
                )  # fmt: skip


@inlined
def collect(left, left_at, left_step, right, right_at, right_step, splits, weight, delta, of_left, of_right):
    """Σ_k b_k · (g of the left antecedent + g of the right one)."""
    weight = where_possible(weight, weight, splat(0.0, left))
    total = splat(0.0, of_left)
    for k in range(splits):
        one, other = left_at + k * left_step, right_at + k * right_step
        choice = exponential(split_weight(left, one, right, other, weight, of_left) + delta)
        total = fused(choice, load(of_left, one) + load(of_right, other), total)
    return total


@inlined
def contributions_backward(
    complete, incomplete, pair, complete_delta, pair_delta, complete_slope, incomplete_slope, pair_slope, words, first
):
    """Bottom-up: g, the gradient of each item's contribution. `incomplete_slope` holds dL/dT on entry.

    Only the terms below an item are summed: g of incomplete[h, m] is dL/dT[h, m] plus `pair_slope`.
    """
    size = words + 1
    row = size * LANES
    for i in range(first, size):
        store(complete_slope, at(i, i, size), splat(0.0, complete_slope))
    for width in range(1, size):
        for i in range(first, size - width):
            j = i + width
            right_arc, left_arc = at(i, j, size), at(j, i, size)
            slope = collect(
                complete, at(i, i, size), LANES, complete, at(j, i + 1, size), LANES, width,
                load(pair, right_arc), load(pair_delta, right_arc), complete_slope, complete_slope,
            )  # fmt: skip
            store(pair_slope, right_arc, slope)
            store(incomplete_slope, right_arc, load(incomplete_slope, right_arc) + slope)
            store(incomplete_slope, left_arc, load(incomplete_slope, left_arc) + slope)
            slope = collect(
                incomplete, at(i, i + 1, size), LANES, complete, at(i + 1, j, size), row, width,
                load(complete, right_arc), load(complete_delta, right_arc), incomplete_slope, complete_slope,
            )  # fmt: skip
            store(complete_slope, right_arc, slope)
            if i > 0:
                slope = collect(
                    incomplete, left_arc, LANES, complete, at(i, i, size), row, width,
                    load(complete, left_arc), load(complete_delta, left_arc), incomplete_slope, complete_slope,
                )  # fmt: skip
                store(complete_slope, left_arc, slope)


@inlined
def descend(
    left, left_at, left_step, right, right_at, right_step, splits, weight, delta,
    share, slope, of_left, of_right, gradient, to_left, to_right, relaxed,
):  # fmt: skip
    """Hand dL/dc of an item down to its antecedents, through c = Σ b·a (or logsumexp) and through b.

    With dc = dL/dc, share the item's contribution, g_k the gradients of the contributions of split k's antecedents
    and slope = Σ b·g, the softmax gives  da_k = b_k·(dc·(1 + a_k − c) + share·(g_k − slope));  the term a_k − c is
    absent when c is the logsumexp.
    """
    weight = where_possible(weight, weight, splat(0.0, left))
    through_mean = gradient * splat(relaxed, of_left)
    constant = gradient - share * slope
    lowest = splat(_LOWEST, of_left)
    for k in range(splits):
        one, other = left_at + k * left_step, right_at + k * right_step
        relative = maximum(split_weight(left, one, right, other, weight, of_left), lowest)  # as in `choose`
        choice = exponential(relative + delta)
        inner = fused(through_mean, relative, constant)
        inner = fused(share, load(of_left, one) + load(of_right, other), inner)
        amount = choice * inner
        store(to_left, one, load(to_left, one) + amount)
        store(to_right, other, load(to_right, other) + amount)


@inlined
def inside_backward(
    complete, incomplete, pair, complete_delta, pair_delta, complete_share, incomplete_share,
    complete_slope, incomplete_slope, pair_slope, complete_gradient, incomplete_gradient, words, first, relaxed,
):  # fmt: skip
    """Top-down: dL/dc of every item. The gradients of the goal are in place on entry; dL/dW is that of `incomplete`."""
    size = words + 1
    row = size * LANES
    for width in range(words, 0, -1):
        for i in range(first, size - width):
            j = i + width
            right_arc, left_arc = at(i, j, size), at(j, i, size)
            share, gradient = load(complete_share, right_arc), load(complete_gradient, right_arc)
            if any_nonzero(share) or any_nonzero(gradient):
                descend(
                    incomplete, at(i, i + 1, size), LANES, complete, at(i + 1, j, size), row, width,
                    load(complete, right_arc), load(complete_delta, right_arc), share, load(complete_slope, right_arc),
                    incomplete_slope, complete_slope, gradient, incomplete_gradient, complete_gradient, relaxed,
                )  # fmt: skip
            share, gradient = load(complete_share, left_arc), load(complete_gradient, left_arc)
            if i > 0 and (any_nonzero(share) or any_nonzero(gradient)):
                descend(
                    incomplete, left_arc, LANES, complete, at(i, i, size), row, width,
                    load(complete, left_arc), load(complete_delta, left_arc), share, load(complete_slope, left_arc),
                    incomplete_slope, complete_slope, gradient, incomplete_gradient, complete_gradient, relaxed,
                )  # fmt: skip
            share = load(incomplete_share, right_arc) + load(incomplete_share, left_arc)
            gradient = load(incomplete_gradient, right_arc) + load(incomplete_gradient, left_arc)
            if any_nonzero(share) or any_nonzero(gradient):
                descend(
                    complete, at(i, i, size), LANES, complete, at(j, i + 1, size), LANES, width,
                    load(pair, right_arc), load(pair_delta, right_arc), share, load(pair_slope, right_arc),
                    complete_slope, complete_slope, gradient, complete_gradient, complete_gradient, relaxed,
                )  # fmt: skip
