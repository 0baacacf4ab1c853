"""Sums over non-projective trees and their marginals, one sentence at a time, by elimination in log space.

The recursion is that of `matrix_tree`. Marginals are the gradient of log Z, by going back through the elimination:
when word k goes, the weight of h → m becomes the sum of the old one and of the way h → k → m. The part of that way in
the sum is kept for every (k, h, m), n³/3 numbers, and splits the gradient of h → m in two on the way back. All numbers
met there are of the size of probabilities, so nothing can overflow; an arc that no tree has may be left with a rounding
error of 1e-17. Time O(n³).
"""

from __future__ import annotations

import math

import numpy as np

from .compiled import Int, array, compiled, inlined
from .walks import log_add


@inlined
def nodes_left(gone_at, step, size, rest):
    """List the nodes that are still there after a step; returns their number."""
    count = 0
    for node in range(size):
        if gone_at[node] > step:
            rest[count] = node
            count += 1
    return count


@inlined
def eliminate(weights, gone_at, size, order, degree, ways):
    """Eliminate words until one node is left. Returns the number of words eliminated, -1 if there is no tree."""
    rest = np.empty(size, np.int64)
    count = nodes_left(gone_at, size, size, rest)
    step, cursor = 0, 0
    while count > 1:
        word, total = -1, -math.inf
        for place in range(count - 1, -1, -1):  # a node without a head among those left has to stay
            word, total = rest[place], -math.inf
            for other in range(count):
                if other != place:
                    total = log_add(total, weights[rest[other], word])
            if total > -math.inf:
                break
        if total == -math.inf:
            return -1
        order[step], degree[step], gone_at[word] = word, total, step
        count = nodes_left(gone_at, step, size, rest)
        for one in range(count):
            head = rest[one]
            share = weights[head, word] - total
            for other in range(count):
                modifier = rest[other]
                way = share + weights[word, modifier]
                part = 0.0
                if one != other and way > -math.inf:
                    together = log_add(weights[head, modifier], way)
                    part = math.exp(way - together)
                    weights[head, modifier] = together
                ways[cursor] = part
                cursor += 1
        step += 1
    return step


@inlined
def eliminate_backward(weights, gone_at, size, steps, order, degree, ways, degree_slope, slopes):
    """Turn dL/d(degree) and dL/d(weights that were left) into dL/dW, in place."""
    rest = np.empty(size, np.int64)
    cursor = 0
    for step in range(steps):
        left = nodes_left(gone_at, step, size, rest)
        cursor += left * left
    for step in range(steps - 1, -1, -1):
        word = order[step]
        count = nodes_left(gone_at, step, size, rest)
        cursor -= count * count
        through = 0.0
        for one in range(count):
            head, row = rest[one], 0.0
            for other in range(count):
                part = ways[cursor + one * count + other]
                if part > 0.0:
                    moved = slopes[head, rest[other]] * part
                    slopes[head, rest[other]] -= moved
                    slopes[word, rest[other]] += moved
                    row += moved
            slopes[head, word] += row
            through += row
        for one in range(count):
            share = math.exp(weights[rest[one], word] - degree[step])
            slopes[rest[one], word] += (degree_slope[step] - through) * share


@inlined
def choose_root(weights, roots, gone_at, size, steps, order, degree, degree_slope, slopes):
    """Sum over the single root: returns log Σ_r exp(roots_r)·π_r, and puts its gradients in place."""
    stationary, sums = np.full(size, -math.inf), np.empty(size)
    for node in range(1, size):
        if gone_at[node] > steps:
            stationary[node] = 0.0
    for step in range(steps - 1, -1, -1):
        word, total = order[step], -math.inf
        for node in range(1, size):
            if gone_at[node] > step:
                total = log_add(total, stationary[node] + weights[word, node])
        stationary[word], sums[step] = total - degree[step], total
    result = -math.inf
    for root in range(1, size):
        result = log_add(result, roots[root] + stationary[root])
    if result == -math.inf:
        return result
    slope = np.zeros(size)
    for root in range(1, size):
        slope[root] = math.exp(roots[root] + stationary[root] - result)
        slopes[0, root] = slope[root]
    for step in range(steps):
        word = order[step]
        degree_slope[step] -= slope[word]
        if slope[word] > 0.0:
            for node in range(1, size):
                if gone_at[node] > step:
                    part = math.exp(stationary[node] + weights[word, node] - sums[step])
                    slope[node] += slope[word] * part
                    slopes[word, node] += slope[word] * part
    return result


@compiled(lambda real: (
    Int, Int, array(real, 3), array(Int, 1), Int, array(real, 3), array(real, 1),
))  # fmt: skip
def sum_trees(start, step, scores, lengths, first, marginals, log_partition):
    """Marginals [B, size, size] (zero on entry) and log Z [B]; -inf where there is no tree."""
    for sentence in range(start, lengths.size, step):
        size = lengths[sentence] + 1
        weights = scores[sentence, :size, :size].copy()
        roots = weights[0].copy()
        slopes = np.zeros((size, size))
        gone_at = np.full(size, size + 1)
        for node in range(size):
            weights[node, node] = weights[node, 0] = -math.inf
        if first == 1:
            gone_at[0] = -1  # words alone; the root comes in at the end
        order, degree = np.empty(size, np.int64), np.empty(size)
        ways = np.empty((size - 1) * size * (2 * size - 1) // 6)
        steps = eliminate(weights, gone_at, size, order, degree, ways)
        log_partition[sentence] = -math.inf
        if steps < 0:
            continue
        total = degree[:steps].sum()
        degree_slope = np.ones(size)
        if first == 1:
            total += choose_root(weights, roots, gone_at, size, steps, order, degree, degree_slope, slopes)
        if total == -math.inf:
            continue
        log_partition[sentence] = total
        eliminate_backward(weights, gone_at, size, steps, order, degree, ways, degree_slope, slopes)
        for head in range(size):
            for modifier in range(1, size):
                if head != modifier:
                    marginals[sentence, head, modifier] = max(0.0, slopes[head, modifier])
