"""How wide text is, in columns of a terminal and in a sans-serif font, and which way it runs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

LONGEST_DRAWN = 60  # letters of a word in a picture
NARROW, BROAD = frozenset("iIjlftr.,:;!'|()[]{}/\\`· "), frozenset("mwMW@%&—…")


def columns(text: str) -> int:
    """Columns a terminal gives the text: two for wide characters (Chinese, emoji), none for combining marks.

    >>> columns("dog"), columns("犬"), columns("cafe\u0301")
    (3, 2, 4)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0  # marks, joiners, and the vowels and finals that complete a Korean syllable
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def padded(text: str, width: int) -> str:
    """The text with spaces up to a number of columns."""
    return text + " " * (width - columns(text))


def ems(text: str) -> float:
    """About how wide the text is in a sans-serif font, in ems; no font is asked."""
    return sum(map(_ems, text))


def _ems(character: str) -> float:
    if character in NARROW:
        return 0.36
    if character in BROAD:
        return 0.95
    width = _columns(character)
    return 0.74 if width == 1 and character.isupper() else (0.0, 0.61, 1.02)[width]


def is_right_to_left(words: Iterable[str]) -> bool:
    """Whether most letters are of a script such as Arabic or Hebrew.

    >>> is_right_to_left(["שלום", "2"]), is_right_to_left(["peace"])
    (True, False)
    """
    directions = [unicodedata.bidirectional(character) for word in words for character in word]
    return sum(direction in ("R", "AL") for direction in directions) > directions.count("L")


def printable(text: str) -> str:
    """The text with white space as one space and other control characters as replacement characters.

    Neither a terminal nor XML takes them as they are.
    """
    if text.isprintable():
        return text
    is_bad = (unicodedata.category(c) in ("Cc", "Cs", "Cn") and not c.isspace() for c in text)
    return "".join("\ufffd" if bad else " " if c.isspace() else c for c, bad in zip(text, is_bad, strict=True))


def drawable(word: str) -> str:
    """A word as pictures have it, which name it many times: printable, and the beginning of it if it is very long.

    >>> drawable("x" * 100)[-3:], len(drawable("x" * 100)), drawable("dog")
    ('xx…', 60, 'dog')
    """
    return printable(word if len(word) <= LONGEST_DRAWN else word[: LONGEST_DRAWN - 1] + "…")
