"""The sentence posterior."""

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from softparse.model.posterior import Gaussian, PosteriorConfig, SentencePosterior


def test_against_torch():
    gaussian = Gaussian(torch.randn(3, 4), torch.randn(3, 4))
    normal = Normal(gaussian.mean, torch.exp(0.5 * gaussian.log_variance))
    expected = kl_divergence(normal, Normal(torch.zeros(3, 4), torch.ones(3, 4))).sum(-1)
    torch.testing.assert_close(gaussian.kl_standard(), expected)
    z = torch.randn(3, 4)
    torch.testing.assert_close(gaussian.log_prob(z), normal.log_prob(z).sum(-1))


def test_samples_have_its_moments():
    gaussian = Gaussian(torch.tensor([[1.0, -2.0]]).expand(40_000, 2), torch.tensor([[0.0, 1.0]]).expand(40_000, 2))
    z = gaussian.sample(torch.Generator().manual_seed(0))
    torch.testing.assert_close(z.mean(0), torch.tensor([1.0, -2.0]), atol=0.03, rtol=0)
    torch.testing.assert_close(z.var(0), torch.tensor([1.0, torch.e]), atol=0.08, rtol=0)


def test_samples_are_reparametrised():
    mean = torch.zeros(1, 2, requires_grad=True)
    Gaussian(mean, torch.zeros(1, 2)).sample().sum().backward()
    assert mean.grad.tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("bound", ["tanh", "hardtanh"])
def test_bounded_and_blind_to_padding(bound):
    posterior = SentencePosterior(PosteriorConfig(hidden=6, dimension=3, bound=bound), 5)
    inputs = 50 * torch.randn(2, 6, 5)
    both = posterior(inputs, torch.tensor([5, 2]))
    alone = posterior(inputs[1:, :3], torch.tensor([2]))
    for one, other in zip(both, alone, strict=True):
        torch.testing.assert_close(one[1], other[0])
        assert one.abs().max() <= 1
