"""softparse calibrate, and what the other commands say afterwards."""

import json
import re
import shutil
import xml.etree.ElementTree as ElementTree

import pytest
from click.testing import CliRunner

import softparse
from softparse.cli import main
from tests import doubtful


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output + repr(result.exception)
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def place(model, tmp_path):
    """A model that knows the small language too well, without temperatures, and trees that it cannot know."""
    copy = shutil.copytree(model, tmp_path / "model")
    metrics = json.loads((copy / "metrics.json").read_text())
    del metrics["calibration"]
    (copy / "metrics.json").write_text(json.dumps(metrics))
    card = copy / "README.md"
    card.write_text(card.read_text().partition("## Probabilities")[0])  # as older releases wrote it
    (tmp_path / "dev.conllu").write_text(doubtful.treebank(40, seed=3))
    (tmp_path / "test.conllu").write_text(doubtful.treebank(30, seed=4))
    return tmp_path


def probabilities(place):
    output = run("parse", place / "model", place / "test.conllu", "--confidence").stdout
    return re.findall(r"ArcProbability=(\S+)|tree_probability = (\S+)", output), re.sub(
        r"ArcProbability=\S+|tree_probability = \S+", "", output
    )


def test_calibrate(place):
    numbers, trees = probabilities(place)
    assert "Not calibrated" in run("info", place / "model").stdout
    files = {path.name: path.read_bytes() for path in (place / "model").iterdir()}
    result = run("calibrate", place / "model", place / "dev.conllu", "--svg", place / "reliability.svg")
    assert "expected calibration error of labelled arcs, %" in result.stdout
    assert result.stdout.count("90–100") == 3
    assert result.stderr == f"the temperatures are in {place / 'model'}\n"
    changed = {path.name for path in (place / "model").iterdir() if files.get(path.name) != path.read_bytes()}
    assert changed == {"metrics.json", "README.md"}
    parser = softparse.load(place / "model")
    assert parser.temperatures.arcs > 1
    card = run("info", place / "model").stdout
    assert f"Calibrated on {place / 'dev.conllu'}: scores of arcs are divided by {parser.temperatures.arcs:.3f}" in card
    assert "Not calibrated" not in card
    others, same = probabilities(place)
    assert same == trees
    assert others != numbers
    picture = ElementTree.parse(place / "reliability.svg").getroot()
    assert sum(element.get("class") == "plot" for element in picture.iter()) == 6


def test_json_and_other_trees_without_saving(place):
    files = {path.name: path.read_bytes() for path in (place / "model").iterdir()}
    result = run(
        "calibrate", place / "model", place / "dev.conllu", "--test", place / "test.conllu", "--json", "--no-save"
    )
    found = json.loads(result.stdout)
    assert found["temperature"]["arcs"] > 1
    assert found["fitted_on"] == {
        "trees": str(place / "dev.conllu"),
        "sentences": 40,
        "words": found["fitted_on"]["words"],
    }
    assert found["measured_on"]["trees"] == str(place / "test.conllu")
    for kind in ("arcs", "labelled_arcs", "trees"):
        for when in ("before", "after"):
            part = found["reliability"][kind][when]
            bins = part["bins"]
            assert part["number"] == sum(bin["number"] for bin in bins)
            gap = sum(bin["number"] * abs(bin["predicted"] - bin["right"]) for bin in bins) / part["number"]
            assert part["expected_calibration_error"] == pytest.approx(gap)
            assert found["expected_calibration_error"][kind][when] == pytest.approx(gap)
    assert found["reliability"]["trees"]["after"]["number"] == 30
    assert {path.name: path.read_bytes() for path in (place / "model").iterdir()} == files
    assert result.stderr == f"{place / 'model'} is as it was\n"


def test_trees_that_tell_nothing_change_nothing(place, treebanks):
    files = {path.name: path.read_bytes() for path in (place / "model").iterdir()}
    result = run("calibrate", place / "model", treebanks / "dev.conllu")
    assert "note: the trees do not determine a temperature of arcs" in result.stdout
    assert {path.name: path.read_bytes() for path in (place / "model").iterdir()} == files


def test_bad_input(place):
    (place / "bad.conllu").write_text("1\ta\t_\t_\t_\t_\t5\tx\t_\t_\n\n")
    (place / "bare.conllu").write_text("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    assert "HEAD 5" in run("calibrate", place / "model", place / "bad.conllu", code=1).stderr
    assert "no tree, HEAD is _ everywhere" in run("calibrate", place / "model", place / "bare.conllu", code=1).stderr
    assert "no such model folder" in run("calibrate", place / "none", place / "dev.conllu", code=1).stderr
    assert "No such file" in run("calibrate", place / "model", place / "none.conllu", code=1).stderr


def test_training_says_it(place, treebanks):
    options = ["--set", "train.epochs=2", "--set", "model.encoder.hidden=16", "--set", "model.encoder.layers=1"]
    (place / "train.conllu").write_text(doubtful.treebank(60, seed=5))
    given = ["train", "--train", place / "train.conllu", *options]
    said = run(*given, "--dev", place / "dev.conllu", "-o", place / "one").stderr
    assert re.search(r"probabilities calibrated on dev: temperature \d\.\d\d, error of arcs .* % → .* %\n", said)
    said = run(*given, "--set", "data.held_out=0", "-o", place / "two").stderr
    assert (
        "probabilities are not calibrated: there are no dev trees; see softparse calibrate, with trees that were not"
        in said
    )
    assert "Not calibrated" in run("info", place / "two").stdout
