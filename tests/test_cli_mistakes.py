"""What a newcomer does by mistake: nothing is lost, and the message says what to do."""

import gzip
import shutil
import tarfile
import zipfile

import pytest

from softparse.corpus.conllu import read
from tests.conftest import SMALL
from tests.test_cli import TEXT, run

QUICK = [item for assignment in (*SMALL, "train.epochs=1") for item in ("--set", assignment)]


def test_the_input_is_not_replaced(model, treebanks, tmp_path):
    gold = tmp_path / "gold.conllu"
    shutil.copy(treebanks / "dev.conllu", gold)
    (tmp_path / "link.conllu").symlink_to(gold)
    for output in (gold, tmp_path / "link.conllu"):
        assert "is the input too, and its trees would be lost" in run("parse", model, gold, "-o", output, code=2).stderr
    assert gold.read_bytes() == (treebanks / "dev.conllu").read_bytes()


def test_files_that_are_there_are_not_replaced(treebanks, tmp_path):
    run("split", treebanks / "train.conllu", "-o", tmp_path)
    with open(tmp_path / "labeled.conllu", "a") as file:
        file.write("# a correction\n")
    again = "split", treebanks / "train.conllu", "-o", tmp_path
    assert "labeled.conllu" in run(*again, code=2).stderr
    assert "# a correction" in (tmp_path / "labeled.conllu").read_text()
    run(*again, "--force")
    assert "# a correction" not in (tmp_path / "labeled.conllu").read_text()


def test_treebanks_that_were_edited_are_not_replaced(treebanks, tmp_path):
    (tmp_path / "from").mkdir()
    path = tmp_path / "from" / "xx_toy-ud-train.conllu"
    shutil.copy(treebanks / "train.conllu", path)
    get = "treebank", "get", "xx_toy", "--from", tmp_path / "from", "-o", tmp_path / "to"
    run(*get)
    run(*get)  # the same again is fine
    copied = tmp_path / "to" / path.name
    copied.write_bytes(copied.read_bytes() + b"# a correction\n")
    assert "is there already, with other content; use --force" in run(*get, code=1).stderr
    assert copied.read_bytes().endswith(b"# a correction\n")
    run(*get, "--force")
    assert copied.read_bytes() == path.read_bytes()


def test_dev_sentences_among_the_training_trees(treebanks, tmp_path):
    both = tmp_path / "both.conllu"
    both.write_bytes((treebanks / "train.conllu").read_bytes() + (treebanks / "dev.conllu").read_bytes())
    dev = treebanks / "dev.conllu"
    longer = sum(len(sentence) > 5 for sentence in read(dev))
    told = run("train", "--train", both, "--dev", dev, "-o", tmp_path / "model", *QUICK).stderr
    number = int(told.split(" sentences of more than 5 words are in the training files and in dev")[0].split()[-1])
    assert number >= longer > 0


def test_calibration_on_what_was_trained_on(model, treebanks, tmp_path):
    copied = tmp_path / "model"
    shutil.copytree(model, copied)
    assert "the model was trained on it" in run("calibrate", copied, treebanks / "train.conllu").stderr
    assert "the model was trained on it" not in run("calibrate", copied, treebanks / "dev.conllu").stderr


def test_running_text_that_is_taken_for_words(model, tmp_path):
    running, apart = tmp_path / "running.txt", tmp_path / "apart.txt"
    running.write_text("the dog, the cat, and the child, see: what?\n" * 3)
    apart.write_text("the dog , the cat , and the child , see : what ?\n" * 3)
    told = run("parse", model, running).stderr
    assert "warning: the input does not look tokenised: 15 words have one of ,;:!? at their end" in told
    assert "use --text" in told
    for arguments in ((apart,), (running, "--text")):
        assert "tokenised" not in run("parse", model, *arguments).stderr


def test_text_that_is_conllu(model, treebanks):
    told = run("parse", model, "--text", treebanks / "dev.conllu", code=2).stderr
    assert "dev.conllu: is CoNLL-U by its name, so it is tokenised; leave out --text" in told


def test_heads_that_cannot_be_completed(model, tmp_path):
    def partial(heads):
        rows = [f"{word}\tw{word}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for word, head in enumerate(heads, 1)]
        path = tmp_path / "partial.conllu"
        path.write_text("".join(rows) + "\n")
        return path

    told = run("parse", model, partial([2, 1, "_"]), "--complete", code=1).stderr
    assert "partial.conllu:1: a cycle of 2 words" in told
    assert "use --" not in told
    crossing = partial([3, 4, 0, 3])
    told = run("parse", model, crossing, "--complete", code=1).stderr
    assert "correct them, or use --decode nonprojective" in told
    assert "--multi-root" not in told
    run("parse", model, crossing, "--complete", "--decode", "nonprojective")
    told = run("parse", model, partial([0, 0, "_", "_"]), "--complete", code=1).stderr
    assert "correct them, or use --multi-root" in told
    assert "nonprojective" not in told


@pytest.mark.parametrize("text", [False, True])
def test_files_that_are_no_text(model, tmp_path, text):
    with zipfile.ZipFile(tmp_path / "raw.docx", "w") as packed:
        packed.writestr("document.xml", TEXT)
    (tmp_path / "inside.txt").write_text(TEXT)
    with tarfile.open(tmp_path / "raw.tgz", "w:gz") as packed:
        packed.add(tmp_path / "inside.txt", "inside.txt")
    (tmp_path / "raw.pdf").write_bytes(b"%PDF-1.4\n\x86\xff")
    for name, message in (
        ("raw.docx", "is a zip archive or an office document; give plain text in UTF-8"),
        ("raw.tgz", "is a tar archive; unpack it"),
        ("raw.pdf", "is a PDF document"),
    ):
        told = run("parse", model, tmp_path / name, *(["--text"] if text else []), code=1).stderr
        assert f"{name}: {message}" in told
        assert "iconv" not in told


def test_a_stray_cr_in_a_long_line(model, tmp_path):
    (tmp_path / "raw.txt").write_bytes(b"a\rb " + b"word " * 2000 + b"\nthe dog .\n")
    assert "\tdog\t" in run("parse", model, tmp_path / "raw.txt").stdout


def test_columns_that_do_not_go_into_one_file(model, tmp_path):
    (tmp_path / "x.conllx").write_text("1\tdog\t_\t_\t_\t_\t0\troot\n\n")
    (tmp_path / "u.conllu").write_text("1\tdog\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    files = tmp_path / "x.conllx", tmp_path / "u.conllu"
    for command in (["parse", model, *files], ["split", *files, "-o", tmp_path / "parts"]):
        told = run(*command, code=1).stderr
        assert "u.conllu:1: 10 columns, but the sentences before have 8; write them to a file of their own" in told
    assert "standard input can be read once" in run("parse", model, "-", "-", input=TEXT, code=2).stderr


def test_line_ends_of_old_macs(model, treebanks, tmp_path):
    for name, content in (("raw.txt", TEXT), ("dev.conllu", (treebanks / "dev.conllu").read_text())):
        path = tmp_path / name
        path.write_bytes(content.replace("\n", "\r").encode())
        assert (
            f"{name}: its lines end in CR alone, as on old Macs; convert them"
            in run("parse", model, path, code=1).stderr
        )
    (tmp_path / "raw.txt.gz").write_bytes(gzip.compress(b"the dog\rsees\ta cat .\r\n\r\na child walks .\n"))
    parsed = run("parse", model, tmp_path / "raw.txt.gz").stdout
    assert "# text = the dog sees a cat .\n" in parsed
    assert "\r" not in parsed


def test_pictures_by_the_name_of_their_file(treebanks, tmp_path):
    for name, start in (("a.svg", "<svg"), ("a.html", "<!DOCTYPE html"), ("a.tex", "\\begin"), ("a.txt", "#")):
        run("show", treebanks / "dev.conllu", "-o", tmp_path / name)
        text = (tmp_path / name).read_text()
        assert text.startswith(start) or (name == "a.txt" and "─" in text)
    run("show", treebanks / "dev.conllu", "--format", "html", "-o", tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text().startswith("<!DOCTYPE html")


def test_text_that_is_evaluated(treebanks, tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text(TEXT)
    assert (
        "raw.txt: is plain text without trees; parse it first"
        in run("evaluate", treebanks / "dev.conllu", path, code=2).stderr
    )


def test_a_run_that_is_not_there_to_resume(treebanks, tmp_path):
    train = "train", "--train", treebanks / "train.conllu", "--resume", "-o", tmp_path / "model", *QUICK
    assert "model: there is no run to resume, so one begins" in run(*train).stderr
    assert "so one begins" not in run(*train).stderr


def test_raw_sentences_that_are_all_too_long(treebanks, tmp_path):
    raw = tmp_path / "raw.txt"
    raw.write_text("the dog sees a cat .\n" * 3)
    train = "train", "--train", treebanks / "train.conllu", "--raw", raw, "-o", tmp_path / "model", *QUICK
    told = run(*train, "--set", "data.longest_raw=4", code=1).stderr
    assert "raw.txt: none of 3 sentences has at most 4 words; is it a tokenised sentence a line?" in told
    told = run(*train, "--set", "data.longest_raw=4", "--set", "data.raw_text=true", code=1).stderr
    assert "the raw text: none of 1 sentences has at most 4 words; for long ones" in told
