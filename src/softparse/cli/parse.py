"""softparse parse"""

from __future__ import annotations

import sys
import time

import click


@click.command()
@click.argument("model")
@click.argument("inputs", nargs=-1, required=True, metavar="IN...")
@click.option(
    "-o", "--output", metavar="OUT", help="File to write, packed if it ends in .gz [default: standard output]."
)
@click.option(
    "--format", "kind", type=click.Choice(["conllu", "conllx", "text"]), help="Of the input [default: found out]."
)
@click.option("--text", is_flag=True, help="The input is running text: cut it into sentences and words first.")
@click.option("--confidence", is_flag=True, help="Probability of each arc in MISC, of the tree in a comment.")
@click.option(
    "--kbest", type=click.IntRange(1), default=1, metavar="K", help="Write the K best trees of each sentence."
)
@click.option("--complete", is_flag=True, help="Keep the heads that the input has, and add the others.")
@click.option("--clear-deps", is_flag=True, help="Clear the column DEPS and remove empty nodes.")
@click.option("--decode", type=click.Choice(["eisner", "mbr", "nonprojective"]), help="How [default: the model's way].")
@click.option("--single-root/--multi-root", default=None, help="How many words may hang on the root.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--threads", type=click.IntRange(1), help="Threads of each process [default: all, 1 with workers].")
@click.option("--device", default="cpu", show_default=True)
def parse(model, inputs, output, kind, text, confidence, kbest, complete, clear_deps, decode, single_root, workers,
          threads, device) -> None:  # fmt: skip
    """Parse files of sentences: CoNLL-U, CoNLL-X, or one tokenised sentence a line; .gz too, - is standard input.

    Everything in the input stays as it is, but for HEAD and DEPREL of the words. With --text, any plain text.
    """
    from ..corpus.files import written
    from ..ext.tokenizing import tokenizer_of
    from ..parser.bulk import Options, parse_files, parse_stream

    if text and kind:
        raise click.UsageError(f"--text is running text, --format {kind} is sentences that are tokenised; give one")
    options = Options(confidence, kbest, complete, clear_deps, decode, single_root)
    kind = "conllu" if kind == "conllx" else kind
    started, sentences, words = time.perf_counter(), 0, 0
    bar = None
    if sys.stderr.isatty():
        from tqdm import tqdm

        bar = tqdm(unit=" sentences", unit_scale=True, dynamic_ncols=True, leave=False)
    if text:
        sentences_of_text = tokenizer_of(model).read_all(inputs)
        blocks = parse_stream(model, sentences_of_text, options, workers, threads, device)
    else:
        blocks = parse_files(model, inputs, options, kind, workers, threads, device)
    with written(output) as file:
        for block, number, size in blocks:
            file.write(block)
            sentences, words = sentences + number, words + size
            if bar is not None:
                bar.update(number)
    if bar is not None:
        bar.close()
    seconds = time.perf_counter() - started
    click.echo(f"{sentences:,} sentences, {words:,} words in {seconds:.1f} s, loading included", err=True)
