"""An epoch of supervised training against its floor: the LSTM of the encoder alone, forward and backward.

    python benchmarks/training.py --train TREES.conllu [--threads 2]

Both run on the same batches, in turns, batch by batch; so whatever else the machine does troubles both alike. The
floor is a bare `torch.nn.LSTM` of the encoder's layers, directions and sizes on batches of the same shapes, with the
gradients of inputs and weights. Dev evaluation is not part of an epoch here.
"""

from __future__ import annotations

import sys

# As a script, this folder would come first on the path, and operator.py in the place of Python's own.
sys.path[:] = [folder for folder in sys.path if not folder.endswith("benchmarks")]

import os

os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # as the command line does

import argparse
import json
import platform
import time
from pathlib import Path

import torch

from softparse.learning.config import configure
from softparse.learning.data import load
from softparse.learning.distributed import Group
from softparse.learning.loop import Loop
from softparse.learning.new_parser import make_parser
from softparse.learning.observer import Observer
from softparse.learning.plan import Update


def floor(loop: Loop, lstm: torch.nn.LSTM, batch: Update) -> float:
    """Seconds for the LSTM on a batch of the same shape."""
    size = max(map(len, batch.trees)) + 1
    inputs = torch.randn(size, len(batch.trees), lstm.input_size, requires_grad=True)
    slope = torch.randn(size, len(batch.trees), 2 * lstm.hidden_size)
    lstm.zero_grad(set_to_none=True)
    start = time.perf_counter()
    lstm(inputs)[0].backward(slope)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--set", dest="assignments", action="append", default=[])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "training.json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    config = configure(arguments.preset, assignments=arguments.assignments, data={"train": [arguments.train]})
    data = load(config.data, config.decoding.single_root, print)
    loop = Loop(make_parser(config, data, Observer()), data, config, Group(), Observer())
    encoder = config.model.encoder
    bare = torch.nn.LSTM(loop.network.words.dimension, encoder.hidden, encoder.layers, bidirectional=True)
    batches = loop.updates(0)
    for batch in batches[:5]:  # kernels are compiled and memory is in place
        loop.step(batch, 0.0)
        floor(loop, bare, batch)
    epoch = lstm = 0.0
    for batch in batches:
        start = time.perf_counter()
        loop.step(batch, 0.0)
        epoch += time.perf_counter() - start
        lstm += floor(loop, bare, batch)
    words = sum(len(tree) for batch in batches for tree in batch.trees)  # few trees come several times
    result = {
        "preset": arguments.preset,
        "sentences": len(loop.lengths),
        "words": words,
        "epoch_seconds": epoch,
        "lstm_seconds": lstm,
        "ratio": epoch / lstm,
        "machine": {"processor": platform.processor() or platform.machine(), "threads": arguments.threads},
        "versions": {"torch": torch.__version__},
    }
    print(f"{len(loop.lengths)} sentences, {words} words, {len(batches)} batches, {arguments.threads} threads")
    print(f"an epoch: {epoch:.1f} s ({words / epoch:.0f} words/s); LSTM alone: {lstm:.1f} s; ratio {epoch / lstm:.2f}")
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
