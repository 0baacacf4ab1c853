"""Entry points of the projective kernels: sentences into lanes, the passes of `spans`, results back to sentences.

An entry point treats groups start, start + step, …, so that several threads can share a batch.
"""

from __future__ import annotations

import math

import numpy as np

from .compiled import Float, Int, array, compiled, inlined
from .lanes import pack, unpack
from .simd import LANES, load, maximum, splat, store, where_possible
from .spans import at, contributions, contributions_backward, inside, inside_backward
from .trace import trace
from .views import BEST, LOG, RELAXED


@inlined
def pack_weights(scores, scale, order, group, lengths, size, chart, weights):
    """Pack arc weights, less the best one of each word; `weights` gets the sum of what was subtracted.

    A word has one head, so this changes no choice; but it keeps large common offsets out of the sums.
    """
    pack(scores, scale, order, group, lengths, size, -math.inf, chart)
    total = splat(0.0, chart)
    for modifier in range(1, size):
        best = load(chart, at(0, modifier, size))
        for head in range(1, size):
            best = maximum(best, load(chart, at(head, modifier, size)))
        best = where_possible(best, best, splat(0.0, chart))
        total = total + best
        for head in range(size):
            store(chart, at(head, modifier, size), load(chart, at(head, modifier, size)) - best)
    sums = np.empty(LANES)
    store(sums, 0, total)
    for lane in range(LANES):
        sentence = order[group * LANES + lane]
        if sentence >= 0:
            weights[sentence] = sums[lane]


@inlined
def root_weight(complete, incomplete, lane, size, words, root):
    """Weight of the best (or all, or the relaxed) trees whose single root is `root`."""
    return (
        incomplete[at(0, root, size) + lane]
        + complete[at(root, 1, size) + lane]
        + complete[at(root, words, size) + lane]
    )


@inlined
def goal_weight(complete, incomplete, lane, size, words, first, view):
    """Weight of the goal item of one sentence."""
    if first == 0:
        return complete[at(0, words, size) + lane]
    best = -math.inf
    for root in range(1, words + 1):
        best = max(best, root_weight(complete, incomplete, lane, size, words, root))
    if view == BEST or best == -math.inf:
        return best
    total, moment = 0.0, 0.0
    for root in range(1, words + 1):
        relative = root_weight(complete, incomplete, lane, size, words, root) - best
        if relative > -math.inf:
            total += math.exp(relative)
            moment += math.exp(relative) * relative
    return best + (moment / total if view == RELAXED else math.log(total))


@inlined
def goal_shares(complete, incomplete, complete_share, incomplete_share, lane, size, words, first):
    """Put the contributions of one sentence's goal in place: all of it, or a softmax over the single root."""
    if first == 0:
        complete_share[at(0, words, size) + lane] = 1.0
        return
    normaliser = goal_weight(complete, incomplete, lane, size, words, first, LOG)
    if normaliser == -math.inf:
        return
    for root in range(1, words + 1):
        share = math.exp(root_weight(complete, incomplete, lane, size, words, root) - normaliser)
        incomplete_share[at(0, root, size) + lane] = share
        complete_share[at(root, 1, size) + lane] += share
        complete_share[at(root, words, size) + lane] += share


@compiled(lambda real: (
    Int, Int, array(real, 3), array(Int, 1), array(Int, 1), Float, Int, Int,
    array(Float, 3), array(real, 3), array(real, 3), array(Float, 1),
))  # fmt: skip
def forward(start, step, scores, lengths, order, scale, first, view, wide, thin, soft, weights):
    """Soft trees (or marginals) and the weight of the goal.

    The charts stay in `wide` and `thin` for `backward`, if there is room for every group; else they are overwritten.
    """
    for group in range(start, order.size // LANES, step):
        slot = group % wide.shape[1]
        complete, incomplete, pair = wide[0, slot], wide[1, slot], wide[2, slot]
        complete_delta, pair_delta = thin[0, slot], thin[1, slot]
        complete_share, incomplete_share = thin[2, slot], thin[3, slot]
        words = lengths[order[group * LANES]]
        size = words + 1
        pack_weights(scores, scale, order, group, lengths, size, incomplete, weights)
        inside(complete, incomplete, pair, complete_delta, pair_delta, words, first, view)
        complete_share[: size * size * LANES] = 0.0
        incomplete_share[: size * size * LANES] = 0.0
        for lane in range(LANES):
            sentence = order[group * LANES + lane]
            if sentence >= 0:
                words_here = lengths[sentence]
                weights[sentence] += goal_weight(complete, incomplete, lane, size, words_here, first, view)
                goal_shares(complete, incomplete, complete_share, incomplete_share, lane, size, words_here, first)
        contributions(
            complete, incomplete, pair, complete_delta, pair_delta, complete_share, incomplete_share, words, first
        )
        unpack(incomplete_share, 1.0, order, group, lengths, size, soft)


@inlined
def goal_backward(share, slope, complete_slope, complete_gradient, incomplete_gradient, lane, size, words):
    """Gradient through the choice of the single root."""
    mean = 0.0
    for root in range(1, words + 1):
        mean += share[at(0, root, size) + lane] * (
            slope[at(0, root, size) + lane]
            + complete_slope[at(root, 1, size) + lane]
            + complete_slope[at(root, words, size) + lane]
        )
    for root in range(1, words + 1):
        below = (
            slope[at(0, root, size) + lane]
            + complete_slope[at(root, 1, size) + lane]
            + complete_slope[at(root, words, size) + lane]
        )
        gradient = share[at(0, root, size) + lane] * (below - mean)
        incomplete_gradient[at(0, root, size) + lane] = gradient
        complete_gradient[at(root, 1, size) + lane] += gradient
        complete_gradient[at(root, words, size) + lane] += gradient


@compiled(lambda real: (
    Int, Int, array(real, 3), array(Int, 1), array(Int, 1), Float, Int, Int,
    array(Float, 3), array(real, 3), array(real, 3),
))  # fmt: skip
def backward(start, step, soft_gradient, lengths, order, scale, first, view, wide, thin, gradients):
    """dL/dW from dL/dT and the charts of `forward`."""
    room = wide.shape[2]
    complete_slope, incomplete_slope, pair_slope, complete_gradient, incomplete_gradient = (
        np.empty(room, thin.dtype),
        np.empty(room, thin.dtype),
        np.empty(room, thin.dtype),
        np.empty(room, thin.dtype),
        np.empty(room, thin.dtype),
    )
    for group in range(start, order.size // LANES, step):
        complete, incomplete, pair = wide[0, group], wide[1, group], wide[2, group]
        complete_delta, pair_delta = thin[0, group], thin[1, group]
        complete_share, incomplete_share = thin[2, group], thin[3, group]
        words = lengths[order[group * LANES]]
        size = words + 1
        pack(soft_gradient, 1.0, order, group, lengths, size, 0.0, incomplete_slope)
        contributions_backward(
            complete, incomplete, pair, complete_delta, pair_delta,
            complete_slope, incomplete_slope, pair_slope, words, first,
        )  # fmt: skip
        complete_gradient[: size * size * LANES] = 0.0
        incomplete_gradient[: size * size * LANES] = 0.0
        if first == 1:
            for lane in range(LANES):
                sentence = order[group * LANES + lane]
                if sentence >= 0:
                    goal_backward(
                        incomplete_share, incomplete_slope, complete_slope,
                        complete_gradient, incomplete_gradient, lane, size, lengths[sentence],
                    )  # fmt: skip
        inside_backward(
            complete, incomplete, pair, complete_delta, pair_delta, complete_share, incomplete_share,
            complete_slope, incomplete_slope, pair_slope, complete_gradient, incomplete_gradient,
            words, first, 1.0 if view == RELAXED else 0.0,
        )  # fmt: skip
        unpack(incomplete_gradient, scale, order, group, lengths, size, gradients)


@compiled(lambda real: (
    Int, Int, array(real, 3), array(Int, 1), array(Int, 1), Int, Int, array(Float, 3), array(Int, 3), array(Float, 1),
))  # fmt: skip
def decode(start, step, scores, lengths, order, first, view, uniforms, heads, weights):
    """Trees traced from the charts: the best ones (view BEST), or exact samples (view LOG)."""
    size = scores.shape[1]
    room = size * size * LANES
    complete, incomplete, pair = np.empty(room), np.empty(room), np.empty(room)
    complete_delta, pair_delta = np.empty(room), np.empty(room)
    for group in range(start, order.size // LANES, step):
        words = lengths[order[group * LANES]]
        size = words + 1
        pack_weights(scores, 1.0, order, group, lengths, size, incomplete, weights)
        inside(complete, incomplete, pair, complete_delta, pair_delta, words, first, view)
        for lane in range(LANES):
            sentence = order[group * LANES + lane]
            if sentence < 0:
                continue
            words = lengths[sentence]
            weight = goal_weight(complete, incomplete, lane, size, words, first, view)
            weights[sentence] += weight
            if weight == -math.inf:
                continue
            for sample in range(heads.shape[0]):
                trace(
                    complete, incomplete, pair, lane, LANES, size, words, first, weight,
                    uniforms[sample, sentence], heads[sample, sentence],
                )  # fmt: skip
