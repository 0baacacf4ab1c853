"""Reading sentences: CoNLL-U and CoNLL-X line by line, and plain text with one tokenised sentence a line."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

from .files import lines, name_of
from .formats import BYTE_ORDER_MARK, TEXT, beginning, detect, named
from .problems import CorpusError, Problem, Reporter, refuse
from .rows import Rows
from .sentence import Sentence

SPACES = str.maketrans("\t\r\n", "   ")  # of plain text
SPACE = 0x20  # no byte of a blank line is above it


def read(path: str | Path, kind: str | None = None, report: Reporter = refuse) -> Iterator[Sentence]:
    """The sentences of a file, one after the other (nothing else is held in memory).

    `kind` is "conllu" (also CoNLL-X), "text", or None to find out from the name or the first lines. What cannot be read
    as a sentence is given to `report`, which raises unless told otherwise, and left out.
    """
    stream = lines(path)
    kind = kind or named(path)
    if kind is None:
        start = beginning(stream)
        kind, stream = detect(start), itertools.chain(start, stream)
    reader = read_text if kind == TEXT else read_conllu
    return reader(stream, name_of(path), report)


def read_conllu(stream: Iterable[bytes], path: str = "<memory>", report: Reporter = refuse) -> Iterator[Sentence]:
    """Sentences of CoNLL-U lines.

    Blank lines belong to the sentence before them; comments without a sentence are kept by the next one, or by the
    last one of the file.
    """
    loose: list[str] = []
    width = 0  # columns of all rows, once a sentence has been read
    last: Sentence | None = None  # it waits for what comes after it
    for first, block in _blocks(stream):
        if _is_loose(block):
            loose += _loose(block, path, first, report)
            continue
        if last is not None:
            yield last
        last = _sentence(block, path, first, report, width)
        if last is not None:
            width = len(last.columns[0])
            last.before, loose = "".join(loose), []
    if last is not None:
        last.after = "".join(loose)
        yield last


def _blocks(stream: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Lines up to the blank ones after them, with the number of the first."""
    block: list[bytes] = []
    first = 1
    is_complete = has_text = False  # complete: a blank line after text; further ones still belong to this block
    for number, line in enumerate(stream, 1):
        if line[0] <= SPACE and not line.strip():
            is_complete = has_text
        else:
            if is_complete:
                yield first, block
                block, first, is_complete = [], number, False
            has_text = True
        block.append(line)
    if block:
        yield first, block


def _is_loose(block: list[bytes]) -> bool:
    """Whether there is nothing but comments and blank lines; looked at from the end, where a sentence has its words."""
    texts = (line.removeprefix(BYTE_ORDER_MARK) for line in reversed(block))
    return all(text.startswith(b"#") or not text.strip() for text in texts)


def _loose(block: list[bytes], path: str, first: int, report: Reporter) -> list[str]:
    rows = _decoded(block, path, first, report)
    if rows is None:
        return []
    if any(line.lstrip("\ufeff").strip() for line in rows):
        message = "comments without a sentence; if they belong to the next one, remove the blank line after them"
        report(Problem(path, first, message, is_error=False))
    return rows


def _decoded(block: list[bytes], path: str, first: int, report: Reporter) -> list[str] | None:
    try:
        return [line.decode("utf-8") for line in block]
    except UnicodeDecodeError:
        _report_encoding(block, path, first, report)
        return None


def _sentence(block: list[bytes], path: str, first: int, report: Reporter, width: int) -> Sentence | None:
    rows = _decoded(block, path, first, report)
    if rows is None:
        return None
    found = Rows(width)
    columns, places = found.columns, found.places
    for place, line in enumerate(rows):
        if line[0] == "#" or (place == 0 and line.startswith("\ufeff#")):
            if columns:
                message = "a comment inside a sentence; comments come before the words"
                report(Problem(path, first + place, message, is_error=False))
            continue
        row = line.rstrip("\r\n").split("\t")
        if len(row) == found.width and row[0] == str(len(columns) + 1):  # an ordinary word
            places.append(place)
            columns.append(row)
        elif line.lstrip("\ufeff").strip():
            problem = found.look_closer(row, place)
            if problem:
                report(Problem(path, first + place, problem, Sentence(rows, [], []).sent_id))
                return None
    problem, place = found.problem_of_all()
    if problem:
        report(Problem(path, first + place, problem, Sentence(rows, [], []).sent_id))
        return None
    return Sentence(rows, places, columns, path, first)


def wrong_encoding(block: Iterable[bytes], path: str, first: int) -> Problem | None:
    """What to say of the first line that is not UTF-8, if there is one."""
    for place, line in enumerate(block):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            source = "utf-16" if line.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin1"
            message = (
                f"byte {error.object[error.start]:#x} at position {error.start + 1} is not UTF-8; "
                f"convert the file first, for example: iconv -f {source} -t utf-8"
            )
            return Problem(path, first + place, message)
    return None


def _report_encoding(block: list[bytes], path: str, first: int, report: Reporter) -> None:
    problem = wrong_encoding(block, path, first)
    assert problem is not None
    report(problem)


def read_text(stream: Iterable[bytes], path: str = "<memory>", report: Reporter = refuse) -> Iterator[Sentence]:
    """Sentences of plain text: a line each, words separated by spaces or tabs; a sent_id is the number of its line.

    Blank lines are passed over.
    """
    for number, line in enumerate(stream, 1):
        try:
            text = line.decode("utf-8").removeprefix("\ufeff" if number == 1 else "")
        except UnicodeDecodeError:
            _report_encoding([line], path, number, report)
            continue
        words = [word for word in text.translate(SPACES).split(" ") if word]
        if words:
            yield Sentence.from_words(words, [f"sent_id = {number}", f"text = {' '.join(words)}"], path, number)


def read_all(paths: Iterable[str | Path], kind: str | None = None, report: Reporter = refuse) -> Iterator[Sentence]:
    """The sentences of several files, fit to be written one after the other; a file without any is an error."""
    paths = list(paths)
    for place, path in enumerate(paths):
        number = 0
        for number, sentence in enumerate(read(path, kind, report), 1):
            if number == 1 and place > 0:
                sentence = sentence.without_mark()
            if sentence.after and place < len(paths) - 1:
                sentence.after = _with_blank_line(sentence.after)
            yield sentence
        if number == 0:
            report(Problem(name_of(path), 0, "no sentence in it"))


def of_one_width(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """The same sentences, an error if their rows have not as many columns: in one file nobody could read them."""
    width = 0
    for sentence in sentences:
        columns = len(sentence.columns[0]) if sentence.columns else width
        width = width or columns
        if columns != width:
            message = f"{columns} columns, but the sentences before have {width}; write them to a file of their own"
            raise CorpusError(str(sentence.problem(message)))
        yield sentence


def write(sentence: Sentence) -> bytes:
    """The sentence as bytes, with a blank line at its end."""
    text = sentence.text()
    return (text if sentence.after else _with_blank_line(text)).encode("utf-8")


def _with_blank_line(text: str) -> str:
    end = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    if not text.endswith("\n"):
        text += end
    last_line = text[:-1].rpartition("\n")[2]
    return text + end if last_line.strip() else text
