"""The decoder against its formula, word by word; that it never looks ahead; and its gradients."""

import itertools

import pytest
import torch

from softparse.model.decoder import Decoder, DecoderConfig
from softparse.trees import ProjectiveTrees, adjacency, eisner, relaxed_parse

READINGS = list(itertools.product(["incident", "history"], ["after", "before"]))


def decoder(arcs, states, latent=4, inputs=3):
    torch.manual_seed(2)
    made = Decoder(DecoderConfig(hidden=4, arcs=arcs, states=states), inputs, latent).double()
    torch.nn.init.normal_(made.start)
    return made


def by_formula(made, words, tree, latent):
    """One sentence: words [n, d], tree [n + 1, n + 1], z; as printed in the module."""
    size = len(words)
    first = latent if made.from_latent is None else made.from_latent(latent)
    hidden, cell = first[None], torch.zeros_like(first)[None]
    r = []
    for word in [made.start, *words[:-1]]:
        _, (hidden, cell) = made.lstm(word[None], (hidden, cell))
        r.append(hidden[0])
    vectors = []
    for i in range(1, size + 1):
        centre = i if made.config.arcs == "incident" else i - 1
        total = made.convolution.of_itself(r[i - 1])
        for k in range(centre):
            state = r[k] if made.config.states == "after" else (r[k - 1] if k > 0 else first)
            total = total + tree[k, centre] * made.convolution.of_heads(state)
            total = total + tree[centre, k] * made.convolution.of_modifiers(state)
        vectors.append(torch.tanh(total))
    return torch.stack(vectors)


@pytest.mark.parametrize(("arcs", "states"), READINGS)
@pytest.mark.parametrize("latent", [4, 6])
def test_it_is_its_formula(arcs, states, latent):
    made = decoder(arcs, states, latent)
    words, z = torch.randn(2, 5, 3).double(), torch.randn(2, latent).double()
    scores = torch.randn(2, 6, 6).double()
    soft = relaxed_parse(scores)
    hard = adjacency(eisner(scores)).double()
    for trees in (soft, hard):
        result = made(words, trees, z)
        for row in range(2):
            torch.testing.assert_close(result[row], by_formula(made, words[row], trees[row], z[row]))
    several = torch.stack([soft, hard])
    torch.testing.assert_close(made(words, several, z), torch.stack([made(words, soft, z), made(words, hard, z)]))


@pytest.mark.parametrize(("arcs", "states"), READINGS)
def test_no_word_is_predicted_from_itself_or_later_ones(arcs, states):
    made = decoder(arcs, states)
    words = torch.randn(1, 6, 3).double().requires_grad_()
    trees = torch.rand(1, 7, 7).double()  # not even a tree that has every arc lets anything through
    result = made(words, trees, torch.randn(1, 4).double())
    for place in range(6):
        (slope,) = torch.autograd.grad(result[0, place].sum(), words, retain_graph=True)
        assert slope[0, place:].abs().max() == 0, "a word sees itself or what follows"
        assert place == 0 or slope[0, :place].abs().max() > 0


def test_the_tree_matters():
    made = decoder("incident", "after")
    words = torch.randn(1, 4, 3).double()
    trees = [adjacency(torch.tensor([[-1, *heads]])).double() for heads in ([2, 0, 2, 3], [0, 1, 1, 1])]
    one, other = (made(words, tree) for tree in trees)
    assert not torch.allclose(one, other)


def test_without_z_the_first_state_is_zero():
    made = decoder("incident", "after")
    words, trees = torch.randn(1, 4, 3).double(), torch.zeros(1, 5, 5).double()
    torch.testing.assert_close(made(words, trees), made(words, trees, torch.zeros(1, 4).double()))


@pytest.mark.parametrize(("arcs", "states"), READINGS)
def test_gradients_through_decoder_and_operator(arcs, states):
    made = decoder(arcs, states)
    words, z = torch.randn(2, 3, 3).double(), torch.randn(2, 4).double().requires_grad_()
    scores = torch.randn(2, 4, 4).double().requires_grad_()
    lengths = torch.tensor([3, 2])

    def run(scores, z):
        return made(words, relaxed_parse(scores, lengths, temperature=0.7), z)

    assert torch.autograd.gradcheck(run, (scores, z))


def test_padding_changes_nothing():
    made = decoder("incident", "after")
    words, scores = torch.randn(2, 5, 3).double(), torch.randn(2, 6, 6).double()
    lengths = torch.tensor([5, 3])
    trees = ProjectiveTrees(scores, lengths).marginals
    alone = made(words[1:, :3], ProjectiveTrees(scores[1:, :4, :4]).marginals)
    torch.testing.assert_close(made(words, trees)[1, :3], alone[0])
