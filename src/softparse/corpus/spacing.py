"""Where a treebank has spaces between its tokens: what a tokenizer can be trained on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .sentence import Sentence


def spaces_after(sentence: Sentence) -> tuple[list[tuple[str, int]], list[bool]]:
    """Tokens with the number of words in each, and whether there is a space after each: from `# text` where it fits
    the tokens, otherwise from MISC.

    >>> sentence = Sentence.from_words(["It", "rains", "."], ["text = It rains."])
    >>> spaces_after(sentence)
    ([('It', 1), ('rains', 1), ('.', 1)], [True, False, True])
    """
    tokens, marked = _surface(sentence)
    text = next((value for name, value in _comments(sentence) if name == "text"), None)
    spaces = _aligned([form for form, _ in tokens], text) if text and tokens else None
    if spaces is None:
        return tokens, marked
    return tokens, [*spaces[:-1], marked[-1]]  # what comes after the last one is not in it


def _surface(sentence: Sentence) -> tuple[list[tuple[str, int]], list[bool]]:
    """The tokens of a sentence as they are written, and where MISC has a space after them."""
    tokens: list[tuple[str, int]] = []
    spaces: list[bool] = []
    covered = 0  # words of the last range
    for line in sentence.without_mark().lines:
        row = line.rstrip("\r\n").split("\t")
        if line.startswith("#") or len(row) != 10 or "." in row[0]:
            continue
        first, dash, last = row[0].partition("-")
        if dash:
            covered = int(last)
            tokens.append((row[1], int(last) - int(first) + 1))
        elif int(first) > covered:
            tokens.append((row[1], 1))
        else:
            continue
        spaces.append("SpaceAfter=No" not in row[9].split("|"))
    return tokens, spaces


def _comments(sentence: Sentence) -> Iterator[tuple[str, str]]:
    for line in sentence.without_mark().lines:
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            yield name.strip(), value.strip()


def _aligned(forms: list[str], text: str) -> list[bool] | None:
    """Whether there is a space after each of these forms in a text; None if they are not the text."""
    spaces = []
    place = 0
    for form in forms:
        if not text.startswith(form, place):
            return None
        place += len(form)
        rest = len(text) - place - len(text[place:].lstrip())
        spaces.append(rest > 0)
        place += rest
    return spaces if place == len(text) else None


def with_spaces(sentences: Iterable[Sentence]) -> tuple[str, int]:
    """The tokens of sentences as CoNLL-U with SpaceAfter=No, and nothing else but where paragraphs begin; and how many
    of them have no space after them though another one of their sentence follows."""
    blocks = []
    joined = 0
    for sentence in sentences:
        tokens, spaces = spaces_after(sentence)
        lines = ["# newpar\n"] if _begins_paragraph(sentence) else []
        words = iter(sentence.words)
        number = 1
        for (form, size), has_space in zip(tokens, spaces, strict=True):
            misc = "_" if has_space else "SpaceAfter=No"
            if size > 1:
                lines.append(_row(f"{number}-{number + size - 1}", form, misc))
                misc = "_"
            for _ in range(size):
                lines.append(_row(str(number), next(words), misc))
                number += 1
        joined += spaces[:-1].count(False)
        if tokens:
            blocks.append("".join([*lines, "\n"]))
    return "".join(blocks), joined


def _begins_paragraph(sentence: Sentence) -> bool:
    return any(name.startswith(("newdoc", "newpar")) for name, _ in _comments(sentence))


def _row(identifier: str, form: str, misc: str) -> str:
    return "\t".join([identifier, form, *["_"] * 7, misc]) + "\n"


def running_text(sentences: Iterable[Sentence]) -> str:
    """The text that sentences were cut from, with a blank line before every paragraph that is marked."""
    pieces: list[str] = []
    for sentence in sentences:
        tokens, spaces = spaces_after(sentence)
        if pieces and _begins_paragraph(sentence):
            pieces.append("\n\n")
        pieces += [form + " " * has_space for (form, _), has_space in zip(tokens, spaces, strict=True)]
    return "".join(pieces)
