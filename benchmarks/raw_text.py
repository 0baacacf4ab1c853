"""An epoch with raw text against one without, and the tree operator's share of it.

    python benchmarks/raw_text.py --train TREES.conllu --raw RAW.txt [--threads 2]

The two kinds of epoch take turns, some updates of each at a time, so that whatever else the machine does troubles both
alike. The epoch with raw text is one in which all terms count, with as many raw sentences as trees. The operator is
timed by itself, forward and backward, on scores of the same shapes. Other output layers are reported beside the
default one, and the decoder of the paper. Dev evaluation is not part of an epoch here.
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

from softparse.learning.config import configure, settled
from softparse.learning.data import load
from softparse.learning.distributed import Group
from softparse.learning.loop import Loop
from softparse.learning.new_parser import make_parser
from softparse.learning.observer import Observer
from softparse.learning.plan import Update
from softparse.learning.raw_setup import make_unlabelled
from softparse.trees import relaxed_parse

VARIANTS = {
    "default": [],
    "without teacher": ["objective.teacher=0"],
    "softmax": ["generative.output.kind=softmax"],
    "nce": ["generative.output.kind=nce"],
    "adaptive": ["generative.output.kind=adaptive", "generative.tied=false"],
    "decoder with its own LSTM": ["generative.states=own", "generative.inputs=shared"],
}
FROM_THE_START = ["objective.labelled_from=1", "objective.raw_from=1", "objective.teacher_from=1"]


def make(arguments: argparse.Namespace, assignments: list[str], raw: bool) -> Loop:
    data = {"train": [arguments.train], "held_out": 0.0, "raw": [arguments.raw] if raw else []}
    config = settled(configure(assignments=[*FROM_THE_START, *arguments.assignments, *assignments], data=data))
    found = load(config.data, config.decoding.single_root, lambda message: None)
    parser = make_parser(config, found, Observer())
    return Loop(parser, found, config, Group(), Observer(), make_unlabelled(config, found, parser, Observer()))


def timed(loop: Loop, updates: list[Update]) -> float:
    start = time.perf_counter()
    for update in updates:
        loop.step(update, 0.0)
    return time.perf_counter() - start


def operator_seconds(updates: list[Update]) -> float:
    """Seconds of perturb-and-parse for the raw sentences of these updates."""
    total = 0.0
    for update in updates:
        if update.raw:
            lengths = torch.tensor([len(words) for words in update.raw])
            size = int(lengths.max()) + 1
            scores = torch.randn(len(lengths), size, size, requires_grad=True)
            slope = torch.randn(len(lengths), size, size)
            start = time.perf_counter()
            relaxed_parse(scores, lengths).backward(slope)
            total += time.perf_counter() - start
    return total


def compare(arguments: argparse.Namespace, assignments: list[str], rounds: int) -> dict[str, float]:
    """Seconds of an epoch of both kinds, in `rounds` turns, and of the operator."""
    loops = make(arguments, [], False), make(arguments, assignments, True)
    plans = [loop.updates(0) for loop in loops]
    for loop, plan in zip(loops, plans, strict=True):  # kernels are compiled and memory is in place
        timed(loop, plan[:6])
    seconds = [0.0, 0.0]
    for turn in range(rounds):
        for kind, (loop, plan) in enumerate(zip(loops, plans, strict=True)):
            start, end = (part * len(plan) // rounds for part in (turn, turn + 1))
            seconds[kind] += timed(loop, plan[start:end])
    operator_seconds(plans[1][:6])
    return {"supervised": seconds[0], "with_raw": seconds[1], "operator": operator_seconds(plans[1])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True)
    parser.add_argument("--raw", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--set", dest="assignments", action="append", default=[])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "raw_text.json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    result = {}
    for name in arguments.variants:
        torch.manual_seed(0)
        found = result[name] = compare(arguments, VARIANTS[name], arguments.rounds)
        found["ratio"] = found["with_raw"] / found["supervised"]
        found["operator_share"] = found["operator"] / found["with_raw"]
        print(
            f"{name:>26}: {found['with_raw']:.1f} s against {found['supervised']:.1f} s, {found['ratio']:.2f} times; "
            f"operator {found['operator_share']:.1%}",
            flush=True,
        )
    machine = {"processor": platform.processor() or platform.machine(), "threads": arguments.threads}
    report = {"variants": result, "machine": machine, "versions": {"torch": torch.__version__}}
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
