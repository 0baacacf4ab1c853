"""Projective trees: telling them, making them, and undoing that.

A tree over n words is a list of n heads, that of word 1 first; 0 is the root, which stands left of the sentence, and
UNKNOWN a head that is not given. The known arcs of a partial tree form fragments, each below a word of unknown head or
below the root. Cycles and heads out of range are not for these functions; `checks.tree_problems` finds them.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush

from .sentence import UNKNOWN

LIFTED = "↑"
"""Stands between the label of a lifted word and that of its head before, as printed by Nivre and Nilsson.

A label of Universal Dependencies is letters, with a colon before a subtype, so it has no arrow; the checks refuse
a treebank that has one in a label.
"""
UNLABELLED = "_"


def is_projective(heads: Sequence[int]) -> bool:
    """Whether some projective tree has these heads, with one root if no two roots are given. Time O(n log n).

    For a complete tree: whether the words strictly between a head and its modifier all descend from that head.
    For a partial one: no two arcs cross, and no arc spans the head of its own head, which could not get a head then.

    >>> is_projective([2, 0, 2]), is_projective([3, 0, 2, 2]), is_projective([3, 4, UNKNOWN, UNKNOWN])
    (True, False, False)
    """
    arcs = []
    for modifier, head in enumerate(heads, 1):
        if head < modifier:
            if head == UNKNOWN:
                continue
            if head and head < heads[head - 1] < modifier:
                return False
            arcs.append((head, -modifier))
        else:
            if modifier < heads[head - 1] < head:
                return False
            arcs.append((modifier, -head))
    arcs.sort()  # by the left end, the longest first, so that an arc comes after those around it
    around: list[int] = []  # right ends of the arcs that may go around the next one, the innermost last
    for left, right in arcs:
        while around and around[-1] <= left:
            around.pop()
        if around and around[-1] < -right:
            return False
        around.append(-right)
    return True


def crossing(heads: Sequence[int]) -> list[int]:
    """The modifiers of the non-projective arcs; none if and only if the tree is projective.

    An arc is non-projective if a word of its fragment that is strictly between its ends does not descend from its
    head, or if an arc of another fragment crosses it (there is but one fragment in a complete tree).

    >>> crossing([3, 0, 2, 2]), crossing([3, 4, UNKNOWN, UNKNOWN])
    ([1], [1, 2])
    """
    if is_projective(heads):
        return []
    parents, children = _acyclic(heads)
    return [word for word in range(1, len(parents)) if _is_non_projective(word, parents, children)]


def _is_non_projective(modifier: int, parents: Sequence[int], children: Sequence[list[int]]) -> bool:
    head = parents[modifier]
    if head == UNKNOWN:
        return False
    left, right = min(head, modifier), max(head, modifier)
    top = head
    while parents[top] != UNKNOWN:
        top = parents[top]
    for word in range(left + 1, right):
        ancestor = word
        while ancestor != head and parents[ancestor] != UNKNOWN:
            ancestor = parents[ancestor]
        if ancestor == head:
            continue
        if ancestor == top or any(not left <= child <= right for child in children[word]):
            return True
        if parents[word] != UNKNOWN and not left <= parents[word] <= right:
            return True
    return False


def _acyclic(heads: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """Parents and children of the nodes, the root first. A cycle is refused: climbing would not come to an end."""
    parents = [UNKNOWN, *heads]
    children = _children(parents)
    tops = [node for node, parent in enumerate(parents) if parent == UNKNOWN]
    if sum(map(len, _levels(tops, children))) < len(parents):
        raise ValueError(f"the heads {list(heads)} have a cycle; look for it with tree_problems")
    return parents, children


def _children(parents: Sequence[int]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in parents]
    for modifier, head in enumerate(parents):
        if head != UNKNOWN:
            children[head].append(modifier)
    return children


def lift(heads: Sequence[int], labels: Sequence[str]) -> tuple[list[int], list[str], int]:
    """A projective tree close to this one, its labels, and how many words have another head in it.

    The pseudo-projective transformation of Nivre and Nilsson (2005), scheme "head": as long as there is a
    non-projective arc, the shortest one (the leftmost of several) moves up to the head of its head. The label of a
    lifted word then names the label of the head it had, which is what `unlift` looks for.
    Where a word cannot move up, because the next head is unknown or because it would become a second root, its head
    and label become unknown.

    >>> lift([3, 0, 2, 2], ["obj", "root", "xcomp", "punct"])
    ([2, 0, 2, 2], ['obj↑xcomp', 'root', 'xcomp', 'punct'], 1)
    """
    renamed = list(labels)
    if is_projective(heads):
        return list(heads), renamed, 0
    lifted = _lifted(heads)
    moved = [place for place, head in enumerate(heads) if lifted[place] != head]
    for place in moved:
        renamed[place] = UNLABELLED if lifted[place] == UNKNOWN else _join(labels[place], labels[heads[place] - 1])
    return lifted, renamed, len(moved)


def _lifted(heads: Sequence[int]) -> list[int]:
    parents, children = _acyclic(heads)
    has_several_roots = len(children[0]) > 1
    is_complete = UNKNOWN not in heads
    queue: list[tuple[int, int, int, int]] = []  # arcs to look at, the shortest first, from left to right

    def put(words: Iterable[int]) -> None:
        for word in words:
            if (head := parents[word]) != UNKNOWN:
                heappush(queue, (abs(head - word), min(head, word), word, head))

    put(range(1, len(parents)))
    while queue:
        _, _, word, head = heappop(queue)
        if parents[word] != head or not _is_non_projective(word, parents, children):
            continue
        above = parents[head]
        if above == UNKNOWN or (above == 0 and not has_several_roots):
            parents[word] = UNKNOWN
        else:
            parents[word] = above
            children[above].append(word)
        children[head].remove(word)
        # In a complete tree only the old head lost descendants, so that only its arcs can have got worse.
        put([word, *children[head]] if is_complete else range(1, len(parents)))
    return parents[1:]


def _join(label: str, head_label: str) -> str:
    """Nothing is said of a head whose own label is unknown: no parser would find it again."""
    return label if UNLABELLED in (label, head_label) else f"{label}{LIFTED}{head_label}"


def split_label(label: str) -> tuple[str, str | None]:
    """The label of a word, and that of the head it had if it was lifted.

    >>> split_label("obj↑xcomp"), split_label("nsubj:pass")
    (('obj', 'xcomp'), ('nsubj:pass', None))
    """
    plain, arrow, head_label = label.partition(LIFTED)
    return plain, head_label if arrow else None


def unlift(heads: Sequence[int], labels: Sequence[str]) -> tuple[list[int], list[str]]:
    """Put lifted words back: the inverse of `lift`, as far as the labels tell. A tree stays a tree.

    Lifted words are taken from the top of the tree down, and from left to right. Each goes to the first word of the
    label it names in a breadth-first search below its head, where it and what is below it are left out, and stays
    if there is none. Of several words equally deep, the furthest is the first: a near one is seldom out of reach of
    a projective arc.

    >>> unlift([2, 0, 2, 2], ["obj↑xcomp", "root", "xcomp", "punct"])
    ([3, 0, 2, 2], ['obj', 'root', 'xcomp', 'punct'])
    """
    names = [split_label(label) for label in labels]
    plain = [name for name, _ in names]
    if not any(wanted for _, wanted in names):
        return list(heads), plain
    parents = [UNKNOWN, *heads]
    children = _children(parents)
    tops = [node for node, parent in enumerate(parents) if parent == UNKNOWN]
    for word in [node for level in _levels(tops, children) for node in level if node]:
        head, wanted = parents[word], names[word - 1][1]
        if head == UNKNOWN or not wanted:
            continue
        children[head].remove(word)  # what is below the word is out of the search, too
        for level in _levels(children[head], children):
            found = [node for node in level if plain[node - 1] == wanted]
            if found:
                parents[word] = max(found, key=lambda node: abs(node - word))
                break
        insort(children[parents[word]], word)
    return parents[1:], plain


def _levels(nodes: list[int], children: Sequence[list[int]]) -> Iterator[list[int]]:
    """These nodes, then the nodes below them, and so on."""
    while nodes:
        yield nodes
        nodes = [child for node in nodes for child in children[node]]
