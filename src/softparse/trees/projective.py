"""Projective dependency trees: the paper's operator as a function, and the distribution around it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from . import operators
from .arguments import check_temperature
from .distribution import TreeDistribution
from .kernels.views import LOG, RELAXED
from .noise import uniform_numbers


class ProjectiveTrees(TreeDistribution):
    """A distribution over projective dependency trees, q(T) ∝ exp(Σ_{h→m in T} scores[h, m]).

    `scores` [B, n + 1, n + 1] holds the weight of the arc h → m at [b, h, m]; 0 is the root. `lengths` [B] counts
    words (all n when omitted). `mask`, of the shape of the scores, is True where an arc is allowed. `single_root` asks
    for exactly one child of the root. The diagonal, column 0 and what lies beyond a sentence are never read.

    >>> trees = ProjectiveTrees(torch.zeros(1, 4, 4))
    >>> round(float(trees.log_partition.exp()))
    7
    >>> round(float(trees.marginals[0, 0, 1:].sum()), 4)  # a single root
    1.0
    """

    projective = True

    def _inference(self, scores: Tensor, lengths: Tensor, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
        return operators.soft_trees(scores, lengths, temperature, self.single_root, LOG)

    def _normaliser(self, scores: Tensor, lengths: Tensor) -> Tensor:
        return operators.soft_trees(scores, lengths, 1.0, self.single_root, LOG, keep=False)[1]

    def _relaxation(self, scores: Tensor, lengths: Tensor, temperature: float) -> Tensor:
        return operators.soft_trees(scores, lengths, temperature, self.single_root, RELAXED)[0]

    def _best(self, scores: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return operators.best_trees(scores, self.lengths if lengths is None else lengths, self.single_root)

    def _draw(self, samples: int, generator: torch.Generator | None) -> Tensor:
        uniforms = uniform_numbers((samples, self.scores.shape[0], 2 * self.scores.shape[1]), generator)
        return operators.sampled_trees(self.scores, self.lengths, uniforms, self.single_root)

    def _best_k(self, k: int) -> Tensor:
        return operators.k_best_trees(self.scores, self.lengths, k, self.single_root)


def relaxed_parse(
    scores: Tensor,
    lengths: Tensor | Sequence[int] | None = None,
    *,
    temperature: float = 1.0,
    single_root: bool = True,
    mask: Tensor | None = None,
) -> Tensor:
    """The continuous relaxation of Eisner's algorithm: soft trees [B, n + 1, n + 1], differentiable in the scores.

    Every choice of a split becomes a softmax at the given temperature; as it goes to 0 the result becomes the best
    tree. Columns of words sum to 1. Arguments as for `ProjectiveTrees`. O(n³) time, O(n²) memory.

    >>> relaxed_parse(torch.tensor([[[0.0, 1.0, 2.0], [0.0, 0.0, 3.0], [0.0, 1.0, 0.0]]]), temperature=0.5)[0]
    tensor([[0.0000, 0.8808, 0.1192],
            [0.0000, 0.0000, 0.8808],
            [0.0000, 0.1192, 0.0000]])
    """
    temperature = check_temperature(temperature)
    trees = ProjectiveTrees(scores, lengths, single_root=single_root, mask=mask)
    return trees._relaxation(trees.scores, trees.lengths, temperature)


def eisner(
    scores: Tensor,
    lengths: Tensor | Sequence[int] | None = None,
    *,
    single_root: bool = True,
    mask: Tensor | None = None,
) -> Tensor:
    """Heads [B, n + 1] of the best projective trees; -1 at position 0 and beyond the sentence.

    >>> eisner(torch.tensor([[[0.0, 1.0, 2.0], [0.0, 0.0, 3.0], [0.0, 1.0, 0.0]]]))
    tensor([[-1,  0,  1]])
    """
    return ProjectiveTrees(scores, lengths, single_root=single_root, mask=mask).mode
