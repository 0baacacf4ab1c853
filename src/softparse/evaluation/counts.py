"""What is counted in a sentence, and the percentages of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from ..corpus.sentence import UNKNOWN
from .relations import CONTENT_WORDS, PUNCTUATION, universal


@dataclass(frozen=True)
class Counts:
    """Words, and how many of them are right. Counts of sentences add up to those of a treebank.

    >>> counts = Counts(words=4, heads=3, labelled=2) + Counts(words=4, heads=4, labelled=3)
    >>> counts.uas, counts.las
    (87.5, 62.5)
    """

    words: int = 0
    heads: int = 0  # with the right head
    labelled: int = 0  # with the right head and label
    content_gold: int = 0  # with a gold label of content words
    content_predicted: int = 0  # with a predicted label of content words
    content_labelled: int = 0  # of `content_gold`, with the right head and label

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(one + another for one, another in zip(astuple(self), astuple(other), strict=True)))

    @property
    def uas(self) -> float:
        """Percentage of words with the right head."""
        return percentage(self.heads, self.words)

    @property
    def las(self) -> float:
        """Percentage of words with the right head and the right universal label."""
        return percentage(self.labelled, self.words)

    @property
    def clas(self) -> float:
        """F1 of labelled arcs to content words."""
        return percentage(2 * self.content_labelled, self.content_gold + self.content_predicted)


def percentage(part: float, whole: float) -> float:
    """100 · part / whole, and 0 of nothing, as the shared-task scorers have it."""
    return 100.0 * part / whole if whole else 0.0


def count(
    gold_heads: Sequence[int],
    gold_labels: Sequence[str],
    heads: Sequence[int],
    labels: Sequence[str],
    *,
    punctuation: bool = True,
) -> Counts:
    """Count one sentence. Words whose gold head is unknown are left out, and without `punctuation` those whose gold
    label is `punct`. Subtypes of labels are not looked at.

    >>> count([2, 0, 2], ["nsubj", "root", "punct"], [2, 0, 1], ["nsubj:pass", "root", "punct"])
    Counts(words=3, heads=2, labelled=2, content_gold=2, content_predicted=2, content_labelled=2)
    """
    words = right_heads = right_labelled = content_gold = content_predicted = content_labelled = 0
    for gold_head, gold_label, head, label in zip(gold_heads, gold_labels, heads, labels, strict=True):
        gold_label, label = universal(gold_label), universal(label)
        if gold_head == UNKNOWN or (gold_label == PUNCTUATION and not punctuation):
            continue
        is_labelled = head == gold_head and label == gold_label
        is_content = gold_label in CONTENT_WORDS
        words += 1
        right_heads += head == gold_head
        right_labelled += is_labelled
        content_gold += is_content
        content_predicted += label in CONTENT_WORDS
        content_labelled += is_content and is_labelled
    return Counts(words, right_heads, right_labelled, content_gold, content_predicted, content_labelled)
