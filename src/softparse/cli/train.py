"""softparse train"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import click

from ..learning.observer import Observer, Observers


class ManyFiles(click.Command):
    """A command with options that take several files: `--train a.conllu b.conllu`, as a shell writes `--train *`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        repeated: list[str] = []
        option = None
        for argument in args:
            if argument.startswith("-") and argument != "-":
                option = argument if argument in ("--train", "--dev", "--raw") else None
                is_first = True
            elif option is not None and not is_first:
                repeated.append(option)
            else:
                is_first = False
            repeated.append(argument)
        return super().parse_args(ctx, repeated)


@click.command(cls=ManyFiles)
@click.option(
    "--train",
    "trees",
    multiple=True,
    metavar="FILE...",
    help="Treebanks to learn from (CoNLL-U).",
)
@click.option(
    "--dev",
    multiple=True,
    metavar="FILE...",
    help="Treebank to choose the best epoch on [default: some of the training trees].",
)
@click.option(
    "--raw",
    multiple=True,
    metavar="FILE...",
    help="Raw text to learn from too: a tokenised sentence a line, CoNLL-U, or with --set data.raw_text=true any text.",
)
@click.option("-o", "--output", metavar="MODEL", help="Folder for the model.")
@click.option("--preset", default="default", show_default=True, help="See docs/parser.md for all of them.")
@click.option("--config", "file", metavar="FILE", help="Settings as TOML, over the preset.")
@click.option(
    "--set", "assignments", multiple=True, metavar="KEY=VALUE", help="A setting, for example train.epochs=30."
)
@click.option("--vectors", metavar="FILE", help="External word vectors: text, gzip or binary word2vec.")
@click.option("--init", metavar="MODEL", help="Start from this model; its vocabulary is extended.")
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped.")
@click.option("--force", is_flag=True, help="Replace a model that is there.")
@click.option("--seed", type=int, help="Of the random numbers [default: 1].")
@click.option("--device", help="cpu, cuda or auto [default: auto].")
def train(trees, dev, raw, output, preset, file, assignments, vectors, init, resume, force, seed, device) -> None:
    """Train a parser on treebanks."""
    from ..ext.tensorboard import TensorBoard
    from ..ext.tokenizing import UDPipeMaker
    from ..learning import state
    from ..learning.config import configure
    from ..learning.loop import Interrupted
    from ..learning.self_training import first_step
    from ..learning.training import train as run
    from ..parser import folder

    given = {"train": list(trees), "dev": list(dev), "raw": list(raw)}
    given |= {"output": output, "vectors": vectors, "init": init}
    data = {name: value for name, value in given.items() if value}  # over what the file says, where it is given
    settings = {name: value for name, value in (("seed", seed), ("device", device)) if value is not None}
    is_first = os.environ.get("RANK", "0") == "0"  # of the processes that torchrun starts, one speaks
    with _one_speaking(is_first):
        config = configure(preset, file, assignments, data=data, train=settings)
        for option, value in (("--train", config.data.train or config.data.raw), ("-o", config.data.output)):
            if not value:
                raise click.UsageError(f"{option} is missing, and the file of --config does not have it under [data]")
        output = config.data.output
        observer: Observer = Screen() if is_first else Observer()
        if is_first and TensorBoard.is_installed():
            observer = Observers(observer, TensorBoard(f"{output}.tensorboard"))
        if preset.startswith("paper-vae") and not config.data.raw:
            observer.warn(f"the preset {preset} is for trees and raw text (--raw); this trains on trees alone")
        if resume and not any((state.is_open(output), folder.is_model(output), first_step(output).exists())):
            observer.warn(f"{output}: there is no run to resume, so one begins")
        try:
            run(config, resume=resume, force=force, observer=observer, tokenizers=UDPipeMaker())
        except Interrupted:
            if is_first:
                where = f"the best model so far is in {output}, and " if folder.is_model(output) else ""
                click.echo(f"stopped; {where}--resume goes on from here", err=True)
            sys.exit(1)
    if is_first:
        click.echo(f"the model is in {output}", err=True)


@contextlib.contextmanager
def _one_speaking(is_first: bool) -> Iterator[None]:
    """Errors that all processes of torchrun meet together are told by the first one alone."""
    from ..corpus.problems import CorpusError
    from ..learning.config import ConfigurationError
    from ..learning.distributed import OtherProcessError
    from ..parser import ModelError

    try:
        yield
    except (
        OtherProcessError,
        ConfigurationError,
        CorpusError,
        ModelError,
        FloatingPointError,
        click.UsageError,
    ) as error:
        if not is_first:
            time.sleep(1)  # torchrun ends all processes as soon as one has ended, and the first has to speak
            sys.exit(1)
        if not isinstance(error, OtherProcessError):
            raise
        click.echo(f"error: {error}", err=True)
        sys.exit(1)


class Screen(Observer):
    """Training on standard error: a bar with the time left on a terminal, and a line for every epoch."""

    def __init__(self) -> None:
        self.epochs = 0
        self.bar: Any = None
        self.began = time.monotonic()
        self.first_step: int | None = None
        self.step = self.steps = 0

    def warn(self, message: str) -> None:
        self._line(f"warning: {message}")

    def started(self, summary: dict[str, Any], steps: int, epochs: int) -> None:
        self.epochs, self.first_step, self.began = epochs, None, time.monotonic()
        self._line("; ".join(f"{name.replace('_', ' ')}: {_shown(value)}" for name, value in summary.items()))
        if sys.stderr.isatty():
            from tqdm import tqdm

            self.bar = tqdm(total=steps, unit="batch", dynamic_ncols=True, leave=False)

    def stepped(self, step: int, steps: int, epoch: int, loss: float) -> None:
        if self.first_step is None:
            self.first_step = step - 1
        self.step, self.steps = step, steps
        if self.bar is not None:
            self.bar.set_description(f"epoch {epoch}/{self.epochs}, loss {loss:.3f}", refresh=False)
            self.bar.update(step - self.bar.n)

    def evaluated(self, record: dict[str, Any]) -> None:
        terms = "  ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in record["losses"].items())
        text = f"epoch {record['epoch']:>3}/{self.epochs}  {terms}"
        if "dev" in record:
            best = "  best so far" if record["is_best"] else ""
            text += f"  dev UAS {record['dev']['uas']:.2f}  LAS {record['dev']['las']:.2f}"
            self._line(f"{text}  {self._time_left()}{best}")
        else:
            self._line(f"{text}  {self._time_left()}")
        if record["epoch"] == self.epochs and self.bar is not None:
            self.bar.close()
            self.bar = None

    def diagnosed(self, report: dict[str, Any]) -> None:
        from ..learning.diagnostics import table

        if report:
            self._line(table(report))

    def calibrated(self, summary: dict[str, Any]) -> None:
        if "arcs" not in summary.get("temperature", {}):
            reason = "; ".join(summary.get("notes", [])) or "there are no dev trees"
            remedy = "see softparse calibrate, with trees that were not trained on"
            self._line(f"probabilities are not calibrated: {reason}; {remedy}")
            return
        error = summary["expected_calibration_error"]["arcs"]
        before, after = (f"{100 * error[when]:.1f} %" for when in ("before", "after"))
        temperature = summary["temperature"]["arcs"]
        self._line(f"probabilities calibrated on dev: temperature {temperature:.2f}, error of arcs {before} → {after}")

    def _time_left(self) -> str:
        done = self.step - (self.first_step or 0)
        seconds = (time.monotonic() - self.began) / max(1, done) * max(0, self.steps - self.step)
        return f"{int(seconds // 60)}:{int(seconds % 60):02} left"

    def _line(self, text: str) -> None:
        if self.bar is not None:
            self.bar.clear()
        click.echo(text, err=True)


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else f"{value:,}" if isinstance(value, int) else str(value)
