"""Output layers: exact probabilities, and estimates that agree with them."""

import pytest
import torch

from softparse.model.outputs import Output, OutputConfig

COUNTS = torch.tensor([400, 200, 100, 50, 25, 12, 6, 3, 2, 1, 1, 0])


def output(kind, **settings):
    torch.manual_seed(1)
    return Output(OutputConfig(kind, **settings), 5, COUNTS).double()


@pytest.mark.parametrize("kind", ["softmax", "sampled", "nce", "adaptive"])
def test_probabilities_sum_to_one(kind):
    layer = output(kind)
    states = torch.randn(1, 5).double().expand(12, 5)
    torch.testing.assert_close(layer.log_prob(states, torch.arange(12)).exp().sum(), torch.tensor(1.0).double())


@pytest.mark.parametrize("kind", ["softmax", "adaptive"])
def test_exact_losses(kind):
    layer = output(kind)
    states, words = torch.randn(7, 5).double(), torch.randint(12, (7,))
    torch.testing.assert_close(layer.loss(states, words), -layer.log_prob(states, words))


def test_sampled_softmax_goes_to_the_softmax():
    layer = output("sampled", draws=30_000)
    layer.noise = layer.noise.double()
    states, words = torch.randn(3, 5).double(), torch.tensor([0, 3, 6])
    draws = torch.stack([layer.loss(states, words, torch.Generator().manual_seed(seed)) for seed in range(20)])
    torch.testing.assert_close(draws.mean(0), -layer.log_prob(states, words), atol=0.02, rtol=0)


@pytest.mark.parametrize("kind", ["softmax", "sampled", "nce", "adaptive"])
def test_training_finds_the_distribution(kind):
    """A layer that sees one constant vector learns the frequencies of the words."""
    generator = torch.Generator().manual_seed(0)
    target = (COUNTS + 5).double() / (COUNTS + 5).sum()
    layer = Output(OutputConfig(kind), 8, COUNTS)
    if kind != "adaptive":
        torch.nn.init.zeros_(layer.bias)  # it knows too much already
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    states = torch.ones(256, 8)
    for step in range(400):
        for group in optimizer.param_groups:
            group["lr"] = 0.05 * (1 - step / 400)
        words = torch.multinomial(target, 256, replacement=True, generator=generator)
        optimizer.zero_grad()
        layer.loss(states, words, generator).mean().backward()
        optimizer.step()
    learnt = layer.log_prob(torch.ones(12, 8), torch.arange(12)).exp().detach().double()
    assert (learnt - target).abs().sum() < 0.12


@pytest.mark.parametrize(("settings", "number"), [({"draws": 40}, 40), ({"negatives": 70, "draws": 0}, 70)])
def test_negatives_are_shared(settings, number, monkeypatch):
    layer = output("nce", **settings)
    seen = []
    multinomial = torch.multinomial
    monkeypatch.setattr(torch, "multinomial", lambda *a, **k: (seen.append(a[1]), multinomial(*a, **k))[1])
    layer.loss(torch.randn(9, 5).double(), torch.arange(9))
    assert seen == [number]


def test_gradients_reach_only_what_was_drawn():
    layer = Output(OutputConfig("sampled", negatives=1, draws=2), 5, torch.ones(1000))
    layer.loss(torch.randn(2, 5), torch.tensor([4, 7]), torch.Generator().manual_seed(0)).sum().backward()
    touched = layer.words.weight.grad.abs().sum(1).nonzero().flatten().tolist()
    assert {4, 7} <= set(touched)
    assert len(touched) <= 4


@pytest.mark.parametrize("kind", ["softmax", "sampled", "nce"])
def test_a_new_layer_predicts_by_frequency(kind):
    layer = output(kind)
    expected = COUNTS.clamp(min=1) / COUNTS.clamp(min=1).sum()
    found = layer.log_prob(torch.zeros(12, 5).double(), torch.arange(12)).exp()
    torch.testing.assert_close(found, expected.double(), atol=1e-6, rtol=1e-5)
