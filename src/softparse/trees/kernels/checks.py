"""One look at every arc score: cheaper than the handful of tensor operations that would say the same."""

from __future__ import annotations

import math

from .compiled import Float, Int, array, compiled

ALL_FINITE, SOME_FORBIDDEN, WRONG_LENGTH, WRONG_SCORE = 0, 1, 2, 3


@compiled(lambda real: (array(real, 3), array(Int, 1)))
def inspect(scores, lengths):
    """What the arcs of the sentences hold: finite numbers only, -inf somewhere, or what must not be."""
    for sentence in range(lengths.size):
        if lengths[sentence] < 1 or lengths[sentence] >= scores.shape[1]:
            return WRONG_LENGTH
    found = ALL_FINITE
    for sentence in range(lengths.size):
        size = lengths[sentence] + 1
        for head in range(size):
            for modifier in range(1, size):
                score = scores[sentence, head, modifier]
                if not math.isfinite(score) and head != modifier:
                    if score != -math.inf:
                        return WRONG_SCORE
                    found = SOME_FORBIDDEN
    return found


@compiled(lambda real: (array(real, 3), array(Int, 1), array(real, 3), array(Float, 1)))
def spoil(scores, lengths, soft, weights):
    """NaN where an arc of a sentence has it: comparisons pass over it, and what they leave would look sound."""
    for sentence in range(lengths.size):
        size = lengths[sentence] + 1
        is_spoilt = False
        for head in range(size):
            for modifier in range(1, size):
                score = scores[sentence, head, modifier]
                is_spoilt = is_spoilt or (score != score and head != modifier)
        if is_spoilt:
            weights[sentence] = math.nan
            for head in range(size):
                for modifier in range(1, size):
                    if head != modifier:
                        soft[sentence, head, modifier] = math.nan
