"""softparse evaluate"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..corpus.sentence import Sentence


@click.command()
@click.argument("gold")
@click.argument("predicted")
@click.argument("second", required=False)
@click.option(
    "--breakdown", is_flag=True, help="Recall and precision by distance and label, scores by sentence length."
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.option("--draws", type=click.IntRange(1), default=10_000, show_default=True, help="Of the paired bootstrap.")
def evaluate(gold: str, predicted: str, second: str | None, breakdown: bool, as_json: bool, draws: int) -> None:
    """Score predicted trees (UAS, LAS, CLAS); two predictions are compared by a paired bootstrap.

    The words must be the same in all files. Labels are universal: acl:relcl counts as acl.
    """
    from ..corpus.conllu import read
    from ..corpus.files import STANDARD, can_be_read_again, lines
    from ..corpus.formats import TEXT, beginning, detect, named
    from ..evaluation import break_down, compare, report, score
    from ..evaluation.doubts import Doubts

    files = [predicted] + ([second] if second else [])
    if [gold, *files].count(STANDARD) > 1:
        raise click.UsageError("only one of the files can be standard input")
    for path in [gold, *files]:
        if can_be_read_again(path) and not named(path) and detect(beginning(lines(path))) == TEXT:
            raise click.UsageError(f"{path}: is plain text without trees; parse it first (softparse parse)")
    kept = {path: list(read(path)) for path in (gold, *files) if not can_be_read_again(path)}

    def sentences(path: str) -> Iterable[Sentence]:
        return kept[path] if path in kept else read(path)

    doubts = [Doubts(gold, is_gold=True), *(Doubts(file, is_gold=False) for file in files)]
    scores = []
    for place, file in enumerate(files):
        right = sentences(gold) if place else doubts[0].watch(sentences(gold))
        scores.append(score(right, doubts[place + 1].watch(sentences(file))))
    for doubt in doubts:
        for message in doubt.messages():
            click.echo(f"warning: {message}", err=True)
    comparison = None
    if second:
        comparison = compare(sentences(gold), sentences(predicted), sentences(second), draws)
    parts = [break_down(sentences(gold), sentences(file)) for file in files] if breakdown else []
    if as_json:
        result: dict = {"gold": gold, "predictions": []}
        for place, file in enumerate(files):
            entry: dict = {"file": file, "scores": scores[place].as_dict()}
            if parts:
                entry["breakdown"] = parts[place].as_dict()
            result["predictions"].append(entry)
        if comparison:
            result["comparison"] = comparison.as_dict()
        click.echo(json.dumps(result, indent=1, ensure_ascii=False))
        return
    if second is None:
        click.echo(report(scores[0]))
    else:
        click.echo(report(scores[0], scores[1], comparison, (predicted, second)))
    for file, part in zip(files, parts, strict=False):
        click.echo(f"\n{file}\n\n{part.text()}" if second else f"\n{part.text()}")
