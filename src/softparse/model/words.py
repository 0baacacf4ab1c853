"""A word as a vector: a trainable embedding, a fixed external vector, and its characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ..configuration import at_least, choice
from ..corpus.batches import Batch
from ..corpus.vocabulary import UNKNOWN_ID, Vocabulary
from .characters import CharacterConfig, CharacterEncoder
from .dropout import dropped
from .table import Table


@dataclass(frozen=True)
class WordConfig:
    dimension: int = at_least(100, 1)
    # A word that the vocabulary counts c times is unknown with probability rate / (rate + c), and then its external
    # vector is dropped too half of the time (Kiperwasser & Goldberg).
    dropout_rate: float = at_least(0.25, 0.0)
    # What comes after is dropped with this probability, the same features all over a sentence.
    dropout: float = at_least(0.0, 0.0, below=1.0)
    least_count: int = at_least(1, 1)
    external: str = choice("fixed", "mapped")
    characters: CharacterConfig = field(default_factory=CharacterConfig)


class WordRepresentation(nn.Module):
    """[B, n + 1, dimension] for a batch."""

    counts: Tensor
    vectors: Tensor

    def __init__(self, config: WordConfig, vocabulary: Vocabulary, vectors: Tensor | None):
        super().__init__()
        self.config = config
        self.embedding = Table(len(vocabulary.words), config.dimension, padding_idx=0)
        nn.init.normal_(self.embedding.weight, std=config.dimension**-0.5)
        with torch.no_grad():
            self.embedding.weight[0] = 0
        self.register_buffer("counts", torch.tensor(vocabulary.counts, dtype=torch.float32), persistent=False)
        self.dimension = config.dimension
        self.register_buffer("vectors", torch.zeros(1, 0) if vectors is None else vectors, persistent=False)
        self.mapping: nn.Linear | None = None
        if self.vectors.shape[1]:
            width = self.vectors.shape[1]
            if config.external == "mapped":
                self.mapping = nn.Linear(width, config.dimension, bias=False)
                width = config.dimension
            self.dimension += width
        self.characters = None
        if config.characters.encoder != "none":
            self.characters = CharacterEncoder(config.characters, len(vocabulary.characters))
            self.dimension += self.characters.dimension

    def drop_by(self, counts: Sequence[int]) -> None:
        """Other counts to drop words by than the vocabulary's."""
        self.counts = torch.tensor(counts, dtype=torch.float32, device=self.counts.device)

    def forward(self, batch: Batch) -> Tensor:
        words, external = batch.words, batch.external
        rate = self.config.dropout_rate
        if self.training and rate > 0:
            drop = torch.rand(words.shape, device=words.device) < rate / (rate + self.counts[words])
            drop &= batch.is_word
            words = torch.where(drop, UNKNOWN_ID, words)
            external = torch.where(drop & (torch.rand(words.shape, device=words.device) < 0.5), 0, external)
        # Time first, as the encoder wants it.
        parts = [self.embedding(words.t())]
        if self.vectors.shape[1]:
            vectors = self.vectors[external.t()]
            parts.append(vectors if self.mapping is None else self.mapping(vectors))
        if self.characters is not None:
            # Not by indexing, whose gradient is summed in another order at every call.
            parts.append(nn.functional.embedding(batch.forms.t(), self.characters(batch.spellings)))
        return dropped(torch.cat(parts, -1), self.config.dropout, self.training, time=0).transpose(0, 1)
