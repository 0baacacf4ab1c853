"""Numbers and laws that the operator is known to obey."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from softparse.trees import (
    NonProjectiveTrees,
    ProjectiveTrees,
    adjacency,
    eisner,
    is_tree,
    log_number_of_trees,
    relaxed_parse,
)
from tests import oracle

SCALES = st.sampled_from([0.0, 0.1, 1.0, 5.0, 100.0, 1e4])


@st.composite
def problems(draw, most_words=8, dtypes=(torch.float32, torch.float64)):
    """Scores with junk where nothing may be read, lengths, and whether there is a single root."""
    sentences, words = draw(st.integers(1, 5)), draw(st.integers(1, most_words))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    lengths = torch.randint(1, words + 1, (sentences,), generator=generator)
    scores = torch.randn(sentences, words + 1, words + 1, generator=generator, dtype=torch.float64) * draw(SCALES)
    scores = scores.to(draw(st.sampled_from(dtypes)))
    scores[:, :, 0] = torch.nan
    scores.diagonal(dim1=1, dim2=2).fill_(torch.nan)
    return scores, lengths, draw(st.booleans())


def test_uniform_relaxed_tree_is_not_the_marginals(path):
    zeros = torch.zeros(1, 5, 5, dtype=torch.float64)
    expected = {False: (0.674, 0.545), True: (0.25, 0.4)}
    for single_root, (relaxed, marginal) in expected.items():
        soft = relaxed_parse(zeros, single_root=single_root)
        assert soft[0, 0, 1].item() == pytest.approx(relaxed, abs=5e-4)
        trees = ProjectiveTrees(zeros, single_root=single_root)
        assert trees.marginals[0, 0, 1].item() == pytest.approx(marginal, abs=5e-4)


@pytest.mark.parametrize(("single_root", "distance"), [(False, 0.148), (True, 0.106)])
def test_perturb_and_parse_is_not_exact_sampling(single_root, distance):
    """Its law at zero weights and n = 4 is at a known total variation from the uniform one."""
    generator = torch.Generator().manual_seed(0)
    draws = 200_000
    noise = -torch.empty(draws, 5, 5, dtype=torch.float64).exponential_(generator=generator).log()
    heads = eisner(noise, single_root=single_root)
    _, counts = heads.unique(dim=0, return_counts=True)
    number = len(oracle.trees(4, single_root=single_root, projective=True))
    assert len(counts) == number
    found = (counts / draws - 1 / number).abs().sum() / 2
    assert found.item() == pytest.approx(distance, abs=0.004)


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
def test_number_of_trees(words, single_root):
    for projective in (True, False):
        number = len(oracle.trees(words, single_root=single_root, projective=projective))
        found = log_number_of_trees(
            torch.tensor([words]), single_root=single_root, projective=projective, dtype=torch.float64
        )
        assert found.exp().item() == pytest.approx(number)
        kind = ProjectiveTrees if projective else NonProjectiveTrees
        trees = kind(torch.zeros(1, words + 1, words + 1, dtype=torch.float64), single_root=single_root)
        assert trees.log_partition.exp().item() == pytest.approx(number)
        assert trees.entropy().item() == pytest.approx(math.log(number), abs=1e-12)
        assert trees.kl_uniform().item() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_is_tree(words):
    every = [(-1, *heads) for heads in itertools.product(range(words + 1), repeat=words)]
    heads, lengths = torch.tensor(every)[:, None], torch.tensor([words])
    for single_root, projective in itertools.product((True, False), repeat=2):
        known = set(oracle.trees(words, single_root=single_root, projective=projective))
        found = is_tree(heads, lengths, single_root=single_root, projective=projective)[:, 0]
        assert found.tolist() == [tree in known for tree in every]


@settings(max_examples=60, deadline=None)
@given(problems())
def test_soft_trees_are_soft_trees(problem):
    scores, lengths, single_root = problem
    trees = ProjectiveTrees(scores, lengths, single_root=single_root)
    tolerance = 1e-4 if scores.dtype == torch.float32 else 1e-9
    for soft in (relaxed_parse(scores, lengths, single_root=single_root), trees.marginals):
        assert soft.isfinite().all()
        assert (soft >= 0).all()
        assert (soft <= 1 + tolerance).all()
        assert (soft[:, :, 0] == 0).all()
        for matrix, words in zip(soft, lengths.tolist(), strict=True):
            torch.testing.assert_close(matrix.sum(0)[1 : words + 1], matrix.new_ones(words), atol=tolerance, rtol=0)
            assert (matrix[words + 1 :] == 0).all()
            assert (matrix[:, words + 1 :] == 0).all()
            if single_root:
                assert matrix[0].sum().item() == pytest.approx(1, abs=tolerance)


@settings(max_examples=30, deadline=None)
@given(problems(most_words=3, dtypes=(torch.float64,)))
def test_relaxed_tree_is_in_the_convex_hull(problem):
    """A relaxed tree is an average of projective trees: non-negative weights on them reproduce it."""
    from scipy.optimize import nnls

    scores, lengths, single_root = problem
    soft = relaxed_parse(scores, lengths, single_root=single_root)
    for matrix, words in zip(soft, lengths.tolist(), strict=True):
        heads = torch.tensor(oracle.trees(words, single_root=single_root, projective=True))
        corners = adjacency(heads, torch.float64).flatten(1).T
        _, residual = nnls(corners.numpy(), matrix[: words + 1, : words + 1].flatten().numpy())
        assert residual < 1e-6


@settings(max_examples=40, deadline=None)
@given(problems(), st.sampled_from([0.05, 0.5, 3.0]))
def test_temperature_divides_the_scores(problem, temperature):
    scores, lengths, single_root = problem
    scores = scores.double()
    warm = relaxed_parse(scores, lengths, temperature=temperature, single_root=single_root)
    torch.testing.assert_close(
        warm, relaxed_parse(scores / temperature, lengths, single_root=single_root), atol=1e-6, rtol=0
    )


@settings(max_examples=40, deadline=None)
@given(problems())
def test_columns_may_be_shifted(problem):
    """Every word has one head, so adding to all its candidates changes nothing but log Z."""
    scores, lengths, single_root = problem
    scores = scores.double()
    shift = torch.arange(scores.shape[1], dtype=torch.float64) * 3.7 - 5
    soft = relaxed_parse(scores, lengths, single_root=single_root)
    torch.testing.assert_close(relaxed_parse(scores + shift, lengths, single_root=single_root), soft, atol=1e-6, rtol=0)


@settings(max_examples=40, deadline=None)
@given(problems(), st.integers(0, 3), st.randoms())
def test_padding_and_batch_order_change_nothing(problem, padding, random):
    """Bit for bit: values, gradients, trees."""
    scores, lengths, single_root = problem
    sentences, size, _ = scores.shape
    order = random.sample(range(sentences), sentences)
    padded = torch.full((sentences, size + padding, size + padding), torch.nan, dtype=scores.dtype)
    padded[:, :size, :size] = scores[order]
    results = []
    for values, counts in ((scores, lengths), (padded, lengths[order])):
        values = values.clone().requires_grad_()
        soft = relaxed_parse(values, counts, single_root=single_root)
        trees = ProjectiveTrees(values, counts, single_root=single_root)
        slopes = torch.zeros_like(soft)
        slopes[:, :size, :size] = torch.arange(size * size, dtype=scores.dtype).reshape(size, size).sin()
        loss = (slopes * soft).sum() + trees.log_partition.sum() + (slopes * trees.marginals).sum()
        loss.backward()
        results.append((soft.detach(), values.grad, trees.mode, trees.log_partition.detach(), trees.marginals.detach()))
    for one, other in zip(*results, strict=True):
        one = one[order]
        if one.dim() == 3:
            other = other[:, :size, :size]
        elif one.dim() == 2:
            other = other[:, :size]
        assert torch.equal(one, other)


@settings(max_examples=40, deadline=None)
@given(problems(), st.booleans())
def test_every_sentence_alone_gives_the_same(problem, projective):
    scores, lengths, single_root = problem
    kind = ProjectiveTrees if projective else NonProjectiveTrees
    together = kind(scores, lengths, single_root=single_root)
    for b, words in enumerate(lengths.tolist()):
        alone = kind(scores[b : b + 1, : words + 1, : words + 1], single_root=single_root)
        exact = torch.equal if projective else torch.allclose
        assert exact(alone.marginals[0], together.marginals[b, : words + 1, : words + 1])
        assert exact(alone.log_partition[0], together.log_partition[b])
        assert torch.equal(alone.mode[0], together.mode[b, : words + 1])


@settings(max_examples=40, deadline=None)
@given(problems(), st.booleans())
def test_extreme_scores_stay_finite(problem, projective):
    scores, lengths, single_root = problem
    scores = scores.clone().requires_grad_()
    kind = ProjectiveTrees if projective else NonProjectiveTrees
    mask = torch.rand(scores.shape, generator=torch.Generator().manual_seed(0)) < 0.7
    keep = kind(torch.zeros_like(scores), lengths, single_root=single_root).mode
    trees = kind(scores, lengths, single_root=single_root, mask=mask | adjacency(keep).bool())
    generator = torch.Generator().manual_seed(1)
    outputs = [trees.log_partition, trees.marginals, trees.entropy(), trees.kl_uniform(), trees.log_prob(trees.mode)]
    outputs += [trees.rsample(generator=generator), trees.rsample(temperature=0.01, hard=True, generator=generator)]
    for output in outputs:
        assert output.isfinite().all()
    (gradient,) = torch.autograd.grad(sum(output.sum() for output in outputs), scores)
    assert gradient.isfinite().all()
    assert trees.log_prob(trees.sample((3,), generator=generator)).isfinite().all()
    assert (trees.entropy() >= -1e-3).all()


@settings(max_examples=60, deadline=None)
@given(problems(), st.booleans())
def test_decoded_trees_are_trees(problem, projective):
    scores, lengths, single_root = problem
    kind = ProjectiveTrees if projective else NonProjectiveTrees
    trees = kind(scores, lengths, single_root=single_root)
    heads, log_probs = trees.kbest(3)
    decoded = torch.cat([trees.mode[None], trees.mbr[None], trees.sample((3,)), heads[:1]])
    assert is_tree(decoded, lengths, single_root=single_root, projective=projective).all()
    assert (log_probs[1:] <= log_probs[:-1]).all()
    assert (trees.log_prob(decoded) <= trees.log_prob(trees.mode) + 1e-3).all()


def test_two_words_that_prefer_each_other():
    """A determinant loses all digits here: the only trees have a probability of exp(-40) against a cycle."""
    for gap in (40.0, 1000.0, 1e4):
        scores = torch.zeros(1, 3, 3, dtype=torch.float64)
        scores[0, 1, 2] = scores[0, 2, 1] = gap
        for single_root, log_partition in ((True, gap + math.log(2)), (False, gap + math.log(2 + math.exp(-gap)))):
            trees = NonProjectiveTrees(scores, single_root=single_root)
            assert trees.log_partition.item() == pytest.approx(log_partition, abs=1e-9)
            torch.testing.assert_close(trees.marginals[0, 0, 1:], torch.full((2,), 0.5).double())


def test_single_root_where_only_one_word_can_be_root():
    """Elimination has to leave that word for the end, whichever it is."""
    for root in (1, 2, 3):
        mask = torch.ones(1, 4, 4, dtype=torch.bool)
        mask[0, 1:, root] = False
        trees = NonProjectiveTrees(torch.randn(1, 4, 4, dtype=torch.float64), mask=mask)
        expected = oracle.Enumerated(trees.scores[0].tolist(), 3, single_root=True, projective=False)
        assert trees.log_partition.item() == pytest.approx(expected.log_partition)
        assert trees.marginals[0, 0, root].item() == pytest.approx(1)


@pytest.mark.parametrize("size", [1, 5])
def test_empty_batch(kind, single_root, size):
    trees = kind(torch.zeros(0, size, size), [], single_root=single_root)
    assert trees.marginals.shape == (0, size, size)
    assert trees.log_partition.shape == trees.entropy().shape == (0,)
    assert trees.mode.shape == trees.mbr.shape == (0, size)
    assert trees.sample((2,)).shape == (2, 0, size)
    assert trees.rsample((2,)).shape == (2, 0, size, size)
    assert trees.kbest(3)[0].shape == (3, 0, size)
    assert trees.log_prob(trees.mode).shape == (0,)


def test_nothing_of_the_caller_is_changed(kind):
    scores = torch.randn(2, 5, 5)
    before, state = scores.clone(), torch.get_rng_state()
    trees = kind(scores, [4, 2])
    trees.rsample(generator=torch.Generator().manual_seed(0))
    trees.sample(generator=torch.Generator().manual_seed(0))
    trees.kbest(2), trees.entropy(), trees.marginals
    assert torch.equal(scores, before)
    assert not scores.requires_grad
    assert torch.equal(torch.get_rng_state(), state)


def test_generators_repeat(kind):
    trees = kind(torch.randn(2, 5, 5), [4, 2])
    for draw in (trees.sample, trees.rsample):
        one, other = (draw((100,), generator=torch.Generator().manual_seed(5)) for _ in range(2))
        assert torch.equal(one, other)
        assert not torch.equal(one, draw((100,), generator=torch.Generator().manual_seed(6)))


def test_sum_of_gamma_noise_of_a_tree_is_about_one_gumbel_draw(generator):
    from softparse.trees.noise import sample_noise

    lengths = torch.tensor([8])
    noise = sample_noise("sum-of-gamma", (20000, 1, 9, 9), lengths, torch.float64, generator)
    total = noise[:, 0, :, 1:][:, 0].sum(-1)
    assert total.mean().item() == pytest.approx(0.5772, abs=0.08)
    assert total.var().item() == pytest.approx(math.pi**2 / 6, abs=0.15)
