"""External word vectors: text or binary word2vec files, packed or not, read row by row."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import zlib
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn

import numpy as np

from .files import name_of, opened, written
from .problems import CorpusError, Problem

CHUNK = 1 << 22  # bytes of a binary file in memory at a time
LONGEST_WORD = 1 << 16  # bytes; beyond it a binary file is taken to be damaged
NUMBERS = frozenset(b"0123456789+-.,_/() \t\r\nabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
FOREIGN = {
    b"PK\x03\x04": "a zip archive; unpack it and give the file in it",
    b"\xba\x16\x4f\x2f": "a fastText model; give the .vec file that comes with it",
    b"\x93NUMPY": "a NumPy array, which has no words; give a text or word2vec file",
}


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words and their vectors: row i of `matrix` (float32) belongs to `words[i]`."""

    words: list[str]
    matrix: np.ndarray  # [words, dimension]
    skipped: int = 0  # rows left out because their word is empty or not UTF-8
    doubtful: tuple[Problem, ...] = ()  # rows that are perhaps too long: their word would end in a number

    @property
    def dimension(self) -> int:
        return self.matrix.shape[1]


class _Kept:
    """The rows to keep: wanted ones, the first of each word; nothing else of the file stays in memory."""

    def __init__(self, wanted: Collection[str] | None, first: int):
        self.wanted = wanted if wanted is None else set(wanted)
        self.unconditional = first  # so many rows are kept, wanted or not
        self.seen: set[str] = set()
        self.words: list[str] = []
        self.values = array("f")
        self.lines = array("q")
        self.skipped = 0
        self.doubtful: list[Problem] = []

    def takes(self, word: bytes) -> bool:
        """Whether the row of this word is kept; if so, its values and line come next."""
        try:
            text = str(word, "utf-8")
        except UnicodeDecodeError:
            text = ""
        if not text:
            self.skipped += 1
            return False
        if text in self.seen:
            return False
        if self.unconditional > 0:
            self.unconditional -= 1
        elif self.wanted is not None and text not in self.wanted:
            return False
        self.seen.add(text)
        self.words.append(text)
        return True


def read_vectors(path: str | Path, wanted: Collection[str] | None = None, first: int = 0) -> Vectors:
    """The vectors of the wanted words (None: of all words), in the order of the file.

    The first rows of the file, so many as `first` says, are kept too: frequent words mostly come first.

    Text has a word and its numbers on each line, with or without a first line of two counts; binary is the format of
    word2vec. Either may be packed with gzip. Words may contain spaces in text: the numbers are counted from the right.
    Of a word given twice, the first row counts. Spelling is the caller's business: a form is found only as it is
    written in `wanted`.
    """
    name, kept = name_of(path), _Kept(wanted, first)
    with _reading(path) as file:
        start = file.readline().removeprefix(b"\xef\xbb\xbf")
        for magic, what in FOREIGN.items():
            if start.startswith(magic):
                raise CorpusError(f"{name}: {what}")
        header = _header(start)
        if header is None:
            dimension = _read_text(itertools.chain([start], file), name, kept)
        else:
            rows, dimension = header
            sample = file.read(LONGEST_WORD + 4 * dimension)
            if _is_binary(sample, dimension):
                _read_binary(file, sample, name, kept, rows, dimension)
            else:
                rest = io.BytesIO(sample + file.readline())
                _read_text(itertools.chain(rest, file), name, kept, rows, dimension)
    matrix = np.frombuffer(kept.values, dtype=np.float32).reshape(len(kept.words), dimension)
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        row = int(finite.argmin())
        message = f"the vector of {kept.words[row]!r} has a number that is not finite in single precision"
        raise CorpusError(str(Problem(name, kept.lines[row], f"{message}; remove or mend the row")))
    return Vectors(kept.words, matrix, kept.skipped, tuple(kept.doubtful))


@contextlib.contextmanager
def _reading(path: str | Path) -> Iterator[BinaryIO]:
    with opened(path) as file:
        try:  # lines of a packed file are found faster behind a buffer of its own
            yield io.BufferedReader(file, 1 << 20) if isinstance(file, gzip.GzipFile) else file
        except (EOFError, gzip.BadGzipFile, zlib.error, OSError) as error:
            raise CorpusError(f"{name_of(path)}: cannot be read to its end ({error}); get the file anew") from None


def _header(line: bytes) -> tuple[int, int] | None:
    """The number of rows and of columns, if the line says just that."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields) or int(fields[1]) == 0:
        return None
    return int(fields[0]), int(fields[1])


def _is_binary(sample: bytes, dimension: int) -> bool:
    """Whether the rows after a header are binary: numbers in text have no other bytes than a few, floats do."""
    _, _, after = sample.partition(b" ")
    end = after.find(b"\n", 2 * dimension - 1, 4 * dimension)  # a line end that comes earlier may be part of a float
    if NUMBERS.issuperset(after[: 4 * dimension if end < 0 else end]):
        return False
    fields = sample.partition(b"\n")[0].split()[-dimension:]  # of text whose first word has a space in it
    return len(fields) < dimension or not all(map(_is_number, fields))


def _read_text(lines: Iterable[bytes], name: str, kept: _Kept, rows: int = 0, dimension: int = 0) -> int:
    """Read rows of text; 0 rows and columns: there was no header. Returns the number of columns."""
    has_header = dimension > 0
    number = found = 0
    for number, line in enumerate(lines, 1 + has_header):
        body = line.rstrip(b" \t\r\n")
        if not body:
            continue
        found += 1
        if found == 1:
            dimension = _check_first_row(body, dimension, name, number)
        if body.count(b" ") == dimension:  # the ordinary case; floats of rows that are not wanted are never parsed
            space = body.index(b" ")
            word, numbers = body[:space], body[space + 1 :]
        else:
            word, numbers = _split_row(body, dimension, name, number, is_trusted=has_header)
            last = word.split()[1:][-1:]
            if last and _is_number(last[0]):
                shown = word[:40].decode("utf-8", "replace")
                message = f"the row of {shown!r} may have too many numbers: every row needs {dimension}"
                kept.doubtful.append(Problem(name, number, message, is_error=False))
        if kept.takes(word):
            fields = numbers.split()
            if len(fields) != dimension:
                _refuse_length(len(fields), dimension, name, number)
            try:
                kept.values.extend(map(float, fields))
            except ValueError:
                _refuse_number(fields, name, number)
            kept.lines.append(number)
    if not found and not has_header:
        raise CorpusError(f"{name}: no vectors in it; each line has a word and its numbers, separated by spaces")
    if found < rows:
        raise CorpusError(f"{name}:{number}: the file ends after {found} of {rows} rows; get it anew")
    return dimension


def _check_first_row(body: bytes, dimension: int, name: str, line: int) -> int:
    """The number of columns by the first row, which must agree with the header if there was one."""
    fields = body.split()[0 if body[:1].isspace() else 1 :]
    numeric = list(itertools.takewhile(_is_number, reversed(fields)))
    if not numeric:
        message = f"no numbers after {body[:40].decode('utf-8', 'replace')!r}"
        hint = "a file of word vectors has a word and its numbers on each line, separated by spaces"
        raise CorpusError(str(Problem(name, line, f"{message}; {hint}")))
    if not dimension:
        return len(numeric)
    if len(fields) < dimension or (len(fields) > dimension and _is_decimal(fields[-dimension - 1])):
        message = f"row has {len(numeric)} numbers, the header says {dimension}; correct the header or remove it"
        raise CorpusError(str(Problem(name, line, message)))
    return dimension


def _split_row(body: bytes, dimension: int, name: str, line: int, *, is_trusted: bool) -> tuple[bytes, bytes]:
    """A row whose fields are not what spaces say: a word with spaces, tabs, no word at all, or the wrong length."""
    word, *fields = body.rsplit(None, dimension)
    if len(fields) < dimension:
        if body[:1].isspace() and len(fields) == dimension - 1:
            return b"", b""
        _refuse_length(len(fields), dimension, name, line)
    if not is_trusted:  # without a header, a word that ends in a decimal is a row with too many numbers
        parts = word.split()
        if len(parts) > 1 and _is_decimal(parts[-1]):
            surplus = len(list(itertools.takewhile(_is_number, reversed(parts[1:]))))
            _refuse_length(dimension + surplus, dimension, name, line)
    return word.rstrip(), b" ".join(fields)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _is_decimal(field: bytes) -> bool:
    return b"." in field and _is_number(field)


def _refuse_length(length: int, dimension: int, name: str, line: int) -> NoReturn:
    message = f"row has {length} numbers, the first had {dimension}; every row needs as many (is the file complete?)"
    raise CorpusError(str(Problem(name, line, message)))


def _refuse_number(fields: list[bytes], name: str, line: int) -> NoReturn:
    wrong = next(field for field in fields if not _is_number(field))
    message = f"{wrong[:40].decode('utf-8', 'replace')!r} is not a number; mend or remove the row"
    raise CorpusError(str(Problem(name, line, message)))


def _read_binary(file: BinaryIO, buffer: bytes, name: str, kept: _Kept, rows: int, dimension: int) -> None:
    size, start = 4 * dimension, 0
    for row in range(1, rows + 1):
        space = buffer.find(b" ", start)
        while space < 0 or len(buffer) < space + 1 + size:
            if space < 0 and len(buffer) - start > LONGEST_WORD:
                raise CorpusError(f"{name}: row {row} has no word; the file is damaged or not a word2vec file")
            more = file.read(CHUNK)
            if not more:
                raise CorpusError(f"{name}: the file ends within row {row} of {rows}; get it anew")
            buffer, start = buffer[start:] + more, 0
            space = buffer.find(b" ")
        word = buffer[start:space].lstrip(b"\n")  # some writers end rows with a line end, some do not
        start = space + 1 + size
        if kept.takes(word):
            kept.values.frombytes(np.frombuffer(buffer[space + 1 : start], dtype="<f4").astype("=f4").tobytes())
            kept.lines.append(0)


def write_vectors(path: str | Path | None, words: Sequence[str], matrix: np.ndarray) -> None:
    """Write vectors as word2vec text, packed if the name ends in .gz; the file appears when it is complete.

    Each number has the digits that single precision needs to be read back exactly.
    """
    if len(words) != len(matrix):
        raise ValueError(f"{len(words)} words, but {len(matrix)} vectors")
    write_rows(path, len(words), matrix.shape[1], zip(words, format_rows(matrix), strict=True))


def format_rows(matrix: np.ndarray) -> Iterator[bytes]:
    """Rows as text, in the fewest digits that give the same single-precision numbers.

    >>> list(format_rows(np.array([[0.1, -2, 1e-9]])))
    [b'0.1 -2.0 1e-09']
    """
    for start in range(0, len(matrix), 1000):  # text takes 32 bytes a number, so not all at once
        for row in matrix[start : start + 1000].astype(np.float32).astype("S"):
            yield b" ".join(row)


def is_writable(word: str) -> bool:
    """Whether a text file can hold the word so that it is read back the same: spaces inside are fine, line ends not.

    >>> is_writable("New York"), is_writable(" York"), is_writable("")
    (True, False, False)
    """
    name = word.encode("utf-8", "replace")
    return bool(name) and name == name.strip() and not {"\n", "\r"} & set(word) and name.decode("utf-8") == word


def write_rows(path: str | Path | None, count: int, dimension: int, rows: Iterable[tuple[str, bytes]]) -> None:
    """Write words and their formatted numbers after a header; `count` must be what comes."""
    number = 0
    with written(path, effort=1) as file:  # digits hardly pack better with more, at a tenth of the speed
        file.write(b"%d %d\n" % (count, dimension))
        for number, (word, numbers) in enumerate(rows, 1):
            if not is_writable(word):
                raise CorpusError(f"{word!r} (row {number}) cannot be a word in a text file of vectors; leave it out")
            file.write(b"%s %s\n" % (word.encode("utf-8"), numbers))
        if number != count:
            raise CorpusError(f"{path}: {number} rows where {count} were announced; not written")
