"""Scores of arcs for all pairs of words, and of labels for given arcs.

perceptron   v · tanh(W_h x_h + W_m x_m + b)             (Kiperwasser & Goldberg)
biaffine     [f(x_h); 1]ᵀ U [g(x_m); 1], f and g one layer  (Dozat & Manning)
"""

from __future__ import annotations

from dataclasses import dataclass

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
    dropout: float = at_least(0.0, 0.0, below=1.0)


def arc_scorer(config: ScorerConfig, inputs: int) -> nn.Module:
    return ArcPerceptron(config, inputs) if config.kind == "perceptron" else ArcBiaffine(config, inputs)


def label_scorer(config: ScorerConfig, inputs: int, labels: int) -> nn.Module:
    if config.label_kind == "perceptron":
        return LabelPerceptron(config, inputs, labels)
    return LabelBiaffine(config, inputs, labels)


def heads_of(states: Tensor, heads: Tensor) -> Tensor:
    """The states [B, n, d] of the heads [B, n] (those below 0 give any state)."""
    batch, size, _ = states.shape
    rows = heads.clamp(min=0) + size * torch.arange(batch, device=heads.device)[:, None]
    return nn.functional.embedding(rows, states.flatten(0, 1))  # faster than `gather`, forward and backward


class ArcPerceptron(nn.Module):
    """[B, n + 1, d] to scores [B, n + 1, n + 1] of head → modifier."""

    def __init__(self, config: ScorerConfig, inputs: int):
        super().__init__()
        self.of_head = nn.Linear(inputs, config.arc)
        self.of_modifier = nn.Linear(inputs, config.arc, bias=False)
        self.output = nn.Linear(config.arc, 1)

    def forward(self, states: Tensor) -> Tensor:
        heads, modifiers = self.of_head(states), self.of_modifier(states)[:, None]
        rows = heads.shape[1]
        if not torch.is_grad_enabled():  # a long sentence some heads at a time
            rows = max(1, min(rows, MOST_NUMBERS // max(1, modifiers.numel())))
        return torch.cat(
            [self.output(torch.tanh(part[:, :, None] + modifiers))[..., 0] for part in heads.split(rows, 1)], 1
        )


class LabelPerceptron(nn.Module):
    """Scores [B, n + 1, labels] of the arcs from the given heads."""

    def __init__(self, config: ScorerConfig, inputs: int, labels: int):
        super().__init__()
        self.of_head = nn.Linear(inputs, config.label)
        self.of_modifier = nn.Linear(inputs, config.label, bias=False)
        self.output = nn.Linear(config.label, labels)
        self.dropout = config.dropout

    def forward(self, states: Tensor, heads: Tensor) -> Tensor:
        hidden = torch.tanh(heads_of(self.of_head(states), heads) + self.of_modifier(states))
        return self.output(dropped(hidden, self.dropout, self.training))


class _Layer(nn.Module):
    """One layer in front of a biaffine form."""

    def __init__(self, inputs: int, outputs: int, dropout: float):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)
        self.dropout = dropout

    def forward(self, states: Tensor) -> Tensor:
        return dropped(nn.functional.leaky_relu(self.linear(states), 0.1), self.dropout, self.training)


class ArcBiaffine(nn.Module):
    def __init__(self, config: ScorerConfig, inputs: int):
        super().__init__()
        self.of_head = _Layer(inputs, config.arc, config.dropout)
        self.of_modifier = _Layer(inputs, config.arc, config.dropout)
        self.form = nn.Linear(config.arc, config.arc)  # its bias: how likely a word is a head at all
        nn.init.zeros_(self.form.weight)

    def forward(self, states: Tensor) -> Tensor:
        # s[h, m] = f(x_h) · (U g(x_m) + u)
        return self.of_head(states) @ self.form(self.of_modifier(states)).transpose(1, 2)


class LabelBiaffine(nn.Module):
    def __init__(self, config: ScorerConfig, inputs: int, labels: int):
        super().__init__()
        self.labels, self.hidden = labels, config.label
        self.of_head = _Layer(inputs, config.label, config.dropout)
        self.of_modifier = _Layer(inputs, config.label, config.dropout)
        self.form = nn.Linear(config.label, labels * config.label)
        self.of_both = nn.Linear(2 * config.label, labels)
        nn.init.zeros_(self.form.weight)

    def forward(self, states: Tensor, heads: Tensor) -> Tensor:
        head, modifier = heads_of(self.of_head(states), heads), self.of_modifier(states)
        form = self.form(modifier).unflatten(-1, (self.labels, self.hidden))
        return (form @ head[..., None])[..., 0] + self.of_both(torch.cat([head, modifier], -1))
