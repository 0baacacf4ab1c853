"""The examples of the README and the docs run, and its commands are those of continuous integration."""

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from softparse.experiment.rows import read_row

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# What is not run here, and why.
ELSEWHERE = {
    r"softparse serve\b": "has no end; tests/ext/serve start it",
    r"--engine ray\b": "tests/ext/test_ray_bulk.py start clusters",
    r"softparse (treebank|vectors) get\b": "needs a network",
    r"softparse quickstart\b": "needs a network, and minutes",
}
RULES = "[arcs]\nleft-1 = 1.0\n[classes]\nverb = ['sees']\n[[rules]]\nhead = 'root'\nmodifier = 'verb'\nweight = 2.0\n"


def fenced(page):
    """The blocks of a page with their languages, in order."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def blocks(page, language):
    return [text for name, text in fenced(page) if name == language]


def commands(block):
    """The lines of a block that begin with softparse, or send something to it."""
    lines = block.replace("\\\n", " ").splitlines()
    found = [line for line in lines if re.match(r"softparse |\w+ .*\| softparse ", line)]
    return [line for line in found if not any(re.search(pattern, line) for pattern in ELSEWHERE)]


@pytest.fixture
def place(model, treebanks, tmp_path, monkeypatch):
    """A folder with the files of which the pages speak."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(model, "MODEL")
    for name in ("trees", "a", "labeled"):
        shutil.copy(treebanks / "train.conllu", f"{name}.conllu")
    for name in ("dev", "test", "gold", "one", "other", "in", "text", "b", "parsed"):
        shutil.copy(treebanks / "dev.conllu", f"{name}.conllu")
    sentences = "The dog sees a big cat .\nA child walks the parsers today .\n" * 8
    for name in ("raw", "a", "article"):
        Path(f"{name}.txt").write_text(sentences)
    Path("dump.txt.gz").write_bytes(gzip.compress(sentences.encode()))
    Path("b.conllu.gz").write_bytes(gzip.compress(Path("b.conllu").read_bytes()))
    Path("mine.toml").write_text("[train]\nseed = 2\n")
    Path("rules.toml").write_text(RULES)
    return tmp_path


@pytest.fixture
def shell(place):
    """Runs commands; training is cut short, and replaces what is there."""
    programs = place / "programs"
    programs.mkdir()
    short = "--force --set train.epochs=1 --set train.epoch_batches=0"
    program = programs / "softparse"
    program.write_text(
        f'#!/bin/sh\ncase "$1" in train) set -- "$@" {short};; esac\nexec "{sys.executable}" -m softparse "$@"\n'
    )
    program.chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}

    def run(lines):
        call = ["bash", "-c", "\n".join(["set -e", "set -o pipefail", *lines])]
        bash = subprocess.run(
            call, env=environment, capture_output=True, input="a dog walks .\n", text=True, timeout=600
        )
        assert bash.returncode == 0, f"{lines}\n{bash.stderr}"

    return run


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, place, shell):
    """The examples of a page run one after the other, as a reader would type them who has a model and trees."""
    names: dict = {}
    for language, text in fenced(page):
        if language == "python":
            exec(compile(text, str(page), "exec"), names)
        elif not language and commands(text):
            shell(commands(text))
    if page.name == "README.md":
        assert names["best"].shape == (5, 2, 6)


def test_a_row_of_your_own(tmp_path):
    (text,) = blocks(ROOT / "docs" / "researchers.md", "toml")
    row = tmp_path / "row.toml"
    row.write_text(text)
    shutil.copy(ROOT / "experiments" / "ablations" / "a-base.toml", tmp_path)
    assert read_row(row)[0].set == ["train.epochs=12", "objective.temperature=0.3"]


def test_ci_runs_the_second_command():
    _, second, *_ = blocks(ROOT / "README.md", "sh")
    assert second.strip() in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target
