"""A parser with temperatures: how it gets them, what they change and what they do not."""

import copy
import json
import shutil

import pytest
import torch

import softparse
from softparse.corpus.conllu import read
from softparse.corpus.problems import CorpusError
from softparse.corpus.projectivity import is_projective
from softparse.corpus.sentence import Sentence
from softparse.learning import self_training
from softparse.learning.calibration import calibrate, reliabilities
from softparse.learning.loop import Interrupted
from softparse.learning.observer import Observer
from softparse.learning.training import train
from softparse.parser import ModelError, Temperatures, folder
from tests import doubtful
from tests.learning.runs import StopAt, small

WORDS = ["the", "dog", "sees", "a", "big", "cat", "today", "."]


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """Files to train on and to calibrate on."""
    place = tmp_path_factory.mktemp("doubtful")
    (place / "train.conllu").write_text(doubtful.treebank(120, seed=1), encoding="utf-8")
    (place / "dev.conllu").write_text(doubtful.treebank(60, seed=2), encoding="utf-8")
    return place


class Seen(Observer):
    def __init__(self):
        self.summaries = []

    def calibrated(self, summary):
        self.summaries.append(copy.deepcopy(summary))


@pytest.fixture(scope="module")
def trained(trees, tmp_path_factory):
    """A model folder, and what was told about its calibration."""
    output, seen = tmp_path_factory.mktemp("calibrated") / "model", Seen()
    train(small(trees, output, "train.epochs=8"), observer=seen)
    (summary,) = seen.summaries
    return output, summary


@pytest.fixture
def parser(trained):
    return softparse.load(trained[0])


@pytest.fixture
def dev(trees):
    return list(read(trees / "dev.conllu"))


def test_training_calibrates(trained, parser, dev):
    output, summary = trained
    assert json.loads((output / "metrics.json").read_text())["calibration"] == summary
    assert parser.temperatures == Temperatures(**summary["temperature"])
    assert parser.temperatures.arcs != 1
    assert parser.temperatures.labels != 1
    for loss in summary["negative_log_likelihood"].values():
        assert loss["after"] < loss["before"]
    assert summary["fitted_on"] == summary["measured_on"]
    assert summary["fitted_on"]["sentences"] == 60
    error = summary["expected_calibration_error"]
    assert error["arcs"]["after"] == pytest.approx(reliabilities(parser, dev).arcs.error)
    assert error["trees"]["before"] == pytest.approx(reliabilities(parser, dev, calibrated=False).trees.error)
    assert reliabilities(parser, dev).arcs.right == pytest.approx(parser.metrics["best"]["dev"]["uas"] / 100)


def test_scores_three_times_as_large_need_three_times_the_temperature(parser, dev):
    before = parser.temperatures
    shown = parser.parse(dev, confidence=True)
    with torch.no_grad():
        for parameter in parser.network.arcs.parameters():  # arc scores are linear in these
            parameter *= 3
        for parameter in parser.network.labels.output.parameters():
            parameter *= 3
    found = calibrate(parser, dev)
    assert parser.temperatures.arcs == pytest.approx(3 * before.arcs, rel=1e-3)
    assert parser.temperatures.labels == pytest.approx(3 * before.labels, rel=1e-3)
    assert found.temperatures == parser.temperatures
    for one, other in zip(shown, parser.parse(dev, confidence=True), strict=True):
        assert one.heads == other.heads
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-3)
        assert one.label_probabilities == pytest.approx(other.label_probabilities, abs=1e-3)
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-3)
    assert found.errors["arcs"].after < found.errors["arcs"].before
    assert found.arc_loss.after < found.arc_loss.before - 0.01
    assert found.label_loss.after < found.label_loss.before - 0.01


@pytest.mark.parametrize("arcs", [0.3, 3.0, 16.0])
@pytest.mark.parametrize("method", ["eisner", "mbr", "nonprojective"])
def test_the_best_tree_stays_the_same(parser, dev, method, arcs):
    raw = parser.parse(dev, confidence=True, calibrated=False, method=method)
    parser.metrics["calibration"] = {"temperature": {"arcs": arcs, "labels": 1 / arcs}}
    for options in ({}, {"confidence": True}):
        for one, other in zip(raw, parser.parse(dev, method=method, **options), strict=True):
            assert (one.heads, one.labels) == (other.heads, other.labels)
    ranked = parser.parse(dev, kbest=3, method=method)
    assert [parse.heads for parse in ranked] == [parse.heads for parse in raw]
    assert torch.equal(parser.trees(dev).mode, parser.trees(dev, calibrated=False).mode)
    certainty = [sum(parse.probabilities) for parse in parser.parse(dev, confidence=True, method=method)]
    assert (sum(certainty) > sum(sum(parse.probabilities) for parse in raw)) == (arcs < 1)


def test_all_probabilities_are_at_the_temperature(parser):
    raw, trees = parser.trees([WORDS], calibrated=False), parser.trees([WORDS])
    assert torch.equal(trees.scores, raw.scores / parser.temperatures.arcs)
    (parse,) = parser.parse([WORDS], confidence=True, kbest=3)
    for tree in (parse, *parse.others):
        heads = torch.tensor([[-1, *tree.heads]])
        assert tree.log_probability == pytest.approx(trees.log_prob(heads).item(), abs=1e-5)
        places = torch.arange(1, len(WORDS) + 1)
        assert tree.probabilities == pytest.approx(trees.marginals[0, heads[0, 1:], places].tolist(), abs=1e-5)
    (plain,) = parser.parse([WORDS], confidence=True, calibrated=False, method="eisner")
    assert plain.log_probability == pytest.approx(raw.log_prob(raw.mode).item(), abs=1e-5)
    trees.entropy().sum().backward()
    assert parser.network.words.embedding.weight.grad.abs().sum() > 0


def test_labels_that_are_given_are_certain(parser):
    (given,) = parser.parse([WORDS])
    sentence = Sentence.from_words(WORDS).with_tree([given.heads[0], *[-1] * 7], ["x", *["_"] * 7])
    (parse,) = parser.parse([sentence], complete=True, confidence=True)
    assert parse.labels[0] == "x"
    assert parse.label_probabilities[0] == 1.0
    assert 0 < min(parse.label_probabilities[1:]) < 1


def test_saved_and_loaded(parser, dev, tmp_path):
    parser.metrics.pop("calibration")
    parser.save(tmp_path / "old")  # as a release before this wrote it
    old = softparse.load(tmp_path / "old")
    assert old.temperatures == Temperatures()
    assert old.parse(dev, confidence=True) == parser.parse(dev, confidence=True, calibrated=False)
    calibrate(old, dev)
    old.save(tmp_path / "new")
    new = softparse.load(tmp_path / "new")
    assert new.temperatures == old.temperatures
    assert new.metrics == old.metrics
    assert new.parse(dev, confidence=True) == old.parse(dev, confidence=True)


def test_damaged_temperatures(trained, tmp_path):
    place = shutil.copytree(trained[0], tmp_path / "model")
    metrics = json.loads((place / "metrics.json").read_text())
    for value in (0, -1, "warm", None, True, float("nan"), float("inf")):
        metrics["calibration"] = {"temperature": {"arcs": value}}
        (place / "metrics.json").write_text(json.dumps(metrics))
        with pytest.raises(
            ModelError, match=r"metrics\.json: the temperature of arcs must be a number from 0.001 to 1000, got"
        ):
            softparse.load(place)
    for damaged in ({**metrics, "calibration": [1]}, {**metrics, "calibration": {"temperature": 2}}, [metrics]):
        (place / "metrics.json").write_text(json.dumps(damaged))
        with pytest.raises(ModelError, match=r"metrics\.json: .*must be an object"):
            softparse.load(place)


def test_measured_on_other_trees(parser, dev):
    found = calibrate(parser, dev[::2], measured_on=dev[1::2], names=("one half", "the other"))
    summary = parser.metrics["calibration"]
    assert summary["fitted_on"]["trees"] == "one half"
    assert summary["measured_on"] == {"trees": "the other", "sentences": 30, "words": sum(map(len, dev[1::2]))}
    assert found.after.trees.number == 30
    assert "measured on the other: 30 sentences" in found.text()


def test_partial_and_crossing_trees_are_taken_as_in_training(parser, dev):
    """First words of unknown head; and a tree that no projective parser can predict before its words are lifted."""
    some = [sentence.with_tree([-1, *sentence.heads[1:]], ["_", *sentence.labels[1:]]) for sentence in dev]
    heads = dev[0].heads
    heads[1] = len(heads)
    assert not is_projective(heads)
    crossing = dev[0].with_tree(heads, dev[0].labels)
    found = calibrate(parser, [*some, crossing])
    assert set(found.fitted) == {"arcs", "labels"}
    assert found.before.arcs.number == sum(map(len, some)) - len(some) + len(crossing)
    assert found.before.trees.number == 1


def test_trees_that_tell_nothing(model, treebanks):
    parser = softparse.load(model)  # which gets everything right
    before = parser.parse([WORDS], confidence=True, calibrated=False)
    found = calibrate(parser, list(read(treebanks / "dev.conllu")))
    assert found.fitted == {}
    assert parser.temperatures == Temperatures()
    assert [note.partition("of")[2].split()[0] for note in found.notes] == ["arcs", "labels"]
    assert parser.parse([WORDS], confidence=True) == before
    with pytest.raises(CorpusError, match="no sentence with a tree"):
        calibrate(parser, [])


def test_without_dev_nothing_is_fitted(trees):
    seen = Seen()
    parser = train(small(trees, "", "data.held_out=0", "train.epochs=1", dev=False), observer=seen)
    assert seen.summaries == [{}]
    assert "calibration" not in parser.metrics
    assert parser.temperatures == Temperatures()


def test_a_resumed_run_has_the_same_temperatures(trees, tmp_path):
    config = small(trees, tmp_path / "straight", "train.epochs=4")
    straight = train(config)
    resumed = small(trees, tmp_path / "resumed", "train.epochs=4")
    with pytest.raises(Interrupted):
        train(resumed, observer=StopAt(20))
    assert "calibration" not in softparse.load(tmp_path / "resumed").metrics
    again = train(resumed, resume=True)
    assert again.metrics["calibration"] == straight.metrics["calibration"]
    assert train(resumed, resume=True).metrics == again.metrics  # complete


def test_the_card_says_it(trained, parser, dev, tmp_path):
    output = trained[0]
    card = (output / "README.md").read_text()
    assert f"scores of arcs are divided by {parser.temperatures.arcs:.3f} and scores of labels are divided by" in card
    assert "| labelled arcs | " in card
    parser.metrics.pop("calibration")
    parser.save(tmp_path / "model")
    path = tmp_path / "model" / "README.md"
    assert "## Probabilities\n\nNot calibrated: " in path.read_text()
    path.write_text(path.read_text().replace("# Dependency parser", "# Our parser") + "\n## Thanks\n\nto all\n")
    calibrate(parser, dev)
    folder.update_calibration(parser, tmp_path / "model")
    text = path.read_text()
    assert text.startswith("# Our parser\n")
    assert text.endswith("|\n\n## Thanks\n\nto all\n")
    assert "Calibrated on the trees given: " in text
    assert "Not calibrated" not in text
    folder.update_calibration(parser, tmp_path / "model")
    assert path.read_text() == text


def test_self_training_chooses_by_the_networks_own_beliefs(parser, trees, tmp_path, monkeypatch):
    (tmp_path / "raw.txt").write_text("\n".join(" ".join(sentence.words) for sentence in read(trees / "dev.conllu")))
    config = small(trees, "", raw=[str(tmp_path / "raw.txt")])
    chosen = []
    for temperature in (1.0, 5.0):
        parser.metrics["calibration"] = {"temperature": {"arcs": temperature}}
        self_training.parse_raw(parser, config, tmp_path / "parsed.conllu")
        chosen.append((tmp_path / "parsed.conllu").read_bytes())
    assert chosen[0] == chosen[1]
