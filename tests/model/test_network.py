"""The networks: against plain versions of themselves, and independent of padding."""

import pytest
import torch

from softparse.configuration import build
from softparse.corpus.batches import Numbering
from softparse.corpus.sentence import Sentence
from softparse.corpus.vocabulary import Vocabulary
from softparse.model import highest, joining, scorers
from softparse.model.characters import CharacterConfig, CharacterEncoder, reversed_within
from softparse.model.encoder import Encoder, EncoderConfig
from softparse.model.joining import Mirrored
from softparse.model.network import ModelConfig, Network

SENTENCES = [["They", "walk", "the", "dog", "."], ["Yes"], ["A", "12", "b", "They", "unfathomably", "c", "d"]]
KINDS = ["perceptron", "biaffine"]


def vocabulary():
    return Vocabulary.of([Sentence.from_words(words) for words in SENTENCES], ["nsubj", "root", "det"])


def network(**settings):
    torch.manual_seed(1)
    table = {
        "words": {"dimension": 8, "characters": {"encoder": settings.pop("characters", "convolution"), "output": 6}},
        "encoder": {"hidden": 7, "layers": 2},
        "scorer": {"arc": 5, "label": 4, **settings},
    }
    return Network(build(ModelConfig, table), vocabulary()).eval()


@pytest.mark.parametrize("characters", ["none", "convolution", "lstm"])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_do_not_depend_on_the_batch(characters, kind):
    net = network(characters=characters, kind=kind, label_kind=kind)
    with torch.no_grad():
        together = net.views(Numbering(vocabulary(), {}).batch(SENTENCES))
        arcs = net.arc_scores(together)
        heads = torch.zeros(arcs.shape[:2], dtype=torch.long)
        labels = net.label_scores(together, heads)
        for row, words in enumerate(SENTENCES):
            alone = net.views(Numbering(vocabulary(), {}).batch([words]))
            size = len(words) + 1
            for mine, other in zip(alone, together, strict=True):
                torch.testing.assert_close(mine[0], other[row, :size], atol=1e-6, rtol=1e-5)
            torch.testing.assert_close(net.arc_scores(alone)[0], arcs[row, :size, :size], atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(
                net.label_scores(alone, heads[:1, :size])[0], labels[row, :size], atol=1e-5, rtol=1e-5
            )


def test_arc_perceptron_is_its_formula():
    net = network(kind="perceptron")
    states = torch.randn(2, 4, 14)
    views = net.projection(states)
    weight, bias = net.projection.linear.weight, net.projection.linear.bias
    for head in range(4):
        for modifier in range(4):
            hidden = states[:, head] @ weight[:5].T + states[:, modifier] @ weight[5:10].T + bias[:5] + bias[5:10]
            expected = net.arcs.output(torch.tanh(hidden))[:, 0]
            torch.testing.assert_close(net.arc_scores(views)[:, head, modifier], expected)


def test_arc_perceptron_in_parts(monkeypatch):
    scorer = network(kind="perceptron").arcs
    heads, modifiers = torch.randn(2, 2, 9, 5)
    with torch.no_grad():
        whole = scorer(heads, modifiers)
        monkeypatch.setattr(scorers, "MOST_NUMBERS", 100)
        torch.testing.assert_close(scorer(heads, modifiers), whole)


def test_biaffine_is_its_formula():
    net = network(kind="biaffine", label_kind="biaffine")
    torch.nn.init.normal_(net.arcs.form.weight)
    torch.nn.init.normal_(net.labels.form.weight)
    states, heads = torch.randn(1, 4, 14), torch.tensor([[0, 2, 0, 1]])
    views = net.projection(states)
    parts = torch.nn.functional.leaky_relu(net.projection.linear(states[0]), 0.1).split([5, 5, 4, 4], -1)
    head, modifier = parts[:2]
    expected = torch.einsum("hi,ij,mj->hm", head, net.arcs.form.weight, modifier) + (head @ net.arcs.form.bias)[:, None]
    torch.testing.assert_close(net.arc_scores(views)[0], expected)
    head, modifier = parts[2][heads[0]], parts[3]
    form = net.labels.form.weight.view(3, 4, 4)
    expected = torch.einsum("mi,lij,mj->ml", head, form, modifier) + head @ net.labels.form.bias.view(3, 4).T
    expected = expected + net.labels.of_both(torch.cat([head, modifier], -1))
    torch.testing.assert_close(net.label_scores(views, heads)[0], expected)


def test_layers_of_biaffine_forms_start_orthogonal():
    net = network(kind="biaffine", label_kind="perceptron")
    weight = net.projection.linear.weight
    for part in weight[:5], weight[5:10]:
        torch.testing.assert_close(part @ part.T, torch.eye(5), atol=1e-5, rtol=0)
    assert net.projection.linear.bias[:10].eq(0).all()
    assert net.projection.linear.bias[10:].ne(0).all()


def test_reading_backwards_has_its_gradient():
    states = torch.randn(3, 2, 4, dtype=torch.float64, requires_grad=True)
    rows = torch.tensor([[4, 1], [2, 3], [0, 5]])  # sentences of 3 words, and of 1; its own inverse
    assert torch.equal(Mirrored.apply(states, rows)[0, 0], states[2, 0])
    assert torch.equal(Mirrored.apply(states, rows)[1, 1], states[1, 1])
    assert torch.autograd.gradcheck(lambda x: Mirrored.apply(x, rows), states)


def test_kernels_between_layers_are_the_plain_operations(monkeypatch):
    """Values and gradients, also of sentences of one word and of padding."""
    torch.manual_seed(3)
    encoder = Encoder(EncoderConfig(layers=3, hidden=5, dropout=0.4), 4).double()
    inputs, lengths = torch.randn(4, 7, 4).double(), torch.tensor([6, 1, 3, 5])

    def values_and_gradients():
        torch.manual_seed(4)
        mine = inputs.clone().requires_grad_()
        encoded = encoder(mine, lengths)
        encoder.zero_grad()
        (encoded.states.square().sum() + encoded.backwards.sin().sum() + encoded.forwards.cos().sum()).backward()
        gradients = [parameter.grad.clone() for parameter in encoder.parameters()]
        return [encoded.states, encoded.forwards, encoded.backwards, mine.grad, *gradients]

    with_kernels = values_and_gradients()
    monkeypatch.setattr(joining, "HAVE_NUMBA", False)
    plainly = values_and_gradients()
    for mine, other in zip(with_kernels, plainly, strict=True):
        torch.testing.assert_close(mine, other)
    assert with_kernels[0].eq(0).any()  # something was dropped


def test_a_part_of_what_is_encoded():
    encoder = Encoder(EncoderConfig(layers=2, hidden=5), 4)
    inputs, lengths = torch.randn(3, 7, 4), torch.tensor([6, 2, 3])
    whole, part = encoder(inputs, lengths), encoder(inputs, lengths).rows(1, 3, 4)
    for name in "words", "states", "forwards", "backwards":
        assert torch.equal(getattr(part, name), getattr(whole, name)[1:3, :4])


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_highest_is_the_plain_operations(width):
    torch.manual_seed(5)
    table = torch.randn(9, width, 6, dtype=torch.float64, requires_grad=True)
    spellings = torch.tensor([[3, 4, 5, 6, 7, 8], [5, 0, 0, 0, 0, 0], [8, 6, 3, 0, 0, 0]])
    weights = torch.randn(3, 6, dtype=torch.float64)
    results = [function(table, spellings) for function in (highest.highest, highest.plainly)]
    torch.testing.assert_close(*results)
    torch.testing.assert_close(*(torch.autograd.grad((result * weights).sum(), table)[0] for result in results))
    twice = torch.tensor([[8, 8, 3]])  # one letter twice, where torch's own maximum loses half of the gradient
    assert torch.autograd.gradcheck(lambda values: highest.highest(values, twice), table)


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_character_convolution_is_a_convolution(width):
    encoder = CharacterEncoder(CharacterConfig("convolution", dimension=4, output=6, width=width), 9)
    torch.nn.init.normal_(encoder.bias)
    spellings = torch.tensor([[3, 4, 5, 6, 7, 8], [5, 0, 0, 0, 0, 0], [8, 8, 3, 0, 0, 0]])
    filters = encoder.filters.weight.view(width, 6, 4)
    result = encoder(spellings)
    for row, spelling in enumerate(spellings):
        letters = encoder.embedding(spelling[spelling > 0])
        padded = torch.nn.functional.pad(letters, (0, 0, width // 2, width - 1 - width // 2))
        seen = torch.nn.functional.conv1d(padded.T[None], filters.permute(1, 2, 0))[0]
        torch.testing.assert_close(result[row], (seen.amax(1) + encoder.bias).relu())


def test_reversal():
    states = torch.arange(8.0).view(2, 4, 1)
    assert reversed_within(states, torch.tensor([3, 1]))[:, :, 0].tolist() == [[2, 1, 0, 3], [4, 5, 6, 7]]


def test_word_dropout_follows_the_counts():
    words = [["often"] * 3 + ["once"]] * 500
    counted = Vocabulary.of([Sentence.from_words(sentence) for sentence in words[:1]], [])
    net = Network(build(ModelConfig, {"words": {"dropout_rate": 0.5}}), counted).train()
    seen = net.words(Numbering(counted, {}).batch(words))
    unknown = net.words.embedding.weight[1]
    dropped = (seen == unknown).all(-1).float().mean(0)
    assert dropped[0] == 0  # the root is never unknown
    assert abs(float(dropped[1:4].mean()) - 0.5 / 3.5) < 0.04
    assert abs(float(dropped[4]) - 0.5 / 1.5) < 0.07


def test_external_vectors_are_fixed_and_dropped_with_half_of_the_words():
    counted = Vocabulary.of([Sentence.from_words(["once"])], [])
    vectors = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    net = Network(build(ModelConfig, {"words": {"dropout_rate": 1.0}}), counted, vectors)
    batch = Numbering(counted, {"once": 1}).batch([["once"]] * 2000)
    assert not any("vectors" in name for name, _ in net.named_parameters())
    torch.testing.assert_close(net.eval().words(batch)[:, 1, -2:], vectors[1].expand(2000, 2))
    gone = (net.train().words(batch)[:, 1, -2:] == 0).all(-1).float().mean()
    assert abs(float(gone) - 0.25) < 0.04  # the word is dropped half of the time, and the vector half of these


def test_case_and_numbers_share_embeddings():
    numbering = Numbering(vocabulary(), {})
    batch = numbering.batch([["they", "THEY", "77", "12", "unseen"]])
    words = batch.words[0].tolist()
    assert words[1] == words[2] != 1
    assert words[3] == words[4] != 1
    assert words[5] == 1
    assert batch.spellings[batch.forms[0, 1]].tolist() != batch.spellings[batch.forms[0, 2]].tolist()
