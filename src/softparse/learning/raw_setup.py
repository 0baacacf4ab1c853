"""What a run with raw text begins with, beside the parser: its sentences, a generative model, a prior over trees."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from ..configuration import ConfigurationError
from ..corpus.batches import Numbering
from ..corpus.raw import RawStream
from ..corpus.vocabulary import UNKNOWN_ID, Vocabulary
from ..model.generative import Generative
from ..parser import Parser
from .autoencoder import Autoencoder
from .config import Config
from .data import Data
from .new_parser import known_words
from .observer import Observer
from .plan import RawBatches, passes
from .priors import Prior, estimated, read_prior
from .unlabelled import Unlabelled

MOST_WITHOUT_TREES = 20_000  # raw sentences in an epoch


def make_unlabelled(config: Config, found: Data, parser: Parser, observer: Observer) -> Unlabelled | None:
    """What learns from raw text, if there is some and the objective asks for it."""
    objective, epochs = config.objective, config.train.epochs
    if found.raw is None or not (objective.is_generative or objective.needs_raw):
        return None
    raw, planned, until = None, epochs, epochs
    if objective.needs_raw:
        data, train = config.data, config.train
        stream = RawStream(found.raw_files, train.seed, data.raw_buffer, data.longest_raw)
        turns = passes([len(tree) for tree in found.train], train)
        drawn = objective.raw_sentences * len(found.train) if found.train else MOST_WITHOUT_TREES
        number = max(1, round(turns * min(drawn, found.raw.sentences)))
        sentences = max(1, round(objective.raw_batch * train.batch_sentences))
        words = max(1, round(objective.raw_batch * train.batch_words))
        raw = RawBatches(stream, number, sentences, words, train.seed)
        planned = objective.raw_until(len(found.train), epochs)
        until = objective.raw_at_least(len(found.train), epochs) if found.dev else planned
        for name in objective.later_than(until):
            if name != "labelled" and name not in objective.later_than(epochs):
                observer.warn(
                    f"objective.{name} would count from epoch {getattr(objective, f'{name}_from')} on, but there may "
                    f"be no raw text after epoch {until}; lower objective.{name}_from, or raise train.epochs or "
                    "objective.raw_part"
                )
    autoencoder = None
    if objective.is_generative:
        has_all = config.data.vocabulary == "all"
        generated = parser.vocabulary if has_all else known_words(config, found, parser.vocabulary)
        parser.numbering = Numbering(parser.vocabulary, parser.numbering.external, generated)
        with torch.random.fork_rng():  # so that the parser's own random numbers are those of a run without it
            torch.manual_seed(config.train.seed + 1)
            generative = Generative(config.generative, parser.network, _counts(generated, found))
            generative.to(parser.device)
        autoencoder = Autoencoder(objective, generative, make_prior(config, found), planned)
    return Unlabelled(objective, raw, autoencoder, config.train.seed, until)


def _counts(generated: Vocabulary, found: Data) -> Tensor:
    """How often each word is to be generated; all those that are not known are one word, and a frequent one."""
    assert found.raw is not None
    counts = torch.tensor(generated.counts)
    words = found.raw.words + sum(map(len, found.train))
    counts[UNKNOWN_ID] = max(1, words - int(counts.sum()))
    return counts


def make_prior(config: Config, found: Data) -> Prior | None:
    """The prior over trees, or None for the uniform one."""
    name = config.objective.prior
    if name == "uniform":
        return None
    if name == "trees":
        return estimated(found.train, config.decoding.single_root)
    if not Path(name).exists():
        raise ConfigurationError(f"objective.prior: must be uniform, trees, or a file of preferences, got {name!r}")
    return read_prior(name)
