"""Sentences into lanes and back.

A group is `LANES` sentences that run side by side; `order` lists the sentences from long to short, so that a group
wastes little, and -1 marks an empty lane. Lanes never mix: a sentence's result is the same in any lane, group or batch.
"""

from __future__ import annotations

import numpy as np

from .compiled import Int, array, compiled, inlined
from .simd import LANES
from .spans import at


@compiled(lambda real: (array(real, 1), Int, array(Int, 1)))
def arrange(lengths, size, order):
    """Write the order of the sentences in the lanes, long ones first (a stable counting sort).

    Returns Σ words³, or -1 for a length that the charts have no room for.
    """
    longest, cost = 0, 0.0
    for words in lengths:
        if words < 1 or words >= size:
            return -1.0
        longest = max(longest, words)
        cost += float(words) ** 3
    start = np.zeros(longest + 2, np.int64)  # start[longest − w]: where the sentences of w words begin
    for words in lengths:
        start[longest - words + 1] += 1
    for index in range(1, longest + 1):
        start[index] += start[index - 1]
    for sentence in range(lengths.size):
        place = longest - lengths[sentence]
        order[start[place]] = sentence
        start[place] += 1
    order[lengths.size :] = -1
    return cost


@inlined
def pack(values, scale, order, group, lengths, size, outside, chart):
    """Arcs of the group's sentences into a chart; `outside` wherever there is none."""
    chart[: size * size * LANES] = outside
    for head in range(size):
        for lane in range(LANES):
            sentence = order[group * LANES + lane]
            if sentence >= 0 and head <= lengths[sentence]:
                for modifier in range(1, lengths[sentence] + 1):
                    if head != modifier:
                        chart[at(head, modifier, size) + lane] = values[sentence, head, modifier] * scale


@inlined
def unpack(chart, scale, order, group, lengths, size, values):
    """The reverse of `pack`; what is not an arc stays as it is."""
    for head in range(size):
        for lane in range(LANES):
            sentence = order[group * LANES + lane]
            if sentence >= 0 and head <= lengths[sentence]:
                for modifier in range(1, lengths[sentence] + 1):
                    if head != modifier:
                        values[sentence, head, modifier] = chart[at(head, modifier, size) + lane] * scale
