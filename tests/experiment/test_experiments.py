"""Grids of runs on a small language: settings, rows, results that are not made twice, and tables."""

import hashlib
import json

import pytest
from click.testing import CliRunner

from softparse.cli import main
from softparse.configuration import ConfigurationError
from softparse.corpus.conllu import read
from softparse.experiment.rows import read_row, rows_in, tasks_of
from softparse.experiment.settings import prepare, read_setting
from softparse.experiment.tables import table
from tests.conftest import SMALL
from tests.grammar import treebank

TINY = [*SMALL, "train.epochs=2", "generative.tied=false", "train.threads=1"]


@pytest.fixture
def place(tmp_path):
    """A folder of data, a setting for it, and rows."""
    (tmp_path / "data").mkdir()
    for name, number, seed in (("train", 120, 1), ("dev", 15, 2), ("test", 15, 3)):
        (tmp_path / "data" / f"{name}.conllu").write_text(treebank(number, seed))
    sums = "".join(f'"{p.name}" = "{hashlib.sha256(p.read_bytes()).hexdigest()}"\n'
                   for p in sorted((tmp_path / "data").iterdir()))  # fmt: skip
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "small.toml").write_text(
        'title = "Small"\nsource = "made here"\nscheme = "modulo"\ntrain = ["train.conllu"]\ndev = ["dev.conllu"]\n'
        f'test = ["test.conllu"]\n[checksums]\n{sums}'
    )
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "1-plain.toml").write_text(
        f'title = "plain"\nsettings = ["small"]\nset = {json.dumps(TINY)}\nseeds = 2\n'
    )
    (tmp_path / "table" / "2-raw.toml").write_text(
        f'title = "with raw text"\nsettings = ["small"]\nraw = true\nset = {json.dumps(TINY)}\nscore = ["dev"]\n'
    )
    return tmp_path


def command(place, *arguments):
    folders = ["--data", "data", "--work", "work", "--results", "results"]
    return [*arguments, *(str(place / part) if part in ("data", "work", "results") else part for part in folders)]


def test_a_grid(place):
    runner = CliRunner()
    arguments = command(place, "experiment", "run", str(place / "table"), "--jobs", "2")
    outcome = runner.invoke(main, arguments)
    assert outcome.exit_code == 0, outcome.output
    assert "3 runs, 0 of them done already" in outcome.stderr
    assert outcome.stderr.count("minutes left") == 3
    paths = sorted((place / "results").rglob("*.json"))
    assert [path.relative_to(place / "results").as_posix() for path in paths] == [
        "table/1-plain/small-1.json", "table/1-plain/small-2.json", "table/2-raw/small-1.json",
    ]  # fmt: skip
    result = json.loads(paths[0].read_text())
    assert result["config"]["train"]["epochs"] == 2
    assert str(place) not in paths[0].read_text()
    assert set(result["data"]) == {"train.conllu", "dev.conllu", "test.conllu"}
    assert sum(result["scores"]["test"]["by_sentence"]["words"]) == result["scores"]["test"]["words"]
    assert len(result["history"]) == 2
    assert "test" not in json.loads(paths[2].read_text())["scores"]  # the row asks for dev alone
    assert json.loads(paths[2].read_text())["autoencoder"]["perplexity"]["gold"] > 1
    before = [path.stat().st_mtime_ns for path in paths]
    again = runner.invoke(main, arguments)
    assert "3 of them done already" in again.stderr
    assert [path.stat().st_mtime_ns for path in paths] == before
    shown = runner.invoke(main, ["experiment", "table", str(place / "results" / "table"), "--part", "dev"]).output
    assert "| plain | " in shown
    assert "(2) |" in shown
    assert "| with raw text | " in shown


def test_a_run_that_fails_is_told_and_the_others_go_on(place):
    (place / "table" / "0-wrong.toml").write_text('settings = ["small"]\nset = ["train.epoch=2"]\n')
    (place / "table" / "2-raw.toml").unlink()
    arguments = command(place, "experiment", "run", str(place / "table"), "--seeds", "1")
    outcome = CliRunner().invoke(main, arguments)
    assert outcome.exit_code == 1
    assert "table/0-wrong/small-1: failed (error: unknown setting 'train.epoch'" in outcome.stderr
    assert (place / "results" / "table" / "1-plain" / "small-1.json").exists()


def test_settings_make_their_files_once(place):
    setting = place / "settings" / "small.toml"
    files = prepare(setting, place / "data", place / "work")
    assert [sum(1 for _ in read(path)) for path in (files.labeled, files.dev, files.test, *files.raw)] == [
        12,
        15,
        15,
        108,
    ]
    before = files.labeled.stat().st_mtime_ns
    assert prepare(setting, place / "data", place / "work").labeled.stat().st_mtime_ns == before


def test_other_data_is_refused(place):
    setting = place / "settings" / "small.toml"
    (place / "data" / "dev.conllu").write_text(treebank(15, 9))
    with pytest.raises(ConfigurationError, match="is another version than the experiment's"):
        prepare(setting, place / "data", place / "work")
    with pytest.raises(ConfigurationError, match=r"needs made here; name its folder with --data"):
        prepare(setting, place / "nowhere", place / "work")


def test_rows(place):
    tasks = tasks_of(rows_in([place / "table"]))
    assert [task.name for task in tasks] == ["table/1-plain/small-1", "table/2-raw/small-1", "table/1-plain/small-2"]
    (place / "bad.toml").write_text('settings = ["small"]\nseeds = "many"\n')
    with pytest.raises(ConfigurationError, match="seeds must be a number"):
        read_row(place / "bad.toml")
    (place / "bad.toml").write_text('presets = "default"\n')
    with pytest.raises(ConfigurationError, match="did you mean"):
        read_row(place / "bad.toml")


def test_tables():
    def result(row, setting, seed, las):
        scores = {"test": {"uas": las + 5, "las": las}}
        return {"row": row, "title": row.upper(), "setting": setting, "seed": seed, "scores": scores}

    results = [
        result("a", "x", 1, 70.0),
        result("a", "x", 2, 72.0),
        result("b", "x", 1, 80.0),
        result("b", "y", 1, 60.0),
    ]
    assert table(results).splitlines() == [
        "| UAS / LAS on test | x | y |",
        "|---|---|---|",
        "| A | 76.00 / 71.00 ± 1.41 / 1.41 (2) |  |",
        "| B | 85.00 / 80.00 (1) | 65.00 / 60.00 (1) |",
    ]


def test_the_projects_own_settings_and_rows_can_be_read():
    from pathlib import Path

    root = Path(__file__).parent.parent.parent / "experiments"
    known = {path.stem for path in (root / "settings").glob("*.toml")}
    for path in (root / "settings").glob("*.toml"):
        setting, checksums = read_setting(path)
        assert set(checksums) == {*setting.train, *setting.dev, *setting.test, *setting.raw}
    for path in root.glob("*/*.toml"):
        if path.parent.name != "settings":
            assert set(read_row(path)[0].settings) <= known
