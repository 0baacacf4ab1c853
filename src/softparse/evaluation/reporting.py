"""Scores for the terminal: of one prediction, or of two side by side."""

from __future__ import annotations

from .scores import Scores
from .significance import Comparison, Difference
from .table import table

NAMES = ("first", "second")


def report(
    scores: Scores, other: Scores | None = None, comparison: Comparison | None = None, names: tuple[str, str] = NAMES
) -> str:
    """A table of the scores; with `other` both and their difference, and with a `comparison` its interval and p."""
    rows = _single(scores) if other is None else _double(scores, other, comparison, names)
    size = [f"{scores.words} words in {scores.sentences} sentences"] if other else []
    return "\n".join([table(rows), *size, *_notes(scores, comparison)])


def _single(scores: Scores) -> list[list[str]]:
    rows = [["", "UAS", "LAS", "CLAS", ""]]
    kinds = (("all words", scores.all_words), ("without punctuation", scores.without_punctuation))
    for name, counts in kinds:
        rows.append([name, f"{counts.uas:.2f}", f"{counts.las:.2f}", f"{counts.clas:.2f}", f"{counts.words} words"])
    exact = [f"{scores.exact_match:.2f}", f"{scores.exact_match_labelled:.2f}"]
    rows.append(["whole sentences", *exact, "", f"{scores.sentences} sentences"])
    return rows


def _double(first: Scores, second: Scores, comparison: Comparison | None, names: tuple[str, str]) -> list[list[str]]:
    heading = ["", *names, "difference"] + (["95 % interval", "p"] if comparison else [])
    tests = {"UAS": comparison.uas, "LAS": comparison.las} if comparison else {}
    rows = [heading]
    for (name, one), (_, two) in zip(_measures(first), _measures(second), strict=True):
        row = [name, f"{one:.2f}", f"{two:.2f}", f"{two - one:+.2f}"]
        rows.append(row + (_test(tests.get(name)) if comparison else []))
    return rows


def _measures(scores: Scores) -> list[tuple[str, float]]:
    return [
        ("UAS", scores.uas),
        ("LAS", scores.las),
        ("CLAS", scores.clas),
        ("UAS without punctuation", scores.without_punctuation.uas),
        ("LAS without punctuation", scores.without_punctuation.las),
        ("CLAS without punctuation", scores.without_punctuation.clas),
        ("whole sentences", scores.exact_match),
        ("whole sentences, labelled", scores.exact_match_labelled),
    ]


def _test(test: Difference | None) -> list[str]:
    if test is None:
        return ["", ""]
    return [f"{test.low:+.2f} to {test.high:+.2f}", test.shown_p]


def _notes(scores: Scores, comparison: Comparison | None) -> list[str]:
    notes = []
    if comparison:
        notes.append(f"p: two-sided paired bootstrap over sentences, {comparison.uas.draws} draws")
    if scores.unknown_heads:
        notes.append(f"words without a gold head, left out: {scores.unknown_heads}")
    if scores.unknown_labels:
        notes.append(f"words with a gold head but no gold label, which lower LAS: {scores.unknown_labels}")
    return notes
