"""The paired bootstrap: its ends, its law under no difference, and its independence of chunks."""

import numpy
import pytest
from hypothesis import given, settings, strategies
from scipy import stats

from softparse.corpus.sentence import Sentence
from softparse.evaluation import compare, paired_bootstrap, sentence_counts, significance

from .treebanks import sentences, treebank


@given(strategies.lists(strategies.floats(0, 30), min_size=1, max_size=20), strategies.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_equal_parsers(correct, seed):
    result = paired_bootstrap(correct, correct, [30] * len(correct), draws=50, seed=seed)
    assert (result.difference, result.low, result.high, result.p) == (0.0, 0.0, 0.0, 1.0)


@given(strategies.lists(strategies.tuples(*[strategies.integers(0, 9)] * 2), min_size=1, max_size=20))
@settings(max_examples=30, deadline=None)
def test_the_other_way_round(pairs):
    first, second = zip(*pairs, strict=True)
    one = paired_bootstrap(first, second, [9] * len(pairs), draws=100)
    other = paired_bootstrap(second, first, [9] * len(pairs), draws=100)
    assert one.difference == pytest.approx(-other.difference)
    assert one.p == other.p
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert 1 / 101 <= one.p <= 1


def test_a_much_better_parser():
    generator = numpy.random.default_rng(0)
    words = generator.integers(5, 40, 500)
    result = paired_bootstrap(generator.binomial(words, 0.7), generator.binomial(words, 0.9), words)
    assert result.p == 1 / 10_001
    assert 18 < result.low < result.difference < result.high < 22


def test_p_is_uniform_without_a_difference():
    generator = numpy.random.default_rng(1)
    values = []
    for seed in range(400):
        words = generator.integers(5, 40, 100)
        easiness = generator.beta(8, 2, 100)  # what makes the two parsers alike
        first, second = generator.binomial(words, easiness), generator.binomial(words, easiness)
        values.append(paired_bootstrap(first, second, words, draws=199, seed=seed).p)
    assert stats.kstest(values, "uniform").pvalue > 0.01
    assert 0.025 < numpy.mean(numpy.array(values) <= 0.05) < 0.085


def test_interval_covers_the_truth():
    generator = numpy.random.default_rng(2)
    covered = 0
    for seed in range(300):
        words = generator.integers(5, 40, 100)
        result = paired_bootstrap(generator.binomial(words, 0.8), generator.binomial(words, 0.83), words, 299, seed)
        covered += result.low <= 3 <= result.high
    assert 0.90 < covered / 300 < 0.99


def test_p_is_near_that_of_the_t_test():
    """With equally long sentences and many of them the two ask the same question."""
    generator = numpy.random.default_rng(3)
    words = numpy.full(2000, 20)
    first = generator.binomial(words, 0.8)
    second = numpy.clip(first + generator.integers(-1, 2, 2000) + (generator.random(2000) < 0.035), 0, 20)
    result = paired_bootstrap(first, second, words)
    assert result.p == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.01)
    assert 0.001 < result.p < 0.5


def test_chunks_do_not_matter(monkeypatch):
    words = numpy.arange(1, 31)
    expected = paired_bootstrap(words // 2, words // 3, words, draws=500, seed=5)
    monkeypatch.setattr(significance, "CHUNK", 70)
    assert paired_bootstrap(words // 2, words // 3, words, draws=500, seed=5) == expected
    assert paired_bootstrap(words // 2, words // 3, words, draws=500, seed=6) != expected


def test_means_over_runs():
    runs = numpy.random.default_rng(0).binomial(20, [[[0.8]], [[0.85]]], size=(2, 5, 200)).mean(axis=1)
    result = paired_bootstrap(*runs, numpy.full(200, 20))
    assert result.difference == pytest.approx(100 * (runs[1].sum() - runs[0].sum()) / 4000)
    assert result.p < 0.001


def test_sentences_without_scored_words_do_not_matter():
    one = paired_bootstrap([3, 4, 5], [5, 4, 5], [6, 6, 6], draws=100)
    assert paired_bootstrap([3, 0, 4, 5, 0], [5, 0, 4, 5, 0], [6, 0, 6, 6, 0], draws=100) == one


def test_files_are_compared():
    gold, first = (sentences(text) for text in treebank(0, sentences=50))
    result = compare(iter(gold), iter(first), iter(gold), draws=500)
    counts = sentence_counts(gold, first)
    assert result.uas == paired_bootstrap(counts.heads, counts.words, counts.words, draws=500)
    assert result.las == paired_bootstrap(counts.labelled, counts.words, counts.words, draws=500)
    assert result.uas.p == 1 / 501
    assert result.as_dict()["las"]["draws"] == 500


def test_errors():
    with pytest.raises(ValueError, match=r"shapes are \[2\], \[3\], \[2\]"):
        paired_bootstrap([1, 2], [1, 2, 3], [4, 4])
    with pytest.raises(
        ValueError, match=r"correct_b\[1\] is 5, but must lie between 0 and the words of the sentence, 4"
    ):
        paired_bootstrap([1, 2], [1, 5], [4, 4])
    with pytest.raises(ValueError, match="nan"):
        paired_bootstrap([1, numpy.nan], [1, 2], [4, 4])
    with pytest.raises(ValueError, match="no words"):
        paired_bootstrap([], [], [])
    with pytest.raises(ValueError, match="draws"):
        paired_bootstrap([1], [1], [1], draws=0)
    with pytest.raises(ValueError, match="no word with a gold head"):
        compare(*[[Sentence.from_words("ab")]] * 3)
