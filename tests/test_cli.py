import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from click.testing import CliRunner

import softparse
from softparse.cli import main
from softparse.corpus.conllu import read
from softparse.corpus.vectors import read_vectors
from tests.conftest import SMALL


def test_demo_draws_a_tree(tmp_path):
    picture = tmp_path / "tree.svg"
    result = CliRunner().invoke(main, ["demo", "-o", str(picture)])
    assert result.exit_code == 0, result.output
    assert result.output.count("temperature") == 4
    drawn = ElementTree.parse(picture).getroot()
    paths = [element for element in drawn.iter() if element.tag.endswith("path")]
    assert len(paths) >= 5 * 2 * 7  # at least the seven arcs of a tree, five times
    # The last panel is a tree: seven opaque arcs.
    panels = [element for element in drawn if element.tag.endswith("svg")]
    opacities = [element.get("opacity") for element in panels[-1].iter() if element.tag.endswith("}g")]
    assert opacities == ["1.000"] * 7


def test_help_is_quick():
    code = "import sys, softparse.cli; sys.exit('torch' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_version():
    import softparse

    assert softparse.__version__ in CliRunner().invoke(main, ["--version"]).output


def run(*arguments, input=None, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=input)
    assert result.exit_code == code, result.output + repr(result.exception)
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit), result.exception
    return result


TEXT = "the dog sees a big cat .\na child walks the parsers today .\n"


def test_every_command_has_help():
    for name in main.commands:
        assert "Usage" in run(name, "--help").output


def test_train_parse_evaluate(treebanks, tmp_path):
    train, dev, model = treebanks / "train.conllu", treebanks / "dev.conllu", tmp_path / "model"
    options = [item for assignment in SMALL for item in ("--set", assignment)]
    result = run("train", "--train", train, "--dev", dev, "-o", model, "--set", "train.epochs=2", *options)
    assert result.stdout == ""
    assert "epoch   2/2" in result.stderr
    assert "dev UAS" in result.stderr
    predicted = tmp_path / "out.conllu.gz"
    assert run("parse", model, dev, "-o", predicted).stdout == ""
    scores = json.loads(run("evaluate", dev, predicted, "--json").stdout)["predictions"][0]["scores"]
    metrics = json.loads(run("info", model, "--json").stdout)["metrics"]
    assert scores["las"] == pytest.approx(metrics["best"]["dev"]["las"])
    assert "## How good" in run("info", model).stdout
    run("train", "--train", train, "-o", model, code=1)


def test_parse_formats(model, tmp_path):
    first = run("parse", model, "-", input=TEXT).stdout
    assert first.startswith("# sent_id = 1\n# text = the dog sees a big cat .\n1\tthe\t_\t_\t_\t_\t2\tdet\t_\t_\n")
    assert first.count("\n\n") == 2
    (tmp_path / "x.conllu").write_text(first)
    (tmp_path / "x.txt").write_text(TEXT)
    assert run("parse", model, tmp_path / "x.conllu", "--workers", 2).stdout == first
    assert run("parse", model, tmp_path / "x.txt", tmp_path / "x.conllu").stdout == first * 2
    rows = "1\tthe\t_\tD\tD\t_\t_\t_\n2\tdog\t_\tN\tN\t_\t_\t_\n\n"  # CoNLL-X without its last columns
    assert run("parse", model, "-", "--format", "conllx", input=rows).stdout.startswith("1\tthe\t_\tD\tD\t_\t2\tdet\n")


def test_everything_else_stays(model):
    text = (
        "# newpar\n# text = vámonos  al\n1-2\tthe dog\t_\t_\t_\t_\t_\t_\t_\tA=1|A=1\n"
        "1\tthe\tthe\tDET\tDT\tX=Y\t7\told\t3:nsubj|5.1:obj\tSpaceAfter=No|SpaceAfter=No\n"
        "2\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n2.1\tgone\t_\t_\t_\t_\t_\t_\t1:dep\t_\n"
        "3\tsees it\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    )
    parsed = run("parse", model, "-", input=text).stdout
    before, after = [[line.split("\t") for line in value.split("\n")] for value in (text, parsed)]
    for old, new in zip(before, after, strict=True):
        if old[0].isdigit():
            old[6:8] = new[6:8]
        assert old == new
    cleared = run("parse", model, "-", "--clear-deps", input=text).stdout
    assert "2.1\tgone" not in cleared
    assert "5.1:obj" not in cleared
    assert "1-2\tthe dog" in cleared


def test_comments_of_no_sentence_stay(model):
    word = "1\tdog\t_\t_\t_\t_\t{}\t_\t_\n\n"
    text = f"# a\n\n{word}# b\n\n\n# c\n{word}# d\n"
    given, expected = text.replace("{}", "_\t_"), text.replace("{}", "0\troot")
    assert run("parse", model, "-", input=given).stdout == expected
    assert run("parse", model, "-", "--workers", 2, input=given).stdout == expected
    words = "1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    ranked = run("parse", model, "-", "--kbest", 2, input=f"\ufeff# a\n\n{words}# d\n").stdout
    assert ranked.startswith("\ufeff# a\n\n# rank = 1\n")
    assert [ranked.count(part) for part in ("rank = 2", "# a\n", "# d\n", "\ufeff")] == [1, 1, 1, 1]
    assert ranked.endswith("\n\n# d\n")
    assert run("parse", model, "-", "--kbest", 2, input=f"\ufeff{words}").stdout.count("\ufeff") == 1


def test_parse_options(model):
    confident = run("parse", model, "-", "--confidence", input=TEXT).stdout
    assert confident.count("ArcProbability=") == 14
    assert confident.count("# tree_probability = ") == 2
    ranked = run("parse", model, "-", "--kbest", 3, input=TEXT).stdout
    assert [line for line in ranked.splitlines() if "rank" in line] == [f"# rank = {k}" for k in (1, 2, 3)] * 2
    partial = "1\tthe\t_\t_\t_\t_\t3\t_\t_\t_\n2\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n3\tsees\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    assert "1\tthe\t_\t_\t_\t_\t3\tdet\t" in run("parse", model, "-", "--complete", input=partial).stdout
    for way in ("mbr", "nonprojective"):
        assert run("parse", model, "-", "--decode", way, "--multi-root", input=TEXT).stdout.count("\n\n") == 2


def test_probabilities_take_the_place_of_earlier_ones(model):
    parsed = run("parse", model, "-", "--confidence", input=TEXT).stdout
    assert run("parse", model, "-", "--confidence", input=parsed).stdout == parsed
    other = parsed.replace("\tArcProbability=", "\tA=1|ArcProbability=9|A=1|B=")
    again = run("parse", model, "-", "--confidence", input=other).stdout
    assert again.count("\tA=1|A=1|B=") == again.count("ArcProbability=") == 14


def test_a_row_with_a_column_less_is_not_parsed(model):
    """Which one is missing cannot be known, so neither where HEAD is."""
    rows = "1\tThey\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\twalk\twalk\tVERB\t_\t0\troot\t0:root\tSpaceAfter=No\n\n"
    error = run("parse", model, "-", "--format", "conllu", input=rows, code=1).stderr
    assert "<stdin>:2: 9 columns, but rows before have 10" in error


def test_doubtful_trees_are_scored_with_a_warning(treebanks, tmp_path):
    rows = "1\ta\t_\t_\t_\t_\t{}\tx\t_\t_\n2\tb\t_\t_\t_\t_\t{}\tx\t_\t_\n\n"
    gold, wrong, bare = (tmp_path / f"{name}.conllu" for name in ("gold", "wrong", "bare"))
    gold.write_text(rows.format(0, 1))
    wrong.write_text("# sent_id = x7\n" + rows.format(2, 1))
    bare.write_text(rows.format("_", "_"))
    result = run("evaluate", gold, wrong, bare)
    assert "UAS" in result.stdout
    assert (
        f"warning: {wrong}: sentences whose tree is none: 1; the first: {wrong}:2: a cycle of 2 words" in result.stderr
    )
    assert "sent_id x7" in result.stderr
    assert f"warning: {bare}: words without HEAD, which count as wrong: 2; is it parsed?" in result.stderr
    assert "warning" not in run("evaluate", gold, gold).stderr
    wrong.write_text(rows.format(0, 0))
    told = run("evaluate", gold, wrong).stderr
    assert told == f"warning: {wrong}: sentences with several roots, which the official scorer refuses: 1\n"
    assert "only one of the files" in run("evaluate", "-", "-", input="", code=2).stderr


def test_streams_are_read_once(treebanks, model, tmp_path):
    """As of `<(zcat file.gz)` in a shell."""
    dev = treebanks / "dev.conllu"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["cp", str(dev), str(pipe)])
    assert "100.00" in run("evaluate", dev, pipe, "--breakdown").stdout
    assert writer.wait(10) == 0


def test_output_in_another_encoding(treebanks):
    dev = treebanks / "dev.conllu"
    command = [sys.executable, "-m", "softparse", "evaluate", str(dev), str(dev), "--breakdown"]
    environment = {**os.environ, "PYTHONIOENCODING": "iso-8859-1"}
    result = subprocess.run(command, capture_output=True, env=environment)
    assert result.returncode == 0, result.stderr
    assert b"\\u22657" in result.stdout  # at least 7


def test_two_predictions(model, treebanks, tmp_path):
    dev = treebanks / "dev.conllu"
    run("parse", model, dev, "-o", tmp_path / "good.conllu")
    run("parse", model, dev, "-o", tmp_path / "bad.conllu")
    text = (tmp_path / "bad.conllu").read_text().replace("\tnsubj\t", "\tobj\t")
    (tmp_path / "bad.conllu").write_text(text)
    result = run("evaluate", dev, tmp_path / "bad.conllu", tmp_path / "good.conllu", "--breakdown").stdout
    assert "paired bootstrap" in result
    assert "distance to the head" in result
    comparison = json.loads(run("evaluate", dev, tmp_path / "bad.conllu", tmp_path / "good.conllu", "--json").stdout)[
        "comparison"
    ]
    assert comparison["las"]["difference"] > 0
    assert comparison["las"]["p"] < 0.01
    assert comparison["uas"]["difference"] == 0
    good = (tmp_path / "good.conllu").read_text()
    assert "UAS" in run("evaluate", dev, "-", "--breakdown", input=good).stdout


def test_check_and_split(treebanks, tmp_path):
    train = treebanks / "train.conllu"
    assert json.loads(run("check", train, "--json").stdout)["sentences"] == 150
    assert "non-projective" in run("check", train).stdout
    broken = tmp_path / "broken.conllu"
    broken.write_text("# sent_id = x7\n1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n")
    result = run("check", broken, code=1).stdout
    assert f"{broken}:2" in result
    assert "x7" in result
    error = run("train", "--train", broken, "-o", tmp_path / "m", code=1).stderr
    assert error.startswith("error: ")
    assert f"{broken}:2" in error
    run("split", train, "-o", tmp_path / "modulo")
    run("split", train, "-o", tmp_path / "sections", "--scheme", "sections")
    run("split", train, "-o", tmp_path / "halves", "--modulus", 2)
    run("split", train, "-o", tmp_path / "halves", "--modulus", 2, "--scheme", "sections", code=2)
    assert json.loads(run("check", tmp_path / "modulo" / "labeled.conllu", "--json").stdout)["sentences"] == 15
    assert json.loads(run("check", tmp_path / "sections" / "labeled.conllu", "--json").stdout)["sentences"] == 120


def test_show(treebanks, tmp_path):
    dev = treebanks / "dev.conllu"
    assert "nsubj" in run("show", dev, "--number", 2).stdout
    assert ElementTree.fromstring(run("show", dev, "--format", "svg").stdout).tag.endswith("svg")
    assert run("show", dev, "--format", "html").stdout.count("<svg") == 40
    assert "\\depedge" in run("show", dev, "--format", "tikz", "--first", 3, "--number", 1).stdout
    run("show", dev, "--format", "svg", "--number", 2, code=2)
    for kind in ("text", "svg", "html", "tikz"):
        assert "there is no sentence number 1000" in run("show", dev, "--first", 1000, "--format", kind, code=1).stderr
        wrong = "1\ta\t_\t_\t_\t_\t7\tx\t_\t_\n\n"
        error = run("show", "-", "--format", kind, input=wrong, code=1).stderr
        assert error.startswith("error: <stdin>:1: cannot be drawn: the head of word 1 is 7")
        partial = "1\tzyx\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n"
        assert "zyx" in run("show", "-", "--format", kind, input=partial).stdout


BAD_TREEBANKS = {
    "no root": ("1\ta\t_\t_\t_\t_\t1\tx\t_\t_\n\n", "its own head"),
    "several roots": ("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n", "single_root"),
    "out of range": ("1\ta\t_\t_\t_\t_\t5\tx\t_\t_\n\n", "HEAD 5"),
    "columns": ("1\ta\t_\t_\t0\troot\n\n", "columns"),
    "empty": ("", "no sentence"),
    "duplicate ids": ("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n1\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n", "ID 1 a second time"),
    "raw text": ("This is a sentence .\nThis too .\n", "plain text"),
    "no trees": ("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "no tree, HEAD is _ everywhere"),
}


@pytest.mark.parametrize("name", BAD_TREEBANKS)
def test_bad_treebanks_get_an_error(name, tmp_path):
    text, message = BAD_TREEBANKS[name]
    file = tmp_path / "bad.conllu"
    file.write_text(text)
    error = run("train", "--train", file, "-o", tmp_path / "model", code=1).stderr
    assert message in error
    assert str(file) in error
    assert not (tmp_path / "model").exists()


def test_other_bad_input(treebanks, model, tmp_path):
    train = treebanks / "train.conllu"
    (tmp_path / "latin1.conllu").write_bytes("1\tcafé\t_\t_\t_\t_\t0\troot\t_\t_\n\n".encode("latin-1"))
    assert "not UTF-8" in run("train", "--train", tmp_path / "latin1.conllu", "-o", tmp_path / "m", code=1).stderr
    assert "not UTF-8" in run("parse", model, tmp_path / "latin1.conllu", code=1).stderr
    assert "No such file" in run("parse", model, tmp_path / "none.txt", code=1).stderr
    assert "no such model" in run("parse", tmp_path / "none", train, code=1).stderr
    (tmp_path / "utf16.conllu").write_bytes("1\tcafé\t_\t_\t_\t_\t0\troot\t_\t_\n\n".encode("utf-16"))
    assert "iconv -f utf-16" in run("check", tmp_path / "utf16.conllu", code=1).stdout
    (tmp_path / "v.vec").write_text("the 1 2 3\ndog 1 2\n")
    error = run("train", "--train", train, "-o", tmp_path / "m", "--vectors", tmp_path / "v.vec", code=1).stderr
    assert f"{tmp_path / 'v.vec'}:2" in error
    error = run("train", "--train", train, "-o", tmp_path / "m", "--set", "train.epoch=3", code=1).stderr
    assert "did you mean train.epochs" in error
    run("train", "--train", train, code=2)
    run("parse", model, code=2)
    assert not (tmp_path / "m").exists()


def test_an_output_appears_when_it_is_complete(model, tmp_path):
    output = tmp_path / "out.conllu"
    output.write_text("what was there")
    (tmp_path / "in.conllu").write_text("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tb\t_\n\n")
    run("parse", model, tmp_path / "in.conllu", "-o", output, code=1)
    assert output.read_text() == "what was there"
    assert {path.name for path in tmp_path.iterdir()} == {"in.conllu", "out.conllu"}


def test_lists():
    assert "tr_twt" in run("treebank", "list").stdout
    assert "fr\t" in run("vectors", "list").stdout
    assert "close" in run("treebank", "get", "en_ewtt", code=1).stderr


def test_vectors_from_text(treebanks, tmp_path):
    words = "\n".join(" ".join(sentence.words) for sentence in read(treebanks / "train.conllu"))
    (tmp_path / "raw.txt").write_text(words)
    output = tmp_path / "v.vec.gz"
    arguments = ["vectors", "train", tmp_path / "raw.txt", "-o", output, "--dimension", "5", "--epochs", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "softparse", *arguments], stderr=subprocess.PIPE, text=True, check=True
    )
    assert len(done.stderr.splitlines()) == 3  # words, an epoch, vectors; and nothing of what gensim says to itself
    assert "dog" in read_vectors(output).words


def test_several_treebanks_at_once(treebanks, tmp_path):
    files = [treebanks / "train.conllu", treebanks / "dev.conllu"]
    options = [item for assignment in SMALL for item in ("--set", assignment)]
    error = run("train", "--train", *files, "--set", "train.epochs=1", *options, "-o", tmp_path / "model").stderr
    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert metrics["data"]["trees"] == [str(file) for file in files]
    assert metrics["data"]["sentences"] + metrics["data"]["dev_sentences"] == 190
    assert "19 trees held out" in error
    events = list((tmp_path / "model.tensorboard").iterdir())
    assert len(events) == 1


def test_data_in_a_configuration_file(treebanks, tmp_path):
    """What is given on the command line wins, and only where it is given."""
    train, dev, model = treebanks / "train.conllu", treebanks / "dev.conllu", tmp_path / "model"
    file = tmp_path / "mine.toml"
    file.write_text(
        f'[data]\ntrain = ["{train}"]\ndev = "{dev}"\noutput = "{model}"\n'
        "[train]\nepochs = 1\nseed = 4\n[model.encoder]\nhidden = 16\n"
    )
    run("train", "--config", file)
    settings = json.loads((model / "metrics.json").read_text())["settings"]
    assert settings["data"]["train"] == [str(train)]
    assert settings["data"]["dev"] == [str(dev)]
    run("train", "--config", file, "--train", dev, "-o", tmp_path / "other", "--seed", 5)
    settings = json.loads((tmp_path / "other" / "metrics.json").read_text())["settings"]
    assert settings["data"]["train"] == settings["data"]["dev"] == [str(dev)]
    assert settings["train"]["seed"] == 5
    file.write_text(f'[data]\ntrain = ["{train}"]\n')
    assert "-o is missing" in run("train", "--config", file, code=2).stderr
    assert "--train is missing" in run("train", "-o", tmp_path / "none", code=2).stderr


def test_quickstart(tmp_path, monkeypatch):
    """Everything at once, on a real treebank, which is small."""
    monkeypatch.setenv("SOFTPARSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "labeled.conllu").write_text("left by a run that was stopped")
    result = run("quickstart", "--treebank", "tr_twt", "--epochs", 1, "-o", "here")
    assert "whole sentences" in result.stdout
    assert "güzel" in result.stdout
    assert ElementTree.parse(tmp_path / "here" / "example.svg").getroot().tag.endswith("svg")
    softparse.load(tmp_path / "here" / "model")


def test_output_that_takes_nothing(treebanks):
    """A message, not a traceback, also from Python at its end."""
    for command, name in (["show"], "<stdout>: "), (["check"], ""), (["show", "-o", "/dev/full"], "/dev/full: "):
        arguments = [sys.executable, "-m", "softparse", command[0], treebanks / "dev.conllu", *command[1:]]
        with open("/dev/full", "w") as full:
            result = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True)
        assert (result.returncode, result.stderr) == (1, f"error: {name}No space left on device\n")
    arguments = [sys.executable, "-m", "softparse", "show", treebanks / "dev.conllu"]
    unread = [*arguments[:-1], "-"]
    closed = subprocess.run(unread, preexec_fn=lambda: os.close(0), capture_output=True, text=True)
    assert (closed.returncode, closed.stderr) == (1, "error: <stdin>: is closed\n")
    closed = subprocess.run(arguments, preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE, text=True)
    assert (closed.returncode, closed.stderr) == (1, "error: <stdout>: Bad file descriptor\n")


def test_more_trees_than_memory_can_hold(model):
    assert "not enough memory" in run("parse", model, "-", "--kbest", 10**10, input=TEXT, code=1).stderr


def test_devices_that_are_not_there(model, treebanks, tmp_path):
    for name in ("nonsense", "meta"):
        error = run("parse", model, "-", "--device", name, input=TEXT, code=1).stderr
        assert f"error: the device '{name}' cannot be used here" in error
        assert "use cpu" in error
        train = ("train", "--train", treebanks / "train.conllu", "-o", tmp_path / "m", "--device", name)
        assert f"train.device: the device '{name}' cannot be used here" in run(*train, code=1).stderr


def test_models_that_workers_cannot_load(tmp_path):
    assert "no such model" in run("parse", tmp_path / "none", "-", "--workers", 2, input=TEXT, code=1).stderr
