"""Bad input gets an error that says what is wrong, where, and what was expected."""

import numpy
import pytest
import torch

from softparse.trees import NonProjectiveTrees, ProjectiveTrees, eisner, expectation, relaxed_parse

FUNCTIONS = [relaxed_parse, eisner, ProjectiveTrees, NonProjectiveTrees]
ok = torch.zeros(2, 4, 4)


def with_value(value, place, dtype=torch.float32):
    scores = torch.zeros(2, 4, 4, dtype=dtype)
    scores[place] = value
    return scores


def mask_without(*arcs):
    mask = torch.ones(2, 4, 4, dtype=torch.bool)
    for arc in arcs:
        mask[arc] = False
    return mask


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((ok[0],), {}, ValueError, r"\[batch, words \+ 1, words \+ 1\], got \[4, 4\]"),
        ((torch.zeros(2, 4, 5),), {}, ValueError, r"got \[2, 4, 5\]"),
        ((torch.zeros(2, 1, 1),), {}, ValueError, "no words"),
        ((ok.half(),), {}, TypeError, "float32 or float64, got torch.float16"),
        ((ok.long(),), {}, TypeError, "float32 or float64, got torch.int64"),
        ((ok.tolist(),), {}, TypeError, "must be a torch.Tensor, not list"),
        ((ok, [3, 4]), {}, ValueError, r"lengths\[1\] is 4, but must be between 1 and 3"),
        ((ok, [0, 3]), {}, ValueError, r"lengths\[0\] is 0"),
        ((ok, [3]), {}, ValueError, r"shape \[2\]"),
        ((ok, [3.0, 2.0]), {}, TypeError, "lengths must be integers"),
        ((with_value(torch.nan, (1, 0, 2)),), {}, ValueError, r"scores\[1, 0, 2\] is nan"),
        ((with_value(torch.inf, (0, 3, 1)),), {}, ValueError, r"scores\[0, 3, 1\] is inf"),
        ((ok,), {"mask": ok}, TypeError, "bool tensor"),
        ((ok,), {"mask": torch.ones(2, 3, 3, dtype=torch.bool)}, ValueError, "shape of the scores"),
        (
            (ok,),
            {"mask": mask_without((1, slice(None), 2))},
            ValueError,
            "leaves word 2 of sentence 1 without a head",
        ),
        (
            (ok,),
            {"mask": mask_without((1, 0))},
            ValueError,
            "leaves no single-rooted .*tree for sentence 1",
        ),
        (
            (ok,),
            {"mask": mask_without((0, slice(1, None), 1), (0, slice(1, None), 3))},
            ValueError,
            "leaves no single-rooted .*tree for sentence 0",
        ),
    ],
)
def test_scores_lengths_and_masks(function, arguments, options, error, message):
    with pytest.raises(error, match=message):
        function(*arguments, **options)


def test_two_roots_are_possible_where_they_are_allowed():
    mask = mask_without((0, slice(1, None), 1), (0, slice(1, None), 3))
    assert eisner(ok, single_root=False, mask=mask)[0].tolist() in ([-1, 0, 1, 0], [-1, 0, 3, 0], [-1, 0, 0, 0])


def test_a_mask_that_leaves_crossing_trees_only():
    mask = torch.zeros(1, 5, 5, dtype=torch.bool)
    for head, modifier in ((3, 1), (0, 2), (2, 3), (2, 4)):
        mask[0, head, modifier] = True
    with pytest.raises(ValueError, match="no single-rooted projective tree for sentence 0"):
        ProjectiveTrees(torch.zeros(1, 5, 5), mask=mask)
    assert NonProjectiveTrees(torch.zeros(1, 5, 5), mask=mask).mode.tolist() == [[-1, 3, 0, 2, 2]]


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), float("inf")])
def test_temperature(temperature):
    with pytest.raises(ValueError, match="temperature must be a positive number"):
        relaxed_parse(ok, temperature=temperature)
    with pytest.raises(ValueError, match="temperature must be a positive number"):
        ProjectiveTrees(ok).rsample(temperature=temperature)


def test_temperature_with_a_gradient():
    with pytest.raises(TypeError, match="divide the scores"):
        relaxed_parse(ok, temperature=torch.tensor(1.0, requires_grad=True))


@pytest.mark.parametrize("kind", [ProjectiveTrees, NonProjectiveTrees])
def test_heads(kind):
    trees = kind(ok, [3, 2])
    heads = trees.mode
    for wrong, error, message in (
        (heads.float(), TypeError, "heads must be integers"),
        (heads[0], ValueError, r"shape \[..., 2, 4\], got \[4\]"),
        (heads[:, :3], ValueError, r"got \[2, 3\]"),
        (heads.masked_fill(heads == heads[1, 1], 3), ValueError, r"word \d of sentence 1 needs a head between 0 and 2"),
        (torch.full_like(heads, -2), ValueError, "is -2"),
    ):
        with pytest.raises(error, match=message):
            trees.log_prob(wrong)
    with pytest.raises(ValueError, match="shape"):
        trees.given(heads[None])
    impossible = torch.tensor([[-1, 0, 0, -1], [-1, -1, -1, -1]])
    with pytest.raises(ValueError, match=r"no single-rooted .*tree for sentence 0"):
        trees.given(impossible)


def test_options():
    trees = ProjectiveTrees(ok)
    with pytest.raises(ValueError, match="noise must be one of 'gumbel', 'sum-of-gamma', 'none', got 'gaussian'"):
        trees.rsample(noise="gaussian")
    for k in (0, -1, True, 1.0, "1", None):
        with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
            trees.kbest(k)
    assert trees.kbest(numpy.int64(2))[0].shape[0] == 2
    with pytest.raises(ValueError, match="estimator must be one of 'relaxed'"):
        expectation(trees, lambda soft: soft.sum((-1, -2)), "magic")
    with pytest.raises(ValueError, match="samples must be at least 1"):
        expectation(trees, lambda soft: soft.sum((-1, -2)), samples=0)
    with pytest.raises(ValueError, match="same sentences"):
        trees.cross_entropy(ProjectiveTrees(ok, [3, 2]))


def test_what_is_not_read_may_be_anything():
    scores = torch.full((2, 5, 5), torch.nan)
    scores[0, :4, 1:4] = 0.0
    scores[1, :3, 1:3] = 0.0
    scores.diagonal(dim1=1, dim2=2).fill_(torch.inf)
    assert relaxed_parse(scores, [3, 2]).isfinite().all()
    scores = scores.requires_grad_()
    ProjectiveTrees(scores, [3, 2]).entropy().sum().backward()
    assert scores.grad.isfinite().all()
