"""How good predicted trees are: attachment scores as the shared tasks compute them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..corpus.problems import CorpusError
from ..corpus.sentence import UNKNOWN, Sentence
from .alignment import align
from .counts import Counts, count, percentage

UNKNOWN_LABEL = "_"


@dataclass(frozen=True)
class Scores:
    """Scores of a prediction, in percent.

    Labels are universal (`acl:relcl` is `acl`). Words without a gold head are left out of everything and counted in
    `unknown_heads`. Words with a gold head but no gold label stay in, as in the shared-task scorers (so that LAS cannot
    reach 100 with them), and are counted in `unknown_labels`.
    """

    all_words: Counts
    without_punctuation: Counts  # words whose gold label is `punct` left out
    sentences: int  # with at least one word to score
    exact_heads: int  # sentences in which every head is right
    exact_labelled: int  # sentences in which every head and label is right
    unknown_heads: int = 0
    unknown_labels: int = 0

    @property
    def words(self) -> int:
        return self.all_words.words

    @property
    def uas(self) -> float:
        """Percentage of words with the right head."""
        return self.all_words.uas

    @property
    def las(self) -> float:
        """Percentage of words with the right head and label."""
        return self.all_words.las

    @property
    def clas(self) -> float:
        """F1 of labelled arcs to content words."""
        return self.all_words.clas

    @property
    def exact_match(self) -> float:
        """Percentage of sentences with every head right."""
        return percentage(self.exact_heads, self.sentences)

    @property
    def exact_match_labelled(self) -> float:
        """Percentage of sentences with every head and label right."""
        return percentage(self.exact_labelled, self.sentences)

    def as_dict(self) -> dict[str, float | int]:
        """Every score and count by name, for JSON."""
        kinds = (("", self.all_words), ("_without_punctuation", self.without_punctuation))
        contents = ("content_gold", "content_predicted", "content_labelled")
        measures = ("uas", "las", "clas", "words", "heads", "labelled", *contents)
        values = {name + suffix: getattr(counts, name) for suffix, counts in kinds for name in measures}
        own = ("exact_match", "exact_match_labelled", "sentences", "exact_heads", "exact_labelled")
        return values | {name: getattr(self, name) for name in (*own, "unknown_heads", "unknown_labels")}


def score(gold_sentences: Iterable[Sentence], predicted_sentences: Iterable[Sentence]) -> Scores:
    """Score predicted trees against gold ones, sentence by sentence (nothing is held in memory).

    On the same words the results are those of the CoNLL 2018 scorer (`udtools.udeval`).

    >>> sentence = Sentence.from_words(["They", "walk", "."])
    >>> gold = sentence.with_tree([2, 0, 2], ["nsubj", "root", "punct"])
    >>> predicted = sentence.with_tree([2, 0, 1], ["obj", "root", "punct"])
    >>> scores = score([gold], [predicted])
    >>> round(scores.uas, 2), round(scores.las, 2), scores.clas, scores.without_punctuation.uas
    (66.67, 33.33, 50.0, 100.0)
    """
    every, content = Counts(), Counts()
    sentences = exact_heads = exact_labelled = unknown_heads = unknown_labels = 0
    for gold, predicted in align(gold_sentences, predicted_sentences):
        trees = gold.heads, gold.labels, predicted.heads, predicted.labels
        here = count(*trees)
        every += here
        content += count(*trees, punctuation=False)
        sentences += here.words > 0
        exact_heads += here.heads == here.words > 0
        exact_labelled += here.labelled == here.words > 0
        unknown_heads += len(gold) - here.words
        unknown_labels += sum(
            head != UNKNOWN and label == UNKNOWN_LABEL for head, label in zip(*trees[:2], strict=True)
        )
    if not every.words:
        raise CorpusError(_nothing(unknown_heads))
    return Scores(every, content, sentences, exact_heads, exact_labelled, unknown_heads, unknown_labels)


def _nothing(words: int) -> str:
    if words:
        return (
            f"none of the {words} gold words has a head, so there is nothing to score; is the first file the gold one?"
        )
    return "there is no gold sentence to score; is the file empty?"
