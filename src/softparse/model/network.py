"""The parser's network: words → states → scores."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor, nn

from ..corpus.batches import Batch
from ..corpus.vocabulary import Vocabulary
from .encoder import Encoded, Encoder, EncoderConfig
from .scorers import Projection, ScorerConfig, Views, arc_scorer, label_scorer
from .words import WordConfig, WordRepresentation


@dataclass(frozen=True)
class ModelConfig:
    words: WordConfig = field(default_factory=WordConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    scorer: ScorerConfig = field(default_factory=ScorerConfig)


class Network(nn.Module):
    """Encoder and scorers. `views` once, then scores of arcs, then of labels for the arcs chosen."""

    def __init__(self, config: ModelConfig, vocabulary: Vocabulary, vectors: Tensor | None = None):
        super().__init__()
        self.words = WordRepresentation(config.words, vocabulary, vectors)
        self.encoder = Encoder(config.encoder, self.words.dimension)
        self.projection = Projection(config.scorer, self.encoder.dimension)
        self.arcs = arc_scorer(config.scorer)
        self.labels = label_scorer(config.scorer, max(1, len(vocabulary.labels)))

    def encoded(self, batch: Batch) -> Encoded:
        return self.encoder(self.words(batch), batch.lengths)

    def views(self, batch: Batch) -> Views:
        """What the scorers see of every word."""
        return self.projection(self.encoded(batch).states)

    def arc_scores(self, views: Views) -> Tensor:
        """[B, n + 1, n + 1], head first."""
        return self.arcs(views.arc_head, views.arc_modifier)

    def label_scores(self, views: Views, heads: Tensor) -> Tensor:
        """[B, n + 1, labels] of the arcs from `heads` [B, n + 1]."""
        return self.labels(views.label_head, views.label_modifier, heads)
