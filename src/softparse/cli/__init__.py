"""The command line. Nothing heavy is imported before a command needs it.

Standard output carries data only; progress, logs and errors go to standard error. Exit codes: 0 done, 1 something is
wrong with the input or the run, 2 the command was not understood.
"""

from __future__ import annotations

import io
import logging
import os
import sys
from typing import Any

import click

from .calibrate import calibrate
from .check import check, split
from .demo import demo
from .evaluate import evaluate
from .experiment import experiment
from .parse import parse
from .quickstart import quickstart
from .resources import treebank, vectors
from .serve import serve
from .show import info, show
from .train import train


class Commands(click.Group):
    """A group whose commands end with a message, never with a traceback, when the input is to blame."""

    def invoke(self, ctx: click.Context) -> Any:
        # OpenMP's threads spin when they wait, for so long that beside other work on the machine training with two of
        # them has been seen to take 100 times as long; not at all would make it twice as slow on a quiet machine. This
        # has to be said before torch is imported.
        if "OMP_WAIT_POLICY" not in os.environ:
            os.environ.setdefault("GOMP_SPINCOUNT", "1000")
        if isinstance(sys.stdout, io.TextIOWrapper):  # what its encoding does not have is shown by its number
            sys.stdout.reconfigure(errors="backslashreplace")
        logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
        logging.getLogger(__package__.partition(".")[0]).setLevel(logging.INFO)  # others say less
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # whoever read our output has had enough
            _give_up_output()
            sys.exit(1)
        except (OSError, ValueError, FloatingPointError) as error:
            if ctx.params.get("traceback") or not _is_expected(error):
                raise
            _give_up_output()
            click.echo(f"error: {_message(error)}", err=True)
            sys.exit(1)
        except MemoryError as error:
            if ctx.params.get("traceback"):
                raise
            remedy = "fewer trees (--kbest), workers, or words of a batch (train.batch_words) take less"
            click.echo(f"error: not enough memory ({error or 'for what was asked'}); {remedy}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
            sys.exit(1)


def _is_expected(error: Exception) -> bool:
    """Errors that speak to a user: of files, models and settings, and of the operating system."""
    names = ("CorpusError", "ModelError", "ConfigurationError", "FloatingPointError")
    return isinstance(error, OSError) or any(kind.__name__ in names for kind in type(error).__mro__)


def _message(error: Exception) -> str:
    """What is wrong, after the name of the file, as in all other messages."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _give_up_output() -> None:
    """Let go of what standard output does not take; otherwise Python would try again at its end, and complain."""
    try:
        if sys.stdout is not None:  # closed
            sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (Python flushes it at exit)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="softparse")
@click.option("--traceback", is_flag=True, hidden=True, help="Show where an error comes from.")
def main(traceback: bool) -> None:
    """Dependency parsing with few trees."""


for _command in (quickstart, train, parse, evaluate, calibrate, check, split, treebank, vectors, show, info, serve,
                 experiment, demo):  # fmt: skip
    main.add_command(_command)
