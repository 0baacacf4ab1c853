"""Temperatures of made-up distributions, where the right ones are known."""

import math

import pytest
import torch

from softparse.evaluation.reliability import reliability
from softparse.learning.temperature import Evidence, Labels, Trees, fitted
from softparse.trees import NonProjectiveTrees, ProjectiveTrees

NO_LABELS = Labels(torch.zeros(0, 1), torch.zeros(0, dtype=torch.long))


def drawn(scores, lengths, generator, single_root=True, kind=ProjectiveTrees):
    return kind(scores, lengths, single_root=single_root).sample(generator=generator)


def made(number, size, generator, factor, single_root=True, kind=ProjectiveTrees):
    """Trees that were drawn from scores, with the scores multiplied by a factor."""
    scores = 2 * torch.randn(number, size + 1, size + 1, generator=generator)
    lengths = torch.randint(1, size + 1, (number,), generator=generator)
    heads = drawn(scores, lengths, generator, single_root, kind)
    return Trees(scores * factor, lengths, heads, False, single_root, kind)


def error_of_arcs(trees, temperature):
    """The expected calibration error of the arcs of the best trees."""
    found = trees.at(1 / temperature)
    best = found.mode
    is_word = best >= 0
    chances = found.marginals.gather(1, best.clamp(min=0)[:, None])[:, 0].clamp(0, 1)
    return reliability(chances[is_word].tolist(), (best == trees.heads)[is_word].tolist()).error


@pytest.mark.parametrize("factor", [3.0, 0.4])
def test_the_temperature_of_samples_is_found(generator, single_root, factor):
    trees = made(3000, 7, generator, factor, single_root)
    found = Evidence([trees], NO_LABELS, int(trees.lengths.sum()))
    temperature = found.of_arcs()
    assert temperature == pytest.approx(factor, rel=0.05)
    before, after = error_of_arcs(trees, 1.0), error_of_arcs(trees, temperature)
    assert before > 0.08
    assert after < 0.015
    assert found.arc_loss(temperature) < found.arc_loss(1.0)


@pytest.mark.parametrize("kind", [ProjectiveTrees, NonProjectiveTrees])
def test_it_is_the_likeliest_one(generator, kind):
    trees = made(300, 6, generator, 3.0, kind=kind)
    found = Evidence([trees], NO_LABELS, int(trees.lengths.sum()))
    best = found.of_arcs()
    assert best == pytest.approx(3.0, rel=0.15)
    assert found.arc_loss(best) < min(found.arc_loss(best * 1.01), found.arc_loss(best / 1.01))
    grid = [found.arc_loss(math.exp(place / 20)) for place in range(-40, 41)]
    assert found.arc_loss(best) <= min(grid)


def test_slopes_are_those_of_the_loss(generator):
    whole = made(20, 6, generator, 1.5)
    hidden = torch.rand(whole.heads.shape, generator=generator) < 0.5
    partial = Trees(whole.scores, whole.lengths, whole.heads.masked_fill(hidden, -1), True, True)
    labels = Labels(torch.randn(30, 5, generator=generator), torch.randint(5, (30,), generator=generator))
    for evidence in (whole, partial, labels):
        for inverse in (0.5, 1.0, 2.0):
            step = 1e-2
            difference = evidence.log_likelihood(inverse - step) - evidence.log_likelihood(inverse + step)
            assert evidence.slope(inverse) == pytest.approx(difference / (2 * step), rel=1e-2, abs=2e-2)


def test_partial_trees_tell_as_well(generator):
    trees = made(6000, 6, generator, 3.0)
    hidden = torch.rand(trees.heads.shape, generator=generator) < 0.4
    partial = Trees(trees.scores, trees.lengths, trees.heads.masked_fill(hidden, -1), True, True)
    found = Evidence([partial], NO_LABELS, int(trees.lengths.sum())).of_arcs()
    assert found == pytest.approx(3.0, rel=0.1)


def test_labels(generator):
    scores = 2 * torch.randn(20_000, 6, generator=generator)
    right = torch.multinomial(scores.softmax(1), 1, generator=generator)[:, 0]
    found = Evidence([], Labels(scores * 2.5, right), 0)
    assert found.of_labels() == pytest.approx(2.5, rel=0.05)
    assert found.label_loss(2.5) < found.label_loss(1.0)


def test_what_determines_no_temperature(generator):
    trees = made(50, 5, generator, 1.0)
    certain = Trees(trees.scores, trees.lengths, trees.at(1.0).mode, False, True)
    worst = Trees(trees.scores, trees.lengths, trees.at(-1.0).mode, False, True)
    words = int(trees.lengths.sum())
    single = made(10, 1, generator, 1.0)  # one word has one tree
    for batch in (certain, worst, single):
        assert Evidence([batch], NO_LABELS, words).of_arcs() is None
    scores = torch.randn(40, 4, generator=generator)
    assert Evidence([], Labels(scores, scores.argmax(1)), 0).of_labels() is None
    assert Evidence([], NO_LABELS, 0).of_labels() is None
    assert Evidence([], NO_LABELS, 0).of_arcs() is None


@pytest.mark.parametrize("root", [0.07, 0.5, 1.0, 1.9, 15.0])
def test_roots_are_found_in_few_steps(root):
    places = []

    def slope(inverse):
        places.append(inverse)
        return math.tanh(3 * (math.log(inverse) + math.log(root)))

    assert fitted(slope, 1) == pytest.approx(root, rel=1e-4)
    assert len(places) < 20
