"""softparse show, softparse info"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..corpus.sentence import Sentence


KINDS = {".svg": "svg", ".html": "html", ".htm": "html", ".tex": "tikz"}  # by the end of a name


@click.command()
@click.argument("file")
@click.option(
    "--format", "kind", type=click.Choice(["text", "svg", "html", "tikz"]),
    help="[default: by the name of OUT (.svg, .html, .tex); otherwise text]",
)  # fmt: skip
@click.option("-o", "--output", metavar="OUT", help="File to write [default: standard output].")
@click.option("--first", type=click.IntRange(1), default=1, show_default=True, help="The first sentence to show.")
@click.option("--number", type=click.IntRange(1), help="How many sentences [default: all; 1 for svg].")
def show(file: str, kind: str | None, output: str | None, first: int, number: int | None) -> None:
    """Draw the trees of a file."""
    kind = kind or KINDS.get(Path(output or "").suffix.lower(), "text")
    from ..corpus.conllu import read
    from ..corpus.files import name_of, written
    from ..corpus.problems import CorpusError
    from ..drawing import tree_html, tree_svg, tree_text, tree_tikz

    if kind == "svg" and number not in (None, 1):
        raise click.UsageError("an SVG file shows one sentence; use --format html for several")
    count = 1 if kind == "svg" else number
    chosen = itertools.islice(read(file), first - 1, None if count is None else first - 1 + count)
    with written(output) as out:
        rest = map(_drawable, chosen)
        start = next(rest, None)
        if start is None:
            raise CorpusError(f"{name_of(file)}: there is no sentence number {first}")
        sentences = itertools.chain([start], rest)
        if kind == "html":
            out.write(tree_html(list(sentences)).encode())
            return
        for sentence in sentences:
            tree = sentence.words, sentence.heads, sentence.labels
            if kind == "text":
                name = f"# {sentence.sent_id}\n" if sentence.sent_id else ""
                out.write(f"{name}{tree_text(*tree)}\n\n".encode())
            else:
                out.write(f"{(tree_svg if kind == 'svg' else tree_tikz)(*tree)}\n".encode())


def _drawable(sentence: Sentence) -> Sentence:
    """The sentence, if its heads are numbers of its words."""
    from ..corpus.problems import CorpusError
    from ..drawing.tree import check_tree

    try:
        check_tree(sentence.words, sentence.heads, sentence.labels)
    except CorpusError:
        raise
    except ValueError as error:
        raise CorpusError(str(sentence.problem(f"cannot be drawn: {error}"))) from None
    return sentence


@click.command()
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Write configuration and metrics as JSON.")
def info(model: str, as_json: bool) -> None:
    """Say what a model is and how good it was on dev."""
    from ..ext.tokenizing import description
    from ..parser.card import with_probabilities
    from ..parser.folder import CARD, METRICS, load, read_config

    parser = load(model)  # a damaged model has nothing to say
    folder = Path(model)
    if as_json:
        metrics = json.loads((folder / METRICS).read_text(encoding="utf-8"))
        content = {"config": read_config(folder), "metrics": metrics, "plain_text": description(folder)}
        click.echo(json.dumps(content, indent=1, ensure_ascii=False))
    else:
        card = (folder / CARD).read_text(encoding="utf-8")  # of an older release, it says nothing of probabilities
        click.echo(with_probabilities(card, parser), nl=False)
        click.echo(f"Plain text (softparse parse --text) is cut into sentences and words {description(folder)}.")
