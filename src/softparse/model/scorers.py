"""Scores of arcs for all pairs of words, and of labels for given arcs.

perceptron   v · tanh(W_h x_h + W_m x_m + b)                (Kiperwasser & Goldberg)
biaffine     [f(x_h); 1]ᵀ U [g(x_m); 1], f and g one layer  (Dozat & Manning)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..configuration import at_least, choice
from .dropout import dropped

MOST_NUMBERS = 1 << 26  # of the perceptron's hidden layer for all pairs at once, when no gradient is wanted


@dataclass(frozen=True)
class ScorerConfig:
    kind: str = choice("perceptron", "biaffine")
    label_kind: str = choice("perceptron", "biaffine")
    arc: int = at_least(100, 1)  # dimension
    label: int = at_least(100, 1)
    dropout: float = at_least(0.0, 0.0, below=1.0)  # of views for a biaffine form, and of the hidden layer of labels


class Views(NamedTuple):
    """A word as its neighbours may see it, [B, n + 1, ...] each: as head and as modifier, for arcs and for labels.

    Those for a biaffine form are f(x) and g(x), those for a perceptron W_h x and W_m x.
    """

    arc_head: Tensor
    arc_modifier: Tensor
    label_head: Tensor
    label_modifier: Tensor


class Projection(nn.Module):
    """States [B, n + 1, d] to the views of every word, by one matrix product for all four."""

    def __init__(self, config: ScorerConfig, inputs: int):
        super().__init__()
        self.sizes = [config.arc, config.arc, config.label, config.label]
        self.linear = nn.Linear(inputs, sum(self.sizes))
        self.dropout = config.dropout
        self.kinds = [config.kind, config.label_kind]
        kinds = [config.kind, config.kind, config.label_kind, config.label_kind]
        parts = zip(kinds, self.linear.weight.split(self.sizes), self.linear.bias.split(self.sizes), strict=True)
        with torch.no_grad():
            for kind, weight, bias in parts:
                if kind == "biaffine":
                    nn.init.orthogonal_(weight)
                    nn.init.zeros_(bias)

    def forward(self, states: Tensor) -> Views:
        views: list[Tensor] = []
        pairs = self.linear(states).split([2 * size for size in self.sizes[::2]], -1)
        for kind, both in zip(self.kinds, pairs, strict=True):
            if kind == "biaffine":
                both = dropped(nn.functional.leaky_relu(both, 0.1), self.dropout, self.training)
            views += both.chunk(2, -1)
        return Views(*views)


def arc_scorer(config: ScorerConfig) -> nn.Module:
    return ArcPerceptron(config) if config.kind == "perceptron" else ArcBiaffine(config)


def label_scorer(config: ScorerConfig, labels: int) -> nn.Module:
    return LabelPerceptron(config, labels) if config.label_kind == "perceptron" else LabelBiaffine(config, labels)


def heads_of(states: Tensor, heads: Tensor) -> Tensor:
    """The states [B, n, d] of the heads [B, n] (those below 0 give any state)."""
    batch, size, _ = states.shape
    rows = heads.clamp(min=0) + size * torch.arange(batch, device=heads.device)[:, None]
    return nn.functional.embedding(rows, states.flatten(0, 1))  # faster than `gather`, forward and backward


class ArcPerceptron(nn.Module):
    """Scores [B, n + 1, n + 1] of head → modifier."""

    def __init__(self, config: ScorerConfig):
        super().__init__()
        self.output = nn.Linear(config.arc, 1)

    def forward(self, heads: Tensor, modifiers: Tensor) -> Tensor:
        modifiers = modifiers[:, None]
        rows = heads.shape[1]
        if not torch.is_grad_enabled():  # a long sentence some heads at a time
            rows = max(1, min(rows, MOST_NUMBERS // max(1, modifiers.numel())))
        return torch.cat(
            [self.output(torch.tanh(part[:, :, None] + modifiers))[..., 0] for part in heads.split(rows, 1)], 1
        )


class LabelPerceptron(nn.Module):
    """Scores [B, n + 1, labels] of the arcs from the given heads."""

    def __init__(self, config: ScorerConfig, labels: int):
        super().__init__()
        self.output = nn.Linear(config.label, labels)
        self.dropout = config.dropout

    def forward(self, as_heads: Tensor, modifiers: Tensor, heads: Tensor) -> Tensor:
        hidden = torch.tanh(heads_of(as_heads, heads) + modifiers)
        return self.output(dropped(hidden, self.dropout, self.training))


class ArcBiaffine(nn.Module):
    """The same, as a biaffine form of f(x_h) and g(x_m)."""

    def __init__(self, config: ScorerConfig):
        super().__init__()
        self.form = nn.Linear(config.arc, config.arc)  # its bias: how likely a word is a head at all
        nn.init.zeros_(self.form.weight)

    def forward(self, heads: Tensor, modifiers: Tensor) -> Tensor:
        # s[h, m] = f(x_h) · (U g(x_m) + u)
        return heads @ self.form(modifiers).transpose(1, 2)


class LabelBiaffine(nn.Module):
    def __init__(self, config: ScorerConfig, labels: int):
        super().__init__()
        self.labels, self.hidden = labels, config.label
        self.form = nn.Linear(config.label, labels * config.label)
        self.of_both = nn.Linear(2 * config.label, labels)
        nn.init.zeros_(self.form.weight)

    def forward(self, as_heads: Tensor, modifiers: Tensor, heads: Tensor) -> Tensor:
        head = heads_of(as_heads, heads)
        form = self.form(modifiers).unflatten(-1, (self.labels, self.hidden))
        return (form @ head[..., None])[..., 0] + self.of_both(torch.cat([head, modifiers], -1))
