"""Estimators of E_q[f(T)] and of its gradient, behind one interface, so that they can be compared.

An estimator takes a distribution over trees and a function f from (relaxed) trees [S, B, n + 1, n + 1] to values
[S, B], and returns a tensor [B] whose value estimates E_q[f(T)] and whose gradient estimates the gradient of it, with
respect to the scores and to whatever f depends on.

| name                     | tree given to f                  | value    | gradient in the scores             |
|--------------------------|----------------------------------|----------|------------------------------------|
| `relaxed`                | relaxed, perturbed (the paper)   | biased   | biased, low variance               |
| `straight-through`       | best tree of perturbed scores    | biased   | biased: that of the relaxed tree   |
| `marginals`              | marginals, no noise              | biased   | biased, no variance                |
| `perturbed-marginals`    | marginals of perturbed scores    | biased   | biased, low variance               |
| `score-function`         | exact samples                    | unbiased | unbiased, high variance            |

(The marginals are unbiased where f is linear in the tree and the temperature is 1.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from .distribution import TreeDistribution
from .shapes import adjacency

Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Draws:
    """How to draw trees; each estimator uses what it needs of it."""

    samples: int = 1
    temperature: float = 1.0
    noise: str | None = "gumbel"
    generator: torch.Generator | None = None


Estimator = Callable[[TreeDistribution, Function, Draws], Tensor]


def relaxed(trees: TreeDistribution, f: Function, draws: Draws) -> Tensor:
    return f(_perturb_and_parse(trees, draws, hard=False)).mean(0)


def straight_through(trees: TreeDistribution, f: Function, draws: Draws) -> Tensor:
    return f(_perturb_and_parse(trees, draws, hard=True)).mean(0)


def _perturb_and_parse(trees: TreeDistribution, draws: Draws, *, hard: bool) -> Tensor:
    return trees.rsample(
        (draws.samples,), temperature=draws.temperature, hard=hard, noise=draws.noise, generator=draws.generator
    )


def marginals(trees: TreeDistribution, f: Function, draws: Draws) -> Tensor:
    return f(trees.perturbed_marginals((1,), temperature=draws.temperature, noise="none")).mean(0)


def perturbed_marginals(trees: TreeDistribution, f: Function, draws: Draws) -> Tensor:
    soft = trees.perturbed_marginals(
        (draws.samples,), temperature=draws.temperature, noise=draws.noise, generator=draws.generator
    )
    return f(soft).mean(0)


def score_function(trees: TreeDistribution, f: Function, draws: Draws) -> Tensor:
    """REINFORCE; each sample's baseline is the mean of the others (0 for a single sample)."""
    heads = trees.sample((draws.samples,), generator=draws.generator)
    value = f(adjacency(heads, trees.scores.dtype))
    advantage = value.detach()
    if draws.samples > 1:
        advantage = (advantage - advantage.mean(0)) * (draws.samples / (draws.samples - 1))
    log_prob = trees.log_prob(heads)
    return (value + advantage * (log_prob - log_prob.detach())).mean(0)


ESTIMATORS: dict[str, Estimator] = {
    "relaxed": relaxed,
    "straight-through": straight_through,
    "marginals": marginals,
    "perturbed-marginals": perturbed_marginals,
    "score-function": score_function,
}


def expectation(
    trees: TreeDistribution,
    f: Function,
    estimator: str = "relaxed",
    *,
    samples: int = 1,
    temperature: float = 1.0,
    noise: str | None = "gumbel",
    generator: torch.Generator | None = None,
) -> Tensor:
    """E_q[f(T)] [B] by the named estimator, differentiable; see the module for what each one does.

    `samples`, `temperature` and `noise` count where the estimator uses them.
    """
    if estimator not in ESTIMATORS:
        raise ValueError(f"estimator must be one of {', '.join(map(repr, ESTIMATORS))}, got {estimator!r}")
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    return ESTIMATORS[estimator](trees, _checked(f), Draws(samples, temperature, noise, generator))


def _checked(f: Function) -> Function:
    """The same; a value for all sentences together would have no gradient under a baseline, and nobody would see it."""

    def checked(tree: Tensor) -> Tensor:
        value = f(tree)
        if value.shape != tree.shape[:2]:
            raise ValueError(
                f"f must return a value for every sample and sentence, of shape {list(tree.shape[:2])}; "
                f"it returned {list(value.shape)}"
            )
        return value

    return checked
