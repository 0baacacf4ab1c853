"""What training says about its files before it begins."""

import pytest

from softparse.learning import data
from softparse.learning.config import configure
from softparse.learning.new_parser import make_parser
from softparse.learning.observer import Observer
from tests.grammar import treebank


@pytest.fixture
def file(tmp_path):
    (tmp_path / "trees.conllu").write_text(treebank(60))
    return tmp_path / "trees.conllu"


def warnings(**files):
    """The warnings about these files."""
    config = configure(data={name: [str(path) for path in paths] for name, paths in files.items()})
    found: list[str] = []
    observer = Observer()
    observer.warn = found.append
    make_parser(config, data.load(config.data, True, found.append), observer)
    return found


def test_a_file_is_named_when_it_comes_twice(file):
    assert warnings(train=[file]) == []
    (warning,) = warnings(train=[file, file.parent / "." / ".." / file.parent.name / file.name])
    assert "given twice to train on" in warning
    assert "held out" in warning
    (warning,) = warnings(train=[file], dev=[file])
    assert warning == f"{file}: given to train on and as dev; scores on it say nothing about other text"


def test_many_warnings_are_counted(file):
    file.write_text(treebank(60).replace("\troot\t", "\tx\t"))
    found = warnings(train=[file])
    assert len(found) == data.MOST_WARNINGS + 1
    assert found[-1] == f"and 50 more; see all of them with: softparse check {file}"


def test_trees_without_labels(file):
    rows = [line.split("\t") for line in treebank(60).splitlines()]
    file.write_text("".join("\t".join([*row[:7], "_", *row[8:]] if len(row) > 1 else row) + "\n" for row in rows))
    (warning,) = warnings(train=[file])
    assert "no labels" in warning
