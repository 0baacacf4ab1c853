"""Figures that documents quote in their tables are those of the committed results."""

from pathlib import Path

import pytest

from softparse.experiment.results import read_results
from softparse.experiment.tables import cells

ROOT = Path(__file__).parent.parent
LANGUAGES = ("english", "french", "swedish")
HINGE = "with raw text, a structured hinge loss instead of the conditional random field"
KG = "Kiperwasser & Goldberg's parser (hinge, trees and vectors, no raw text)"
BY_LANGUAGE = [
    ("README.md", "softparse, trees and raw text", "6-default-raw", "test"),
    ("README.md", "softparse, trees alone", "5-default", "test"),
    ("README.md", "spaCy", "11-spacy", "test"),
    ("README.md", "UDPipe 1, with tags", "12-udpipe-tags", "test"),
    ("docs/parser.md", "softparse, preset `default`, words alone", "5-default", "test"),
    ("docs/parser.md", "softparse, the same with word vectors (an earlier preset)", "7-default-vectors", "test"),
    ("docs/parser.md", "softparse, words and raw text", "6-default-raw", "test"),
    ("docs/parser.md", "softparse, words, vectors and raw text (an earlier preset)", "8-default-raw-vectors", "test"),
    ("docs/parser.md", "spaCy", "11-spacy", "test"),
    ("docs/parser.md", "UDPipe 1, with tags", "12-udpipe-tags", "test"),
    ("docs/raw-text.md", "dev, trees alone", "5-default", "dev"),
    ("docs/raw-text.md", "dev, with raw text", "6-default-raw", "dev"),
    ("docs/raw-text.md", "test, trees alone", "5-default", "test"),
    ("docs/raw-text.md", "test, with raw text", "6-default-raw", "test"),
    ("docs/raw-text.md", "trees alone, twice as many epochs", "5-default-longer", "test"),
    ("docs/raw-text.md", "with raw text, twice as many epochs", "6-default-raw-longer", "test"),
    ("docs/raw-text.md", "self-training on the same raw text", "9-self-training", "test"),
    ("docs/raw-text.md", HINGE, "10-hinge-raw", "test"),
    ("docs/raw-text.md", KG, "4-kg", "test"),
    ("docs/raw-text.md", "trees and word vectors (one seed)", "7-default-vectors", "test"),
    ("docs/raw-text.md", "with raw text and word vectors (one seed)", "8-default-raw-vectors", "test"),
]
BY_TREES = [
    ("Welsh CCG", "100", "100-trees", "100-trees-raw", "welsh"),
    ("Uyghur UDT", "100", "100-trees", "100-trees-raw", "uyghur"),
    ("Portuguese PetroGold", "200", "unseen-200-trees", "unseen-200-trees-raw", "portuguese"),
    ("Welsh CCG", "300", "300-trees", "300-trees-raw", "welsh"),
    ("Uyghur UDT", "300", "300-trees", "300-trees-raw", "uyghur"),
    ("Turkish TWT", "388", "unseen-trees", "unseen-trees-raw", "turkish"),
    ("English EWT", "1255", "5-default", "6-default-raw", "english"),
]


@pytest.fixture(scope="module")
def found():
    return cells(read_results([ROOT / "experiments" / "results"]))


def quoted(page, *first):
    """The cells of a row after those that it begins with."""
    lines = [line for line in (ROOT / page).read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    (row,) = [row for row in rows if tuple(row[: len(first)]) == first]
    return row[len(first) :]


def is_of(text, cell, part):
    """Whether a figure is UAS / LAS of these runs, with or without standard deviations."""
    shown = cell.shown(part).partition(" (")[0]
    return text in (shown, shown.partition(" ±")[0])


@pytest.mark.parametrize(("page", "first", "row", "part"), BY_LANGUAGE)
def test_tables_by_language(found, page, first, row, part):
    figures = quoted(page, first)
    assert len(figures) == len(LANGUAGES)
    for figure, setting in zip(figures, LANGUAGES, strict=True):
        if not figure:  # was not run
            assert (row, setting) not in found
            continue
        assert is_of(figure, found[row, setting], part), f"{found[row, setting].shown(part)} it is in {setting}"


@pytest.mark.parametrize(("name", "trees", "alone", "with_raw", "setting"), BY_TREES)
def test_table_by_numbers_of_trees(found, name, trees, alone, with_raw, setting):
    _, *figures = quoted("docs/from-200-trees.md", name, trees)
    for figure, each in zip(figures, (alone, with_raw), strict=True):
        assert is_of(figure, found[each, setting], "test"), f"{found[each, setting].shown('test')} it is"
