"""Parsing on a cluster of two workers: the files are those of a single process, whatever happens on the way."""

import contextlib
import glob
import gzip
import os
import pickle
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import ray
from click.testing import CliRunner

from softparse.cli import main
from softparse.corpus.problems import CorpusError
from softparse.ext.ray_bulk import RUNNING_TEXT, TRIES, Worker, parse_shards, read_windows
from softparse.parser.bulk import Options, parse_stream, windows
from softparse.parser.shards import BOOKS, plan
from tests.grammar import treebank

COMMAND = [sys.executable, "-m", "softparse", "parse"]
PAGE = Path(__file__).parents[2] / "docs" / "engineers.md"
SMALL_STORE = 100 << 20
SHORT = "# short\n1\tdogs\t_\t_\t_\t_\t_\t_\t_\tA=1\n2\twalk\t_\t_\t_\t_\t_\t_\t_\t_\n\n"  # a window has 4096 of them


os.environ.setdefault("RAY_worker_niceness", "0")  # otherwise other work on a busy machine starves the workers


@pytest.fixture(scope="module")
def cluster():
    quiet = {"include_dashboard": False, "log_to_driver": False, "configure_logging": False}
    ray.init(address="local", num_cpus=2, object_store_memory=SMALL_STORE, **quiet)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A file of several windows, a packed one, and text."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "a.conllu").write_text(
        "\ufeff# newdoc\n\n" + treebank(200, seed=5, crossing=0.2) + SHORT * 8800 + "# the end\n"
    )
    (folder / "b.conllu.gz").write_bytes(gzip.compress(treebank(300, seed=6).encode()))
    (folder / "c.txt").write_text("the dog sees a big cat .\n\nevery child walks\n")
    return folder


def alone(model, path, options):
    return b"".join(text for text, _, _ in parse_stream(str(model), windows([str(path)]), options, threads=1))


def unpacked(path):
    content = path.read_bytes()
    return gzip.decompress(content) if path.name.endswith(".gz") else content


def run(*arguments):
    return CliRunner().invoke(main, ["parse", *map(str, arguments)])


def files(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if path.is_file()}


def test_files_are_those_of_one_process(cluster, model, inputs, tmp_path, caplog):
    sources = [shutil.copy(path, tmp_path) for path in sorted(inputs.iterdir())]
    out = tmp_path / "out"
    arguments = [model, *sources, "--engine", "ray", "-o", out, "--confidence", "--workers"]
    result = run(*arguments, 2)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "9,302 sentences" in result.stderr
    names = ["a.conllu", "b.conllu.gz", "c.conllu"]
    assert sorted(files(out)) == names
    for source, name in zip(sources, names, strict=True):
        assert unpacked(out / name) == alone(model, source, Options(confidence=True)), name
    assert sorted(path.name for path in (out / BOOKS).iterdir()) == [f"{name}.json" for name in names] + ["run.json"]
    # Again: nothing is done twice, but for what has changed.
    before = files(out)
    (tmp_path / "c.txt").write_text("every child walks\n")
    with caplog.at_level("INFO"):
        assert "9,301 sentences" in run(*arguments, 1).stderr
    assert "2 of 3 files are done already" in caplog.text
    assert [name for name, time in files(out).items() if time != before[name]] == ["c.conllu"]
    assert (out / "c.conllu").read_bytes() == alone(model, tmp_path / "c.txt", Options(confidence=True))
    other = run(*arguments, 1, "--kbest", 2)
    assert other.exit_code == 1
    assert "these differ: kbest (was 1, is 2)" in other.stderr


def test_all_options_on_a_cluster_that_is_there(cluster, model, tmp_path):
    rows = [line.split("\t") for line in treebank(50, seed=9).splitlines()]
    rows = [[*row[:6], "_", *row[7:]] if len(row) > 1 and row[1] != "sees" else row for row in rows]
    source = tmp_path / "partial.tsv"  # whose name says nothing
    source.write_text("\n".join("\t".join(row) for row in rows) + "\n")
    flags = ["--kbest", 2, "--complete", "--clear-deps", "--multi-root", "--format", "conllx"]
    address = ray.get_runtime_context().gcs_address
    command = [*COMMAND, model, source, "--engine", "ray", "-o", tmp_path / "out", "--workers", 1, "--threads", 1]
    command += [*flags, "--ray-address", address]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    options = Options(kbest=2, complete=True, clear_deps=True, single_root=False)
    content = (tmp_path / "out" / "partial.tsv.conllu").read_bytes()
    assert content == b"".join(
        text for text, *_ in parse_stream(str(model), windows([str(source)], "conllu"), options, threads=1)
    )
    assert b"# rank = 2" in content


def test_running_text(cluster, model, tmp_path, monkeypatch):
    source = tmp_path / "story.txt"
    source.write_text("The dog sees a cat. Every child walks!\n\nA big dog.\n")
    monkeypatch.chdir(tmp_path)  # the document is called what its file was called, without a folder
    result = run(model, "story.txt", "--text", "--engine", "ray", "-o", tmp_path / "out", "--workers", 1)
    assert result.exit_code == 0, result.output
    alone = run(model, "story.txt", "--text", "--threads", 1)
    assert (tmp_path / "out" / "story.conllu").read_bytes() == alone.stdout_bytes
    assert run(model, source, "--engine", "ray", "-o", tmp_path / "out").exit_code == 1  # other options


def test_a_machine_that_would_cut_text_otherwise(model, tmp_path):
    source = tmp_path / "story.txt"
    source.write_text("The dog sees a cat.\n")
    shards = plan(str(tmp_path / "out"), [str(source)], str(model), Options(), None)
    row = {"item": pickle.dumps({"shard": 0, "done": []})}
    (wrong,) = read_windows(row, shards, RUNNING_TEXT, "a tokenizer that is not here", str(model))
    assert "text is cut by a tokenizer that is not here, but by rules for all languages on " in wrong["error"]
    assert "pip install 'softparse[text]'" in wrong["error"]


def descendants(process):
    """Process ids below this one."""
    return [child.pid for child in psutil.Process(process).children(recursive=True)]


def title(process):
    try:
        return " ".join(psutil.Process(process).cmdline()[:1])
    except psutil.Error:  # it has ended meanwhile
        return ""


def wait_for(condition, seconds=100):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def parts(out):
    return sorted((out / BOOKS).glob("a.conllu.*.*/*.conllu"))


def test_a_worker_that_is_killed(cluster, model, inputs, tmp_path):
    out = tmp_path / "out"
    amounts = parse_shards(str(model), [str(inputs / "a.conllu")], str(out), Options(), workers=2)
    sentences, _ = next(amounts)
    workers = [process for process in descendants(os.getpid()) if "MapWorker" in title(process)]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    assert sentences + sum(number for number, _ in amounts) == 9_000
    assert (out / "a.conllu").read_bytes() == alone(model, inputs / "a.conllu", Options())


def test_a_run_that_is_killed(cluster, model, inputs, tmp_path):
    out = tmp_path / "out"
    command = [*COMMAND, str(model), str(inputs / "a.conllu"), "--engine", "ray", "-o", str(out), "--workers", "1"]
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)
    workers = []
    try:
        wait_for(lambda: parts(out) or process.poll() is not None)
        workers = [child for child in descendants(process.pid) if "MapWorker" in title(child)]
        assert len(workers) == 1
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        wait_for(lambda: not any("MapWorker" in title(worker) for worker in workers))
    finally:
        for child in [process.pid, *workers]:
            if "MapWorker" in title(child) or (child == process.pid and process.poll() is None):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
    assert not (out / "a.conllu").exists()
    done = parts(out)
    first, marked = done[0].read_bytes(), b"# kept from the first run\n" + done[0].read_bytes()
    done[0].write_bytes(marked)
    assert (
        sum(
            number for number, _ in parse_shards(str(model), [str(inputs / "a.conllu")], str(out), Options(), workers=1)
        )
        == 9_000
    )
    expected = alone(model, inputs / "a.conllu", Options())
    assert expected.startswith(first)
    assert (out / "a.conllu").read_bytes() == marked + expected[len(first) :]


def test_what_is_wrong_with_a_file_stops_the_run(cluster, model, tmp_path):
    good, bad = tmp_path / "good.txt", tmp_path / "bad.conllu"
    good.write_text("the dog walks\n")
    bad.write_text("1\tthe\t_\t_\t_\t_\t0\troot\t_\t_\n3\tdog\t_\t_\t_\t_\t1\tdep\t_\t_\n\n")
    arguments = [model, good, bad, "--engine", "ray", "-o", tmp_path / "out", "--workers", 1]
    result = run(*arguments)
    assert result.exit_code == 1
    assert f"error: {bad}:2: ID '3', but 2 was expected" in result.stderr
    assert "Traceback" not in result.output
    bad.write_text(bad.read_text().replace("3\tdog", "2\tdog"))
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert sorted(files(tmp_path / "out")) == ["bad.conllu", "good.conllu"]


def test_a_window_that_kills_its_worker_is_not_tried_for_ever(model, tmp_path):
    source = tmp_path / "a.txt"
    source.write_text("the dog walks\n")
    shards = plan(str(tmp_path / "out"), [str(source)], str(model), Options(), None)
    row, end = read_windows({"item": pickle.dumps({"shard": 0, "done": []})}, shards, None)
    assert (end["parts"], end["window"]) == (1, b"")
    worker = Worker(shards, str(model), 1, Options())
    for _ in range(TRIES):
        assert shards[0].tries(0) <= TRIES  # and the worker is gone
    assert worker(dict(row))["error"].startswith(f"{source}:1: parsing from here on lost its worker {TRIES} times")
    shards[0].start()
    assert worker(dict(row))["error"] == ""
    assert shards[0].start() == {0}
    error = Worker(shards, "nowhere", 1, Options())(dict(row))["error"]
    assert re.match(r"nowhere: there is no such model folder.*all machines must see the same files", error)


def test_commands_that_are_refused(model, tmp_path, monkeypatch):
    source = tmp_path / "a.txt"
    source.write_text("the dog walks\n")
    for arguments, message in [
        (["--engine", "ray"], "fills a folder with a file for every input; name it with -o"),
        (["--engine", "ray", "-o", tmp_path / "o", "--device", "cuda"], "parses on CPUs"),
        (["--ray-address", "auto"], "--ray-address belongs to --engine ray"),
    ]:
        result = run(model, source, *arguments)
        assert (result.exit_code, message in result.stderr) == (2, True), result.output
    result = run(model, "-", "--engine", "ray", "-o", tmp_path / "o")
    assert (result.exit_code, "standard input can be read by one process only" in result.stderr) == (1, True)
    result = run(tmp_path / "nowhere", source, "--engine", "ray", "-o", tmp_path / "o")
    assert (result.exit_code, "there is no such model folder" in result.stderr) == (1, True)
    assert not (tmp_path / "o").exists()
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(CorpusError, match=r"needs Ray .* pip install 'softparse\[ray\]'"):
        next(parse_shards(str(model), [str(source)], str(tmp_path / "o"), Options()))


def test_the_commands_of_the_page(cluster, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(model, "MODEL")
    Path("shards").mkdir()
    for name in ("one", "two"):
        Path(f"shards/{name}.conllu.gz").write_bytes(gzip.compress(treebank(5, seed=3).encode()))
    commands = re.findall(r"^softparse parse (.*--engine ray.*)$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    assert commands
    for command in commands:
        words = shlex.split(command, comments=True)
        result = run(*[name for word in words for name in (sorted(glob.glob(word)) if "*" in word else [word])])
        assert result.exit_code == 0, result.output
        assert sorted(files(Path("parsed"))) == ["one.conllu.gz", "two.conllu.gz"]
