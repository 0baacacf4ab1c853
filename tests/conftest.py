import pytest
import torch

from softparse.trees import NonProjectiveTrees, ProjectiveTrees, operators


@pytest.fixture(params=["kernel", "torch"])
def path(request, monkeypatch):
    """Run a test on the CPU kernel and on the torch path."""
    if request.param == "torch":
        monkeypatch.setattr(operators, "has_kernel", lambda scores: False)
    else:
        assert operators.has_kernel(torch.zeros(1)), "Numba is a dependency; the kernel must be there"
    return request.param


@pytest.fixture(params=[True, False], ids=["single-root", "multi-root"])
def single_root(request):
    return request.param


@pytest.fixture(params=[ProjectiveTrees, NonProjectiveTrees])
def kind(request):
    return request.param


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(7)
