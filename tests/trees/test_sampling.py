"""Samples against the probabilities of all trees."""

import pytest
import torch
from scipy.stats import chisquare

from softparse.trees import NonProjectiveTrees, nonprojective
from tests.oracle import Enumerated

DRAWS = 20_000


def assert_frequencies(trees, heads):
    """Chi-square over all trees of each sentence; rare ones are pooled."""
    for b, words in enumerate(trees.lengths.tolist()):
        oracle = Enumerated(trees.scores[b].tolist(), words, single_root=trees.single_root, projective=trees.projective)
        counts = dict.fromkeys(oracle.log_probs, 0)
        for tree in heads[:, b, : words + 1].tolist():
            counts[tuple(tree)] += 1
        expected = {tree: len(heads) * torch.tensor(p).exp().item() for tree, p in oracle.log_probs.items()}
        common = [tree for tree in counts if expected[tree] >= 5]
        seen, wanted = [counts[tree] for tree in common], [expected[tree] for tree in common]
        rest = len(heads) - sum(seen)
        if len(common) < len(counts):
            seen.append(rest)
            wanted.append(len(heads) - sum(wanted))
        if len(seen) > 1:
            assert chisquare(seen, wanted, sum_check=False).pvalue > 1e-4


@pytest.mark.parametrize("masked", [False, True], ids=["free", "masked"])
def test_exact_samples(kind, single_root, masked, generator):
    scores = torch.randn(4, 5, 5, dtype=torch.float64, generator=generator)
    mask = torch.ones(4, 5, 5, dtype=torch.bool)
    mask[0, 2, 3] = mask[1, 1, 2] = mask[3, 3, 1] = not masked
    trees = kind(scores, [4, 3, 1, 4], single_root=single_root, mask=mask)
    assert_frequencies(trees, trees.sample((DRAWS,), generator=generator))


@pytest.mark.parametrize("budget", [0, 2], ids=["never walking", "walking when it is short"])
def test_nonprojective_samples_word_by_word(single_root, budget, generator, monkeypatch):
    """The walk's budget must not change the law: what it gives up is drawn in another way."""
    monkeypatch.setattr(nonprojective, "WALK_BUDGET", budget)
    scores = torch.randn(3, 5, 5, dtype=torch.float64, generator=generator) * 1.5
    trees = NonProjectiveTrees(scores, [4, 2, 3], single_root=single_root)
    assert_frequencies(trees, trees.sample((DRAWS,), generator=generator))


def test_samples_where_a_walk_would_never_end(single_root, generator):
    scores = torch.randn(1, 5, 5, dtype=torch.float64, generator=generator)
    scores[0, 1, 2] = scores[0, 2, 1] = 60.0
    trees = NonProjectiveTrees(scores, single_root=single_root)
    assert_frequencies(trees, trees.sample((DRAWS // 4,), generator=generator))


def test_samples_have_the_marginals_of_a_longer_sentence(kind, single_root, generator):
    from softparse.trees import adjacency

    trees = kind(torch.randn(2, 16, 16, dtype=torch.float64, generator=generator), [15, 11], single_root=single_root)
    heads = trees.sample((4000,), generator=generator)
    frequency = adjacency(heads, torch.float64).mean(0)
    torch.testing.assert_close(frequency, trees.marginals, atol=0.04, rtol=0)
