"""What the parser makes of a batch, computed once for all terms of the objective."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from torch import Tensor

from ..corpus.batches import Batch
from ..model.encoder import Encoded
from ..model.network import Network
from ..model.scorers import Views
from ..trees import ProjectiveTrees


class Reading:
    """Sentences as a batch, and what follows from it, each when it is asked for first."""

    def __init__(self, network: Network, sentences: Sequence[Sequence[str]], batch: Batch, single_root: bool):
        self.network, self.sentences, self.batch, self.single_root = network, sentences, batch, single_root

    @cached_property
    def encoded(self) -> Encoded:
        return self.network.encoded(self.batch)

    @cached_property
    def views(self) -> Views:
        return self.network.projection(self.encoded.states)

    @cached_property
    def scores(self) -> Tensor:
        return self.network.arc_scores(self.views)

    @cached_property
    def trees(self) -> ProjectiveTrees:
        """q(T|s). A network's scores need no checks: a run that diverges is found by its loss."""
        return ProjectiveTrees(self.scores, self.batch.lengths, single_root=self.single_root, validate_args=False)

    def part(self, start: int, stop: int) -> Reading:
        """Some of the sentences, which have been read together with the others."""
        part = Reading(self.network, self.sentences[start:stop], self.batch.rows(start, stop), self.single_root)
        size = part.batch.words.shape[1]
        part.encoded = self.encoded.rows(start, stop, size)
        part.views = Views(*(tensor[start:stop, :size] for tensor in self.views))
        return part
