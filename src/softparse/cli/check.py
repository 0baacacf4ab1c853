"""softparse check, softparse split"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--multi-root", is_flag=True, help="Several words may hang on the root.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def check(files: tuple[str, ...], multi_root: bool, as_json: bool) -> None:
    """Say what is in treebanks and what is wrong with them. The exit code is 1 if there are errors."""
    from ..corpus.census import inspect

    census = inspect(files, single_root=not multi_root)
    click.echo(json.dumps(census.as_dict(), indent=1, ensure_ascii=False) if as_json else census.text())
    if census.error_count:
        sys.exit(1)


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("-o", "--output", required=True, metavar="DIR")
@click.option(
    "--scheme", type=click.Choice(["modulo", "sections"]), default="modulo", show_default=True,
    help="modulo: every tenth sentence keeps its tree, the others become raw; sections: 1-8 labelled, 9 dev, 0 test.",
)  # fmt: skip
@click.option("--modulus", type=click.IntRange(2), default=10, show_default=True, help="How many sections there are.")
@click.option("--force", is_flag=True, help="Replace files that are there already.")
def split(files: tuple[str, ...], output: str, scheme: str, modulus: int, force: bool) -> None:
    """Split treebanks as the paper does: by the number of the sentence, from 0, over all files."""
    from ..corpus.splits import MODULO, SECTIONS, write_modulo, write_sections

    if scheme == "sections" and modulus < 3:
        raise click.UsageError("sections for training, dev and test are at least 3; use --modulus 3 or more")
    there = [path for name in (MODULO if scheme == "modulo" else SECTIONS)
             if (path := Path(output) / f"{name}.conllu").exists()]  # fmt: skip
    if there and not force:
        raise click.UsageError(
            f"{', '.join(map(str, there))}: there already; use --force to replace, or another folder"
        )
    counts = (write_modulo if scheme == "modulo" else write_sections)(files, output, modulus)
    for name, number in counts.items():
        click.echo(f"{output}/{name}.conllu: {number} sentences", err=True)
