"""Trees with required and without forbidden arcs."""

import math

import pytest
import torch

import softparse
from softparse.corpus.problems import CorpusError
from softparse.corpus.sentence import Sentence
from softparse.parser import Parser, Restricted
from softparse.trees import NonProjectiveTrees

WORDS = ["the", "dog", "sees", "a", "big", "cat", "."]


@pytest.fixture(scope="module")
def parser(model):
    return softparse.load(model)


def test_required_and_forbidden_arcs(parser):
    free, required, forbidden = parser.parse(
        [WORDS, Restricted(WORDS, required={4: 3}), Restricted(WORDS, forbidden={(6, 4), (3, 7)})]
    )
    assert free.heads == [2, 3, 0, 6, 6, 3, 3]
    assert required.heads[3] == 3
    assert forbidden.heads[3] != 6
    assert forbidden.heads[6] != 3


def test_the_distribution_is_the_conditional_one(parser):
    """Probabilities of the restricted trees are those of all trees, over the total of what is allowed."""
    torch.manual_seed(5)
    unsure = Parser(parser.config, parser.vocabulary)  # which has learnt nothing, so that nothing is certain
    unsure.network.eval()
    with torch.no_grad():
        trees = unsure.trees([WORDS])
        head, total = 6, 1 - float(trees.marginals[0, 6, 5].double())
        assert 0.1 < total < 0.99
        heads, logs = trees.kbest(50)
        allowed = heads[:, 0, 5] != head
        some, restricted = unsure.trees([Restricted(WORDS, forbidden={(head, 5)})]).kbest(int(allowed.sum()))
    assert torch.equal(some[0, 0], heads[allowed][0, 0])
    expected = logs[:, 0][allowed] - math.log(total)
    torch.testing.assert_close(restricted[:, 0], expected, atol=1e-3, rtol=0)
    (parse,) = unsure.parse([Restricted(WORDS, forbidden={(head, 5)})], confidence=True, method="eisner")
    assert parse.log_probability == pytest.approx(float(expected[0]), abs=1e-3)


def test_other_sentences_of_the_batch_are_free(parser):
    together = parser.parse([WORDS, Restricted(WORDS, required={1: 3}), WORDS[:3]], confidence=True, kbest=3)
    alone = [parser.parse([sentence], confidence=True, kbest=3)[0] for sentence in (WORDS, WORDS[:3])]
    assert [together[0].heads, together[2].heads] == [parse.heads for parse in alone]
    assert together[0].probabilities == pytest.approx(alone[0].probabilities, abs=1e-4)
    assert all(tree.heads[0] == 3 for tree in (together[1], *together[1].others))


def test_with_heads_that_are_there(parser):
    sentence = Sentence.from_words(WORDS).with_tree([-1, -1, 0, 3, -1, -1, -1], ["_"] * 7)
    (parse,) = parser.parse([Restricted(sentence, required={7: 6})], complete=True)
    assert (parse.heads[2], parse.heads[3], parse.heads[6]) == (0, 3, 6)
    (parse,) = parser.parse([Restricted(sentence, required={7: 6})])
    assert parse.heads[6] == 6
    assert parse.heads[3] == 6  # what is there is not looked at unless asked


def test_a_required_head_where_another_one_is_to_be_kept(parser):
    given = Sentence.from_words(["a", "b", "c"]).with_tree([2, 0, 2], ["x", "root", "x"])
    assert parser.parse([Restricted(given, required={3: 2})], complete=True)[0].heads == [2, 0, 2]
    with pytest.raises(CorpusError, match="word 3 is to have the head 1, but the sentence has 2 there"):
        parser.parse([Restricted(given, required={3: 1})], complete=True)


def test_non_projective_trees(parser):
    crossing = Restricted(WORDS, required={1: 5, 2: 7})
    with pytest.raises(CorpusError, match="no single-rooted projective tree has the required arcs"):
        parser.parse([crossing])
    (parse,) = parser.parse([crossing], method="nonprojective")
    assert (parse.heads[0], parse.heads[1]) == (5, 7)
    assert isinstance(parser.trees([crossing], projective=False), NonProjectiveTrees)


@pytest.mark.parametrize("arc", [(0, 0), (3, 3), (8, 1), (1, 8), (-1, 1)])
def test_arcs_that_do_not_exist(arc):
    head, word = arc
    with pytest.raises(CorpusError, match=rf"no arc from {head} to {word} in a sentence of 7 words"):
        Restricted(WORDS, forbidden={arc})
    with pytest.raises(CorpusError, match="no arc"):
        Restricted(WORDS, required={word: head})


def test_no_tree_is_left(parser):
    with pytest.raises(CorpusError, match="take some back"):
        parser.parse([WORDS, Restricted(WORDS, required={1: 0, 2: 0})])
    with pytest.raises(CorpusError, match="take some back"):
        parser.parse([Restricted(WORDS, required={1: 0}, forbidden={(0, 1)})])
