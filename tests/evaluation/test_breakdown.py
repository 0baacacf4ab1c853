"""Breakdowns against plain counting."""

import json

import pytest

from softparse.corpus.sentence import Sentence
from softparse.evaluation import break_down, score
from softparse.evaluation.breakdown import distance

from .treebanks import sentences, treebank


def words(gold, predicted):
    for one, other in zip(gold, predicted, strict=True):
        for word, parts in enumerate(zip(one.heads, one.labels, other.heads, other.labels, strict=True), 1):
            gold_head, gold_label, head, label = parts
            yield word, gold_head, gold_label.split(":")[0], head, label.split(":")[0]


@pytest.fixture(params=range(3))
def treebanks(request):
    return [sentences(text) for text in treebank(request.param, sentences=30, longest=60)]


def test_distances(treebanks):
    rows = {row.name: row for row in break_down(*treebanks).distances}
    assert list(rows) == ["root", "1", "2", "3–6", "≥7"]
    for name, row in rows.items():
        gold = [w for w in words(*treebanks) if distance(w[1], w[0]) == name]
        predicted = [w for w in words(*treebanks) if distance(w[3], w[0]) == name]
        assert (row.gold, row.predicted) == (len(gold), len(predicted))
        assert row.recall(with_head=False) == pytest.approx(100 * sum(w in predicted for w in gold) / len(gold))
        assert row.recall() == pytest.approx(100 * sum(w[1] == w[3] for w in gold) / len(gold))
        assert row.precision() == pytest.approx(100 * sum(w[1] == w[3] for w in predicted) / len(predicted))
    assert sum(row.with_head for row in rows.values()) == score(*treebanks).all_words.heads


def test_labels(treebanks):
    rows = break_down(*treebanks).labels
    assert [row.gold for row in rows] == sorted((row.gold for row in rows), reverse=True)
    assert sum(row.with_head for row in rows) == score(*treebanks).all_words.labelled
    assert sum(row.gold for row in rows) == sum(row.predicted for row in rows) == score(*treebanks).words
    for row in rows:
        agreeing = [w for w in words(*treebanks) if w[2] == w[4] == row.name]
        assert (row.alone, row.with_head) == (len(agreeing), sum(w[1] == w[3] for w in agreeing))


def test_lengths(treebanks):
    result = break_down(*treebanks)
    assert sum(row.sentences for row in result.lengths) == len(treebanks[0])
    assert sum((row.counts for row in result.lengths[1:]), result.lengths[0].counts) == score(*treebanks).all_words
    chosen = [pair for pair in zip(*treebanks, strict=True) if 11 <= len(pair[0]) <= 20]
    assert result.lengths[1].counts == score(*zip(*chosen, strict=True)).all_words


def test_without_punctuation(treebanks):
    result, expected = break_down(*treebanks, punctuation=False), score(*treebanks).without_punctuation
    assert sum(row.with_head for row in result.distances) == expected.heads
    assert sum(row.counts.las * row.counts.words for row in result.lengths) == pytest.approx(100 * expected.labelled)


def test_boundaries_of_lengths():
    texts = [Sentence.from_words(["a"] * n).with_tree(range(n), ["x"] * n) for n in (10, 11, 20, 21, 30, 31, 40, 41)]
    assert [row.sentences for row in break_down(texts, texts).lengths] == [1, 2, 2, 2, 1]


def test_unknown_heads():
    gold = Sentence.from_words("abc").with_tree(["_", 0, 2], ["x", "root", "y"])
    predicted = Sentence.from_words("abc").with_tree([2, 0, "_"], ["x", "root", "y"])
    result = break_down([gold], [predicted])
    assert [(row.gold, row.predicted) for row in result.distances] == [(1, 1), (1, 0), (0, 0), (0, 0), (0, 0)]


def test_text_and_json(treebanks):
    result = break_down(*treebanks)
    text = result.text()
    assert "3–6" in text
    assert ">40" in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert json.loads(json.dumps(result.as_dict()))["labels"]["root"]["gold"] > 0
