"""Pictures in notebooks: after `%load_ext softparse`, trees draw themselves.

IPython is told the names of the types only, so nothing is imported before there is something to draw, and no type
knows that it can be shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..corpus.sentence import Sentence
    from ..parser import Parse
    from ..trees.distribution import TreeDistribution

SVG = "image/svg+xml"
SHOWN = 4  # sentences of a batch

_replaced: dict[tuple[str, str], Callable[[Any], Any]] = {}  # what others had registered


def load(shell: Any) -> None:
    """Register the pictures with a shell."""
    formatter = shell.display_formatter.formatters[SVG]
    for name, draw in _PICTURES.items():
        before = formatter.pop(".".join(name), None)  # what is registered for the type itself would win
        if before is not None:
            _replaced[name] = before
        formatter.for_type_by_name(*name, draw)


def unload(shell: Any) -> None:
    """Put everything back as it was."""
    formatter = shell.display_formatter.formatters[SVG]
    for name in _PICTURES:
        formatter.pop(".".join(name), None)
        if name in _replaced:
            formatter.for_type_by_name(*name, _replaced.pop(name))


def parse_picture(parse: Parse) -> str:
    """The tree of a parsed sentence; arcs of uncertain heads are paler if it has probabilities."""
    from ..drawing import tree_svg

    return tree_svg(parse.words, parse.heads, parse.labels, parse.probabilities)


def sentence_picture(sentence: Sentence) -> str | None:
    """The tree of a sentence of a corpus; none if its heads are none of its words."""
    from ..drawing import tree_svg

    try:
        return tree_svg(sentence.words, sentence.heads, sentence.labels)
    except ValueError:
        return None


def trees_picture(trees: TreeDistribution) -> str | None:
    """The probabilities of all arcs as heat-maps, of the first sentences of the batch."""
    from ..drawing import heat_svg, stacked_svg

    # A distribution of its own: the results of the given one are kept by it, and belong to its gradients.
    scores, lengths = trees.scores[:SHOWN].detach(), trees.lengths[:SHOWN]
    first = type(trees)(scores, lengths, single_root=trees.single_root)
    marginals, entropies = first.marginals.cpu(), first.entropy().tolist()
    pictures = []
    for row, (words, entropy) in enumerate(zip(lengths.tolist(), entropies, strict=True)):
        caption = f"sentence {row + 1} of {len(trees.scores)}: {words} words, entropy {entropy:.2f}"
        arcs = marginals[row, : words + 1, : words + 1].clamp(0, 1).tolist()
        pictures.append(heat_svg([str(place) for place in range(1, words + 1)], arcs, caption))
    return stacked_svg(pictures) if pictures else None


_PICTURES: dict[tuple[str, str], Callable[[Any], str | None]] = {
    ("softparse.parser.parsing", "Parse"): parse_picture,
    ("softparse.corpus.sentence", "Sentence"): sentence_picture,
    ("softparse.trees.distribution", "TreeDistribution"): trees_picture,
}
