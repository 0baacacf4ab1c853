"""The training loop: epochs of batches, the best epoch on dev, and a state that can be taken up at any step."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ..configuration import ConfigurationError
from ..corpus.projectivity import split_label
from ..corpus.sentence import Sentence
from ..evaluation.relations import universal
from ..evaluation.scores import score
from ..model.generative import Generative
from ..model.table import Table
from ..parser import Parser
from .clock import Clock
from .config import Config
from .data import Data
from .distributed import Group
from .divergence import all_finite, diverged, is_suspicious
from .objective import NAMES, Objective, by_word
from .observer import Observer, Record
from .optimizers import Average, clip_gradient, learning_rate, optimizer
from .plan import TreeBatches, Update
from .teacher import Teacher
from .unlabelled import Unlabelled


@dataclass
class Progress:
    """Where a run is."""

    epoch: int = 0  # the one at work, from 0
    position: int = 0  # batches done in it
    sums: dict[str, float] = field(default_factory=dict)  # of the terms of the objective in it, and of words
    seconds: float = 0.0  # of training so far, evaluation not counted
    best: float = -math.inf
    best_record: Record | None = None
    history: list[Record] = field(default_factory=list)
    since_best: int = 0


class Interrupted(Exception):
    """Training was asked to stop; everything is saved."""


class Loop:
    """Trains a parser's network on trees, and on raw text if there is some. `keep` is called for the best epoch."""

    def __init__(
        self,
        parser: Parser,
        found: Data,
        config: Config,
        group: Group,
        observer: Observer,
        unlabelled: Unlabelled | None = None,
    ):
        self.parser, self.dev, self.config = parser, found.dev, config.train
        self.trees = TreeBatches(found.train, found.parsed, self.config)
        self.number = len(found.train)  # of trees that no parser has made
        self.group, self.observer, self.unlabelled = group, observer, unlabelled
        self.network = parser.network
        self.networks = nn.ModuleDict({"parser": parser.network})
        self.generative: Generative | None = None
        if unlabelled is not None and unlabelled.autoencoder is not None:
            self.generative = self.networks["generative"] = unlabelled.autoencoder.generative
        self.parameters = [parameter for parameter in self.networks.parameters() if parameter.requires_grad]
        self.tables = [module for module in self.networks.modules() if isinstance(module, Table)]
        self.optimizer = optimizer(self.config, self.parameters, self.tables)
        self.average = Average(self.networks, self.config.average) if self.config.average else None
        self.measure = measure(parser.vocabulary.labels, self.dev)
        if self.dev and parser.vocabulary.labels and self.measure == "uas":
            observer.warn("dev has none of the labels that the trees have: the best epoch is the one with the best UAS")
        self.progress = Progress()
        self.clock = Clock()
        self.teacher = self._teacher()
        taught_by = self.teacher.network if self.teacher else None
        self.objective = Objective(parser, config, unlabelled, taught_by, self.clock, self.number)
        self.lengths = [len(tree) for tree in (*found.train, *found.parsed)]
        # How many updates there are differs from epoch to epoch; the schedule goes by their part that is done.
        self.steps = (len(self.trees.epoch(0)) or len(self.updates(0))) * self.config.epochs
        self.stop_requested = False
        self.has_exploded = False  # and the user knows

    def _teacher(self) -> Teacher | None:
        if self.unlabelled is None or not self.unlabelled.config.teacher:
            return None
        if self.average is None:
            raise ConfigurationError("objective.teacher is the average of the weights: train.average must not be 0")
        return Teacher(self.network, self.average)

    def updates(self, epoch: int) -> list[Update]:
        batches = self.trees.epoch(epoch)
        if self.unlabelled is None:
            return [Update(trees=batch) for batch in batches]
        return self.unlabelled.updates(batches, epoch)

    def run(self, keep: Callable[[Record], None], save: Callable[[], None]) -> None:
        """All epochs from where the progress is. `keep(record)` stores the model, `save()` the state."""
        progress = self.progress
        saved_at = time.monotonic()
        while progress.epoch < self.config.epochs and not self._has_lost_patience():
            updates = self.updates(progress.epoch)
            while progress.position < len(updates):
                self.step(updates[progress.position], progress.epoch + progress.position / len(updates))
                progress.position += 1
                if self._is_asked_to_stop():
                    self._require_finite_weights()
                    if self.group.is_first and progress.best_record is None:
                        self._keep_average(keep, self._record(evaluate=True))  # better a young model than none
                    save()
                    raise Interrupted
                is_time = time.monotonic() - saved_at > self.config.save_seconds
                if progress.position < len(updates) and self.group.from_first(is_time):
                    save()
                    saved_at = time.monotonic()
            self._finish_epoch(keep)
            save()
            saved_at = time.monotonic()

    def _has_lost_patience(self) -> bool:
        return bool(self.config.patience) and self.progress.since_best >= self.config.patience

    def _is_asked_to_stop(self) -> bool:
        if self.group.size == 1:
            return self.stop_requested
        return self.group.total(float(self.stop_requested))[0] > 0

    def step(self, update: Update, epochs_done: float) -> None:
        """One update. `epochs_done` is how far training is, which sets the learning rate."""
        started = time.perf_counter()
        self.networks.train()
        step = int(epochs_done / self.config.epochs * self.steps + 1e-6)  # 3 and not 2.9999
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.config, step, self.steps)
        self.optimizer.zero_grad(set_to_none=True)
        sums = self.group.totals(self._gradients(update), NAMES)
        loss = sum(value for name, value in sums.items() if not name.endswith("words"))
        self._require(math.isfinite(loss), f"the loss is {loss}")
        with self.clock("update"):
            self.group.add_gradients(self.parameters)
            norm = clip_gradient(self.parameters, self.config.clip or math.inf, self.tables)
            self._require(math.isfinite(norm), f"the norm of the gradient is {norm}")  # it would spoil all weights
            self.optimizer.step()
            if self.average:
                self.average.update()
        for name, value in sums.items():
            self.progress.sums[name] = self.progress.sums.get(name, 0.0) + value
        self.progress.seconds += time.perf_counter() - started
        words = sum(value for name, value in sums.items() if name.endswith("words"))
        self.observer.stepped(step + 1, self.steps, self.progress.epoch + 1, loss / words)

    def _gradients(self, update: Update) -> dict[str, float]:
        """Gradients of this process's share of an update; returns its losses."""
        trees, raw = self.group.share(update.trees), self.group.share(update.raw)
        if not trees and not raw:
            return {}
        if self.config.normalise == "word":
            divisors = sum(map(len, update.trees)), sum(map(len, update.raw))
        else:
            divisors = len(update.trees), len(update.raw)
        with self._collecting():
            return self.objective.learn(trees, raw, divisors, self.progress.epoch)

    @contextlib.contextmanager
    def _collecting(self) -> Iterator[None]:
        """The gradients of tables are summed in one place, where nothing but look-ups has a part in them."""
        whole = self.generative.whole_table if self.generative is not None else None
        for table in self.tables:
            table.collects = table is not whole
        try:
            yield
        finally:
            for table in self.tables:
                table.collects = False

    def _require(self, is_sound: bool, otherwise: str) -> None:
        if not is_sound:
            raise diverged(otherwise, self.progress.epoch + 1, self.config.learning_rate)

    def _require_finite_weights(self) -> None:
        """Before they are kept: the last step may have spoilt them."""
        self._require(all_finite(self.parameters), "a weight is not finite")

    def _finish_epoch(self, keep: Callable[[Record], None]) -> None:
        progress = self.progress
        self._require_finite_weights()
        is_last = progress.epoch + 1 == self.config.epochs
        is_due = bool(self.dev) and ((progress.epoch + 1) % self.config.evaluate_every == 0 or is_last)
        record = self.group.from_first(self._record(is_due) if self.group.is_first else None)
        value = record["dev"][self.measure] if is_due else -math.inf
        record["is_best"] = value > progress.best or not self.dev
        if record["is_best"]:
            progress.best, progress.best_record, progress.since_best = value, record, 0
        elif is_due:
            progress.since_best += self.config.evaluate_every
        if self.teacher and (is_due or not self.dev):
            self.teacher.judge(record["is_best"])
        if self.unlabelled and self.dev:
            self.unlabelled.prolong(progress.epoch, progress.since_best)
        progress.history.append(record)
        if self.group.is_first:
            if record["is_best"]:
                self._keep_average(keep, record)
            self.observer.evaluated(record)
            losses = record["losses"]
            self._warn_of_explosion(losses.get("arcs", 0.0) + losses.get("labels", 0.0))
        progress.epoch, progress.position, progress.sums = progress.epoch + 1, 0, {}

    def _warn_of_explosion(self, loss: float) -> None:
        labels = len(self.parser.vocabulary.labels)
        if not self.has_exploded and is_suspicious(loss, self.lengths, labels):
            self.has_exploded = True
            self.observer.warn(
                f"epoch {self.progress.epoch + 1}: the loss, {loss:.4g} a word, is far above that of guessing; "
                f"nothing is learnt like this: lower train.learning_rate (now {self.config.learning_rate:g})"
            )

    def _keep_average(self, keep: Callable[[Record], None], record: Record) -> None:
        if self.average:
            self.average.exchange()
        try:
            keep(record)
        finally:
            if self.average:
                self.average.exchange()

    def _record(self, evaluate: bool) -> Record:
        record: Record = {
            "epoch": self.progress.epoch + 1,
            "losses": by_word(self.progress.sums),
            "seconds": self.progress.seconds,
            "time": self.clock.shares(),
            "learning_rate": self.optimizer.param_groups[0]["lr"],
        }
        if evaluate and self.dev:
            if self.average:
                self.average.exchange()
            try:
                record["dev"] = evaluated(self.parser, self.dev)
            except ValueError as error:  # of the trees' distribution, which refuses scores that are no numbers
                raise diverged(f"dev cannot be parsed: {error}", record["epoch"], self.config.learning_rate) from error
            finally:
                if self.average:
                    self.average.exchange()
        return record

    def state_dict(self) -> dict[str, Any]:
        self._require_finite_weights()
        random = self.group.gathered(self._random_states())
        return {
            "networks": {name: tensor.cpu() for name, tensor in self.networks.state_dict().items()},
            "average": self.average.state_dict() if self.average else None,
            "teacher": self.teacher.state_dict() if self.teacher else None,
            "raw_until": self.unlabelled.until if self.unlabelled else None,
            "optimizer": self.optimizer.state_dict(),
            "random": random,
            "progress": vars(self.progress).copy(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.networks.load_state_dict(state["networks"])
        if self.average:
            self.average.load_state_dict(state["average"])
        if self.teacher:
            self.teacher.load_state_dict(state["teacher"])
        if self.unlabelled:
            self.unlabelled.until = state["raw_until"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.progress = Progress(**state["progress"])
        if self.group.rank < len(state["random"]):
            here, *there = state["random"][self.group.rank]
            torch.set_rng_state(here)
            if there and self.parser.device.type == "cuda":  # where dropout and noise are drawn then
                torch.cuda.set_rng_state(there[0], self.parser.device)

    def _random_states(self) -> list[Tensor]:
        states = [torch.get_rng_state()]
        if self.parser.device.type == "cuda":
            states.append(torch.cuda.get_rng_state(self.parser.device))
        return states


def measure(labels: Sequence[str], dev: Sequence[Sentence]) -> str:
    """By which the best epoch is chosen: LAS, where the parser can get a label right.

    >>> sentence = Sentence.from_words(["hello"])
    >>> measure(["root"], [sentence.with_tree([0], ["root"])]), measure(["root"], [sentence.with_tree([0], ["_"])])
    ('las', 'uas')
    """
    known = {universal(split_label(label)[0]) for label in labels}
    return "las" if any(universal(label) in known for sentence in dev for label in sentence.labels) else "uas"


def evaluated(parser: Parser, sentences: Sequence[Sentence]) -> dict[str, float]:
    """Scores of the parser on sentences with trees."""
    parses = parser.pipe([sentence.words for sentence in sentences])
    predicted = (
        sentence.with_tree(parse.heads, parse.labels) for sentence, parse in zip(sentences, parses, strict=True)
    )
    scores = score(sentences, predicted)
    return {"uas": scores.uas, "las": scores.las, "clas": scores.clas, "words": scores.words}
