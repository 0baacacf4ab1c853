"""Words as numbers: none is taken for a symbol, and what is written is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softparse.corpus.problems import CorpusError
from softparse.corpus.sentence import Sentence
from softparse.corpus.vocabulary import SPECIAL, UNKNOWN_ID, Vocabulary, normal_form

LIKE_SYMBOLS = ["<root>", "<<root>", "<ROOT>", "<unknown>", "<padding>", "<number>", "<<<number>", "<", "<>", "3rd"]


def vocabulary(words):
    return Vocabulary.of([Sentence.from_words(words)], ["obj", "root", "<root>"])


def test_words_that_are_spelled_like_symbols():
    known = vocabulary(LIKE_SYMBOLS)
    again = Vocabulary.from_json(known.as_json())
    assert again == known
    ids = [again.word_id(word) for word in LIKE_SYMBOLS]
    assert min(ids) >= len(SPECIAL)
    assert len(set(ids)) == len(LIKE_SYMBOLS) - 1  # <root> and <ROOT> are one
    assert vocabulary(["dog"]).word_id("<root>") == UNKNOWN_ID
    assert vocabulary(["7"]).word_id("<number>") == UNKNOWN_ID
    more = vocabulary(["dog"]).extended(known)
    assert Vocabulary.from_json(more.as_json()) == more


@given(st.lists(st.text(min_size=1, max_size=5) | st.sampled_from(LIKE_SYMBOLS), min_size=1))
def test_any_words_come_back(words):
    known = vocabulary(words)
    assert Vocabulary.from_json(known.as_json()) == known
    assert not set(map(normal_form, words)) & set(SPECIAL)
    assert all(known.word_id(word) >= len(SPECIAL) for word in words)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": [*SPECIAL, "a", "a"]}, "an entry twice"),
        ({"words": 5}, "not a string"),
        ({"labels": [None]}, "not a string"),
        ({"labels": [[]]}, "not a string"),
        ({"counts": [0, 0, 0, "1"]}, "not a whole number"),
        ({"counts": None}, "not a whole number"),
        ({"counts": [0]}, "1 counts"),
        ({"characters": ["a"]}, "special symbols are missing"),
    ],
)
def test_damaged_vocabularies(change, message):
    table = json.loads(vocabulary(["a"]).as_json()) | change
    with pytest.raises(CorpusError, match=f"^here: not a vocabulary .*{message}"):
        Vocabulary.from_json(json.dumps(table), "here")
