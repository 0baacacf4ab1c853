"""What a run does with raw text: which sentences when, and the networks that learn from them."""

from __future__ import annotations

import numpy as np

from ..corpus.batches import Tree
from .autoencoder import Autoencoder, ObjectiveConfig
from .plan import RawBatches, Update, alternating, joint


class Unlabelled:
    """The raw sentences of a run and the autoencoder, if there is one."""

    def __init__(
        self,
        config: ObjectiveConfig,
        raw: RawBatches | None,
        autoencoder: Autoencoder | None,
        seed: int,
        until: int,
    ):
        self.config, self.raw, self.autoencoder, self.seed = config, raw, autoencoder, seed
        self.until = until  # the first epoch, from 0, with nothing but trees again

    @property
    def first(self) -> int:
        """The first epoch, from 0, that draws raw sentences."""
        starts = [(self.config.raw, self.config.raw_from), (self.config.teacher, self.config.teacher_from)]
        return min(first for weight, first in starts if weight > 0) - 1

    def has_raw_text(self, epoch: int) -> bool:
        return self.raw is not None and self.first <= epoch < self.until

    def prolong(self, epoch: int, since_best: int) -> None:
        """After an epoch (from 0): where raw text would end here while it still helps, it stays for another one."""
        if epoch + 1 == self.until and since_best < self.config.raw_patience:
            self.until += 1

    def updates(self, batches: list[list[Tree]], epoch: int) -> list[Update]:
        """Those of an epoch with these batches of trees."""
        if self.raw is None or not self.has_raw_text(epoch):
            return [Update(trees=batch) for batch in batches]
        raw = self.raw.epoch(epoch - self.first)
        generator = np.random.default_rng([self.seed, epoch, 2])
        if self.config.updates == "alternate" or not batches:
            updates = alternating(batches, raw)
        else:
            updates = joint(batches, raw, generator)
        for update in updates:  # the teacher may look at the first ones alone, which must not be the short ones
            generator.shuffle(update.raw)
        return updates
