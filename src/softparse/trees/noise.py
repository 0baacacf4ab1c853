"""Perturbations of arc weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor

NOISES = ("gumbel", "sum-of-gamma", "none")


def sample_noise(
    noise: str | None, shape: tuple[int, ...], lengths: Tensor, dtype: torch.dtype, generator: torch.Generator | None
) -> Tensor | None:
    """Noise [..., B, size, size] for the arcs of sentences with the given lengths; None for no noise.

    `gumbel`: an independent Gumbel draw per arc, as in the paper.
    `sum-of-gamma`: Σ_{i=1..s} Gamma(1/n, scale 1/i) − log(s)/n with s = 10, so that the n arcs of a tree together carry
    about one Gumbel draw (Niepert, Minervini & Franceschi, 2021).
    """
    if noise is None or noise == "none":
        return None
    device = lengths.device if generator is None else generator.device
    if noise == "gumbel":
        exponential = torch.empty(shape, dtype=dtype, device=device).exponential_(generator=generator)
        # log(0) would be an infinite weight; the clamp is below the smallest draw that matters.
        drawn = -exponential.clamp_(min=torch.finfo(dtype).tiny).log_()
    elif noise == "sum-of-gamma":
        drawn = _sum_of_gamma(shape, lengths.to(device), dtype, generator)
    else:
        raise ValueError(f"noise must be one of {', '.join(map(repr, NOISES))}, got {noise!r}")
    return drawn.to(lengths.device)


def _sum_of_gamma(
    shape: tuple[int, ...], lengths: Tensor, dtype: torch.dtype, generator: torch.Generator | None, terms: int = 10
) -> Tensor:
    concentration = (1.0 / lengths.to(dtype))[:, None, None].expand(shape).contiguous()
    total = torch.zeros_like(concentration)
    for term in range(1, terms + 1):
        total += torch._standard_gamma(concentration, generator=generator) / term
    return total - math.log(terms) * concentration


def uniform_numbers(shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
    """Uniform numbers in [0, 1) on the CPU, where trees are traced."""
    if generator is None:  # said by leaving it out: a compiler with symbolic shapes knows no generator, not even None
        return torch.rand(shape, dtype=torch.float64, device="cpu")  # whatever the default device is
    return torch.rand(shape, dtype=torch.float64, device=generator.device, generator=generator).cpu()
