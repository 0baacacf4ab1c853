"""The examples of the README and the docs run, and its commands are those of continuous integration."""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, model, treebanks, tmp_path, monkeypatch):
    """The blocks of a page run one after the other, as a reader would type them who has a model and trees."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(model, "MODEL")
    shutil.copy(treebanks / "train.conllu", "trees.conllu")
    shutil.copy(treebanks / "dev.conllu", "dev.conllu")
    names: dict = {}
    for code in blocks(page, "python"):
        exec(compile(code, str(page), "exec"), names)
    if page.name == "README.md":
        assert names["best"].shape == (5, 2, 6)


def test_ci_runs_the_second_command():
    _, second, *_ = blocks(ROOT / "README.md", "sh")
    assert second.strip() in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target
