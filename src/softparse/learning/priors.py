"""An arc-factored prior p(T) over trees: what is known about trees before a word is read.

The weight of an arc is a sum of preferences,

    direction and distance    from the head to the modifier: left-1, left-2, left-3 (3 to 6 words), left-7 (7 and more),
                              and right-… alike
    root                      where the root's word stands: first, last, middle, or only (a sentence of one word)
    rules                     of words, or of classes of words, as heads and modifiers

The first two can be estimated from trees, by maximum likelihood under exactly this model. A file of preferences is
TOML:

    [arcs]
    left-1 = 1.5
    [root]
    first = -1.0
    [classes]
    verb = ["is", "are", "*ing"]          # forms in lower case; * stands for any beginning or end
    noun = ["*tion", "*s"]
    [[rules]]
    head = "verb"                         # a class, or "root"
    modifier = "noun"
    weight = 2.0

What is not named has weight 0, and a prior with all weights 0 is the uniform one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.distributions import kl_divergence

from ..configuration import ConfigurationError, read_toml
from ..corpus.batches import Tree
from ..trees import ProjectiveTrees

DISTANCES = ((1, 1), (2, 2), (3, 6), (7, None))
ARCS = [f"{side}-{first}" for side in ("left", "right") for first, _ in DISTANCES]
ROOTS = ["first", "last", "middle", "only"]
ROOT = "root"


@dataclass(frozen=True)
class Rule:
    head: str
    modifier: str
    weight: float


@dataclass(frozen=True)
class Prior:
    arcs: dict[str, float] = field(default_factory=dict)
    root: dict[str, float] = field(default_factory=dict)
    classes: dict[str, list[str]] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)

    def scores(self, sentences: Sequence[Sequence[str]], like: Tensor) -> Tensor:
        """Weights [B, n + 1, n + 1] of all arcs, in the type and on the device of `like`."""
        size = max(map(len, sentences)) + 1
        lengths = torch.tensor([len(words) for words in sentences])
        kinds = arc_kinds(lengths, size)
        known = self.arcs | self.root
        weights = torch.tensor([known.get(name, 0.0) for name in (*ARCS, *ROOTS)])
        result = weights[kinds]
        if self.rules:
            result = result + torch.stack([self._by_rules(tuple(words), size) for words in sentences])
        return result.to(like)

    def _by_rules(self, words: tuple[str, ...], size: int) -> Tensor:
        member = {ROOT: torch.zeros(size)}
        member[ROOT][0] = 1.0
        for name, patterns in self.classes.items():
            belongs = [_matches(word.lower(), tuple(patterns)) for word in words]
            member[name] = torch.tensor([False, *belongs, *[False] * (size - 1 - len(words))]).float()
        result = torch.zeros(size, size)
        for rule in self.rules:
            result += rule.weight * member[rule.head][:, None] * member[rule.modifier]
        return result

    def divergence(self, trees: ProjectiveTrees, sentences: Sequence[Sequence[str]]) -> Tensor:
        """KL(q ‖ p) of the trees' distribution from this prior, exact, [B]."""
        scores = self.scores(sentences, trees.scores)
        return kl_divergence(trees, ProjectiveTrees(scores, trees.lengths, single_root=trees.single_root))

    def as_table(self) -> dict[str, Any]:
        rules = [{"head": rule.head, "modifier": rule.modifier, "weight": rule.weight} for rule in self.rules]
        return {"arcs": self.arcs, "root": self.root, "classes": self.classes, "rules": rules}


@lru_cache(maxsize=100_000)
def _matches(word: str, patterns: tuple[str, ...]) -> bool:
    return any(re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), word) for pattern in patterns)


def arc_kinds(lengths: Tensor, size: int) -> Tensor:
    """The place of every arc's preference in ARCS + ROOTS, [B, size, size]."""
    position = torch.arange(size)
    distance = position - position[:, None]  # of the modifier from the head
    bins = torch.bucketize(distance.abs(), torch.tensor([first for first, _ in DISTANCES]), right=True) - 1
    kinds = torch.where(distance < 0, 0, len(DISTANCES)) + bins.clamp(min=0)
    kinds = kinds.repeat(len(lengths), 1, 1)
    first, last, middle, only = range(len(ARCS), len(ARCS) + len(ROOTS))
    of_root = torch.where(position == lengths[:, None], last, torch.where(position == 1, first, middle))
    kinds[:, 0] = torch.where((lengths == 1)[:, None], only, of_root)
    return kinds


def estimated(trees: Sequence[Tree], single_root: bool, strength: float = 1.0, rounds: int = 60) -> Prior:
    """The preferences under which the trees are most likely, with a Gaussian around 0 of this strength over them.

    The gradient of the likelihood is the difference of observed and expected kinds of arcs, both exact.
    """
    known = [tree for tree in trees if min(tree.heads) >= 0]
    if not known:
        raise ConfigurationError("objective.prior=trees needs complete trees to estimate it from; give a file instead")
    known = sorted(known, key=len)[: max(1, len(known) * 95 // 100)]  # the longest cost most and say nothing new
    known = known[:: max(1, len(known) // 2000)]
    weights = torch.zeros(len(ARCS) + len(ROOTS), dtype=torch.float64, requires_grad=True)
    batches = [_tensors(known[start : start + 64]) for start in range(0, len(known), 64)]
    search = torch.optim.LBFGS([weights], max_iter=rounds, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        search.zero_grad()
        total = 0.5 * strength * weights.square().sum()
        for kinds, heads, lengths in batches:
            trees = ProjectiveTrees(weights[kinds], lengths, single_root=single_root)
            total = total - trees.log_prob(heads).sum()
        total.backward()
        return total

    search.step(loss)
    values = [round(value, 4) for value in weights.tolist()]
    return Prior(dict(zip(ARCS, values, strict=False)), dict(zip(ROOTS, values[len(ARCS) :], strict=True)))


def _tensors(trees: Sequence[Tree]) -> tuple[Tensor, Tensor, Tensor]:
    lengths = torch.tensor([len(tree) for tree in trees])
    size = int(lengths.max()) + 1
    heads = torch.tensor([[-1, *tree.heads, *[-1] * (size - 1 - len(tree))] for tree in trees])
    return arc_kinds(lengths, size), heads, lengths


def read_prior(path: str | Path) -> Prior:
    """A file of preferences."""
    table = read_toml(path)
    for name in table:
        if name not in ("arcs", "root", "classes", "rules"):
            raise ConfigurationError(f"{path}: unknown table {name!r}; there are arcs, root, classes and rules")
    classes, given_rules = table.get("classes", {}), table.get("rules", [])
    if not isinstance(classes, Mapping) or not isinstance(given_rules, list):
        raise ConfigurationError(f"{path}: classes must be a table of lists of words, and rules a list of tables")
    for name, patterns in classes.items():
        if name == ROOT or not isinstance(patterns, list) or not all(isinstance(item, str) for item in patterns):
            raise ConfigurationError(f"{path}: class {name!r} must be a list of words, and not be called root")
    rules = []
    for number, rule in enumerate(given_rules, 1):
        where = f"{path}: rule {number}"
        if not isinstance(rule, Mapping) or set(rule) != {"head", "modifier", "weight"}:
            raise ConfigurationError(f"{where}: needs head, modifier and weight")
        for side in ("head", "modifier"):
            if rule[side] not in ([*classes, ROOT] if side == "head" else [*classes]):
                raise ConfigurationError(f"{where}: there is no class {rule[side]!r}")
        rules.append(Rule(rule["head"], rule["modifier"], _weight(rule["weight"], where)))
    arcs, root = (
        _weights(table.get(name, {}), names, f"{path}: {name}") for name, names in (("arcs", ARCS), ("root", ROOTS))
    )
    return Prior(arcs, root, dict(classes), rules)


def _weights(table: Any, names: Sequence[str], where: str) -> dict[str, float]:
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{where} must be a table of weights")
    for name in table:
        if name not in names:
            raise ConfigurationError(f"{where}: unknown preference {name!r}; there are {', '.join(names)}")
    return {name: _weight(value, f"{where}.{name}") for name, value in table.items()}


def _weight(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ConfigurationError(f"{where}: the weight must be a finite number, got {value!r}")
    return float(value)
