"""A trained parser at work."""

import itertools
import math
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import softparse
from softparse.corpus.batches import batched
from softparse.corpus.conllu import read, read_conllu
from softparse.corpus.problems import CorpusError
from softparse.corpus.sentence import Sentence
from softparse.trees import ProjectiveTrees, is_tree, operators

WORDS = ["the", "dog", "sees", "a", "big", "cat", "."]


@pytest.fixture(scope="module")
def parser(model):
    return softparse.load(model)


def test_a_sentence(parser):
    (parse,) = parser.parse([WORDS])
    assert parse.words == WORDS
    assert parse.heads == [2, 3, 0, 6, 6, 3, 3]
    assert parse.labels == ["det", "nsubj", "root", "det", "amod", "obj", "punct"]
    assert parse.probabilities is None


def test_order_empty_sentences_and_batches(parser, treebanks):
    sentences = [sentence.words for sentence in read(treebanks / "dev.conllu")]
    sentences[3:3] = [[], ["dog"]]
    together = parser.parse(sentences, confidence=True)
    assert [parse.words for parse in together] == sentences
    assert (together[3].heads, together[4].heads) == ([], [0])
    for sentence, parse in zip(sentences, together, strict=True):
        if sentence:
            (alone,) = parser.parse([sentence], confidence=True)
            assert (alone.heads, alone.labels) == (parse.heads, parse.labels)
            assert alone.probabilities == pytest.approx(parse.probabilities, abs=1e-4)


def test_a_stream_is_not_read_ahead_without_end(parser):
    endless = itertools.repeat(WORDS)
    first = list(itertools.islice(parser.pipe(endless), 3))
    assert [parse.heads for parse in first] == [[2, 3, 0, 6, 6, 3, 3]] * 3


def test_confidence(parser):
    (parse,) = parser.parse([WORDS], confidence=True)
    trees = parser.trees([WORDS])
    heads = torch.tensor([[-1, *parse.heads]])
    assert isinstance(trees, ProjectiveTrees)
    assert parse.log_probability == pytest.approx(float(trees.log_prob(heads)[0].detach()), abs=1e-4)
    for word, (head, probability) in enumerate(zip(parse.heads, parse.probabilities, strict=True), 1):
        assert probability == pytest.approx(float(trees.marginals[0, head, word].detach()), abs=1e-4)
    trees.log_partition.sum().backward()
    assert parser.network.words.embedding.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("method", ["eisner", "mbr", "nonprojective"])
def test_kbest(parser, method):
    (parse,) = parser.parse([WORDS], kbest=5, method=method)
    ranked = [parse, *parse.others]
    assert len({tuple(tree.heads) for tree in ranked}) == 5
    logs = [tree.log_probability for tree in ranked[method == "mbr" :]]
    assert logs == sorted(logs, reverse=True)
    assert parse.heads == parser.parse([WORDS], method=method)[0].heads
    (short,) = parser.parse([["the", "dog"]], kbest=5)
    assert len(short.others) == 1  # two words have two single-rooted trees
    assert math.exp(short.log_probability) + math.exp(short.others[0].log_probability) == pytest.approx(1, abs=1e-4)


def test_the_first_of_the_best_trees_is_the_parse(parser):
    """Where it is not the most probable one it comes before it, whether it is among the k most probable or not."""
    generator = torch.Generator().manual_seed(5)
    places = set()
    for turn in range(100):
        known = WORDS * (1 + turn % 4)  # the longer a sentence, the more trees are about as probable as the best one
        words = [known[place] for place in torch.randperm(len(known), generator=generator).tolist()]
        trees = parser.trees([words])
        best, first = trees.kbest(4)[0], trees.mbr
        is_first = (best == first).all(-1)[:, 0]
        places.add(int(is_first.int().argmax()) if is_first.any() else None)
        expected = torch.cat([first[None], best[~is_first]])[:3]
        (parse,) = parser.parse([words], kbest=3)
        # By their probabilities: heads are those of trees from which the lifted arcs have been put back.
        logs = [tree.log_probability for tree in (parse, *parse.others)]
        assert logs == pytest.approx(trees.log_prob(expected)[:, 0].tolist(), abs=1e-3)
    assert places >= {0, 1, None}  # so that all cases were seen


@pytest.mark.parametrize("method", ["eisner", "mbr", "nonprojective"])
@pytest.mark.parametrize("single_root", [True, False])
def test_ways_of_decoding(parser, method, single_root):
    generator = torch.Generator().manual_seed(3)
    for _ in range(5):
        order = torch.randperm(len(WORDS), generator=generator).tolist()
        words = [WORDS[place] for place in order]
        (parse,) = parser.parse([words], method=method, single_root=single_root, confidence=True)
        heads = torch.tensor([[-1, *parse.heads]])
        lengths = torch.tensor([len(words)])
        assert is_tree(heads, lengths, projective=False, single_root=single_root)
        assert all(0 <= probability <= 1 for probability in parse.probabilities)


def sentence(*heads):
    rows = [f"{place}\t{word}\t_\t_\t_\t_\t{head}\t{'x' if head != '_' else '_'}\t_\t_\n"
            for place, (word, head) in enumerate(zip(WORDS, heads, strict=True), 1)]  # fmt: skip
    (result,) = read_conllu([row.encode() for row in rows])
    return result


def test_completing_partial_trees(parser):
    given = sentence(3, "_", "_", "_", 4, "_", "_")
    (parse,) = parser.parse([given], complete=True)
    assert parse.heads[0] == 3
    assert parse.heads[4] == 4
    assert parse.labels[0] == parse.labels[4] == "x"
    trees = parser.trees([WORDS]).given(torch.tensor([[-1, 3, -1, -1, -1, 4, -1, -1]]))
    assert parse.heads == trees.mbr[0, 1:].tolist()
    (probable,) = parser.parse([given], complete=True, method="eisner")
    assert probable.heads == trees.mode[0, 1:].tolist()
    (whole,) = parser.parse([sentence(2, 3, 0, 6, 6, 3, 3)], complete=True)
    assert whole.labels == ["x"] * 7


def test_what_cannot_be_completed(parser):
    with pytest.raises(CorpusError, match=r"<memory>:1: no single-rooted projective tree contains the heads given"):
        parser.parse([sentence(3, 4, "_", "_", "_", "_", "_")], complete=True)
    (parse,) = parser.parse([sentence(3, 4, "_", "_", "_", "_", "_")], complete=True, method="nonprojective")
    assert parse.heads[:2] == [3, 4]
    cycle = sentence(2, 1, "_", "_", "_", "_", "_")
    for method in ("eisner", "nonprojective"):
        with pytest.raises(CorpusError, match="a cycle of 2 words"):
            parser.parse([cycle], complete=True, method=method)
    both = sentence(3, 4, 0, 0, "_", "_", "_")
    for method, single_root, remedy in [
        ("eisner", True, "correct them, or use --decode nonprojective and --multi-root"),
        ("eisner", False, "correct them, or use --decode nonprojective"),
        ("nonprojective", True, "correct them, or use --multi-root"),
    ]:
        with pytest.raises(CorpusError, match=f"tree contains the heads given; {remedy}$"):
            parser.parse([both], complete=True, method=method, single_root=single_root)
    parser.parse([both], complete=True, method="nonprojective", single_root=False)
    with pytest.raises(CorpusError, match="HEAD 17 but the sentence has 7 words"):
        parser.parse([sentence(17, "_", "_", "_", "_", "_", "_")], complete=True)


def test_a_very_long_sentence(parser):
    words = list(itertools.islice(itertools.cycle(WORDS), 700))
    (parse,) = parser.parse([words])
    assert is_tree(torch.tensor([[-1, *parse.heads]]), torch.tensor([700]), projective=False, single_root=True)


def test_odd_words(parser):
    words = ["two words", "👩‍👩‍👧", "x" * 5000, "١٢", " "]
    assert len(parser.parse([words])[0].heads) == 5


def test_wrong_options(parser):
    with pytest.raises(ValueError, match="kbest must be at least 1"):
        parser.parse([WORDS], kbest=0)
    with pytest.raises(ValueError, match="method must be eisner"):
        parser.parse([WORDS], method="best")


def test_sentences_as_they_come_from_files(parser):
    given = Sentence.from_words(WORDS)
    assert parser.parse([given]) == parser.parse([WORDS])


def test_sums_over_trees_are_made_once(parser, monkeypatch):
    """They are most of the cost of long sentences."""
    calls = []
    sums = operators._fill_by_products
    monkeypatch.setattr(operators, "_fill_by_products", lambda *given: calls.append(len(given[0])) or sums(*given))
    for options, expected in [
        ({"method": "eisner"}, 0),
        ({"method": "eisner", "confidence": True}, 1),
        ({}, 1),
        ({"confidence": True}, 1),
        ({"confidence": True, "kbest": 3}, 1),
        ({"kbest": 3}, 1),
    ]:
        calls.clear()
        parser.parse([WORDS], **options)
        assert len(calls) == expected, options
    calls.clear()
    parser.parse([WORDS * 30] * 16, confidence=True)
    assert calls == [8, 8]  # what the kernel takes at once


def test_probabilities_of_the_distribution(parser):
    (parse,) = parser.parse([WORDS], confidence=True)
    heads = torch.tensor([[-1, *parse.heads]])
    trees = parser.trees([WORDS])
    assert parse.log_probability == pytest.approx(trees.log_prob(heads).item(), abs=1e-5)
    places = torch.arange(1, len(WORDS) + 1)
    assert parse.probabilities == pytest.approx(trees.marginals[0, heads[0, 1:], places].tolist(), abs=1e-5)


def test_long_sentences_in_one_batch():
    lengths = [10] * 30 + [400] * 20
    groups = batched(lengths, 128, 100, fewest=8)
    assert [len(group) for group in groups] == [9, 9, 9, 8, 8, 7]
    assert sorted(index for group in groups for index in group) == list(range(50))
    assert [len(group) for group in batched(lengths[30:], 128, 100)] == [1] * 20


def test_more_trees_than_there_are(parser, monkeypatch):
    calls = []
    score = parser.network.label_scores
    monkeypatch.setattr(parser.network, "label_scores", lambda *given: calls.append(1) or score(*given))
    one, two = parser.parse([["dog"], ["the", "dog"]], kbest=1000)
    assert (len(one.others), len(two.others)) == (0, 1)
    assert len(calls) == 2


def test_threads_share_a_parser(model):
    """New words come from all sides, and the tables of forms grow under them."""
    texts = [[[f"x{part}y{number}z{word}" for word in range(9)] for number in range(300)] for part in range(8)]
    expected = [softparse.load(model).parse(sentences) for sentences in texts]
    shared = softparse.load(model)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(shared.parse, texts)) == expected
    finally:
        sys.setswitchinterval(interval)
    assert [shared.parse(sentences) for sentences in texts] == expected
    assert pickle.loads(pickle.dumps(shared)).parse(texts[0]) == expected[0]


FORKED = """
import multiprocessing, sys, torch, softparse
torch.set_num_threads(2)
parser = softparse.load(sys.argv[1])
sentences = [["the", "dog", "sees", "a", "cat"] * 5] * 50
parser.parse(sentences)

def heads(_):
    return [parse.heads for parse in parser.parse(sentences)]

with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(heads, range(4)) == [heads(0)] * 4
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_processes(model):
    """Threads do not survive a fork; whoever waits for them waits for ever."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-c", FORKED, str(model)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)
    assert result.returncode == 0, result.stderr
