"""The decoder on the encoder's states: its formula, and that it never looks at what is not read yet."""

import torch

from softparse.model.encoder import Encoder, EncoderConfig
from softparse.model.reader import Reader
from softparse.trees import ProjectiveTrees


def made():
    torch.manual_seed(3)
    encoder = Encoder(EncoderConfig(layers=2, hidden=4), 3).double().eval()
    reader = Reader(4, 5).double()
    torch.nn.init.normal_(reader.end)
    torch.nn.init.normal_(reader.root)
    return encoder, reader


def test_it_is_its_formula():
    encoder, reader = made()
    words, lengths = torch.randn(2, 5, 3).double(), torch.tensor([4, 2])
    trees = ProjectiveTrees(torch.randn(2, 5, 5).double(), lengths).marginals
    encoded = encoder(words, lengths)
    result = reader(encoded, lengths, trees)
    for row, size in enumerate(lengths.tolist()):
        left, right = encoded.forwards[row], [reader.root, *encoded.backwards[row, 1 : size + 1], reader.end]
        for i in range(1, size + 1):
            for states, layer, read, before, mine in (
                (left, reader.forwards, range(i), i - 1, result[0]),
                (right, reader.backwards, [0, *range(i + 1, size + 1)], i + 1, result[1]),
            ):
                total = layer.of_itself(states[before])
                for k in read:
                    total = total + trees[row, k, i] * layer.of_heads(states[k])
                    total = total + trees[row, i, k] * layer.of_modifiers(states[k])
                torch.testing.assert_close(mine[row, i - 1], torch.tanh(total))


def test_no_word_is_predicted_from_itself_or_from_what_is_not_read():
    encoder, reader = made()
    words = torch.randn(1, 6, 3).double().requires_grad_()
    lengths = torch.tensor([5])
    trees = torch.rand(1, 6, 6).double()  # not even a tree that has every arc lets anything through
    ahead, back = reader(encoder(words, lengths), lengths, trees)
    for i in range(1, 6):
        (slope,) = torch.autograd.grad(ahead[0, i - 1].sum(), words, retain_graph=True)
        assert slope[0, i:].abs().max() == 0
        assert slope[0, :i].abs().max() > 0
        (slope,) = torch.autograd.grad(back[0, i - 1].sum(), words, retain_graph=True, allow_unused=True)
        assert slope[0, 1 : i + 1].abs().max() == 0
        assert i == 5 or slope[0, i + 1 :].abs().max() > 0


def test_padding_changes_nothing():
    encoder, reader = made()
    words, lengths = torch.randn(2, 6, 3).double(), torch.tensor([5, 2])
    scores = torch.randn(2, 6, 6).double()
    both = reader(encoder(words, lengths), lengths, ProjectiveTrees(scores, lengths).marginals)
    alone = reader(
        encoder(words[1:, :3], lengths[1:]), lengths[1:], ProjectiveTrees(scores[1:, :3, :3], lengths[1:]).marginals
    )
    for one, other in zip(both, alone, strict=True):
        torch.testing.assert_close(one[1, :2], other[0])
