"""What is strange about trees that are scored: scores of them are numbers, but perhaps not what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..corpus.checks import tree_problems
from ..corpus.files import name_of
from ..corpus.problems import Problem
from ..corpus.sentence import HEAD, Sentence


class Doubts:
    """Looks at the sentences of a file on their way."""

    def __init__(self, path: str, *, is_gold: bool):
        self.name, self.is_gold = name_of(path), is_gold
        self.faulty = 0  # sentences whose tree is none
        self.first: Problem | None = None
        self.with_several_roots = 0
        self.words_without_head = 0

    def watch(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            problems = tree_problems(sentence, single_root=False)
            wrong = next((problem for problem in problems if problem.is_error), None)
            if wrong is not None:
                self.faulty += 1
                self.first = self.first or wrong
            self.with_several_roots += sum(row[HEAD] == "0" for row in sentence.columns) > 1
            self.words_without_head += sum(row[HEAD] == "_" for row in sentence.columns)
            yield sentence

    def messages(self) -> list[str]:
        found = []
        if self.faulty:
            found.append(f"{self.name}: sentences whose tree is none: {self.faulty}; the first: {self.first}")
        if self.with_several_roots:
            number = self.with_several_roots
            found.append(f"{self.name}: sentences with several roots, which the official scorer refuses: {number}")
        if self.words_without_head and not self.is_gold:  # what gold leaves open is in the report
            found.append(
                f"{self.name}: words without HEAD, which count as wrong: {self.words_without_head}; is it parsed?"
            )
        return found
