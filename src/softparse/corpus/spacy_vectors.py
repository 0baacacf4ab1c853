"""The word vectors inside a spaCy pipeline, read without spaCy.

A pipeline keeps a matrix (`vectors`, a NumPy file), a map from keys to its rows (`key2row`, in MessagePack), and a list
of strings (`strings.json`). The key of a string is its hash, so the strings are hashed to find their rows. Many words
share a row: the matrix has been pruned to the most frequent ones, the others point to the nearest of them.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator

import numpy as np

from .problems import CorpusError
from .vectors import format_rows

MASK = (1 << 64) - 1
MULTIPLIER, SHIFT, SEED = 0xC6A4A7935BD1E995, 47, 1
INTEGERS = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}  # bytes after each tag of an unsigned integer in MessagePack

# fmt: off
# spaCy numbers the names of its own attributes and labels instead of hashing them, and some of them are words, in
# French a frequent one.
SYMBOLS = {
    64: "ID", 68: "SHAPE", 72: "CLUSTER", 74: "POS", 75: "TAG", 76: "DEP", 79: "HEAD", 83: "LANG", 84: "ADJ",
    85: "ADP", 86: "ADV", 87: "AUX", 90: "DET", 93: "NUM", 94: "PART", 99: "SYM", 101: "X", 102: "EOL",
    103: "SPACE", 383: "ORG", 384: "GPE", 385: "LOC", 386: "PRODUCT", 387: "EVENT", 389: "LANGUAGE", 390: "LAW",
    391: "DATE", 392: "TIME", 394: "MONEY", 397: "CARDINAL", 401: "agent", 403: "appos", 405: "aux", 407: "cc",
    410: "conj", 411: "cop", 414: "dep", 415: "det", 417: "expl", 423: "mark", 424: "meta", 425: "neg",
    427: "nn", 431: "num", 432: "number", 434: "obj", 435: "obl", 440: "poss", 441: "possessive", 443: "prep",
    444: "prt", 449: "root", 451: "acl", 455: "IDX", 456: "_",
}
# fmt: on


def spacy_rows(archive: zipfile.ZipFile, folder: str) -> Iterator[tuple[str, bytes]]:
    """The words of a pipeline's vocabulary folder and their numbers, words of the same row one after the other."""
    words = {key_of(word): word for word in json.loads(archive.read(f"{folder}/strings.json"))}
    words |= SYMBOLS
    rows = read_integers(archive.read(f"{folder}/key2row"), f"{folder}/key2row")
    matrix = np.load(io.BytesIO(archive.read(f"{folder}/vectors")), allow_pickle=False)
    named = [(row, words[key]) for key, row in rows.items() if key in words and words[key].strip()]
    named.sort(key=lambda pair: pair[0])  # stable, and equal rows side by side pack well
    last, numbers, formatted = -1, b"", format_rows(matrix)
    for row, word in named:
        while last < row:
            last, numbers = last + 1, next(formatted)
        yield word, numbers


def key_of(word: str) -> int:
    """The key of a string: MurmurHash64A of its UTF-8.

    >>> key_of("coffee")
    3197928453018144401
    """
    data = word.encode("utf-8", "surrogatepass")
    value = SEED ^ (len(data) * MULTIPLIER & MASK)
    whole = len(data) & ~7
    for start in range(0, whole, 8):
        block = int.from_bytes(data[start : start + 8], "little") * MULTIPLIER & MASK
        block = (block ^ (block >> SHIFT)) * MULTIPLIER & MASK
        value = (value ^ block) * MULTIPLIER & MASK
    if len(data) > whole:
        value = (value ^ int.from_bytes(data[whole:], "little")) * MULTIPLIER & MASK
    value = (value ^ (value >> SHIFT)) * MULTIPLIER & MASK
    return value ^ (value >> SHIFT)


def read_integers(data: bytes, name: str = "<memory>") -> dict[int, int]:
    """A MessagePack map from unsigned integers to unsigned integers.

    >>> read_integers(bytes([0x82, 7, 0xCC, 200, 0xCD, 1, 0, 3]))
    {7: 200, 256: 3}
    """
    place = 0

    def integer(width: int) -> int:
        nonlocal place
        place += width
        if place > len(data):
            raise CorpusError(f"{name}: ends in the middle of a number; get the file anew")
        return int.from_bytes(data[place - width : place], "big")

    def value() -> int:
        tag = integer(1)
        if tag < 0x80:
            return tag
        if tag not in INTEGERS:
            raise CorpusError(f"{name}: tag {tag:#x} at byte {place - 1} is not that of an unsigned integer")
        return integer(INTEGERS[tag])

    tag = integer(1)
    if tag & 0xF0 == 0x80:
        count = tag & 0x0F
    elif tag in (0xDE, 0xDF):
        count = integer(2 if tag == 0xDE else 4)
    else:
        raise CorpusError(f"{name}: tag {tag:#x} at its start is not that of a map")
    return {value(): value() for _ in range(count)}
