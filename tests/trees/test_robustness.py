"""Hard cases: offsets, tiny probabilities, odd tensors, transformations, unchecked arguments."""

import math
import subprocess
import sys

import pytest
import torch
from torch.distributions import kl_divergence

from softparse.trees import NonProjectiveTrees, ProjectiveTrees, adjacency, chart, is_tree, operators, relaxed_parse
from softparse.trees.kernels.views import LOG
from tests.oracle import Enumerated


@pytest.mark.parametrize("offset", [1e4, 1e8, -1e12])
def test_common_offsets_are_harmless(kind, single_root, offset):
    scores = torch.randn(3, 7, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    scores = (scores * 4).round() / 4  # so that adding the offset loses nothing
    lengths = [6, 4, 1]
    plain = kind(scores, lengths, single_root=single_root)
    moved = kind(scores + offset, lengths, single_root=single_root)
    torch.testing.assert_close(moved.marginals, plain.marginals)
    torch.testing.assert_close(moved.entropy(), plain.entropy())
    torch.testing.assert_close(kl_divergence(moved, plain), torch.zeros(3, dtype=torch.float64), atol=1e-9, rtol=0)
    torch.testing.assert_close(moved.rsample(noise="none"), plain.rsample(noise="none"))
    assert torch.equal(moved.mode, plain.mode)
    assert torch.equal(moved.kbest(3)[0], plain.kbest(3)[0])


@pytest.mark.parametrize("scale", [100.0, 1e4])
def test_log_prob_in_float32(kind, single_root, scale, generator):
    scores = torch.randn(4, 31, 31, generator=generator) * scale
    trees, wide = (kind(s, single_root=single_root) for s in (scores, scores.double()))
    heads = torch.cat([trees.mode[None], trees.sample((3,), generator=generator)])
    expected = wide.log_prob(heads)
    torch.testing.assert_close(trees.log_prob(heads).double(), expected, atol=1e-3, rtol=1e-5)
    torch.testing.assert_close(trees.kbest(2)[1].double(), wide.kbest(2)[1], atol=1e-3, rtol=1e-5)
    known = heads[0].clone()
    known[:, 1::3] = -1
    torch.testing.assert_close(trees.log_prob(known).double(), wide.log_prob(known), atol=1e-3, rtol=1e-5)


def test_divergence_knows_what_is_possible(kind, single_root):
    """Masks that differ only on arcs that no tree has leave it finite; a tree of any probability makes it infinite."""
    generator = torch.Generator().manual_seed(3)
    differing = 0
    for _ in range(40):
        scores = torch.randn(1, 5, 5, dtype=torch.float64, generator=generator)
        keep = kind(scores, single_root=single_root).sample(generator=generator)
        allowed = (torch.rand(1, 5, 5, generator=generator) < 0.4) | adjacency(keep).bool()
        p = kind(scores, single_root=single_root, mask=allowed)
        oracle = Enumerated(p.scores[0].tolist(), 4, single_root=single_root, projective=p.projective)
        used = adjacency(torch.tensor(list(oracle.log_probs))).amax(0).bool()[None]
        differing += int((allowed & ~used)[:, :, 1:].any())
        q = kind(torch.zeros_like(scores), single_root=single_root, mask=used)
        other = Enumerated(q.scores[0].tolist(), 4, single_root=single_root, projective=p.projective)
        assert kl_divergence(p, q).item() == pytest.approx(oracle.kl(other))
    assert differing > 5
    scores = torch.zeros(1, 5, 5, dtype=torch.float64)
    scores[0, 3, 4] = -2000.0
    mask = torch.ones(1, 5, 5, dtype=torch.bool)
    mask[0, 3, 4] = False
    p, q = kind(scores, single_root=single_root), kind(scores, single_root=single_root, mask=mask)
    assert kl_divergence(p, q).item() == math.inf
    assert kl_divergence(q, p).item() == pytest.approx(0, abs=1e-9)


def test_divergence_from_several_roots_to_one(kind):
    scores = torch.zeros(1, 4, 4, dtype=torch.float64)
    scores[0, 0, 2:] = -60.0  # several roots are possible, but their probability is lost in rounding
    assert kl_divergence(kind(scores, single_root=False), kind(scores)).item() == math.inf
    mask = torch.ones(1, 4, 4, dtype=torch.bool)
    mask[0, 0, 2:] = False
    one_root = kind(scores, single_root=False, mask=mask)
    assert kl_divergence(one_root, kind(scores, mask=mask)).item() == pytest.approx(0, abs=1e-9)


def test_sums_over_a_sentence_do_not_depend_on_the_batch():
    """Bit for bit, also where torch does the sum."""
    generator = torch.Generator().manual_seed(0)
    for dtype in (torch.float32, torch.float64):
        scores = torch.full((33, 21, 21), torch.nan, dtype=dtype)
        scores[:, :13, :13] = torch.randn(33, 13, 13, generator=generator, dtype=dtype) * 3
        lengths = torch.randint(1, 13, (33,), generator=generator)
        together = ProjectiveTrees(scores, lengths)
        for b in (0, 7, 32):
            size = int(lengths[b]) + 1
            alone = ProjectiveTrees(scores[b : b + 1, :size, :size])
            assert torch.equal(alone.entropy()[0], together.entropy()[b])
            assert torch.equal(alone.kl_uniform()[0], together.kl_uniform()[b])
            assert torch.equal(alone.log_prob(alone.mode)[0], together.log_prob(together.mode)[b])
            found = alone.kbest(3)[1].isfinite()[:, 0]
            assert torch.equal(alone.kbest(3)[1][found, 0], together.kbest(3)[1][found, b])


@pytest.mark.parametrize("options", [[], ["-O"]], ids=["checked", "optimised"])
def test_wrong_lengths_never_reach_memory(options):
    code = """
import torch
from softparse.trees import NonProjectiveTrees, ProjectiveTrees, relaxed_parse
scores, wrong = torch.randn(2, 4, 4), torch.tensor([3, 300])
calls = [lambda: relaxed_parse(scores, wrong), lambda: relaxed_parse(scores, -wrong)]
for kind in (ProjectiveTrees, NonProjectiveTrees):
    trees = lambda kind=kind: kind(scores, wrong, validate_args=False)
    calls += [lambda t=trees: t().mode, lambda t=trees: t().marginals, lambda t=trees: t().log_partition]
    calls += [lambda t=trees: t().sample(), lambda t=trees: t().kbest(2), lambda t=trees: t().rsample()]
calls.append(lambda: torch.compile(lambda s, l: relaxed_parse(s, l).sum(), backend="aot_eager")(scores, wrong))
for call in calls:
    try:
        call()
    except Exception as error:
        assert "must be between 1 and 3" in str(error), error
    else:
        raise SystemExit("not noticed")
lengths = torch.tensor([3, 3])
trees = ProjectiveTrees(scores, lengths)
lengths.fill_(300)
trees.marginals, trees.mode
"""
    done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr + done.stdout


def test_strided_lengths_and_expanded_sentences(kind):
    lengths = torch.tensor([4, 9, 3, 9, 1, 9])[::2]
    trees = kind(torch.randn(3, 5, 5), lengths)
    heads = [trees.mode, trees.mbr, trees.sample(), trees.kbest(2)[0][0]]
    assert is_tree(torch.stack(heads), lengths, single_root=True, projective=trees.projective).all()
    several = kind(torch.randn(1, 5, 5)).expand([4])
    assert several.sample().shape == (4, 5)
    assert several.kbest(2)[0].shape == (2, 4, 5)
    with pytest.raises(ValueError, match="no single-rooted"):
        several.given(torch.tensor([[-1, 0, 0, -1, -1]] * 4))
    with pytest.raises(ValueError, match=r"cannot be expanded to \[2, 4\]"):
        several.expand([2, 4])


def test_is_tree_of_incomplete_heads():
    heads = torch.tensor([[-1, 0, 1, -1], [-1, 0, -1, 1], [-1, 0, 3, -1]])
    found = is_tree(heads, torch.tensor([2, 3, 2]), single_root=True, projective=True)
    assert found.tolist() == [True, False, False]


def test_forward_mode():
    scores = torch.randn(2, 5, 5, dtype=torch.float64)
    direction = torch.randn_like(scores)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(scores, direction)
        _, tangent = torch.autograd.forward_ad.unpack_dual(relaxed_parse(dual, [4, 3]))
        with pytest.raises(NotImplementedError, match="forward-mode"):
            NonProjectiveTrees(dual, [4, 3]).marginals  # noqa: B018
    exact = torch.autograd.functional.jvp(lambda s: relaxed_parse(s, [4, 3]), scores, direction)[1]
    torch.testing.assert_close(tangent, exact)


def test_function_transformations(single_root):
    scores = torch.randn(2, 5, 5, dtype=torch.float64)
    slopes = torch.randn_like(scores)

    def function(scores):
        return (relaxed_parse(scores, [4, 3], single_root=single_root) * slopes).sum()

    leaf = scores.clone().requires_grad_()
    function(leaf).backward()
    torch.testing.assert_close(torch.func.grad(function)(scores), leaf.grad)


def test_many_gradients_at_once(kind):
    scores = torch.randn(2, 4, 4, dtype=torch.float64)

    def function(scores):
        trees = kind(scores, [3, 2])
        return torch.cat([trees.marginals.sum(-1).flatten(), trees.log_partition, trees.entropy()])

    one_by_one, at_once = (torch.autograd.functional.jacobian(function, scores, vectorize=v) for v in (False, True))
    torch.testing.assert_close(at_once, one_by_one)


def test_log_prob_of_many_scores_at_once(single_root):
    scores = torch.randn(3, 1, 4, 4, dtype=torch.float64)

    def function(scores):
        return ProjectiveTrees(scores, single_root=single_root).log_prob(torch.tensor([[-1, 2, 0, 2]]))

    torch.testing.assert_close(torch.func.vmap(function)(scores), torch.stack([function(each) for each in scores]))


def test_inference_mode(kind):
    scores = torch.randn(2, 5, 5, requires_grad=True)
    trees = kind(scores, [4, 3])
    with torch.inference_mode():
        inside = trees.entropy()
        assert kind(torch.randn(2, 5, 5)).marginals.isfinite().all()
        for each in (trees, kind(scores, [4, 3])):  # made before and here, from scores that have a gradient elsewhere
            assert each.log_partition.isfinite().all()
            assert each.marginals.isfinite().all()
            assert each.log_prob(each.mbr).isfinite().all()
            assert each.kbest(2)[1].isfinite().all()
    trees.entropy().sum().backward()
    torch.testing.assert_close(inside, trees.entropy())
    assert scores.grad.abs().sum() > 0


def test_backward_twice():
    """The charts of a graph stay its own while other graphs come and go."""
    scores = torch.randn(20, 9, 9, requires_grad=True)
    slopes = torch.randn(20, 9, 9)
    soft = relaxed_parse(scores)
    (first,) = torch.autograd.grad(soft, scores, slopes, retain_graph=True)
    for _ in range(5):
        other = torch.randn(20, 9, 9, requires_grad=True)
        relaxed_parse(other).square().sum().backward()
    (second,) = torch.autograd.grad(soft, scores, slopes)
    assert torch.equal(first, second)


def test_compiled_samples_with_dynamic_shapes():
    compiled = torch.compile(lambda s: ProjectiveTrees(s).sample((2,)), backend="aot_eager", dynamic=True)
    for words in (3, 5):
        heads = compiled(torch.randn(4, words + 1, words + 1))
        assert is_tree(heads, torch.full((4,), words), single_root=True, projective=True).all()


def test_tiny_temperatures():
    with pytest.raises(ValueError, match="positive number"):
        relaxed_parse(torch.zeros(1, 3, 3), temperature=1e-310)
    scores = torch.randn(3, 6, 6, requires_grad=True)
    soft = relaxed_parse(scores, temperature=1e-6)
    torch.testing.assert_close(soft, adjacency(ProjectiveTrees(scores).mode))
    soft.sum().backward()
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("single_root", [True, False])
def test_log_partition_where_products_are_too_small(single_root):
    """Flat scores over many words, or scores that want no tree: the sum over trees is beyond the range of products."""
    flat = torch.zeros(1, 181, 181, dtype=torch.float64)
    cyclic = torch.full((1, 181, 181), -30.0, dtype=torch.float64)
    for word in range(1, 181):  # words 1 and 2, 3 and 4, … want each other
        cyclic[0, word + 1 if word % 2 else word - 1, word] = 30.0
    ordinary = torch.randn(1, 181, 181, dtype=torch.float64)
    scores = torch.cat([flat, ordinary, cyclic]).requires_grad_()
    lengths = torch.tensor([180, 25, 180])
    weights = operators.soft_trees(scores.detach(), lengths, 1.0, single_root, LOG, keep=False)[1]
    soft, expected = chart.soft_trees(scores.detach(), lengths, 1.0, single_root, LOG)
    assert torch.allclose(weights, expected, rtol=1e-12, atol=1e-10)
    trees = ProjectiveTrees(scores, lengths, single_root=single_root)
    (gradient,) = torch.autograd.grad(trees.log_partition.sum(), scores)
    assert torch.allclose(gradient, soft, atol=1e-9)
    alone = ProjectiveTrees(ordinary, lengths[1:2], single_root=single_root)
    assert torch.equal(alone.log_partition[0], trees.log_partition[1])


@pytest.mark.parametrize("kind", [ProjectiveTrees, NonProjectiveTrees])
@pytest.mark.parametrize("single_root", [True, False])
def test_where_there_is_no_tree_nothing_is_found(kind, single_root):
    """Without a check of the arguments; the other sentence is as it would be alone."""
    mask = torch.ones(2, 4, 4, dtype=torch.bool)
    mask[0, :, 3] = False
    trees = kind(torch.zeros(2, 4, 4), mask=mask, single_root=single_root, validate_args=False)
    for heads in (trees.mode, trees.mbr, *trees.kbest(2)[0], *trees.sample((3,))):
        assert heads[0].tolist() == [-1] * 4
        assert (heads[1, 1:] >= 0).all()
    log_prob = trees.log_prob(torch.tensor([[-1, -1, 0, -1], [-1, -1, 0, -1]]))
    assert log_prob[0] == -torch.inf
    assert log_prob[1].isfinite()
