"""Bias and variance of the gradient estimators, on sentences short enough to sum over all trees.

    pip install -c constraints.txt -e '.[bench]'
    python benchmarks/estimators.py          # table on the screen, benchmarks/results/estimators.{json,svg}

The exact gradient of E_q[f(T)] with respect to the scores comes from summing over every tree. Each estimator is then
drawn many times (a batch of copies of the sentence: one draw per copy). Bias and standard deviation are given
relative to the length of the exact gradient, next to the cosine between the mean estimate and the exact gradient.
All estimators get the same number of trees per draw.
"""

from __future__ import annotations

import sys

# As a script, this folder would come first on the path, and its operator.py in the place of Python's own `operator`.
sys.path[:] = [folder for folder in sys.path if not folder.endswith("benchmarks")]

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from softparse.trees import ESTIMATORS, ProjectiveTrees, adjacency, expectation, log_number_of_trees

TEMPERATURES = (0.25, 1.0, 4.0)
FLOOR = 1e-3  # of the plot's axes: a zero has no place on a logarithmic one


def functions(words: int, generator: torch.Generator) -> dict[str, Callable[[Tensor], Tensor]]:
    """A linear function of the tree, for which marginals are exact, and one with interactions, as a decoder has."""
    size = words + 1
    weights = torch.randn(size, size, generator=generator, dtype=torch.float64)
    states = torch.randn(size, 8, generator=generator, dtype=torch.float64)
    maps = torch.randn(2, 8, 8, generator=generator, dtype=torch.float64) / 8**0.5
    readout = torch.randn(8, generator=generator, dtype=torch.float64)

    def linear(trees: Tensor) -> Tensor:
        return (trees * weights).sum((-1, -2))

    def graph_convolution(trees: Tensor) -> Tensor:
        hidden = torch.tanh(states + trees.transpose(-1, -2) @ states @ maps[0] + trees @ states @ maps[1])
        return (hidden @ readout).sum(-1)

    return {"linear": linear, "graph convolution": graph_convolution}


def exact_gradient(scores: Tensor, f: Callable[[Tensor], Tensor], single_root: bool) -> tuple[float, Tensor]:
    """Value and gradient of E_q[f(T)] by summing over all trees."""
    leaf = scores.clone().requires_grad_()
    trees = ProjectiveTrees(leaf[None], single_root=single_root)
    count = log_number_of_trees(trees.lengths, single_root=single_root, projective=True, dtype=torch.float64)
    heads, log_prob = trees.kbest(round(float(count.exp())))
    value = (log_prob[:, 0].exp() * f(adjacency(heads, torch.float64))[:, 0]).sum()
    (gradient,) = torch.autograd.grad(value, leaf)
    return value.item(), gradient


def measure(scores: Tensor, f: Callable, exact: tuple[float, Tensor], options: dict, draws: int, seed: int) -> dict:
    leaf = scores.expand(draws, -1, -1).clone().requires_grad_()
    trees = ProjectiveTrees(leaf, single_root=options["single_root"])
    estimate = expectation(
        trees, f, options["estimator"], samples=options["samples"], temperature=options["temperature"],
        noise=options["noise"], generator=torch.Generator().manual_seed(seed),
    )  # fmt: skip
    (gradients,) = torch.autograd.grad(estimate.sum(), leaf)
    value, gradient = exact
    mean, length = gradients.mean(0), gradient.norm()
    deviation = (gradients - mean).square().sum((1, 2)).mean().sqrt()
    return {
        **options,
        "value_bias": estimate.mean().item() - value,
        "bias": ((mean - gradient).norm() / length).item(),
        "deviation": (deviation / length).item(),
        "cosine": torch.nn.functional.cosine_similarity(mean.flatten(), gradient.flatten(), dim=0).item(),
    }


def settings(samples: int, single_root: bool) -> list[dict]:
    rows = []
    for estimator in ESTIMATORS:
        noisy = estimator in ("relaxed", "straight-through", "perturbed-marginals")
        for temperature in TEMPERATURES if noisy else (1.0,):
            for noise in ("gumbel", "sum-of-gamma") if noisy else ("none",):
                rows.append(
                    {
                        "estimator": estimator,
                        "temperature": temperature,
                        "noise": noise,
                        "samples": samples,
                        "single_root": single_root,
                    }
                )
    return rows


def plot(rows: list[dict], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row["function"] for row in rows))
    figure, axes = plt.subplots(1, len(names), figsize=(6 * len(names), 4.6), sharey=True)
    for axis, name in zip(axes, names, strict=True):
        series: dict[tuple[str, str], list[dict]] = {}
        for row in rows:
            if row["function"] == name:
                series.setdefault((row["estimator"], row["noise"]), []).append(row)
        for (estimator, noise), points in series.items():
            # Relaxed and straight-through may coincide: one is drawn as a ring around the other.
            ring = estimator == "relaxed"
            axis.plot(
                [max(point["deviation"], FLOOR) for point in points],
                [max(point["bias"], FLOOR) for point in points],
                color=f"C{list(ESTIMATORS).index(estimator)}",
                marker={"gumbel": "o", "sum-of-gamma": "s", "none": "D"}[noise],
                markersize=11 if ring else 7,
                fillstyle="none" if ring else "full",
                linewidth=1,
                alpha=0.85,
                label=estimator if noise == "none" else f"{estimator}, {noise}",
            )
        for point in series[("perturbed-marginals", "gumbel")]:
            place = max(point["deviation"], FLOOR), max(point["bias"], FLOOR)
            axis.annotate(
                f"τ = {point['temperature']:g}", place, (0, -16), textcoords="offset points", ha="center", fontsize=8
            )
        axis.set(title=f"f = {name}", xscale="log", yscale="log", xlim=(FLOOR / 1.5, 8), ylim=(FLOOR / 1.5, 3))
        axis.set_xlabel("standard deviation / |exact gradient|")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("bias / |exact gradient|")
    axes[-1].legend(fontsize=8, loc="lower left")
    first = rows[0]
    figure.suptitle(
        f"Gradient estimators, {first['words']} words, {first['samples']} trees a draw (left and down is better)"
    )
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=5, choices=range(1, 6))
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--samples", type=int, default=4, help="trees per draw")
    parser.add_argument("--multi-root", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    generator = torch.Generator().manual_seed(arguments.seed)
    size = arguments.words + 1
    scores = torch.randn(size, size, generator=generator, dtype=torch.float64)
    rows = []
    for name, f in functions(arguments.words, generator).items():
        exact = exact_gradient(scores, f, not arguments.multi_root)
        print(f"\nf = {name}, n = {arguments.words}, {arguments.samples} trees a draw, {arguments.draws} draws")
        print(
            f"{'estimator':<20} {'noise':<13} {'τ':>5} {'value bias':>11} {'bias':>8} {'std. dev.':>10} {'cosine':>8}"
        )
        for options in settings(arguments.samples, not arguments.multi_root):
            row = measure(scores, f, exact, options, arguments.draws, arguments.seed)
            rows.append({"function": name, "words": arguments.words, "draws": arguments.draws, **row})
            print(
                f"{row['estimator']:<20} {row['noise']:<13} {row['temperature']:>5g} {row['value_bias']:>11.3f} "
                f"{row['bias']:>8.3f} {row['deviation']:>10.3f} {row['cosine']:>8.3f}",
                flush=True,
            )
    arguments.output.mkdir(exist_ok=True)
    (arguments.output / "estimators.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    plot(rows, arguments.output / "estimators.svg")
    print("written:", arguments.output / "estimators.json", arguments.output / "estimators.svg")


if __name__ == "__main__":
    main()
