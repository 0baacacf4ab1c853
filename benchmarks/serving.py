"""The server under load: 64 clients at once against one request at a time.

    pip install -c constraints.txt -e '.[serve]'
    python benchmarks/serving.py MODEL --input SENTENCES.conllu

Every request is one sentence. Three runs against servers of their own, with one parsing thread each:

    one by one     one client, which waits for each answer; the server parses one request at a time (--batch 1)
    unbatched      64 clients; the server parses one request at a time
    batched        64 clients; the server parses together what waits together

Each answer is compared with the tree that the parser gives when it is asked directly: none may be lost or be that of
another sentence. The server's memory is looked at after the first tenth of the requests and at the end.
"""

from __future__ import annotations

import sys

# As a script, this folder would come first on the path, and operator.py in the place of Python's own.
sys.path[:] = [folder for folder in sys.path if not folder.endswith("benchmarks")]

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import asyncio
import json
import platform
import re
import signal
import subprocess
import time
from pathlib import Path

import torch

from softparse import load
from softparse.corpus.conllu import read

CLIENTS = 64


class Server:
    """A server in a process of its own."""

    def __init__(self, model: str, batch: int):
        command = [
            sys.executable,
            "-m",
            "softparse",
            "serve",
            model,
            "--port",
            "0",
            "--threads",
            "1",
            "--batch",
            str(batch),
        ]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
            if found:
                self.port = int(found[1])
                return
        raise RuntimeError("the server does not start")

    def megabytes(self) -> float:
        """Memory of the process (Linux)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else float("nan")

    def processor_seconds(self) -> float:
        """Time that the process has had on a core: unlike a clock, it hardly minds what else the machine does."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)
        if self.process.returncode:
            raise RuntimeError(f"the server ended with {self.process.returncode}")


async def client(
    port: int, questions: list[tuple[int, bytes]], answers: dict[int, bytes], seconds: list[float]
) -> None:
    """One connection, one request after the other; as little work as possible, since it shares the machine."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number, body in questions:
        started = time.perf_counter()
        head = (
            f"POST /parse HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        headers = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(headers.split(b"content-length:")[1].split(b"\r\n")[0])
        content = await reader.readexactly(length)
        seconds.append(time.perf_counter() - started)
        if not headers.startswith(b"http/1.1 200"):
            raise RuntimeError(content.decode())
        if number in answers:
            raise RuntimeError(f"question {number} was answered twice")
        answers[number] = content
    writer.close()


async def run(server: Server, bodies: list[bytes], clients: int) -> tuple[dict[int, bytes], list[float], float]:
    answers: dict[int, bytes] = {}
    seconds: list[float] = []
    started = time.perf_counter()
    shares = [list(enumerate(bodies))[number::clients] for number in range(clients)]
    await asyncio.gather(*(client(server.port, share, answers, seconds) for share in shares))
    return answers, seconds, time.perf_counter() - started


def measured(
    model: str, batch: int, clients: int, sentences: list[list[str]], heads: list[list[int]]
) -> dict[str, float]:
    server = Server(model, batch)
    bodies = [json.dumps({"tokens": [sentence]}).encode() for sentence in sentences]
    try:
        asyncio.run(run(server, bodies[: len(bodies) // 10], clients))
        before, used = server.megabytes(), server.processor_seconds()
        answers, seconds, total = asyncio.run(run(server, bodies, clients))
        after, used = server.megabytes(), server.processor_seconds() - used
    finally:
        server.stop()
    parsed = {number: json.loads(content)["sentences"][0] for number, content in answers.items()}
    mixed = sum(parsed[number]["words"] != sentences[number] for number in parsed)
    different = sum(parsed[number]["heads"] != heads[number] for number in parsed)
    seconds.sort()
    return {
        "requests": len(bodies),
        "lost": len(bodies) - len(answers),
        "mixed_up": mixed,
        "other_trees": different,
        "requests_per_second": len(bodies) / total,
        "processor_milliseconds_per_request": 1000 * used / len(bodies),
        "p50_milliseconds": 1000 * seconds[len(seconds) // 2],
        "p99_milliseconds": 1000 * seconds[int(len(seconds) * 0.99)],
        "megabytes_after_a_tenth": before,
        "megabytes_at_the_end": after,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "serving.json")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    found = [sentence.words for sentence in read(arguments.input) if len(sentence) <= 100]
    # Every question is one of a kind, so that an answer to another one cannot pass for its own.
    sentences = [[*found[number % len(found)], f"#{number}"] for number in range(arguments.requests)]
    heads = [parse.heads for parse in load(arguments.model).parse(sentences)]
    runs = {"one by one": (1, 1), "unbatched": (1, CLIENTS), "batched": (64, CLIENTS)}
    results = {}
    for name, (batch, clients) in runs.items():
        result = results[name] = measured(arguments.model, batch, clients, sentences, heads)
        print(
            f"{name:>10}: {result['requests_per_second']:6.0f} requests/s, p50 {result['p50_milliseconds']:6.1f} ms, "
            f"p99 {result['p99_milliseconds']:6.1f} ms, "
            f"{result['processor_milliseconds_per_request']:.1f} ms of a core each, "
            f"{result['megabytes_after_a_tenth']:.0f} → {result['megabytes_at_the_end']:.0f} MB; "
            f"lost {result['lost']}, mixed up {result['mixed_up']}, other trees {result['other_trees']}",
            flush=True,
        )
    ratio = results["batched"]["requests_per_second"] / results["one by one"]["requests_per_second"]
    used = [results[name]["processor_milliseconds_per_request"] for name in ("one by one", "batched")]
    print(f"batched requests take {used[1] / used[0]:.2f} of the processor time of those one by one")
    print(f"{CLIENTS} clients get {ratio:.1f} times as many answers as one by one")
    record = {
        "clients": CLIENTS, "words": sum(map(len, sentences)), "runs": results, "throughput_ratio": ratio,
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
    }  # fmt: skip
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
