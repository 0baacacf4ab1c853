import os

os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # as the command line does, before torch is imported

import pytest
import torch
from hypothesis import settings

from softparse.learning.config import configure
from softparse.learning.training import train
from softparse.trees import NonProjectiveTrees, ProjectiveTrees, operators
from tests.grammar import treebank

settings.register_profile("repeatable", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def _use(path, monkeypatch):
    if path == "torch":
        monkeypatch.setattr(operators, "has_kernel", lambda scores: False)
    else:
        assert operators.has_kernel(torch.zeros(1)), "Numba is a dependency; the kernel must be there"


@pytest.fixture(params=["kernel", "torch"])
def path(request, monkeypatch):
    """Run a test on the CPU kernel and on the torch path."""
    _use(request.param, monkeypatch)
    return request.param


@pytest.fixture(params=["projective, kernel", "projective, torch", "non-projective, kernel", "non-projective, torch"])
def kind(request, monkeypatch):
    """Run a test for both kinds of trees on both paths."""
    name, path = request.param.split(", ")
    _use(path, monkeypatch)
    return ProjectiveTrees if name == "projective" else NonProjectiveTrees


@pytest.fixture(params=[True, False], ids=["single-root", "multi-root"])
def single_root(request):
    return request.param


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(7)


SMALL = (
    "model.encoder.hidden=32",
    "model.encoder.layers=1",
    "model.scorer.arc=32",
    "model.scorer.label=32",
    "train.epoch_batches=0",
)


@pytest.fixture(scope="session")
def treebanks(tmp_path_factory):
    """Files train.conllu and dev.conllu of a small language."""
    folder = tmp_path_factory.mktemp("treebanks")
    (folder / "train.conllu").write_text(treebank(150, seed=1, crossing=0.3), encoding="utf-8")
    (folder / "dev.conllu").write_text(treebank(40, seed=2, crossing=0.3), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def model(treebanks, tmp_path_factory):
    """The folder of a small trained model."""
    output = tmp_path_factory.mktemp("models") / "small"
    data = {
        "train": [str(treebanks / "train.conllu")],
        "dev": [str(treebanks / "dev.conllu")],
        "output": str(output),
    }
    config = configure("default", assignments=[*SMALL, "train.epochs=20", "train.learning_rate=0.01"], data=data)
    train(config)
    return output
