"""The terms of the objective against enumeration, on sentences of up to four words."""

import copy
import dataclasses

import pytest
import torch

from softparse.configuration import build
from softparse.corpus.batches import Numbering, Tree
from softparse.corpus.sentence import Sentence
from softparse.corpus.vocabulary import Vocabulary
from softparse.learning.autoencoder import Autoencoder, ObjectiveConfig
from softparse.learning.clock import Clock
from softparse.learning.config import Config
from softparse.learning.diagnostics import diagnose
from softparse.learning.objective import Objective
from softparse.learning.optimizers import Average
from softparse.learning.priors import Prior
from softparse.learning.reading import Reading
from softparse.learning.teacher import Teacher, agreement
from softparse.learning.unlabelled import Unlabelled
from softparse.model.generative import Generative, GenerativeConfig
from softparse.model.network import ModelConfig
from softparse.parser import DecodingConfig, Parser, ParserConfig
from softparse.trees import relaxed_parse
from softparse.trees.noise import sample_noise
from tests import oracle

SENTENCES = [["a", "b", "c", "d"], ["d", "c", "b"], ["b"]]
TREES = [Tree(SENTENCES[0], [2, 0, 2, 3], ["x"] * 4), Tree(SENTENCES[1], [2, 0, 2], ["x"] * 3)]


def made(states="own", single_root=True, **settings):
    torch.manual_seed(4)
    vocabulary = Vocabulary.of([Sentence.from_words(words) for words in SENTENCES], ["x", "y"])
    model = build(ModelConfig, {"words": {"dimension": 6}, "encoder": {"hidden": 5}, "scorer": {"arc": 5, "label": 5}})
    parser = Parser(ParserConfig(model, DecodingConfig(single_root=single_root)), vocabulary)
    parser.numbering = Numbering(vocabulary, {}, vocabulary)
    table = {"states": states, "decoder": {"hidden": 6}, "posterior": {"dimension": 6}, "dimension": 6, **settings}
    table["output"] = {"kind": "softmax"}
    generative = Generative(build(GenerativeConfig, table), parser.network, torch.tensor(vocabulary.counts))
    parser.network.double().eval()
    generative.double().eval()
    # Arcs that the parser is sure of, and a decoder that listens to the tree.
    for weight in parser.network.arcs.parameters():
        torch.nn.init.normal_(weight)
    return parser, generative


def reading(parser, sentences=SENTENCES, trees=None):
    batch = parser.numbering.training_batch(trees) if trees else parser.numbering.batch(sentences)
    sentences = [tree.words for tree in trees] if trees else sentences
    return Reading(parser.network, sentences, batch, parser.config.decoding.single_root)


def losses_by_tree(generative, read, row):
    """−log p(s|T) of every tree of a sentence, with its probability."""
    size = int(read.batch.lengths[row])
    every = oracle.trees(size, single_root=read.single_root, projective=True)
    total = read.scores.shape[1]
    scores = read.scores[row].detach()
    weights = torch.stack([sum(scores[head, word] for word, head in enumerate(tree) if word) for tree in every])
    losses = []
    for tree in every:
        soft = torch.zeros_like(read.scores)
        for word, head in enumerate(tree):
            if word:
                soft[row, head, word] = 1
        vectors = generative.vectors(read.network, read.batch, read.encoded, soft)
        losses.append(generative.loss(vectors, read.batch)[row].detach())
    assert total >= size
    return torch.stack(losses), weights.softmax(0)


@pytest.mark.parametrize("states", ["own", "encoder"])
def test_exact_samples_give_the_expectation_over_trees(states, single_root):
    parser, generative = made(states, single_root)
    read = reading(parser)
    config = ObjectiveConfig(raw=1.0, estimator="score-function", samples=4000, raw_from=1)
    mine = Autoencoder(config, generative, None, 1).raw(read, 0)["reconstruction"].value
    exact = sum(torch.dot(*losses_by_tree(generative, read, row)) for row in range(3))
    torch.testing.assert_close(mine.detach(), exact, atol=0.06, rtol=0)


def test_its_gradient_is_that_of_the_expectation():
    parser, generative = made()
    read = reading(parser, SENTENCES[1:2])
    config = ObjectiveConfig(raw=1.0, estimator="score-function", samples=20_000, raw_from=1)
    scores = read.scores
    mine = Autoencoder(config, generative, None, 1).raw(read, 0)["reconstruction"].value
    (slope,) = torch.autograd.grad(mine, scores)
    every = oracle.trees(3, single_root=True, projective=True)
    losses, _ = losses_by_tree(generative, read, 0)
    free = scores.detach().clone().requires_grad_()
    weights = torch.stack([sum(free[0, head, word] for word, head in enumerate(tree) if word) for tree in every])
    (exact,) = torch.autograd.grad(torch.dot(weights.softmax(0), losses), free)
    torch.testing.assert_close(slope, exact, atol=0.03, rtol=0)


def test_the_relaxed_objective_for_fixed_noise():
    parser, generative = made()
    read = reading(parser)
    config = ObjectiveConfig(raw=1.0, raw_from=1, temperature=0.7)
    torch.manual_seed(9)
    mine = Autoencoder(config, generative, None, 1).raw(read, 0)["reconstruction"].value
    torch.manual_seed(9)
    noise = sample_noise("gumbel", (1, *read.scores.shape), read.batch.lengths, read.scores.dtype, None)
    soft = relaxed_parse(read.scores + noise[0], read.batch.lengths, temperature=0.7)
    # By hand: the decoder's states word by word, the softmax as it is written.
    expected = 0.0
    for row, words in enumerate(SENTENCES):
        vectors = generative.vectors(read.network, read.batch, read.encoded, soft)[0][row]
        for place, word in enumerate(words):
            logits = vectors[place] @ generative.output.words.weight.T + generative.output.bias
            expected -= logits.log_softmax(0)[parser.vocabulary.word_id(word)]
    torch.testing.assert_close(mine, expected)


def test_the_divergence_of_trees_is_exact(single_root):
    parser, generative = made(single_root=single_root)
    read = reading(parser)
    for prior in (None, Prior({"left-1": 1.0, "right-1": -0.5}, {"first": 2.0})):
        config = ObjectiveConfig(raw=1.0, raw_from=1, kl_trees=0.5)
        term = Autoencoder(config, generative, prior, 1).raw(read, 0)["kl_trees"]
        assert term.weight == 0.5
        expected = 0.0
        for row, words in enumerate(SENTENCES):
            every = oracle.trees(len(words), single_root=single_root, projective=True)
            _, mine = losses_by_tree(generative, read, row)
            weights = torch.zeros(len(every)).double()
            if prior is not None:
                scores = prior.scores([words], weights)[0]
                weights = torch.stack([sum(scores[h, w] for w, h in enumerate(tree) if w) for tree in every])
            expected += float((mine * (mine.log() - weights.log_softmax(0))).sum())
        assert term.value.item() == pytest.approx(expected, abs=1e-6)


def test_trees_that_are_known_are_used():
    parser, generative = made()
    read = reading(parser, trees=TREES)
    terms = Autoencoder(ObjectiveConfig(labelled=1.0), generative, None, 9).labelled(read, 5)
    expected = 0.0
    for row, tree in enumerate(TREES):
        every = oracle.trees(len(tree), single_root=True, projective=True)
        losses, _ = losses_by_tree(generative, read, row)
        expected += losses[every.index((-1, *tree.heads))]
    torch.testing.assert_close(terms["reconstruction"].value, expected)


def test_partial_trees_are_restricted_to_their_completions():
    parser, generative = made()
    read = reading(parser, trees=[dataclasses.replace(TREES[0], heads=[2, -1, 2, -1])])
    config = ObjectiveConfig(raw=1.0, raw_from=2, estimator="score-function", samples=4000)
    autoencoder = Autoencoder(config, generative, None, 9)
    losses, chances = losses_by_tree(generative, read, 0)
    fits = torch.tensor([tree[1] == 2 and tree[3] == 2 for tree in oracle.trees(4, single_root=True, projective=True)])
    expected = torch.dot(losses[fits], chances[fits] / chances[fits].sum())
    torch.testing.assert_close(
        autoencoder.partial(read, 1)["reconstruction"].value.detach(), expected, atol=0.05, rtol=0
    )


@pytest.mark.parametrize(("labelled", "raw"), [(0.7, 0.3), (0.0, 0.3), (0.7, 0.0)])
def test_partial_trees_count_like_raw_sentences_and_whole_ones_by_themselves(labelled, raw):
    parser, generative = made(latent=True)
    trees = [dataclasses.replace(TREES[0], heads=[2, -1, 2, -1]), TREES[1]]
    settings = {"labelled": labelled, "raw": raw, "labelled_from": 1, "raw_from": 2, "kl_trees": 0.5}
    config = build(Config, {"objective": {**settings, "estimator": "marginals"}})
    autoencoder = Autoencoder(config.objective, generative, None, 9)
    objective = Objective(parser, config, Unlabelled(config.objective, None, autoencoder, 1, 9), None, Clock())
    whole = {"reconstruction", "kl_latent"} if labelled else set()
    partial = {"partial_reconstruction", "partial_kl_latent", "partial_kl_trees"} if raw else set()
    alone = {name: value for tree in trees for name, value in objective.learn([tree], [], (1, 1), 1).items()}
    for epoch, expected in (0, whole), (1, whole | partial):  # before raw text comes in, what is not known has no term
        sums = objective.learn(trees, [], (1, 1), epoch)
        assert set(sums) == {"arcs", "labels", "words"} | expected
        for name in expected - {"reconstruction", "partial_reconstruction"}:  # which depend on a sample
            assert sums[name] == pytest.approx(alone[name])


def test_the_latent_variable_has_its_divergence():
    parser, generative = made(latent=True)
    read = reading(parser)
    config = ObjectiveConfig(raw=1.0, raw_from=3, kl_latent=0.4, kl_annealing=3)
    autoencoder = Autoencoder(config, generative, None, 20)
    expected = generative.gaussian(read.encoded, read.batch.lengths).kl_standard().sum()
    for epoch, part in ((2, 0.25), (3, 0.5), (4, 0.75), (5, 1.0), (9, 1.0)):
        term = autoencoder.raw(read, epoch)["kl_latent"]
        torch.testing.assert_close(term.value, expected)
        assert term.weight == pytest.approx(0.4 * part)


def test_temperature_over_time():
    config = ObjectiveConfig(temperature=2.0, last_temperature=0.5, raw_from=3)
    assert [config.temperature_at(epoch, 7) for epoch in (0, 2, 6)] == [2.0, 2.0, 0.5]
    assert config.temperature_at(4, 7) == pytest.approx(1.0)
    assert ObjectiveConfig(temperature=2.0).temperature_at(6, 7) == 2.0


def test_weight_of_the_divergence_of_trees():
    assert ObjectiveConfig().tree_weight == 0
    assert ObjectiveConfig(prior="trees").tree_weight == 1
    assert ObjectiveConfig(prior="trees", kl_trees=0.2).tree_weight == 0.2
    assert ObjectiveConfig(kl_trees=0.3).tree_weight == 0.3


def test_agreement_is_the_cross_entropy_over_trees_and_labels(single_root):
    parser, _ = made(single_root=single_root)
    other, _ = made(single_root=single_root)
    for parameter in other.network.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    read, believed = reading(parser), reading(other)
    expected = 0.0
    for row, words in enumerate(SENTENCES):
        every = oracle.trees(len(words), single_root=single_root, projective=True)
        mine, theirs = (
            torch.stack([sum(r.scores[row, h, w] for w, h in enumerate(tree) if w) for tree in every]).log_softmax(0)
            for r in (read, believed)
        )
        expected -= torch.dot(theirs.exp(), mine)
        best = every[int(theirs.argmax())]
        heads = torch.full((len(SENTENCES), read.scores.shape[1]), -1)
        heads[row, : len(best)] = torch.tensor(best)
        labels = [r.network.label_scores(r.views, heads)[row].log_softmax(-1) for r in (read, believed)]
        for word in range(1, len(best)):
            chance = sum(p for tree, p in zip(every, theirs.exp(), strict=True) if tree[word] == best[word])
            expected -= chance * torch.dot(labels[1][word].exp(), labels[0][word])
    torch.testing.assert_close(agreement(read, other.network), expected)


def test_bounds_against_the_likelihood():
    """log p(s) by summing over all trees lies above the importance-weighted bound, and that above the other."""
    parser, generative = made()
    gold = [Sentence.from_words(tree.words).with_tree(tree.heads, tree.labels) for tree in TREES] * 60
    report = diagnose(parser, generative, None, gold)
    read = reading(parser, trees=TREES)
    evidence = bound = 0.0
    for row, tree in enumerate(TREES):
        losses, chances = losses_by_tree(generative, read, row)
        uniform = -torch.log(torch.tensor(float(len(losses))))
        evidence += float((uniform - losses).logsumexp(0))
        bound += float(torch.dot(chances, uniform - losses - chances.log()))
        assert len(tree)
    words = sum(map(len, TREES))
    assert report["per_word"]["elbo"] == pytest.approx(bound / words, abs=0.02)
    assert report["per_word"]["elbo"] < report["per_word"]["importance_weighted"] <= evidence / words + 0.01
    assert report["per_word"]["importance_weighted"] == pytest.approx(evidence / words, abs=0.03)
    assert report["perplexity"]["gold"] != report["perplexity"]["empty"]
    assert sum(row["words"] for row in report["perplexity_by_arc"].values()) == report["words"] == 7 * 60


def test_few_trees_have_little_of_a_teacher():
    parser, generative = made("encoder")
    config = ObjectiveConfig(teacher=1.0, teacher_from=1, enough_trees=100)

    def gradient(trees):
        unlabelled = Unlabelled(config, None, Autoencoder(config, generative, None, 1), 1, 1)
        objective = Objective(parser, Config(objective=config), unlabelled, teacher, Clock(), trees)
        parser.network.zero_grad()
        objective.learn([], [TREES[0].words], (1.0, 1.0), 0)
        return torch.cat([weight.grad.flatten() for weight in parser.network.parameters() if weight.grad is not None])

    teacher = copy.deepcopy(parser.network)
    for weight in teacher.parameters():
        torch.nn.init.normal_(weight)
    assert gradient(100).abs().sum() > 0
    torch.testing.assert_close(gradient(25), gradient(100) / 4)
    torch.testing.assert_close(gradient(500), gradient(100))


def test_few_sentences_with_trees_are_hardly_reconstructed():
    """Beside arcs and labels their gradient goes by the square of their number, up to enough of them."""
    parser, generative = made("encoder")

    def gradient(trees, labelled=0.5):
        config = ObjectiveConfig(labelled=labelled, raw=1.0, labelled_from=1, enough_trees=100)
        unlabelled = Unlabelled(config, None, Autoencoder(config, generative, None, 1), 1, 1)
        objective = Objective(parser, Config(objective=config), unlabelled, None, Clock(), trees)
        networks = torch.nn.ModuleList([parser.network, generative])
        networks.zero_grad()
        torch.manual_seed(0)  # of dropped words and drawn ones
        objective.learn(TREES[:1], [], (1.0, 1.0), 0)
        return torch.cat([weight.grad.flatten() for weight in parser.network.parameters() if weight.grad is not None])

    alone = gradient(100, labelled=0.0)
    whole = gradient(100) - alone
    assert whole.abs().sum() > 0
    torch.testing.assert_close(gradient(50) - alone, whole / 4, rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(gradient(500) - alone, whole)


def test_a_teacher_that_is_surer_than_it_is():
    """At a temperature near 0 it believes in its best tree and labels alone."""
    parser, _ = made("encoder")
    batch = parser.numbering.training_batch([TREES[0]])
    reading = Reading(parser.network, [TREES[0].words], batch, True)
    heads = reading.trees.mode
    labels = parser.network.label_scores(reading.views, heads).log_softmax(-1)
    expected = -reading.trees.log_prob(heads).sum() - labels.amax(-1)[batch.is_word].sum()
    torch.testing.assert_close(agreement(reading, parser.network, 1e-4), expected)
    assert agreement(reading, parser.network).item() != pytest.approx(expected.item(), rel=0.01)


def test_a_teacher_goes_back_to_the_best_epoch():
    """It is the average while dev gets better, and what that was in the best epoch while it does not."""
    parser, generative = made("encoder")
    networks = torch.nn.ModuleDict({"parser": parser.network, "generative": generative})
    average = Average(networks, 0.5)
    teacher = Teacher(parser.network, average)

    def now():
        return [weight.clone() for weight in teacher.network.parameters()]

    def learn():
        for weight in networks.parameters():
            torch.nn.init.normal_(weight)
        for _ in range(Average.EVERY):
            average.update()

    def same(one, other):
        return all(torch.equal(*pair) for pair in zip(one, other, strict=True))

    learn()
    assert same(now(), average.weights[: len(now())])  # before anything is judged
    best = now()
    teacher.judge(is_best=True)
    learn()
    assert not same(now(), best)
    teacher.judge(is_best=False)
    assert same(now(), best)
    learn()
    assert same(now(), best)
    resumed = Teacher(parser.network, average)
    resumed.load_state_dict(teacher.state_dict())
    assert same(list(resumed.network.parameters()), best)
    for each in (teacher, resumed):
        each.judge(is_best=True)
        assert same(list(each.network.parameters()), average.weights[: len(best)])
    learn()
    assert same(list(resumed.network.parameters()), now())
    assert not same(now(), best)


@pytest.mark.parametrize("which", ["labelled", "teacher"])
def test_a_part_of_the_sentences_stands_for_all(which):
    """Of two sentences alike one is as good as both; words count, not sentences."""
    alike, other = [TREES[0], TREES[0]], [TREES[0], TREES[1]]
    parser, generative = made("encoder")

    def loss(part, trees):
        config = ObjectiveConfig(**{which: 1.0, f"{which}_part": part, f"{which}_from": 1})
        unlabelled = Unlabelled(config, None, Autoencoder(config, generative, None, 1), 1, 1)
        objective = Objective(parser, Config(objective=config), unlabelled, parser.network, Clock())
        if which == "labelled":
            return objective.learn(trees, [], (1.0, 1.0), 0)["reconstruction"]
        return objective.learn([], [tree.words for tree in trees], (1.0, 1.0), 0)["raw_teacher"]

    assert loss(0.5, alike) == pytest.approx(loss(1.0, alike))
    assert loss(0.5, other) == pytest.approx(loss(1.0, [TREES[0]]) * 7 / 4)
    assert loss(0.5, other) != pytest.approx(loss(1.0, other))
