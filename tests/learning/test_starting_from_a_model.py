"""Training that starts from another model: what it takes over, and what cannot be asked of it."""

import shutil

import pytest

import softparse
from softparse.configuration import ConfigurationError
from softparse.corpus.problems import CorpusError
from softparse.learning.config import configure
from softparse.learning.loop import Interrupted
from softparse.learning.observer import Observer
from softparse.learning.training import train
from softparse.parser import ModelError
from tests.learning.runs import StopAt, small


def from_model(treebanks, model, *assignments, preset="default", file=None, **data):
    files = {"train": [str(treebanks / "dev.conllu")], "init": str(model)}
    return configure(preset, file, ["train.epochs=1", *assignments], data={**files, **data})


def test_the_network_is_that_of_the_model_whatever_the_preset(treebanks, model):
    start = softparse.load(model)
    config = from_model(treebanks, model, preset="kg")
    assert config.model == start.config.model
    assert config.decoding == start.config.decoding
    assert config.train.arc_loss == "hinge"
    parser = train(config)
    assert parser.config == start.config
    assert str(model) in parser.metrics["data"]["init"]


def test_another_network_cannot_be_asked_for(treebanks, model, tmp_path):
    config = from_model(treebanks, model, "model.encoder.hidden=64", "model.encoder.layers=1")
    with pytest.raises(ConfigurationError, match=r"other settings than those given \(model\.encoder\.hidden\)"):
        train(config)
    (tmp_path / "mine.toml").write_text("[model.scorer]\narc = 77\n")
    with pytest.raises(ConfigurationError, match=r"\(model\.scorer\.arc\)"):
        train(from_model(treebanks, model, file=tmp_path / "mine.toml"))


def test_another_way_of_decoding_can_be_asked_for(treebanks, model):
    parser = train(from_model(treebanks, model, "decoding.single_root=false"))
    assert not parser.config.decoding.single_root


def test_a_model_that_is_not_there(treebanks, tmp_path):
    with pytest.raises(ModelError, match="there is no such model folder"):
        from_model(treebanks, tmp_path / "none")


def test_vectors_of_another_dimension(treebanks, model, tmp_path):
    for dimension in (3, 5):
        (tmp_path / f"{dimension}.vec").write_text(f"the{' 0.5' * dimension}\ndog{' -1' * dimension}\n")
    with pytest.raises(CorpusError, match=r"3\.vec: vectors of 3 numbers, but .* without vectors; leave them out"):
        train(from_model(treebanks, model, vectors=str(tmp_path / "3.vec")))
    train(small(treebanks, tmp_path / "other", "train.epochs=1", vectors=str(tmp_path / "3.vec")))
    with pytest.raises(CorpusError, match=r"5\.vec: vectors of 5 numbers, but .* with vectors of 3 numbers"):
        train(from_model(treebanks, tmp_path / "other", vectors=str(tmp_path / "5.vec")))


@pytest.mark.parametrize("kept", ["root", ""])
def test_labels_of_the_model_can_be_predicted(treebanks, model, tmp_path, kept):
    """Those that the new trees do not have are no labels that training never sees."""
    lines = (line.split("\t") for line in (treebanks / "train.conllu").read_text().splitlines())
    few = [
        "\t".join([*row[:7], row[7] if row[7] == kept else "_", *row[8:]]) if len(row) > 1 else row[0] for row in lines
    ]
    (tmp_path / "few.conllu").write_text("\n".join(few) + "\n\n")
    warnings = []
    observer = Observer()
    observer.warn = warnings.append
    files = {"train": [str(tmp_path / "few.conllu")], "dev": [str(treebanks / "dev.conllu")]}
    parser = train(from_model(treebanks, model, **files), observer=observer)
    assert parser.vocabulary.labels == softparse.load(model).vocabulary.labels
    assert not warnings


def test_a_model_trained_on_in_its_place_is_resumed(treebanks, model, tmp_path):
    """When it is resumed, the model that it started from is its own of a few epochs ago."""
    (tmp_path / "new.conllu").write_text((treebanks / "dev.conllu").read_text().replace("dog", "wombat"))
    results = []
    for name in ("whole", "parts"):
        shutil.copytree(model, tmp_path / name)
        output, new = str(tmp_path / name), [str(tmp_path / "new.conllu")]
        config = from_model(treebanks, output, "train.epochs=3", train=new, output=output)
        if name == "parts":
            with pytest.raises(Interrupted):
                train(config, force=True, observer=StopAt(5))
        train(config, force=True, resume=name == "parts")
        results.append((tmp_path / name / "model.safetensors").read_bytes())
    assert results[0] == results[1]
