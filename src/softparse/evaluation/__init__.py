"""How good predicted trees are: scores, breakdowns and significance."""

from .alignment import align
from .breakdown import Breakdown, break_down
from .counts import Counts, count
from .reporting import report
from .scores import Scores, score
from .significance import Comparison, Difference, compare, paired_bootstrap, sentence_counts

__all__ = [
    "Breakdown",
    "Comparison",
    "Counts",
    "Difference",
    "Scores",
    "align",
    "break_down",
    "compare",
    "count",
    "paired_bootstrap",
    "report",
    "score",
    "sentence_counts",
]
