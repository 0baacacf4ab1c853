"""What can be wrong with a file, said with its place and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """Something wrong at a line of a file. Errors stop training; warnings do not.

    >>> print(Problem("train.conllu", 1043, "HEAD 17 but the sentence has 12 words", "fr-0012"))
    train.conllu:1043: HEAD 17 but the sentence has 12 words (sent_id fr-0012)
    """

    path: str
    line: int
    message: str
    sent_id: str | None = None
    is_error: bool = True

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}" + (f" (sent_id {self.sent_id})" if self.sent_id else "")


class CorpusError(ValueError):
    """Input that cannot be used; the message says where, what, and what to do."""


Reporter = Callable[[Problem], None]


def refuse(problem: Problem) -> None:
    """The reporter of those who cannot go on: errors are raised, warnings pass."""
    if problem.is_error:
        raise CorpusError(str(problem))
