"""The exact distribution against enumeration."""

import math

import pytest
import torch
from torch.distributions import kl_divergence

from softparse.trees import NonProjectiveTrees, ProjectiveTrees, adjacency, relaxed_parse
from tests.oracle import Enumerated

LENGTHS = [5, 1, 3, 4, 2]
SIZE = 7  # two more than the longest sentence needs


def make_scores(seed=0, spread=1.5, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(len(LENGTHS), SIZE, SIZE, generator=generator, dtype=dtype) * spread
    scores[:, :, 0] = torch.nan
    scores.diagonal(dim1=1, dim2=2).fill_(torch.nan)
    for sentence, words in enumerate(LENGTHS):
        scores[sentence, words + 1 :] = torch.nan
        scores[sentence, :, words + 1 :] = torch.nan
    return scores


def random_mask(kind, single_root, seed=3):
    """Forbid some arcs, but keep the arcs of a random tree."""
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(len(LENGTHS), SIZE, SIZE, generator=generator) < 0.6
    tree = kind(torch.zeros(len(LENGTHS), SIZE, SIZE), LENGTHS, single_root=single_root).sample(generator=generator)
    return mask | adjacency(tree).bool()


def oracles(trees, known=None):
    return [
        Enumerated(
            trees.scores[b].tolist(),
            words,
            single_root=trees.single_root,
            projective=trees.projective,
            known=None if known is None else known[b].tolist(),
        )
        for b, words in enumerate(LENGTHS)
    ]


@pytest.fixture(params=["free", "masked", "partial"])
def trees(request, kind, single_root):
    scores = make_scores()
    if request.param == "masked":
        return kind(scores, LENGTHS, single_root=single_root, mask=random_mask(kind, single_root))
    trees = kind(scores, LENGTHS, single_root=single_root)
    if request.param == "partial":
        known = trees.sample(generator=torch.Generator().manual_seed(5))
        known[:, 2::2] = -1
        return trees.given(known)
    return trees


def padded(heads):
    return list(heads) + [-1] * (SIZE - len(heads))


def test_log_partition(trees):
    expected = [oracle.log_partition for oracle in oracles(trees)]
    torch.testing.assert_close(trees.log_partition, torch.tensor(expected, dtype=torch.float64))


def test_marginals(trees):
    for marginals, oracle in zip(trees.marginals, oracles(trees), strict=True):
        expected = torch.zeros(SIZE, SIZE, dtype=torch.float64)
        for head in range(oracle.words + 1):
            for modifier in range(1, oracle.words + 1):
                expected[head, modifier] = oracle.marginal(head, modifier)
        torch.testing.assert_close(marginals, expected)


def test_mode_and_kbest(trees):
    k = 12
    heads, log_probs = trees.kbest(k)
    assert heads.shape == (k, len(LENGTHS), SIZE)
    assert torch.equal(heads[0], trees.mode)
    for b, oracle in enumerate(oracles(trees)):
        expected = oracle.kbest()[:k]
        assert [tuple(tree) for tree in heads[: len(expected), b].tolist()] == [tuple(padded(t)) for t, _ in expected]
        values = torch.tensor([p for _, p in expected], dtype=torch.float64)
        torch.testing.assert_close(log_probs[: len(expected), b], values)
        assert (heads[len(expected) :, b] == -1).all()
        assert (log_probs[len(expected) :, b] == -math.inf).all()


def test_log_prob(trees):
    for b, oracle in enumerate(oracles(trees)):
        every = torch.tensor([padded(tree) for tree in oracle.log_probs])
        heads = trees.mode.repeat(len(every), 1, 1)
        heads[:, b] = every
        expected = torch.tensor(list(oracle.log_probs.values()), dtype=torch.float64)
        torch.testing.assert_close(trees.log_prob(heads)[:, b], expected)


def test_entropy(trees):
    expected = torch.tensor([oracle.entropy() for oracle in oracles(trees)], dtype=torch.float64)
    torch.testing.assert_close(trees.entropy(), expected)


def test_minimum_bayes_risk(trees):
    for b, oracle in enumerate(oracles(trees)):
        found = tuple(trees.mbr[b, : oracle.words + 1].tolist())
        best = max(oracle.expected_correct(tree) for tree in oracle.log_probs)
        assert found in oracle.log_probs
        assert oracle.expected_correct(found) == pytest.approx(best)


def test_kl_and_cross_entropy(kind, single_root):
    p = kind(make_scores(1), LENGTHS, single_root=single_root)
    q = kind(make_scores(2), LENGTHS, single_root=single_root)
    for left, right in ((p, q), (q, p)):
        pairs = list(zip(oracles(left), oracles(right), strict=True))
        torch.testing.assert_close(kl_divergence(left, right), torch.tensor([a.kl(b) for a, b in pairs]).double())
        torch.testing.assert_close(
            left.cross_entropy(right), torch.tensor([a.cross_entropy(b) for a, b in pairs]).double()
        )
    assert torch.equal(kl_divergence(p, p), torch.zeros(len(LENGTHS), dtype=torch.float64))


def test_kl_of_different_supports():
    scores = make_scores()
    single, several = (ProjectiveTrees(scores, LENGTHS, single_root=single) for single in (True, False))
    every = NonProjectiveTrees(scores, LENGTHS)
    for p, q in ((single, several), (several, single), (single, every)):
        expected = [a.kl(b) for a, b in zip(oracles(p), oracles(q), strict=True)]
        torch.testing.assert_close(kl_divergence(p, q), torch.tensor(expected).double())
    masked = ProjectiveTrees(scores, LENGTHS, mask=random_mask(ProjectiveTrees, True))
    assert kl_divergence(single, masked)[0] == math.inf
    assert kl_divergence(masked, single).isfinite().all()
    with pytest.raises(NotImplementedError):
        kl_divergence(every, single)


def test_kl_to_uniform(kind, single_root):
    trees = kind(make_scores(), LENGTHS, single_root=single_root)
    uniform = kind(torch.zeros_like(trees.scores), LENGTHS, single_root=single_root)
    torch.testing.assert_close(trees.kl_uniform(), kl_divergence(trees, uniform))


def test_log_prob_of_partial_trees(kind, single_root, generator):
    trees = kind(make_scores(), LENGTHS, single_root=single_root)
    known = trees.sample((20,), generator=generator)
    known[torch.rand(known.shape, generator=generator) < 0.5] = -1
    found = trees.log_prob(known)
    for b, oracle in enumerate(oracles(trees)):
        expected = [oracle.log_prob_of_completions(heads[: oracle.words + 1]) for heads in known[:, b].tolist()]
        torch.testing.assert_close(found[:, b], torch.tensor(expected, dtype=torch.float64))
    given = trees.given(known[0])
    torch.testing.assert_close(given.log_partition - trees.log_partition, found[0])


def test_log_prob_of_what_is_no_tree():
    scores = torch.zeros(1, 5, 5, dtype=torch.float64)
    cases = {
        "two roots": [-1, 0, 0, 1, 1],
        "cycle": [-1, 2, 1, 0, 3],
        "loop": [-1, 1, 0, 2, 3],
        "no root": [-1, 2, 3, 4, 1],
        "crossing": [-1, 3, 0, 2, 2],
        "crossing the root arc": [-1, 3, 0, 2, 1],
        "partial, already crossing": [-1, 3, 0, -1, -1],
        "partial, already cyclic": [-1, 2, 1, -1, -1],
    }
    for name, heads in cases.items():
        value = ProjectiveTrees(scores).log_prob(torch.tensor([heads]))
        assert value.item() == -math.inf, name
    crossing = torch.tensor([cases["crossing"]])
    assert NonProjectiveTrees(scores).log_prob(crossing).item() == pytest.approx(-math.log(4**3))
    mask = torch.ones(1, 5, 5, dtype=torch.bool)
    mask[0, 2, 1] = False
    chain = torch.tensor([[-1, 2, 0, 2, 3]])
    assert ProjectiveTrees(scores, mask=mask).log_prob(chain).item() == -math.inf
    assert ProjectiveTrees(scores).log_prob(chain).isfinite().all()


def test_impossible_trees_have_no_gradient():
    scores = torch.randn(1, 5, 5, dtype=torch.float64, requires_grad=True)
    heads = torch.tensor([[[-1, 3, 0, 2, 2]], [[-1, 2, 0, 2, 3]]])
    log_prob = ProjectiveTrees(scores).log_prob(heads)
    log_prob[log_prob.isfinite()].sum().backward()
    assert scores.grad.isfinite().all()


def test_relaxed_tree_of_a_forced_tree(path, single_root, generator):
    """Where all heads are required, everything is that tree."""
    trees = ProjectiveTrees(make_scores(), LENGTHS, single_root=single_root)
    heads = trees.sample(generator=generator)
    forced = trees.given(heads)
    expected = adjacency(heads, torch.float64)
    torch.testing.assert_close(forced.rsample(generator=generator), expected)
    torch.testing.assert_close(forced.marginals, expected)
    assert torch.equal(forced.mode, heads)
    assert torch.equal(forced.sample(generator=generator), heads)
    torch.testing.assert_close(forced.entropy(), torch.zeros(len(LENGTHS), dtype=torch.float64))


def test_low_temperature_gives_the_best_tree(path, single_root):
    scores = make_scores()
    trees = ProjectiveTrees(scores, LENGTHS, single_root=single_root)
    soft = relaxed_parse(scores, LENGTHS, temperature=1e-4, single_root=single_root)
    torch.testing.assert_close(soft, adjacency(trees.mode, torch.float64))
    cold = trees.perturbed_marginals(temperature=1e-4, noise="none")
    torch.testing.assert_close(cold, adjacency(trees.mode, torch.float64))
