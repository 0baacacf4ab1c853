"""Splits of treebanks."""

import gzip
import os

import pytest

from softparse.corpus import conllu
from softparse.corpus.problems import CorpusError
from softparse.corpus.sentence import UNKNOWN, Sentence
from softparse.corpus.splits import modulo, sections, without_tree, write_modulo, write_sections


def block(number):
    """A sentence that has everything, its number in it."""
    return (
        f"# sent_id = s{number}\n# text = al\t{number}\n"
        "1-2\tal\t_\t_\t_\t_\t_\t_\t_\tA=1|A=1\n"
        "1\ta\ta\tADP\t_\t_\t2\tcase\t2:case\t_\n"
        f"2\t1 00{number}\t_\t_\t_\t_\t0\troot\t0:root\tB=2|A=1\n"
        "2.1\tx\t_\t_\t_\t_\t_\t_\t2:obj\t_\n"
        "\n"
    )


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.conllu"
    path.write_text("".join(map(block, range(25))), encoding="utf-8")
    return path


def test_modulo(path):
    parts = list(modulo(conllu.read(path, "conllu")))
    assert [name for name, _ in parts] == ["raw" if number % 10 else "labeled" for number in range(25)]
    for number, (name, sentence) in enumerate(parts):
        assert sentence.words == ["a", f"1 00{number}"]
        assert sentence.heads == ([2, 0] if name == "labeled" else [UNKNOWN] * 2)
    names = [name for name, _ in modulo(conllu.read(path, "conllu"), 5, 3)]
    assert [number for number, name in enumerate(names) if name == "labeled"] == [3, 8, 13, 18, 23]


def test_a_sentence_without_its_tree(path):
    sentence = next(iter(conllu.read(path, "conllu")))
    assert without_tree(sentence).text() == (
        "# sent_id = s0\n# text = al\t0\n"
        "1-2\tal\t_\t_\t_\t_\t_\t_\t_\tA=1|A=1\n"
        "1\ta\ta\tADP\t_\t_\t_\t_\t_\t_\n"
        "2\t1 000\t_\t_\t_\t_\t_\t_\t_\tB=2|A=1\n"
        "\n"
    )
    assert sentence.heads == [2, 0]


def test_sections(path):
    names = [name for name, _ in sections(conllu.read(path, "conllu"))]
    assert names == [{0: "test", 9: "dev"}.get(number % 10, "labeled") for number in range(25)]


def test_impossible_splits():
    with pytest.raises(ValueError, match=r"keep must be in 0..9"):
        list(modulo([], 10, 10))
    with pytest.raises(ValueError, match="at least 3"):
        list(sections([], 2))


def test_splits_are_streams():
    def endless():
        while True:
            yield Sentence.from_words(["a"])

    assert next(modulo(endless()))[0] == "labeled"
    assert next(sections(endless()))[0] == "test"


def test_writing_modulo(path, tmp_path):
    folder = tmp_path / "new" / "folder"
    assert write_modulo([path], folder) == {"labeled": 3, "raw": 22}
    assert sorted(os.listdir(folder)) == ["labeled.conllu", "raw.conllu"]
    assert (folder / "labeled.conllu").read_text(encoding="utf-8") == block(0) + block(10) + block(20)
    raw = list(conllu.read(folder / "raw.conllu", "conllu"))
    assert [sentence.sent_id for sentence in raw] == [f"s{number}" for number in range(25) if number % 10]
    assert raw[0].words == ["a", "1 001"]
    assert all(sentence.heads == [UNKNOWN, UNKNOWN] for sentence in raw)


def test_writing_sections(path, tmp_path):
    assert write_sections([path], tmp_path) == {"labeled": 20, "dev": 2, "test": 3}
    texts = {name: (tmp_path / f"{name}.conllu").read_text(encoding="utf-8") for name in ("labeled", "dev", "test")}
    assert texts["dev"] == block(9) + block(19)
    assert texts["test"] == block(0) + block(10) + block(20)
    assert texts["labeled"] == "".join(block(number) for number in range(25) if number % 10 not in (0, 9))


def test_numbers_go_on_over_files(path, tmp_path):
    packed = tmp_path / "u.conllu.gz"
    packed.write_bytes(gzip.compress(block(25).encode()))
    assert write_sections([path, packed], tmp_path) == {"labeled": 21, "dev": 2, "test": 3}


def test_line_ends_and_marks(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    windows = block(0).replace("\n", "\r\n").encode()
    first.write_bytes(b"\xef\xbb\xbf" + windows)
    second.write_bytes(b"\xef\xbb\xbf" + block(1).encode().rstrip(b"\n"))  # no end of line, no blank line
    write_modulo([first, second, first], tmp_path / "out", modulus=3, keep=0)
    assert (tmp_path / "out" / "labeled.conllu").read_bytes() == windows
    write_modulo([first, second], tmp_path / "out", modulus=2, keep=1)
    assert (tmp_path / "out" / "labeled.conllu").read_bytes() == block(1).encode()


def test_an_error_leaves_everything_as_it_was(path, tmp_path):
    write_modulo([path], tmp_path / "out")
    before = {name: (tmp_path / "out" / name).read_bytes() for name in os.listdir(tmp_path / "out")}
    broken = tmp_path / "broken"
    broken.write_text(block(0) * 3 + "1\ta\n")
    with pytest.raises(CorpusError, match="broken:22: 2 columns"):
        write_modulo([broken], tmp_path / "out")
    assert {name: (tmp_path / "out" / name).read_bytes() for name in os.listdir(tmp_path / "out")} == before


def test_too_few_sentences(tmp_path):
    path = tmp_path / "t.conllu"
    path.write_text("".join(map(block, range(9))))
    with pytest.raises(CorpusError, match=r"9 sentences are too few to split: there would be none in dev.conllu"):
        write_sections([path], tmp_path)
    assert os.listdir(tmp_path) == ["t.conllu"]


@pytest.mark.parametrize(("write", "name"), [(write_modulo, "labeled"), (write_sections, "dev")])
def test_a_part_does_not_replace_the_whole(tmp_path, write, name):
    path = tmp_path / f"{name}.conllu"
    path.write_text("".join(map(block, range(20))))
    before = path.read_bytes()
    with pytest.raises(CorpusError, match="would be replaced by a part of itself; choose another folder"):
        write([path], tmp_path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_plain_text_cannot_be_split(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text("They walk .\n")
    with pytest.raises(CorpusError, match="no tabs"):
        write_modulo([path], tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []
