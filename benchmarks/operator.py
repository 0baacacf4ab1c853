"""Speed and memory of the tree operator, as ratios in one run.

    pip install -c constraints.txt -e '.[bench]'
    python benchmarks/operator.py            # table on the screen, benchmarks/results/operator.json

Peers: torch-struct's DependencyCRF (its marginals and their backward; it needs scores that require grad) and this
package's own torch path. The systems take turns, calling the same thing again and again for a tenth of a second each; a
cell is the best of these blocks, so that a busy machine troubles all of them alike.
"""

from __future__ import annotations

import sys

# As a script, this folder would come first on the path, and this file in the place of Python's own `operator`.
sys.path[:] = [folder for folder in sys.path if not folder.endswith("benchmarks")]

import argparse
import itertools
import json
import platform
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numba
import torch
import torch_struct

from softparse.trees import ProjectiveTrees, chart, eisner, relaxed_parse
from softparse.trees.kernels.views import LOG, RELAXED

BATCH = 32
BLOCK = 0.1  # seconds


def timed(functions: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """Microseconds per call of each, the best of several blocks; the systems take turns, a block each."""
    best = dict.fromkeys(functions, float("inf"))
    for function in functions.values():
        function()
    rounds, end = 0, time.perf_counter() + seconds
    while rounds < 3 or time.perf_counter() < end:
        for name, function in functions.items():
            calls, start = 0, time.perf_counter()
            while calls == 0 or time.perf_counter() - start < BLOCK:
                function()
                calls += 1
            best[name] = min(best[name], (time.perf_counter() - start) / calls * 1e6)
        rounds += 1
    return best


def relaxed_systems(words: int) -> dict[str, Callable[[], None]]:
    """Forward and backward of a soft tree, from scores that require grad to their gradient."""
    scores = torch.randn(BATCH, words + 1, words + 1)
    lengths = torch.full((BATCH,), words)
    slopes = torch.randn_like(scores)
    peer_scores, peer_slopes = scores[:, 1:, 1:].contiguous(), slopes[:, 1:, 1:].contiguous()

    def kernel() -> None:
        leaf = scores.detach().requires_grad_()
        relaxed_parse(leaf, lengths).backward(slopes)

    def torch_path() -> None:
        leaf = scores.detach().requires_grad_()
        chart.soft_trees(leaf, lengths, 1.0, True, RELAXED)[0].backward(slopes)

    def peer() -> None:
        leaf = peer_scores.detach().requires_grad_()
        torch_struct.DependencyCRF(leaf, lengths, multiroot=False).marginals.backward(peer_slopes)

    return {"softparse": kernel, "torch path": torch_path, "torch-struct": peer}


def log_partition_systems(words: int) -> dict[str, Callable[[], None]]:
    scores = torch.randn(BATCH, words + 1, words + 1)
    lengths = torch.full((BATCH,), words)
    peer_scores = scores[:, 1:, 1:].contiguous()

    def kernel() -> None:
        leaf = scores.detach().requires_grad_()
        ProjectiveTrees(leaf, lengths).log_partition.sum().backward()

    def torch_path() -> None:
        leaf = scores.detach().requires_grad_()
        weights, _ = chart.arc_weights(leaf, lengths)
        charts, _ = chart.inside(weights, LOG)
        chart.goal_weight(weights, charts, lengths, True, LOG).sum().backward()

    def peer() -> None:
        leaf = peer_scores.detach().requires_grad_()
        torch_struct.DependencyCRF(leaf, lengths, multiroot=False).partition.sum().backward()

    return {"softparse": kernel, "torch path": torch_path, "torch-struct": peer}


def table(title: str, systems: Callable[[int], dict], sizes: list[int], seconds: float) -> list[dict]:
    print(f"\n{title}, B = {BATCH}: µs per sentence and ratios")
    columns = (
        ("n", 4),
        ("softparse", 10),
        ("torch path", 11),
        ("torch-struct", 13),
        ("× torch path", 13),
        ("× struct", 9),
    )
    print(" ".join(f"{name:>{width}}" for name, width in columns))
    rows = []
    for words in sizes:
        times = {name: value / BATCH for name, value in timed(systems(words), seconds).items()}
        ratios = {name: value / times["softparse"] for name, value in times.items() if name != "softparse"}
        print(
            f"{words:>4} {times['softparse']:>10.1f} {times['torch path']:>11.1f} {times['torch-struct']:>13.1f} "
            f"{ratios['torch path']:>13.1f} {ratios['torch-struct']:>9.1f}",
            flush=True,
        )
        rows.append({"n": words, "microseconds_per_sentence": times, "ratio": ratios})
    for before, after in itertools.pairwise(rows):
        growth = after["microseconds_per_sentence"]["softparse"] / before["microseconds_per_sentence"]["softparse"]
        after["growth"] = growth
        print(f"     n {before['n']} → {after['n']}: {growth:.1f} times the time")
    return rows


def single_sentence(seconds: float) -> dict[str, float]:
    scores = torch.randn(1, 26, 26)
    times = timed(
        {
            "eisner": lambda: eisner(scores),
            "relaxed_parse": lambda: relaxed_parse(scores),
            "marginals": lambda: ProjectiveTrees(scores).marginals,
        },
        seconds,
    )
    print("\none sentence, n = 25:", ", ".join(f"{name} {value:.0f} µs" for name, value in times.items()))
    return times


def peak_memory(words: int) -> float:
    """Megabytes that forward + backward at B = 32 add to a process that has parsed a short batch before (Linux)."""
    code = f"""
import torch
from softparse.trees import relaxed_parse
def run(words):
    scores = torch.randn({BATCH}, words + 1, words + 1, requires_grad=True)
    relaxed_parse(scores).sum().backward()
def peak():
    return int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
run(5)
open("/proc/self/clear_refs", "w").write("5")  # start a new peak from what is in use now
before = peak()
run({words})
print((peak() - before) / 1024)
"""
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20, 40, 80])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=8.0, help="per cell of the table")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "operator.json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    results: dict = {
        "machine": {"processor": platform.processor() or platform.machine(), "threads": arguments.threads},
        "versions": {"torch": torch.__version__, "numba": numba.__version__, "torch-struct": "0.5"},
        "relaxed": table("relaxed_parse, forward + backward", relaxed_systems, arguments.sizes, arguments.seconds),
        "log_partition": table(
            "log-partition and its gradient", log_partition_systems, arguments.sizes, arguments.seconds
        ),
        "single_sentence_microseconds": single_sentence(2.0),
    }
    memory = {words: peak_memory(words) for words in (50, 100, 200)}
    print("peak extra memory, B = 32, MB:", ", ".join(f"n = {words}: {value:.0f}" for words, value in memory.items()))
    results["peak_extra_megabytes"] = memory
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print("written:", arguments.output)


if __name__ == "__main__":
    main()
