"""Reports as they are printed."""

from softparse.corpus.sentence import Sentence
from softparse.evaluation import compare, report, score

WORDS = Sentence.from_words(["They", "walk", "home", "."])
GOLD = WORDS.with_tree([2, 0, 2, 2], ["nsubj", "root", "obl", "punct"])
WORSE = WORDS.with_tree([2, 0, 1, 3], ["nsubj", "root", "obl", "punct"])
BETTER = WORDS.with_tree([2, 0, 2, 2], ["nsubj", "root", "advmod", "punct"])


def test_one_prediction():
    assert report(score([GOLD] * 2, [WORSE, BETTER])) == (
        "                       UAS    LAS   CLAS\n"
        "all words            75.00  62.50  66.67      8 words\n"
        "without punctuation  83.33  66.67  66.67      6 words\n"
        "whole sentences      50.00   0.00         2 sentences"
    )


def test_two_predictions():
    first, second = [WORSE] * 5, [BETTER] * 5
    comparison = compare([GOLD] * 5, first, second, draws=99)
    text = report(score([GOLD] * 5, first), score([GOLD] * 5, second), comparison, ("old", "new"))
    assert text.splitlines()[:3] == [
        "                             old     new  difference     95 % interval         p",
        "UAS                        50.00  100.00      +50.00  +50.00 to +50.00  ≤ 0.0100",
        "LAS                        50.00   75.00      +25.00  +25.00 to +25.00  ≤ 0.0100",
    ]
    assert text.endswith("p: two-sided paired bootstrap over sentences, 99 draws")


def test_two_predictions_without_a_test():
    text = report(score([GOLD], [WORSE]), score([GOLD], [BETTER]))
    assert "difference" in text
    assert "interval" not in text


def test_what_is_left_out_is_said():
    gold = WORDS.with_tree([2, 0, "_", 2], ["nsubj", "root", "_", "_"])
    text = report(score([gold], [BETTER]))
    assert "words without a gold head, left out: 1" in text
    assert "no gold label, which lower LAS: 1" in text
