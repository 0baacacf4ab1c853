"""Parser: configuration, vocabulary and network together, from words to trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

from ..configuration import choice
from ..corpus.batches import Batch, Numbering, batched, in_windows
from ..corpus.checks import tree_problems
from ..corpus.problems import CorpusError
from ..corpus.projectivity import unlift
from ..corpus.sentence import Sentence
from ..corpus.vocabulary import Vocabulary
from ..model.network import ModelConfig, Network
from ..trees import NonProjectiveTrees, ProjectiveTrees
from ..trees.distribution import TreeDistribution
from .temperature import Temperatures

if TYPE_CHECKING:
    from pathlib import Path

WINDOW_SENTENCES, WINDOW_WORDS = 4096, 40_000  # sorted by length together
BATCH_SENTENCES, BATCH_WORDS = 128, 1500
AT_ONCE = 8  # sentences that the kernels take for hardly more than the price of one, however long they are

Words = Sequence[str] | Sentence


@dataclass(frozen=True)
class DecodingConfig:
    single_root: bool = True  # exactly one child of the root, in training and parsing
    method: str = choice("eisner", "mbr", "nonprojective")


@dataclass(frozen=True)
class ParserConfig:
    model: ModelConfig = field(default_factory=ModelConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)


@dataclass(frozen=True)
class Parse:
    """The tree of a sentence: heads of its words (0 is the root) and their labels.

    `probabilities` are those of the arcs in the distribution over trees, `log_probability` is the tree's, and
    `label_probabilities` those of the labels given the arcs; `others` are the next best trees. They are there if asked
    for.
    """

    words: list[str]
    heads: list[int]
    labels: list[str]
    probabilities: list[float] | None = None
    log_probability: float | None = None
    others: list[Parse] = field(default_factory=list)
    label_probabilities: list[float] | None = None

    def __len__(self) -> int:
        return len(self.words)


class Parser:
    """A trained parser; see `softparse.load`.

    `vectors` [words, dimension] and `vector_words` are the external word vectors it was trained with, if any.
    """

    def __init__(
        self,
        config: ParserConfig,
        vocabulary: Vocabulary,
        vector_words: Sequence[str] = (),
        vectors: Tensor | None = None,
    ):
        self.config = config
        self.vocabulary = vocabulary
        self.vector_words = list(vector_words)
        if vectors is not None:  # row 0 is for words that have none
            vectors = torch.cat([vectors.new_zeros(1, vectors.shape[1]), vectors])
        self.network = Network(config.model, vocabulary, vectors)
        self.numbering = Numbering(vocabulary, {word: row for row, word in enumerate(self.vector_words, 1)})
        self.metrics: dict[str, Any] = {}

    @property
    def device(self) -> torch.device:
        return self.network.words.embedding.weight.device

    @property
    def temperatures(self) -> Temperatures:
        """What scores are divided by where they become probabilities: 1 if the model is not calibrated."""
        return Temperatures.of(self.metrics)

    def to(self, device: torch.device | str) -> Self:
        self.network.to(device)
        return self

    def save(self, folder: str | Path) -> None:
        """Write the model folder, replacing what was there at once or not at all."""
        from .folder import write

        write(self, folder)

    def parse(self, sentences: Iterable[Words], **options: Any) -> list[Parse]:
        """Trees of tokenised sentences; options as for `pipe`."""
        return list(self.pipe(sentences, **options))

    def pipe(
        self,
        sentences: Iterable[Words],
        *,
        confidence: bool = False,
        kbest: int = 1,
        complete: bool = False,
        single_root: bool | None = None,
        method: str | None = None,
        calibrated: bool = True,
    ) -> Iterator[Parse]:
        """Trees of a stream of sentences, in order, with bounded memory.

        `confidence` adds probabilities; `kbest` asks for so many trees of each sentence; `complete` keeps the heads
        (and labels) that the sentences already have. The way of decoding is the model's own unless given. Probabilities
        are those at the model's temperatures unless `calibrated` is false; the best tree does not depend on them.
        """
        if kbest < 1:
            raise ValueError(f"kbest must be at least 1, got {kbest}")
        decoding = self.config.decoding
        if single_root is not None:
            decoding = replace(decoding, single_root=single_root)
        if method is not None:
            if method not in ("eisner", "mbr", "nonprojective"):
                raise ValueError(f"method must be eisner, mbr or nonprojective, got {method!r}")
            decoding = replace(decoding, method=method)
        at = self.temperatures if calibrated else Temperatures()
        for window in in_windows(sentences, len, WINDOW_SENTENCES, WINDOW_WORDS):
            result: list[Parse | None] = list(repeat(None, len(window)))
            present = [place for place, sentence in enumerate(window) if len(sentence)]
            lengths = [len(window[place]) for place in present]
            for group in batched(lengths, BATCH_SENTENCES, BATCH_WORDS, fewest=AT_ONCE):
                places = [present[index] for index in group]
                parses = self._batch([window[place] for place in places], decoding, at, confidence, kbest, complete)
                for place, parse in zip(places, parses, strict=True):
                    result[place] = parse
            yield from (parse or Parse([], [], []) for parse in result)

    def trees(
        self, sentences: Sequence[Words], *, single_root: bool | None = None, calibrated: bool = True
    ) -> ProjectiveTrees:
        """The distribution over projective trees of a batch, differentiable in the network's parameters.

        Its scores are the network's over the model's temperature, so that its probabilities are those that `parse`
        shows; with `calibrated=False` they are the network's own, as in training.
        """
        batch = self.numbering.batch([_words(sentence) for sentence in sentences]).to(self.device)
        scores = self.network.arc_scores(self.network.views(batch))
        if calibrated:
            scores = scores / self.temperatures.arcs
        single = self.config.decoding.single_root if single_root is None else single_root
        return ProjectiveTrees(scores, batch.lengths, single_root=single)

    @torch.inference_mode()
    def _batch(
        self,
        sentences: Sequence[Words],
        decoding: DecodingConfig,
        at: Temperatures,
        confidence: bool,
        kbest: int,
        complete: bool,
    ) -> list[Parse]:
        was_training = self.network.training
        self.network.eval()
        words = [_words(sentence) for sentence in sentences]
        batch = self.numbering.batch(words).to(self.device)
        views = self.network.views(batch)
        kind = NonProjectiveTrees if decoding.method == "nonprojective" else ProjectiveTrees
        trees: TreeDistribution = kind(self.network.arc_scores(views), batch.lengths, single_root=decoding.single_root)
        known = _known_heads(sentences, batch) if complete else None
        if known is not None:
            trees = _restricted(trees, known, sentences, kind)
        beliefs = _tempered(trees, at.arcs)
        marginals = beliefs.marginals if confidence else None  # first: log-probabilities then need no sums of their own
        logs: Tensor | None = None
        if kbest > 1:
            heads, logs = beliefs.kbest(kbest)
            # Short sentences have few trees; the first word has a head in each of them.
            there = (heads[:, :, 1] >= 0).any(1)
            heads, logs = heads[there], logs[there]
        else:
            # The best tree is that of the scores themselves: not even by rounding may a temperature choose another.
            heads = (beliefs.mbr if decoding.method == "mbr" else trees.mode)[None]
            logs = beliefs.log_prob(heads) if confidence else None
        ranked = []
        for rank, tree in enumerate(heads):
            scores = self.network.label_scores(views, tree)
            chances = None
            if marginals is not None:
                arcs = marginals.gather(1, tree.clamp(min=0)[:, None])[:, 0].clamp(0, 1)
                chances = arcs.tolist(), (scores / at.labels).softmax(-1).amax(-1).tolist()
            log = None if logs is None else logs[rank].tolist()
            ranked.append(self._read_out(words, sentences, tree, scores.argmax(-1), chances, log, complete))
        self.network.train(was_training)
        best = [parse for parse in ranked[0] if parse is not None]
        if kbest == 1:
            return best
        others = [[tree for tree in column[1:] if tree is not None] for column in zip(*ranked, strict=True)]
        return [replace(first, others=rest) for first, rest in zip(best, others, strict=True)]

    def _read_out(self, words, sentences, heads, labels, chances, logs, complete) -> list[Parse | None]:
        """One tree for every sentence of a batch; None where there is none."""
        names = self.vocabulary.labels
        parses: list[Parse | None] = []
        for row, (tree, tags) in enumerate(zip(heads.tolist(), labels.tolist(), strict=True)):
            end = len(words[row]) + 1
            if tree[1] < 0:
                parses.append(None)
                continue
            here = [names[tag] if names else "_" for tag in tags[1:end]]
            final, plain = unlift(tree[1:end], here)
            of_arcs, of_labels = (None, None) if chances is None else (part[row][1:end] for part in chances)
            if complete:
                final, plain, of_labels = _kept(sentences[row], tree[1:end], final, plain, of_labels)
            log = None if logs is None else logs[row]
            parses.append(Parse(list(words[row]), final, plain, of_arcs, log, label_probabilities=of_labels))
        return parses


def _words(sentence: Words) -> Sequence[str]:
    return sentence.words if isinstance(sentence, Sentence) else sentence


def _known_heads(sentences: Sequence[Words], batch: Batch) -> Tensor:
    known = torch.full_like(batch.words, -1)
    for row, sentence in enumerate(sentences):
        if isinstance(sentence, Sentence):
            heads = sentence.heads
            if any(head > len(heads) for head in heads):
                errors = [problem for problem in tree_problems(sentence) if problem.is_error]
                raise CorpusError(str(errors[0]))
            known[row, 1 : len(heads) + 1] = torch.tensor(heads)
    return known


def _restricted(trees: TreeDistribution, known: Tensor, sentences: Sequence[Words], kind: type) -> TreeDistribution:
    """The trees that contain the known heads."""
    try:
        return trees.given(known)
    except ValueError:
        for row, sentence in enumerate(sentences):
            scores, lengths = trees.scores[row : row + 1], trees.lengths[row : row + 1]
            try:
                kind(scores, lengths, single_root=trees.single_root).given(known[row : row + 1])
            except ValueError:
                sort = "" if kind is NonProjectiveTrees else "projective "
                root = "single-rooted " if trees.single_root else ""
                others = ["--decode nonprojective"] * bool(sort) + ["--multi-root"] * bool(root)
                remedy = f"correct them, or use {' or '.join(others)}" if others else "correct them"
                message = f"no {root}{sort}tree contains the heads given; {remedy}"
                if isinstance(sentence, Sentence):
                    raise CorpusError(str(sentence.problem(message))) from None
                raise CorpusError(f"sentence {row}: {message}") from None
        raise


def _kept(
    sentence: Words, decoded: list[int], heads: list[int], labels: list[str], chances: list[float] | None
) -> tuple[list[int], list[str], list[float] | None]:
    """What the sentence already had stays, also where undoing a lift has moved a word; a label given is certain."""
    if not isinstance(sentence, Sentence):
        return heads, labels, chances
    given, names = sentence.heads, sentence.labels
    if any(head >= 0 and head != new for head, new in zip(given, heads, strict=True)):
        heads = decoded
    is_kept = [head >= 0 and name != "_" for head, name in zip(given, names, strict=True)]
    labels = [old if kept else new for kept, old, new in zip(is_kept, names, labels, strict=True)]
    if chances is not None:
        chances = [1.0 if kept else chance for kept, chance in zip(is_kept, chances, strict=True)]
    return heads, labels, chances


def _tempered(trees: TreeDistribution, temperature: float) -> TreeDistribution:
    """The trees with their scores over a temperature; they were checked before."""
    if temperature == 1:
        return trees
    scores = trees.scores / temperature
    return type(trees)(scores, trees.lengths, single_root=trees.single_root, validate_args=False)
