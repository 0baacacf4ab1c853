"""A labelled tree for LaTeX, with the package tikz-dependency."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .tree import Arc, arcs_of, check_tree, levels
from .tree_layout import shown, spaces
from .width import is_right_to_left, printable

ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\symbol{38}",  # \& separates the words in tikz-dependency
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
UNIT = 3.0  # height of an arc over another
LIGATURES = re.compile(r"(?<=([-',]))(?=\1)")  # -- would become a dash, '' a quotation mark
MIRRORED = str.maketrans("()[]{}<>«»‹›", ")(][}{><»«›‹")
BEFORE = r"""% Compile with lualatex if there is anything but Latin letters, in a font that has them.
\documentclass[border=4pt]{standalone}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage{lmodern}
\else
  \usepackage{fontspec}
  % \setmainfont{Noto Serif}
\fi
"""
BOTH_DIRECTIONS = r"""\ifLuaTeX
  \usepackage[english,bidi=basic]{babel}
\fi
"""
INSIDE = r"""\usepackage{tikz-dependency}
\begin{document}
"""
AFTER = r"""
\end{document}
"""


def tree_tikz(words: Sequence[str], heads: Sequence[int], labels: Sequence[str], standalone: bool = False) -> str:
    r"""A `dependency` environment, or with `standalone` a whole document. Unknown heads (-1) have no arc; scripts from
    the right have their first word on the right.

    >>> print(tree_tikz(["They", "walk"], [2, 0], ["nsubj", "root"]))
    \begin{dependency}
      \begin{deptext}[column sep=1em]
        They \& walk \\
      \end{deptext}
      \depedge[edge height=3ex]{2}{1}{nsubj}
      \deproot[edge height=9ex]{2}{root}
    \end{dependency}
    """
    check_tree(words, heads, labels)
    right_to_left = is_right_to_left(words)

    def column(word: int) -> int:
        return len(words) + 1 - word if right_to_left else word

    heights = levels(arcs_of(heads))
    lines = [r"\begin{dependency}", r"  \begin{deptext}[column sep=1em]"]
    lines += [rf"    {_row(words, spaces(words, heads, labels), right_to_left)} \\", r"  \end{deptext}"]
    for word, (head, label) in enumerate(zip(heads, labels, strict=True), 1):
        name = escaped(shown(label))
        options = "" if name else "hide label, "
        if head > 0:
            height = UNIT * heights[Arc(head, word)]
            lines.append(
                rf"  \depedge[{options}edge height={height:g}ex]{{{column(head)}}}{{{column(word)}}}{{{name}}}"
            )
        elif head == 0:
            height = UNIT * (max(heights.values(), default=0) + 2)
            lines.append(rf"  \deproot[{options}edge height={height:g}ex]{{{column(word)}}}{{{name}}}")
    lines.append(r"\end{dependency}")
    tree = "\n".join(lines)
    return BEFORE + (BOTH_DIRECTIONS if right_to_left else "") + INSIDE + tree + AFTER if standalone else tree


def _row(words: Sequence[str], between: Sequence[float], right_to_left: bool) -> str:
    """The words from left to right, with more room where labels need it."""
    cells = [_cell(word, right_to_left) for word in words]
    separators = [r"\&" + (f"[{space - 1:.1f}em]" if space >= 1.05 else "") for space in between]
    if right_to_left:
        cells.reverse()
        separators.reverse()
    return " ".join(part for pair in zip(cells, (*separators, ""), strict=False) for part in pair if part)


def escaped(text: str) -> str:
    """Text in which no character means anything to LaTeX.

    >>> print(escaped("50% of A_1 & {B}"))
    50\\% of A\\_1 \\symbol{38} \\{B\\}
    """
    return "".join(ESCAPED.get(c, c) for c in LIGATURES.sub("\0", printable(text))).replace("\0", "{}")


def _cell(word: str, right_to_left: bool) -> str:
    """Braces keep a word in brackets or bars from being read as options of its cell."""
    if right_to_left and not any(character.isalnum() for character in word):
        word = word.translate(MIRRORED)  # nothing in it tells LaTeX which way to turn brackets
    text = escaped(word)
    return text if text[:1].isalnum() else f"{{{text}}}"
