"""Trees by enumeration, in plain Python: slow, obvious, and independent of what it checks.

A tree is a tuple of heads with -1 at position 0. `scores` is a nested list; -inf forbids an arc.
"""

from __future__ import annotations

import itertools
import math
from functools import cache


@cache
def trees(words: int, *, single_root: bool, projective: bool) -> tuple[tuple[int, ...], ...]:
    candidates = itertools.product(range(words + 1), repeat=words)
    return tuple(
        (-1, *heads)
        for heads in candidates
        if is_tree((-1, *heads))
        and (not single_root or heads.count(0) == 1)
        and (not projective or is_projective((-1, *heads)))
    )


def is_tree(heads: tuple[int, ...]) -> bool:
    for word in range(1, len(heads)):
        seen = set()
        while word != 0:
            if word in seen:
                return False
            seen.add(word)
            word = heads[word]
    return True


def is_projective(heads: tuple[int, ...]) -> bool:
    """Every word strictly between the ends of an arc descends from the arc's head (the paper's definition)."""
    for modifier in range(1, len(heads)):
        head = heads[modifier]
        for between in range(min(head, modifier) + 1, max(head, modifier)):
            word = between
            while word not in (0, head):
                word = heads[word]
            if word != head:
                return False
    return True


class Enumerated:
    """The distribution q(T) ∝ exp(Σ scores) over the trees of one sentence."""

    def __init__(self, scores, words, *, single_root, projective, known=None):
        self.words = words
        self.scores = scores
        possible = trees(words, single_root=single_root, projective=projective)
        weights = {tree: self.weight(tree) for tree in possible}
        self.weights = {
            tree: weight
            for tree, weight in weights.items()
            if weight > -math.inf
            and (known is None or all(k in (-1, h) for k, h in zip(known[1:], tree[1:], strict=True)))
        }
        best = max(self.weights.values())
        self.log_partition = best + math.log(math.fsum(math.exp(w - best) for w in self.weights.values()))
        self.log_probs = {tree: weight - self.log_partition for tree, weight in self.weights.items()}

    def weight(self, tree):
        return (
            math.fsum(self.scores[tree[m]][m] for m in range(1, self.words + 1)) if self._allowed(tree) else -math.inf
        )

    def _allowed(self, tree):
        return all(self.scores[tree[m]][m] > -math.inf for m in range(1, self.words + 1))

    def expectation(self, function):
        return math.fsum(math.exp(log_prob) * function(tree) for tree, log_prob in self.log_probs.items())

    def marginal(self, head, modifier):
        return self.expectation(lambda tree: tree[modifier] == head)

    def entropy(self):
        return -math.fsum(math.exp(p) * p for p in self.log_probs.values())

    def cross_entropy(self, other):
        if any(tree not in other.log_probs for tree in self.log_probs):
            return math.inf
        return -math.fsum(math.exp(p) * other.log_probs[tree] for tree, p in self.log_probs.items())

    def kl(self, other):
        return self.cross_entropy(other) - self.entropy()

    def kbest(self):
        return sorted(self.log_probs.items(), key=lambda item: -item[1])

    def log_prob_of_completions(self, known):
        """log of the total probability of the trees that agree with `known` (-1 = unknown)."""
        agreeing = [
            math.exp(p)
            for tree, p in self.log_probs.items()
            if all(k in (-1, h) for k, h in zip(known[1:], tree[1:], strict=True))
        ]
        return math.log(math.fsum(agreeing)) if agreeing else -math.inf

    def expected_correct(self, tree):
        return math.fsum(self.marginal(tree[m], m) for m in range(1, self.words + 1))
