"""Runs of several processes: that they share the work, and that they end together when one of them fails."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SMALL

# Fails in one process, where the others cannot know.
FAILING = """
import os
from softparse.cli import main
from softparse.learning import loop, state
from softparse.parser import folder


def full(*arguments):
    raise OSError(28, "No space left on device")


def broken(*arguments):
    raise MemoryError("this process has none left")


rank, module, name, error = {place!r}
if int(os.environ["RANK"]) == rank:
    owner = dict(folder=folder, state=state, loop=loop.Loop)[module]
    setattr(owner, name, dict(full=full, broken=broken)[error])
main(prog_name="softparse")
"""

# Writes down which threads of the group are there at the end.
ENDING = """
import atexit
import os
from pathlib import Path
from softparse.cli import main


def show():
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    left = [name for name in names if "gloo" in name]
    Path(__file__).with_name("rank" + os.environ["RANK"]).write_text(" ".join(left))


atexit.register(show)
main(prog_name="softparse")
"""

# Writes down what every process has: gradients that were added, and a trained parser.
SHARING = """
import json
import os
import sys
from pathlib import Path
import torch
from softparse.learning.config import configure
from softparse.learning.distributed import Group
from softparse.learning.training import train

rank = int(os.environ["RANK"])
weights = [torch.nn.Parameter(torch.zeros(2)) for _ in range(3)]
for weight in weights[: rank + 1]:  # two in the last process, one in the first
    weight.grad = torch.full((2,), rank + 1.0)
Group().add_gradients(weights)
gradients = [weight.grad if weight.grad is None else weight.grad.tolist() for weight in weights]
command = sys.argv[1:]  # train, --train, a file, and pairs of --set and its value
parser = train(configure(assignments=command[4::2], data={"train": [command[2]]}))
sums = [float(weight.detach().double().sum()) for weight in parser.network.parameters()]
Path(__file__).with_name(f"rank{rank}").write_text(json.dumps([gradients, sums, parser.metrics]))
"""


def several(program, train, *more, epochs=2):
    settings = (*SMALL, f"train.epochs={epochs}", "train.learning_rate=0.01")
    options = [item for assignment in settings for item in ("--set", assignment)]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*torchrun, *program, "train", "--train", train, *options, *more]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen([str(part) for part in command], **pipes, text=True)
    try:
        return process.communicate(timeout=120)[0], process.returncode
    finally:
        process.terminate()  # not killed: torchrun ends its processes, should they hang
        process.wait()


def test_two_processes(treebanks, tmp_path):
    files = ("--dev", treebanks / "dev.conllu", "-o", tmp_path / "model")
    error, code = several(["-m", "softparse"], treebanks / "train.conllu", *files, epochs=10)
    assert code == 0, error
    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert metrics["processes"] == 2
    assert metrics["best"]["dev"]["las"] > 90
    assert error.count("epoch  10/10") == 1  # one process speaks


def test_every_process_has_the_same(treebanks, tmp_path):
    (tmp_path / "sharing.py").write_text(SHARING)
    told, code = several([tmp_path / "sharing.py"], treebanks / "train.conllu", epochs=3)
    assert code == 0, told
    first, other = (json.loads((tmp_path / f"rank{rank}").read_text()) for rank in (0, 1))
    assert first == other
    gradients, _, metrics = first
    assert gradients == [[3.0, 3.0], [2.0, 2.0], None]
    assert {"best", "calibration"} <= set(metrics)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list threads in /proc")
def test_no_thread_of_the_group_outlives_it(treebanks, tmp_path):
    """One that does may need the interpreter when that is gone already, which aborts the process."""
    (tmp_path / "ending.py").write_text(ENDING)
    told, code = several([tmp_path / "ending.py"], treebanks / "train.conllu", "-o", tmp_path / "model", epochs=1)
    assert code == 0, told
    assert [(tmp_path / name).read_text() for name in ("rank0", "rank1")] == ["", ""]


def test_an_error_of_all_processes_is_told_once(tmp_path):
    (tmp_path / "bad.conllu").write_text("1\ta\t_\t_\t_\t_\t5\tx\t_\t_\n\n")
    error, code = several(["-m", "softparse"], tmp_path / "bad.conllu", "-o", tmp_path / "model")
    assert code != 0
    assert error.count("HEAD 5") == 1
    assert not list(tmp_path.glob("model*"))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ((0, "state", "begin", "full"), "model: cannot be written (No space left on device); choose another place"),
        ((0, "folder", "write", "full"), "model: cannot be written (No space left on device); what was there"),
        ((1, "loop", "_gradients", "broken"), "this process has none left"),
    ],
    ids=["at the beginning", "at a checkpoint", "in the second process"],
)
def test_an_error_of_one_process_ends_all(place, message, treebanks, tmp_path):
    (tmp_path / "failing.py").write_text(FAILING.format(place=place))
    error, code = several([tmp_path / "failing.py"], treebanks / "train.conllu", "-o", tmp_path / "model")
    assert code != 0
    assert message in error
    assert "Connection closed" not in error
