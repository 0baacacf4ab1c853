"""Grids of runs on a small language: settings, rows, results that are not made twice, and tables."""

import gzip
import hashlib
import json
import platform
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from click.testing import CliRunner

from softparse.cli import main
from softparse.configuration import ConfigurationError
from softparse.corpus.conllu import read
from softparse.corpus.locks import locked
from softparse.corpus.splits import spread
from softparse.drawing.chart import COLOURS
from softparse.experiment.agreement import wanted
from softparse.experiment.changes import are_about_roots, changes, changes_table, notable, roots_table
from softparse.experiment.comparisons import versus
from softparse.experiment.curves import curves_table
from softparse.experiment.findings import Findings, is_curve, parts_of
from softparse.experiment.machine import processor
from softparse.experiment.report import Report
from softparse.experiment.results import read_results
from softparse.experiment.rows import Row, read_row, rows_in, tasks_of
from softparse.experiment.run import vectors
from softparse.experiment.settings import prepare, read_setting
from softparse.experiment.tables import Cell, table
from softparse.experiment.times import times_table, total_time
from softparse.learning.config import configure
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
        f'title = "with raw text"\nsettings = ["small"]\nraw = true\nset = {json.dumps(TINY)}\nagainst = ["1-plain"]\n'
    )
    (tmp_path / "table" / "3-some.toml").write_text(
        f'title = "few trees"\nsettings = ["small"]\ntrees = 6\nset = {json.dumps(TINY)}\nscore = ["dev"]\n'
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
    assert "4 runs, 0 of them done already" in outcome.stderr
    assert outcome.stderr.count("minutes left") == 4
    paths = sorted((place / "results").rglob("*.json"))
    assert [path.relative_to(place / "results").as_posix() for path in paths] == [
        "table/1-plain/small-1.json", "table/1-plain/small-2.json", "table/2-raw/small-1.json",
        "table/3-some/small-1.json",
    ]  # fmt: skip
    result = json.loads(paths[0].read_text())
    assert result["config"]["train"]["epochs"] == 2
    assert str(place) not in paths[0].read_text()
    assert set(result["data"]) == {"train.conllu", "dev.conllu", "test.conllu"}
    assert sum(result["scores"]["test"]["by_sentence"]["words"]) == result["scores"]["test"]["words"]
    assert len(result["history"]) == 2
    assert result["sizes"]["labeled"][0] == 12
    assert json.loads(paths[3].read_text())["best"] is not None
    assert "test" not in json.loads(paths[3].read_text())["scores"]  # the row asks for dev alone
    assert json.loads(paths[2].read_text())["autoencoder"]["perplexity"]["gold"] > 1
    before = [path.stat().st_mtime_ns for path in paths]
    again = runner.invoke(main, arguments)
    assert "4 of them done already" in again.stderr
    assert [path.stat().st_mtime_ns for path in paths] == before
    shown = runner.invoke(main, ["experiment", "table", str(place / "results" / "table"), "--part", "dev"]).output
    assert "| plain | " in shown
    assert "(2) |" in shown
    assert "| with raw text | " in shown
    shutil.rmtree(place / "work")  # results and data are enough
    page, tables = place / "report.html", place / "results.md"
    making = command(place, "experiment", "report", "-o", str(page), "--markdown", str(tables),
                     "--settings", str(place / "settings"))  # fmt: skip
    outcome = runner.invoke(main, making)
    assert outcome.exit_code == 0, outcome.output
    assert "no examples" not in outcome.stderr
    text = page.read_text()
    assert "small: with raw text against plain" in text
    assert "What it mended" in text
    assert text.count("<svg") >= 4  # gains, distances, labels, training
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")  # it needs nothing from elsewhere
    assert "| with raw text | plain | small | 1 and 2 |" in tables.read_text()
    assert "| small | 12 / " in tables.read_text()
    setting, dev = place / "settings" / "small.toml", place / "data" / "dev.conllu"
    setting.write_text(setting.read_text().partition("[checksums]")[0])
    for content, reason in ((treebank(20, 9), "results are of other files than those at hand (dev.conllu)"),
                            (None, "dev.conllu: No such file")):  # fmt: skip
        dev.unlink()
        if content is not None:
            dev.write_text(content)
        outcome = runner.invoke(main, making)
        assert outcome.exit_code == 0, outcome.output
        assert "no examples: " in outcome.stderr
        assert reason in outcome.stderr
        assert "What it mended" not in page.read_text()


def test_what_another_row_has_trained_is_not_trained_again(place):
    rows = place / "table"
    for name, more in (("1-plain", ""), ("2-raw", 'title = "again"\nscore = ["dev"]\n'), ("3-some", "trees = 6\n")):
        (rows / f"{name}.toml").write_text(f'settings = ["small"]\nset = {json.dumps(TINY)}\n{more}')
    damaged = place / "results" / "table" / "0-other" / "small-1.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("garbage{")
    outcome = CliRunner().invoke(main, command(place, "experiment", "run", str(rows)))
    assert outcome.exit_code == 0, outcome.output
    damaged.unlink()
    first, again, other = (json.loads(path.read_text()) for path in sorted((place / "results").rglob("*.json")))
    assert again["same_as"] == "table/1-plain"
    assert (again["row"], again["title"]) == ("2-raw", "again")
    assert again["scores"] == {"dev": first["scores"]["dev"]}
    assert again["parses"] == []
    assert not (place / "work" / "runs" / "table" / "2-raw" / "small-1" / "model").exists()
    assert "same_as" not in first | other


def test_a_run_that_fails_is_told_and_the_others_go_on(place):
    (place / "table" / "0-wrong.toml").write_text('settings = ["small"]\nset = ["train.epoch=2"]\n')
    (place / "table" / "2-raw.toml").unlink()
    (place / "table" / "3-some.toml").unlink()
    arguments = command(place, "experiment", "run", str(place / "table"), "--seeds", "1")
    outcome = CliRunner().invoke(main, arguments)
    assert outcome.exit_code == 1
    assert "table/0-wrong/small-1: failed (error: unknown setting 'train.epoch'" in outcome.stderr
    assert (place / "results" / "table" / "1-plain" / "small-1.json").exists()


def test_a_grid_that_is_killed_ends_its_runs(place):
    """They save their state, and go on with the next grid."""
    (place / "table" / "1-plain.toml").write_text(
        f'settings = ["small"]\nset = {json.dumps([*TINY, "train.epochs=100000"])}\n'
    )
    arguments = command(place, "experiment", "run", str(place / "table" / "1-plain.toml"))
    grid = subprocess.Popen([sys.executable, "-m", "softparse", *arguments], stderr=subprocess.PIPE, text=True)
    state = place / "work" / "runs" / "table" / "1-plain" / "small-1" / "model.resume" / "state.pt"
    try:
        for _ in range(600):
            if state.exists():
                break
            time.sleep(0.1)
        (run,) = psutil.Process(grid.pid).children()
    finally:
        grid.terminate()
    assert "stopped" in grid.communicate(timeout=60)[1]
    assert not run.is_running()
    log = (place / "work" / "runs" / "table" / "1-plain" / "small-1.log").read_text()
    assert "the same command goes on with it" in log
    assert "Traceback" not in log
    assert state.exists()


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


@pytest.mark.parametrize("change", ["data", "scheme"])
def test_settings_that_have_changed_make_their_files_anew(place, change):
    setting = place / "settings" / "small.toml"
    assert sum(1 for _ in read(prepare(setting, place / "data", place / "work").labeled)) == 12
    if change == "data":
        (place / "data" / "train.conllu").write_text(treebank(50, 1))
        setting.write_text(setting.read_text().partition("[checksums]")[0])
    else:
        setting.write_text(setting.read_text().replace('"modulo"', '"given"'))
    files = prepare(setting, place / "data", place / "work")
    assert sum(1 for _ in read(files.labeled)) == (5 if change == "data" else 120)
    assert files.checksums["train.conllu"] == hashlib.sha256((place / "data" / "train.conllu").read_bytes()).hexdigest()


def test_a_setting_without_test(place):
    """Rows that are scored on dev alone can do without it; others are refused before they train."""
    setting = place / "settings" / "small.toml"
    setting.write_text(setting.read_text().replace('test = ["test.conllu"]\n', ""))
    arguments = command(place, "experiment", "run", str(place / "table" / "3-some.toml"))
    assert CliRunner().invoke(main, arguments).exit_code == 0
    found = json.loads((place / "results" / "table" / "3-some" / "small-1.json").read_text())
    assert set(found["sizes"]) == {"labeled", "dev", "raw"}
    outcome = CliRunner().invoke(main, command(place, "experiment", "run", str(place / "table" / "1-plain.toml")))
    assert "small.toml: names no files under test, which 1-plain.toml needs" in outcome.stderr
    assert not (place / "work" / "runs" / "table" / "1-plain" / "small-1" / "model").exists()


def test_a_model_of_other_vectors_is_not_taken_for_this_ones(place):
    """Vectors that are trained differ with what trains them."""
    row = place / "table" / "4-vectors.toml"
    row.write_text((place / "table" / "3-some.toml").read_text() + "vectors = true\n")
    prepare(place / "settings" / "small.toml", place / "data", place / "work" / "settings" / "small")
    path = place / "results" / "table" / "4-vectors" / "small-1.json"
    found = []
    for numbers in ("1 2", "2 -1"):
        vectors = f"the {numbers}\ndog 3 0\n"
        with gzip.open(place / "work" / "settings" / "small" / "words.vec.gz", "wt") as file:
            file.write(vectors)
        assert CliRunner().invoke(main, command(place, "experiment", "run", str(row))).exit_code == 0
        found.append(json.loads(path.read_text()))
        assert found[-1]["data"]["vectors"] == hashlib.sha256(vectors.encode()).hexdigest()
        path.unlink()
    first, second = (result["history"][0]["losses"] for result in found)
    assert first != second


def test_vectors_are_trained_again_on_other_raw_text(place, monkeypatch):
    """The trees stay as they are, and so does their folder, in which the vectors are."""
    setting, raw = place / "settings" / "small.toml", place / "data" / "raw.txt"
    setting.write_text(setting.read_text().replace('"Small"', '"Small"\nraw = ["raw.txt"]\nvectors = "train"'))
    monkeypatch.setattr(
        "softparse.experiment.run._make_vectors", lambda _, files, target: target.write_text(files.raw[-1].read_text())
    )
    target = place / "work" / "settings" / "small" / "words.vec.gz"
    for text in ("a dog sees the cat .\n", "the cat sees a dog .\n"):
        raw.write_text(text)
        made = []
        for _ in range(2):
            files = prepare(setting, place / "data", target.parent)
            assert vectors(setting, files, target).read_text() == text
            made.append(target.stat().st_mtime_ns)
        assert made[0] == made[1]


def test_a_setting_without_raw_text(place):
    setting = place / "settings" / "small.toml"
    setting.write_text(setting.read_text().replace('"modulo"', '"given"'))
    outcome = CliRunner().invoke(main, command(place, "experiment", "run", str(place / "table" / "2-raw.toml")))
    assert outcome.exit_code == 1
    assert "small.toml: names no raw text, which this row needs" in outcome.stderr
    assert not (place / "results").exists()


def test_from_within_the_folder_of_a_table(place, monkeypatch):
    monkeypatch.chdir(place / "table")
    for given in (".", "../table", "3-some.toml"):
        assert "table/3-some/small-1" in [task.name for task in tasks_of(rows_in([given]))]
    outcome = CliRunner().invoke(main, command(place, "experiment", "one", "3-some.toml", "small", "1"))
    assert outcome.exit_code == 0
    assert (place / "results" / "table" / "3-some" / "small-1.json").exists()


def test_a_model_of_other_data_is_not_taken_for_this_ones(place):
    """The setting has got a new release of its data, and the old result is gone; the work folder is still there."""
    arguments = command(place, "experiment", "run", str(place / "table" / "3-some.toml"))
    assert CliRunner().invoke(main, arguments).exit_code == 0
    path = place / "results" / "table" / "3-some" / "small-1.json"
    first = json.loads(path.read_text())
    path.unlink()
    train, setting = place / "data" / "train.conllu", place / "settings" / "small.toml"
    before = hashlib.sha256(train.read_bytes()).hexdigest()
    train.write_text(treebank(120, 77))
    setting.write_text(setting.read_text().replace(before, hashlib.sha256(train.read_bytes()).hexdigest()))
    assert CliRunner().invoke(main, arguments).exit_code == 0
    again = json.loads(path.read_text())
    assert again["data"] != first["data"]
    assert [entry["losses"] for entry in again["history"]] != [entry["losses"] for entry in first["history"]]


@pytest.mark.parametrize("change", ["trees", "settings"])
def test_a_model_that_was_made_otherwise_is_not_taken_for_this_ones(place, change):
    row = place / "table" / "3-some.toml"
    arguments = command(place, "experiment", "run", str(row))
    assert CliRunner().invoke(main, arguments).exit_code == 0
    path = place / "results" / "table" / "3-some" / "small-1.json"
    first = json.loads(path.read_text())
    old, new = ("trees = 6", "trees = 9") if change == "trees" else ("train.epochs=2", "train.epochs=3")
    row.write_text(row.read_text().replace(old, new))
    told = CliRunner().invoke(main, arguments).stderr
    assert f"({'options.trees' if change == 'trees' else 'config.train.epochs'}); --renew makes it again" in told
    assert json.loads(path.read_text()) == first
    assert CliRunner().invoke(main, [*arguments, "--renew"]).exit_code == 0
    again = json.loads(path.read_text())
    assert [entry["losses"] for entry in again["history"]] != [entry["losses"] for entry in first["history"]]
    assert len(again["history"]) == (2 if change == "trees" else 3)


def test_results_of_other_data_and_without_a_score_are_told(place):
    row = place / "table" / "3-some.toml"
    arguments = command(place, "experiment", "run", str(row))
    assert CliRunner().invoke(main, arguments).exit_code == 0
    row.write_text(row.read_text().replace('["dev"]', '["dev", "test"]'))
    setting = place / "settings" / "small.toml"
    setting.write_text(setting.read_text().replace('"train.conllu" = "', '"train.conllu" = "00'))
    assert "(checksums.train.conllu, score of test); --renew" in CliRunner().invoke(main, arguments).stderr
    setting.write_text(setting.read_text().replace('test = ["test.conllu"]', 'test = ["other.conllu"]'))
    told = CliRunner().invoke(main, arguments).stderr
    assert "(checksums.train.conllu, other.conllu, test.conllu, score of test); --renew" in told


def test_results_of_other_raw_text_are_told(place):
    """Two runs of a row, the second one with another file of raw text, and no checksum for either."""
    setting, row = place / "settings" / "small.toml", place / "table" / "2-raw.toml"
    row.write_text(row.read_text().replace("against", "seeds = 2\nagainst"))
    for number, name in enumerate(("raw.txt", "mine.txt"), 1):
        (place / "data" / name).write_text("a dog sees the cat .\n" * 5)
        lines = setting.read_text().replace('raw = ["raw.txt"]\n', "")
        setting.write_text(lines.replace('title = "Small"', f'title = "Small"\nraw = ["{name}"]'.strip()))
        arguments = command(place, "experiment", "run", str(row), "--seeds", str(number))
        outcome = CliRunner().invoke(main, arguments)
        assert outcome.exit_code == 0, outcome.output
    assert "2-raw/small-1: its result was made otherwise than the row says now (mine.txt, raw.txt)" in outcome.stderr
    shown = CliRunner().invoke(main, ["experiment", "table", str(place / "results" / "table")])
    assert "2-raw, small: other files than in other rows (mine.txt, raw.txt)" in shown.stderr


def test_trees_alone_do_not_need_raw_text(place):
    setting = place / "settings" / "small.toml"
    setting.write_text(setting.read_text().replace('title = "Small"', 'title = "Small"\nraw = ["raw.txt"]'))
    outcome = CliRunner().invoke(main, command(place, "experiment", "run", str(place / "table"), "--seeds", "1"))
    assert "raw.txt: No such file or directory; this experiment needs made here" in outcome.stderr
    assert [path.parent.name for path in sorted((place / "results").rglob("*.json"))] == ["1-plain", "3-some"]
    made = (place / "work" / "settings" / "small" / "labeled.conllu").stat().st_ino
    (place / "data" / "raw.txt").write_text("a dog sees the cat .\n" * 5)
    outcome = CliRunner().invoke(main, command(place, "experiment", "run", str(place / "table"), "--seeds", "1"))
    assert outcome.exit_code == 0, outcome.output
    assert "otherwise" not in outcome.stderr
    assert (place / "work" / "settings" / "small" / "labeled.conllu").stat().st_ino == made
    shown = CliRunner().invoke(main, ["experiment", "table", str(place / "results" / "table")])
    assert "warning" not in shown.stderr


def test_a_run_that_another_process_is_at(place):
    row = place / "table" / "3-some.toml"
    with locked(place / "work" / "runs" / "table" / "3-some" / "small-1.lock"):
        outcome = CliRunner().invoke(main, command(place, "experiment", "run", str(row)))
    assert outcome.exit_code == 1
    assert "table/3-some/small-1: another process is at it" in outcome.stderr
    assert "failed" not in outcome.stderr
    assert CliRunner().invoke(main, command(place, "experiment", "run", str(row))).exit_code == 0


def test_a_setting_is_made_once_by_those_who_begin_together(place):
    arguments = place / "settings" / "small.toml", place / "data", place / "work" / "small"

    def made(_):
        return prepare(*arguments).labeled.stat().st_ino

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(made, range(4)))) == 1
    (place / "work" / "small" / "words.vec.gz").write_text("made from them")
    prepare(*arguments)
    assert (place / "work" / "small" / "words.vec.gz").exists()


def test_some_trees_are_spread_over_the_file(place):
    row = place / "table" / "3-some.toml"
    row.write_text(row.read_text().replace("trees = 6", "trees = 10"))  # of 12: not the first ten
    arguments = command(place, "experiment", "run", str(row))
    assert CliRunner().invoke(main, arguments).exit_code == 0
    labeled, some = (list(read(place / "work" / part)) for part in (
        "settings/small/labeled.conllu", "runs/table/3-some/small-1/trees.conllu"))  # fmt: skip
    places = [[sentence.words for sentence in labeled].index(sentence.words) for sentence in some]
    assert len(places) == 10
    assert max(places) == 11
    (place / "results" / "table" / "3-some" / "small-1.json").unlink()
    row.write_text(row.read_text().replace("trees = 10", "trees = 13"))
    outcome = CliRunner().invoke(main, arguments)
    assert outcome.exit_code == 1
    assert "wants 13 trees, and small has 12" in outcome.stderr


def test_some_raw_sentences_are_spread_over_the_file(place):
    row = place / "table" / "2-raw.toml"
    row.write_text(row.read_text().replace("raw = true", "raw = true\nraw_sentences = 20"))
    arguments = command(place, "experiment", "run", str(row))
    assert CliRunner().invoke(main, arguments).exit_code == 0
    raw, some = ([sentence.lines for sentence in read(place / "work" / part)] for part in (
        "settings/small/raw.conllu", "runs/table/2-raw/small-1/raw.conllu"))  # fmt: skip
    assert some == [raw[number] for number in spread(20, len(raw))]
    result = json.loads((place / "results" / "table" / "2-raw" / "small-1.json").read_text())
    assert result["options"]["raw_sentences"] == 20
    (place / "results" / "table" / "2-raw" / "small-1.json").unlink()
    row.write_text(row.read_text().replace("raw_sentences = 20", "raw_sentences = 109"))
    outcome = CliRunner().invoke(main, arguments)
    assert outcome.exit_code == 1
    assert "wants 109 raw sentences, and small has 108" in outcome.stderr


def test_results_that_do_not_belong_together_are_told(place):
    row = place / "table" / "1-plain.toml"
    assert CliRunner().invoke(main, command(place, "experiment", "run", str(row))).exit_code == 0
    path = place / "results" / "table" / "1-plain" / "small-2.json"
    result = json.loads(path.read_text())
    result["config"]["model"]["encoder"]["hidden"] += 1
    result["config"]["data"]["longest_raw"] += 1
    del result["config"]["train"]["clip"]  # a result may be older than a setting
    path.write_text(json.dumps(result))
    shown = CliRunner().invoke(main, ["experiment", "table", str(place / "results" / "table")])
    different = "config.data.longest_raw, config.model.encoder.hidden"
    assert shown.stderr == f"warning: 1-plain, small: its runs differ in {different}\n"
    again = CliRunner().invoke(main, command(place, "experiment", "run", str(row)))
    (told,) = [line for line in again.stderr.splitlines() if "otherwise" in line]
    assert told.startswith(f"table/1-plain/small-2: its result was made otherwise than the row says now ({different}")
    first = path.with_name("small-1.json")
    as_it_was = first.read_bytes()
    renewing = command(place, "experiment", "run", str(row), "--renew")
    outcome = CliRunner().invoke(main, renewing)
    assert "2 runs, 1 of them done already" in outcome.stderr
    assert "1-plain/small-2: done" in outcome.stderr
    assert json.loads(path.read_text())["config"]["model"] == json.loads(as_it_was)["config"]["model"]
    assert first.read_bytes() == as_it_was
    assert "2 of them done already" in CliRunner().invoke(main, renewing).stderr


def test_other_data_is_refused(place):
    setting = place / "settings" / "small.toml"
    (place / "data" / "dev.conllu").write_text(treebank(15, 9))
    with pytest.raises(ConfigurationError, match="is another version than the experiment's"):
        prepare(setting, place / "data", place / "work")
    with pytest.raises(ConfigurationError, match=r"needs made here; name its folder with --data"):
        prepare(setting, place / "nowhere", place / "work")


def test_rows(place):
    tasks = tasks_of(rows_in([place / "table"]))
    names = ["table/1-plain/small-1", "table/2-raw/small-1", "table/3-some/small-1", "table/1-plain/small-2"]
    assert [task.name for task in tasks] == names
    (place / "bad.toml").write_text('settings = ["small"]\nseeds = "many"\n')
    with pytest.raises(ConfigurationError, match="seeds must be a number"):
        read_row(place / "bad.toml")
    for mistake, message in (
        ('score = ["dve"]', "score names 'dve', but there are only dev, test"),
        ('against = ["1-plian"]', "against names '1-plian', but there are only"),
        ("seeds = {smal = 2}", "seeds names 'smal', but there are only small"),
        ("raw_sentences = 300", "raw_sentences is of raw text; set raw to true"),
        ('peer = "other"\nseeds = 2', "peers have no seeds; set seeds to 1"),
    ):
        (place / "bad.toml").write_text(f'settings = ["small"]\n{mistake}\n')
        with pytest.raises(ConfigurationError, match=message):
            read_row(place / "bad.toml")
    (place / "table" / "peer.toml").write_text('settings = ["small"]\npeer = "other"\n')
    assert len(tasks_of([place / "table" / "peer.toml"], seeds=3)) == 1
    (place / "table" / "peer.toml").unlink()
    with pytest.raises(ConfigurationError, match="no row has the setting 'smal'; there are small"):
        tasks_of(rows_in([place / "table"]), settings=["smal"])
    assert len(tasks_of([place / "table" / "1-plain.toml"] * 2)) == 2
    (place / "bad.toml").write_text('presets = "default"\n')
    with pytest.raises(ConfigurationError, match="did you mean"):
        read_row(place / "bad.toml")


def test_tables():
    def result(row, setting, seed, las):
        scores = {"test": {"uas": las + 5, "las": las}}
        made = {"row": row, "title": row.upper(), "setting": setting, "seed": seed}
        return {**made, "scores": scores, "options": {}, "data": {}}

    results = [
        result("a", "x", 1, 70.0),
        result("a", "x", 2, 72.0),
        result("b", "y", 1, 60.0),
        result("b", "x", 1, 80.0),
    ]
    assert table(results).splitlines() == [
        "| UAS / LAS on test | x | y |",
        "|---|---|---|",
        "| A | 76.00 / 71.00 ± 1.41 / 1.41 (2) |  |",
        "| B | 85.00 / 80.00 (1) | 65.00 / 60.00 (1) |",
    ]


def written(path, table="t", row="r"):
    """A result without content."""
    empty = {name: {} for name in ("options", "scores", "data", "sizes", "seconds", "machine")}
    content = {"title": "", "setting": "x", "seed": 1, **empty}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"table": table, "row": row, **content}))


def test_rows_come_by_their_numbers_and_names(tmp_path):
    for row in ("10-last", "2-row-longer", "2-row"):
        written(tmp_path / row / "x-1.json", row=row)
    assert [result["row"] for result in read_results([tmp_path])] == ["2-row", "2-row-longer", "10-last"]


def test_results_that_are_none(tmp_path):
    path = tmp_path / "r" / "x-1.json"
    for content in ("garbage{", "[]", "{}"):
        written(path)
        path.write_text(content)
        with pytest.raises(ConfigurationError, match=r"x-1.json: not a result.*; delete it to run it again"):
            read_results([tmp_path])
    with pytest.raises(ConfigurationError, match="is a file; give a folder"):
        read_results([path])


def test_folders_of_results_that_lie_in_each_other_count_once(tmp_path):
    written(tmp_path / "t" / "r" / "x-1.json")
    assert len(read_results([tmp_path / "t", tmp_path, tmp_path / "t" / ".." / "t"])) == 1


def test_a_run_that_is_there_twice_does_not_count_as_two(tmp_path):
    for name in ("mine", "theirs"):
        written(tmp_path / name / "t" / "r" / "x-1.json")
    with pytest.raises(ConfigurationError, match=r"mine/t/r/x-1.json and .*theirs/t/r/x-1.json are results of one"):
        read_results([tmp_path / "mine", tmp_path / "theirs"])


def test_rows_of_the_same_name_are_not_taken_for_one(tmp_path):
    for name in "ab":
        written(tmp_path / name / "r" / "x-1.json", name)
    assert len(read_results([tmp_path / "a"])) == 1
    with pytest.raises(ConfigurationError, match="the tables a and b both have a row r; rename one of them"):
        read_results([tmp_path])


def test_the_projects_own_settings_and_rows_can_be_read():
    from pathlib import Path

    root = Path(__file__).parent.parent.parent / "experiments"
    known = {path.stem for path in (root / "settings").glob("*.toml")}
    for path in (root / "settings").glob("*.toml"):
        setting, checksums = read_setting(path)
        # Corpora that have to be bought differ in how they were converted.
        assert setting.is_licensed or set(checksums) == {*setting.train, *setting.dev, *setting.test, *setting.raw}
    rows = {path: read_row(path)[0] for path in root.glob("*/*.toml") if path.parent.name != "settings"}
    assert len({path.stem for path in rows}) == len(rows)  # names that say which table they are of
    for path, row in rows.items():
        assert set(row.settings) <= known
        assert {path.with_name(f"{name}.toml") for name in row.against} <= set(rows)
        assert not row.peer or (root / "peers" / f"{row.peer}.py").exists()
        configure(row.preset, assignments=row.set)  # or it is an error


COUNTS = {"1": {"gold": 5, "predicted": 5, "alone": 4, "with_head": 3}}


def made(row, seed, right, raw=False, trees=0, against=(), labels=None, peer=""):
    """A result on ten sentences of ten words, `right` of them right in each."""
    words = [10] * len(right)
    scores = {
        "las": sum(right) / sum(words) * 100, "uas": sum(right) / sum(words) * 100,
        "by_sentence": {"words": words, "heads": right, "labelled": right},
        "breakdown": {"distances": COUNTS, "labels": labels or COUNTS},
    }  # fmt: skip
    options = {"raw": raw, "trees": trees, "against": list(against), "peer": peer}
    return {
        "row": row, "title": row, "setting": "x", "seed": seed, "options": options, "scores": {"test": scores},
        "table": "t", "data": {}, "sizes": {"dev": [1, 10]}, "seconds": {"training": 1.0},
        "machine": {"processor": "p", "threads": 1},
    }  # fmt: skip


def test_what_readers_ask_first_comes_first():
    results = [
        made("a", 1, [5]), made("b", 1, [5], raw=True, against=["c"]), made("c", 1, [5]),
        made("1", 1, [7]), made("2", 1, [8], raw=True, against=["1"]), made("3", 1, [6], peer="spacy-words"),
    ]  # fmt: skip
    tables = ("ablations", "others", "others", "table-a", "table-a", "table-a")
    for result, name in zip(results, tables, strict=True):
        result["table"] = name
    findings = Findings(results)
    assert [name for name, _ in findings.tables()] == ["table-a", "ablations", "others"]
    assert list(findings.twins()) == [("x", "2", "1"), ("x", "b", "c")]
    page = Report(findings).html()
    dots = page[page.index('id="table-a"') : page.index("UAS / LAS on test")]
    assert [dots.count(f'r="5" fill="{colour}"') for colour in COLOURS[:3]] == [1, 1, 1]  # alone, raw text, a peer
    assert "3: 60.00" in dots


def test_rows_are_compared_by_the_means_of_their_runs():
    better = [8, 9, 9, 8, 9, 8, 9, 9, 8, 9]
    results = [made("a", 1, [7] * 10), made("a", 2, [8] * 10), made("b", 1, better, against=["a", "c"])]
    (found,) = versus(results)
    assert (found.row, found.against, found.runs) == ("b", "a", (1, 2))
    assert found.comparison.las.difference == pytest.approx(11.0)
    assert max(found.comparison.uas.p, found.comparison.las.p) < 0.05
    results[-1] = made("b", 1, [7, 8] * 5, against=["a"])
    (found,) = versus(results)
    assert found.comparison.uas.difference == 0
    assert found.comparison.uas.p > 0.05
    assert found.over_runs is None  # there is one run of b
    results.append(made("b", 2, [6, 7] * 5, against=["a"]))
    (found,) = versus(results)
    assert found.over_runs.las.difference == found.comparison.las.difference == pytest.approx(-5.0)
    assert found.over_runs.las.p > 0.2 > 0.01 > found.comparison.las.p  # runs differ more than that
    results[-1]["scores"]["test"]["by_sentence"]["words"][0] = 11
    with pytest.raises(ConfigurationError, match="b and a in x were scored on other test sentences"):
        versus(results)


def of_preset(result, number):
    """The result as a run of the default preset with so many more epochs."""
    config = wanted(Row(raw=result["options"]["raw"]))["config"]
    return {**result, "config": {**config, "train": {**config["train"], "epochs": config["train"]["epochs"] + number}}}


def test_results_of_an_earlier_preset_are_marked_and_not_compared_with_those_of_now(tmp_path):
    before, after = made("a", 1, [7] * 10, trees=1), made("b", 1, [9] * 10, raw=True, trees=1, against=["a", "peer"])
    peer = of_preset(made("peer", 1, [5] * 10, trees=1, peer="spacy-words"), 0)
    for epochs, compared, mark in (((0, 0), ["a", "peer"], ""), ((1, 1), ["a", "peer"], " †"), ((1, 0), ["peer"], "")):
        results = [of_preset(before, epochs[0]), of_preset(after, epochs[1]), peer]
        assert [each.against for each in versus(results)] == compared
        assert f"| b | 90.00 / 90.00 (1){mark} |" in table(results)
        assert "| peer | 50.00 / 50.00 (1) |" in table(results)
        assert ("+20.00" in curves_table(results)) == ("a" in compared)
        assert ([*Findings(results).twins()] == [("x", "b", "a")]) == ("a" in compared)
        page = Report(Findings(results)).html()
        assert ("of an earlier preset" in page) == ("a †: " in page) == (epochs != (0, 0))
    older = of_preset(made("a", 2, [8] * 10, trees=1), 0)
    del older["config"]["train"]["exchange"]  # there was no such setting: nothing was exchanged, and now something is
    assert "| a | 80.00 / 80.00 (1) † |" in table([older])
    half = [*results, of_preset(made("a", 2, [8] * 10, trees=1), 0)]  # one of two runs has been made again
    assert "| a | 80.00 / 80.00 (1) |" in table(half)
    (tmp_path / "a.json").write_text(json.dumps(results[0]))
    outcome = CliRunner().invoke(main, ["experiment", "table", str(tmp_path)])
    assert "(1) † |\n\n† of an earlier preset" in outcome.stdout
    results[0]["options"]["set"] = ["train.abolished=1"]
    assert "(1) † |" in table(results)


def test_what_has_no_test_scores_is_compared_on_dev(tmp_path):
    results = [made("a", 1, [7] * 10), made("b", 1, [9] * 10, against=["a"])]
    for result in results:
        result |= {"scores": {"dev": result["scores"]["test"]}}
        (tmp_path / f"{result['row']}.json").write_text(json.dumps(result))
    findings = Findings(results)
    for text in (findings.markdown(), CliRunner().invoke(main, ["experiment", "table", str(tmp_path)]).output):
        assert "| b | a | x | 1 and 1 | +20.00 | " in text
        assert "on dev" in text
        assert "on test" not in text
    assert "on test" not in Report(findings).html()


def test_roots_are_told_where_some_parsers_may_predict_several():
    roots = {"root": {"gold": 10, "predicted": 12, "alone": 9, "with_head": 9}}
    one, several, peer = made("one", 1, [7]), made("several", 1, [7]), made("peer", 1, [7], peer="spacy-words")
    for result, single in ((one, True), (several, False)):
        result["config"] = {"decoding": {"single_root": single}}
        result["scores"]["test"]["breakdown"] = {"distances": roots, "labels": {}}
    assert not are_about_roots([one, peer])
    assert are_about_roots([one, several, peer])
    lines = roots_table([one, several, peer], "test").splitlines()
    assert len(lines) == 4
    assert lines[-1] == "| several | x | any number | 12 / 10 | 90.0 / 75.0 |"


def test_changes_are_means_over_runs():
    def labels(predicted, right):
        row = {"gold": 10, "predicted": predicted, "alone": right + 1, "with_head": right}
        return {"advmod": row, "obj": {"gold": 100, "predicted": 100, "alone": 90, "with_head": 80}}

    before = Cell([made("a", 1, [5], labels=labels(10, 5)), made("a", 2, [5], labels=labels(20, 7))])
    after = Cell([made("b", 1, [5], labels=labels(12, 9) | {"dep": {"predicted": 3}})])
    found = {change.name: change for change in changes(before, after, "test", "labels")}
    assert set(found) == {"advmod", "obj", "dep"}
    advmod = found["advmod"]
    assert (advmod.before.recall("with_head"), advmod.before.precision("with_head")) == (60.0, 40.0)
    assert (advmod.after.recall("alone"), advmod.after.precision("with_head")) == (100.0, 75.0)
    assert advmod.gain() == pytest.approx(200 * 9 / 22 - 200 * 6 / 25)
    assert found["dep"].after.shown("alone") == "– / 0.0"
    assert "| advmod | 15 / 10 | 12 / 10 | 70.0 / 46.7 | 100.0 / 83.3 | 60.0 / 40.0 | 90.0 / 75.0 |" in changes_table(
        notable(list(found.values())), "label"
    )


def test_part_of_the_raw_text_is_no_point_of_a_curve():
    results = [made("a", 1, [5], trees=100), made("b", 1, [6], trees=400), made("c", 1, [7], raw=True, trees=400)]
    assert is_curve(results)
    results.append(made("d", 1, [8], raw=True, trees=100))
    results[-1]["options"]["raw_sentences"] = 300
    assert not is_curve(results)
    assert "as good as" not in Findings(results).markdown()
    assert "d: 80.00" in Report(Findings(results)).html()


def test_what_raw_text_is_worth_in_trees():
    alone = [made(f"{trees}-t", 1, [right], trees=trees) for trees, right in ((100, 5), (400, 7))]
    both = [made(f"{trees}-r", 1, [right], raw=True, trees=trees) for trees, right in ((100, 6), (400, 8))]
    assert curves_table([*alone, *both]).splitlines()[2:] == [
        "| x | 100 | 50.00 (1) | 60.00 (1) | +10.00 | 200 |",
        "| x | 400 | 70.00 (1) | 80.00 (1) | +10.00 | – |",
    ]
    same = [made("same", 1, [7], raw=True, trees=400)]
    assert curves_table([*alone, *same]).splitlines()[2:] == ["| x | 400 | 70.00 (1) | 70.00 (1) | +0.00 | 400 |"]
    falling = [made(f"{trees}-t", 1, [right], trees=trees) for trees, right in ((50, 5), (100, 7), (200, 6), (400, 8))]
    both = [made("r", 1, [6.5], raw=True, trees=200), made("s", 1, [9], raw=True, trees=50),
            made("t", 1, [4], raw=True, trees=100)]  # fmt: skip
    worth = [line.split(" | ")[-1] for line in curves_table([*falling, *both]).splitlines()[2:]]
    assert worth == ["more than 400 |", "fewer than 50 |", "238 |"]  # never fewer trees for a gain, or more for a loss


def test_a_peer_that_there_is_not(place):
    (place / "table" / "1-plain.toml").write_text('settings = ["small"]\npeer = "nobody"\n')
    outcome = CliRunner().invoke(
        main, command(place, "experiment", "one", str(place / "table" / "1-plain.toml"), "small", "1")
    )
    assert outcome.exit_code == 1
    assert "there is no such peer" in outcome.stderr


def test_a_peer(place):
    """Its parses are scored like those of this parser, and it is not run twice, unless its script is another one."""
    (place / "peers").mkdir()
    (place / "peers" / "gold.py").write_text(
        "import argparse, json, pathlib, shutil\n"
        "parser = argparse.ArgumentParser()\n"
        "for name in ('train', 'dev', 'test', 'output'):\n"
        "    parser.add_argument('--' + name, type=pathlib.Path)\n"
        "given = parser.parse_args()\n"
        "for part in ('dev', 'test'):\n"
        "    shutil.copy(getattr(given, part), given.output / f'{part}.conllu')\n"
        "(given.output / 'peer.json').write_text(json.dumps({'seconds': {'training': 1.0}, 'versions': {}}))\n"
    )
    row = place / "table" / "1-plain.toml"
    row.write_text('settings = ["small"]\npeer = "gold"\n')
    written = []
    for _ in range(2):
        outcome = CliRunner().invoke(main, command(place, "experiment", "one", str(row), "small", "1"))
        assert outcome.exit_code == 0, outcome.output
        written.append((place / "work" / "runs" / "table" / "1-plain" / "small-1" / "peer.json").stat().st_mtime_ns)
    assert written[0] == written[1]
    (place / "peers" / "gold.py").write_text("raise SystemExit(3)\n")
    outcome = CliRunner().invoke(main, command(place, "experiment", "one", str(row), "small", "1"))
    assert "gold.py: ended with code 3" in outcome.stderr
    told = CliRunner().invoke(main, command(place, "experiment", "run", str(row))).stderr
    assert "table/1-plain/small-1: its result was made otherwise than the row says now (script)" in told
    result = json.loads((place / "results" / "table" / "1-plain" / "small-1.json").read_text())
    assert result["scores"]["test"]["las"] == 100
    assert result["seconds"] == {"training": 1.0}


def test_a_peer_ends_with_the_grid(place):
    (place / "peers").mkdir()
    script = (
        f"import os, pathlib, time\npathlib.Path({str(place / 'pid')!r}).write_text(str(os.getpid()))\ntime.sleep(60)\n"
    )
    (place / "peers" / "slow.py").write_text(script)
    (place / "table" / "1-plain.toml").write_text('settings = ["small"]\npeer = "slow"\n')
    arguments = command(place, "experiment", "run", str(place / "table" / "1-plain.toml"))
    grid = subprocess.Popen([sys.executable, "-m", "softparse", *arguments], stderr=subprocess.DEVNULL)
    while not (place / "pid").exists() or not (place / "pid").read_text():
        assert grid.poll() is None
        time.sleep(0.1)
    peer = psutil.Process(int((place / "pid").read_text()))
    grid.terminate()
    grid.wait(30)
    peer.wait(5)  # or it is an error


def test_the_tables_of_the_committed_results_are_those_of_their_files():
    from pathlib import Path

    folder = Path(__file__).parent.parent.parent / "experiments" / "results"
    text = (folder / "README.md").read_text(encoding="utf-8")
    for name, results in Findings(read_results([folder])).tables():
        for part in parts_of(results):
            assert table(results, part) in text, f"{name}: make experiments/results/README.md anew"


def test_times_of_different_machines_are_not_averaged():
    results = [made("a", seed, [5]) for seed in (1, 2, 3)] + [made("b", 1, [5])]
    for result, minutes in zip(results, (10, 20, 60, 15), strict=True):
        result["seconds"]["training"] = 60.0 * minutes
        result["seconds"]["parsing dev"] = 0.5
    results[2]["machine"]["processor"] = "q"
    results[3]["same_as"] = "t/a"
    assert times_table(results).splitlines()[2:] == [
        "| a | x | 15.0 | 2 | p | 1 | 2 |",
        "| a | x | 60.0 | 2 | q | 1 | 1 |",
        "| b | x | 15.0 | 2 | p | 1 | 1 |",
    ]
    assert total_time(results) == "All 3 runs together: 1.5 hours of training."


def test_the_name_of_the_processor(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\n")
    assert processor(cpuinfo) == "AMD EPYC family 26 model 2"
    cpuinfo.write_text("processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n")
    assert processor(cpuinfo) == processor(tmp_path / "missing") == (platform.processor() or platform.machine())
