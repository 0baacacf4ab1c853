"""What training can be told, and the presets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib import resources
from operator import attrgetter
from pathlib import Path
from typing import Any

from ..configuration import ConfigurationError, at_least, build, choice, merged, overrides, read_toml
from ..model.generative import GenerativeConfig
from ..model.network import ModelConfig
from ..parser import DecodingConfig, folder
from .autoencoder import ObjectiveConfig


@dataclass(frozen=True)
class DataConfig:
    train: list[str] = field(default_factory=list)
    dev: list[str] = field(default_factory=list)
    output: str = ""  # the model folder
    raw: list[str] = field(default_factory=list)  # raw text: tokenised sentences, or CoNLL-U whose trees do not count
    # Whether the raw text is running text, to be cut into sentences and words first; files named .conllu never are.
    raw_text: bool = False
    # Trees that a parser has made: in every epoch as many of them as there are others are learnt from.
    parsed: list[str] = field(default_factory=list)
    vectors: str = ""  # a file of external word vectors
    # So many vectors from the beginning of the file (frequent words come first) are kept for parsing new text, besides
    # those of the words in the treebanks.
    vectors_kept: int = at_least(100_000, 0)
    init: str = ""  # a model to start from
    # Without a dev file this part of the trees is held out to choose the best epoch, if there are enough of them.
    held_out: float = at_least(0.1, 0.0, below=0.9)
    nonprojective: str = choice("lift", "drop")  # lift crossing arcs, or leave them out as unknown
    longest: int = at_least(0, 0)  # longer training sentences are left out and counted; 0 is no limit
    longest_raw: int = at_least(100, 0)  # the same for raw ones
    # Words that the parser has embeddings for: those of the trees, or those of the raw text too.
    vocabulary: str = choice("trees", "all")
    raw_least_count: int = at_least(2, 1)  # rarer words of the raw text are unknown
    raw_most_words: int = at_least(30_000, 1)  # so many words of the raw text are known, the most frequent ones
    raw_buffer: int = at_least(20_000, 1)  # sentences that are shuffled in memory


@dataclass(frozen=True)
class TrainConfig:
    epochs: int = at_least(60, 1)
    batch_sentences: int = at_least(16, 1)
    batch_words: int = at_least(400, 1)  # with padding; a longer sentence is a batch of its own
    # An epoch goes through the trees again and again until it has so many batches: few trees need as many updates as
    # many do, and the other settings count epochs. 0 is once.
    epoch_batches: int = at_least(0, 0)
    # In so many places of a tree, on average, another subtree with the same label comes in, another one every time.
    # Many trees need it less: with twice as many as this there are half as many exchanges. 0 is no such limit.
    exchange: float = at_least(0.0, 0.0, below=100.0)
    exchange_trees: int = at_least(0, 0)
    optimizer: str = choice("adam", "adadelta")
    learning_rate: float = at_least(4e-3, 0.0)
    beta2: float = at_least(0.9, 0.0, below=1.0)
    schedule: str = choice("linear", "constant")  # to zero at the last step, or none
    warmup: float = at_least(0.05, 0.0, below=1.0)  # part of all steps
    clip: float = at_least(5.0, 0.0)  # of the gradient's norm; 0 is none
    average: float = at_least(0.99, 0.0, below=1.0)  # decay of the average of the weights that is kept; 0 is none
    arc_loss: str = choice("crf", "heads", "hinge")
    label_loss: str = choice("cross-entropy", "hinge")
    label_weight: float = at_least(1.0, 0.0)
    normalise: str = choice("word", "sentence")  # what a batch's loss is divided by the number of
    patience: int = at_least(0, 0)  # epochs without a better dev score before stopping; 0 is none
    evaluate_every: int = at_least(1, 1)  # epochs
    seed: int = at_least(1, 0)
    device: str = "auto"
    threads: int = at_least(0, 0)  # 0 is as many as torch takes
    save_seconds: float = at_least(120.0, 0.0)  # between saves of the state within an epoch

    def exchanges_for(self, trees: int) -> float:
        """How many subtrees of each tree are exchanged, on average, if there are so many trees.

        >>> config = TrainConfig(exchange=4.0, exchange_trees=1000)
        >>> [config.exchanges_for(trees) for trees in (0, 100, 1000, 2000, 4000)]
        [4.0, 4.0, 4.0, 2.0, 1.0]
        """
        return self.exchange * min(1.0, self.exchange_trees / max(trees, 1)) if self.exchange_trees else self.exchange


@dataclass(frozen=True)
class TokenizerConfig:
    """A tokenizer for plain text that is trained on the trees, where UDPipe is installed."""

    train: bool = True
    epochs: int = at_least(3, 1)  # of half a million characters each, whatever the size of the treebank


@dataclass(frozen=True)
class SelfTrainingConfig:
    """The baseline of two steps: train on trees, parse the raw text, train on trees and the parses that are certain."""

    kept: float = at_least(0.5, 0.0)  # part of the raw sentences, the most certain ones
    most_sentences: int = at_least(200_000, 1)  # of the raw text


@dataclass(frozen=True)
class Config:
    method: str = choice("joint", "self-training")  # how raw text is learnt from
    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    generative: GenerativeConfig = field(default_factory=GenerativeConfig)
    self_training: SelfTrainingConfig = field(default_factory=SelfTrainingConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)


def settled(config: Config) -> Config:
    """The configuration with what its data leaves of the objective: no raw text, no terms of it; and without trees,
    those of raw text from the beginning."""
    objective = config.objective
    if not config.data.raw:
        return replace(config, method="joint", objective=replace(objective, labelled=0.0, raw=0.0, teacher=0.0))
    if config.data.train:
        return config
    if config.method == "self-training":
        raise ConfigurationError("method=self-training needs trees to begin with; give them with --train")
    if not objective.raw or objective.prior in ("uniform", "trees"):
        raise ConfigurationError(
            "without trees, training needs a prior over trees and the reconstruction of raw text: "
            "--set objective.prior=FILE and --set objective.raw=1 (or give trees with --train)"
        )
    return replace(
        config,
        data=replace(config.data, vocabulary="all"),
        objective=replace(objective, labelled=0.0, teacher=0.0, raw_from=1),
    )


def doubts(config: Config) -> list[str]:
    """What a user may not have meant."""
    objective, epochs = config.objective, config.train.epochs
    if not config.data.raw:
        return ["method=self-training needs raw text; without it this is training on trees alone"] * (
            config.method == "self-training"
        )
    if config.method == "self-training":
        return []
    if not objective.needs_raw:
        return [
            "these settings learn nothing from raw text; set objective.raw or objective.teacher above 0, and "
            "objective.raw_sentences, or another preset"
        ]
    unused = [
        f"generative.{name} is of a decoder with an LSTM of its own (generative.states=own), and has no effect here"
        for name in UNUSED_BY_THE_ENCODER
        if config.generative.states == "encoder" and _differs(config.generative, GenerativeConfig(), name)
    ]
    return unused + [
        f"objective.{name} would count from epoch {getattr(objective, f'{name}_from')} on, but training ends after "
        f"epoch {epochs}; lower objective.{name}_from"
        for name in objective.later_than(epochs)
    ]


# Settings of a decoder that reads with an LSTM of its own, not with the parser's encoder.
UNUSED_BY_THE_ENCODER = ("inputs", "dimension", "decoder.arcs", "decoder.states")


def _differs(one: Any, other: Any, name: str) -> bool:
    return attrgetter(name)(one) != attrgetter(name)(other)


DEFAULT = "default"


def presets() -> list[str]:
    """Names of the presets.

    >>> presets()
    ['default', 'kg', 'paper-supervised', 'paper-vae', 'paper-vae-z']
    """
    files = resources.files(__package__) / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in files.iterdir() if entry.name.endswith(".toml"))


def preset(name: str) -> dict[str, Any]:
    if name not in presets():
        raise ConfigurationError(f"there is no preset {name!r}; there are {', '.join(presets())}")
    with resources.as_file(resources.files(__package__) / "presets" / f"{name}.toml") as path:
        return read_toml(path)


def configure(
    preset_name: str = DEFAULT, file: str | Path | None = None, assignments: Iterable[str] = (), **groups: Any
) -> Config:
    """A preset, over it a TOML file, over it tables given by keyword, over them dotted assignments.

    With a model to start from (`data.init`), its network and way of decoding take the place of the preset's.

    >>> configure("kg", assignments=["train.epochs=3"]).train.epochs
    3
    """
    base = preset(preset_name)
    given = merged(read_toml(file) if file else {}, groups, overrides(assignments))
    init = build(Config, given).data.init
    if init:
        start = folder.read_config(Path(init))
        base = {**base, "model": start.get("model", {}), "decoding": start.get("decoding", {})}
    return build(Config, merged(base, given))
