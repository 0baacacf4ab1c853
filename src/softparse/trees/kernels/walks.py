"""Exact samples of non-projective trees.

Wilson's algorithm walks from each word to random heads, erases loops, and stops at the tree built so far. It is fast,
unless two words prefer each other so much that the walk hardly ever leaves them. So it gets a budget of uniform
numbers, and where that runs out the tree is drawn anew, word by word, from exact conditional probabilities. This stays
exact, because the loops that Wilson's algorithm erases are independent of the tree it returns (Propp & Wilson, 1998,
cycle popping): to have seen many of them says nothing about the tree.

The head of word m has probability proportional to exp(w(h, m))·e(h), where e(h) is the probability that a walk from h
reaches the root before m. The e are computed without subtraction, in log space, by eliminating the other words one
by one as in `matrix_tree`. O(n³) a word.
"""

from __future__ import annotations

import math

import numpy as np

from .compiled import Int, array, compiled, inlined


@inlined
def log_add(left, right):
    high, low = max(left, right), min(left, right)
    if low == -math.inf:
        return high
    return high + math.log1p(math.exp(low - high))


@inlined
def draw(log_weights, uniform):
    """An index with probability proportional to exp(log weight)."""
    best = -math.inf
    for index in range(log_weights.size):
        best = max(best, log_weights[index])
    total = 0.0
    for index in range(log_weights.size):
        total += math.exp(log_weights[index] - best)
    drawn, reached = 0, 0.0
    for index in range(log_weights.size):
        share = math.exp(log_weights[index] - best) / total
        if share > 0.0:
            drawn = index
            reached += share
            if uniform < reached:
                break
    return drawn


@inlined
def wilson(weights, words, in_tree, uniforms, heads):
    """Fill the heads of all words that are not in the tree; False when the uniform numbers run out."""
    used = 0
    for start in range(1, words + 1):
        word = start
        while not in_tree[word]:
            if used == uniforms.size:
                return False
            heads[word] = draw(weights[: words + 1, word], uniforms[used])
            used += 1
            word = heads[word]
        word = start  # the last exits from each word on the way are the path without its loops
        while not in_tree[word]:
            in_tree[word] = True
            word = heads[word]
    return True


@inlined
def escape(weights, group, goal, size, reach):
    """Write log e(x) for every group x: the chance that a walk from x meets the root before `goal`.

    `group[v]` names the part of the tree that v already belongs to; 0 is that of the root.
    """
    merged = np.full((size, size), -math.inf)  # [head group, modifier group]
    alive = np.zeros(size, np.bool_)
    for word in range(1, size):
        alive[group[word]] = True
    alive[0] = True
    for modifier in range(1, size):
        if group[modifier] == modifier:  # a word without a head yet stands for its group
            for head in range(size):
                if group[head] != modifier:
                    merged[group[head], modifier] = log_add(merged[group[head], modifier], weights[head, modifier])
    order = np.empty(size, np.int64)
    degree = np.empty(size)
    eliminated = 0
    for word in range(1, size):
        if not alive[word] or word == goal:
            continue
        alive[word] = False
        order[eliminated] = word
        eliminated += 1
        total = -math.inf
        for head in range(size):
            if alive[head]:
                total = log_add(total, merged[head, word])
        degree[word] = total
        if total == -math.inf:
            continue
        for modifier in range(1, size):
            if alive[modifier] and modifier != goal and merged[word, modifier] > -math.inf:
                for head in range(size):
                    if alive[head] and head != modifier:
                        through = merged[head, word] + merged[word, modifier] - total
                        merged[head, modifier] = log_add(merged[head, modifier], through)
    reach[:] = -math.inf
    reach[0] = 0.0
    for step in range(eliminated - 1, -1, -1):
        word = order[step]
        total = -math.inf
        for head in range(size):
            if reach[head] > -math.inf:
                total = log_add(total, merged[head, word] + reach[head])
        reach[word] = total - degree[word] if total > -math.inf else -math.inf


@inlined
def word_by_word(weights, words, in_tree, uniforms, heads):
    """Draw each head from its conditional distribution given the heads before it."""
    size = words + 1
    group = np.empty(size, np.int64)
    for word in range(size):
        group[word] = 0 if in_tree[word] else word
    reach, chances = np.empty(size), np.empty(size)
    for modifier in range(1, size):
        if in_tree[modifier]:
            continue
        escape(weights, group, modifier, size, reach)
        for head in range(size):
            chances[head] = weights[head, modifier] + reach[group[head]] if group[head] != modifier else -math.inf
        heads[modifier] = draw(chances, uniforms[modifier])
        joined = group[heads[modifier]]
        for word in range(1, size):
            if group[word] == modifier:
                group[word] = joined


@compiled(lambda real: (
    Int, Int, array(real, 3), array(Int, 1), Int, array(real, 2), array(real, 3), array(Int, 3),
))  # fmt: skip
def sample_arborescences(start, step, scores, lengths, first, log_roots, uniforms, heads):
    """Heads [S, B, size] of exact samples. `log_roots` [B, size]: log-probability of a word to be the single root."""
    for sentence in range(start, lengths.size, step):
        words = lengths[sentence]
        size = words + 1
        weights = scores[sentence, :size, :size].copy()
        for word in range(size):
            weights[word, word] = -math.inf
        if first == 1:
            weights[0, :] = -math.inf
        for sample in range(heads.shape[0]):
            numbers, tree = uniforms[sample, sentence], heads[sample, sentence]
            in_tree = np.zeros(size, np.bool_)
            in_tree[0] = True
            if first == 1:
                root = draw(log_roots[sentence, :size], numbers[0])
                in_tree[root] = True
                tree[root] = 0
            visited = in_tree.copy()
            if not wilson(weights, words, visited, numbers[size:], tree):
                word_by_word(weights, words, in_tree, numbers[:size], tree)
