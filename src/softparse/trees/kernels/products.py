"""log Z and marginals by plain products: the inside-outside recursion without a logarithm or an exponential in it.

The weights of a word's possible arcs are divided by their sum: w(h, m) = exp(W(h, m)) / Σ_h' exp(W(h', m)). Then an
item sums the probabilities of ways to draw heads for some words independently of each other, and different derivations
are different draws: inside weights, outside weights (the gradients of the goal) and Z all lie in [0, 1]. Nothing can
overflow, and Z of the scores is Z of the w times the product of the sums.

What is below `SMALLEST` counts as zero, so that no product of two weights leaves the normal numbers. As every weight
lost in this way is multiplied by at most 1, Z and the numerators of the marginals are short by at most
4·words²·SMALLEST in all: nothing, beside rounding, if Z is above `RELIABLE`. A sentence with a smaller Z (some hundred
words under flat scores, or scores that want anything but a tree) gets NaN for its log Z and has to go through the
recursion of `spans`.

Items and charts are those of `spans`; time is O(n³) with three multiply-adds per split, memory O(n²).
"""

from __future__ import annotations

import math

import numpy as np

from .compiled import Float, Int, array, compiled, inlined
from .lanes import pack
from .simd import (
    LANES,
    any_nonzero,
    at_least,
    exponential,
    fused,
    load,
    logarithm,
    maximum,
    splat,
    store,
    where_possible,
)
from .spans import at

SMALLEST = 2.0**-510
RELIABLE = 2.0**-440
CHARTS = 5
LIGHTER = 5  # times, than the recursion of `spans`


@inlined
def kept(weight, like):
    """The weight, or 0 in the lanes where it is too small to be multiplied."""
    return at_least(weight, splat(SMALLEST, like))


@inlined
def local_softmax(chart, size, offset):
    """Divide the weights of each word's arcs by their sum; `offset` [LANES] gets the sum of the sums' logarithms."""
    logarithms = splat(0.0, chart)
    for modifier in range(size):
        best = load(chart, at(0, modifier, size))
        for head in range(1, size):
            best = maximum(best, load(chart, at(head, modifier, size)))
        origin = where_possible(best, best, splat(0.0, chart))
        total = splat(0.0, chart)
        for head in range(size):
            weight = exponential(load(chart, at(head, modifier, size)) - origin)
            total = total + weight
            store(chart, at(head, modifier, size), weight)
        total = where_possible(best, total, splat(1.0, chart))
        logarithms = logarithms + (origin + logarithm(total))
        inverse = splat(1.0, chart) / total
        for head in range(size):
            store(chart, at(head, modifier, size), kept(load(chart, at(head, modifier, size)) * inverse, chart))
    store(offset, 0, logarithms)


@inlined
def product_sum(left, left_at, left_step, right, right_at, right_step, splits):
    """Σ_k left_k · right_k."""
    total = splat(0.0, left)
    for k in range(splits):
        total = fused(load(left, left_at + k * left_step), load(right, right_at + k * right_step), total)
    return kept(total, left)


@inlined
def product_inside(complete, incomplete, arc, words, first):
    """Bottom-up: the sum over the derivations of every item."""
    size = words + 1
    row = size * LANES
    for i in range(first, size):
        store(complete, at(i, i, size), splat(1.0, complete))
    for width in range(1, size):
        for i in range(first, size - width):
            j = i + width
            right_arc, left_arc = at(i, j, size), at(j, i, size)
            pair = product_sum(complete, at(i, i, size), LANES, complete, at(j, i + 1, size), LANES, width)
            store(incomplete, right_arc, kept(pair * load(arc, right_arc), arc))
            store(incomplete, left_arc, kept(pair * load(arc, left_arc), arc))
            store(
                complete,
                right_arc,
                product_sum(incomplete, at(i, i + 1, size), LANES, complete, at(i + 1, j, size), row, width),
            )
            if i > 0:
                store(
                    complete,
                    left_arc,
                    product_sum(incomplete, left_arc, LANES, complete, at(i, i, size), row, width),
                )


@inlined
def hand_down(
    left, left_at, left_step, right, right_at, right_step, splits, gradient, to_left, to_right
):  # fmt: skip
    """The gradient of Σ_k left_k · right_k."""
    for k in range(splits):
        one, other = left_at + k * left_step, right_at + k * right_step
        store(to_left, one, fused(gradient, load(right, other), load(to_left, one)))
        store(to_right, other, fused(gradient, load(left, one), load(to_right, other)))


@inlined
def product_outside(complete, incomplete, arc, complete_gradient, incomplete_gradient, words, first):
    """Top-down: the gradient of the goal in every item. Those of the goal's own antecedents are in place on entry."""
    size = words + 1
    row = size * LANES
    for width in range(words, 0, -1):
        for i in range(first, size - width):
            j = i + width
            right_arc, left_arc = at(i, j, size), at(j, i, size)
            gradient = kept(load(complete_gradient, right_arc), arc)
            if any_nonzero(gradient):
                hand_down(
                    incomplete, at(i, i + 1, size), LANES, complete, at(i + 1, j, size), row, width,
                    gradient, incomplete_gradient, complete_gradient,
                )  # fmt: skip
            gradient = kept(load(complete_gradient, left_arc), arc)
            if i > 0 and any_nonzero(gradient):
                hand_down(
                    incomplete, left_arc, LANES, complete, at(i, i, size), row, width,
                    gradient, incomplete_gradient, complete_gradient,
                )  # fmt: skip
            of_right = kept(load(incomplete_gradient, right_arc), arc)
            of_left = kept(load(incomplete_gradient, left_arc), arc)
            store(incomplete_gradient, right_arc, of_right)
            store(incomplete_gradient, left_arc, of_left)
            gradient = kept(fused(of_right, load(arc, right_arc), of_left * load(arc, left_arc)), arc)
            if any_nonzero(gradient):
                hand_down(
                    complete, at(i, i, size), LANES, complete, at(j, i + 1, size), LANES, width,
                    gradient, complete_gradient, complete_gradient,
                )  # fmt: skip


@inlined
def goal(complete, incomplete, arc, complete_gradient, incomplete_gradient, lane, size, words, first):
    """Z of one sentence; its gradients in the goal's antecedents go into place."""
    if first == 0:
        complete_gradient[at(0, words, size) + lane] = 1.0
        return complete[at(0, words, size) + lane]
    total = 0.0
    for root in range(1, words + 1):
        weight = arc[at(0, root, size) + lane]
        left, right = complete[at(root, 1, size) + lane], complete[at(root, words, size) + lane]
        total += weight * (left * right)
        incomplete[at(0, root, size) + lane] = weight
        incomplete_gradient[at(0, root, size) + lane] = left * right
        complete_gradient[at(root, 1, size) + lane] += weight * right
        complete_gradient[at(root, words, size) + lane] += weight * left
    return total


@compiled(lambda real: (
    Int, Int, array(real, 3), array(Int, 1), array(Int, 1), Float, Int,
    array(Float, 2), array(real, 3), array(Float, 1),
))  # fmt: skip
def marginals(start, step, scores, lengths, order, scale, first, charts, soft, weights):
    """Marginals and log Z (NaN where products are not enough) of the groups start, start + step, …"""
    complete, incomplete, arc = charts[0], charts[1], charts[2]
    complete_gradient, incomplete_gradient = charts[3], charts[4]
    offset = np.empty(LANES)
    for group in range(start, order.size // LANES, step):
        words = lengths[order[group * LANES]]
        size = words + 1
        pack(scores, scale, order, group, lengths, size, -math.inf, arc)
        local_softmax(arc, size, offset)
        product_inside(complete, incomplete, arc, words, first)
        complete_gradient[: size * size * LANES] = 0.0
        incomplete_gradient[: size * size * LANES] = 0.0
        normaliser = np.zeros(LANES)
        for lane in range(LANES):
            sentence = order[group * LANES + lane]
            if sentence >= 0:
                normaliser[lane] = goal(
                    complete, incomplete, arc, complete_gradient, incomplete_gradient,
                    lane, size, lengths[sentence], first,
                )  # fmt: skip
        if normaliser.max() > RELIABLE:
            product_outside(complete, incomplete, arc, complete_gradient, incomplete_gradient, words, first)
        for lane in range(LANES):
            sentence = order[group * LANES + lane]
            if sentence >= 0:
                weights[sentence] = math.nan
                if normaliser[lane] > RELIABLE:
                    weights[sentence] = offset[lane] + math.log(normaliser[lane])
                    write(incomplete, incomplete_gradient, lane, size, lengths[sentence], normaliser[lane],
                          soft[sentence])  # fmt: skip


@inlined
def write(incomplete, incomplete_gradient, lane, size, words, normaliser, soft):
    """A sentence's marginals: inside · outside / Z."""
    inverse = 1.0 / normaliser
    for head in range(words + 1):
        for modifier in range(1, words + 1):
            if head != modifier:
                place = at(head, modifier, size) + lane
                soft[head, modifier] = incomplete[place] * incomplete_gradient[place] * inverse
