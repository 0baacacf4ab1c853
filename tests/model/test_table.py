"""A table that collects its gradient has the one of autograd."""

import copy

import pytest
import torch

from softparse.model.table import Table


@pytest.fixture
def tables():
    torch.manual_seed(1)
    plain = Table(50, 4, padding_idx=0)
    collecting = copy.deepcopy(plain)
    collecting.collects = True
    return plain, collecting


def loss(table, seed):
    generator = torch.Generator().manual_seed(seed)
    read = torch.randint(0, 20, (3, 5), generator=generator)
    drawn = torch.randint(0, 50, (30,), generator=generator)
    return (table(read) ** 3).sum() * (table.looked_up(drawn).sin().sum() + 2)


def test_gradients_of_one_update_after_the_other(tables):
    for seed in range(4):
        for table in tables:
            table.zero_grad(set_to_none=True)
            for part in range(2):  # gradients add up until they are taken away
                loss(table, 2 * seed + part).backward()
        plain, collecting = (table.weight.grad for table in tables)
        torch.testing.assert_close(collecting, plain)


def test_other_uses_come_through(tables):
    _, table = tables
    assert torch.equal(table(torch.tensor([3])), table.weight[3:4])
    with torch.no_grad():
        assert not table(torch.tensor([3])).requires_grad
    table.collects = False
    (gradient,) = torch.autograd.grad(table(torch.tensor([3, 0])).sum(), table.weight)
    assert gradient[3].sum() == 4
    assert gradient[0].sum() == 0


def test_another_type(tables):
    plain, collecting = (table.double() for table in tables)
    for table in (plain, collecting):
        loss(table, 1).backward()
    torch.testing.assert_close(collecting.weight.grad, plain.weight.grad)
