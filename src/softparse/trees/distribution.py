"""What projective and non-projective tree distributions share: q(T) = exp(Σ_{h→m in T} scores[h, m]) / Z."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import torch
from torch import Tensor
from torch.distributions import Distribution, register_kl

from . import arguments
from .caching import Caching, cached
from .chart import arc_weights, in_order, widened
from .noise import sample_noise
from .shapes import adjacency, is_tree, log_number_of_trees

NEGLIGIBLE = 1e-14  # a marginal of non-projective trees that is perhaps a rounding error


class TreeDistribution(Caching, Distribution):
    """A distribution over dependency trees with independent arc scores; see the two subclasses.

    Trees are heads [..., B, n + 1]: `heads[b, m]` is the head of word m, and -1 at position 0 and beyond the sentence.
    Relaxed trees are matrices [..., B, n + 1, n + 1] laid out as the scores. Further dimensions come first, as
    everywhere in `torch.distributions`. Results are cached, so scores that are changed in place meanwhile are an error.
    `rsample` is differentiable but gives relaxed trees, which have no probability: `log_prob` is for trees.
    """

    arg_constraints: ClassVar[dict[str, Any]] = {}
    has_rsample = True
    projective: ClassVar[bool]

    def __init__(
        self,
        scores: Tensor,
        lengths: Tensor | Sequence[int] | None = None,
        *,
        single_root: bool = True,
        mask: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        self.scores, self.lengths = arguments.prepare(scores, lengths, mask)
        self.single_root = bool(single_root)
        self._version = self._version_now()
        batch, size, _ = self.scores.shape
        # Not torch's default, which is off under python -O: a wrong argument must not become a wrong result.
        super().__init__(torch.Size([batch]), torch.Size([size]), validate_args=validate_args is not False)
        if self._is_checked():
            self._check()

    def _is_checked(self) -> bool:
        return bool(
            self._validate_args and not torch.compiler.is_compiling() and not arguments.is_transformed(self.scores)
        )

    def _check(self, cause: str = "the mask leaves") -> None:
        if arguments.check_values(self.scores, self.lengths):
            _, weight = self._best(self.scores)
            missing = weight == -torch.inf
            if missing.any():
                kind = ("single-rooted " if self.single_root else "") + ("projective" if self.projective else "")
                raise arguments.no_tree(
                    self.scores, self.lengths, int(missing.int().argmax()), kind.strip() or "rooted", cause
                )

    def __repr__(self) -> str:
        batch, size, _ = self.scores.shape
        return f"{type(self).__name__}({batch} sentences of up to {size - 1} words, single_root={self.single_root})"

    # What a kind of tree has to bring along.

    @abstractmethod
    def _inference(self, scores: Tensor, lengths: Tensor, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
        """Marginals [B, size, size] and log Z [B] (float64) of the scores over the temperature, differentiable."""

    @abstractmethod
    def _normaliser(self, scores: Tensor, lengths: Tensor) -> Tensor:
        """log Z [B] alone, in float64, differentiable."""

    @abstractmethod
    def _relaxation(self, scores: Tensor, lengths: Tensor, temperature: float) -> Tensor:
        """Relaxed best trees [B, size, size], differentiable."""

    @abstractmethod
    def _best(self, scores: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Heads [B, size] of the best trees, and their weights [B] (-inf where there is no tree)."""

    @abstractmethod
    def _draw(self, samples: int, generator: torch.Generator | None) -> Tensor:
        """Heads [S, B, size] of exact samples."""

    @abstractmethod
    def _best_k(self, k: int) -> Tensor:
        """Heads [k, B, size] of the k best trees, -1 where there are fewer."""

    # The exact distribution.

    @cached
    def _exact(self) -> tuple[Tensor, Tensor]:
        return self._inference(self.scores, self.lengths)

    @cached
    def _log_partition(self) -> Tensor:
        if "_exact" in self.__dict__ and not self.scores.requires_grad:  # the same sums, if there is no gradient
            return self._exact[1]
        return self._normaliser(self.scores, self.lengths)

    @property
    def log_partition(self) -> Tensor:
        """log Z [B]; its gradient is `marginals`."""
        return self._log_partition.to(self.scores.dtype, copy=True)

    # What is handed out is a copy: its owner may change it.

    @property
    def marginals(self) -> Tensor:
        """q(h → m) for every arc, [B, n + 1, n + 1], differentiable."""
        return self._exact[0].clone()

    @property
    def mean(self) -> Tensor:
        return self.marginals

    @property
    def mode(self) -> Tensor:
        """Heads [B, n + 1] of the most probable trees."""
        return self._mode.clone()

    @cached
    def _mode(self) -> Tensor:
        with torch.no_grad():
            return self._best(self.scores)[0]

    @property
    def mbr(self) -> Tensor:
        """Heads [B, n + 1] of the trees with the greatest expected number of correct arcs (minimum Bayes risk)."""
        return self._mbr.clone()

    @cached
    def _mbr(self) -> Tensor:
        with torch.no_grad():
            return self._best(self._exact[0].detach().masked_fill(~self._arcs, -torch.inf))[0]

    @property
    def _arcs(self) -> Tensor:
        return arguments.arcs(self.lengths, self.scores.shape[1]) & (self.scores.detach() > -torch.inf)

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-probability of heads [..., B, n + 1]; -inf for what is no tree here.

        Unknown heads (-1 inside the sentence) are summed over: the log of the total probability of all completions.
        """
        heads = arguments.check_heads(value, self.lengths, self.scores.shape[1], leading=True)
        shape = heads.shape[:-1]
        heads = heads.reshape(shape[:-1].numel(), *heads.shape[-2:])
        position = torch.arange(heads.shape[-1], device=heads.device)
        unknown = ((heads < 0) & (position > 0) & (position <= self.lengths[:, None])).any(-1)
        result = self._log_prob_of_trees(heads)
        if torch.compiler.is_compiling() or unknown.any():
            sample, sentence = unknown.nonzero(as_tuple=True)
            restricted = self._restricted(self.scores[sentence], heads[sample, sentence])
            log_total = self._normaliser(restricted, self.lengths[sentence])
            of_all = self._log_partition[sentence]
            log_share = torch.where(of_all > -torch.inf, log_total - of_all, -torch.inf)  # no tree at all: not NaN
            result = result.index_put((sample, sentence), log_share)
        return result.to(self.scores.dtype).reshape(shape)

    def _log_prob_of_trees(self, heads: Tensor) -> Tensor:
        """In float64: the weight of a tree and log Z are large where their difference is small."""
        self._refuse_changed_scores()
        known = heads >= 0
        weights = self.scores.expand(heads.shape[0], -1, -1, -1).gather(2, heads.clamp(min=0)[:, :, None])[:, :, 0]
        weights = torch.where(known, widened(weights), 0.0)
        possible = is_tree(heads, self.lengths, single_root=self.single_root, projective=self.projective)
        possible = possible & (weights.detach() > -torch.inf).all(-1)  # not in place, for torch.func.vmap
        total = in_order(torch.where(possible[..., None], weights, 0.0))
        return torch.where(possible, total - self._log_partition, -torch.inf)

    @staticmethod
    def _restricted(scores: Tensor, heads: Tensor) -> Tensor:
        """Scores with -inf on every arc into a word of known head that is not its arc."""
        candidates = torch.arange(heads.shape[-1], device=heads.device)[:, None]
        other = (heads[:, None, :] >= 0) & (heads[:, None, :] != candidates)
        return scores.masked_fill(other, -torch.inf)

    def given(self, heads: Tensor) -> Self:
        """This distribution restricted to the trees with the given heads [B, n + 1] (-1 where unknown)."""
        heads = arguments.check_heads(heads, self.lengths, self.scores.shape[1], leading=False)
        found = type(self)(
            self._restricted(self.scores, heads), self.lengths, single_root=self.single_root, validate_args=False
        )
        found._validate_args = self._validate_args
        if found._is_checked():
            found._check("the given heads leave")
        return found

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        """One sentence seen as a batch of equal ones."""
        size = self.scores.shape[-1]
        if len(batch_shape) != 1:
            raise ValueError(f"sentences are a batch of one dimension; cannot be expanded to {list(batch_shape)}")
        (batch,) = torch.Size(batch_shape)
        return type(self)(
            self.scores.expand(batch, size, size),
            self.lengths.expand(batch),
            single_root=self.single_root,
            validate_args=self._validate_args,
        )

    # Entropies work in float64, on scores less the best one of each word: their terms are large and nearly cancel.

    @cached
    def _centred(self) -> Tensor:
        return arc_weights(self.scores, self.lengths)[0]

    @cached
    def _exact_centred(self) -> tuple[Tensor, Tensor]:
        return self._inference(self._centred, self.lengths)

    def entropy(self) -> Tensor:
        """H(q) = log Z − Σ q(h → m)·scores[h, m], in nats, [B]."""
        return self._expected_code(self).to(self.scores.dtype)

    def cross_entropy(self, other: TreeDistribution) -> Tensor:
        """−E_self[log other(T)], [B]; inf where `other` forbids a tree that this distribution allows."""
        return torch.where(self._goes_beyond(other), torch.inf, self._expected_code(other)).to(self.scores.dtype)

    def _expected_code(self, other: TreeDistribution) -> Tensor:
        """log Z of the other − Σ q(h → m)·(scores of the other), over the arcs that the other has."""
        scores = other._centred
        marginals = self._exact_centred[0]
        if not self.projective:  # their error is absolute, and a score may be as large as anything
            marginals = torch.where(marginals > NEGLIGIBLE, marginals, 0.0)
        products = marginals * torch.where(scores > -torch.inf, scores, 0.0)
        return other._exact_centred[1] - in_order(in_order(products))

    def _goes_beyond(self, other: TreeDistribution) -> Tensor:
        """Whether some tree of this distribution is none of the other's, [B].

        Decided by looking for such a tree: probabilities may be too small for a number, or a rounding error above 0.
        """
        if not torch.equal(self.lengths, other.lengths) or self.scores.shape != other.scores.shape:
            raise ValueError("the two distributions must be over trees of the same sentences (same lengths and shapes)")
        if other.projective and not self.projective:
            raise NotImplementedError(
                "crossing trees have no probability under projective ones; whether masks exclude all of them is not "
                "decided here"
            )
        beyond = torch.zeros_like(self.lengths, dtype=torch.bool)
        if other.single_root and not self.single_root:
            beyond |= self._most_roots() > 1
        # An arc that only this distribution allows counts if some tree has it.
        return beyond | self._has_trees_with(self._arcs & ~other._arcs)

    def _most_roots(self) -> Tensor:
        """The greatest number of roots that a tree of this distribution has, [B]."""
        count = torch.zeros_like(self.scores)
        count[:, 0] = 1.0
        heads, _ = self._best(count.masked_fill(~self._arcs, -torch.inf))
        return (heads == 0).sum(1)

    def _has_trees_with(self, arcs: Tensor) -> Tensor:
        """Whether some tree has one of the given arcs [B, size, size] (all of them allowed), [B]."""
        found = torch.zeros_like(self.lengths, dtype=torch.bool)
        for some in arcs.nonzero().split(1024):  # a candidate is a sentence with one required arc
            sentence, head, modifier = some[~found[some[:, 0]]].unbind(1)
            heads = torch.full((len(sentence), arcs.shape[1]), -1, device=arcs.device)
            heads[torch.arange(len(sentence), device=arcs.device), modifier] = head
            _, weight = self._best(self._restricted(self.scores.detach()[sentence], heads), self.lengths[sentence])
            found[sentence[weight > -torch.inf]] = True
        return found

    def kl_uniform(self) -> Tensor:
        """KL(q ‖ uniform over all trees of the sentence) = log N − H(q), [B]."""
        count = log_number_of_trees(
            self.lengths, single_root=self.single_root, projective=self.projective, dtype=torch.float64
        )
        return (count - self._expected_code(self)).to(self.scores.dtype)

    def kbest(self, k: int) -> tuple[Tensor, Tensor]:
        """Heads [k, B, n + 1] and log-probabilities [k, B] of the k most probable trees, best first.

        Where a sentence has fewer trees the rest is -1 and -inf. The log-probabilities are differentiable.
        """
        heads = self._best_k(arguments.check_number(k))
        return heads, self._log_prob_of_trees(heads).to(self.scores.dtype)

    # Samples.

    def sample(self, sample_shape: Sequence[int] = (), *, generator: torch.Generator | None = None) -> Tensor:
        """Exact samples: heads [*sample_shape, B, n + 1], no gradient."""
        shape = torch.Size(sample_shape)
        with torch.no_grad():
            return self._draw(shape.numel(), generator).reshape(*shape, *self.batch_shape, *self.event_shape)

    def rsample(
        self,
        sample_shape: Sequence[int] = (),
        *,
        temperature: float = 1.0,
        hard: bool = False,
        noise: str | None = "gumbel",
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Perturb and parse: relaxed trees of perturbed scores, [*sample_shape, B, n + 1, n + 1], differentiable.

        With `hard` the values are those of the best tree of the perturbed scores (0 and 1) and the gradient is that of
        the relaxed one (straight-through). Noise: "gumbel", "sum-of-gamma" or "none".
        """
        temperature = arguments.check_temperature(temperature)
        scores, lengths, shape = self._perturbed(sample_shape, noise, generator)
        soft = self._relaxation(scores, lengths, temperature)
        if hard:
            best, _ = self._best(scores.detach(), lengths)
            soft = adjacency(best, soft.dtype) + (soft - soft.detach())  # the bracket is exactly 0
        return soft.reshape(shape)

    def perturbed_marginals(
        self,
        sample_shape: Sequence[int] = (),
        *,
        temperature: float = 1.0,
        noise: str | None = "gumbel",
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Marginals of perturbed scores over the temperature, [*sample_shape, B, n + 1, n + 1], differentiable."""
        temperature = arguments.check_temperature(temperature)
        scores, lengths, shape = self._perturbed(sample_shape, noise, generator)
        return self._inference(scores, lengths, temperature)[0].reshape(shape)

    def _perturbed(
        self, sample_shape: Sequence[int], noise: str | None, generator: torch.Generator | None
    ) -> tuple[Tensor, Tensor, torch.Size]:
        """Perturbed scores [S·B, size, size], their lengths, and the shape of the samples."""
        shape = torch.Size(sample_shape) + self.scores.shape
        samples = torch.Size(sample_shape).numel()
        drawn = sample_noise(noise, (samples, *self.scores.shape), self.lengths, self.scores.dtype, generator)
        scores = self.scores.expand(samples, -1, -1, -1)
        scores = scores if drawn is None else scores + drawn
        return scores.flatten(0, 1), self.lengths.repeat(samples), shape


@register_kl(TreeDistribution, TreeDistribution)
def _kl_trees(p: TreeDistribution, q: TreeDistribution) -> Tensor:
    beyond = p._goes_beyond(q)
    return torch.where(beyond, torch.inf, p._expected_code(q) - p._expected_code(p)).to(p.scores.dtype)
