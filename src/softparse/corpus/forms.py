"""What is known of each form, looked up once: numbers that batches are made of."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .vocabulary import PADDING_ID, ROOT_ID, Vocabulary, normal_form

LONGEST_SPELLING = 24
MOST_FORMS = 200_000  # kept; then it begins anew
PADDING, ROOT = 0, 1  # places of what is no word


class Forms(dict[str, int]):
    """Places of forms, found out when they are first asked for, in these tables:

    words, external, targets   [forms] in the vocabulary, in the external vectors, in the vocabulary to generate
    spellings, letters         [forms, LONGEST_SPELLING] characters, 0 after the end, and their number
    """

    def __init__(self, vocabulary: Vocabulary, external: Mapping[str, int], generated: Vocabulary | None = None):
        super().__init__()
        self.vocabulary, self.external, self.generated = vocabulary, external, generated
        self._begin()

    def _begin(self) -> None:
        self.clear()
        self.numbers = np.zeros((1024, 3), np.int64)  # words, external, targets
        self.spellings = np.zeros((1024, LONGEST_SPELLING), np.int64)
        self.letters = np.zeros(1024, np.int64)
        self.size = 0
        self._add(PADDING_ID, 0, PADDING_ID, [ROOT_ID])
        self._add(ROOT_ID, 0, ROOT_ID, [ROOT_ID])

    def make_room(self) -> None:
        """Call between batches: places given out before may then mean something else."""
        if self.size > MOST_FORMS:
            self._begin()

    def __missing__(self, form: str) -> int:
        row = self.external.get(form) or self.external.get(normal_form(form)) or 0
        target = self.generated.word_id(form) if self.generated else 0
        spelling = self.vocabulary.spelling(form, LONGEST_SPELLING)
        place = self[form] = self._add(self.vocabulary.word_id(form), row, target, spelling)
        return place

    def _add(self, word: int, external: int, target: int, spelling: list[int]) -> int:
        if self.size == len(self.letters):
            for name in ("numbers", "spellings", "letters"):
                table = getattr(self, name)
                setattr(self, name, np.concatenate([table, np.zeros_like(table)]))
        place, self.size = self.size, self.size + 1
        self.numbers[place] = word, external, target
        self.spellings[place, : len(spelling)] = spelling
        self.letters[place] = len(spelling)
        return place
