"""The best non-projective tree: Chu-Liu/Edmonds, with an exact treatment of the single root.

Arc weights are compared in lexicographic order, first by the number of arcs from the root, then by weight. The
algorithm only adds, subtracts and compares weights, so it works for such pairs as for numbers; the best tree then has
as few root arcs as possible, which is one wherever a single-rooted tree exists. No big constant is subtracted from
anything.
Time O(n³), one cycle contracted at a time.
"""

from __future__ import annotations

import math

import numpy as np

from .compiled import Int, array, compiled, inlined


@inlined
def better(roots, weight, other_roots, other_weight):
    """Whether the first arc is to be preferred; a weight of -inf is no arc."""
    if weight == -math.inf:
        return False
    if other_weight == -math.inf:
        return True
    return roots < other_roots or (roots == other_roots and weight > other_weight)


@inlined
def find_cycle(chosen, alive, nodes, colour):
    """A node on a cycle of chosen heads, -1 if there is none."""
    colour[:] = 0
    for start in range(1, nodes):
        if not alive[start] or colour[start] != 0:
            continue
        node = start
        while node != 0 and colour[node] == 0:
            colour[node] = start
            node = chosen[node]
        if node != 0 and colour[node] == start:
            return node
    return -1


@inlined
def arborescence(scores, words, single_root, heads):
    """Write the heads of the best tree of one sentence; False if there is no tree."""
    room = 2 * words + 1  # every contraction adds a node
    weight = np.full((room, room), -math.inf)
    roots = np.zeros((room, room), np.int64)
    source, target = np.zeros((room, room), np.int64), np.zeros((room, room), np.int64)  # the arc of the sentence
    alive = np.zeros(room, np.bool_)
    inside_of = np.zeros(room, np.int64)  # the contracted node that a node disappeared in
    chosen, colour = np.zeros(room, np.int64), np.zeros(room, np.int64)
    arc_source, arc_target = np.zeros(room, np.int64), np.zeros(room, np.int64)  # the chosen arc of each node
    nodes = words + 1
    alive[:nodes] = True
    for head in range(nodes):
        for modifier in range(1, nodes):
            if head != modifier:
                weight[head, modifier] = scores[head, modifier]
                source[head, modifier], target[head, modifier] = head, modifier
        roots[0, head] = 1 if single_root else 0
    while True:
        for modifier in range(1, nodes):
            if not alive[modifier]:
                continue
            best = -1
            for head in range(nodes):
                if not alive[head] or head == modifier or weight[head, modifier] == -math.inf:
                    continue
                if best < 0 or better(
                    roots[head, modifier], weight[head, modifier], roots[best, modifier], weight[best, modifier]
                ):
                    best = head
            if best < 0:
                return False
            chosen[modifier] = best
            arc_source[modifier], arc_target[modifier] = source[best, modifier], target[best, modifier]
        entry = find_cycle(chosen, alive, nodes, colour)
        if entry < 0:
            break
        merged = nodes
        nodes += 1
        alive[merged] = True
        member = entry
        while alive[member]:
            alive[member] = False
            inside_of[member] = merged
            member = chosen[member]
        member = entry
        first = True
        while first or member != entry:
            first = False
            lost_roots, lost = roots[chosen[member], member], weight[chosen[member], member]
            for other in range(merged):
                if not alive[other]:
                    continue
                # Entering the cycle at this member gives its chosen arc up.
                if better(
                    roots[other, member] - lost_roots, weight[other, member] - lost,
                    roots[other, merged], weight[other, merged],
                ):  # fmt: skip
                    roots[other, merged] = roots[other, member] - lost_roots
                    weight[other, merged] = weight[other, member] - lost
                    source[other, merged], target[other, merged] = source[other, member], target[other, member]
                if other != 0 and better(
                    roots[member, other], weight[member, other], roots[merged, other], weight[merged, other]
                ):
                    roots[merged, other], weight[merged, other] = roots[member, other], weight[member, other]
                    source[merged, other], target[merged, other] = source[member, other], target[member, other]
            member = chosen[member]
    # Undo the contractions, the last one first: the arc that enters a cycle replaces that of the member it enters.
    for merged in range(nodes - 1, words, -1):
        member = arc_target[merged]
        while inside_of[member] != merged:
            member = inside_of[member]
        arc_source[member], arc_target[member] = arc_source[merged], arc_target[merged]
    root_arcs = 0
    for modifier in range(1, words + 1):
        heads[modifier] = arc_source[modifier]
        root_arcs += arc_source[modifier] == 0
    return not single_root or root_arcs == 1


@compiled(lambda real: (Int, Int, array(real, 3), array(Int, 1), Int, array(Int, 2), array(Int, 1)))
def best_arborescence(start, step, scores, lengths, first, heads, found):
    """Heads [B, size] of the best tree of each sentence, and whether there is one."""
    for sentence in range(start, lengths.size, step):
        found[sentence] = arborescence(scores[sentence], lengths[sentence], first == 1, heads[sentence])
        if not found[sentence]:
            heads[sentence, :] = -1
