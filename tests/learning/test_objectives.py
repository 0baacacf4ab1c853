"""The losses, against enumeration of all trees."""

import itertools

import pytest
import torch

from softparse.corpus.batches import Numbering, Tree
from softparse.corpus.sentence import Sentence
from softparse.corpus.vocabulary import Vocabulary
from softparse.learning.objectives import arc_loss, label_loss
from softparse.trees import eisner
from tests.oracle import trees as all_trees

WORDS = ["a", "b", "c", "d"]


def batch(*heads):
    trees = [Tree(WORDS[: len(tree)], list(tree), ["x"] * len(tree)) for tree in heads]
    vocabulary = Vocabulary.of([Sentence.from_words(WORDS)], ["x", "y"])
    return Numbering(vocabulary, {}).training_batch(trees)


def total(scores, heads):
    return sum(scores[head, word] for word, head in enumerate(heads, 1))


def agrees(tree, known):
    return all(head in (-1, other) for head, other in zip(known, tree, strict=True))


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("known", [(2, 0, 2, 3), (-1, 0, -1, 3), (-1, -1, -1, 2)])
def test_crf_and_hinge(single_root, known):
    scores = torch.randn(1, 5, 5, dtype=torch.float64)
    trees = [tree[1:] for tree in all_trees(4, single_root=single_root, projective=True)]
    fitting = [tree for tree in trees if agrees(tree, known)]
    values = {tree: total(scores[0], tree) for tree in trees}
    crf = torch.logsumexp(torch.stack(list(values.values())), 0) - torch.logsumexp(
        torch.stack([values[tree] for tree in fitting]), 0
    )
    torch.testing.assert_close(arc_loss("crf", scores, batch(known), single_root), crf)
    cost = {tree: sum(head not in (-1, other) for head, other in zip(known, tree, strict=True)) for tree in trees}
    hinge = max(values[tree] + cost[tree] for tree in trees) - max(values[tree] for tree in fitting)
    torch.testing.assert_close(arc_loss("hinge", scores, batch(known), single_root), hinge)


def test_hinge_is_zero_with_a_margin():
    scores = torch.zeros(1, 5, 5)
    heads = (2, 0, 2, 3)
    for word, head in enumerate(heads, 1):
        scores[0, head, word] = 2.0
    assert arc_loss("hinge", scores, batch(heads), True) == 0


def test_hinge_pushes_the_violator_down():
    scores = torch.randn(1, 5, 5, requires_grad=True)
    heads = (2, 0, 2, 3)
    arc_loss("hinge", scores, batch(heads), True).backward()
    augmented = scores.detach() + 1
    for word, head in enumerate(heads, 1):
        augmented[0, head, word] -= 1
    violator = eisner(augmented)[0, 1:].tolist()
    expected = torch.zeros(5, 5)
    for word, (wrong, right) in enumerate(zip(violator, heads, strict=True), 1):
        expected[wrong, word] += 1
        expected[right, word] -= 1
    torch.testing.assert_close(scores.grad[0], expected)


def test_independent_heads():
    scores = torch.randn(2, 5, 5, dtype=torch.float64)
    given = [(2, 0, 2, 3), (-1, 1)]
    expected = torch.zeros((), dtype=torch.float64)
    for row, heads in enumerate(given):
        for word, head in enumerate(heads, 1):
            if head >= 0:
                others = [other for other in range(len(heads) + 1) if other != word]
                expected += torch.logsumexp(scores[row, others, word], 0) - scores[row, head, word]
    torch.testing.assert_close(arc_loss("heads", scores, batch(*given), True), expected)


def test_label_losses():
    scores = torch.tensor([[[0.0, 0.0], [2.0, 1.5], [3.0, 1.0], [9.0, 9.0]]])
    labels = torch.tensor([[-1, 0, 1, -1]])
    expected = torch.nn.functional.cross_entropy(scores[0, 1:3], labels[0, 1:3], reduction="sum")
    torch.testing.assert_close(label_loss("cross-entropy", scores, labels), expected)
    assert float(label_loss("hinge", scores, labels)) == pytest.approx(0.5 + 3.0)
    assert float(label_loss("hinge", scores[..., :1], labels.clamp(max=0))) == 0


def test_gradients_of_padding_are_zero():
    scores = torch.randn(2, 5, 5, requires_grad=True)
    for kind, single_root in itertools.product(("crf", "heads", "hinge"), (True, False)):
        scores.grad = None
        arc_loss(kind, scores, batch((2, 0, 2, 3), (0, 1)), single_root).backward()
        assert scores.grad[1, 3:].abs().max() == 0
        assert scores.grad[1, :, 3:].abs().max() == 0
