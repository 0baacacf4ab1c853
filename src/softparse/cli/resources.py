"""softparse treebank, softparse vectors: data for a newcomer"""

from __future__ import annotations

import click


def _say(message: str) -> None:
    click.echo(message, err=True)


@click.group()
def treebank() -> None:
    """Get treebanks."""


@treebank.command("list")
def list_treebanks() -> None:
    """Treebanks that come with package registries; `get` also knows those of Universal Dependencies."""
    from ..corpus.treebanks import listing

    for entry in listing():
        sizes = " / ".join(f"{number:,}" for number in entry.sentences)
        click.echo(f"{entry.code}\t{entry.language}\t{entry.what}\t{sizes} sentences\t{entry.licence}")


@treebank.command("get")
@click.argument("code")
@click.option("-o", "--output", default=".", metavar="DIR", show_default=True)
@click.option("--from", "source", metavar="DIR", help="A folder of treebanks to take it from, instead of downloading.")
@click.option("--force", is_flag=True, help="Replace files of other content.")
def get_treebank(code: str, output: str, source: str | None, force: bool) -> None:
    """Write CODE-ud-{train,dev,test}.conllu. CODE: see list, or cy_ccg, cy_ccg@2.16 or UD_Welsh-CCG of Universal
    Dependencies."""
    from ..corpus.treebanks import get

    for path in get(code, output, source, _say, force):
        click.echo(path)


@click.group()
def vectors() -> None:
    """Get or train word vectors."""


@vectors.command("list")
def list_vectors() -> None:
    """Vectors that come with package registries."""
    from ..corpus.vector_sources import listing

    for entry in listing():
        size = f"{entry.words:,} words of {entry.dimension}"
        click.echo(f"{entry.code}\t{entry.language}\t{entry.what}\t{size}\t{entry.licence}")


@vectors.command("get")
@click.argument("code")
@click.option("-o", "--output", default=".", metavar="DIR", show_default=True)
@click.option("--force", is_flag=True, help="Replace a file of other content.")
def get_vectors(code: str, output: str, force: bool) -> None:
    """Write CODE.vec.gz."""
    from ..corpus.vector_sources import get

    click.echo(get(code, output, _say, force))


@vectors.command("train")
@click.argument("raw", nargs=-1, required=True)
@click.option("-o", "--output", required=True, metavar="FILE", help="Packed if it ends in .gz.")
@click.option("--dimension", type=click.IntRange(1), default=100, show_default=True)
@click.option("--epochs", type=click.IntRange(1), show_default="5 to 30, the more the shorter the text is")
@click.option("--window", type=click.IntRange(1), default=5, show_default=True)
@click.option("--min-count", type=click.IntRange(1), default=2, show_default=True)
@click.option("--algorithm", type=click.Choice(["skip-gram", "subword"]), default="skip-gram", show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="With more, results vary.")
def train_vectors(raw, output, dimension, epochs, window, min_count, algorithm, seed, workers) -> None:
    """Train word vectors on text: one tokenised sentence a line, or CoNLL-U."""
    from ..ext.gensim_vectors import train_vectors as run

    run(
        list(raw), output, dimension=dimension, epochs=epochs, window=window, min_count=min_count,
        algorithm=algorithm, seed=seed, workers=workers, report=_say,
    )  # fmt: skip
