"""More trees out of few: a subtree takes the place of another one with the same label on the same side of its head.

The sentences that come of it are often nonsense, but their trees are right wherever labels mean what they say, and a
parser that sees other ones in every epoch cannot learn few trees by heart (Dehouck & Gómez-Rodríguez 2020, who ask for
equal parts of speech too, which nothing here needs; Shi et al. 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..corpus.batches import Tree
from ..corpus.projectivity import UNLABELLED
from ..corpus.sentence import UNKNOWN
from ..evaluation.relations import PUNCTUATION, universal

LONGEST = 2.0  # a sentence grows to so many times its length at most in one exchange

Kind = tuple[str, bool]


class Subtree(NamedTuple):
    """The words `first` to `last` of a tree, from 1: the word `top` and all that is below it."""

    tree: Tree
    top: int
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


class Exchange:
    """The subtrees of projective trees. Partial trees neither give any nor take any: a part may be missing."""

    def __init__(self, trees: Sequence[Tree]):
        self.trees = trees
        self.alike: dict[Kind, list[tuple[int, int]]] = {}  # trees and tops of subtrees that may stand for each other
        for number, tree in enumerate(trees):
            for top in tops(tree):
                self.alike.setdefault(kind(tree, top), []).append((number, top))

    def exchanged(self, tree: Tree, rate: float, generator: np.random.Generator) -> Tree:
        """One of the trees after as many exchanges, on average, as the rate says."""
        for _ in range(int(rate + generator.random())):
            tree = self._once(tree, generator)
        return tree

    def _once(self, tree: Tree, generator: np.random.Generator) -> Tree:
        places = tops(tree)
        if not places:
            return tree
        top = places[generator.integers(len(places))]
        others = self.alike[kind(tree, top)]
        number, other_top = others[generator.integers(len(others))]
        place, other = subtree(tree, top), subtree(self.trees[number], other_top)
        is_long = len(tree) - len(place) + len(other) > LONGEST * len(tree)
        return tree if is_long else put(other, place)


def tops(tree: Tree) -> list[int]:
    """Words whose subtrees may be exchanged: no roots, none without a label, which might be anything, and no
    punctuation, where a comma for a full stop would teach nothing.

    >>> tops(Tree(["the", "dog", "barks", "."], [2, 3, 0, 3], ["det", "nsubj", "root", "punct"]))
    [1, 2]
    """
    if UNKNOWN in tree.heads:
        return []
    arcs = enumerate(zip(tree.heads, tree.labels, strict=True), 1)
    return [word for word, (head, label) in arcs if head and universal(label) not in (PUNCTUATION, UNLABELLED)]


def kind(tree: Tree, top: int) -> Kind:
    """Subtrees of one kind may stand for each other: the label, and whether the head is to the left."""
    return tree.labels[top - 1], tree.heads[top - 1] < top


def subtree(tree: Tree, top: int) -> Subtree:
    """Of a projective tree: there what is below a word is next to it.

    >>> subtree(Tree(["the", "dog", "barks"], [2, 3, 0], ["det", "nsubj", "root"]), 2)[1:]
    (2, 1, 2)
    """
    first = last = top
    while first > 1 and _is_below(tree, first - 1, top):
        first -= 1
    while last < len(tree) and _is_below(tree, last + 1, top):
        last += 1
    return Subtree(tree, top, first, last)


def _is_below(tree: Tree, word: int, top: int) -> bool:
    while word and word != top:
        word = tree.heads[word - 1]
    return word == top


def put(other: Subtree, place: Subtree) -> Tree:
    """The tree of `place` with the other subtree in its place.

    >>> seen = Tree(["dogs", "see", "cats"], [2, 0, 2], ["nsubj", "root", "obj"])
    >>> heard = Tree(["we", "hear", "a", "noise"], [2, 0, 4, 2], ["nsubj", "root", "det", "obj"])
    >>> put(subtree(heard, 4), subtree(seen, 3))
    Tree(words=['dogs', 'see', 'a', 'noise'], heads=[2, 0, 4, 2], labels=['nsubj', 'root', 'det', 'obj'])
    """
    tree, longer = place.tree, len(other) - len(place)
    moved = place.first - other.first

    def outside(head: int) -> int:
        return head if head < place.first else head + longer

    inside = [head + moved for head in other.tree.heads[other.first - 1 : other.last]]
    inside[other.top - other.first] = outside(tree.heads[place.top - 1])
    before, put_in, after = slice(place.first - 1), slice(other.first - 1, other.last), slice(place.last, None)
    return Tree(
        tree.words[before] + other.tree.words[put_in] + tree.words[after],
        [*map(outside, tree.heads[before]), *inside, *map(outside, tree.heads[after])],
        tree.labels[before] + other.tree.labels[put_in] + tree.labels[after],
    )
