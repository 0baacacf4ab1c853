"""A tree to draw: words, their heads (0 for the root, -1 for none) and labels; and how its arcs nest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol


class Tree(Protocol):
    """What can be drawn; a sentence of a corpus is one."""

    @property
    def words(self) -> Sequence[str]: ...

    @property
    def heads(self) -> Sequence[int]: ...

    @property
    def labels(self) -> Sequence[str]: ...


class Arc(NamedTuple):
    """An arc between two words."""

    head: int
    modifier: int

    @property
    def left(self) -> int:
        return min(self)

    @property
    def right(self) -> int:
        return max(self)

    @property
    def length(self) -> int:
        return abs(self.head - self.modifier)

    def overlaps(self, other: Arc) -> bool:
        """Whether they share more than an end."""
        return max(self.left, other.left) < min(self.right, other.right)


def check_tree(words: Sequence[str], heads: Sequence[int], labels: Sequence[str]) -> None:
    if not len(words) == len(heads) == len(labels):
        raise ValueError(f"{len(words)} words need as many heads and labels, not {len(heads)} and {len(labels)}")
    for word, head in enumerate(heads, 1):
        if not -1 <= head <= len(words):
            allowed = f"heads are 1 to {len(words)}, 0 for the root, -1 for none"
            raise ValueError(f"the head of word {word} is {head}, but {allowed}")
        if head == word:
            raise ValueError(f"word {word} is its own head; give another one, or -1 for none")


def arcs_of(heads: Sequence[int]) -> list[Arc]:
    """The arcs between words, short ones first."""
    arcs = [Arc(head, word) for word, head in enumerate(heads, 1) if head > 0]
    return sorted(arcs, key=lambda arc: (arc.length, arc.left))


def levels(arcs: Iterable[Arc], *, head_inside: bool = False) -> dict[Arc, int]:
    """Heights from 1, given in the order of `arcs`, so that arcs which overlap have different ones.

    With `head_inside` an arc is also above those that leave its modifier.

    >>> levels(arcs_of([2, 0, 4, 2]))
    {Arc(head=2, modifier=1): 1, Arc(head=4, modifier=3): 1, Arc(head=2, modifier=4): 2}
    """
    result: dict[Arc, int] = {}
    for arc in arcs:
        below = (
            level
            for other, level in result.items()
            if arc.overlaps(other) or (head_inside and other.head == arc.modifier)
        )
        result[arc] = 1 + max(below, default=0)
    return result


def inside_out(heads: Sequence[int]) -> list[Arc]:
    """The arcs between words, each after those below its modifier and after shorter ones of its head."""
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, 1):
        children[max(head, 0)].append(word)
    order: dict[Arc, None] = {}
    seen: set[int] = set()
    # Words on a cycle hang from no root, so every word is a possible start.
    for start in (*children[0], *range(1, len(heads) + 1)):
        waiting = [start]
        while waiting:
            word = waiting[-1]
            fresh = [child for child in children[word] if child not in seen] if word not in seen else []
            seen.add(word)
            if fresh:
                waiting += sorted(fresh, key=lambda child: -abs(child - word))
            else:
                waiting.pop()
                arc = Arc(heads[word - 1], word)
                if arc.head > 0:
                    order.setdefault(arc)
    return list(order)
