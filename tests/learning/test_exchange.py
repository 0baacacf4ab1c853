"""Exchanged subtrees: against trees that are taken apart and put together again, and in training."""

from collections import Counter
from dataclasses import replace

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from softparse.corpus.batches import Tree
from softparse.learning.config import TrainConfig
from softparse.learning.exchange import LONGEST, Exchange, kind, put, subtree, tops
from softparse.learning.plan import TreeBatches
from softparse.learning.training import train
from tests import oracle
from tests.learning.runs import small


@st.composite
def projective_trees(draw, longest=5):
    size = draw(st.integers(1, longest))
    heads = draw(st.sampled_from(oracle.trees(size, single_root=True, projective=True)))[1:]
    labels = draw(st.lists(st.sampled_from(["nsubj", "obj", "punct"]), min_size=size, max_size=size))
    words = [f"{draw(st.integers(0, 9999))}-{place}" for place in range(size)]
    return Tree(words, list(heads), ["root" if head == 0 else label for head, label in zip(heads, labels, strict=True)])


def taken_apart(tree, top):
    """A node: its word, its label, and the nodes to its left and to its right."""
    below = [word for word in range(1, len(tree) + 1) if tree.heads[word - 1] == top]
    left = [taken_apart(tree, word) for word in below if word < top]
    right = [taken_apart(tree, word) for word in below if word > top]
    return tree.words[top - 1], tree.labels[top - 1], left, right


def replaced(node, old, new):
    if node == old:
        return new
    word, label, left, right = node
    return word, label, [replaced(child, old, new) for child in left], [replaced(child, old, new) for child in right]


@given(projective_trees(), projective_trees(), st.randoms(use_true_random=False))
def test_a_subtree_in_the_place_of_another(tree, other, choose):
    if not tops(tree) or not tops(other):
        return
    top, other_top = choose.choice(tops(tree)), choose.choice(tops(other))
    root = tree.heads.index(0) + 1
    made = put(subtree(other, other_top), subtree(tree, top))
    place, comes = taken_apart(tree, top), taken_apart(other, other_top)
    assert taken_apart(made, made.heads.index(0) + 1) == replaced(taken_apart(tree, root), place, comes)
    assert oracle.is_tree((-1, *made.heads))
    assert oracle.is_projective((-1, *made.heads))
    at = subtree(tree, top).first + other_top - subtree(other, other_top).first
    assert put(subtree(tree, top), subtree(made, at)) == tree


def test_what_may_be_exchanged():
    tree = Tree(["no", ",", "dogs", "bark"], [4, 1, 4, 0], ["discourse", "punct", "nsubj", "root"])
    assert tops(tree) == [1, 3]
    assert [kind(tree, top) for top in tops(tree)] == [("discourse", False), ("nsubj", False)]
    assert tops(Tree(["no", "dogs", "bark"], [3, -1, 0], ["discourse", "_", "root"])) == []
    assert tops(Tree(["no", "dogs", "bark"], [3, 3, 0], ["_", "nsubj", "root"])) == [2]


def alike(number):
    """Trees of one shape, in which every word tells where it comes from."""
    return [
        Tree([f"s{n}", f"v{n}", f"a{n}", f"o{n}"], [2, 0, 4, 2], ["nsubj", "root", "amod", "obj"])
        for n in range(number)
    ]


def test_only_subtrees_of_the_same_kind_come_in():
    trees = alike(20)
    exchange, generator = Exchange(trees), np.random.default_rng(0)
    found = [exchange.exchanged(trees[0], 3.0, generator) for _ in range(300)]
    assert {tuple(tree.heads) for tree in found} == {(2, 0, 4, 2)}
    assert {tuple(tree.labels) for tree in found} == {tuple(trees[0].labels)}
    assert all([word[0] for word in tree.words] == ["s", "v", "a", "o"] for tree in found)
    assert {tree.words[1] for tree in found} == {"v0"}
    assert {tree.words[0] for tree in found} == {f"s{n}" for n in range(20)}
    assert any(tree.words[2][1:] != tree.words[3][1:] for tree in found)  # an exchange within what came in


def test_how_many():
    trees = [Tree([f"s{n}", "v"], [2, 0], ["nsubj", "root"]) for n in range(10_000)]
    exchange, generator = Exchange(trees), np.random.default_rng(1)
    assert all(exchange.exchanged(tree, 0.0, generator) is tree for tree in trees)
    changed = Counter(exchange.exchanged(tree, 0.3, generator) is not tree for tree in trees)
    assert 0.28 < changed[True] / len(trees) < 0.32


def test_partial_trees_give_and_take_nothing():
    trees = [*alike(2), Tree(["s9", "v9"], [2, -1], ["nsubj", "_"])]
    exchange, generator = Exchange(trees), np.random.default_rng(2)
    assert exchange.exchanged(trees[2], 5.0, generator) is trees[2]
    words = {word for _ in range(100) for word in exchange.exchanged(trees[0], 5.0, generator).words}
    assert not words & {"s9", "v9"}


def test_sentences_do_not_grow_without_end():
    long = Tree([f"w{n}" for n in range(60)], [*range(2, 60), 60, 0], [*["compound"] * 58, "obj", "root"])
    trees = [Tree(["o", "v"], [2, 0], ["obj", "root"]), long]
    exchange, generator = Exchange(trees), np.random.default_rng(3)
    for _ in range(200):
        for tree in trees:
            assert len(exchange.exchanged(tree, 1.0, generator)) <= LONGEST * len(tree)


def test_batches_are_of_other_trees_in_every_epoch():
    """But trees that a parser has made stay as they are."""
    trees, parsed = alike(50), [Tree(["p", "v"], [2, 0], ["nsubj", "root"])] * 5
    batches = TreeBatches(trees, parsed, TrainConfig(exchange=1.0, batch_words=50))
    first, second = ([tree for batch in batches.epoch(number) for tree in batch] for number in (0, 1))
    for epoch in first, second:
        assert len(epoch) == 55
        assert [tree for tree in epoch if len(tree) == 2] == parsed
        assert sorted(tree.words[1] for tree in epoch if len(tree) == 4) == sorted(tree.words[1] for tree in trees)
    words = [{tree.words[1]: tree.words for tree in epoch} for epoch in (first, second)]
    assert sum(words[0][verb] != words[1][verb] for verb in words[0]) > 40
    assert batches.epoch(1) == TreeBatches(trees, parsed, batches.config).epoch(1)  # the seed gives them
    assert batches.epoch(1) != TreeBatches(trees, parsed, replace(batches.config, seed=2)).epoch(1)


def test_many_trees_are_exchanged_less():
    trees = alike(200)

    def changed(limit):
        batches = TreeBatches(trees, [], TrainConfig(exchange=0.8, exchange_trees=limit)).epoch(0)
        return sum(tree not in trees for batch in batches for tree in batch)

    assert 0.1 * 200 < changed(50) < 0.3 * 200
    assert 0.6 * 200 < changed(200) == changed(300) == changed(0) < 200


def test_batches_go_by_the_lengths_that_come_of_it():
    """So that there is as little padding as without."""
    phrase = Tree([*"abcdef", "v"], [6, 6, 6, 6, 6, 7, 0], [*["amod"] * 5, "nsubj", "root"])
    trees = [phrase, Tree(["n", "v"], [2, 0], ["nsubj", "root"])] * 100
    batches = TreeBatches(trees, [], TrainConfig(exchange=3.0, batch_sentences=10, batch_words=60)).epoch(0)
    lengths = Counter(len(tree) for batch in batches for tree in batch)
    assert lengths[7] != 100
    assert sum(len({len(tree) for tree in batch}) > 1 for batch in batches) <= 1
    assert all(len(batch) * (max(map(len, batch)) + 1) <= 60 for batch in batches)


def test_training_learns_from_them(treebanks):
    plain, exchanged = (
        train(small(treebanks, "", "train.epochs=2", f"train.exchange={rate}")).network.state_dict() for rate in (0, 1)
    )
    assert any(not torch.equal(plain[name], exchanged[name]) for name in plain)
