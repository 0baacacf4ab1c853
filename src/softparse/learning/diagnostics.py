"""What an autoencoder has learnt, measured on sentences with trees, exactly: with the full softmax and real trees.

Training minimises an estimate (relaxed trees that are no trees, a sampled softmax), which is no bound on anything. Here
the trees are exact samples from q(T|s), so the evidence lower bound and the importance-weighted bound

    log p(s) ≥ E[ log 1/K Σ_k p(s|T_k, z_k) p(T_k) p(z_k) / (q(T_k|s) q(z_k|s)) ] ≥ the evidence lower bound (K = 1)

are what their names say. Whether the decoder uses the tree at all shows in its perplexity with the right tree, the
parser's, a random one (uniform over projective trees), and none; and in how the right tree helps words by the length of
the arc to their head.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from ..corpus.batches import Batch, batched
from ..corpus.sentence import Sentence
from ..corpus.splits import spread
from ..model.evaluating import evaluating
from ..model.generative import Generative
from ..model.posterior import Gaussian
from ..parser import Parser
from ..trees import ProjectiveTrees, adjacency, log_number_of_trees
from .priors import Prior
from .reading import Reading

SENTENCES = 200  # at most, spread over the file
IMPORTANCE_SAMPLES = 20
GOLD, PREDICTED, RANDOM, EMPTY = TREES = ("gold", "predicted", "random", "empty")
LENGTHS = {"root": (0, 0), "1": (1, 1), "2": (2, 2), "3-6": (3, 6), "7+": (7, 10**9)}


@torch.no_grad()
def diagnose(
    parser: Parser, generative: Generative, prior: Prior | None, sentences: Sequence[Sentence], seed: int = 1
) -> dict[str, Any]:
    """Bounds, entropies and divergences per word, and perplexities of the decoder by tree and by length of arc."""
    chosen = _chosen(sentences)
    if not chosen:
        return {}
    generator = torch.Generator().manual_seed(seed)
    totals: dict[str, float] = {}
    with evaluating(parser.network, generative):
        for reading, gold in _readings(parser, chosen):
            gaussian = generative.gaussian(reading.encoded, reading.batch.lengths)
            _add(totals, _bounds(generative, reading, prior, gaussian, generator))
            _add(totals, _perplexities(generative, reading, gold, gaussian, generator))
    return _report(totals, len(chosen))


def _chosen(sentences: Sequence[Sentence]) -> list[Sentence]:
    usable = [sentence for sentence in sentences if len(sentence) and min(sentence.heads) >= 0]
    return [usable[place] for place in spread(SENTENCES, len(usable))]


def _readings(parser: Parser, sentences: Sequence[Sentence]) -> Iterator[tuple[Reading, Tensor]]:
    """Batches as the parser reads them, with the heads of the right trees."""
    for places in batched([len(sentence) for sentence in sentences], 16, 600):
        group = [sentences[place] for place in places]
        words = [sentence.words for sentence in group]
        batch = parser.numbering.batch(words).to(parser.device)
        gold = torch.full_like(batch.words, -1)
        for row, sentence in enumerate(group):
            gold[row, 1 : len(sentence) + 1] = torch.tensor(sentence.heads)
        yield Reading(parser.network, words, batch, parser.config.decoding.single_root), gold


def _bounds(
    generative: Generative, reading: Reading, prior: Prior | None, gaussian: Gaussian | None, generator: torch.Generator
) -> dict[str, float]:
    """Sums over the batch, in nats."""
    trees, batch, count = reading.trees, reading.batch, IMPORTANCE_SAMPLES
    heads = trees.sample((count,), generator=generator)  # [K, B, n + 1]
    ratio = _log_prior(prior, reading, heads) - trees.log_prob(heads)  # [K, B]
    drawn = [None if gaussian is None else gaussian.sample(generator) for _ in range(count)]
    samples = zip(adjacency(heads, reading.scores.dtype), drawn, strict=True)  # one by one: the softmax is large
    likelihood = torch.stack([_likelihood(generative, reading, tree, z).sum(-1) for tree, z in samples])
    if gaussian is not None:
        standard = Gaussian(torch.zeros_like(gaussian.mean), torch.zeros_like(gaussian.log_variance))
        ratio = ratio + torch.stack([standard.log_prob(z) - gaussian.log_prob(z) for z in drawn if z is not None])
    weights = likelihood + ratio
    divergence = trees.kl_uniform() if prior is None else prior.divergence(trees, reading.sentences)
    result = {
        "words": float(batch.lengths.sum()),
        "elbo": float(weights.mean(0).sum()),
        "importance_weighted": float((weights.logsumexp(0) - math.log(count)).sum()),
        "tree_entropy": float(trees.entropy().sum()),
        "kl_trees": float(divergence.sum()),
    }
    return result if gaussian is None else result | {"kl_latent": float(gaussian.kl_standard().sum())}


def _log_prior(prior: Prior | None, reading: Reading, heads: Tensor) -> Tensor:
    """log p(T) [K, B] of heads [K, B, n + 1]."""
    if prior is None:
        count = log_number_of_trees(
            reading.batch.lengths, single_root=reading.single_root, projective=True, dtype=reading.scores.dtype
        )
        return -count.expand(heads.shape[:-1])
    scores = prior.scores(reading.sentences, reading.scores)
    return ProjectiveTrees(scores, reading.batch.lengths, single_root=reading.single_root).log_prob(heads)


def _likelihood(generative: Generative, reading: Reading, trees: Tensor, latent: Tensor | None) -> Tensor:
    """log p of every word [..., B, n]."""
    vectors = generative.vectors(reading.network, reading.batch, reading.encoded, trees, latent)
    return generative.log_likelihood(vectors, reading.batch)


def _perplexities(
    generative: Generative, reading: Reading, gold: Tensor, gaussian: Gaussian | None, generator: torch.Generator
) -> dict[str, float]:
    """Sums of log p of words by tree, and of words by their distance to the right head for the right tree and none."""
    batch = reading.batch
    uniform = ProjectiveTrees(torch.zeros_like(reading.scores), batch.lengths, single_root=reading.single_root)
    random = uniform.sample(generator=generator)
    heads = {GOLD: gold, PREDICTED: reading.trees.mode, RANDOM: random, EMPTY: torch.full_like(gold, -1)}
    trees = {name: adjacency(tree, reading.scores.dtype) for name, tree in heads.items()}
    latent = None if gaussian is None else gaussian.mean
    result: dict[str, float] = {}
    by_tree = {name: _likelihood(generative, reading, tree, latent) for name, tree in trees.items()}
    for name, values in by_tree.items():
        result[f"tree {name}"] = float(values.sum())
    distance = _distances(gold, batch)
    for name, (low, high) in LENGTHS.items():
        here = (distance >= low) & (distance <= high)
        result[f"arcs {name}"] = float(here.sum())
        for tree in (GOLD, EMPTY):
            result[f"arcs {name} {tree}"] = float(by_tree[tree][here].sum())
    return result


def _distances(gold: Tensor, batch: Batch) -> Tensor:
    """From words to their heads [B, n], 0 for the root's word, -1 in padding."""
    position = torch.arange(gold.shape[1], device=gold.device)
    distance = torch.where(gold == 0, 0, (position - gold).abs())
    return torch.where(batch.is_word, distance, -1)[:, 1:]


def _add(totals: dict[str, float], values: dict[str, float]) -> None:
    for name, value in values.items():
        totals[name] = totals.get(name, 0.0) + value


def _report(totals: dict[str, float], sentences: int) -> dict[str, Any]:
    words = totals["words"]
    named = ("elbo", "importance_weighted", "tree_entropy", "kl_trees", "kl_latent")
    arcs = {}
    for name in LENGTHS:
        number = totals[f"arcs {name}"]
        if number:
            arcs[name] = {"words": int(number)} | {
                tree: _perplexity(totals[f"arcs {name} {tree}"], number) for tree in (GOLD, EMPTY)
            }
    return {
        "sentences": sentences,
        "words": int(words),
        "per_word": {name: totals[name] / words for name in named if name in totals},
        "perplexity": {name: _perplexity(totals[f"tree {name}"], words) for name in TREES},
        "perplexity_by_arc": arcs,
    }


def _perplexity(log_likelihood: float, words: float) -> float:
    return math.exp(min(100.0, -log_likelihood / words))


def table(report: dict[str, Any]) -> str:
    """For people."""
    if not report:
        return ""
    per_word, by_tree = report["per_word"], report["perplexity"]
    lines = [
        f"The autoencoder on {report['sentences']} development sentences (nats per word; full softmax, exact trees):",
        "  " + ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in per_word.items()),
        "  perplexity given the tree: " + ", ".join(f"{name} {by_tree[name]:.1f}" for name in TREES),
        "  by distance to the head, right tree / none: "
        + ", ".join(f"{name} {row[GOLD]:.1f}/{row[EMPTY]:.1f}" for name, row in report["perplexity_by_arc"].items()),
    ]
    return "\n".join(lines)
