"""Labelled trees as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .tree import Tree
from .tree_svg import tree_svg
from .width import is_right_to_left, printable

STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem;color:#1b3a57;background:#fff}
h1{font-size:1.5rem}
h2{font-size:1.05rem;margin:0}
section{border-top:1px solid #b8c4cf;padding:1rem 0}
.name{font-size:.85rem;color:#5a6b7a;margin:0}
.picture{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;margin:.5rem 0}
th,td{padding:.15rem .8rem;border-bottom:1px solid #b8c4cf;text-align:start}
@media(prefers-color-scheme:dark){
body{color:#dbe6f0;background:#161b22}
.name{color:#9fb0bf}
}
"""


def tree_html(
    sentences: Iterable[Tree],
    title: str = "Dependency trees",
    probabilities: Sequence[Sequence[float]] | None = None,
) -> str:
    """A page with a section for every tree: its words, its picture, and a table of its heads, which a screen reader
    can read. A sentence has `words`, `heads` and `labels`, and is named by its `sent_id` if it has one.

    >>> from types import SimpleNamespace
    >>> page = tree_html([SimpleNamespace(words=["They", "walk"], heads=[2, 0], labels=["nsubj", "root"])])
    >>> page.count("<svg"), page.count("<tr>")
    (1, 3)
    """
    sentences = list(sentences)
    if probabilities is not None and len(probabilities) != len(sentences):
        raise ValueError(f"{len(sentences)} sentences need as many lists of probabilities, not {len(probabilities)}")
    sections = [
        _section(number, sentence, None if probabilities is None else probabilities[number - 1])
        for number, sentence in enumerate(sentences, 1)
    ]
    heading = escape(printable(title))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{heading}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{heading}</h1>\n"
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


def _section(number: int, sentence: Tree, probabilities: Sequence[float] | None) -> str:
    words, heads, labels = sentence.words, sentence.heads, sentence.labels
    picture = tree_svg(words, heads, labels, probabilities)
    table = heads_table(words, heads, labels, probabilities)
    direction = "rtl" if is_right_to_left(words) else "ltr"
    name = getattr(sentence, "sent_id", None) or str(number)
    return (
        f'<section>\n<p class="name">{escape(printable(name))}</p>\n'
        f'<h2 dir="{direction}">{escape(printable(" ".join(words)))}</h2>\n'
        f'<div class="picture" dir="{direction}">{picture}</div>\n'
        f"<details><summary>Heads as a table</summary>\n{table}\n</details>\n"
        "</section>"
    )


def heads_table(
    words: Sequence[str], heads: Sequence[int], labels: Sequence[str], probabilities: Sequence[float] | None = None
) -> str:
    """A tree as a table in HTML, which a screen reader can read."""
    names = ["", "word", "head", "label"] + ([] if probabilities is None else ["probability"])
    rows = ["<tr>" + "".join(f'<th scope="col">{name}</th>' for name in names) + "</tr>"]
    for place, (word, head, label) in enumerate(zip(words, heads, labels, strict=True), 1):
        above = "not known" if head < 0 else "root" if head == 0 else f"{head} {words[head - 1]}"
        cells = [word, above, label] + ([] if probabilities is None else [f"{probabilities[place - 1]:.3f}"])
        texts = "".join(f'<td dir="auto">{escape(printable(cell))}</td>' for cell in cells)
        rows.append(f'<tr><th scope="row">{place}</th>{texts}</tr>')
    return "<table>\n" + "\n".join(rows) + "\n</table>"
