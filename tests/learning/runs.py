"""Small training runs, and how they are stopped."""

import os
import signal

from softparse.learning.config import configure
from softparse.learning.observer import Observer
from tests.conftest import SMALL


def small(treebanks, output="", *more, preset="default", dev=True, **data):
    files = {"train": [str(treebanks / "train.conllu")], "dev": [str(treebanks / "dev.conllu")] if dev else []}
    assignments = [*SMALL, "train.epochs=4", "train.learning_rate=0.01", *more]
    return configure(preset, assignments=assignments, data={**files, "output": str(output), **data})


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


class StopAt(Observer):
    """Sends the process the signal of Ctrl-C at some step."""

    def __init__(self, step):
        self.step = step

    def stepped(self, step, steps, epoch, loss):
        if step == self.step:
            os.kill(os.getpid(), signal.SIGINT)
