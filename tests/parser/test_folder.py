"""Model folders: what is in them, that they come back, and what is said about damaged ones."""

import json
import os
import resource
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

import softparse
from softparse.configuration import build
from softparse.corpus.sentence import Sentence
from softparse.corpus.vocabulary import Vocabulary
from softparse.parser import ModelError, Parser, ParserConfig, folder

WORDS = ["the", "dog", "sees", "a", "big", "cat", "."]


@pytest.fixture
def copy(model, tmp_path):
    return shutil.copytree(model, tmp_path / "copy")


def test_what_is_in_it(model):
    names = {path.name for path in model.iterdir()}
    assert names == {"README.md", "config.json", "metrics.json", "metrics.jsonl", "model.safetensors", "vocab.json"}
    card = (model / "README.md").read_text()
    assert "| UAS | LAS |" in card
    assert "150" in card


def test_there_and_back(model, tmp_path):
    parser = softparse.load(model)
    parser.save(tmp_path / "again")
    again = softparse.load(tmp_path / "again")
    assert again.parse([WORDS], confidence=True) == parser.parse([WORDS], confidence=True)
    parser.save(tmp_path / "again")  # over a model that is there
    assert {path.name for path in tmp_path.iterdir()} == {"again"}


def test_saving_is_all_or_nothing(model, copy, monkeypatch):
    parser = softparse.load(copy)

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "_weights", full)
    with pytest.raises(OSError, match="No space left"):
        parser.save(copy)
    with pytest.raises(OSError, match="No space left"):
        folder.update(parser, copy)
    monkeypatch.undo()
    assert softparse.load(copy).parse([WORDS])[0].heads == [2, 3, 0, 6, 6, 3, 3]
    assert {path.name for path in copy.parent.iterdir()} == {"copy"}


def test_exchange_without_system_support(model, copy, monkeypatch):
    parser = softparse.load(copy)
    monkeypatch.setattr(folder.ctypes, "CDLL", lambda *arguments, **options: object())
    parser.save(copy)
    assert softparse.load(copy).parse([WORDS])[0].heads == [2, 3, 0, 6, 6, 3, 3]
    assert {path.name for path in copy.parent.iterdir()} == {"copy"}


def change_config(path, **values):
    file = path / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


def test_newer_format(copy):
    change_config(copy, format=99, softparse="9.9")
    with pytest.raises(ModelError, match=r"format 99, written by softparse 9\.9; .* Update softparse"):
        softparse.load(copy)


def test_no_model(tmp_path, copy):
    with pytest.raises(ModelError, match="there is no such model folder"):
        softparse.load(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="is a file, not a model folder"):
        softparse.load(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"config\.json is missing"):
        softparse.load(tmp_path / "empty")
    change_config(copy, format="one")
    with pytest.raises(ModelError, match="has no format number"):
        softparse.load(copy)


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "model.safetensors", "metrics.json"])
def test_truncated_and_missing_files(copy, name):
    content = (copy / name).read_bytes()
    for size in (0, 5, len(content) // 2, len(content) - 1):
        (copy / name).write_bytes(content[:size])
        with pytest.raises(ModelError, match=name.replace(".", r"\.")):
            softparse.load(copy)
    os.remove(copy / name)
    with pytest.raises(ModelError, match=f"{name} is missing"):
        softparse.load(copy)


def test_tensors_are_checked(copy):
    file = copy / "model.safetensors"
    tensors = load_file(file)
    name = "encoder.forwards.0.weight_hh_l0"
    save_file({key: value for key, value in tensors.items() if key != name}, file)
    with pytest.raises(ModelError, match=f"tensor {name} is missing"):
        softparse.load(copy)
    save_file({**tensors, name: tensors[name][:-1].clone()}, file)
    with pytest.raises(ModelError, match=rf"tensor {name} is torch\.float32 \[127, 32\], but .* asks for"):
        softparse.load(copy)
    save_file({**tensors, "extra": torch.zeros(1)}, file)
    with pytest.raises(ModelError, match="tensor extra has no place"):
        softparse.load(copy)
    save_file({**tensors, name: tensors[name].double()}, file)
    with pytest.raises(ModelError, match="float64"):
        softparse.load(copy)
    save_file({**tensors, name: tensors[name] / 0.0}, file)
    with pytest.raises(ModelError, match=f"tensor {name} has numbers that are none"):
        softparse.load(copy)


def test_unknown_settings(copy):
    config = json.loads((copy / "config.json").read_text())
    config["model"]["encoder"]["heads"] = 3
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"unknown setting 'model\.encoder\.heads'"):
        softparse.load(copy)


def test_wrong_vocabulary(copy):
    (copy / "vocab.json").write_text(json.dumps({"words": ["a", "a"], "counts": [1], "characters": [], "labels": []}))
    with pytest.raises(ModelError, match="not a vocabulary"):
        softparse.load(copy)


def test_the_tokenizer_goes_along(copy, tmp_path):
    (copy / "tokenizer.udpipe").write_bytes(b"\0 any content \xff")
    softparse.load(copy).save(tmp_path / "saved")
    assert (tmp_path / "saved" / "tokenizer.udpipe").read_bytes() == b"\0 any content \xff"
    softparse.load(copy).save(copy)
    assert (copy / "tokenizer.udpipe").read_bytes() == b"\0 any content \xff"


def test_nothing_but_a_model_is_replaced(model, tmp_path):
    parser = softparse.load(model)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.conllu").write_text("trees")
    (tmp_path / "file").write_text("text")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "config.json").write_text('{"port": 80, "model": "bert", "format": 1}')
    for name in ("mine", "file", "theirs"):
        with pytest.raises(ModelError, match="is not a model, so it is not replaced"):
            parser.save(tmp_path / name)
    assert (tmp_path / "mine" / "precious.conllu").read_text() == "trees"
    assert (tmp_path / "file").read_text() == "text"
    assert (tmp_path / "theirs" / "config.json").exists()
    (tmp_path / "empty").mkdir()
    parser.save(tmp_path / "empty")
    softparse.load(tmp_path / "empty")


def test_words_that_are_spelled_like_symbols(tmp_path):
    words = ["<root>", "<Unknown>", "<padding>", "<number>", "7"]
    sentence = Sentence.from_words(words)
    parser = Parser(ParserConfig(), Vocabulary.of([sentence], ["root", "dep"]))
    parser.save(tmp_path / "model")
    assert softparse.load(tmp_path / "model").parse([words]) == parser.parse([words])


def test_saving_on_a_full_disk(tmp_path):
    """Whatever the file is that does not fit, the error names the model, and nothing is left behind."""
    sentence = Sentence.from_words(["dog"])
    vectors = torch.ones(1, 100_000)
    config = build(ParserConfig, {"model": {"words": {"dimension": 1}}})
    parser = Parser(config, Vocabulary.of([sentence], ["root"]), ["dog"], vectors)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (10, 1000, 300_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            with pytest.raises(OSError, match=r"File too large: '.*/model'"):
                parser.save(tmp_path / "model")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", [{"layers": 3000}, {"hidden": 10**6}, {"hidden": 10**30}])
def test_a_network_that_is_larger_than_its_weights_is_not_made(copy, change):
    config = json.loads((copy / "config.json").read_text())
    config["model"]["encoder"] |= change
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="asks for a larger network than"):
        softparse.load(copy)


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "metrics.json"])
def test_files_that_are_hard_to_read(copy, name):
    for content in ("[" * 100_000, '{"format": ' + "1" * 5000 + "}"):
        (copy / name).write_text(content)
        with pytest.raises(ModelError, match=name):
            softparse.load(copy)


@pytest.mark.parametrize("words", [5, [{}, {}], {"a": 1}])
def test_words_of_vectors_that_are_none(copy, words):
    (copy / "vectors.json").write_text(json.dumps(words))
    save_file({"vectors": torch.zeros(2, 3)}, copy / "vectors.safetensors")
    with pytest.raises(ModelError, match=r"vectors.json: must be a list of words"):
        softparse.load(copy)


@pytest.mark.parametrize("vectors", [torch.full((2, 3), torch.nan), torch.ones(2, 3).double(), torch.ones(2, 3).long()])
def test_vectors_that_are_no_numbers_of_ours(copy, vectors):
    (copy / "vectors.json").write_text('["a", "b"]')
    save_file({"vectors": vectors}, copy / "vectors.safetensors")
    with pytest.raises(ModelError, match=r"vectors.safetensors: must be finite numbers of 32 bits"):
        softparse.load(copy)


def test_temperatures_beyond_all_reason(copy):
    metrics = json.loads((copy / "metrics.json").read_text())
    metrics["calibration"] = {"temperature": {"arcs": 1e-300}}
    (copy / "metrics.json").write_text(json.dumps(metrics))
    with pytest.raises(ModelError, match=r"must be a number from 0.001 to 1000, got '1e-300'"):
        softparse.load(copy)
