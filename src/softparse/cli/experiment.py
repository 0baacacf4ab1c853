"""softparse experiment"""

from __future__ import annotations

import sys
from pathlib import Path

import click

DATA = click.option(
    "--data", type=click.Path(path_type=Path), default=Path("data"), show_default=True, envvar="SOFTPARSE_DATA",
    help="Folder of the public files that the settings name.",
)  # fmt: skip
WORK = click.option(
    "--work", type=click.Path(path_type=Path), default=Path("experiments/work"), show_default=True,
    help="Folder for models and parses.",
)  # fmt: skip
RESULTS = click.option(
    "--results", type=click.Path(path_type=Path), default=Path("experiments/results"), show_default=True,
    help="Folder of the results.",
)  # fmt: skip


@click.group()
def experiment() -> None:
    """Run grids of training runs, and make tables of them."""


@experiment.command()
@click.argument("rows", nargs=-1, required=True)
@click.option("--seeds", type=click.IntRange(1), help="Runs of each row and setting [default: as the row says].")
@click.option("--setting", "settings", multiple=True, help="Only this one (may be repeated).")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Runs at a time.")
@click.option("--renew", is_flag=True, help="Make results again that were made otherwise than their rows say now.")
@DATA
@WORK
@RESULTS
def run(rows, seeds, settings, jobs, renew, data, work, results) -> None:
    """Run rows of tables: TOML files, or folders of them. What has a result already is left alone."""
    from ..experiment.grid import Grid
    from ..experiment.rows import rows_in, tasks_of

    tasks = tasks_of(rows_in(rows), seeds, settings)
    grid = Grid(tasks, data, work, results, jobs, renew, lambda message: click.echo(message, err=True))
    if not grid.run():
        sys.exit(1)


@experiment.command(hidden=True)
@click.argument("row", type=click.Path(path_type=Path))
@click.argument("setting")
@click.argument("seed", type=int)
@DATA
@WORK
@RESULTS
def one(row, setting, seed, data, work, results) -> None:
    """One run of a row, in this process."""
    from ..corpus.locks import Taken
    from ..experiment.grid import ELSEWHERE
    from ..experiment.rows import Task, read_row, row_path
    from ..experiment.run import run as run_one
    from ..learning.loop import Interrupted
    from .train import Screen

    try:
        click.echo(run_one(Task(row_path(row), read_row(row)[0], setting, seed), data, work, results, Screen()))
    except Taken:
        click.echo("another process is at this run", err=True)
        sys.exit(ELSEWHERE)
    except Interrupted:
        raise click.ClickException("stopped; the same command goes on with it") from None


@experiment.command()
@click.argument("tables", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--part", type=click.Choice(["dev", "test"]), help="Test, where it was scored.")
def table(tables, part) -> None:
    """Print the results below folders (experiments/results/NAME) as Markdown tables, with the differences of rows."""
    from ..experiment.comparisons import versus_table
    from ..experiment.findings import parts_of
    from ..experiment.results import read_results
    from ..experiment.tables import note
    from ..experiment.tables import table as made

    results = read_results(tables)
    _warn_of_mixed(results)
    part = part or next(iter(parts_of(results)), "test")
    click.echo(made(results, part))
    if note(results):
        click.echo(f"\n{note(results)}")
    if any(result["options"].get("against") for result in results):
        click.echo(f"\n{versus_table(results, part)}")


def _warn_of_mixed(results) -> None:
    from ..experiment.agreement import mixed

    for message in mixed(results):
        click.echo(f"warning: {message}", err=True)


@experiment.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("report.html"), show_default=True)
@click.option("--markdown", type=click.Path(path_type=Path), help="Write the tables to this file too.")
@click.option(
    "--settings",
    type=click.Path(path_type=Path),
    default=Path("experiments/settings"),
    show_default=True,
    help="Folder of the settings, for examples.",
)
@DATA
@WORK
@RESULTS
def report(output, markdown, settings, data, work, results) -> None:
    """Make a page of all results: tables, curves, what changed, and examples of the settings whose data is there."""
    from ..corpus.files import replacing
    from ..experiment.examples import dev_files
    from ..experiment.findings import Findings
    from ..experiment.report import Report
    from ..experiment.results import read_results

    read = read_results([results])
    _warn_of_mixed(read)
    dev, missing = dev_files(read, settings, data, work)
    for reason in missing:
        click.echo(f"no examples: {reason}", err=True)
    findings = Findings(read)
    with replacing(output) as file:
        file.write(Report(findings, dev).html().encode())
    if markdown:
        with replacing(markdown) as file:
            file.write(findings.markdown().encode())
    click.echo(f"the page is {output}", err=True)
