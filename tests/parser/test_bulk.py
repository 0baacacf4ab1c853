"""Several processes."""

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from softparse.parser.bulk import Options, parse_stream, windows

COMMAND = [sys.executable, "-m", "softparse", "parse"]


def children(process):
    """Processes that this one has started, by the system's own book."""
    tasks = Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in tasks.read_text().split()]


def is_running(process):
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are counted in /proc")
def test_workers_end_when_their_parent_is_killed(model, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the dog sees a big cat .\n" * 10_000)  # more than a pipe holds: the parent waits for us
    arguments = [*COMMAND, str(model), str(text), "--workers", "2"]
    parent = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    started = []
    try:
        assert parent.stdout.readline()  # they work
        started = children(parent.pid)
        assert len(started) >= 2
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        assert wait_for(lambda: not any(map(is_running, started)))
    finally:
        for process in filter(is_running, [parent.pid, *started]):
            os.kill(process, signal.SIGKILL)
        parent.stdout.close()


def test_workers_end_at_once_when_they_are_interrupted(model, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the dog sees a big cat .\n" * 10_000)
    arguments = [*COMMAND, str(model), str(text), "--workers", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    parent = subprocess.Popen(arguments, **pipes, start_new_session=True)
    try:
        assert parent.stdout.readline()
        os.killpg(parent.pid, signal.SIGINT)  # as a terminal does: all processes get it
        error = parent.communicate(timeout=60)[1].decode()
    finally:
        parent.kill()
    assert parent.returncode == 1
    assert error == "stopped\n"


def test_a_worker_that_is_killed(model, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the dog sees a big cat .\n" * 1000)
    endless = itertools.cycle(windows([str(text)]))  # they cannot be done before they are killed
    blocks = parse_stream(str(model), endless, Options(), workers=2)
    next(blocks)
    for child in multiprocessing.active_children():
        child.kill()
    with pytest.raises(ChildProcessError, match="use fewer --workers"):
        list(blocks)
