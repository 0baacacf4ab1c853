import os

import pytest
import torch
from hypothesis import settings

from softparse.trees import NonProjectiveTrees, ProjectiveTrees, operators

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
