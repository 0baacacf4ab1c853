"""The generative half of the autoencoder: q(z|s), and p(s|T, z) over the vocabulary of trees and raw text.

The tree comes from the parser, soft or hard; this module knows what to make of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ..configuration import ConfigurationError, at_least, choice
from ..corpus.batches import Batch
from .decoder import Decoder, DecoderConfig
from .encoder import Encoded
from .network import Network
from .outputs import Output, OutputConfig
from .posterior import Gaussian, PosteriorConfig, SentencePosterior
from .reader import Reader
from .table import Table


@dataclass(frozen=True)
class GenerativeConfig:
    latent: bool = False  # with the sentence embedding z
    # What predicts words: an LSTM of its own, or the first layer of the parser's encoder, from the left and the right.
    states: str = choice("own", "encoder")
    # What an LSTM of its own reads: the external vectors (trainable ones where there are none), or what the parser
    # reads.
    inputs: str = choice("external", "shared")
    dimension: int = at_least(100, 1)  # of trainable inputs
    tied: bool = False  # the output layer uses the parser's word embeddings
    posterior: PosteriorConfig = field(default_factory=PosteriorConfig)
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    output: OutputConfig = field(default_factory=OutputConfig)


class Generative(nn.Module):
    """Needs the parser's `network` for what they share, and the `counts` of the words that it generates."""

    def __init__(self, config: GenerativeConfig, network: Network, counts: Tensor):
        super().__init__()
        self.config = config
        if config.states == "encoder" and config.latent:
            raise ConfigurationError("generative.latent needs a decoder that z can start: generative.states=own")
        self.embedding: Table | None = None
        self.decoder: Decoder | None = None
        self.reader: Reader | None = None
        if config.states == "encoder":
            self.reader = Reader(network.encoder.config.hidden, config.decoder.hidden)
        else:
            inputs = self._inputs(network, len(counts))
            latent = config.posterior.dimension if config.latent else 0
            self.decoder = Decoder(config.decoder, inputs, latent)
        self.posterior: SentencePosterior | None = None
        if config.latent:
            first = 2 * network.encoder.config.hidden if config.posterior.shared else network.words.dimension
            self.posterior = SentencePosterior(config.posterior, first)
        self.output = Output(config.output, config.decoder.hidden, counts)
        if config.tied:
            if self.output.words is None or self.output.words.weight.shape != network.words.embedding.weight.shape:
                raise ConfigurationError(
                    "generative.tied needs an output layer other than adaptive, a parser that knows all words that "
                    "are generated (data.vocabulary=all, or raw_least_count so high that raw text adds none), and "
                    f"generative.decoder.hidden equal to model.words.dimension (now {config.decoder.hidden} and "
                    f"{network.words.embedding.embedding_dim})"
                )
            self.output.words = network.words.embedding

    def _inputs(self, network: Network, size: int) -> int:
        if self.config.inputs == "shared":
            return network.words.dimension
        if network.words.vectors.shape[1]:
            return network.words.vectors.shape[1]
        self.embedding = Table(size, self.config.dimension)
        return self.config.dimension

    @property
    def whole_table(self) -> Table | None:
        """The table of words whose loss needs all of its rows, if there is one: then others are only looked up."""
        return None if self.output.only_looks_up else self.output.words

    def gaussian(self, encoded: Encoded, lengths: Tensor) -> Gaussian | None:
        """q(z|s), if there is a z."""
        if self.posterior is None:
            return None
        shared = self.config.posterior.shared
        return self.posterior(
            torch.cat([encoded.forwards, encoded.backwards], -1) if shared else encoded.words, lengths
        )

    def vectors(
        self, network: Network, batch: Batch, encoded: Encoded, trees: Tensor, latent: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """What words are predicted from, [..., B, n, hidden] by direction, given trees [..., B, n + 1, n + 1]."""
        if self.reader is not None:
            return self.reader(encoded, batch.lengths, trees)
        assert self.decoder is not None
        assert batch.targets is not None
        if self.config.inputs == "shared":
            inputs = encoded.words
        elif self.embedding is not None:
            inputs = self.embedding(batch.targets)
        else:
            inputs = network.words.vectors[batch.external]
        return (self.decoder(inputs[:, 1:], trees, latent),)

    def loss(self, vectors: tuple[Tensor, ...], batch: Batch) -> Tensor:
        """What is minimised for −log p(s|T, z), [..., B]; the mean over directions."""
        both = torch.stack(vectors)
        return self._by_word(both, batch, self.output.loss).sum(-1).mean(0)

    def log_likelihood(self, vectors: tuple[Tensor, ...], batch: Batch) -> Tensor:
        """log p(word i | words before it, T, z) [..., B, n] with the full softmax, 0 in padding, from the left."""
        return self._by_word(vectors[0], batch, self.output.log_prob)

    def _by_word(self, vectors: Tensor, batch: Batch, function: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        assert batch.targets is not None
        is_word = batch.is_word[:, 1:].expand(vectors.shape[:-1])
        words = batch.targets[:, 1:].expand(is_word.shape)[is_word]
        values = function(vectors[is_word], words)
        return torch.zeros(is_word.shape, dtype=values.dtype, device=values.device).masked_scatter(is_word, values)
