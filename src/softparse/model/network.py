"""The parser's network: words → states → scores."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor, nn

from ..corpus.batches import Batch
from ..corpus.vocabulary import Vocabulary
from .encoder import Encoder, EncoderConfig
from .scorers import ScorerConfig, arc_scorer, label_scorer
from .words import WordConfig, WordRepresentation


@dataclass(frozen=True)
class ModelConfig:
    words: WordConfig = field(default_factory=WordConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    scorer: ScorerConfig = field(default_factory=ScorerConfig)


class Network(nn.Module):
    """Encoder and scorers. `states` once, then scores of arcs, then of labels for the arcs chosen."""

    def __init__(self, config: ModelConfig, vocabulary: Vocabulary, vectors: Tensor | None = None):
        super().__init__()
        self.words = WordRepresentation(config.words, vocabulary, vectors)
        self.encoder = Encoder(config.encoder, self.words.dimension)
        self.arcs = arc_scorer(config.scorer, self.encoder.dimension)
        self.labels = label_scorer(config.scorer, self.encoder.dimension, max(1, len(vocabulary.labels)))

    def states(self, batch: Batch) -> Tensor:
        """[B, n + 1, 2·hidden]"""
        return self.encoder(self.words(batch), batch.lengths)

    def arc_scores(self, states: Tensor) -> Tensor:
        """[B, n + 1, n + 1], head first."""
        return self.arcs(states)

    def label_scores(self, states: Tensor, heads: Tensor) -> Tensor:
        """[B, n + 1, labels] of the arcs from `heads` [B, n + 1]."""
        return self.labels(states, heads)
