"""The spelling of a word as a vector, computed once for each distinct form of a batch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..configuration import at_least, choice
from .highest import highest


@dataclass(frozen=True)
class CharacterConfig:
    encoder: str = choice("none", "convolution", "lstm")
    dimension: int = at_least(50, 1)  # of a character
    output: int = at_least(100, 2)  # of a word
    width: int = at_least(3, 1)  # letters under a filter of the convolution
    dropout: float = at_least(0.0, 0.0, below=1.0)


class CharacterEncoder(nn.Module):
    """Spellings [forms, letters] (0 after the end) to [forms, output]."""

    def __init__(self, config: CharacterConfig, characters: int):
        super().__init__()
        self.config = config
        self.dimension = config.output
        self.embedding = nn.Embedding(characters, config.dimension, padding_idx=0)
        if config.encoder == "convolution":
            self.filters = nn.Linear(config.dimension, config.width * config.output, bias=False)
            self.bias = nn.Parameter(torch.zeros(config.output))
        else:
            half = config.output // 2
            self.forwards = nn.LSTM(config.dimension, config.output - half)
            self.backwards = nn.LSTM(config.dimension, half)

    def forward(self, spellings: Tensor) -> Tensor:
        if self.config.encoder == "convolution":
            return self._convolution(spellings)
        letters = nn.functional.dropout(self.embedding(spellings), self.config.dropout, self.training)
        lengths = (spellings > 0).sum(1)
        return torch.cat([
            self._last(self.forwards, letters, lengths),
            self._last(self.backwards, reversed_within(letters, lengths), lengths),
        ], -1)  # fmt: skip

    def _convolution(self, spellings: Tensor) -> Tensor:
        characters = nn.functional.dropout(self.embedding.weight, self.config.dropout, self.training)
        table = self.filters(characters).unflatten(-1, (self.config.width, self.config.output))
        return (highest(table, spellings) + self.bias).relu()

    @staticmethod
    def _last(lstm: nn.LSTM, letters: Tensor, lengths: Tensor) -> Tensor:
        states, _ = lstm(letters.transpose(0, 1))
        return states[lengths - 1, torch.arange(len(lengths), device=lengths.device)]


def reversed_within(states: Tensor, lengths: Tensor) -> Tensor:
    """[B, n, d] with the first lengths[b] positions in reverse; the rest stays behind them."""
    position = torch.arange(states.shape[1], device=states.device)
    source = torch.where(position < lengths[:, None], lengths[:, None] - 1 - position, position)
    return states.gather(1, source[:, :, None].expand(states.shape))
