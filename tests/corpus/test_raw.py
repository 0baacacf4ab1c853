"""Raw text as an endless, shuffled, bounded stream."""

import gzip

import pytest

from softparse.corpus.problems import CorpusError
from softparse.corpus.raw import RawStream


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text("".join(f"sentence number {place}\n" for place in range(200)))
    return path


def numbers(sentences):
    return [int(words[-1]) for words in sentences]


@pytest.mark.parametrize("buffer", [1, 7, 50, 1000])
def test_every_pass_has_every_sentence_once(text, buffer):
    stream = RawStream([text], buffer=buffer)
    for _ in range(3):
        assert sorted(numbers(stream.take(200))) == list(range(200))


def test_passes_are_shuffled_anew(text):
    stream = RawStream([text])
    first, second = numbers(stream.take(200)), numbers(stream.take(200))
    assert first != second
    assert first != sorted(first)


def test_the_seed_sets_the_order(text):
    assert RawStream([text], seed=3).take(300) == RawStream([text], seed=3).take(300)
    assert RawStream([text], seed=3).take(300) != RawStream([text], seed=4).take(300)


@pytest.mark.parametrize("position", [0, 5, 199, 200, 450])
def test_going_on(text, position):
    whole = RawStream([text], buffer=20)
    whole.take(position)
    again = RawStream([text], buffer=20)
    again.skip_to(position)
    assert again.take(30) == whole.take(30)
    with pytest.raises(ValueError, match="cannot go back"):
        again.skip_to(0)


def test_several_files_and_formats(tmp_path, text):
    packed = tmp_path / "more.txt.gz"
    packed.write_bytes(gzip.compress(b"a sentence number 200\n"))
    trees = tmp_path / "bare.conllu"
    trees.write_text("1\ttwo words\t_\t_\t_\t_\t_\t_\t_\t_\n2\t201\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    stream = RawStream([text, packed, trees])
    taken = stream.take(202)
    assert sorted(numbers(taken)) == list(range(202))
    assert ["two words", "201"] in taken


def test_long_sentences_are_counted(text, tmp_path):
    (tmp_path / "long.txt").write_text("a b c d e f\n")
    stream = RawStream([text, tmp_path / "long.txt"], longest=5)
    stream.take(200)
    assert stream.left_out == 1


def test_nothing_to_read(tmp_path):
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(CorpusError, match=r"empty\.txt: no sentence"):
        RawStream([tmp_path / "empty.txt"]).take(1)
    (tmp_path / "long.txt").write_text("a b c\n")
    with pytest.raises(CorpusError, match="no sentence of at most 2 words"):
        RawStream([tmp_path / "long.txt"], longest=2).take(1)
