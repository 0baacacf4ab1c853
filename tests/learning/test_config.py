"""Settings: where they come from, and what is said about wrong ones."""

import pytest

from softparse.configuration import ConfigurationError, build, merged, overrides
from softparse.learning.config import Config, configure, presets


def test_every_preset_can_be_built():
    for name in presets():
        assert isinstance(configure(name), Config)


def test_later_ones_win(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text("[train]\nepochs = 7\nseed = 5\n[model.encoder]\nhidden = 9\n")
    config = configure("kg", file, ["train.seed=6"], train={"clip": 1.0})
    assert (config.train.epochs, config.train.seed, config.train.clip) == (7, 6, 1.0)
    assert (config.model.encoder.hidden, config.train.arc_loss) == (9, "hinge")


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("train.epoch=3", r"unknown setting 'train\.epoch'; did you mean train\.epochs"),
        ("epochs=3", r"unknown setting 'epochs'; did you mean train\.epochs"),
        ("train.epochs=many", r"train\.epochs must be a whole number, got 'many'"),
        ("train.epochs=0", r"train\.epochs must be at least 1, got 0"),
        ("model.words.dropout=1", r"model\.words\.dropout must be below 1\.0, got 1"),
        ("train.arc_loss=cfr", r"train\.arc_loss must be one of crf, heads, hinge, got 'cfr'"),
        ("decoding.single_root=1", r"decoding\.single_root must be true or false, got 1"),
        ("train=3", r"train is a group of settings"),
        ("train.epochs", r"is not of the form key=value"),
        ("train.learning_rate=nan", r"train\.learning_rate must be at least 0"),
    ],
)
def test_wrong_settings(assignment, message):
    with pytest.raises(ConfigurationError, match=message):
        configure(assignments=[assignment])


def test_wrong_files(tmp_path):
    (tmp_path / "bad.toml").write_text("epochs = = 3")
    with pytest.raises(ConfigurationError, match=r"bad\.toml: not a TOML file"):
        configure(file=tmp_path / "bad.toml")
    with pytest.raises(ConfigurationError, match=r"none\.toml: No such file"):
        configure(file=tmp_path / "none.toml")
    with pytest.raises(ConfigurationError, match="there is no preset 'papr'"):
        configure("papr")


def test_tables():
    assert merged({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}) == {"a": {"b": 3, "c": 2}}
    assert overrides(["a.b=1.5", "a.c=x y", 'd="7"', "e=[1, 2]"]) == {
        "a": {"b": 1.5, "c": "x y"}, "d": "7", "e": [1, 2],
    }  # fmt: skip
    with pytest.raises(ConfigurationError, match="has been given a value before"):
        overrides(["a=1", "a.b=2"])
    assert build(Config, {"data": {"train": "one.conllu"}}).data.train == ["one.conllu"]
