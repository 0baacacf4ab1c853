"""Agreement with a teacher: the average of the parser's weights so far, which reads raw sentences without dropout.

What the average believes is better than what the weights of the moment believe, and the parser, which sees the sentence
through dropout, learns to believe it under worse conditions.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..model.network import Network
from ..trees import ProjectiveTrees
from .reading import Reading


def agreement(reading: Reading, teacher: Network, temperature: float = 1.0) -> Tensor:
    """Cross-entropies of the teacher's trees and of its labels under the parser's, summed over the batch.

    That of trees is exact, −E_teacher[log q(T|s)]. Labels are compared on the arcs of the teacher's best tree, each
    with the probability that the teacher gives to it. At a temperature below 1 the teacher is surer than it is.
    """
    with torch.no_grad():
        believed = Reading(teacher, reading.sentences, reading.batch, reading.single_root)
        trees = believed.trees
        if temperature != 1:
            trees = ProjectiveTrees(trees.scores / temperature, trees.lengths, single_root=trees.single_root)
        marginals, heads = trees.marginals, trees.mode
        labels = (teacher.label_scores(believed.views, heads) / temperature).softmax(-1)
        certainty = marginals.gather(1, heads.clamp(min=0)[:, None])[:, 0] * reading.batch.is_word
    arcs = reading.trees.log_partition.sum() - (marginals * reading.scores).sum()
    mine = reading.network.label_scores(reading.views, heads).log_softmax(-1)
    return arcs - ((labels * mine).sum(-1) * certainty).sum()
