"""Bins, and the expected calibration error, against what one can do by hand."""

import math

import pytest

from softparse.corpus.sentence import Sentence
from softparse.evaluation.reliability import Judgements, reliability


def test_error_by_hand():
    # (0, 0.5]: 0.2 and 0.4, one right: |0.5 − 0.3| = 0.2 for two; (0.5, 1]: 0.9, 0.8, 1.0, two right: |2/3 − 0.9| for 3
    found = reliability([0.2, 0.9, 0.4, 0.8, 1.0], [True, True, False, False, True], bins=2)
    assert [bin.number for bin in found.bins] == [2, 3]
    assert [bin.predicted for bin in found.bins] == pytest.approx([0.3, 0.9])
    assert [bin.right for bin in found.bins] == pytest.approx([0.5, 2 / 3])
    assert found.error == pytest.approx((2 * 0.2 + 3 * (0.9 - 2 / 3)) / 5)
    assert (found.number, found.right) == (5, pytest.approx(0.6))
    assert found.predicted == pytest.approx(3.3 / 5)


def test_errors_of_a_bin_make_up_for_each_other_and_those_of_two_do_not():
    assert reliability([0.75, 0.75, 0.75, 0.75], [True, True, True, False], bins=2).error == 0
    assert reliability([0.25, 0.75], [True, False], bins=2).error == pytest.approx(0.75)
    assert reliability([0.25, 0.75], [True, False], bins=1).error == 0


def test_bounds_belong_to_the_bin_below():
    found = reliability([0.0, 0.1, 0.1000001, 0.3, 0.7, 1.0], [False] * 6)
    assert [bin.number for bin in found.bins] == [2, 1, 1, 0, 0, 0, 1, 0, 0, 1]
    assert (found.bins[0].low, found.bins[0].high) == (0.0, 0.1)


def test_nothing_and_wrong_input():
    assert reliability([], []).error == 0
    with pytest.raises(ValueError, match=r"between 0 and 1, got 0\.5 to 1\.5"):
        reliability([0.5, 1.5], [True, True])
    with pytest.raises(ValueError, match="between 0 and 1"):
        reliability([math.nan], [True])
    with pytest.raises(ValueError, match="2 probabilities, but 1 predictions"):
        reliability([0.5, 0.5], [True])


def test_judging_sentences():
    gold = Sentence.from_words(["They", "walk", "."]).with_tree([2, 0, 2], ["nsubj:pass", "root", "punct"])
    partial = Sentence.from_words(["They", "walk"]).with_tree([-1, 0], ["_", "_"])
    judgements = Judgements()
    judgements.add(gold, [2, 0, 1], ["nsubj", "root", "punct"], [0.9, 0.8, 0.6], [0.5, 1.0, 0.5], math.log(0.5))
    judgements.add(gold, [2, 0, 2], ["nsubj:pass", "root", "x"], [1.0, 1.0, 1.0], [1.0, 1.0, 0.25], 1e-7)
    judgements.add(partial, [2, 0], ["nsubj", "root"], [0.1, 0.2], [1.0, 1.0], 0.0)
    judgements.add(Sentence.from_words([]), [], [], [], [], 0.0)
    found = judgements.reliabilities(bins=4)
    assert [name for name, _ in found] == ["arcs", "labelled_arcs", "trees"]
    assert [(bin.number, bin.right) for bin in found.arcs.bins] == [(1, 1.0), (0, 0.0), (1, 0.0), (5, 1.0)]
    # 0.45 wrong (another subtype), 0.8, 0.3 wrong; 1, 1, 0.25 wrong
    assert [(bin.number, bin.right) for bin in found.labelled_arcs.bins] == [(1, 0.0), (2, 0.0), (0, 0.0), (3, 1.0)]
    assert [bin.number for bin in found.trees.bins] == [0, 1, 0, 1]  # the partial tree is not judged
    assert found.trees.right == 0.5
    only = Judgements()
    only.add(partial, [2, 0], ["nsubj", "root"], [0.1, 0.2], [1.0, 1.0], 0.0)
    assert [name for name, _ in only.reliabilities()] == ["arcs"]
