"""Runs that diverge: they stop with a message, and what they leave is sound."""

import math

import pytest
import torch
from safetensors.torch import load_file

from softparse.learning import loop, state
from softparse.learning.observer import Observer
from softparse.learning.training import train
from tests.learning.runs import small


def is_sound(output):
    """Whether the state to resume from, and the model if there is one, have no number that is none."""
    network = torch.load(state.place(output) / state.NAME, weights_only=True)["state"]["networks"]
    weights = load_file(output / "model.safetensors") if output.exists() else {}
    return all(tensor.isfinite().all() for tensor in (*network.values(), *weights.values()))


@pytest.mark.parametrize("loss", ["crf", "heads", "hinge"])
def test_a_rate_far_too_high(loss, treebanks, tmp_path):
    output = tmp_path / "model"
    config = small(treebanks, output, "train.learning_rate=1e30", f"train.arc_loss={loss}", "train.save_seconds=0")
    with pytest.raises(FloatingPointError, match=r"epoch 1: training has diverged.*learning_rate \(now 1e\+30\)"):
        train(config)
    assert is_sound(output)


def test_a_rate_too_high_is_told_once(treebanks):
    warnings = []
    observer = Observer()
    observer.warn = warnings.append
    train(small(treebanks, "", "train.learning_rate=1000"), observer=observer)
    assert len(warnings) == 1
    assert "far above that of guessing" in warnings[0]


def spoilt_in_the_second_epoch(monkeypatch, name, spoil):
    """`spoil(loop)` after a method of the loop, from the second epoch on."""
    method = getattr(loop.Loop, name)

    def spoiling(self, *arguments):
        result = method(self, *arguments)
        if self.progress.epoch == 1:
            spoil(self)
        return result

    monkeypatch.setattr(loop.Loop, name, spoiling)


def put(tensor, value):
    with torch.no_grad():
        tensor.view(-1)[0] = value


@pytest.mark.parametrize("clip", [5, 0])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_gradient_that_is_no_number(value, clip, treebanks, tmp_path, monkeypatch):
    spoilt_in_the_second_epoch(monkeypatch, "_gradients", lambda run: put(run.parameters[0].grad, value))
    with pytest.raises(FloatingPointError, match=r"epoch 2: .* norm of the gradient is .*, of epoch 1, is in .*model"):
        train(small(treebanks, tmp_path / "model", f"train.clip={clip}"))
    assert is_sound(tmp_path / "model")


@pytest.mark.parametrize("dev", [True, False])
def test_weights_that_are_no_numbers_are_not_kept(dev, treebanks, tmp_path, monkeypatch):
    def spoil(run):
        if run.progress.position + 1 == len(run.updates(1)):
            put(run.parameters[0], math.inf)

    spoilt_in_the_second_epoch(monkeypatch, "step", spoil)
    with pytest.raises(FloatingPointError, match=r"epoch 2: .* a weight is not finite"):
        train(small(treebanks, tmp_path / "model", "data.held_out=0", dev=dev))
    assert is_sound(tmp_path / "model")


def test_scores_on_dev_that_are_no_numbers(treebanks, tmp_path, monkeypatch):
    def large(run):  # finite weights whose products are not
        for weights in run.average.weights:
            weights.fill_(1e30)

    spoilt_in_the_second_epoch(monkeypatch, "step", large)
    with pytest.raises(FloatingPointError, match=r"epoch 2: .*dev cannot be parsed: scores"):
        train(small(treebanks, tmp_path / "model"))
    assert is_sound(tmp_path / "model")
