"""Parser: configuration, vocabulary and network together, from words to trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

from ..configuration import choice
from ..corpus.batches import Numbering, batched, in_windows
from ..corpus.projectivity import unlift
from ..corpus.vocabulary import Vocabulary
from ..model.evaluating import evaluating
from ..model.network import ModelConfig, Network
from ..trees import NonProjectiveTrees, ProjectiveTrees
from ..trees.distribution import TreeDistribution
from .restriction import Restricted, Words, kept, restrict, words_of
from .temperature import Temperatures

if TYPE_CHECKING:
    from pathlib import Path

WINDOW_SENTENCES, WINDOW_WORDS = 4096, 40_000  # sorted by length together
BATCH_SENTENCES, BATCH_WORDS = 128, 1500
AT_ONCE = 8  # sentences that the kernels take for hardly more than the price of one, however long they are


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
    `label_probabilities` those of the labels given the arcs; `others` are the most probable other trees. They are there
    if asked for.
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
        self.tokenizer: bytes | None = None  # one that was trained with it, which goes where the parser goes

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
        """Write the model folder, replacing what was there at once or not at all.

        What training has left beside the parser and its tokenizer (curves, the autoencoder's decoder) is not in it.
        """
        from .folder import write

        write(self, folder)

    def parse(self, sentences: Iterable[Words | Restricted], **options: Any) -> list[Parse]:
        """Trees of tokenised sentences; options as for `pipe`."""
        return list(self.pipe(sentences, **options))

    def pipe(
        self,
        sentences: Iterable[Words | Restricted],
        *,
        confidence: bool = False,
        kbest: int = 1,
        complete: bool = False,
        single_root: bool | None = None,
        method: str | None = None,
        calibrated: bool = True,
    ) -> Iterator[Parse]:
        """Trees of a stream of sentences, in order, with bounded memory.

        `confidence` adds probabilities; `kbest` asks for so many trees of each sentence, after the first one the most
        probable others; `complete` keeps the heads (and labels) that the sentences already have. A sentence may be
        `Restricted` to trees with some arcs or without some. The way of decoding is the model's own unless given.
        Probabilities are those at the model's temperatures unless `calibrated` is false; which tree is the first one
        does not depend on them.
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
        self,
        sentences: Sequence[Words | Restricted],
        *,
        single_root: bool | None = None,
        projective: bool = True,
        calibrated: bool = True,
    ) -> TreeDistribution:
        """The distribution over the trees of a batch, differentiable in the network's parameters.

        Its scores are the network's over the model's temperature, so that its probabilities are those that `parse`
        shows; with `calibrated=False` they are the network's own, as in training.
        """
        if not sentences:
            raise ValueError("no sentences, so there is no distribution over their trees")
        batch = self.numbering.batch([words_of(sentence) for sentence in sentences]).to(self.device)
        scores = self.network.arc_scores(self.network.views(batch))
        if calibrated:
            scores = scores / self.temperatures.arcs
        single = self.config.decoding.single_root if single_root is None else single_root
        kind = ProjectiveTrees if projective else NonProjectiveTrees
        return restrict(kind(scores, batch.lengths, single_root=single), sentences, complete=False)

    def _batch(
        self,
        sentences: Sequence[Words | Restricted],
        decoding: DecodingConfig,
        at: Temperatures,
        confidence: bool,
        kbest: int,
        complete: bool,
    ) -> list[Parse]:
        with torch.inference_mode(), evaluating(self.network):
            return self._parsed(sentences, decoding, at, confidence, kbest, complete)

    def _parsed(self, sentences, decoding, at, confidence, kbest, complete) -> list[Parse]:
        words = [words_of(sentence) for sentence in sentences]
        batch = self.numbering.batch(words).to(self.device)
        views = self.network.views(batch)
        kind = NonProjectiveTrees if decoding.method == "nonprojective" else ProjectiveTrees
        trees: TreeDistribution = kind(self.network.arc_scores(views), batch.lengths, single_root=decoding.single_root)
        trees = restrict(trees, sentences, complete)
        beliefs = _tempered(trees, at.arcs)
        marginals = beliefs.marginals if confidence else None  # first: log-probabilities then need no sums of their own
        # The tree is that of the scores themselves: not even by rounding may a temperature choose another.
        heads = (trees.mbr if decoding.method == "mbr" else trees.mode)[None]
        logs = beliefs.log_prob(heads) if confidence or kbest > 1 else None
        if kbest > 1:
            assert logs is not None
            ranked_heads, ranked_logs = beliefs.kbest(kbest)
            heads, logs = _without_repetition(torch.cat([heads, ranked_heads]), torch.cat([logs, ranked_logs]))
        ranked = []
        for rank, tree in enumerate(heads):
            scores = self.network.label_scores(views, tree)
            chances = None
            if marginals is not None:
                arcs = marginals.gather(1, tree.clamp(min=0)[:, None])[:, 0].clamp(0, 1)
                chances = arcs.tolist(), (scores / at.labels).softmax(-1).amax(-1).tolist()
            log = None if logs is None else logs[rank].tolist()
            ranked.append(self._read_out(words, sentences, tree, scores.argmax(-1), chances, log, complete))
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
            final, plain, of_labels = kept(sentences[row], complete, tree[1:end], final, plain, of_labels)
            log = None if logs is None else logs[row]
            parses.append(Parse(list(words[row]), final, plain, of_arcs, log, label_probabilities=of_labels))
        return parses


def _without_repetition(heads: Tensor, logs: Tensor) -> tuple[Tensor, Tensor]:
    """Trees [k + 1, B, n + 1] and their log-probabilities without the one of the last k that is the first again, or
    without the last one."""
    is_again = (heads[1:] == heads[0]).all(-1)
    places = torch.arange(1, len(heads), device=heads.device)[:, None] + len(heads) * is_again
    kept = torch.cat([torch.zeros_like(places[:1]), places]).argsort(0)[:-1]  # [k, B]
    heads, logs = heads.gather(0, kept[..., None].expand(-1, -1, heads.shape[-1])), logs.gather(0, kept)
    # Short sentences have few trees; the first word has a head in each of them.
    there = (heads[:, :, 1] >= 0).any(1)
    return heads[there], logs[there]


def _tempered(trees: TreeDistribution, temperature: float) -> TreeDistribution:
    """The trees with their scores over a temperature; they were checked before."""
    if temperature == 1:
        return trees
    scores = trees.scores / temperature
    return type(trees)(scores, trees.lengths, single_root=trees.single_root, validate_args=False)
