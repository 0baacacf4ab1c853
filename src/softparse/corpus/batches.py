"""Sentences as padded tensors, and the order in which they come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from .forms import PADDING, ROOT, Forms
from .sentence import UNKNOWN as UNKNOWN_HEAD
from .vocabulary import Vocabulary

Item = TypeVar("Item")


@dataclass(frozen=True)
class Batch:
    """B sentences of up to n words; position 0 is the root, what lies beyond a sentence is padding."""

    words: Tensor  # [B, n + 1] in the vocabulary
    external: Tensor  # [B, n + 1] rows of the external vectors, 0 for none
    forms: Tensor  # [B, n + 1] rows of `spellings`
    spellings: Tensor  # [forms, letters] characters of each distinct form, 0 after its end
    lengths: Tensor  # [B]
    heads: Tensor | None = None  # [B, n + 1], -1 where unknown and at position 0 and in padding
    labels: Tensor | None = None  # [B, n + 1], -1 likewise
    targets: Tensor | None = None  # [B, n + 1] words in the vocabulary of the generative model

    def to(self, device: torch.device | str) -> Batch:
        if torch.device(device).type == "cpu":
            return self
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: value.to(device) for name, value in values.items() if value is not None})

    def rows(self, start: int, stop: int) -> Batch:
        """Some of the sentences, without the padding that they do not need."""
        size = int(self.lengths[start:stop].max()) + 1
        kept = {"spellings": self.spellings, "lengths": self.lengths[start:stop]}
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in kept}
        cut = {name: value[start:stop, :size] for name, value in values.items() if value is not None}
        return replace(self, **kept, **cut)

    @property
    def is_word(self) -> Tensor:
        """[B, n + 1], True at the words."""
        position = torch.arange(self.words.shape[1], device=self.words.device)
        return (position > 0) & (position <= self.lengths[:, None])


@dataclass(frozen=True)
class Tree:
    """What training knows of a sentence: heads (-1 unknown) and labels (`_` unknown) of its words."""

    words: list[str]
    heads: list[int]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.words)


class Numbering:
    """Turns words (and trees) into batches for a vocabulary, external vectors, and a vocabulary to generate."""

    def __init__(self, vocabulary: Vocabulary, external: Mapping[str, int], generated: Vocabulary | None = None):
        self.vocabulary = vocabulary
        self.external = external  # rows of the vectors by word, from 1
        self.generated = generated
        self._forms = Forms(vocabulary, external, generated)
        self._one_at_a_time = threading.Lock()  # forms are added as they come

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_one_at_a_time"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._one_at_a_time = threading.Lock()

    def batch(self, sentences: Sequence[Sequence[str]]) -> Batch:
        with self._one_at_a_time:
            return self._batch(sentences)

    def _batch(self, sentences: Sequence[Sequence[str]]) -> Batch:
        self._forms.make_room()
        lengths = np.array([len(sentence) for sentence in sentences], np.int64)
        places = np.full((len(sentences), int(lengths.max()) + 1), PADDING, np.int64)
        places[:, 0] = ROOT
        for row, sentence in enumerate(sentences):
            places[row, 1 : len(sentence) + 1] = [self._forms[form] for form in sentence]
        numbers = self._forms.numbers[places]
        # Each form once, in the order of the batch, so that nothing depends on what was asked for before.
        distinct, first, inverse = np.unique(places, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        distinct, forms = distinct[order], rank[inverse.reshape(places.shape)]
        spellings = self._forms.spellings[distinct, : self._forms.letters[distinct].max()]
        arrays = numbers[..., 0], numbers[..., 1], forms, spellings, lengths
        batch = Batch(*(torch.from_numpy(np.ascontiguousarray(array)) for array in arrays))
        if self.generated is None:
            return batch
        return replace(batch, targets=torch.from_numpy(np.ascontiguousarray(numbers[..., 2])))

    def training_batch(self, trees: Sequence[Tree]) -> Batch:
        batch = self.batch([tree.words for tree in trees])
        heads = np.full(batch.words.shape, UNKNOWN_HEAD, np.int64)
        labels = np.full(batch.words.shape, -1, np.int64)
        ids = self.vocabulary.label_ids
        for row, tree in enumerate(trees):
            heads[row, 1 : len(tree) + 1] = tree.heads
            labels[row, 1 : len(tree) + 1] = [ids.get(label, -1) for label in tree.labels]
        labels[heads == UNKNOWN_HEAD] = -1  # a label without a head belongs to no arc
        return replace(batch, heads=torch.from_numpy(heads), labels=torch.from_numpy(labels))


def batched(
    lengths: Sequence[int],
    most_sentences: int,
    most_words: int,
    generator: np.random.Generator | None = None,
    fewest: int = 1,
) -> list[list[int]]:
    """Indexes of sentences, in batches of similar length: at most so many sentences, and so many words with padding.

    The `fewest` sentences of a batch may have more words than that.
    With a generator the batches are another selection, in another order, at every call.
    """
    keys = np.asarray(lengths, np.float64)
    if generator is not None:
        # Lengths are blurred so that neighbours change; within a batch there is still little padding.
        keys = keys * generator.uniform(0.9, 1.1, len(keys)) + generator.uniform(0, 1, len(keys))
    batches: list[list[int]] = []
    current: list[int] = []
    longest = 0
    for index in np.argsort(keys, kind="stable").tolist():
        longest_now = max(longest, lengths[index])
        is_large = len(current) >= fewest and (len(current) + 1) * (longest_now + 1) > most_words
        if current and (len(current) == most_sentences or is_large):
            batches.append(current)
            current, longest_now = [], lengths[index]
        current.append(index)
        longest = longest_now
    if current:
        batches.append(current)
    if generator is not None:
        shuffle(batches, generator)
    return batches


def shuffle(batches: list[list[int]], generator: np.random.Generator) -> None:
    """Batches in any order, and the sentences of each too, so that the first ones are any of them."""
    generator.shuffle(batches)
    for batch in batches:
        generator.shuffle(batch)


def in_windows(
    items: Iterable[Item], length: Callable[[Item], int], most_items: int, most_words: int
) -> Iterator[list[Item]]:
    """A stream cut into lists of bounded size, to be sorted by length one at a time."""
    window: list[Item] = []
    words = 0
    for item in items:
        window.append(item)
        words += length(item)
        if len(window) >= most_items or words >= most_words:
            yield window
            window, words = [], 0
    if window:
        yield window
