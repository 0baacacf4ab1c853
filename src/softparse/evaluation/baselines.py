"""Trees that know nothing of the words: what an unsupervised parser has to beat."""

from __future__ import annotations

from collections.abc import Sequence

from ..corpus.sentence import Sentence
from .scores import score


def right_branching(words: int) -> list[int]:
    """Every word is the head of the next one.

    >>> right_branching(3)
    [0, 1, 2]
    """
    return list(range(words))


def left_branching(words: int) -> list[int]:
    """Every word is the head of the one before it.

    >>> left_branching(3)
    [2, 3, 0]
    """
    return [*range(2, words + 1), 0]


def branching_scores(sentences: Sequence[Sentence]) -> dict[str, float]:
    """Directed UAS of both on sentences with trees."""
    return {
        name: score(sentences, (s.with_tree(tree(len(s)), ["_"] * len(s)) for s in sentences)).uas
        for name, tree in (("right_branching", right_branching), ("left_branching", left_branching))
    }
