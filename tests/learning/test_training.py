"""Training runs, on a small language: that they learn, repeat themselves, stop and go on, and share work."""

import dataclasses
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import softparse
from softparse.corpus.conllu import read
from softparse.corpus.problems import CorpusError
from softparse.learning.config import configure
from softparse.learning.data import held_out
from softparse.learning.loop import Interrupted, evaluated
from softparse.learning.observer import Observer
from softparse.learning.training import train
from softparse.parser import ModelError
from tests.conftest import SMALL
from tests.grammar import treebank
from tests.learning.runs import StopAt, small, weights


def test_it_learns(model):
    metrics = json.loads((model / "metrics.json").read_text())
    assert metrics["best"]["dev"]["las"] > 95
    assert metrics["data"]["nonprojective_trees"] > 0
    history = [json.loads(line) for line in (model / "metrics.jsonl").read_text().splitlines()]
    assert [entry["epoch"] for entry in history] == list(range(1, 21))
    assert history[-1]["losses"]["arcs"] < history[0]["losses"]["arcs"]
    assert max(entry["dev"]["las"] for entry in history) == metrics["best"]["dev"]["las"]
    assert not model.with_name("small.resume").exists()


def test_crossing_arcs_are_learnt_and_undone(model):
    parser = softparse.load(model)
    words = ["the", "dog", "sees", "a", "big", "cat", "today", "which", "likes", "."]
    parse = parser.parse([words])[0]
    assert parse.heads == [2, 3, 0, 6, 6, 3, 3, 9, 6, 3]  # 6 → 9 crosses 3 → 7
    assert parse.labels[8] == "acl:relcl"


@pytest.mark.parametrize("preset", ["paper-supervised", "kg"])
def test_presets_learn(treebanks, preset):
    parser = train(small(treebanks, "", "train.learning_rate=1.0" if preset == "paper-supervised" else
                         "train.learning_rate=0.003", "train.epochs=3", preset=preset))  # fmt: skip
    assert parser.metrics["best"]["dev"]["las"] > 80
    assert not parser.config.decoding.single_root


@pytest.mark.parametrize("loss", ["heads", "hinge"])
def test_other_losses_learn(treebanks, loss):
    parser = train(small(treebanks, "", f"train.arc_loss={loss}", "train.epochs=10"))
    assert parser.metrics["best"]["dev"]["las"] > 85


def test_a_seed_gives_a_model(treebanks, tmp_path):
    for name, seed in (("one", 3), ("two", 3), ("three", 4)):
        train(small(treebanks, tmp_path / name, "train.epochs=1", f"train.seed={seed}"))
    assert weights(tmp_path / "one") == weights(tmp_path / "two") != weights(tmp_path / "three")


def test_the_callers_random_numbers_are_left_alone(treebanks):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(small(treebanks, "", "train.epochs=1"))
    assert torch.equal(torch.rand(3), expected)


def test_in_a_thread(treebanks, tmp_path):
    """Where signals cannot be handled."""
    config = small(treebanks, tmp_path / "model", "train.epochs=1", "train.threads=2")
    threads = torch.get_num_threads()
    with ThreadPoolExecutor() as pool:
        pool.submit(train, config).result()
    assert torch.get_num_threads() == threads
    assert softparse.load(tmp_path / "model").parse([["the", "dog"]])[0].heads.count(0) == 1


def test_interrupted_and_resumed_is_uninterrupted(treebanks, tmp_path):
    train(small(treebanks, tmp_path / "whole"))
    config = small(treebanks, tmp_path / "parts")
    for step in (2, 9, 14):  # in the first epoch, later, and later still
        with pytest.raises(Interrupted):
            train(config, resume=True, observer=StopAt(step))
        assert softparse.load(tmp_path / "parts").parse([["the", "dog"]])[0].heads.count(0) == 1
    train(config, resume=True)
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")
    histories = [
        [
            {key: value for key, value in json.loads(line).items() if key not in ("seconds", "time")}
            for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()
        ]
        for name in ("whole", "parts")
    ]
    assert histories[0] == histories[1]


def test_killed_and_resumed_is_uninterrupted(treebanks, tmp_path):
    options = ["--set", "train.save_seconds=0", "--set", "train.epochs=6", "--set", "train.threads=1"]
    for assignment in (*SMALL, "train.learning_rate=0.01"):
        options += ["--set", assignment]
    files = ["--train", str(treebanks / "train.conllu"), "--dev", str(treebanks / "dev.conllu")]
    command = [sys.executable, "-m", "softparse", "train", *files, *options, "-o"]
    whole = subprocess.run([*command, str(tmp_path / "whole")], capture_output=True, text=True)
    assert whole.returncode == 0, whole.stderr
    state = tmp_path / "parts.resume" / "state.pt"
    for _ in range(2):
        before = state.stat().st_mtime_ns if state.exists() else 0
        process = subprocess.Popen([*command, str(tmp_path / "parts"), "--resume"], stderr=subprocess.PIPE)
        end = time.monotonic() + 120
        while time.monotonic() < end and process.poll() is None:
            if state.exists() and state.stat().st_mtime_ns > before:
                break
            time.sleep(0.01)
        time.sleep(0.15)  # to any point of a step
        process.kill()
        process.communicate()
        if (tmp_path / "parts").exists():
            softparse.load(tmp_path / "parts")
    last = subprocess.run([*command, str(tmp_path / "parts"), "--resume"], capture_output=True, text=True)
    assert last.returncode == 0, last.stderr
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")
    assert not state.parent.exists()


def test_resuming_needs_the_same_settings_and_data(treebanks, tmp_path):
    with pytest.raises(Interrupted):
        train(small(treebanks, tmp_path / "model"), observer=StopAt(2))
    with pytest.raises(ModelError, match=r"other settings \(train\.beta2=0\.9, now 0\.8\)"):
        train(small(treebanks, tmp_path / "model", "train.beta2=0.8"), resume=True)
    state = tmp_path / "model.resume" / "state.pt"
    content = state.read_bytes()
    state.write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelError, match=r"state\.pt: cannot be read"):
        train(small(treebanks, tmp_path / "model"), resume=True)


def test_a_model_is_not_replaced_by_accident(treebanks, tmp_path):
    config = small(treebanks, tmp_path / "model", "train.epochs=1")
    train(config)
    before = weights(tmp_path / "model")
    with pytest.raises(ModelError, match="there is a model already; use --resume, --force"):
        train(config)
    other = dataclasses.replace(config, train=dataclasses.replace(config.train, seed=9))
    train(other, force=True)
    assert weights(tmp_path / "model") != before


def test_five_sentences(tmp_path):
    (tmp_path / "five.conllu").write_text(treebank(5))
    config = configure(assignments=[*SMALL, "train.epochs=2"], data={"train": [str(tmp_path / "five.conllu")]})
    parser = train(config)
    assert parser.parse([["the", "dog", "sees", "a", "cat"]])[0].heads.count(0) == 1


def test_one_word(tmp_path):
    (tmp_path / "one.conllu").write_text("1\tYes\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    parser = train(configure(assignments=["train.epochs=1"], data={"train": [str(tmp_path / "one.conllu")]}))
    assert parser.parse([["No"]])[0].heads == [0]


def test_partial_trees_and_unlabelled_arcs(tmp_path):
    text = treebank(60, seed=4)
    rows = []
    for number, line in enumerate(text.splitlines()):
        columns = line.split("\t")
        if len(columns) == 10 and number % 3 == 0:
            columns[6], columns[7] = "_", "_"
        elif len(columns) == 10 and number % 5 == 0:
            columns[7] = "_"
        rows.append("\t".join(columns))
    (tmp_path / "partial.conllu").write_text("\n".join(rows) + "\n\n")
    (tmp_path / "dev.conllu").write_text(treebank(20, seed=5))
    data = {"train": [str(tmp_path / "partial.conllu")], "dev": [str(tmp_path / "dev.conllu")]}
    for loss in ("crf", "heads", "hinge"):
        settings = [*SMALL, "train.epochs=12", "train.learning_rate=0.01", f"train.arc_loss={loss}"]
        assert train(configure(assignments=settings, data=data)).metrics["best"]["dev"]["las"] > 80, loss


def test_dropping_crossing_arcs(treebanks):
    parser = train(small(treebanks, "", "train.epochs=1", "data.nonprojective=drop"))
    assert parser.metrics["data"]["arcs_dropped"] > 0
    assert not any("↑" in label for label in parser.vocabulary.labels)


def test_starting_from_a_model_with_a_larger_vocabulary(model, treebanks, tmp_path):
    text = treebank(60, seed=8).replace("dog", "wombat").replace("advmod", "obl:tmod")
    (tmp_path / "new.conllu").write_text(text)
    data = {"train": [str(tmp_path / "new.conllu")], "dev": [str(treebanks / "dev.conllu")], "init": str(model)}
    parser = train(configure(assignments=["train.epochs=1", "train.learning_rate=0.0001"], data=data))
    start = softparse.load(model)
    assert parser.vocabulary.words[: len(start.vocabulary.words)] == start.vocabulary.words
    assert "wombat" in parser.vocabulary.words
    assert "obl:tmod" in parser.vocabulary.labels
    # It has not forgotten, after one epoch of small steps.
    assert evaluated(parser, list(read(treebanks / "dev.conllu")))["las"] > 90


def test_vectors(treebanks, tmp_path):
    words = sorted({word for sentence in read(treebanks / "train.conllu") for word in sentence.words})
    rows = [f"{word} {place / 10} {-place} 0.5" for place, word in enumerate([*words, "zebra"])]
    (tmp_path / "v.vec").write_text("\n".join(rows) + "\n")
    config = small(treebanks, tmp_path / "model", "train.epochs=1", vectors=str(tmp_path / "v.vec"))
    parser = train(config)
    again = softparse.load(tmp_path / "model")
    assert set(again.vector_words) == {*words, "zebra"}  # also of words that training never saw
    sentence = [["the", "zebra", "sees", "a", "dog"]]
    assert again.parse(sentence, confidence=True) == parser.parse(sentence, confidence=True)
    config = small(treebanks, "", "data.vectors_kept=0", "train.epochs=1", vectors=str(tmp_path / "v.vec"))
    assert set(train(config).vector_words) == set(words)


def test_other_vectors_are_not_resumed(treebanks, tmp_path):
    file = tmp_path / "v.vec"
    file.write_text("the 1 2 3\ndog 4 5 6\n")
    config = small(treebanks, tmp_path / "model", vectors=str(file))
    with pytest.raises(Interrupted):
        train(config, observer=StopAt(2))
    file.write_text("the 1 2 3\ndog 4 5 7\n")
    with pytest.raises(ModelError, match="have changed since"):
        train(config, resume=True)


@pytest.mark.parametrize("rows", ["the 0 0\ndog 0 0\n", "the 2\n"])
def test_vectors_that_do_not_differ(treebanks, tmp_path, rows):
    (tmp_path / "v.vec").write_text(rows)
    with pytest.raises(CorpusError, match="all numbers are the same"):
        train(small(treebanks, "", vectors=str(tmp_path / "v.vec")))


def test_held_out_part():
    numbers = list(range(100))
    rest, held = held_out(numbers, 0.1)
    assert len(held) == 10
    assert sorted(rest + held) == numbers
    assert held_out(numbers[:40], 0.1) == (numbers[:40], [])
    assert held_out(numbers, 0.0) == (numbers, [])
    assert len(held_out(list(range(20000)), 0.1)[1]) == 500


def test_without_dev_the_last_epoch_is_kept(treebanks, tmp_path):
    parser = train(small(treebanks, tmp_path / "model", "data.held_out=0", "train.epochs=2", dev=False))
    assert parser.metrics["best"]["epoch"] == 2
    assert "dev" not in parser.metrics["best"]


def test_patience(treebanks, tmp_path):
    output = tmp_path / "model"
    parser = train(small(treebanks, output, "train.epochs=40", "train.patience=2", "train.learning_rate=0"))
    assert parser.metrics["best"]["epoch"] == 1  # nothing can get better
    assert len((output / "metrics.jsonl").read_text().splitlines()) == 3


def test_dev_without_labels(treebanks, tmp_path):
    """LAS would be 0 in all epochs, and the first one the best."""
    columns = [line.split("\t") for line in treebank(40, seed=7).splitlines()]
    bare = ["\t".join([*row[:7], "_", *row[8:]]) if len(row) > 1 else row[0] for row in columns]
    (tmp_path / "dev.conllu").write_text("\n".join(bare) + "\n\n")
    warnings = []
    observer = Observer()
    observer.warn = warnings.append
    data = {"train": [str(treebanks / "train.conllu")], "dev": [str(tmp_path / "dev.conllu")]}
    parser = train(configure(assignments=[*SMALL, "train.epochs=12"], data=data), observer=observer)
    assert "dev has none of the labels that the trees have" in warnings[-1]
    best = parser.metrics["best"]
    assert best["epoch"] > 1
    assert best["dev"]["uas"] > 85
    assert best["dev"]["las"] == 0


def test_a_run_of_few_updates_keeps_what_it_learnt(treebanks):
    """The average of the weights, which is what is kept, is not taken at every step."""
    once = ("train.epochs=1", "train.batch_words=100000", "train.batch_sentences=100000", "train.epoch_batches=0")
    before = train(small(treebanks, "", *once, "train.learning_rate=0")).network.state_dict()
    after = train(small(treebanks, "", *once, "train.warmup=0")).network.state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_labels_that_only_dev_has(treebanks, tmp_path):
    (tmp_path / "dev.conllu").write_text(treebank(20, seed=7).replace("advmod", "obl:tmod"))
    warnings = []
    observer = Observer()
    observer.warn = warnings.append
    data = {"train": [str(treebanks / "train.conllu")], "dev": [str(tmp_path / "dev.conllu")]}
    train(configure(assignments=[*SMALL, "train.epochs=1"], data=data), observer=observer)
    (warning,) = warnings
    assert warning.startswith(f"{tmp_path / 'dev.conllu'}:")
    assert "'obl:tmod'" in warning
    assert "sent_id 7-" in warning
