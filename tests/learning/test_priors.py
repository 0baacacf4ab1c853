"""Priors over trees: their weights, their divergence, their estimation and their files."""

import math
import random

import pytest
import torch

from softparse.configuration import ConfigurationError
from softparse.corpus.batches import Tree
from softparse.learning.priors import ARCS, ROOTS, Prior, Rule, estimated, read_prior
from softparse.trees import ProjectiveTrees
from tests import oracle

WORDS = ["Dogs", "chase", "running", "cats"]


def by_hand(prior, words, heads):
    """The weight of a tree, arc by arc."""
    total = 0.0
    for modifier, head in enumerate(heads, 1):
        if head == 0:
            name = "only" if len(words) == 1 else {1: "first", len(words): "last"}.get(modifier, "middle")
            total += prior.root.get(name, 0.0)
        else:
            gap = abs(head - modifier)
            first = max(start for start in (1, 2, 3, 7) if start <= gap)
            total += prior.arcs.get(f"{'left' if modifier < head else 'right'}-{first}", 0.0)
        for rule in prior.rules:
            names = {"verb": {"chase", "running"}, "noun": {"dogs", "cats"}}
            is_head = head == 0 if rule.head == "root" else head and words[head - 1].lower() in names[rule.head]
            total += rule.weight * bool(is_head and words[modifier - 1].lower() in names[rule.modifier])
    return total


def made(**more):
    generator = random.Random(1)
    arcs, root = ({name: generator.uniform(-2, 2) for name in names} for names in (ARCS, ROOTS))
    return Prior(arcs, root, **more)


CLASSES = {"verb": ["chase", "*ing"], "noun": ["*s"]}
RULES = [Rule("verb", "noun", 1.5), Rule("root", "verb", 0.7)]


@pytest.mark.parametrize("words", [WORDS, ["Yes"], [f"w{place}" for place in range(10)]], ids=len)
def test_weights_of_trees(words, single_root):
    prior = made(classes=CLASSES, rules=RULES)
    scores = prior.scores([words, words[:1]], torch.zeros(1).double())
    assert scores.dtype == torch.float64
    every = oracle.trees(len(words), single_root=single_root, projective=True) if len(words) < 6 else None
    for heads in every or [(-1, *[0] * 10), (-1, *range(10)), (-1, *[10] * 9, 0)]:
        mine = sum(scores[0, head, word] for word, head in enumerate(heads) if word)
        assert float(mine) == pytest.approx(by_hand(prior, words, heads[1:]), abs=1e-5)


def test_divergence_is_the_one_of_the_definition(single_root):
    prior, trees = made(), oracle.trees(4, single_root=single_root, projective=True)
    scores = torch.randn(1, 5, 5).double()
    mine = ProjectiveTrees(scores, single_root=single_root)
    weights = torch.tensor([by_hand(prior, WORDS, heads[1:]) for heads in trees]).double()
    log_prior = weights.log_softmax(0)
    log_mine = mine.log_prob(torch.tensor(trees)[:, None])[:, 0]
    expected = (log_mine.exp() * (log_mine - log_prior)).sum()
    torch.testing.assert_close(prior.divergence(mine, [WORDS])[0], expected, atol=1e-6, rtol=1e-6)


def test_without_preferences_it_is_uniform():
    trees = ProjectiveTrees(torch.randn(2, 5, 5), torch.tensor([4, 2]))
    torch.testing.assert_close(Prior().divergence(trees, [WORDS, WORDS[:2]]), trees.kl_uniform())


def test_estimation_finds_the_preferences():
    truth = made()
    words = [f"w{place}" for place in range(9)]
    scores = truth.scores([words], torch.zeros(1).double())
    drawn = ProjectiveTrees(scores).sample((3000,), generator=torch.Generator().manual_seed(1))[:, 0, 1:].tolist()
    found = estimated([Tree(words, heads, ["_"] * 9) for heads in drawn], single_root=True)
    # Weights are known up to what is the same for all trees; so the distributions are compared.
    one = ProjectiveTrees(scores)
    assert float(found.divergence(one, [words])) < 0.02
    assert float(Prior().divergence(one, [words])) > 1


def test_estimation_needs_trees():
    with pytest.raises(ConfigurationError, match="needs complete trees"):
        estimated([Tree(["a", "b"], [-1, 0], ["_", "_"])], single_root=True)


def test_files(tmp_path):
    path = tmp_path / "prior.toml"
    path.write_text(
        '[arcs]\nleft-1 = 1.5\n[root]\nfirst = -1\n[classes]\nverb = ["is", "*ing"]\nnoun = ["*s"]\n'
        '[[rules]]\nhead = "verb"\nmodifier = "noun"\nweight = 2.0\n'
    )
    prior = read_prior(path)
    assert prior.arcs == {"left-1": 1.5}
    assert prior.root == {"first": -1.0}
    assert prior.rules == [Rule("verb", "noun", 2.0)]
    scores = prior.scores([["He", "is", "Cats"]], torch.zeros(1))
    assert scores[0, 2, 3] == 2.0
    assert scores[0, 2, 1] == 1.5
    assert math.isclose(scores[0, 0, 1], -1.0)


def test_only_the_star_stands_for_anything(tmp_path):
    path = tmp_path / "prior.toml"
    path.write_text('[classes]\nend = ["?", "[x]", "*ing"]\n[[rules]]\nhead = "root"\nmodifier = "end"\nweight = 1.0\n')
    words = ["a", "?", "x", "[x]", "Singing", "ingot"]
    assert read_prior(path).scores([words], torch.zeros(1))[0, 0, 1:].tolist() == [0, 1, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[arc]\nleft-1 = 1", "unknown table 'arc'"),
        ("[arcs]\nleft-4 = 1", "unknown preference 'left-4'; there are left-1"),
        ("[arcs]\nleft-1 = nan", "finite number"),
        ("arcs = 3", "must be a table of weights"),
        ("[classes]\nroot = ['a']", "not be called root"),
        ("[[rules]]\nhead = 'verb'\nmodifier = 'noun'\nweight = 1", "rule 1: there is no class 'verb'"),
        ("[[rules]]\nhead = 'root'", "rule 1: needs head, modifier and weight"),
        ("[[rules]]\nhead = ['root']\nmodifier = 'noun'\nweight = 1", "rule 1: there is no class"),
        ("classes = 3", "classes must be a table"),
        ("rules = 3", "and rules a list"),
        ("[arcs", "not a TOML file"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "prior.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        read_prior(path)
