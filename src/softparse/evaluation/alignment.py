"""Gold and predicted sentences side by side."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable, Iterator

from ..corpus.problems import CorpusError
from ..corpus.sentence import Sentence

REMEDY = "the two need the same sentences and words in the same order: parse the words of the gold file itself"


def align(
    gold_sentences: Iterable[Sentence], predicted_sentences: Iterable[Sentence]
) -> Iterator[tuple[Sentence, Sentence]]:
    """Pairs of sentences, one after the other; words or numbers of sentences that differ are an error.

    >>> [(gold, predicted)] = align([Sentence.from_words(["They", "walk"])], [Sentence.from_words(["They", "walk"])])
    >>> list(align([gold], [Sentence.from_words(["They", "run"])]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    softparse.corpus.problems.CorpusError: <memory>:1: word 2 is 'run', but 'walk' at <memory>:1; the two need ...
    """
    last: tuple[Sentence, Sentence] | None = None
    pairs = itertools.zip_longest(gold_sentences, predicted_sentences)
    for number, (gold, predicted) in enumerate(pairs):
        if gold is None or predicted is None:
            raise CorpusError(_missing(gold, predicted, last, number))
        if gold.words != predicted.words:
            raise CorpusError(_difference(gold, predicted))
        last = gold, predicted
        yield gold, predicted


def _missing(
    gold: Sentence | None, predicted: Sentence | None, last: tuple[Sentence, Sentence] | None, number: int
) -> str:
    """One of the two has come to its end."""
    if gold is not None:
        short, long, place = "predicted", "gold", _place(gold, 0)
        path = last[1].path if last else ""
    else:
        short, long, place = "gold", "predicted", _place(predicted, 0) if predicted else ""
        path = last[0].path if last else ""
    ending = f"{path}: ends after {number} {short} sentences" if path else f"there is no {short} sentence"
    return f"{ending}, but the {long} ones go on at {place}; {REMEDY}"


def _difference(gold: Sentence, predicted: Sentence) -> str:
    for word, (one, other) in enumerate(zip(gold.words, predicted.words, strict=False), 1):
        if one != other:
            is_same_text = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
            remedy = "the two differ in Unicode normalisation: convert both files to NFC" if is_same_text else REMEDY
            return (
                f"{predicted.problem(f'word {word} is {other!r}, but {one!r} at {_place(gold, word)}; {remedy}', word)}"
            )
    message = f"{len(predicted)} words, but the sentence has {len(gold)} at {_place(gold, 0)}; {REMEDY}"
    return str(predicted.problem(message))


def _place(sentence: Sentence, word: int) -> str:
    problem = sentence.problem("", word)
    return f"{problem.path}:{problem.line}" if problem.line else problem.path
