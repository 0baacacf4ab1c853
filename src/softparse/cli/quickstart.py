"""softparse quickstart: the whole way in a few minutes, as the commands a user would type"""

from __future__ import annotations

from pathlib import Path

import click

SENTENCE = {"en": "The dog that we saw yesterday is sleeping under the old tree .", "tr": "Bu kitap çok güzel .",
            "pt": "Este livro é muito bom ."}  # fmt: skip


@click.command()
@click.option("--treebank", "code", default="en_ewt", show_default=True, help="See `softparse treebank list`.")
@click.option("--epochs", type=click.IntRange(1), default=12, show_default=True)
@click.option("-o", "--output", default="quickstart", show_default=True, metavar="DIR")
@click.option("--sentence", help="Words with spaces between them, to be parsed at the end.")
@click.pass_context
def quickstart(ctx: click.Context, code: str, epochs: int, output: str, sentence: str | None) -> None:
    """Get a treebank, train a parser on a tenth of it, evaluate it, parse a sentence and draw its tree."""
    from ..corpus.treebanks import SPLITS, get

    model, example = f"{output}/model", Path(output) / "example.txt"
    _show("treebank", "get", code, "-o", output)
    paths = get(code, output, report=lambda message: click.echo(message, err=True))
    files = {split: str(path) for path in paths for split in SPLITS if f"-ud-{split}." in path.name}
    for split in SPLITS:
        if split not in files:
            raise click.ClickException(f"the treebank {code} has no {split} part, which is needed here; choose another")
    _run(ctx, "split", files["train"], "-o", output, "--force")
    _run(ctx, "train", "--train", f"{output}/labeled.conllu", "--dev", files["dev"], "-o", model,
         "--set", f"train.epochs={epochs}", "--force")  # fmt: skip
    _run(ctx, "parse", model, files["test"], "-o", f"{output}/test.parsed.conllu")
    _run(ctx, "evaluate", files["test"], f"{output}/test.parsed.conllu")
    text = sentence or SENTENCE.get(code[:2], "")
    if not text:
        return
    example.write_text(text + "\n", encoding="utf-8")
    _run(ctx, "parse", model, str(example), "-o", f"{output}/example.conllu", "--confidence")
    _run(ctx, "show", f"{output}/example.conllu")
    _run(ctx, "show", f"{output}/example.conllu", "--format", "svg", "-o", f"{output}/example.svg")
    click.echo(f"the tree is drawn in {output}/example.svg; the model is {model}", err=True)


def _run(ctx: click.Context, *arguments: str) -> None:
    """Show a command and run it."""
    _show(*arguments)
    assert ctx.parent is not None
    ctx.parent.command.main(list(arguments), prog_name="softparse", standalone_mode=False)


def _show(*arguments: str) -> None:
    shown = " ".join(f"'{argument}'" if " " in argument else argument for argument in arguments)
    click.echo(f"$ softparse {shown}", err=True)
