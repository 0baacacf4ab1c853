"""softparse calibrate"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..corpus.sentence import Sentence
    from ..learning.calibration import Calibration
    from ..parser import Parser


@click.command()
@click.argument("model")
@click.argument("trees", metavar="DEV")
@click.option("--test", metavar="FILE", help="Trees to measure on [default: those that the temperature is fitted on].")
@click.option("--svg", "picture", metavar="FILE", help="Draw the reliability, before and after.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.option("--no-save", is_flag=True, help="Leave the model as it is.")
def calibrate(model: str, trees: str, test: str | None, picture: str | None, as_json: bool, no_save: bool) -> None:
    """Fit a model's temperatures on trees that it was not trained on, so that its probabilities mean what they say.

    Shows how often predictions of a probability are right, before and after, and stores the temperatures in the model.
    The most probable tree of a sentence stays the same.
    """
    from ..corpus.files import is_same, name_of, written
    from ..learning.calibration import calibrate as fit
    from ..parser.folder import load, update_calibration

    parser = load(model)
    if any(is_same(trees, path) for path in parser.metrics.get("data", {}).get("trees", [])):
        click.echo(f"warning: {name_of(trees)}: the model was trained on it, and is surer of it than of other text; "
                   "calibrate on trees that it has not seen", err=True)  # fmt: skip
    sentences = _sentences(parser, trees)
    others = _sentences(parser, test) if test else None
    found = fit(parser, sentences, measured_on=others, names=(name_of(trees), name_of(test or "")))
    if picture:
        with written(picture) as file:
            file.write(_drawn(found).encode())
    is_saved = bool(found.fitted) and not no_save
    if is_saved:
        update_calibration(parser, model)
    click.echo(
        json.dumps({"model": model, **found.as_dict()}, indent=1, ensure_ascii=False) if as_json else found.text()
    )
    click.echo(f"the temperatures are in {model}" if is_saved else f"{model} is as it was", err=True)


def _sentences(parser: Parser, path: str) -> list[Sentence]:
    """Those with trees, checked as for training."""
    from ..learning.data import with_trees

    def warn(message: str) -> None:
        click.echo(f"warning: {message}", err=True)

    return with_trees([path], parser.config.decoding.single_root, warn)


def _drawn(found: Calibration) -> str:
    from ..drawing.reliability_svg import Bar, Panel, reliability_svg
    from ..learning.calibration import KINDS

    at = found.temperatures
    rows = []
    for (name, before), (_, after) in zip(found.before, found.after, strict=True):
        labels = f", of labels {at.labels:.2f}" if name == "labelled_arcs" else ""
        titles = "before: temperature 1", f"after: temperature {at.arcs:.2f}{labels}"
        panels = [
            Panel(title, whole.error, [Bar(*bin) for bin in whole.bins])
            for title, whole in zip(titles, (before, after), strict=True)
        ]
        rows.append((KINDS[name], panels))
    return reliability_svg(rows)
