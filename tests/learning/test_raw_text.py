"""Training runs with raw text: that it helps, when its terms come in, and everything that runs without it promise."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

import softparse
from softparse.configuration import ConfigurationError
from softparse.corpus.problems import CorpusError
from softparse.learning import data, generative_files, objective, raw_setup, self_training, state
from softparse.learning.config import configure, settled
from softparse.learning.loop import Interrupted, Loop
from softparse.learning.new_parser import make_parser
from softparse.learning.observer import Observer
from softparse.learning.teacher import Teacher
from softparse.learning.training import train
from softparse.parser import ModelError
from tests.ambiguous import Language
from tests.conftest import SMALL
from tests.learning.runs import StopAt
from tests.learning.test_processes import several

TINY = (
    *SMALL, "train.learning_rate=0.01", "model.words.dimension=32", "generative.decoder.hidden=32",
    "generative.states=own", "generative.tied=false", "data.vocabulary=trees", "objective.updates=alternate",
    "objective.labelled=0", "objective.raw=0", "objective.teacher=0", "objective.raw_part=1",
    "objective.raw_patience=0",
)  # fmt: skip
RAW = ("objective.labelled=0.3", "objective.raw=0.3", "objective.labelled_from=1", "objective.raw_from=1")
FILES = {"train": "train.conllu", "dev": "dev.conllu", "raw": "raw.txt"}
OFF = ("objective.labelled=0", "objective.raw=0", "objective.teacher=0")
READER = ("generative.states=encoder", "generative.tied=true", "data.vocabulary=all")


@pytest.fixture(scope="module")
def ambiguous(tmp_path_factory):
    """Files of a language in which only raw text tells verbs from nouns."""
    folder, language = tmp_path_factory.mktemp("ambiguous"), Language()
    trees = language.treebank(60, 1, known=True) + language.treebank(20, 4, known=True, marked=True)
    (folder / "train.conllu").write_text(trees)
    (folder / "dev.conllu").write_text(language.treebank(60, 2))
    (folder / "raw.txt").write_text(language.raw(600, 3))
    return folder


def configuration(folder, output="", *assignments, raw=True, dev=True, **data):
    files = {"train": [str(folder / "train.conllu")], "dev": [str(folder / "dev.conllu")] if dev else []}
    files |= {"raw": [str(folder / "raw.txt")] if raw else [], "output": str(output)}
    return configure("default", assignments=[*TINY, "train.epochs=3", *assignments], data={**files, **data})


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


def history(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_raw_text_helps(ambiguous):
    more = ("train.epochs=40", "model.words.characters.encoder=none", "data.vocabulary=all")
    more += ("objective.raw_sentences=4", "generative.output.kind=softmax", "train.learning_rate=0.005")
    more += ("model.words.dropout_rate=0.25",)  # there is nothing but the words here to tell them by
    more += ("objective.enough_trees=80",)  # of so simple a language
    supervised = train(configuration(ambiguous, "", *more, *OFF))
    semi = train(configuration(ambiguous, "", *more, *RAW, *READER))
    assert supervised.metrics["best"]["dev"]["las"] < 65
    assert semi.metrics["best"]["dev"]["las"] > 90
    perplexity = semi.metrics["autoencoder"]["perplexity"]
    assert perplexity["gold"] < 0.7 * perplexity["empty"]  # the decoder has learnt what a tree is good for


def test_words_are_known_as_well_as_trees_know_them(ambiguous):
    """However often raw text has a word, in a tree it is dropped as often as without raw text."""
    parsers = []
    for raw in (True, False):
        config = settled(configuration(ambiguous, "", *RAW, *READER, raw=raw))
        found = data.load(config.data, True, print)
        parsers.append((make_parser(config, found, Observer()), found))
    (both, found), (trees, _) = parsers
    assert set(trees.vocabulary.words) < set(both.vocabulary.words)
    known = {word: float(trees.network.words.counts[place]) for word, place in trees.vocabulary.word_ids.items()}
    for word, place in both.vocabulary.word_ids.items():
        count = float(both.network.words.counts[place])
        assert count == (known[word] if word in known else found.raw.counts[word])
    # What it generates is as frequent as it is.
    assert sum(both.vocabulary.counts) > 2 * sum(trees.vocabulary.counts)


@pytest.mark.parametrize("dev", [True, False])
def test_the_teacher_is_judged_on_dev(ambiguous, tmp_path, monkeypatch, dev):
    judged = []
    monkeypatch.setattr(Teacher, "judge", lambda self, is_best: judged.append(is_best))
    more = ("objective.teacher=1", "train.epochs=6", "train.evaluate_every=2", "data.held_out=0")
    train(configuration(ambiguous, tmp_path / "m", *RAW, *more, dev=dev))
    expected = [entry["is_best"] for entry in history(tmp_path / "m") if "dev" in entry or not dev]
    assert judged == expected
    assert len(judged) == (3 if dev else 6)


def test_terms_come_in_when_they_should(ambiguous, tmp_path):
    train(configuration(
        ambiguous, tmp_path / "m", "train.epochs=5", "objective.labelled=0.1", "objective.raw=0.1",
        "objective.teacher=1", "objective.labelled_from=2", "objective.raw_from=4", "objective.teacher_from=3",
    ))  # fmt: skip
    seen = [set(entry["losses"]) for entry in history(tmp_path / "m")]
    trees, labelled = {"arcs", "labels"}, {"reconstruction"}
    assert seen[0] == trees
    assert seen[1] == trees | labelled
    assert seen[2] == trees | labelled | {"raw_teacher"}
    assert seen[3] == seen[4] == trees | labelled | {"raw_teacher", "raw_reconstruction"}


def test_few_trees_have_the_last_word(ambiguous, tmp_path):
    """There are 80 trees, and 400 would be enough: of 10 epochs 2 have raw text."""
    more = ("train.epochs=10", "objective.teacher=1", "objective.raw_part=0", "objective.enough_trees=400")
    train(configuration(ambiguous, tmp_path / "m", *RAW, *more))
    seen = [set(entry["losses"]) for entry in history(tmp_path / "m")]
    assert {"arcs", "labels", "reconstruction", "raw_reconstruction"} <= seen[1]
    assert seen[2:] == [{"arcs", "labels"}] * 8


@pytest.mark.parametrize("enough", [800, 80])  # there are 80
def test_raw_text_stays_while_it_helps(ambiguous, tmp_path, enough):
    few = ("train.epochs=12", "objective.raw_part=0", f"objective.enough_trees={enough}", "objective.raw_patience=2")
    with pytest.raises(Interrupted):
        train(configuration(ambiguous, tmp_path / "m", *RAW, *few), observer=StopAt(18))
    train(configuration(ambiguous, tmp_path / "m", *RAW, *few), resume=True)
    entries = history(tmp_path / "m")
    expected, stays, since_best = [], True, 0
    for entry in entries:
        expected.append(stays)
        since_best = 0 if entry["is_best"] else since_best + 1
        stays = stays and since_best < 2
    assert ["raw_reconstruction" in entry["losses"] for entry in entries] == expected
    assert 1 < sum(expected) < 12


def test_terms_that_come_too_late_for_few_trees_are_told(ambiguous):
    warnings = []
    observer = Observer()
    observer.warn = warnings.append
    few = ("objective.raw_part=0.3", "objective.enough_trees=1000", "train.epochs=6", "train.average=0.99")
    terms = ("objective.teacher=1", "objective.teacher_from=4", *RAW)
    train(configuration(ambiguous, "", *terms, *few), observer=observer)
    (told,) = [warning for warning in warnings if "objective." in warning]
    assert "objective.teacher would count from epoch 4 on, but there may be no raw text after epoch 2" in told


def test_with_all_weights_at_0_nothing_changes(ambiguous, tmp_path, monkeypatch):
    off = (*OFF, "data.vocabulary=trees")
    train(configuration(ambiguous, tmp_path / "without", *off, raw=False))
    steps = []
    step = Loop.step
    monkeypatch.setattr(Loop, "step", lambda self, update, done: (steps.append(update), step(self, update, done)))
    train(configuration(ambiguous, tmp_path / "with", *off))
    assert weights(tmp_path / "without") == weights(tmp_path / "with")
    assert steps
    assert not any(update.raw for update in steps)


def test_self_training_without_raw_text_is_told(ambiguous):
    warnings = []
    observer = Observer()
    observer.warn = warnings.append
    train(configuration(ambiguous, "", "method=self-training", "train.epochs=1", raw=False), observer=observer)
    assert any("needs raw text" in warning for warning in warnings)


def test_no_raw_text_no_terms(ambiguous):
    config = settled(configuration(ambiguous, "", *RAW, "objective.teacher=1", "method=self-training", raw=False))
    assert config.method == "joint"
    assert not config.objective.is_generative
    assert not config.objective.needs_raw


@pytest.mark.parametrize(
    "more",
    [
        ("generative.latent=true", "objective.kl_trees=0.1"),
        ("generative.latent=true", "generative.posterior.shared=true", "generative.inputs=shared"),
        ("generative.decoder.arcs=history", "generative.decoder.states=before", "objective.estimator=straight-through"),
        ("objective.prior=trees", "objective.estimator=score-function", "objective.samples=3"),
        ("objective.estimator=marginals", "generative.output.kind=nce", "train.arc_loss=hinge"),
        ("objective.estimator=perturbed-marginals", "generative.output.kind=adaptive", "train.arc_loss=heads"),
        ("objective.noise=sum-of-gamma", "generative.output.kind=softmax", "objective.last_temperature=0.3"),
        (*READER, "objective.updates=joint", "objective.teacher=1", "objective.teacher_from=1"),
        ("train.normalise=sentence", "generative.inputs=shared"),
    ],
)
def test_every_setting_trains(ambiguous, tmp_path, more):
    train(configuration(ambiguous, tmp_path / "m", *RAW, *more))
    entries = history(tmp_path / "m")
    assert entries[-1]["losses"]["raw_reconstruction"] < entries[0]["losses"]["raw_reconstruction"]
    assert abs(sum(entries[-1]["time"].values()) - 1) < 0.01
    parser, generative = generative_files.load(tmp_path / "m")
    assert generative.config.latent == ("generative.latent=true" in more)
    assert parser.metrics["autoencoder"]["words"] > 0


def test_a_parser_has_nothing_of_the_decoder(ambiguous, tmp_path):
    train(configuration(ambiguous, tmp_path / "m", *RAW))
    loaded = softparse.load(tmp_path / "m")
    assert not any("decoder" in name or "output" in name.split(".")[0] for name in loaded.network.state_dict())
    expected = loaded.parse([["a", "b", "c"]])
    for name in ("generative.json", "generative.safetensors"):
        (tmp_path / "m" / name).unlink()
    assert softparse.load(tmp_path / "m").parse([["a", "b", "c"]]) == expected
    with pytest.raises(ModelError, match="has no generative model"):
        generative_files.load(tmp_path / "m")


def test_a_damaged_generative_model(ambiguous, tmp_path):
    train(configuration(ambiguous, tmp_path / "m", *RAW))
    content = (tmp_path / "m" / "generative.safetensors").read_bytes()
    (tmp_path / "m" / "generative.safetensors").write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelError, match="generative model is damaged"):
        generative_files.load(tmp_path / "m")


@pytest.mark.parametrize("more", [READER, ("generative.latent=true", "objective.updates=joint")], ids=["reader", "z"])
def test_a_seed_gives_a_model(ambiguous, tmp_path, more):
    for name in ("one", "two"):
        train(configuration(ambiguous, tmp_path / name, *RAW, *more, "objective.teacher=1", "objective.teacher_from=2"))
    assert weights(tmp_path / "one") == weights(tmp_path / "two")
    one, two = ((tmp_path / name / "generative.safetensors").read_bytes() for name in ("one", "two"))
    assert one == two


def test_killed_and_resumed_is_uninterrupted(ambiguous, tmp_path):
    options = ["--set", "train.save_seconds=0", "--set", "train.epochs=6", "--set", "train.threads=1"]
    for assignment in (*TINY, *RAW, "objective.raw_from=3", "generative.latent=true", "objective.teacher=1"):
        options += ["--set", assignment]
    files = [part for name in ("train", "dev") for part in (f"--{name}", str(ambiguous / f"{name}.conllu"))]
    command = [sys.executable, "-m", "softparse", "train", *files, "--raw", str(ambiguous / "raw.txt"), *options]
    subprocess.run([*command, "-o", str(tmp_path / "whole")], check=True, capture_output=True)
    parts, state = tmp_path / "parts", tmp_path / "parts.resume" / "metrics.jsonl"
    for epochs in (2, 4):  # before raw text comes in, and after
        process = subprocess.Popen([*command, "-o", str(parts), "--resume"], stderr=subprocess.DEVNULL)
        while not state.exists() or len(state.read_text().splitlines()) < epochs:
            assert process.poll() is None
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*command, "-o", str(parts), "--resume"], check=True, capture_output=True)
    for name in ("model.safetensors", "generative.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_other_raw_text_or_another_prior_is_not_resumed(ambiguous, tmp_path):
    raw, prior = tmp_path / "raw.txt", tmp_path / "prior.toml"
    lines = (ambiguous / "raw.txt").read_text().splitlines()
    config = configuration(ambiguous, tmp_path / "m", *RAW, f"objective.prior={prior}")
    config = replace(config, data=replace(config.data, raw=[str(raw)]))
    raw.write_text("\n".join(lines) + "\n")
    prior.write_text("[arcs]\nleft-1 = 1.0\n")
    with pytest.raises(Interrupted):
        train(config, observer=StopAt(4))
    raw.write_text("\n".join(reversed(lines)) + "\n")
    with pytest.raises(ModelError, match="have changed since"):
        train(config, resume=True)
    raw.write_text("\n".join(lines) + "\n")
    prior.write_text("[arcs]\nleft-1 = 1.5\n")
    with pytest.raises(ModelError, match="have changed since"):
        train(config, resume=True)
    prior.write_text("[arcs]\nleft-1 = 1.0\n")
    train(config, resume=True)


def test_two_processes(ambiguous, tmp_path):
    settings = (*RAW, *READER, "objective.raw_part=1")
    options = [part for assignment in settings for part in ("--set", assignment)]
    files = ("--dev", ambiguous / "dev.conllu", "--raw", ambiguous / "raw.txt", "-o", tmp_path / "m")
    error, code = several(["-m", "softparse"], ambiguous / "train.conllu", *files, *options, epochs=2)
    assert code == 0, error
    metrics = json.loads((tmp_path / "m" / "metrics.json").read_text())
    assert metrics["processes"] == 2
    assert metrics["best"]["losses"]["raw_reconstruction"] > 0
    assert "perplexity given the tree" in error


def test_self_training(ambiguous, tmp_path):
    config = configuration(ambiguous, tmp_path / "m", "method=self-training", "train.epochs=6")
    parser = train(config)
    assert parser.metrics["data"]["parsed"] == 300  # the more certain half of 600
    assert len(history(tmp_path / "m")) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]
    with pytest.raises(ModelError, match="there is a model already"):
        train(config)
    assert parser.metrics["settings"]["method"] == "self-training"
    assert train(config, resume=True).metrics == parser.metrics
    with pytest.raises(ModelError, match=r"complete, with other settings .*self_training\.kept"):
        train(replace(config, self_training=replace(config.self_training, kept=0.2)), resume=True)


def test_self_training_goes_on_after_its_first_step(ambiguous, tmp_path, monkeypatch):
    config = configuration(ambiguous, tmp_path / "m", "method=self-training")
    first = []

    def failing(*arguments):
        raise RuntimeError("no more")

    with monkeypatch.context() as context:
        context.setattr(self_training, "parse_raw", failing)
        with pytest.raises(RuntimeError, match="no more"):
            train(config)
    observer = Observer()
    observer.started = lambda summary, steps, epochs: first.append(summary)
    parser = train(config, resume=True, observer=observer)
    assert len(first) == 1  # the second step; the first was complete
    assert parser.metrics["data"]["parsed"] == 300


def test_self_training_that_is_killed_while_it_cleans_up(ambiguous, tmp_path, monkeypatch):
    config = configuration(ambiguous, tmp_path / "m", "method=self-training")

    def failing(*arguments, **named):
        raise RuntimeError("no more")

    with monkeypatch.context() as context:
        context.setattr(self_training.shutil, "rmtree", failing)
        context.setattr(self_training.Path, "rename", failing)
        with pytest.raises(RuntimeError, match="no more"):
            train(config)
    assert (tmp_path / "m.first").exists()
    parser = train(config, resume=True)
    assert parser.metrics["settings"]["method"] == "self-training"
    assert parser.metrics["first_step"]["seconds"] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]


def test_self_training_anew_takes_nothing_of_an_old_run(ambiguous, tmp_path, monkeypatch):
    def stopped(*arguments):
        raise RuntimeError("no more")

    config = configuration(ambiguous, tmp_path / "m", "method=self-training")
    train(config)
    state.place(tmp_path / "m").mkdir()
    (state.place(tmp_path / "m") / self_training.PARSED).write_text("left by an older run")
    with monkeypatch.context() as context:
        context.setattr(self_training, "parse_raw", stopped)
        with pytest.raises(RuntimeError, match="no more"):
            train(replace(config, train=replace(config.train, seed=2)), force=True)
    parser = train(replace(config, train=replace(config.train, seed=2)), resume=True)
    assert parser.metrics["settings"]["train"]["seed"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]


def test_self_training_that_cannot_begin_leaves_what_was_there(ambiguous, tmp_path):
    (tmp_path / "m.parsed.conllu").write_text("somebody's own")
    config = configuration(ambiguous, tmp_path / "m", "method=self-training", "train.epochs=3")
    with pytest.raises(ValueError, match="No such file"):
        train(replace(config, data=replace(config.data, train=["none.conllu"])))
    assert [path.name for path in tmp_path.iterdir()] == ["m.parsed.conllu"]
    train(config)
    with pytest.raises(ValueError, match="No such file"):
        train(replace(config, data=replace(config.data, train=["none.conllu"])), force=True)
    assert train(config, resume=True).metrics["data"]["parsed"] == 300  # it is complete as before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "m.parsed.conllu"]
    assert (tmp_path / "m.parsed.conllu").read_text() == "somebody's own"


@pytest.mark.parametrize("part", ["train", "dev"])
def test_self_training_reads_trees_twice(ambiguous, tmp_path, part):
    config = configuration(ambiguous, tmp_path / "m", "method=self-training")
    with pytest.raises(CorpusError, match="-: self-training reads trees in both of its steps"):
        train(replace(config, data=replace(config.data, **{part: ["-"]})))
    assert not list(tmp_path.iterdir())


def test_training_without_trees(ambiguous, tmp_path):
    prior = tmp_path / "prior.toml"
    language = Language()
    prior.write_text(f"""
        [classes]
        verb = {language.verbs[:20]}
        [[rules]]
        head = "root"
        modifier = "verb"
        weight = 4
        [arcs]
        left-1 = 0.5
        right-1 = 0.5
        """)
    more = ("objective.raw=1", f"objective.prior={prior}", "train.epochs=4")
    config = configuration(ambiguous, tmp_path / "m", *more, train=[])
    parser = train(config)
    baseline = parser.metrics["data"]["dev_UAS_of_right_branching_trees"]
    assert parser.metrics["best"]["dev"]["uas"] > baseline + 10
    parse = softparse.load(tmp_path / "m").parse([language.verbs[:1] + language.nouns[:2]])[0]
    assert parse.labels == ["_"] * 3
    assert parse.heads[0] == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("objective.raw=1",), "needs a prior over trees"),
        (("objective.raw=0", "objective.prior=p.toml"), "needs a prior over trees"),
        (("method=self-training",), "self-training needs trees"),
    ],
)
def test_without_trees_something_else_must_be_known(ambiguous, more, message):
    with pytest.raises(ConfigurationError, match=message):
        train(configuration(ambiguous, "", *more, train=[]))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("generative.states=encoder", "generative.latent=true"), "generative.states=own"),
        (("generative.tied=true", "data.vocabulary=trees"), "generative.tied needs"),
        (("objective.teacher=1", "train.average=0"), "train.average must not be 0"),
        (("objective.prior=nothing.toml",), "must be uniform, trees, or a file"),
    ],
)
def test_settings_that_do_not_go_together(ambiguous, more, message):
    with pytest.raises(ConfigurationError, match=message):
        train(configuration(ambiguous, "", *RAW, *more))


@pytest.mark.parametrize("preset", ["paper-vae", "paper-vae-z"])
def test_presets_of_the_paper(ambiguous, tmp_path, preset):
    files = {name: [str(ambiguous / file)] for name, file in FILES.items()}
    config = configure(preset, assignments=["train.epochs=8"], data={**files, "output": str(tmp_path / "m")})
    assert config.generative.latent == (preset == "paper-vae-z")
    train(config)
    seen = ["".join(name[0] for name in ("reconstruction", "raw_reconstruction") if name in entry["losses"])
            for entry in history(tmp_path / "m")]  # fmt: skip
    assert seen == ["", "", "r", "r", "r", "r", "rr", "rr"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (OFF, "learn nothing from raw text"),
        ((*RAW, *READER, "generative.decoder.arcs=history"), "generative.decoder.arcs is of a decoder with an LSTM"),
        ((*RAW, "objective.raw_from=4"), "would count from epoch 4 on, but training ends after epoch 3"),
    ],
)
def test_settings_that_come_to_nothing_are_told(ambiguous, more, message):
    warnings = []
    observer = Observer()
    observer.warn = warnings.append
    train(configuration(ambiguous, "", *more), observer=observer)
    assert any(message in warning for warning in warnings)


def test_doubtful_raw_text_is_told(ambiguous, tmp_path):
    raw = tmp_path / "greek.txt"
    raw.write_text("ο σκύλος βλέπει τη γάτα\n" * 5 + "x " * 200 + "\n", encoding="utf-8")
    warnings = []
    observer = Observer()
    observer.warn = warnings.append
    config = configuration(ambiguous, "", "train.epochs=1")
    train(replace(config, data=replace(config.data, raw=[str(raw)])), observer=observer)
    assert any("Greek script" in warning for warning in warnings)
    assert any("1 raw sentences of more than 50 words are left out" in warning for warning in warnings)


def test_as_many_raw_sentences_as_trees_are_drawn(ambiguous, monkeypatch):
    seen = []
    step = Loop.step

    def watched(self, update, done):
        seen.extend(tuple(words) for words in update.raw)
        return step(self, update, done)

    monkeypatch.setattr(Loop, "step", watched)
    train(configuration(ambiguous, "", *RAW))
    assert len(seen) == 3 * 80
    assert len(set(seen)) > 150  # others in every epoch


def raw_drawn(monkeypatch, config):
    """How many raw sentences a run learns from."""
    seen = []
    step = Loop.step
    monkeypatch.setattr(Loop, "step", lambda self, update, done: (seen.extend(update.raw), step(self, update, done)))
    train(config)
    return len(seen)


@pytest.mark.parametrize("number", [0, 0.01, 0.1])
def test_few_raw_sentences(ambiguous, monkeypatch, number):
    config = configuration(ambiguous, "", *RAW, f"objective.raw_sentences={number}", "train.epochs=2")
    assert raw_drawn(monkeypatch, config) == 2 * math.ceil(80 * number)


@pytest.mark.parametrize("turns", [1, 3])
def test_few_raw_sentences_come_as_often_as_trees(ambiguous, monkeypatch, tmp_path, turns):
    """80 trees are 8 batches, which go `turns` times into an epoch."""
    batches = ("train.batch_words=10000", "train.batch_sentences=10", f"train.epoch_batches={turns * 8}")
    config = configuration(ambiguous, "", *RAW, *batches, "train.epochs=1")
    raw = tmp_path / "raw.txt"
    raw.write_text("".join((ambiguous / "raw.txt").read_text().splitlines(keepends=True)[:12]))
    assert raw_drawn(monkeypatch, replace(config, data=replace(config.data, raw=[str(raw)]))) == 12 * turns


def test_unknown_words_are_drawn_as_often_as_they_come(ambiguous, tmp_path):
    """As noise of the output layer: drawn too rarely, they would seem likely everywhere."""
    config = configuration(ambiguous, "", *RAW, "data.raw_least_count=25", "data.vocabulary=trees", "train.epochs=1")
    seen = []
    observer = Observer()
    observer.started = lambda summary, steps, epochs: seen.append(summary)
    parser = train(config, observer=observer)
    known = parser.numbering.generated
    rate = 1 - sum(known.counts) / (seen[0]["words"] + seen[0]["raw_words"])
    assert 0.02 < rate < 0.9
    found = data.load(config.data, True, print)
    counts = raw_setup._counts(known, found)
    assert float(counts[1] / counts.sum()) == pytest.approx(rate)


def test_a_teacher_of_some_sentences_sees_long_ones_too(ambiguous, monkeypatch):
    lengths = []
    original = objective.agreement

    def watched(reading, *others):
        lengths.append(max(map(len, reading.sentences)))
        return original(reading, *others)

    monkeypatch.setattr(objective, "agreement", watched)
    more = ("objective.teacher=1", "objective.teacher_from=1", "objective.teacher_part=0.25", "train.batch_words=4000")
    train(configuration(ambiguous, "", *more, "train.batch_sentences=80"))
    assert max(lengths) == 6  # batches of sentences of 3 and 6 words
    assert len(lengths) >= 3


def test_raw_text_must_be_a_file(ambiguous):
    config = configuration(ambiguous, "", *RAW)
    with pytest.raises(CorpusError, match="must be a file"):
        train(replace(config, data=replace(config.data, raw=["-"])))


@pytest.mark.parametrize(("size", "expected"), [(0.5, 8), (2, 32)])
def test_raw_batches_have_a_size_of_their_own(ambiguous, monkeypatch, size, expected):
    sizes = []
    step = Loop.step

    def watched(self, update, done):
        sizes.append(len(update.raw))
        return step(self, update, done)

    monkeypatch.setattr(Loop, "step", watched)
    train(
        configuration(ambiguous, "", *RAW, f"objective.raw_batch={size}", "train.epochs=1", "train.batch_sentences=16")
    )
    assert max(sizes) == expected
