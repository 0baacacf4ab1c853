"""The look at raw text before training."""

import gzip

import pytest

from softparse.corpus.problems import CorpusError
from softparse.corpus.raw_survey import doubts, survey


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_counts(tmp_path):
    one = write(tmp_path / "one.txt", "The dog sees 12 dogs .\nthe cat\n" + "long " * 9 + "\n")
    other = tmp_path / "other.conllu.gz"
    other.write_bytes(gzip.compress(b"1\tThe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tend\t_\t_\t_\t_\t_\t_\t_\t_\n\n"))
    found = survey([one, other], longest=8, development=[["The", "dog", "sees", "12", "dogs", "."], ["the", "cat"]])
    assert (found.sentences, found.words, found.left_out, found.recurring) == (3, 10, 1, 1)
    assert found.counts["the"] == 3
    assert found.counts["<number>"] == 1
    assert "long" not in found.counts
    assert set(found.scripts) == {"LATIN"}


def test_memory_is_bounded(tmp_path):
    path = write(tmp_path / "raw.txt", "".join(f"a b w{number}\n" for number in range(1000)))
    found = survey([path], most=50)
    assert len(found.counts) <= 51
    assert found.counts["a"] == 1000
    assert found.words == 3000


def test_an_empty_file_is_an_error(tmp_path):
    with pytest.raises(CorpusError, match=r"raw\.txt: no sentence in it"):
        survey([write(tmp_path / "raw.txt", "\n\n")])


def test_doubts(tmp_path):
    latin, greek = write(tmp_path / "l.txt", "the dog sees\n"), write(tmp_path / "g.txt", "ο σκύλος βλέπει\n")
    forms = {"the", "dog", "sees"}
    assert doubts(survey([latin]), forms) == []
    (doubt,) = doubts(survey([greek]), forms)
    assert "Greek script" in doubt
    (doubt,) = doubts(survey([write(tmp_path / "o.txt", "le chien voit un the\n")]), forms)
    assert "only 20% of the words" in doubt
    same = [["the", "dog", "sees", "the", "dog", "sees"]]
    (doubt,) = doubts(survey([write(tmp_path / "d.txt", " ".join(same[0]) + "\n")], development=same), forms)
    assert "1 raw sentences" in doubt
