"""The CPU kernel against the torch path, and float32 against float64."""

import pytest
import torch

from softparse.trees import ProjectiveTrees, chart, operators, relaxed_parse, sums
from softparse.trees.kernels.views import LOG, RELAXED


def batch(words, scale, dtype, seed=0, sentences=9):
    generator = torch.Generator().manual_seed(seed)
    scores = (torch.rand(sentences, words + 1, words + 1, generator=generator, dtype=torch.float64) * 2 - 1) * scale
    lengths = torch.randint(1, words + 1, (sentences,), generator=generator)
    lengths[0] = words
    slopes = torch.randn(scores.shape, generator=generator, dtype=torch.float64)
    return scores.to(dtype), lengths, slopes.to(dtype)


def run(function, scores, lengths, slopes, temperature, single_root, view):
    scores = scores.clone().requires_grad_()
    scale = temperature if function is operators.soft_trees else 1 / temperature
    soft, weight = function(scores, lengths, scale, single_root, view)
    total = (soft * slopes).sum() + (weight.sum() if view == LOG else 0.0)
    total.backward()
    return soft.detach(), weight.detach(), scores.grad


@pytest.mark.parametrize("view", [LOG, RELAXED], ids=["log", "relaxed"])
@pytest.mark.parametrize(("words", "scale", "temperature"), [(20, 3.0, 1.0), (12, 30.0, 0.2), (33, 2.0, 5.0)])
def test_float64_paths_agree(single_root, view, words, scale, temperature):
    arguments = batch(words, scale, torch.float64)
    found = run(operators.soft_trees, *arguments, temperature, single_root, view)
    expected = run(chart.soft_trees, *arguments, temperature, single_root, view)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("view", [LOG, RELAXED], ids=["log", "relaxed"])
@pytest.mark.parametrize("temperature", [1.0, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_float32_paths_agree(single_root, view, temperature, seed):
    arguments = batch(20, 3.0, torch.float32, seed)
    found = run(operators.soft_trees, *arguments, temperature, single_root, view)
    expected = run(chart.soft_trees, *arguments, temperature, single_root, view)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("function", [operators.soft_trees, chart.soft_trees], ids=["kernel", "torch"])
@pytest.mark.parametrize("view", [LOG, RELAXED], ids=["log", "relaxed"])
@pytest.mark.parametrize(
    ("words", "scale", "temperature"),
    [(40, 3.0, 0.1), (60, 10.0, 1.0), (20, 1e4, 1.0), (30, 1000.0, 0.5), (9, 1e4, 0.01)],
)
def test_float32_stays_near_float64(single_root, function, view, words, scale, temperature):
    """Also for long sentences, large scores and low temperatures, where sums of scores have few digits left."""
    scores, lengths, slopes = batch(words, scale, torch.float32)
    soft, weight, gradient = run(function, scores, lengths, slopes, temperature, single_root, view)
    expected = run(function, scores.double(), lengths, slopes.double(), temperature, single_root, view)
    torch.testing.assert_close(soft.double(), expected[0], atol=1e-3, rtol=0)
    torch.testing.assert_close(weight.double(), expected[1], atol=1e-3, rtol=1e-6)
    size = expected[2].abs().max().clamp(min=1.0)
    torch.testing.assert_close(gradient.double() / size, expected[2] / size, atol=1e-3, rtol=0)


@pytest.mark.parametrize(("words", "scale", "temperature"), [(12, 2.0, 1.0), (15, 30.0, 0.1), (9, 1e4, 1.0)])
def test_nonprojective_paths_agree(single_root, words, scale, temperature):
    scores, lengths, _ = batch(words, scale, torch.float64)
    results = []
    for has_kernel in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(operators, "has_kernel", lambda scores, answer=has_kernel: answer)
            results.append(sums.tree_sums(scores, lengths, temperature, single_root))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, atol=1e-10, rtol=1e-12)


def test_decoding_agrees(single_root, generator):
    scores, lengths, _ = batch(18, 2.0, torch.float64)
    scores[3].round_()  # ties
    uniforms = torch.rand(6, 9, 38, dtype=torch.float64, generator=generator)
    results = []
    for has_kernel in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(operators, "has_kernel", lambda scores, answer=has_kernel: answer)
            best, weight = operators.best_trees(scores, lengths, single_root)
            results.append((best, weight, operators.sampled_trees(scores, lengths, uniforms, single_root)))
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


def test_memory_of_a_long_sentence_is_quadratic():
    """Charts only: 3 of float64 and 4 of the caller's dtype, none with a dimension for splits."""
    scores = torch.zeros(1, 201, 201)
    _, _, wide, thin = operators._soft_trees(scores, torch.tensor([200]), 1.0, True, RELAXED, True)
    cells = operators.LANES * 201 * 201
    assert wide.numel() == 3 * cells
    assert thin.numel() == 4 * cells


def test_long_sentences(single_root):
    scores = torch.randn(2, 351, 351, generator=torch.Generator().manual_seed(0)).requires_grad_()
    soft = relaxed_parse(scores, [350, 310], single_root=single_root)
    torch.testing.assert_close(soft[0, :, 1:].sum(0), torch.ones(350), atol=1e-4, rtol=0)
    soft.square().sum().backward()
    assert scores.grad.isfinite().all()
    trees = ProjectiveTrees(scores.detach(), [350, 310], single_root=single_root)
    assert trees.log_prob(trees.sample()).isfinite().all()
    assert (trees.log_prob(trees.mode) >= trees.log_prob(trees.sample())).all()
