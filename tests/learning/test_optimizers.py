"""Steps along the gradients of tables, of which few rows are looked up."""

import copy

import pytest
import torch

from softparse.learning import adadelta
from softparse.learning.adadelta import Adadelta
from softparse.learning.config import TrainConfig
from softparse.learning.optimizers import clip_gradient, optimizer
from softparse.model.table import Table


def made(collects=True):
    torch.manual_seed(2)
    table = Table(12, 3)
    table.collects = collects
    return torch.nn.ModuleDict({"table": table, "linear": torch.nn.Linear(3, 2)})


def updated(network, steps, rows):
    """Weights after some updates from other rows each, and the optimiser."""
    stepping = optimizer(TrainConfig(optimizer="adadelta", learning_rate=1.0), network.parameters(), [network["table"]])
    for step in range(steps):
        stepping.zero_grad(set_to_none=True)
        (network["linear"](network["table"](rows(step))) ** 2).sum().backward()
        stepping.step()
    return [parameter.detach() for parameter in network.parameters()], stepping


@pytest.fixture(params=[True, False], ids=["kernel", "plain"])
def kernel(request, monkeypatch):
    monkeypatch.setattr(adadelta, "HAVE_NUMBA", request.param)


@pytest.mark.usefixtures("kernel")
def test_rows_that_are_looked_up_learn_as_always():
    every = torch.arange(12)
    mine, stepping = updated(made(), 4, lambda step: every)
    assert isinstance(stepping, Adadelta)
    plain = made(collects=False)
    dense = torch.optim.Adadelta(plain.parameters(), lr=1.0, rho=0.95, eps=1e-6)
    for _ in range(4):
        dense.zero_grad()
        (plain["linear"](plain["table"](every)) ** 2).sum().backward()
        dense.step()
    for here, there in zip(mine, plain.parameters(), strict=True):
        torch.testing.assert_close(here, there.detach())


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("collects", [True, False], ids=["collected", "of autograd"])
def test_other_rows_stay_as_they_are(collects):
    """So three updates from row 5 are three updates from it, whatever comes between them."""
    plan = [[5, 1], [2, 2], [5, 3], [7], [5]]
    weights, stepping = updated(made(collects), 5, lambda step: torch.tensor(plan[step]))
    start = made()["table"].weight.detach()
    changed = (weights[0] != start).any(1).nonzero().flatten().tolist()
    assert changed == [1, 2, 3, 5, 7]
    (table,) = stepping.tables
    assert stepping.state[table]["squares"].any(1).nonzero().flatten().tolist() == changed
    others = updated(made(not collects), 5, lambda step: torch.tensor(plan[step]))[0]
    for here, there in zip(weights, others, strict=True):
        torch.testing.assert_close(here, there)


def test_a_state_can_be_taken_up_again():
    network = made()
    weights, stepping = updated(network, 3, lambda step: torch.tensor([step, 4]))
    state = copy.deepcopy(stepping.state_dict())
    again = optimizer(TrainConfig(optimizer="adadelta"), network.parameters(), [network["table"]])
    again.load_state_dict(state)
    averages = [each.state[network["table"].weight]["changes"] for each in (again, stepping)]
    assert torch.equal(*averages)
    again.zero_grad()
    again.step()  # nothing has a gradient
    assert torch.equal(weights[0], network["table"].weight)


@pytest.mark.parametrize("most", [0.5, 1e6])
def test_the_norm_counts_rows_once(most):
    networks = made(), made(collects=False)
    for network in networks:
        (network["linear"](network["table"](torch.tensor([3, 3, 8]))) ** 2).sum().backward()
    norms = [clip_gradient(network.parameters(), most, [network["table"]]) for network in networks]
    assert norms[0] == pytest.approx(norms[1])
    for here, there in zip(*(network.parameters() for network in networks), strict=True):
        torch.testing.assert_close(here.grad, there.grad)
    total = sum(float(parameter.grad.square().sum()) for parameter in networks[0].parameters()) ** 0.5
    assert total == pytest.approx(min(most, norms[0]), rel=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rows", [None, torch.tensor([0, 3])])
def test_the_kernel_is_the_formula(dtype, rows, monkeypatch):
    torch.manual_seed(3)
    weight = torch.randn(5, 7, dtype=dtype, requires_grad=True)
    plain = [tensor.clone() for tensor in (weight.detach(), weight, weight.detach() * 0, weight.detach() * 0)]
    stepping = Adadelta([weight], [], 0.5)
    monkeypatch.setattr(Adadelta, "_rows", lambda self, weight, gradient: rows)
    for step in range(3):
        slope = torch.randn(7, 5, dtype=dtype, generator=torch.Generator().manual_seed(step)).T  # not contiguous
        weight.grad = slope
        stepping.step()
        adadelta.step_plainly(plain[0], slope, plain[2], plain[3], 0.5, rows)
    torch.testing.assert_close(weight.detach(), plain[0])
    torch.testing.assert_close(stepping.state[weight]["changes"], plain[3])
