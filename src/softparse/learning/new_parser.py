"""The parser that a run begins with: a new one for the data, or one that starts from another model."""

from __future__ import annotations

import torch
from torch import Tensor

from ..configuration import ConfigurationError, as_table, different_keys
from ..corpus.problems import CorpusError
from ..corpus.projectivity import split_label
from ..corpus.sentence import Sentence
from ..corpus.vectors import Vectors, read_vectors
from ..corpus.vocabulary import Vocabulary, normal_form
from ..parser import Parser, ParserConfig, folder
from .config import Config
from .data import Data
from .observer import Observer
from .warm_start import copy_weights


def make_parser(config: Config, found: Data, observer: Observer) -> Parser:
    """An untrained parser for the data, or one that starts from another model."""
    counted = [Sentence.from_words(tree.words) for tree in found.train]
    labels = {label for tree in found.train for label in tree.labels}
    vocabulary = of_trees = Vocabulary.of(counted, labels, config.model.words.least_count)
    if config.data.vocabulary == "all":
        vocabulary = known_words(config, found, of_trees)
    start = _start(config)
    if start is not None:
        vocabulary = start.vocabulary.extended(vocabulary)
        found.counts["init"] = f"{config.data.init} (its network, in place of the preset's)"
    if found.train and not vocabulary.labels:
        observer.warn("the training trees have no labels; the parser will predict heads, and _ as every label")
    if vocabulary.labels:
        _warn_of_unknown_labels(found.dev, {split_label(label)[0] for label in vocabulary.labels}, observer)
    forms = {form for tree in found.train for form in tree.words}
    forms.update(form for sentence in found.dev for form in sentence.words)
    words, vectors = _vectors(config, forms, found, start, observer)
    parser = Parser(ParserConfig(config.model, config.decoding), vocabulary, words, vectors)
    parser.network.words.drop_by(_counts(vocabulary, of_trees))
    if start is not None:
        copy_weights(start.network, parser.network, config.data.init)
    return parser


def known_words(config: Config, found: Data, vocabulary: Vocabulary) -> Vocabulary:
    """The vocabulary of trees and raw text."""
    if found.raw is None:
        return vocabulary
    counts, letters = found.raw.counts, found.raw.letters
    return vocabulary.with_raw(counts, letters, config.data.raw_least_count, config.data.raw_most_words)


def _counts(vocabulary: Vocabulary, of_trees: Vocabulary) -> list[int]:
    """How well words are known. One that the trees have is known as well as they know it, however often raw text has
    it: what is learnt of a single tree's word by heart helps with no other."""
    known = dict(zip(of_trees.words, of_trees.counts, strict=True))
    return [known.get(word, count) for word, count in zip(vocabulary.words, vocabulary.counts, strict=True)]


def _start(config: Config) -> Parser | None:
    """The model to start from, if there is one; a network that the settings ask for otherwise is an error."""
    name = config.data.init
    if not name:
        return None
    start = folder.load(name)
    wanted, there = as_table(config.model), as_table(start.config.model)
    different = [f"model.{key}" for key in different_keys(wanted, there)]
    if different:
        raise ConfigurationError(
            f"{name}: a model to start from brings its own network, and this one has other settings than those given "
            f"({', '.join(different[:5])}); leave these out, or do not start from it"
        )
    return start


def _warn_of_unknown_labels(dev: list[Sentence], known: set[str], observer: Observer) -> None:
    """Each label of the dev set that training never sees, where it comes first."""
    seen = known | {"_"}
    for sentence in dev:
        for word, label in enumerate(sentence.labels, 1):
            if label not in seen:
                seen.add(label)
                message = f"training never sees the label {label!r}, so the parser cannot predict it"
                observer.warn(str(sentence.problem(message, word, is_error=False)))


def _vectors(
    config: Config, forms: set[str], data: Data, start: Parser | None, observer: Observer
) -> tuple[list[str], Tensor | None]:
    if not config.data.vectors:
        if start is None or not start.vector_words:
            return [], None
        return start.vector_words, start.network.words.vectors[1:]
    wanted = forms | {normal_form(form) for form in forms}
    if data.raw is not None:
        wanted |= {word for word, count in data.raw.counts.items() if count >= config.data.raw_least_count}
    found: Vectors = read_vectors(config.data.vectors, wanted, config.data.vectors_kept)
    if not found.words:
        raise CorpusError(f"{config.data.vectors}: has no vector for any word of the treebank")
    _warn_of_rows(found, config.data.vectors, observer)
    if start is not None:
        _require_same_dimension(config, found.matrix.shape[1], start)
    have = set(found.words)
    covered = sum(form in have or normal_form(form) in have for form in forms) / max(1, len(forms))
    data.counts["vectors"] = f"{config.data.vectors} ({covered:.0%} of the word forms)"
    if forms and covered < 0.2:
        observer.warn(f"{config.data.vectors}: only {covered:.0%} of the word forms have a vector; "
                      "is it the right language?")  # fmt: skip
    vectors = torch.from_numpy(found.matrix)
    scale = vectors.std(correction=0)
    if not 0 < scale < torch.inf:
        raise CorpusError(f"{config.data.vectors}: all numbers are the same, or not numbers; vectors have to differ")
    return found.words, vectors / scale  # so that all files have the same scale


def _warn_of_rows(vectors: Vectors, path: str, observer: Observer) -> None:
    if vectors.skipped:
        observer.warn(f"{path}: rows left out, whose word is empty or not UTF-8: {vectors.skipped}")
    if vectors.doubtful:
        more = f" (and {len(vectors.doubtful) - 1} more)" if len(vectors.doubtful) > 1 else ""
        observer.warn(f"{vectors.doubtful[0]}{more}")


def _require_same_dimension(config: Config, dimension: int, start: Parser) -> None:
    there = start.network.words.vectors.shape[1]
    if dimension != there:
        had = f"with vectors of {there} numbers" if there else "without vectors"
        remedy = "give those (or none: it has them with it)" if there else "leave them out"
        raise CorpusError(f"{config.data.vectors}: vectors of {dimension} numbers, but {config.data.init} was trained "
                          f"{had}; {remedy}")  # fmt: skip
