"""Non-projective dependency trees: the same surface on the matrix-tree theorem and Chu-Liu/Edmonds."""

from __future__ import annotations

import heapq

import numpy as np
import torch
from torch import Tensor

from .arguments import words_of
from .chart import arc_weights
from .distribution import TreeDistribution
from .kernels import threads
from .kernels.edmonds import best_arborescence
from .kernels.walks import sample_arborescences
from .noise import uniform_numbers
from .operators import is_eager
from .sums import tree_sums

WALK_BUDGET = 8  # steps of Wilson's algorithm per word, before the tree is drawn word by word


class NonProjectiveTrees(TreeDistribution):
    """A distribution over all dependency trees, crossing arcs included; arguments as for `ProjectiveTrees`.

    The relaxed tree of `rsample` is the marginals of the perturbed scores over the temperature.

    >>> round(float(NonProjectiveTrees(torch.zeros(1, 4, 4), single_root=False).log_partition.exp()))
    16
    """

    projective = False

    def _inference(self, scores: Tensor, lengths: Tensor, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
        return tree_sums(scores, lengths, temperature, self.single_root)

    def _normaliser(self, scores: Tensor, lengths: Tensor) -> Tensor:
        return tree_sums(scores, lengths, 1.0, self.single_root)[1]

    def _relaxation(self, scores: Tensor, lengths: Tensor, temperature: float) -> Tensor:
        return self._inference(scores, lengths, temperature)[0]

    def _best(self, scores: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        run = _best if is_eager(scores) else _best_operator
        return run(scores.detach(), self.lengths if lengths is None else lengths, self.single_root)

    def _draw(self, samples: int, generator: torch.Generator | None) -> Tensor:
        batch, size, _ = self.scores.shape
        uniforms = uniform_numbers((samples, batch, (1 + WALK_BUDGET) * size), generator)
        log_roots = self._exact_centred[0].detach()[:, 0].clamp(min=0).log()
        run = _sample if is_eager(self.scores) else _sample_operator
        drawn = run(self.scores.detach(), self.lengths, log_roots, uniforms, self.single_root)
        return torch.where(self._log_partition.detach()[:, None] > -torch.inf, drawn, -1)  # no tree, no sample

    def _best_k(self, k: int) -> Tensor:
        run = _k_best if is_eager(self.scores) else _k_best_operator
        return run(self.scores.detach(), self.lengths, k, self.single_root)


# As operators for those who transform or trace the scores, and cannot look into numpy.


def _best(scores: Tensor, lengths: Tensor, single_root: bool) -> tuple[Tensor, Tensor]:
    values, words = _on_cpu(scores, lengths), words_of(lengths, scores.shape[1])
    heads, weight = _best_arborescences(values, words, single_root)
    return torch.from_numpy(heads).to(scores.device), torch.from_numpy(weight).to(scores.device)


def _sample(scores: Tensor, lengths: Tensor, log_roots: Tensor, uniforms: Tensor, single_root: bool) -> Tensor:
    batch, size, _ = scores.shape
    values, words = _on_cpu(scores, lengths), words_of(lengths, size)
    roots, numbers = log_roots.cpu().contiguous().numpy(), uniforms.cpu().contiguous().numpy()
    heads = np.full((len(numbers), batch, size), -1, np.int64)

    def task(start: int, step: int) -> None:
        sample_arborescences(values.dtype, start, step, values, words, int(single_root), roots, numbers, heads)

    threads.run(task, batch, len(numbers) * float((words.astype(float) ** 2).sum()))
    return torch.from_numpy(heads).to(scores.device)


def _k_best(scores: Tensor, lengths: Tensor, k: int, single_root: bool) -> Tensor:
    values = _on_cpu(scores, lengths)
    heads = np.full((k, *scores.shape[:2]), -1, np.int64)
    for sentence, words in enumerate(lengths.tolist()):
        trees = _branch(values[sentence, : words + 1, : words + 1], single_root, k)
        for rank, tree in enumerate(trees):
            heads[rank, sentence, : words + 1] = tree
    return torch.from_numpy(heads).to(scores.device)


_best_operator = torch.library.custom_op("softparse::best_arborescences", _best, mutates_args=())
_sample_operator = torch.library.custom_op("softparse::sampled_arborescences", _sample, mutates_args=())
_k_best_operator = torch.library.custom_op("softparse::k_best_arborescences", _k_best, mutates_args=())


@_best_operator.register_fake
def _(scores, lengths, single_root):
    batch, size, _ = scores.shape
    return scores.new_empty((batch, size), dtype=torch.int64), scores.new_empty(batch, dtype=torch.float64)


@_sample_operator.register_fake
def _(scores, lengths, log_roots, uniforms, single_root):
    return scores.new_empty((uniforms.shape[0], *scores.shape[:2]), dtype=torch.int64)


@_k_best_operator.register_fake
def _(scores, lengths, k, single_root):
    return scores.new_empty((k, *scores.shape[:2]), dtype=torch.int64)


def _on_cpu(scores: Tensor, lengths: Tensor) -> np.ndarray:
    """Weights for the kernels: float64, less the best one of each word, which changes no tree."""
    return arc_weights(scores.detach().cpu(), lengths.cpu())[0].contiguous().numpy()


def _best_arborescences(scores: np.ndarray, words: np.ndarray, single_root: bool) -> tuple[np.ndarray, np.ndarray]:
    """Heads [B, size] and weights [B] of the best trees; -1 and -inf where there is none."""
    batch, size, _ = scores.shape
    if batch == 0:
        return np.full((0, size), -1, np.int64), np.empty(0)
    heads, found = np.full((batch, size), -1, np.int64), np.zeros(batch, np.int64)

    def task(start: int, step: int) -> None:
        best_arborescence(scores.dtype, start, step, scores, words, int(single_root), heads, found)

    threads.run(task, batch, float((words.astype(float) ** 3).sum()))
    arcs = np.take_along_axis(scores, np.maximum(heads, 0)[:, None], 1)[:, 0]
    return heads, np.where(found, np.where(heads >= 0, arcs, 0.0).sum(1), -np.inf)


def _branch(scores: np.ndarray, single_root: bool, k: int) -> list[np.ndarray]:
    """The k best trees of one sentence by branching (Lawler): the trees left are split by the first arc that differs.

    Having taken the best tree of a set, what is left of the set falls into one part for each free word m: the words
    before m keep their heads, m has another one. The best tree of each part waits in a heap.
    """
    words = scores.shape[0] - 1
    queue: list[tuple[float, int, np.ndarray, np.ndarray, int]] = []
    arrived = 0

    def offer(candidates: np.ndarray, fixed: np.ndarray) -> None:
        nonlocal arrived
        heads, weight = _best_arborescences(candidates, np.full(len(candidates), words), single_root)
        for part in range(len(candidates)):
            if weight[part] > -np.inf:
                heapq.heappush(queue, (-weight[part], arrived, heads[part], candidates[part], int(fixed[part])))
                arrived += 1

    offer(scores[None].copy(), np.zeros(1, np.int64))
    trees: list[np.ndarray] = []
    while queue and len(trees) < k:
        _, _, heads, allowed, fixed = heapq.heappop(queue)
        trees.append(heads)
        parts = []
        for word in range(fixed + 1, words + 1):
            part = allowed.copy()
            part[heads[word], word] = -np.inf
            parts.append(part)
            required = allowed[heads[word], word]
            allowed[:, word] = -np.inf
            allowed[heads[word], word] = required
        if parts:
            offer(np.stack(parts), np.arange(fixed, words))
    return trees
