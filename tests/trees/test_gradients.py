"""Every differentiable output against finite differences, on both paths."""

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.distributions import kl_divergence

from softparse.trees import NonProjectiveTrees, ProjectiveTrees, adjacency, expectation, relaxed_parse

LENGTHS = [4, 2, 1, 3]


def random_scores(seed, size=5, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(len(LENGTHS), size, size, generator=generator, dtype=torch.float64) * scale).requires_grad_()


def random_heads(kind, single_root, seed=0):
    zeros = torch.zeros(len(LENGTHS), 5, 5)
    return kind(zeros, LENGTHS, single_root=single_root).sample(generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_relaxed_parse(path, single_root, temperature, seed):
    scores = random_scores(seed)

    def function(scores):
        return relaxed_parse(scores, LENGTHS, temperature=temperature, single_root=single_root)

    assert gradcheck(function, scores)


def test_second_derivatives(path, single_root):
    scores = random_scores(2)
    functions = (
        lambda s: relaxed_parse(s, LENGTHS, single_root=single_root),
        lambda s: ProjectiveTrees(s, LENGTHS, single_root=single_root).log_partition,
        lambda s: ProjectiveTrees(s, LENGTHS, single_root=single_root).entropy(),
    )
    for function in functions:
        assert gradgradcheck(function, scores, fast_mode=True)


OUTPUTS = {
    "log_partition": lambda trees, heads, other: trees.log_partition,
    "marginals": lambda trees, heads, other: trees.marginals,
    "log_prob": lambda trees, heads, other: trees.log_prob(heads),
    "entropy": lambda trees, heads, other: trees.entropy(),
    "cross_entropy": lambda trees, heads, other: trees.cross_entropy(other),
    "kl": lambda trees, heads, other: kl_divergence(trees, other),
    "kl of the other": lambda trees, heads, other: kl_divergence(other, trees),
    "kl_uniform": lambda trees, heads, other: trees.kl_uniform(),
    "kbest": lambda trees, heads, other: trees.kbest(2)[1][0],
    "given": lambda trees, heads, other: trees.given(heads).entropy(),
    "rsample": lambda trees, heads, other: trees.rsample(
        (2,), temperature=0.7, generator=torch.Generator().manual_seed(3)
    ),
    "rsample, sum of gamma": lambda trees, heads, other: trees.rsample(
        temperature=0.7, noise="sum-of-gamma", generator=torch.Generator().manual_seed(3)
    ),
    "perturbed_marginals": lambda trees, heads, other: trees.perturbed_marginals(
        (2,), temperature=0.7, generator=torch.Generator().manual_seed(3)
    ),
}


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("masked", [False, True], ids=["free", "masked"])
def test_distribution(kind, single_root, output, masked):
    scores = random_scores(4)
    other = kind(random_scores(5).detach(), LENGTHS, single_root=single_root)
    mask = torch.ones(len(LENGTHS), 5, 5, dtype=torch.bool)
    mask[0, 4, 2] = mask[3, 1, 2] = mask[1, 2, 1] = not masked
    heads = random_heads(kind, single_root)
    if masked:
        heads = kind(torch.zeros(len(LENGTHS), 5, 5), LENGTHS, single_root=single_root, mask=mask).mode
        other = kind(other.scores, LENGTHS, single_root=single_root, mask=mask)
    heads[:, 3] = -1  # a partial tree

    def function(scores):
        trees = kind(scores, LENGTHS, single_root=single_root, mask=mask)
        return OUTPUTS[output](trees, heads, other)

    assert gradcheck(function, scores, fast_mode=True)


def test_straight_through_has_the_relaxed_gradient(kind, single_root):
    weights = torch.randn(4, 5, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    gradients = []
    for hard in (False, True):
        scores = random_scores(6)
        trees = kind(scores, LENGTHS, single_root=single_root)
        soft = trees.rsample((3,), temperature=0.5, hard=hard, generator=torch.Generator().manual_seed(9))
        (soft * weights).sum().backward()
        gradients.append(scores.grad)
        if hard:
            assert set(soft.unique().tolist()) <= {0.0, 1.0}
            assert (soft.sum(-2)[:, 0, 1:] == 1).all()
    torch.testing.assert_close(*gradients)


def test_log_partition_and_marginals_together(path, single_root):
    """One operator gives both; their gradients add up."""
    scores = random_scores(8)

    def function(scores):
        trees = ProjectiveTrees(scores, LENGTHS, single_root=single_root)
        return trees.log_partition[:, None, None] * trees.marginals

    assert gradcheck(function, scores)


def test_gradient_of_marginals_is_symmetric(path):
    """They are a gradient themselves, so their Jacobian is a Hessian."""
    scores = random_scores(9)
    jacobian = torch.autograd.functional.jacobian(lambda s: ProjectiveTrees(s[None]).marginals[0], scores[0].detach())
    flat = jacobian.reshape(25, 25)
    torch.testing.assert_close(flat, flat.T)


def test_score_function_is_unbiased(kind, single_root):
    """Its mean over many samples is the exact gradient, which enumeration gives through log-probabilities."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(1, 4, 4, dtype=torch.float64, generator=generator).requires_grad_()
    weights = torch.randn(4, 4, dtype=torch.float64, generator=generator)

    def function(soft):
        return (soft * weights).sum((-1, -2)) ** 2

    trees = kind(scores, single_root=single_root)
    heads, log_prob = trees.kbest(20)
    known = log_prob[:, 0].isfinite()
    exact = (log_prob[known].exp() * function(adjacency(heads[known], torch.float64))).sum()
    (expected,) = torch.autograd.grad(exact, scores)
    estimate = expectation(
        kind(scores, single_root=single_root), function, "score-function", samples=40000, generator=generator
    )
    (found,) = torch.autograd.grad(estimate.sum(), scores)
    torch.testing.assert_close(estimate.sum(), exact, atol=0.08, rtol=0.02)
    torch.testing.assert_close(found, expected, atol=0.08, rtol=0.05)


@pytest.mark.parametrize(
    "estimator", ["relaxed", "straight-through", "marginals", "perturbed-marginals", "score-function"]
)
def test_estimators_reach_the_parameters_of_f(estimator, kind):
    scores = random_scores(3)
    weight = torch.ones((), dtype=torch.float64, requires_grad=True)
    value = expectation(
        kind(scores, LENGTHS), lambda soft: weight * soft.sum((-1, -2)), estimator, samples=2,
        generator=torch.Generator().manual_seed(0),
    )  # fmt: skip
    torch.testing.assert_close(value, torch.tensor(LENGTHS).double())  # as many arcs as words
    value.sum().backward()
    assert weight.grad.item() == pytest.approx(sum(LENGTHS))
    assert scores.grad.isfinite().all()


def test_nonprojective_relaxation_is_marginals():
    scores = random_scores(3).detach()
    soft = NonProjectiveTrees(scores, LENGTHS).rsample(noise="none", temperature=0.5)
    torch.testing.assert_close(soft, NonProjectiveTrees(scores * 2, LENGTHS).marginals)
