"""What the tree core accepts, and what it says about anything else."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .kernels.checks import ALL_FINITE, SOME_FORBIDDEN, inspect
from .kernels.compiled import HAVE_NUMBA


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
        if lengths.numel() > 0 and (lengths.dtype.is_floating_point or lengths.dtype == torch.bool):
            raise TypeError(f"lengths must be integers, got {lengths.dtype}")
        if lengths.shape != (batch,):
            raise ValueError(f"lengths must have the shape [{batch}], one per sentence, got {list(lengths.shape)}")
        lengths = lengths.to(torch.int64)
    if mask is not None:
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
            kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
            raise TypeError(f"mask must be a bool tensor (True where an arc is allowed), got {kind}")
        if mask.shape != scores.shape:
            raise ValueError(f"mask must have the shape of the scores, {list(scores.shape)}, got {list(mask.shape)}")
        scores = scores.masked_fill(~mask.to(scores.device), -torch.inf)
    return scores, lengths


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


def _check_values(scores: Tensor, lengths: Tensor) -> bool:
    size = scores.shape[1]
    wrong = (lengths < 1) | (lengths >= size)
    if wrong.any():
        sentence = int(wrong.int().argmax())
        raise ValueError(
            f"lengths[{sentence}] is {int(lengths[sentence])}, but must be between 1 and {size - 1}: "
            "lengths count the words, without the root"
        )
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


def no_tree(scores: Tensor, lengths: Tensor, sentence: int, kind: str) -> ValueError:
    """The error for a sentence in which forbidden arcs leave no tree."""
    allowed = arcs(lengths, scores.shape[1])[sentence] & (scores[sentence] > -torch.inf)
    for word in range(1, int(lengths[sentence]) + 1):
        if not allowed[:, word].any():
            return ValueError(f"the mask leaves word {word} of sentence {sentence} without a head")
    return ValueError(f"the mask leaves no {kind} tree for sentence {sentence}; allow more arcs or several roots")


def check_temperature(temperature: float) -> float:
    if isinstance(temperature, Tensor) and temperature.requires_grad:
        raise TypeError("temperature has no gradient; divide the scores by it and pass temperature=1")
    if not float(temperature) > 0 or float(temperature) == float("inf"):
        raise ValueError(f"temperature must be a positive number, got {temperature}")
    return float(temperature)


def check_heads(heads: Tensor, lengths: Tensor, size: int, *, leading: bool) -> Tensor:
    """Heads [..., B, size] as int64 on the device of `lengths`, -1 outside of the sentences."""
    heads = torch.as_tensor(heads, device=lengths.device)
    expected = [lengths.shape[0], size]
    if heads.dtype.is_floating_point or heads.dtype == torch.bool:
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
