"""A treebank in numbers."""

import json

import pytest

from softparse.corpus import census as module
from softparse.corpus.census import inspect
from softparse.corpus.problems import CorpusError

TREEBANK = """\
# sent_id = a
# text = Vámonos al mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\t_\t_\t_\t_\t0\troot\t_\t_
2\tnos\t_\t_\t_\t_\t1\tobj\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\t_\t_\t_\t_\t5\tcase\t_\t_
4\tel\t_\t_\t_\t_\t5\tdet\t_\t_
5\tmar\t_\t_\t_\t_\t1\tobl\t_\t_
5.1\t...\t_\t_\t_\t_\t_\t_\t_\t_

# sent_id = crossing
1\tnos\t_\t_\t_\t_\t3\tobj\t_\t_
2\tVamos\t_\t_\t_\t_\t0\troot\t_\t_
3\t10 000\t_\t_\t_\t_\t2\tobl\t_\t_
4\t.\t_\t_\t_\t_\t2\tpunct\t_\t_

# sent_id = a
1\tmar\t_\t_\t_\t_\t_\t_\t_\t_
2\tmar\t_\t_\t_\t_\t1\t_\t_\t_

# sent_id = bare
1\tmar\t_\t_\t_\t_\t_\t_\t_\t_
2\tmar\t_\t_\t_\t_\t_\t_\t_\t_

# sent_id = roots
1\tmar\t_\t_\t_\t_\t0\troot\t_\t_
2\tmar\t_\t_\t_\t_\t0\troot\t_\t_

# sent_id = wrong
1\tmar\t_\t_\t_\t_\t9\troot\t_\t_

# sent_id = unreadable
1\tmar\t_\t_

"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.conllu"
    path.write_text(TREEBANK, encoding="utf-8")
    return path


def test_counts(path):
    census = inspect([path])
    assert census.files == [str(path)]
    assert (census.sentences, census.words, census.longest) == (6, 16, 5)
    assert census.mean_length == 16 / 6
    assert (census.ranges, census.empty_nodes, census.words_with_spaces) == (2, 1, 1)
    assert (census.complete, census.partial, census.bare, census.faulty) == (2, 1, 1, 2)
    assert (census.arcs, census.non_projective_trees, census.non_projective_arcs) == (10, 1, 1)
    assert census.several_roots == 1
    assert census.labels == {"root": 2, "obj": 2, "obl": 2, "case": 1, "det": 1, "punct": 1}
    assert census.forms == {"Vamos", "nos", "a", "el", "mar", "10 000", "."}
    assert (census.repeated_ids, census.repeated_sentences) == (1, 2)
    assert (census.error_count, census.warning_count) == (3, 1)
    assert [problem.line for problem in census.errors] == [28, 31, 34]
    assert census.errors[-1].message.startswith("4 columns")


def test_a_byte_order_mark_is_not_counted(file):
    rows = ["\ufeff# sent_id = a-1.2", "1-1\tm" + "\t_" * 8, "1\tm\t_\t_\t_\t_\t0\troot\t_\t_"]
    census = inspect([file("\n".join([*rows, "", ""]))])
    assert (census.ranges, census.empty_nodes, census.error_count) == (1, 0, 0)


def test_several_roots_on_request(path):
    census = inspect([path], single_root=False)
    assert (census.complete, census.faulty, census.several_roots, census.error_count) == (3, 1, 1, 2)


def test_several_files(path):
    census = inspect([path, path])
    assert census.files == [str(path)] * 2
    assert (census.sentences, census.repeated_ids, census.repeated_sentences) == (12, 2, 8)


def test_the_list_of_problems_is_bounded(path, monkeypatch):
    monkeypatch.setattr(module, "LISTED", 2)
    census = inspect([path] * 5)
    assert (census.error_count, len(census.errors)) == (15, 2)
    assert (census.warning_count, len(census.warnings)) == (5, 2)


def test_json(path):
    found = json.loads(json.dumps(inspect([path]).as_dict()))
    assert found["sentences"] == 6
    assert found["forms"] == 7
    assert found["labels"]["case"] == 1
    assert found["errors"][1]["message"] == "HEAD 9 but the sentence has 1 word"
    assert found["mean_length"] == pytest.approx(16 / 6)
    assert not any(name.startswith("_") for name in found)


def test_text(path, monkeypatch):
    text = inspect([path]).text()
    assert "\nsentences                              6\n" in text
    assert "non-projective                       1  33.33 %\n" in text
    assert f"  error: {path}:31: HEAD 9 but the sentence has 1 word (sent_id wrong)\n" in text
    assert "errors: 3, warnings: 1\n" in text
    assert "more" not in text
    monkeypatch.setattr(module, "LISTED", 1)
    text = inspect([path, path]).text()
    assert "  and 5 more errors\n" in text
    assert "  and 1 more warnings\n" in text


def test_plain_text(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text("They walk .\nThey walk .\n")
    census = inspect([path])
    assert census.sentences == 0
    assert "looks like plain text: 'They walk .'" in census.errors[0].message
    census = inspect([path], kind="text")
    assert (census.sentences, census.words, census.bare, census.error_count) == (2, 6, 2, 0)


def test_nothing(tmp_path):
    path = tmp_path / "empty.conllu"
    path.write_text("")
    census = inspect([path])
    assert [str(problem) for problem in census.errors] == [f"{path}: no sentence in it"]
    assert "sentences" in census.text()
    json.dumps(census.as_dict())
    with pytest.raises(CorpusError, match="No such file"):
        inspect([tmp_path / "missing"])


def test_sentences_are_not_kept(path):
    """What grows with the treebank is a number a sentence and the vocabulary."""
    census = inspect([path] * 50)
    assert len(census._seen) == 4
    assert len(census.forms) == 7
