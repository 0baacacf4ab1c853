"""Scripts that train other parsers."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.cli.train import train as train_by_spacy
from spacy.tokens import DocBin

PEERS = Path(__file__).parents[2] / "experiments" / "peers"
SMALL = {
    "paths.vectors": None,
    "initialize.vectors": None,
    "components.tok2vec.model.embed.include_static_vectors": False,
    "components.tok2vec.model.encode.width": 32,
    "components.tok2vec.model.encode.depth": 1,
    "training.batcher.size.start": 40,  # so that epochs are short
    "training.batcher.size.stop": 120,
    "training.eval_frequency": 20,
    "training.max_steps": 100,
}


def loaded(name, monkeypatch):
    monkeypatch.syspath_prepend(str(PEERS))
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), PEERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_spacy_killed_and_taken_up_is_spacy_uninterrupted(treebanks, tmp_path, monkeypatch):
    peer, training = loaded("spacy-words", monkeypatch), loaded("_spacy_training", monkeypatch)
    settings = dict(SMALL)
    for part in ("train", "dev"):
        documents = peer.documents(treebanks / f"{part}.conllu", spacy.blank("xx"), with_trees=True)
        DocBin(docs=documents[:60]).to_disk(tmp_path / f"{part}.spacy")
        settings[f"paths.{part}"] = str(tmp_path / f"{part}.spacy")
    config = tmp_path / "config.cfg"
    command = ["init", "config", str(config), "--lang", "xx", "--pipeline", "parser", "--optimize", "accuracy"]
    subprocess.run([sys.executable, "-m", "spacy", *command], check=True, capture_output=True)
    train_by_spacy(config, tmp_path / "spacy", overrides=settings)
    expected = training._weights(spacy.load(tmp_path / "spacy" / "model-best"))

    save, place = training._save, tmp_path / "parts"
    place.mkdir()

    def save_and_die(*given):
        save(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "_save", save_and_die)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            training.train(config, settings, place)
    monkeypatch.setattr(training, "_save", save)
    found = training._weights(training.train(config, settings, place)[0])
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_array_equal(found[key], value)
