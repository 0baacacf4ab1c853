"""Arcs that the tree of a sentence must have, and arcs that it must not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..corpus.checks import tree_problems
from ..corpus.problems import CorpusError
from ..corpus.projectivity import crossing
from ..corpus.sentence import UNKNOWN, Sentence
from ..trees.distribution import TreeDistribution

Words = Sequence[str] | Sentence


class ImpossibleError(CorpusError):
    """No tree of a sentence is as it should be."""

    def __init__(self, message: str, sentence: Any):
        super().__init__(message)
        self.sentence = sentence

    def __reduce__(self) -> tuple[Any, ...]:
        return ImpossibleError, (str(self), None)  # from a worker, for which the message is enough


@dataclass(frozen=True)
class Restricted:
    """A sentence with required heads (by word) and forbidden arcs (head, word); words count from 1, 0 is the root.

    >>> Restricted(["They", "walk", "dogs"], required={3: 2}, forbidden={(0, 1)}).words
    ['They', 'walk', 'dogs']
    """

    sentence: Words
    required: Mapping[int, int] = field(default_factory=dict)
    forbidden: frozenset[tuple[int, int]] | set[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        size = len(self.sentence)
        for head, word in [*((head, word) for word, head in self.required.items()), *self.forbidden]:
            if not (1 <= word <= size and 0 <= head <= size and word != head):
                allowed = f"words are 1 to {size}, heads 0 to {size}, and no word is its own head"
                raise CorpusError(f"there is no arc from {head} to {word} in a sentence of {size} words: {allowed}")

    def __len__(self) -> int:
        return len(self.sentence)

    @property
    def words(self) -> list[str]:
        return list(self.sentence.words if isinstance(self.sentence, Sentence) else self.sentence)

    def allows(self, heads: Sequence[int]) -> bool:
        """Whether a tree keeps to it."""
        return all(heads[word - 1] == head for word, head in self.required.items()) and not any(
            (head, word) in self.forbidden for word, head in enumerate(heads, 1)
        )


def words_of(sentence: Words | Restricted) -> Sequence[str]:
    if isinstance(sentence, str):
        raise TypeError(f"a sentence is a list of words, got the text {sentence[:40]!r}; cut it into words first")
    return sentence.words if isinstance(sentence, Sentence | Restricted) else sentence


def restrict(trees: TreeDistribution, sentences: Sequence[Words | Restricted], complete: bool) -> TreeDistribution:
    """The trees that keep to what is asked of them; with `complete` also to the heads that the sentences have."""
    if not complete and not any(isinstance(sentence, Restricted) for sentence in sentences):
        return trees
    allowed = _allowed(trees.scores, sentences, complete)
    try:
        return _masked(trees, allowed, slice(None))
    except ValueError:
        for row, sentence in enumerate(sentences):
            try:
                _masked(trees, allowed, slice(row, row + 1))
            except ValueError:
                raise _impossible(trees, row, sentence) from None
        raise


def _masked(trees: TreeDistribution, allowed: Tensor, rows: slice) -> TreeDistribution:
    return type(trees)(trees.scores[rows], trees.lengths[rows], single_root=trees.single_root, mask=allowed[rows])


def _allowed(scores: Tensor, sentences: Sequence[Words | Restricted], complete: bool) -> Tensor:
    """True at [b, h, m] where the tree of sentence b may have the arc h → m."""
    batch, size, _ = scores.shape
    heads = np.full((batch, size), UNKNOWN)
    forbidden: list[tuple[int, int, int]] = []
    for row, sentence in enumerate(sentences):
        if isinstance(sentence, Restricted):
            forbidden += [(row, head, word) for head, word in sentence.forbidden]
            required, sentence = sentence.required, sentence.sentence
        else:
            required = {}
        if complete and isinstance(sentence, Sentence):
            heads[row, 1 : len(sentence) + 1] = _heads_there(sentence)
        for word, head in required.items():
            if heads[row, word] not in (UNKNOWN, head):
                other = f"the sentence has {heads[row, word]} there, and is to keep its heads; take one of the two back"
                raise ImpossibleError(f"word {word} is to have the head {head}, but {other}", sentence)
            heads[row, word] = head
    allowed = (heads[:, None, :] == UNKNOWN) | (heads[:, None, :] == np.arange(size)[:, None])
    for arc in forbidden:
        allowed[arc] = False
    return torch.from_numpy(allowed).to(scores.device)


def _heads_there(sentence: Sentence) -> list[int]:
    heads = sentence.heads
    if any(head > len(heads) for head in heads):
        errors = [problem for problem in tree_problems(sentence) if problem.is_error]
        raise CorpusError(str(errors[0]))
    return heads


def _impossible(trees: TreeDistribution, row: int, sentence: Words | Restricted) -> CorpusError:
    sort = "projective " if trees.projective else ""
    root = "single-rooted " if trees.single_root else ""
    if isinstance(sentence, Restricted):
        message = f"no {root}{sort}tree has the required arcs and none of the forbidden ones; take some back"
        return ImpossibleError(message, sentence)
    message = f"no {root}{sort}tree contains the heads given"
    if not isinstance(sentence, Sentence):
        return ImpossibleError(f"sentence {row}: {message}; correct them", sentence)
    errors = [problem for problem in tree_problems(sentence, single_root=False) if problem.is_error]
    if errors:  # which no other sort of tree would forgive
        return ImpossibleError(str(errors[0]), sentence)
    others = ["--decode nonprojective"] * (trees.projective and bool(crossing(sentence.heads)))
    others += ["--multi-root"] * (trees.single_root and sentence.heads.count(0) > 1)
    # Partial heads may leave no room for a root, or for heads of the others, without being wrong themselves.
    others = others or ["--decode nonprojective"] * trees.projective + ["--multi-root"] * trees.single_root
    remedy = f"correct them, or use {' and '.join(others)}" if others else "correct them"
    return ImpossibleError(str(sentence.problem(f"{message}; {remedy}")), sentence)


def kept(
    sentence: Words | Restricted,
    complete: bool,
    decoded: list[int],
    heads: list[int],
    labels: list[str],
    chances: list[float] | None,
) -> tuple[list[int], list[str], list[float] | None]:
    """What is asked of a tree stays so where undoing a lift has moved a word; a label given is certain."""
    if isinstance(sentence, Restricted):
        if not sentence.allows(heads):
            heads = decoded
        sentence = sentence.sentence
    if complete and isinstance(sentence, Sentence):
        given, names = sentence.heads, sentence.labels
        if any(head >= 0 and head != new for head, new in zip(given, heads, strict=True)):
            heads = decoded
        is_given = [head >= 0 and name != "_" for head, name in zip(given, names, strict=True)]
        labels = [old if here else new for here, old, new in zip(is_given, names, labels, strict=True)]
        if chances is not None:
            chances = [1.0 if here else chance for here, chance in zip(is_given, chances, strict=True)]
    return heads, labels, chances
