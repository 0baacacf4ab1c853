"""What goes wrong in somebody's hands: it is told, or does no harm."""

import copy
import pickle

import pytest
import torch
from torch.distributions import kl_divergence

from softparse.trees import NonProjectiveTrees, ProjectiveTrees, expectation, relaxed_parse
from softparse.trees.estimators import ESTIMATORS
from tests import oracle


@pytest.fixture
def scores(generator):
    return torch.randn(2, 5, 5, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_function_of_all_sentences_together_is_refused(scores, estimator):
    """With a baseline its gradient would be zero, or nearly so."""
    trees = ProjectiveTrees(scores)
    for f in (lambda tree: tree[..., 0, 1].sum(), lambda tree: tree[..., 0, 1].mean(0), lambda tree: tree[..., 0, :1]):
        with pytest.raises(ValueError, match="f must return a value for every sample and sentence"):
            expectation(trees, f, estimator, samples=3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_score_that_is_no_number_spoils_its_sentence_and_no_other(kind, single_root, scores, dtype):
    scores = scores.to(dtype)
    right = kind(scores[1:], single_root=single_root)
    spoilt = scores.clone()
    spoilt[0, 1, 2] = torch.nan
    trees = kind(spoilt, single_root=single_root, validate_args=False)
    for found, expected in (
        (trees.log_partition, right.log_partition), (trees.entropy(), right.entropy()),
        (trees.marginals[:, 0, 1], right.marginals[:, 0, 1]),
        (trees.rsample(noise="none")[:, 0, 1], right.rsample(noise="none")[:, 0, 1]),
    ):  # fmt: skip
        assert found[0].isnan()
        torch.testing.assert_close(found[1:], expected)
    never_read = scores.clone()
    never_read[:, :, 0] = never_read[:, 3, 3] = torch.nan
    torch.testing.assert_close(kind(never_read, single_root=single_root).log_partition[1:], right.log_partition)


def test_no_number_under_a_compiler(scores):
    scores[0, 1, 2] = torch.nan
    compiled = torch.compile(lambda s: ProjectiveTrees(s).log_partition, fullgraph=True, backend="eager")
    assert compiled(scores).isnan().tolist() == [True, False]


def test_an_arc_of_no_tree_may_have_any_score_in_another_distribution():
    scores = torch.randn(1, 4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    trees = NonProjectiveTrees(scores).given(torch.tensor([[-1, 2, -1, -1]]))  # so 1 → 2 is in no tree
    masked = scores.clone()
    masked[0, 1, 2] = -1e30
    allowed = oracle.Enumerated(trees.scores[0].tolist(), 3, single_root=True, projective=False)
    other = oracle.Enumerated(masked[0].tolist(), 3, single_root=True, projective=False)
    difference = other.log_partition - allowed.log_partition  # the trees of one weigh the same in the other
    assert kl_divergence(trees, NonProjectiveTrees(masked)).item() == pytest.approx(difference)


def test_what_is_handed_out_may_be_changed(kind, scores):
    trees = kind(scores)
    tree = trees.mode
    before = trees.log_prob(tree)
    for result in (trees.log_partition, trees.marginals, trees.mode, trees.mbr):
        result += 1
    assert torch.equal(trees.log_prob(tree), before)
    assert torch.equal(trees.mode, kind(scores).mode)
    assert torch.equal(trees.mbr, kind(scores).mbr)
    torch.testing.assert_close(trees.marginals.sum(1)[:, 1:], torch.ones(2, 4, dtype=torch.float64))


def test_scores_that_change_under_a_distribution(kind, scores):
    trees = kind(scores)
    tree = trees.mode
    trees.log_prob(tree)
    scores.mul_(3)
    for use in (lambda: trees.log_prob(tree), trees.entropy, lambda: trees.marginals):
        with pytest.raises(RuntimeError, match="the scores were changed in place"):
            use()
    kind(scores).log_prob(tree)


def test_scores_that_were_changed_before_may_be_used_anywhere(scores):
    """Where versions are not counted, they are not compared."""
    scores.mul_(1.0)
    trees = ProjectiveTrees(scores)
    expected = ProjectiveTrees(scores.clone()).entropy()
    compiled = torch.compile(lambda: trees.entropy(), backend="eager")
    torch.testing.assert_close(compiled(), expected)
    with torch.autograd.forward_ad.dual_level():
        torch.testing.assert_close(ProjectiveTrees(scores).log_partition, trees.log_partition)
    with torch.inference_mode():
        torch.testing.assert_close(ProjectiveTrees(scores).entropy(), expected)
    torch.testing.assert_close(copy.deepcopy(trees).entropy(), expected)


def test_the_owner_of_a_relaxed_tree_may_change_it(scores):
    scores.requires_grad_()
    tree = relaxed_parse(scores)
    expected = torch.autograd.grad(tree[:, 1:].sum(), scores)[0]
    again = relaxed_parse(scores)
    again[:, 0] = 0
    torch.testing.assert_close(torch.autograd.grad(again.sum(), scores)[0], expected)


def test_copies_after_use(kind, scores):
    trees = kind(scores.requires_grad_())
    entropy = trees.entropy()
    torch.testing.assert_close(copy.deepcopy(trees).entropy(), entropy)
    torch.testing.assert_close(pickle.loads(pickle.dumps(kind(scores.detach()))).entropy(), entropy.detach())


def test_given_heads_that_leave_no_tree(kind):
    with pytest.raises(ValueError, match="the given heads leave no single-rooted"):
        kind(torch.zeros(1, 4, 4)).given(torch.tensor([[-1, 2, 1, -1]]))


@pytest.mark.parametrize("temperature", [1e-6, 1e-12, 1e-16, 1e-20])
def test_marginals_at_low_temperatures(kind, single_root, temperature, generator):
    scores = torch.randn(64, 11, 11, generator=generator)
    soft = kind(scores, single_root=single_root).perturbed_marginals(temperature=temperature, noise="none")
    torch.testing.assert_close(soft.sum(1)[:, 1:], torch.ones(64, 10))


def test_transformations(kind, scores):
    def value(tree):
        return tree[..., 0, 1]

    def relative(s):
        return kl_divergence(kind(s), kind(torch.zeros(2, 5, 5, dtype=torch.float64))).sum()

    for function in (
        relative,
        lambda s: kind(s).kbest(2)[1].sum(),
        lambda s: expectation(kind(s), value, "straight-through", noise="none").sum(),
        lambda s: expectation(
            kind(s), value, "score-function", samples=3, generator=torch.Generator().manual_seed(1)
        ).sum(),
    ):
        leaf = scores.clone().requires_grad_()
        function(leaf).backward()
        torch.testing.assert_close(torch.func.grad(function)(scores), leaf.grad)
    several = torch.stack((scores, scores + 1, scores * 2))
    for function in (
        lambda s: kind(s).mode,
        lambda s: kind(s).entropy(),
        torch.func.grad(lambda s: kind(s).log_partition.sum()),
    ):
        expected = torch.stack([function(each) for each in several])
        torch.testing.assert_close(torch.func.vmap(function)(several), expected)


def test_another_default_device(kind):
    scores = torch.zeros(1, 4, 4)
    with torch.device("meta"):
        assert kind(scores).sample((2,)).device.type == "cpu"
