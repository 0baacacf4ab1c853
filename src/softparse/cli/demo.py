"""softparse demo"""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=Path("soft-tree.svg"))
@click.option("--seed", default=1, show_default=True, help="Of the Gumbel noise.")
def demo(output: Path, seed: int) -> None:
    """Perturb the arc weights of a sentence and watch its relaxed tree harden as the temperature falls."""
    from ..demonstration import run

    run(output, seed)
