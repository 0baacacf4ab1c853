"""From a chart to one tree: the best one, or an exact sample.

Works on charts of any layout with a stride: `chart[(row * size + column) * stride + lane]`, as `spans` and the torch
path fill them. A projective tree has exactly one derivation, so following one choice per item from the goal down
reaches each tree in one way.
"""

from __future__ import annotations

import math

import numpy as np

from .compiled import inlined

BEST_SPLIT = -1.0  # in place of a uniform number: take the split that attains the item's weight


@inlined
def pick(left, left_at, left_step, right, right_at, right_step, splits, weight, uniform):
    """The split of an item: the first whose weight is the item's, or one drawn with probability exp(a_k − c)."""
    possible, reached = 0, 0.0
    for k in range(splits):
        split = left[left_at + k * left_step] + right[right_at + k * right_step]
        if uniform < 0.0:
            if split == weight:
                return k
        elif split > -math.inf:
            possible = k
            reached += math.exp(split - weight)
            if uniform < reached:
                return k
    return possible  # rounding left the sum of the probabilities just below the uniform number


@inlined
def pick_root(complete, incomplete, lane, stride, size, words, weight, uniform):
    """The single root, by the same rule."""
    possible, reached = 1, 0.0
    for root in range(1, words + 1):
        split = incomplete[root * stride + lane] + complete[(root * size + 1) * stride + lane]
        split += complete[(root * size + words) * stride + lane]
        if uniform < 0.0:
            if split == weight:
                return root
        elif split > -math.inf:
            possible = root
            reached += math.exp(split - weight)
            if uniform < reached:
                return root
    return possible


@inlined
def trace(complete, incomplete, pair, lane, stride, size, words, first, weight, uniforms, heads):
    """Write the heads of one tree. `uniforms` holds two numbers per word, or `BEST_SPLIT` in each."""
    row = size * stride
    stack = np.empty((3 * words + 3, 2), np.int64)
    depth, drawn = 0, 0
    if first == 0:
        stack[0, 0], stack[0, 1] = 0, words
        depth = 1
    else:
        root = pick_root(complete, incomplete, lane, stride, size, words, weight, uniforms[0])
        drawn = 1
        heads[root] = 0
        stack[0, 0], stack[0, 1] = root, 1
        stack[1, 0], stack[1, 1] = root, words
        depth = 2
    while depth > 0:
        depth -= 1
        head, end = stack[depth, 0], stack[depth, 1]
        if head == end:
            continue
        # The complete item headed by `head` that reaches `end`: an arc to `modifier`, and what is beyond it.
        weight = complete[head * row + end * stride + lane]
        low, high = min(head, end), max(head, end)
        start = head + 1 if head < end else end
        modifier = start + pick(
            incomplete, head * row + start * stride + lane, stride,
            complete, start * row + end * stride + lane, row, high - low, weight, uniforms[drawn],
        )  # fmt: skip
        heads[modifier] = head
        stack[depth, 0], stack[depth, 1] = modifier, end
        depth += 1
        # The pair under that arc: where the reach of the left word ends.
        low, high = min(head, modifier), max(head, modifier)
        weight = pair[low * row + high * stride + lane]
        middle = low + pick(
            complete, low * row + low * stride + lane, stride,
            complete, high * row + (low + 1) * stride + lane, stride, high - low, weight, uniforms[drawn + 1],
        )  # fmt: skip
        drawn += 2
        stack[depth, 0], stack[depth, 1] = low, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = high, middle + 1
        depth += 2
