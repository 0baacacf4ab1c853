"""Where a parser is right and wrong: by distance to the head, by label, by sentence length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..corpus.sentence import UNKNOWN, Sentence
from .alignment import align
from .counts import Counts, count, percentage
from .relations import PUNCTUATION, universal
from .table import table

DISTANCES = ("root", "1", "2", "3–6", "≥7")
LENGTHS = (("1–10", 10), ("11–20", 20), ("21–30", 30), ("31–40", 40), (">40", None))


@dataclass(frozen=True)
class Row:
    """The words of one class (a distance or a label), in the gold trees and in the predicted ones.

    There are two readings of "right": the class alone agrees, whatever the head (`alone`; what the CoNLL scorers print
    for distances), or the head is right as well (`with_head`).

    >>> row = Row("root", gold=4, predicted=5, alone=3, with_head=3)
    >>> row.recall(), row.precision()
    (75.0, 60.0)
    """

    name: str
    gold: int
    predicted: int
    alone: int
    with_head: int

    def recall(self, with_head: bool = True) -> float:
        """Percentage of the gold words that are right."""
        return percentage(self.with_head if with_head else self.alone, self.gold)

    def precision(self, with_head: bool = True) -> float:
        """Percentage of the predicted words that are right."""
        return percentage(self.with_head if with_head else self.alone, self.predicted)

    def as_dict(self) -> dict[str, float | int]:
        counts = {"gold": self.gold, "predicted": self.predicted, "alone": self.alone, "with_head": self.with_head}
        return counts | {
            "recall_alone": self.recall(with_head=False),
            "precision_alone": self.precision(with_head=False),
            "recall_with_head": self.recall(),
            "precision_with_head": self.precision(),
        }


@dataclass(frozen=True)
class LengthRow:
    """The sentences of a range of lengths."""

    name: str
    sentences: int
    counts: Counts

    def as_dict(self) -> dict[str, float | int]:
        counts = {"sentences": self.sentences, "words": self.counts.words}
        counts |= {"heads": self.counts.heads, "labelled": self.counts.labelled}
        return counts | {"uas": self.counts.uas, "las": self.counts.las}


@dataclass(frozen=True)
class Breakdown:
    """Recall and precision by distance and label, and scores by sentence length."""

    distances: tuple[Row, ...]
    labels: tuple[Row, ...]  # the most frequent in the gold trees first
    lengths: tuple[LengthRow, ...]

    def text(self) -> str:
        """Three tables."""
        lengths = [["sentence length", "sentences", "words", "UAS", "LAS"]]
        for row in self.lengths:
            scores = [f"{row.counts.uas:.2f}", f"{row.counts.las:.2f}"] if row.counts.words else ["–", "–"]
            lengths.append([row.name, str(row.sentences), str(row.counts.words), *scores])
        distances = _rows("distance to the head", "same bin", "same head", self.distances)
        labels = _rows("label", "same label", "and head", self.labels)
        return "\n\n".join([distances, labels, table(lengths)])

    def as_dict(self) -> dict[str, dict[str, dict[str, float | int]]]:
        """The tables by name of table and row, for JSON."""
        return {
            "distances": {row.name: row.as_dict() for row in self.distances},
            "labels": {row.name: row.as_dict() for row in self.labels},
            "lengths": {row.name: row.as_dict() for row in self.lengths},
        }


def _rows(title: str, alone: str, with_head: str, rows: Iterable[Row]) -> str:
    cells = [["", "", "", alone, "", with_head, ""]]
    cells.append([title, "gold", "predicted", "recall", "precision", "recall", "precision"])
    for row in rows:
        numbers = [
            f"{getattr(row, measure)(reading):.2f}" if getattr(row, whole) else "–"
            for reading in (False, True)
            for measure, whole in (("recall", "gold"), ("precision", "predicted"))
        ]
        cells.append([row.name, str(row.gold), str(row.predicted), *numbers])
    return table(cells)


def distance(head: int, word: int) -> str | None:
    """The bin of an arc, None for an unknown head.

    >>> [distance(head, 3) for head in (0, 4, 1, 9, 10, -1)]
    ['root', '1', '2', '3–6', '≥7', None]
    """
    if head <= 0:
        return None if head == UNKNOWN else DISTANCES[0]
    length = abs(head - word)
    return DISTANCES[min(length, 3 if length < 7 else 4)]


def break_down(
    gold_sentences: Iterable[Sentence], predicted_sentences: Iterable[Sentence], *, punctuation: bool = True
) -> Breakdown:
    """Break a prediction down. Words without a gold head are left out, and without `punctuation` those whose gold
    label is `punct`; the length of a sentence counts all its words. Labels are universal.

    >>> sentence = Sentence.from_words(["They", "walk", "home"])
    >>> gold = sentence.with_tree([2, 0, 2], ["nsubj", "root", "obl"])
    >>> predicted = sentence.with_tree([2, 0, 1], ["nsubj", "root", "obj"])
    >>> result = break_down([gold], [predicted])
    >>> result.distances[1]
    Row(name='1', gold=2, predicted=1, alone=1, with_head=1)
    >>> result.labels[-1]
    Row(name='obj', gold=0, predicted=1, alone=0, with_head=0)
    """
    distances, labels = _Tally(), _Tally()
    sentences: Counter[str] = Counter()
    lengths: dict[str, Counts] = {name: Counts() for name, _ in LENGTHS}
    for gold, predicted in align(gold_sentences, predicted_sentences):
        trees = gold.heads, gold.labels, predicted.heads, predicted.labels
        name = next(name for name, longest in LENGTHS if longest is None or len(gold) <= longest)
        sentences[name] += 1
        lengths[name] += count(*trees, punctuation=punctuation)
        for word, (gold_head, gold_label, head, label) in enumerate(zip(*trees, strict=True), 1):
            gold_label, label = universal(gold_label), universal(label)
            if gold_head == UNKNOWN or (gold_label == PUNCTUATION and not punctuation):
                continue
            is_right = gold_head == head
            distances.add(distance(gold_head, word), distance(head, word), is_right)
            labels.add(gold_label, label, is_right)
    return Breakdown(
        tuple(distances.row(name) for name in DISTANCES),
        tuple(labels.row(name) for name in labels.names()),
        tuple(LengthRow(name, sentences[name], counts) for name, counts in lengths.items()),
    )


class _Tally:
    """Counts by class."""

    def __init__(self) -> None:
        self.gold: Counter[str | None] = Counter()
        self.predicted: Counter[str | None] = Counter()
        self.alone: Counter[str | None] = Counter()
        self.with_head: Counter[str | None] = Counter()

    def add(self, gold: str | None, predicted: str | None, is_right: bool) -> None:
        self.gold[gold] += 1
        self.predicted[predicted] += 1
        if gold == predicted:
            self.alone[gold] += 1
            self.with_head[gold] += is_right

    def names(self) -> list[str]:
        names = {name for name in (*self.gold, *self.predicted) if name is not None}
        return sorted(names, key=lambda name: (-self.gold[name], name))

    def row(self, name: str) -> Row:
        return Row(name, self.gold[name], self.predicted[name], self.alone[name], self.with_head[name])
