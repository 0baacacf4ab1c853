"""Memory that `softparse parse` takes, by the size of the file: it should not depend on it.

    python benchmarks/memory.py MODEL --input TEST.conllu [--megabytes 10 100 1000] [--workers 1]

The input is repeated until it is as large as that. Memory is that of the process and its workers, shared pages counted
once, looked at five times a second. All trees are counted in the output, so that nothing can have been lost.
"""

from __future__ import annotations

import sys

# As a script, this folder would come first on the path, and operator.py in the place of Python's own.
sys.path[:] = [folder for folder in sys.path if not folder.endswith("benchmarks")]

import argparse
import contextlib
import json
import platform
import subprocess
import tempfile
import time
from pathlib import Path

import psutil


def copies(source: Path, target: Path, megabytes: int) -> int:
    """Write the source as often as needed; returns the number of sentences."""
    content = source.read_bytes()
    times = max(1, megabytes * 1_000_000 // len(content))
    with open(target, "wb") as file:
        for _ in range(times):
            file.write(content)
    return times * content.count(b"\n\n")


def memory(process: psutil.Process) -> float:
    """Megabytes of a process and its children."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        for one in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                total += one.memory_full_info().pss
    return total / 1e6


def parse(model: str, source: Path, target: Path, workers: int) -> tuple[float, float]:
    """Seconds, and the most megabytes at any time."""
    command = [sys.executable, "-m", "softparse", "parse", model, str(source), "-o", str(target),
               "--workers", str(workers), "--threads", "1"]  # fmt: skip
    start, most = time.perf_counter(), 0.0
    running = psutil.Popen(command, stderr=subprocess.DEVNULL)
    while running.poll() is None:
        most = max(most, memory(running))
        time.sleep(0.2)
    if running.returncode:
        raise SystemExit(f"softparse parse ended with {running.returncode}")
    return time.perf_counter() - start, most


def sentences(path: Path) -> int:
    with open(path, "rb") as file:
        return sum(line == b"\n" for line in file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "memory.json")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name) / "in.conllu", Path(name) / "out.conllu"
        for megabytes in arguments.megabytes:
            number = copies(arguments.input, source, megabytes)
            seconds, most = parse(arguments.model, source, target, arguments.workers)
            if sentences(target) != number:
                raise SystemExit(f"{number} sentences went in, {sentences(target)} came out")
            rows.append({"megabytes": megabytes, "sentences": number, "seconds": seconds, "peak_megabytes": most})
            print(f"{megabytes:>6} MB, {number} sentences: {most:.0f} MB of memory, {seconds:.0f} s", flush=True)
    result = {
        "workers": arguments.workers,
        "files": rows,
        "machine": {"processor": platform.processor() or platform.machine()},
    }
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
