"""A short demonstration of the operator: one perturbed sentence, parsed at falling temperatures."""

from __future__ import annotations

from pathlib import Path

import click
import torch

from .drawing import arcs_svg, heat_text, stacked_svg
from .trees import ProjectiveTrees, adjacency, eisner

WORDS = ["They", "walk", "the", "dog", "in", "the", "park"]
HEADS = [2, 0, 4, 2, 7, 7, 2]
TEMPERATURES = (4.0, 1.0, 0.3, 0.03)


def run(output: Path, seed: int) -> None:
    scores = _scores()
    pictures = []
    for temperature in TEMPERATURES:
        # The same seed gives the same noise at every temperature.
        generator = torch.Generator().manual_seed(seed)
        soft = ProjectiveTrees(scores).rsample(temperature=temperature, generator=generator)[0]
        click.echo(f"\ntemperature {temperature:g}\n{heat_text(WORDS, soft.tolist())}")
        pictures.append(arcs_svg(WORDS, soft.tolist(), f"perturb-and-parse, temperature {temperature:g}"))
    best = adjacency(eisner(scores))[0]
    pictures.append(arcs_svg(WORDS, best.tolist(), "the best tree of the weights without noise (Eisner)"))
    output.write_text(stacked_svg(pictures), encoding="utf-8")
    click.echo(f"\nThe gradient passes through every one of these. Picture: {output}")


def _scores() -> torch.Tensor:
    """Weights that favour one tree, and near words over far ones."""
    position = torch.arange(len(WORDS) + 1)
    scores = -0.3 * (position[:, None] - position).abs().float()[None]
    for modifier, head in enumerate(HEADS, start=1):
        scores[0, head, modifier] += 2.5
    return scores
