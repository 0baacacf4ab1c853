"""The k best projective trees: Eisner's recursion with a list of the k best weights per item.

Charts are laid out as in `spans`, one sentence at a time, with a list in each cell: [size · size, k]. An item's list
merges the lists of its antecedents, split by split, through a frontier (Huang & Chiang's second algorithm): from
(split, left rank, right rank) go on to the next right rank, and from right rank 0 also to the next left rank, so
that each combination is met once. A tree has one derivation, so no tree comes twice.
Time O(n²·k·(n + k)), memory O(n²·k).
"""

from __future__ import annotations

import math

import numpy as np

from .compiled import Int, array, compiled, inlined


@inlined
def best_of(frontier, waiting):
    """Position of the best candidate, -1 when none is possible."""
    best, position = -math.inf, -1
    for candidate in range(waiting):
        if frontier[candidate] > best:
            best, position = frontier[candidate], candidate
    return position


@inlined
def merge(left, left_at, left_step, right, right_at, right_step, splits, weights, ways, frontier, origin):
    """Fill an item's list: `weights` descending, then -inf; `ways` the (split, left rank, right rank) of each."""
    kept = weights.size
    for split in range(splits):
        frontier[split] = left[left_at + split * left_step, 0] + right[right_at + split * right_step, 0]
        origin[split, 0], origin[split, 1], origin[split, 2] = split, 0, 0
    waiting = splits
    weights[:] = -math.inf
    for rank in range(kept):
        position = best_of(frontier, waiting)
        if position < 0:
            return
        weights[rank] = frontier[position]
        split, left_rank, right_rank = origin[position, 0], origin[position, 1], origin[position, 2]
        ways[rank, 0], ways[rank, 1], ways[rank, 2] = split, left_rank, right_rank
        frontier[position] = -math.inf
        one, other = left_at + split * left_step, right_at + split * right_step
        if right_rank + 1 < kept:
            frontier[waiting] = left[one, left_rank] + right[other, right_rank + 1]
            origin[waiting, 0], origin[waiting, 1], origin[waiting, 2] = split, left_rank, right_rank + 1
            waiting += 1
        if right_rank == 0 and left_rank + 1 < kept:
            frontier[waiting] = left[one, left_rank + 1] + right[other, 0]
            origin[waiting, 0], origin[waiting, 1], origin[waiting, 2] = split, left_rank + 1, 0
            waiting += 1


@inlined
def fill(scores, words, first, complete, incomplete, pair, complete_ways, pair_ways, frontier, origin):
    """Bottom-up: the list of every item."""
    size = words + 1
    for i in range(size):
        complete[i * size + i, :] = -math.inf
        complete[i * size + i, 0] = 0.0
    for width in range(1, size):
        for i in range(first, size - width):
            j = i + width
            right_arc, left_arc = i * size + j, j * size + i
            merge(
                complete, i * size + i, 1, complete, j * size + i + 1, 1, width,
                pair, pair_ways[right_arc], frontier, origin,
            )  # fmt: skip
            incomplete[right_arc] = pair + scores[i, j]
            if i > 0:
                incomplete[left_arc] = pair + scores[j, i]
            merge(
                incomplete, right_arc - width + 1, 1, complete, (i + 1) * size + j, size, width,
                complete[right_arc], complete_ways[right_arc], frontier, origin,
            )  # fmt: skip
            if i > 0:
                merge(
                    incomplete, left_arc, 1, complete, i * size + i, size, width,
                    complete[left_arc], complete_ways[left_arc], frontier, origin,
                )  # fmt: skip


@inlined
def follow(stack, depth, size, complete_ways, pair_ways, heads):
    """Write the arcs below the complete items (head, end, rank) on the stack."""
    while depth > 0:
        depth -= 1
        head, end, rank = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        if head == end:
            continue
        way = complete_ways[head * size + end, rank]
        modifier = (head + 1 if head < end else end) + way[0]
        heads[modifier] = head
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = modifier, end, way[2]
        low, high = min(head, modifier), max(head, modifier)
        way = pair_ways[low * size + high, way[1]]
        middle = low + way[0]
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = low, middle, way[1]
        stack[depth + 2, 0], stack[depth + 2, 1], stack[depth + 2, 2] = high, middle + 1, way[2]
        depth += 3


@compiled(lambda real: (Int, Int, array(real, 3), array(Int, 1), Int, array(Int, 3)))
def k_best(start, step, scores, lengths, first, heads):
    """Heads [k, B, size] of the k best trees of each sentence; those that there are not stay as they are."""
    kept = heads.shape[0]
    for sentence in range(start, lengths.size, step):
        words = lengths[sentence]
        size = words + 1
        complete, incomplete = np.empty((size * size, kept)), np.empty((size * size, kept))
        complete_ways = np.empty((size * size, kept, 3), np.int64)
        pair_ways = np.empty((size * size, kept, 3), np.int64)
        pair, frontier = np.empty(kept), np.empty(size + 2 * kept)
        origin = np.empty((size + 2 * kept, 3), np.int64)
        stack = np.empty((3 * words + 3, 3), np.int64)
        fill(scores[sentence], words, first, complete, incomplete, pair, complete_ways, pair_ways, frontier, origin)
        if first == 0:
            for rank in range(kept):
                if complete[words, rank] > -math.inf:
                    stack[0, 0], stack[0, 1], stack[0, 2] = 0, words, rank
                    follow(stack, 1, size, complete_ways, pair_ways, heads[rank, sentence])
            continue
        # Single root: the lists of each candidate root, merged once more over the candidates.
        rooted = np.empty((size, kept))
        rooted_ways = np.empty((size, kept, 3), np.int64)
        for root in range(1, size):
            merge(
                complete, root * size + 1, 1, complete, root * size + words, 1, 1,
                rooted[root], rooted_ways[root], frontier, origin,
            )  # fmt: skip
            rooted[root] += scores[sentence, 0, root]
        nothing = np.full((1, kept), -math.inf)
        nothing[0, 0] = 0.0
        ways = np.empty((kept, 3), np.int64)
        merge(rooted, 1, 1, nothing, 0, 0, words, pair, ways, frontier, origin)
        for rank in range(kept):
            if pair[rank] > -math.inf:
                root = 1 + ways[rank, 0]
                way = rooted_ways[root, ways[rank, 1]]
                heads[rank, sentence, root] = 0
                stack[0, 0], stack[0, 1], stack[0, 2] = root, 1, way[1]
                stack[1, 0], stack[1, 1], stack[1, 2] = root, words, way[2]
                follow(stack, 2, size, complete_ways, pair_ways, heads[rank, sentence])
