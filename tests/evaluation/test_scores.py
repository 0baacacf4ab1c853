"""Scores against the official scorer, and what is left out of them."""

import io
import json

import pytest
from udtools import udeval

from softparse.corpus.problems import CorpusError
from softparse.corpus.sentence import Sentence
from softparse.evaluation import align, count, score

from .treebanks import sentences, treebank


def official(gold, predicted):
    allowed = {"multiple_roots_okay": True}
    return udeval.evaluate(*(udeval.load_conllu(io.StringIO(text), "", allowed) for text in (gold, predicted)))


@pytest.mark.parametrize("seed", range(30))
def test_equal_to_the_official_scorer(seed):
    gold, predicted = treebank(seed, error=seed % 5 / 4, roots=1 + seed % 2)
    scores, official_scores = score(sentences(gold), sentences(predicted)), official(gold, predicted)
    for name, value in (("UAS", scores.uas), ("LAS", scores.las), ("CLAS", scores.clas)):
        assert value == pytest.approx(100 * official_scores[name].f1, abs=1e-9), name
    counts, content = scores.all_words, official_scores["CLAS"]
    assert (counts.words, counts.heads) == (official_scores["UAS"].gold_total, official_scores["UAS"].correct)
    assert (counts.content_gold, counts.content_predicted) == (content.gold_total, content.system_total)
    assert (counts.labelled, counts.content_labelled) == (official_scores["LAS"].correct, content.correct)


def test_every_content_relation_is_known():
    from softparse.evaluation.relations import CONTENT_WORDS, FUNCTION_WORDS

    assert CONTENT_WORDS == udeval.CONTENT_DEPRELS
    assert FUNCTION_WORDS == udeval.FUNCTIONAL_DEPRELS


@pytest.mark.parametrize("seed", range(5))
def test_punctuation_is_gold_punctuation(seed):
    """The scores without punctuation are those of trees in which such words have no gold head."""
    gold, predicted = (sentences(text) for text in treebank(seed))

    def hidden(sentence):
        arcs = zip(sentence.heads, sentence.labels, strict=True)
        return sentence.with_tree(["_" if label.startswith("punct") else head for head, label in arcs], sentence.labels)

    without = score(map(hidden, gold), predicted)
    assert without.all_words == score(gold, predicted).without_punctuation
    assert without.unknown_heads == score(gold, predicted).words - without.words > 0


def trees(*pairs):
    return [Sentence.from_words("abcdefgh"[: len(heads)]).with_tree(heads, labels) for heads, labels in pairs]


def test_unknown_gold_is_left_out_and_counted():
    gold = trees((["_", 0, 2], ["_", "root", "_"]), (["_", "_"], ["_", "_"]))
    predicted = trees(([2, 0, 2], ["nsubj", "root", "obj"]), ([0, 1], ["root", "obj"]))
    scores = score(gold, predicted)
    assert (scores.words, scores.unknown_heads, scores.unknown_labels) == (2, 3, 1)
    assert (scores.uas, scores.las) == (100.0, 50.0)
    assert (scores.sentences, scores.exact_match, scores.exact_match_labelled) == (1, 100.0, 0.0)


def test_unknown_prediction_is_wrong():
    assert count([0, 1], ["root", "obj"], [0, -1], ["root", "_"]).uas == 50.0


def test_exact_matches():
    gold = trees(([0], ["root"]), ([2, 0], ["nsubj", "root"]), ([2, 0], ["nsubj", "root"]))
    predicted = trees(([0], ["root"]), ([2, 0], ["obj", "root"]), ([0, 1], ["root", "obj"]))
    scores = score(gold, predicted)
    assert (scores.exact_heads, scores.exact_labelled) == (2, 1)
    assert scores.exact_match == pytest.approx(200 / 3)


def test_scores_are_json():
    gold, predicted = (sentences(text) for text in treebank(0))
    scores = score(gold, predicted)
    values = json.loads(json.dumps(scores.as_dict()))
    assert values["las"] == scores.las
    assert values["clas_without_punctuation"] == scores.without_punctuation.clas
    assert values["exact_match"] == scores.exact_match


def test_streaming():
    """No more than one pair is ever asked for."""
    asked = []

    def stream(name):
        for number in range(3):
            asked.append((name, number))
            yield Sentence.from_words(["a"])

    pairs = align(stream("gold"), stream("predicted"))
    next(pairs)
    assert asked == [("gold", 0), ("predicted", 0)]


def test_other_words_are_an_error_with_both_places():
    gold = sentences("# sent_id = g7\n1\tThey\t_\t_\t_\t_\t0\troot\t_\t_\n\n", "gold.conllu")
    predicted = sentences("1\tThe\t_\t_\t_\t_\t0\troot\t_\t_\n\n", "predicted.conllu")
    with pytest.raises(
        CorpusError, match=r"predicted.conllu:1: word 1 is 'The', but 'They' at gold.conllu:2; .* parse"
    ):
        score(gold, predicted)


def test_another_number_of_words():
    with pytest.raises(CorpusError, match="3 words, but the sentence has 2 at <memory>; the two need"):
        score([Sentence.from_words("ab")], [Sentence.from_words("abc")])


def test_another_normalisation_is_named():
    with pytest.raises(CorpusError, match="NFC"):
        score([Sentence.from_words(["é"])], [Sentence.from_words(["e\u0301"])])


@pytest.mark.parametrize("shorter", ["gold", "predicted"])
def test_another_number_of_sentences(shorter):
    one = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    long, short = sentences(one * 3, "long.conllu"), sentences(one * 2, "short.conllu")
    with pytest.raises(CorpusError, match=f"short.conllu: ends after 2 {shorter} sentences, .* go on at long.conllu:5"):
        score(*((short, long) if shorter == "gold" else (long, short)))
    with pytest.raises(CorpusError, match=f"there is no {shorter} sentence, but"):
        score(*(([], long) if shorter == "gold" else (long, [])))


def test_nothing_to_score():
    with pytest.raises(CorpusError, match="is the file empty"):
        score([], [])
    with pytest.raises(CorpusError, match="none of the 2 gold words has a head"):
        score([Sentence.from_words("ab")], [Sentence.from_words("ab")])
