"""Paragraphs of a file of running text, in parts, so that not even a file of a single line has to be held in memory.

A blank line ends a paragraph. Where lines are not broken to fit a page, as in most collections of text, every line is a
paragraph; this is told by their length: beside a line of more than `LONG_LINE` characters, a line end is the end of a
paragraph, otherwise it is like a space.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from .conllu import wrong_encoding
from .problems import CorpusError

LONGEST_PART = 8_192  # bytes
LONG_LINE = 200  # characters


class Part(NamedTuple):
    """Some text of a paragraph, and whether it is the last of it."""

    text: str
    line: int
    is_last: bool


class _Piece(NamedTuple):
    """A line, or some of it."""

    text: str
    line: int
    is_long: bool  # whether the line is long, as far as it is known

    @property
    def ends_line(self) -> bool:
        return self.text.endswith("\n")


def parts(file: BinaryIO, path: str = "<memory>") -> Iterator[Part]:
    """The text of a file; blank lines are left out."""
    waiting: _Piece | None = None
    for piece in _pieces(file, path):
        is_blank = not piece.text.strip()
        if waiting is not None:
            ends = is_blank or (waiting.ends_line and (waiting.is_long or piece.is_long))
            yield Part(waiting.text, waiting.line, ends and waiting.ends_line)
        waiting = None if is_blank and (waiting is None or waiting.ends_line) else piece
    if waiting is not None:
        yield Part(waiting.text, waiting.line, True)


def _pieces(file: BinaryIO, path: str) -> Iterator[_Piece]:
    """Lines, long ones in several pieces."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, length = 1, 0
    while data := _read(file, path):
        try:
            text = decoder.decode(data, final=data.endswith(b"\n"))
        except UnicodeDecodeError as error:
            raise CorpusError(str(wrong_encoding([error.object], path, line))) from None
        if line == 1 and length == 0:
            text = text.removeprefix("\ufeff")
        length += len(text)
        if text:
            yield _Piece(text, line, length > LONG_LINE)
        if text.endswith("\n"):
            line, length = line + 1, 0
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise CorpusError(str(wrong_encoding([error.object], path, line))) from None


def _read(file: BinaryIO, path: str) -> bytes:
    try:
        return file.readline(LONGEST_PART)
    except (EOFError, zlib.error, OSError) as error:  # as in `files.lines`
        raise CorpusError(f"{path}: cannot be read to its end ({error})") from None
