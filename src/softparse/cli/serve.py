"""softparse serve"""

from __future__ import annotations

import click

from .memory import keep_few_kernels


@click.command()
@click.argument("model")
@click.option("--host", default="127.0.0.1", show_default=True, help="0.0.0.0 is every address of this machine.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 is any free one.")
@click.option("--threads", type=click.IntRange(1), help="For parsing [default: all].")
@click.option("--device", default="cpu", show_default=True)
@click.option("--longest", type=click.IntRange(1), default=200, show_default=True, help="Words of a sentence.")
@click.option("--seconds", type=click.FloatRange(0.1, 3600), default=30.0, show_default=True, help="For an answer.")
@click.option("--batch", type=click.IntRange(1), default=64, show_default=True, help="Requests parsed together.")
def serve(model, host, port, threads, device, longest, seconds, batch) -> None:
    """Serve a page for people, where sentences are typed and trees are drawn, and an API for programs.

    Only this machine is served unless --host says otherwise; there are no passwords.
    """
    keep_few_kernels()
    from ..ext.serve import Limits
    from ..ext.serve import serve as run

    if threads:
        import torch

        torch.set_num_threads(threads)
    limits = Limits(sentence_words=longest, seconds=seconds, batch=batch)
    run(model, host, port, limits, device, lambda message: click.echo(message, err=True))
