"""The books of a folder that many workers fill."""

import json
import os
import shutil

import pytest

from softparse.corpus.problems import CorpusError
from softparse.parser.bulk import Options
from softparse.parser.shards import BOOKS, digest, plan


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in" / "a.txt"
    path.parent.mkdir()
    path.write_text("the dog walks\n")
    return path


def planned(tmp_path, model, *sources, options=Options(), kind=None):  # noqa: B008 (it is frozen)
    return plan(str(tmp_path / "out"), [str(source) for source in sources], str(model), options, kind)


def test_parts_become_a_file(tmp_path, model, source):
    (shard,) = planned(tmp_path, model, source)
    assert (shard.start(), shard.counts) == (set(), None)
    shard.write_part(1, b"two\n")
    shard.write_part(0, b"one\n")
    assert [shard.tries(2), shard.tries(2)] == [1, 2]
    (again,) = planned(tmp_path, model, source)
    assert again.start() == {0, 1}
    assert again.tries(2) == 1  # a new run, new tries
    again.put_together(2, sentences=5, words=9)
    assert (tmp_path / "out" / "a.conllu").read_bytes() == b"one\ntwo\n"
    assert sorted(path.name for path in (tmp_path / "out" / BOOKS).iterdir()) == ["a.conllu.json", "run.json"]
    assert planned(tmp_path, model, source)[0].counts == (5, 9)
    shard.put_together(2, sentences=5, words=9)  # a second one comes too late, and the parts are gone


def test_a_part_that_is_missing_is_no_output(tmp_path, model, source):
    (shard,) = planned(tmp_path, model, source)
    shard.write_part(1, b"two\n")
    with pytest.raises(CorpusError, match=r"00000000.conllu: No such file"):
        shard.put_together(2, 5, 9)
    assert not (tmp_path / "out" / "a.conllu").exists()
    assert shard.start() == {1}


def test_an_input_that_changes_is_parsed_again(tmp_path, model, source):
    (shard,) = planned(tmp_path, model, source)
    shard.write_part(0, b"one\n")
    shard.put_together(1, 1, 1)
    source.write_text("a cat\n")
    (changed,) = planned(tmp_path, model, source)
    assert changed.counts is None
    shard.write_part(1, b"two\n")  # as if the first run had been killed
    assert changed.start() == set()
    assert not shard.parts.exists()
    changed.write_part(0, b"other\n")
    changed.put_together(1, 1, 2)
    assert (tmp_path / "out" / "a.conllu").read_bytes() == b"other\n"
    assert planned(tmp_path, model, source)[0].counts == (1, 2)
    os.unlink(tmp_path / "out" / "a.conllu")
    assert planned(tmp_path, model, source)[0].counts is None


def test_a_folder_of_another_run(tmp_path, model, source):
    planned(tmp_path, model, source)
    with pytest.raises(CorpusError, match=r"out: holds the output of another run; these differ: kbest \(was 1, is 3\)"):
        planned(tmp_path, model, source, options=Options(kbest=3))
    with pytest.raises(CorpusError, match="these differ: format"):
        planned(tmp_path, model, source, kind="text")
    books = tmp_path / "out" / BOOKS / "run.json"
    books.write_text(json.dumps(json.loads(books.read_text()) | {"model": "0"}))
    with pytest.raises(CorpusError, match="these differ: model"):
        planned(tmp_path, model, source)
    books.write_text("{")
    with pytest.raises(CorpusError, match=r"run.json: not JSON"):
        planned(tmp_path, model, source)


def test_models_are_told_apart_by_content(model, tmp_path):
    shutil.copytree(model, tmp_path / "copy")
    assert digest(tmp_path / "copy") == digest(model)
    (tmp_path / "copy" / "README.md").write_text("another card")
    assert digest(tmp_path / "copy") == digest(model)
    for name in ("vocab.json", "metrics.json", "tokenizer.udpipe"):  # metrics have the temperatures of probabilities
        before = digest(tmp_path / "copy")
        with open(tmp_path / "copy" / name, "a") as file:
            file.write(" ")
        assert digest(tmp_path / "copy") != before


def test_refusals(tmp_path, model, source):
    with pytest.raises(CorpusError, match="standard input can be read by one process only"):
        planned(tmp_path, model, "-")
    with pytest.raises(CorpusError, match="No such file"):
        planned(tmp_path, model, tmp_path / "absent.txt")
    with pytest.raises(CorpusError, match="is a folder; give the files in it"):
        planned(tmp_path, model, tmp_path)
    other = tmp_path / "a.conllu"
    other.write_text("")
    with pytest.raises(CorpusError, match=r"a.conllu, as that of .*a.txt; rename one of them"):
        planned(tmp_path, model, source, other)
    assert not (tmp_path / "out").exists()
    with pytest.raises(CorpusError, match=r"a.conllu: is a file; the output is a folder"):
        plan(str(other), [str(source)], str(model), Options(), None)
    with pytest.raises(CorpusError, match=r"a.conllu: is there and was not made by such a run"):
        plan(str(tmp_path), [str(other)], str(model), Options(), None)  # the input itself
    assert other.read_text() == ""
    assert not (tmp_path / BOOKS).exists()
