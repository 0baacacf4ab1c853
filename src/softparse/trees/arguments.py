"""What the tree core accepts, and what it says about anything else."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .kernels.checks import ALL_FINITE, SOME_FORBIDDEN, inspect
from .kernels.compiled import HAVE_NUMBA

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def prepare(scores: Tensor, lengths: Tensor | Sequence[int] | None, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Scores with -inf on forbidden arcs, and lengths as int64 on the same device. Shapes and types are checked."""
    if not isinstance(scores, Tensor):
        raise TypeError(f"scores must be a torch.Tensor, not {type(scores).__name__}")
    if scores.dim() != 3 or scores.shape[1] != scores.shape[2]:
        raise ValueError(
            f"scores must have the shape [batch, words + 1, words + 1], got {list(scores.shape)}; "
            "for one sentence use scores[None]"
        )
    if scores.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"scores must be float32 or float64, got {scores.dtype}; use scores.float()")
    batch, size, _ = scores.shape
    if size < 2 and batch > 0:
        raise ValueError(f"scores of shape {list(scores.shape)} have no words: index 0 is the root, words start at 1")
    if lengths is None:
        lengths = torch.full((batch,), size - 1, dtype=torch.int64, device=scores.device)
    else:
        lengths = torch.as_tensor(lengths, device=scores.device)
        if lengths.numel() > 0 and lengths.dtype not in INTEGERS:
            raise TypeError(f"lengths must be integers, got {lengths.dtype}")
        if lengths.shape != (batch,):
            raise ValueError(f"lengths must have the shape [{batch}], one per sentence, got {list(lengths.shape)}")
        lengths = lengths.to(torch.int64, copy=True)  # the caller's may change
    if mask is not None:
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
            kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
            raise TypeError(f"mask must be a bool tensor (True where an arc is allowed), got {kind}")
        if mask.shape != scores.shape:
            raise ValueError(f"mask must have the shape of the scores, {list(scores.shape)}, got {list(mask.shape)}")
        scores = scores.masked_fill(~mask.to(scores.device), -torch.inf)
    return scores, lengths


def is_transformed(tensor: Tensor) -> bool:
    """Whether forward-mode differentiation or a `torch.func` transformation must see every operation on the tensor."""
    if torch.compiler.is_compiling():  # which sees operators, not what is inside them
        return False
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor) or torch.autograd.forward_ad._current_level >= 0


def arcs(lengths: Tensor, size: int) -> Tensor:
    """True at [b, h, m] where h → m can be an arc: inside the sentence, not into the root, not a loop."""
    position = torch.arange(size, device=lengths.device)
    inside = position <= lengths[:, None]
    return inside[:, :, None] & inside[:, None, :] & (position[:, None] != position) & (position > 0)


def check_values(scores: Tensor, lengths: Tensor) -> bool:
    """Raise on lengths out of range and on NaN or +inf on an arc. Returns whether some arc is forbidden (-inf)."""
    if HAVE_NUMBA and scores.device.type == "cpu":
        values = scores.detach().contiguous().numpy()
        found = inspect(values.dtype, values, lengths.contiguous().numpy())
        if found in (ALL_FINITE, SOME_FORBIDDEN):
            return found == SOME_FORBIDDEN
    return _check_values(scores, lengths)


def words_of(lengths: Tensor, size: int) -> np.ndarray:
    """Lengths for a kernel. Kernels trust them with memory, so this look does not depend on `validate_args`."""
    words = lengths.detach().cpu().contiguous().numpy()
    if words.size and (words.min() < 1 or words.max() >= size):
        _wrong_lengths(lengths, size)
    return words


def _wrong_lengths(lengths: Tensor, size: int) -> None:
    wrong = (lengths < 1) | (lengths >= size)
    if wrong.any():
        sentence = int(wrong.int().argmax())
        raise ValueError(
            f"lengths[{sentence}] is {int(lengths[sentence])}, but must be between 1 and {size - 1}: "
            "lengths count the words, without the root"
        )


def _check_values(scores: Tensor, lengths: Tensor) -> bool:
    size = scores.shape[1]
    _wrong_lengths(lengths, size)
    on_arcs = torch.where(arcs(lengths, size), scores.detach(), 0.0)
    if torch.isfinite(on_arcs).all():
        return False
    wrong = on_arcs.isnan() | (on_arcs == torch.inf)
    if wrong.any():
        sentence, head, modifier = (int(index) for index in wrong.nonzero()[0])
        raise ValueError(
            f"scores[{sentence}, {head}, {modifier}] is {float(scores[sentence, head, modifier])}; "
            "every arc of the sentence needs a number (-inf, or a mask, forbids it)"
        )
    return True


def no_tree(scores: Tensor, lengths: Tensor, sentence: int, kind: str, cause: str) -> ValueError:
    """The error for a sentence in which forbidden arcs leave no tree; `cause` says what forbids them."""
    allowed = arcs(lengths, scores.shape[1])[sentence] & (scores[sentence] > -torch.inf)
    for word in range(1, int(lengths[sentence]) + 1):
        if not allowed[:, word].any():
            return ValueError(f"{cause} word {word} of sentence {sentence} without a head")
    return ValueError(f"{cause} no {kind} tree for sentence {sentence}; allow more arcs or several roots")


def check_temperature(temperature: float) -> float:
    if isinstance(temperature, Tensor) and temperature.requires_grad:
        raise TypeError("temperature has no gradient; divide the scores by it and pass temperature=1")
    if isinstance(temperature, Tensor) and temperature.numel() != 1:
        raise ValueError(f"temperature must be one number, got a tensor of shape {list(temperature.shape)}")
    value = float(temperature)
    if not (value > 0 and math.isfinite(value) and 1 / value < math.inf):
        raise ValueError(f"temperature must be a positive number, got {temperature}")
    return value


def check_heads(heads: Tensor, lengths: Tensor, size: int, *, leading: bool) -> Tensor:
    """Heads [..., B, size] as int64 on the device of `lengths`, -1 outside of the sentences."""
    heads = torch.as_tensor(heads, device=lengths.device)
    expected = [lengths.shape[0], size]
    if heads.dtype not in INTEGERS:
        raise TypeError(f"heads must be integers, got {heads.dtype}")
    if list(heads.shape[-2:]) != expected or (heads.dim() > 2 and not leading):
        raise ValueError(
            f"heads must have the shape {'[..., ' if leading else '['}{expected[0]}, {size}], got {list(heads.shape)}"
        )
    position = torch.arange(size, device=lengths.device)
    inside = (position > 0) & (position <= lengths[:, None])
    heads = torch.where(inside, heads.to(torch.int64), -1)
    wrong = (heads < -1) | (heads > lengths[:, None])
    if wrong.any():
        place = tuple(int(index) for index in wrong.nonzero()[0])
        sentence, word = place[-2:]
        raise ValueError(
            f"heads[{', '.join(map(str, place))}] is {int(heads[place])}: word {word} of sentence {sentence} "
            f"needs a head between 0 and {int(lengths[sentence])}, or -1 for an unknown one"
        )
    return heads


def check_number(k: Any) -> int:
    """How many trees are asked for."""
    try:
        number = operator.index(k)
    except TypeError:
        number = 0
    if number < 1 or isinstance(k, bool):
        raise ValueError(f"k must be a whole number of at least 1, got {k!r}")
    return number
