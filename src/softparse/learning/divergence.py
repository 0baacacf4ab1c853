"""Runs that diverge are stopped before a number that is none gets into what is kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

SUSPICIOUS = 10.0  # times the loss of guessing


def diverged(what: str, epoch: int, rate: float) -> FloatingPointError:
    """The error that stops a run: what is not finite, when, and what can be done."""
    return FloatingPointError(
        f"epoch {epoch}: training has diverged, {what}; lower train.learning_rate (now {rate:g}) or train.clip"
    )


@torch.no_grad()
def all_finite(tensors: Iterable[Tensor]) -> bool:
    return all(math.isfinite(norm) for norm in torch.stack(torch._foreach_norm(list(tensors), math.inf)).tolist())


def is_suspicious(loss: float, lengths: Sequence[int], labels: int) -> bool:
    """Whether a loss per word is far above that of guessing heads and labels, though it is finite."""
    guessing = 1 + math.log(max(lengths, default=1) + 1) + math.log(labels + 1)
    return loss > SUSPICIOUS * guessing
