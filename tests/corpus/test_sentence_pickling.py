"""Sentences go from one process to another unchanged."""

import io
import pickle

import pytest

from softparse.corpus.conllu import read_conllu, write
from softparse.corpus.sentence import Sentence

ROWS = (
    "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tde\tde\t_\t_\t_\t2\tcase\t_\t_\n"
    "2\tle chat\u2028\t_\t_\t_\t_\t0\troot\t_\tA=\x0b\n"
)


@pytest.mark.parametrize(
    "text",
    [
        f"# text = du\n{ROWS}\n",
        f"\ufeff{ROWS.partition(chr(10))[2]}\n",  # a mark before the first word
        f"# loose\n\n# sent_id = 1\n{ROWS}\n\n \n# at the end\n".replace("\n", "\r\n"),
        f"{ROWS}2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_",  # without an end
    ],
)
def test_all_of_a_sentence(text):
    (sentence,) = read_conllu(io.BytesIO(text.encode()), "a.conllu", lambda problem: None)
    copy = pickle.loads(pickle.dumps(sentence))
    for name in Sentence.__slots__:
        assert getattr(copy, name) == getattr(sentence, name), name
    assert write(copy) == write(sentence)


def test_words():
    sentence = Sentence.from_words(["a", "b"], ["text = a b"]).with_tree([2, 0], ["x", "root"])
    assert pickle.loads(pickle.dumps(sentence)).columns == sentence.columns
