"""A tokenizer for any language that goes by rules: for models without a trained one.

Words end at white space and punctuation. Numbers, abbreviations, addresses, emoticons and pictures stay whole; words
with hyphens too. Of words with an apostrophe, short forms of some European languages are cut off (`l'`, `n't`,
`'s`). Scripts without spaces are cut where the script changes, and ideographs one by one; only a tokenizer trained on
trees can do better there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from .character_classes import shape
from .plain_text import Token, Tokenizer

# What is found by its own characters: addresses, mail, emoticons, and the same mark again and again.
SPECIAL = re.compile(
    r"""(?:https?|ftp)://[!-~]+ | \bwww\.[!-~]+
    | (?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+
    | (?<![\w)])(?:[:;=]['^-]?[)(\]\[DPpOo/|\\*]+|<3+|\^_*\^)(?!\w)
    | [!?]{2,} | ([^\w\s()\[\]{}<>«»„“”\u3000-\u303f])\1+""",
    re.VERBOSE,
)
AFTER_AN_ADDRESS = ".,;:!?'\"*)]}>"
PIECE = r"[aAo1_]m*"
NUMBER = r"1m*+(?:[.,:/']?1m*+)*+"  # all of it: what follows may not have a digit back
JOINED = rf"(?:{PIECE})+(?:[-'&](?:{PIECE})+)*(?:\.(?=a)(?:{PIECE})+)*"
WORD = re.compile(
    rf"""(?:[aAo]m*\.){{2,}}(?:[aAo]m*(?![aAo]))?           # U.S., e.g.
    | [aAo]{{1,3}}(?:\.[aAo]{{1,3}})+\.                     # bl.a., z.B.
    | {NUMBER}(?!'?[aAo_])                                  # 1,000.50, 10:30
    | {NUMBER}'?{JOINED}                                    # 1990s, 12.5kg
    | @(?:{PIECE})+                                         # @name, #tag
    | {JOINED}
    | t[tm]* | g[gm]* | k[km]* | hm*
    | FF | \*(?:m+\*|m)*                                    # a flag, a picture
    | \Sm*""",
    re.VERBOSE,
)
SHORT_FORM = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m|r|n|i|u|w|ch|th))$", re.IGNORECASE)  # English, Welsh
ELISION = re.compile(  # French, Italian, Catalan
    r"(?:[^\W\d_go]|qu|jusqu|lorsqu|puisqu|quoiqu|quelqu|un|all|dall|dell|nell|sull|coll|quell|quest|sant|gl)['’]",
    re.IGNORECASE,
)
VOWELS = re.compile(r"[aeiouyæœøı]")


class RuleTokenizer(Tokenizer):
    """Cuts text of any language into sentences and words, by rules.

    >>> for sentence in RuleTokenizer().sentences("Dr. Smith doesn't know. «L'homme?» Yes!"):
    ...     print(sentence.words)
    ['Dr.', 'Smith', 'does', "n't", 'know', '.']
    ['«', "L'", 'homme', '?', '»']
    ['Yes', '!']
    """

    kind = "rules for all languages"

    def tokens(self, text: str) -> list[list[Token]]:
        classes = shape(text)
        return _Sentences(text, classes, list(_words(text, classes))).found()


def _words(text: str, classes: str) -> Iterator[Token]:
    place = 0
    for match in SPECIAL.finditer(text):
        start, end = match.span()
        if start < place:
            continue
        if "://" in match[0] or match[0].startswith("www."):
            end = start + len(_without_punctuation(match[0]))
        yield from _ordinary(text, classes, place, start)
        yield Token(start, end)
        place = end
    yield from _ordinary(text, classes, place, len(text))


def _without_punctuation(address: str) -> str:
    while address[-1] in AFTER_AN_ADDRESS and not (address[-1] == ")" and address.count("(") >= address.count(")")):
        address = address[:-1]
    return address


def _ordinary(text: str, classes: str, start: int, end: int) -> Iterator[Token]:
    for match in WORD.finditer(classes, start, end):
        first, last = match.span()
        cut = _cut(text[first:last]) if "'" in match[0] and "a" in match[0].lower() else 0
        if cut:
            yield Token(first, first + cut)
        yield Token(first + cut, last)


def _cut(word: str) -> int:
    """Where a short form begins or ends in a word of Latin letters; 0 if there is none."""
    if not unicodedata.name(word[0], "").startswith(("LATIN", "DIGIT")):
        return 0
    short = SHORT_FORM.search(word)
    if short and short.start() > 0:
        return short.start()
    elision = ELISION.match(word)
    return elision.end() if elision and elision.end() < len(word) else 0


class _Sentences:
    """Where sentences end among the tokens of a paragraph."""

    def __init__(self, text: str, classes: str, tokens: list[Token]):
        self.text, self.classes, self.tokens = text, classes, tokens

    def found(self) -> list[list[Token]]:
        result: list[list[Token]] = []
        sentence: list[Token] = []
        place = 0
        while place < len(self.tokens):
            token = self.tokens[place]
            if self._abbreviates(place) and sentence:
                sentence[-1] = Token(sentence[-1].start, token.end)
                place += 1
                continue
            sentence.append(token)
            place += 1
            end = self._end(place - 1, is_first=len(sentence) <= 2)
            if end:
                sentence += self.tokens[place:end]
                place = end
                result.append(sentence)
                sentence = []
        return [*result, sentence] if sentence else result

    def _starts(self, place: int) -> str:
        """The class of a token's first character; nothing at the end of the text."""
        return self.classes[self.tokens[place].start] if place < len(self.tokens) else ""

    def _touches(self, place: int) -> bool:
        """Whether there is no space between a token and the one before it."""
        return 0 < place < len(self.tokens) and self.tokens[place - 1].end == self.tokens[place].start

    def _opening(self, place: int) -> str:
        """The class of the next character that is no opening bracket or quotation mark."""
        while self._starts(place) in ("(", '"', "'", "-"):
            place += 1
        return self._starts(place)

    def _abbreviates(self, place: int) -> bool:
        """Whether a token is a point that belongs to the word before it."""
        token = self.tokens[place]
        if self.text[token.start : token.end] != "." or not self._touches(place):
            return False
        word = self.text[self.tokens[place - 1].start : self.tokens[place - 1].end]
        if not word[-1].isalpha():
            return False
        after = self._starts(place + 1)
        if self._touches(place + 1):
            return after in (",", ":", "-", "/") or self.text[token.end] == ";"
        if after == "":
            return False
        letters = unicodedata.normalize("NFD", word).lower()
        if len(word) == 1:
            return word.isupper() and word != "I"
        if after == "a":
            return True
        if after == "1":
            return len(word) <= 3
        is_latin = unicodedata.name(word[0], "").startswith("LATIN")
        return is_latin and len(word) <= 4 and not word.isupper() and not VOWELS.search(letters)

    def _end(self, place: int, is_first: bool) -> int:
        """The place after the sentence that ends with this token and what closes behind it; 0 if it does not end."""
        token, kind = self.tokens[place], self._starts(place)
        text = self.text[token.start : token.end]
        if text == ";" and place > 0 and "GREEK" in unicodedata.name(self.text[token.start - 1], ""):
            kind = "!"  # a question mark
        if kind not in (".", "!", "e", "Z") or (kind != "Z" and re.search(r"\w", text)):
            return 0
        if text == "." and is_first and self._follows_number(place):
            return 0
        after = place + 1
        has_closed = False
        while self._touches(after) and self._starts(after) in (")", '"', "'", ".", "!", "e", "Z"):
            has_closed = has_closed or self._starts(after) == ")"
            after += 1
        if after == len(self.tokens):
            return after
        if kind == "Z":
            is_quoted = has_closed and self._touches(after) and self._starts(after) == "g"  # 「…。」と
            return 0 if is_quoted else after
        if self._touches(after):
            before = self.classes[token.start - 1] if token.start else ""
            return after if before == "a" and self._starts(after) == "A" else 0
        return 0 if self._opening(after) == "a" or self._starts(after) in (",", ":") else after

    def _follows_number(self, place: int) -> bool:
        """As in `1. First`, at the beginning of a sentence."""
        return self._touches(place) and self._starts(place - 1) == "1"
