"""Words, characters and labels as numbers.

Words are looked up by a normal form: lower-cased, and one symbol for everything that starts with a digit. A word that
is spelled like a symbol gets another `<`, so that it is a word like others. A character is any code point seen in the
treebank.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from .problems import CorpusError
from .sentence import Sentence

PADDING, UNKNOWN, ROOT, NUMBER = "<padding>", "<unknown>", "<root>", "<number>"
SPECIAL = (PADDING, UNKNOWN, ROOT)
SYMBOLS = frozenset((*SPECIAL, NUMBER))
PADDING_ID, UNKNOWN_ID, ROOT_ID = range(3)
UNLABELLED = "_"


def normal_form(form: str) -> str:
    """
    >>> normal_form("The"), normal_form("3rd"), normal_form("<Root>")
    ('the', '<number>', '<<root>')
    """
    if form[:1].isdigit():
        return NUMBER
    lowered = form.lower()
    # With any number of < before it, so that different words stay different.
    is_like_a_symbol = lowered.startswith("<") and f"<{lowered.lstrip('<')}" in SYMBOLS
    return f"<{lowered}" if is_like_a_symbol else lowered


@dataclass(frozen=True)
class Vocabulary:
    """Words with their numbers of occurrences (frequent first), characters and labels, each after the special ones."""

    words: list[str]
    counts: list[int]
    characters: list[str]
    labels: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, sentences: Iterable[Sentence], labels: Iterable[str] = (), least: int = 1) -> Self:
        """Words seen at least `least` times, all characters, and the labels given (those of the trees, lifted)."""
        words: Counter[str] = Counter()
        characters: Counter[str] = Counter()
        for sentence in sentences:
            for form in sentence.words:
                words[normal_form(form)] += 1
                characters.update(form)
        kept = sorted((item for item in words.items() if item[1] >= least), key=lambda item: (-item[1], item[0]))
        return cls(
            [*SPECIAL, *(word for word, _ in kept)],
            [0] * len(SPECIAL) + [count for _, count in kept],
            [*SPECIAL, *sorted(characters)],
            sorted(set(labels) - {UNLABELLED}),
        )

    def with_raw(
        self, raw: Mapping[str, int], letters: Mapping[str, int], least: int = 1, most: int | None = None
    ) -> Vocabulary:
        """This vocabulary and the most frequent words of raw text (by normal form), with the counts of both; and its
        characters. What occurs less than `least` times is left out."""
        counts = {word: count + raw.get(word, 0) for word, count in zip(self.words, self.counts, strict=True)}
        special = list(SPECIAL)
        words = {word: counts[word] for word in self.words if word not in special}
        new = sorted(((-count, word) for word, count in raw.items() if count >= least and word not in words))
        words |= {word: -count for count, word in new[:most]}
        ordered = sorted(words, key=lambda word: (-words[word], word))
        characters = {letter for letter, count in letters.items() if count >= least} - set(self.characters)
        return Vocabulary(
            special + ordered,
            [0] * len(special) + [words[word] for word in ordered],
            self.characters + sorted(characters),
            self.labels,
        )

    def extended(self, other: Vocabulary) -> Vocabulary:
        """This vocabulary, in its order, and after it what only the other one has. Counts are the other's."""
        counts = dict(zip(other.words, other.counts, strict=True))
        words = self.words + [word for word in other.words if word not in self.word_ids]
        return Vocabulary(
            words,
            [counts.get(word, 0) for word in words],
            self.characters + [letter for letter in other.characters if letter not in self.character_ids],
            self.labels + [label for label in other.labels if label not in self.label_ids],
        )

    @cached_property
    def word_ids(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    @cached_property
    def character_ids(self) -> dict[str, int]:
        return {letter: place for place, letter in enumerate(self.characters)}

    @cached_property
    def label_ids(self) -> dict[str, int]:
        return {label: place for place, label in enumerate(self.labels)}

    def word_id(self, form: str) -> int:
        return self.word_ids.get(normal_form(form), UNKNOWN_ID)

    def spelling(self, form: str, longest: int) -> list[int]:
        """Characters of a form; the middle of an overlong one is left out, since its ends say most."""
        if len(form) > longest:
            half = longest // 2
            form = form[: longest - half] + form[-half:]
        return [self.character_ids.get(letter, UNKNOWN_ID) for letter in form] or [UNKNOWN_ID]

    def as_json(self) -> str:
        return json.dumps(
            {"words": self.words, "counts": self.counts, "characters": self.characters, "labels": self.labels},
            ensure_ascii=False, indent=0,
        )  # fmt: skip

    @classmethod
    def from_json(cls, text: str, name: str = "vocab.json") -> Self:
        try:
            table: dict[str, Any] = json.loads(text)
            vocabulary = cls(table["words"], table["counts"], table["characters"], table["labels"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CorpusError(f"{name}: not a vocabulary ({error})") from None
        for names in (vocabulary.words, vocabulary.characters, vocabulary.labels):
            if not isinstance(names, list) or not all(isinstance(entry, str) for entry in names):
                raise CorpusError(f"{name}: not a vocabulary (an entry is not a string)")
            if len(set(names)) != len(names):
                raise CorpusError(f"{name}: not a vocabulary (an entry twice)")
        counts = vocabulary.counts
        if not isinstance(counts, list) or not all(type(count) is int for count in counts):
            raise CorpusError(f"{name}: not a vocabulary (a count is not a whole number)")
        if len(counts) != len(vocabulary.words):
            raise CorpusError(f"{name}: not a vocabulary ({len(counts)} counts)")
        if tuple(vocabulary.words[:3]) != SPECIAL or tuple(vocabulary.characters[:3]) != SPECIAL:
            raise CorpusError(f"{name}: not a vocabulary (special symbols are missing)")
        return vocabulary
