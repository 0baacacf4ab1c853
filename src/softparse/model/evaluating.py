"""Networks as they are used, not as they are trained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(*networks: nn.Module) -> Iterator[None]:
    """Without dropout, for as long as this lasts."""
    before = [network.training for network in networks]
    for network in networks:
        network.eval()
    try:
        yield
    finally:
        for network, was_training in zip(networks, before, strict=True):
            network.train(was_training)
