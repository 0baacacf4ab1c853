"""Dependency trees inside neural networks: exact distributions, differentiable relaxations, fast on a CPU.

Scores are [B, n + 1, n + 1], `scores[b, h, m]` the weight of the arc h → m, index 0 the root. This package imports
nothing else of softparse.
"""

from .estimators import ESTIMATORS, expectation
from .nonprojective import NonProjectiveTrees
from .projective import ProjectiveTrees, eisner, relaxed_parse
from .shapes import adjacency, is_tree, log_number_of_trees

__all__ = [
    "ESTIMATORS",
    "NonProjectiveTrees",
    "ProjectiveTrees",
    "adjacency",
    "eisner",
    "expectation",
    "is_tree",
    "log_number_of_trees",
    "relaxed_parse",
]
