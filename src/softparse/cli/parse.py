"""softparse parse"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from .memory import keep_few_kernels

if TYPE_CHECKING:
    from ..corpus.sentence import Sentence

WATCHED = 4  # windows, some hundred sentences each


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
    "--kbest",
    type=click.IntRange(1),
    default=1,
    metavar="K",
    help="Write K trees of each sentence, after the first the likeliest others.",
)
@click.option("--complete", is_flag=True, help="Keep the heads that the input has, and add the others.")
@click.option("--clear-deps", is_flag=True, help="Clear the column DEPS and remove empty nodes.")
@click.option("--decode", type=click.Choice(["eisner", "mbr", "nonprojective"]), help="How [default: the model's way].")
@click.option("--single-root/--multi-root", default=None, help="How many words may hang on the root.")
@click.option(
    "--workers", type=click.IntRange(1), help="Processes [default: 1; with ray as many as there are processors]."
)
@click.option("--threads", type=click.IntRange(1), help="Threads of each process [default: all, 1 with workers].")
@click.option("--device", default="cpu", show_default=True)
@click.option(
    "--engine",
    type=click.Choice(["processes", "ray"]),
    default="processes",
    show_default=True,
    help="Who does it: processes of this machine, or a Ray cluster, which fills a folder OUT with a file for each IN "
    "and goes on where an earlier run was stopped.",
)
@click.option("--ray-address", metavar="ADDRESS", help="Of the cluster [default: RAY_ADDRESS, or one started here].")
def parse(model, inputs, output, kind, text, confidence, kbest, complete, clear_deps, decode, single_root, workers,
          threads, device, engine, ray_address) -> None:  # fmt: skip
    """Parse files of sentences: CoNLL-U, CoNLL-X, or one tokenised sentence a line; .gz too, - is standard input.

    Everything in the input stays as it is, but for HEAD and DEPREL of the words. With --text, any plain text.
    """
    keep_few_kernels()
    from ..corpus.files import STANDARD, is_same
    from ..corpus.formats import named
    from ..parser.bulk import Options

    if text and kind:
        raise click.UsageError(f"--text is running text, --format {kind} is sentences that are tokenised; give one")
    if inputs.count(STANDARD) > 1:
        raise click.UsageError("- is given twice, and standard input can be read once")
    for path in inputs:
        if text and named(path):
            raise click.UsageError(f"{path}: is CoNLL-U by its name, so it is tokenised; leave out --text")
        if output is not None and is_same(path, output):
            raise click.UsageError(f"{path}: is the input too, and its trees would be lost; write to another file")
    options = Options(confidence, kbest, complete, clear_deps, decode, single_root)
    kind = "conllu" if kind == "conllx" else kind
    started, sentences, words = time.perf_counter(), 0, 0
    if engine == "ray":
        if output is None:
            raise click.UsageError("--engine ray fills a folder with a file for every input; name it with -o")
        if device != "cpu":
            raise click.UsageError("--engine ray parses on CPUs; leave out --device")
        from ..ext.ray_bulk import RUNNING_TEXT, parse_shards

        kind = RUNNING_TEXT if text else kind
        amounts = parse_shards(model, inputs, output, options, kind, workers, threads or 1, ray_address)
    else:
        if ray_address:
            raise click.UsageError("--ray-address belongs to --engine ray")
        amounts = _written(output, _blocks(text, kind, inputs, model, options, workers or 1, threads, device))
    bar = None
    if sys.stderr.isatty():
        from tqdm import tqdm

        bar = tqdm(unit=" sentences", unit_scale=True, dynamic_ncols=True, leave=False)
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.closing(amounts))
        if engine == "ray":  # which says there what has happened to its machines
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        for number, size in amounts:
            sentences, words = sentences + number, words + size
            if bar is not None:
                bar.update(number)
    if bar is not None:
        bar.close()
    seconds = time.perf_counter() - started
    click.echo(f"{sentences:,} sentences, {words:,} words in {seconds:.1f} s, loading included", err=True)


def _blocks(text: bool, kind: str | None, inputs: Sequence[str], model: str, *arguments: Any) -> Iterator[Any]:
    """Parsed sentences of files, or of running text."""
    from ..ext.tokenizing import tokenizer_of
    from ..parser.bulk import parse_stream, windows, windows_of

    found = windows_of(tokenizer_of(model).read_all(inputs)) if text else _watched(windows(inputs, kind))
    return parse_stream(model, found, *arguments)


def _watched(windows: Iterable[list[Sentence]]) -> Iterator[list[Sentence]]:
    """The same; at the end it is told if the first ones look like running text."""
    from ..corpus.raw_survey import tokenisation_doubt

    counts: Counter[str] = Counter()
    for number, window in enumerate(windows):
        if number < WATCHED:
            counts.update(word for sentence in window for word in sentence.words)
        yield window
    doubt = tokenisation_doubt(counts)
    if doubt:
        click.echo(f"warning: the input {doubt}; if it is running text, use --text", err=True)


def _written(output: str | None, blocks: Iterable[Any]) -> Generator[tuple[int, int], None, None]:
    """Write what is parsed into one file; numbers of sentences and words as it is written."""
    from ..corpus.files import written

    with written(output) as file:
        for block, sentences, words in blocks:
            file.write(block)
            yield sentences, words
