"""Pictures in a real IPython shell, and in a notebook that is run from its first cell to its last."""

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbclient
import nbformat
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

import softparse
from softparse.corpus.sentence import Sentence
from softparse.drawing import heat_svg
from softparse.ext.notebook import SHOWN, SVG
from softparse.parser import Parse
from softparse.trees import NonProjectiveTrees, ProjectiveTrees

PAGE = Path(__file__).parents[2] / "docs" / "engineers.md"
PARSE = Parse(["They", "<walk>"], [2, 0], ["nsubj", "root"], [0.25, 1.0])


@pytest.fixture
def shell():
    """A shell with the extension."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "softparse")
    yield shell
    shell.run_line_magic("unload_ext", "softparse")
    InteractiveShell.clear_instance()


def picture(shell, value):
    data, _ = shell.display_formatter.format(value)
    assert data["text/plain"] == (repr(value) if not isinstance(value, Parse) else data["text/plain"])
    if SVG in data:
        ElementTree.fromstring(data[SVG])  # well-formed
    return data.get(SVG)


def test_a_parse(shell):
    drawn = picture(shell, PARSE)
    assert "nsubj" in drawn
    assert "&lt;walk&gt;" in drawn
    assert "(0.250)" in drawn
    assert shell.run_cell("1 + 1").result == 2


def test_a_parsed_sentence(shell, model):
    parser = softparse.load(model)
    shell.user_ns["parser"] = parser
    result = shell.run_cell("parser.parse([['the', 'dog', 'walks', '.']], confidence=True)[0]").result
    assert "nsubj" in picture(shell, result)
    assert "sentence 1 of 1: 2 words" in picture(shell, parser.trees([["the", "dog"]]))


def test_a_sentence_of_a_corpus(shell):
    sentence = Sentence.from_words(["They", "walk"])
    assert ">They<" in picture(shell, sentence)  # words without arcs
    assert "nsubj" in picture(shell, sentence.with_tree([2, 0], ["nsubj", "root"]))
    assert picture(shell, sentence.with_tree([7, 0], ["nsubj", "root"])) is None


@pytest.mark.parametrize("kind", [ProjectiveTrees, NonProjectiveTrees])
def test_a_distribution(shell, kind):
    scores = torch.randn(6, 5, 5, requires_grad=True)
    trees = kind(scores, torch.tensor([4, 2, 3, 4, 1, 4]))
    drawn = picture(shell, trees)
    assert drawn.count("sentence") == 2 * SHOWN  # said and written
    assert "sentence 2 of 6: 2 words, entropy" in drawn
    assert f"<title>* → 1: {trees.marginals[0, 0, 1].item():.3f}</title>" in drawn
    trees.marginals[:, 0, 1].sum().backward()  # looking has not cut off the gradient
    assert scores.grad.abs().sum() > 0
    assert picture(shell, kind(torch.full((1, 2, 2), 3.0))).count('class="cell"') == 1


def test_unloading_puts_things_back(shell):
    assert picture(shell, PARSE)
    shell.run_line_magic("unload_ext", "softparse")
    assert picture(shell, PARSE) is None
    formatter = shell.display_formatter.formatters[SVG]
    formatter.for_type(Parse, lambda parse: "<svg>mine</svg>")
    shell.run_line_magic("load_ext", "softparse")
    assert "nsubj" in picture(shell, PARSE)
    shell.run_line_magic("reload_ext", "softparse")
    assert "nsubj" in picture(shell, PARSE)
    shell.run_line_magic("unload_ext", "softparse")
    assert picture(shell, PARSE) == "<svg>mine</svg>"
    formatter.pop(Parse)


def test_loading_imports_nothing_heavy():
    script = (
        "import sys\nfrom IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\nshell.run_line_magic('load_ext', 'softparse')\n"
        "print(sorted(name for name in sys.modules if name.partition('.')[0] in ('softparse', 'torch')))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['softparse', 'softparse.ext', 'softparse.ext.notebook']"


def test_the_notebook_of_the_page(model, tmp_path, monkeypatch):
    """Each line that shows something is the end of a cell."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    shutil.copytree(model, tmp_path / "MODEL")
    (block,) = re.findall(r"^```\n(%load_ext.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S)
    *start, parse, trees = block.strip().splitlines()
    cells = [nbformat.v4.new_code_cell(code) for code in ("\n".join(start), parse, trees)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    shown = [[output["data"] for output in cell.outputs if "data" in output] for cell in notebook.cells[1:]]
    pictures = [data[SVG] for (data,) in shown]
    assert "nsubj" in pictures[0]
    assert "sentence 2 of 2: 3 words" in pictures[1]


def test_heat_map():
    drawn = heat_svg(["the", "<dog>"], [[0, 0.001, 1.0], [0, 0, 0], [0, 0.5, 0]], "a & b")
    assert "<title>&lt;dog&gt; → the: 0.500</title>" in drawn
    assert 'opacity="0.500"' in drawn
    assert "a &amp; b" in drawn
    ElementTree.fromstring(drawn)
    with pytest.raises(ValueError, match="2 words need a matrix of 3 rows"):
        heat_svg(["a", "b"], [[0.0]])
