"""Files that are packed, standard, or cannot be read."""

import gzip
import io
import sys

import pytest

from softparse.corpus.conllu import read, read_all, read_conllu
from softparse.corpus.problems import CorpusError
from tests.corpus.examples import SMALL, TREEBANK, written


def test_packed_files(file):
    for name in ("t.conllu.gz", "t.conllu"):  # whatever the name
        assert written(read(file(gzip.compress(TREEBANK), name))) == TREEBANK
    assert written(read(file(TREEBANK, "not.gz"))) == TREEBANK
    assert written(read(file(gzip.compress(TREEBANK[:200]) + gzip.compress(TREEBANK[200:])))) == TREEBANK


@pytest.mark.parametrize("data", [TREEBANK, gzip.compress(TREEBANK)], ids=["plain", "packed"])
@pytest.mark.parametrize("buffer", [io.BytesIO, lambda data: io.BufferedReader(io.BytesIO(data))])
def test_standard_input(monkeypatch, data, buffer):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(buffer(data)))
    sentences = list(read("-"))
    assert written(sentences) == TREEBANK
    assert sentences[0].path == "<stdin>"


def test_files_that_cannot_be_read(file, tmp_path):
    with pytest.raises(CorpusError, match=r"missing: No such file"):
        list(read(tmp_path / "missing"))
    with pytest.raises(CorpusError, match=r"is a folder; give the files in it"):
        list(read(tmp_path))
    packed = gzip.compress(TREEBANK)
    with pytest.raises(CorpusError, match=r"t.conllu: cannot be read to its end"):
        list(read(file(packed[:-20])))
    with pytest.raises(CorpusError, match=r"t.conllu: cannot be read to its end"):
        list(read(file(packed[:-8] + b"\0" * 8)))


def test_sentences_come_one_by_one():
    def endless():
        while True:
            yield from io.BytesIO(TREEBANK)

    sentences = read_conllu(endless())
    assert [len(next(sentences)) for _ in range(4)] == [1, 7, 1, 7]


def test_several_files(file):
    first, second = file(TREEBANK), file(SMALL, "second")
    assert [each.path for each in read_all([first, second])] == [str(first)] * 2 + [str(second)]
    with pytest.raises(CorpusError, match="empty: no sentence in it"):
        list(read_all([first, file("\n", "empty")]))


def test_damaged_packed_files(file):
    packed = bytearray(gzip.compress(TREEBANK * 50))
    packed[30] ^= 0xFF
    with pytest.raises(CorpusError, match=r"t.conllu: cannot be read to its end"):
        list(read(file(bytes(packed))))
