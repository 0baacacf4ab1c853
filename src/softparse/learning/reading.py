"""What the parser makes of a batch, computed once for all terms of the objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from ..corpus.batches import Batch
from ..model.encoder import Encoded
from ..model.network import Network
from ..model.scorers import Views
from ..trees import ProjectiveTrees


@dataclass(frozen=True)
class Reading:
    network: Network
    sentences: Sequence[Sequence[str]]
    batch: Batch
    single_root: bool

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
