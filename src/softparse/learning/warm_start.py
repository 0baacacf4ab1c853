"""Starting from another model whose vocabulary is the beginning of the new one's."""

from __future__ import annotations

import torch
from torch import nn

from ..parser import ModelError


@torch.no_grad()
def copy_weights(source: nn.Module, target: nn.Module, name: str) -> None:
    """Copy all weights; where the target has more rows (new words, characters, labels), these stay as they are."""
    given = source.state_dict()
    for key, tensor in target.state_dict().items():
        old = given.get(key)
        if old is None or old.shape[1:] != tensor.shape[1:] or old.shape[0] > tensor.shape[0]:
            what = "has other dimensions" if old is not None else "is missing"
            raise ModelError(f"{name}: cannot start from this model: {key} {what} (are the external vectors others?)")
        tensor[: old.shape[0]].copy_(old)
