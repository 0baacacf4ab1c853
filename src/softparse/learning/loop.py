"""The training loop: epochs of batches, the best epoch on dev, and a state that can be taken up at any step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ..corpus.batches import Tree, batched
from ..corpus.sentence import Sentence
from ..evaluation.scores import score
from ..parser import Parser
from .config import TrainConfig
from .distributed import Group
from .divergence import all_finite, diverged, is_suspicious
from .objectives import arc_loss, label_loss
from .observer import Observer, Record
from .optimizers import Average, clip_gradient, learning_rate, optimizer


@dataclass
class Progress:
    """Where a run is."""

    epoch: int = 0  # the one at work, from 0
    position: int = 0  # batches done in it
    losses: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])  # of arcs, of labels, words
    seconds: float = 0.0  # of training so far, evaluation not counted
    best: float = -math.inf
    best_record: Record | None = None
    history: list[Record] = field(default_factory=list)
    since_best: int = 0


class Interrupted(Exception):
    """Training was asked to stop; everything is saved."""


class Loop:
    """Trains a parser's network on trees. `keep` is called when an epoch is the best so far."""

    def __init__(
        self,
        parser: Parser,
        trees: Sequence[Tree],
        dev: Sequence[Sentence],
        config: TrainConfig,
        group: Group,
        observer: Observer,
    ):
        self.parser, self.trees, self.dev, self.config = parser, trees, dev, config
        self.group, self.observer = group, observer
        self.network = parser.network
        self.parameters = [parameter for parameter in self.network.parameters() if parameter.requires_grad]
        self.optimizer = optimizer(config, self.parameters)
        self.average = Average(self.network, config.average) if config.average else None
        self.progress = Progress()
        self.lengths = [len(tree) for tree in trees]
        # How many batches there are differs a little from epoch to epoch; the schedule takes the first one's number.
        self.steps = len(self.batches(0)) * config.epochs
        self.stop_requested = False
        self.has_exploded = False  # and the user knows

    def batches(self, epoch: int) -> list[list[int]]:
        """The batches of an epoch: they depend on the seed and the epoch alone."""
        generator = np.random.default_rng([self.config.seed, epoch])
        return batched(self.lengths, self.config.batch_sentences, self.config.batch_words, generator)

    def run(self, keep: Callable[[Record], None], save: Callable[[], None]) -> None:
        """All epochs from where the progress is. `keep(record)` stores the model, `save()` the state."""
        progress = self.progress
        saved_at = time.monotonic()
        while progress.epoch < self.config.epochs and not self._has_lost_patience():
            batches = self.batches(progress.epoch)
            while progress.position < len(batches):
                self.step(batches[progress.position], progress.epoch + progress.position / len(batches))
                progress.position += 1
                if self._is_asked_to_stop():
                    self._require_finite_weights()
                    if self.group.is_first and progress.best_record is None:
                        self._keep_average(keep, self._record(evaluate=True))  # better a young model than none
                    save()
                    raise Interrupted
                is_time = time.monotonic() - saved_at > self.config.save_seconds
                if progress.position < len(batches) and self.group.from_first(is_time):
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

    def step(self, batch: list[int], epochs_done: float) -> None:
        """One update. `epochs_done` is how far training is, which sets the learning rate."""
        started = time.perf_counter()
        self.network.train()
        total_words = sum(self.lengths[index] for index in batch)
        divisor = total_words if self.config.normalise == "word" else len(batch)
        step = round(epochs_done / self.config.epochs * self.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.config, step, self.steps)
        self.optimizer.zero_grad(set_to_none=True)
        arcs = labels = 0.0
        share = self.group.share(batch)
        if share:
            arcs, labels = self._backward([self.trees[index] for index in share], divisor)
        arcs, labels = self.group.total(arcs, labels)
        self._require(math.isfinite(arcs + labels), f"the loss is {arcs + labels}")
        self.group.add_gradients(self.parameters)
        norm = clip_gradient(self.parameters, self.config.clip or math.inf)
        self._require(math.isfinite(norm), f"the norm of the gradient is {norm}")  # it would spoil all weights
        self.optimizer.step()
        if self.average:
            self.average.update()
        for place, value in enumerate((arcs, labels, float(total_words))):
            self.progress.losses[place] += value
        self.progress.seconds += time.perf_counter() - started
        self.observer.stepped(step + 1, self.steps, self.progress.epoch + 1, (arcs + labels) / total_words)

    def _backward(self, trees: list[Tree], divisor: float) -> tuple[float, float]:
        """Gradients of the losses of these trees; returns the losses of arcs and labels."""
        batch = self.parser.numbering.training_batch(trees).to(self.parser.device)
        states = self.network.states(batch)
        single_root = self.parser.config.decoding.single_root
        scores = self.network.arc_scores(states)
        if not all_finite([scores]):
            return math.nan, math.nan  # which stops all processes at the same place
        arcs = arc_loss(self.config.arc_loss, scores, batch, single_root)
        assert batch.heads is not None
        assert batch.labels is not None
        labels = label_loss(self.config.label_loss, self.network.label_scores(states, batch.heads), batch.labels)
        ((arcs + self.config.label_weight * labels) / divisor).backward()
        return float(arcs.detach()), float(labels.detach())

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
        value = record["dev"]["las"] if is_due else -math.inf
        record["is_best"] = value > progress.best or not self.dev
        if record["is_best"]:
            progress.best, progress.best_record, progress.since_best = value, record, 0
        elif is_due:
            progress.since_best += self.config.evaluate_every
        progress.history.append(record)
        if self.group.is_first:
            if record["is_best"]:
                self._keep_average(keep, record)
            self.observer.evaluated(record)
            self._warn_of_explosion(record["arc_loss"] + record["label_loss"])
        progress.epoch, progress.position, progress.losses = progress.epoch + 1, 0, [0.0, 0.0, 0.0]

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
        arcs, labels, words = self.progress.losses
        record: Record = {
            "epoch": self.progress.epoch + 1,
            "arc_loss": arcs / max(words, 1.0),
            "label_loss": labels / max(words, 1.0),
            "seconds": self.progress.seconds,
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
        random = self.group.gathered(torch.get_rng_state())
        return {
            "network": {name: tensor.cpu() for name, tensor in self.network.state_dict().items()},
            "average": self.average.state_dict() if self.average else None,
            "optimizer": self.optimizer.state_dict(),
            "random": random,
            "progress": vars(self.progress).copy(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.network.load_state_dict(state["network"])
        if self.average:
            self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.progress = Progress(**state["progress"])
        if self.group.rank < len(state["random"]):
            torch.set_rng_state(state["random"][self.group.rank])


def evaluated(parser: Parser, sentences: Sequence[Sentence]) -> dict[str, float]:
    """Scores of the parser on sentences with trees."""
    parses = parser.pipe([sentence.words for sentence in sentences])
    predicted = (
        sentence.with_tree(parse.heads, parse.labels) for sentence, parse in zip(sentences, parses, strict=True)
    )
    scores = score(sentences, predicted)
    return {"uas": scores.uas, "las": scores.las, "clas": scores.clas, "words": scores.words}
