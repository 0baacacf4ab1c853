"""What a character is to a tokenizer that goes by rules: one letter for each class, so that rules are patterns of them.

a A o   letters: lower case, upper case, of scripts without case     1   digits and other numbers
m       marks and joiners, which belong to the character before      h   ideographs
g k t   Hiragana, Katakana, scripts of South-East Asia that are written without spaces
' - _ . , : / & @ "   themselves and their like                      ( ) brackets and quotation marks
!       ends a sentence if what follows does not go on in lower case, as `.` does more rarely
Z       always ends a sentence                                       e   an ellipsis
* F     pictures, letters of flags                                   p   anything else, and a space for all white space
"""

from __future__ import annotations

import unicodedata

SAME = {
    "'": "'’ʼ＇",
    "-": "-‐‑",
    ".": ".",
    ",": ",٬٫",
    ":": ":",
    "/": "/⁄",
    "&": "&",
    "@": "@#",
    '"': '"＂',
    "!": "!?",
    "e": "…",
    # CJK; Arabic, Urdu, Syriac; Indic; Ethiopic; Burmese, Khmer, Thai; Armenian; Greek; Tibetan; Mongolian; others
    "Z": "。｡．！？‼⁇⁈⁉؟۔܀܁܂।॥෴።፧፨။។៕๚๛։՞\u037e༎༏༐༑᠃᠉᙮⸮⸼꓿꘎꛳꛷𑁇𑁈",
}
NO_SPACES = ("THAI", "LAO", "KHMER", "MYANMAR", "TAI", "NEW")
CATEGORIES = {
    "Ll": "a", "Lu": "A", "Lt": "A", "Lo": "o", "Lm": "o", "Nd": "1", "Nl": "1", "No": "1", "Mn": "m", "Mc": "m",
    "Me": "m", "Cf": "m", "Pc": "_", "Pd": "p", "Ps": "(", "Pi": "(", "Pe": ")", "Pf": ")", "So": "*",
}  # fmt: skip
FLAGS = range(0x1F1E6, 0x1F200)
SKIN_COLOURS = range(0x1F3FB, 0x1F400)


class Classes(dict[int, str]):
    """The class of each character by its number, for `str.translate`."""

    def __missing__(self, number: int) -> str:
        result = self[number] = _class(chr(number))
        return result


def _class(character: str) -> str:
    number = ord(character)
    if character.isspace():
        return " "
    if number in FLAGS:
        return "F"
    if number in SKIN_COLOURS:
        return "m"
    category = unicodedata.category(character)
    if category in ("Lo", "Lm", "Mn", "Mc", "Nl"):
        return _script(character) or CATEGORIES[category]
    return CATEGORIES.get(category, "p")


def _script(character: str) -> str:
    """The class of a letter or mark of a script that is written without spaces."""
    name = unicodedata.name(character, "")
    if name.startswith(("CJK UNIFIED", "CJK COMPATIBILITY", "IDEOGRAPHIC", "NUSHU", "YI SYLLABLE", "TANGUT")):
        return "h"
    if name.startswith(("KATAKANA", "HALFWIDTH KATAKANA")):
        return "k"
    if name.startswith("HIRAGANA"):
        return "g"
    return "t" if name.partition(" ")[0] in NO_SPACES else ""


CLASSES = Classes({ord(character): name for name, characters in SAME.items() for character in characters})


def shape(text: str) -> str:
    """The classes of a text's characters.

    >>> shape("Dr. Smith, 3 水!")
    'Aa. Aaaaa, 1 h!'
    """
    return text.translate(CLASSES)
