"""A sentence as its lines in a file, with the words in it and their tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .problems import CorpusError, Problem

ID, FORM, HEAD, DEPREL, DEPS, MISC = 0, 1, 6, 7, 8, 9
UNKNOWN = -1  # a head that is not given
END_OF_WORD = re.compile(r"[\s=]")
BYTE_ORDER_MARK = "\ufeff"  # some editors put it at the start of a file


class Sentence:
    """The lines of a sentence, byte for byte, and the columns of its words.

    Only HEAD and DEPREL (and MISC, DEPS on request) are ever rewritten, in the lines of words; comments, multiword
    ranges, empty nodes and everything else stay as they are.

    >>> sentence = Sentence.from_words(["They", "walk"])
    >>> print(sentence.with_tree([2, 0], ["nsubj", "root"]).text(), end="")
    1	They	_	_	_	_	2	nsubj	_	_
    2	walk	_	_	_	_	0	root	_	_
    <BLANKLINE>
    """

    __slots__ = ("lines", "places", "columns", "path", "line", "before", "after")  # noqa: RUF023

    def __init__(
        self, lines: list[str], places: list[int], columns: list[list[str]], path: str = "<memory>", line: int = 0
    ):
        self.lines = lines  # with their ends, the blank ones after the sentence included
        self.places = places  # where the words' lines are
        self.columns = columns  # of the words; the last one without the end of the line
        self.path = path
        self.line = line  # number of the first line in the file, from 1
        self.before = ""  # comments that belong to no sentence stay where they are: between this one and the last,
        self.after = ""  # or at the end of the file

    @classmethod
    def from_words(
        cls, words: Iterable[str], comments: Iterable[str] = (), path: str = "<memory>", line: int = 0
    ) -> Sentence:
        columns = [[str(place), word, *["_"] * 8] for place, word in enumerate(words, 1)]
        heading = [f"# {comment}\n" for comment in comments]
        lines = heading + ["\t".join(row) + "\n" for row in columns] + ["\n"]
        return cls(lines, list(range(len(heading), len(heading) + len(columns))), columns, path, line)

    def __len__(self) -> int:
        return len(self.columns)

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the columns, so that it goes from one process to another faster."""
        return _unpacked, (self.lines, self.places, self.path, self.line, self.before, self.after)

    def __repr__(self) -> str:
        return f"Sentence({' '.join(self.words)!r})"

    @property
    def words(self) -> list[str]:
        return [row[FORM] for row in self.columns]

    @property
    def heads(self) -> list[int]:
        """Heads of the words, 0 for the root and UNKNOWN where HEAD is `_`."""
        heads = []
        for word, row in enumerate(self.columns, 1):
            text = row[HEAD]
            if text != "_" and not is_number(text):
                message = f"HEAD of word {word} is {text[:40]!r}, not a number (write _ for an unknown head)"
                raise CorpusError(str(self.problem(message, word)))
            heads.append(UNKNOWN if text == "_" else int(text))
        return heads

    @property
    def labels(self) -> list[str]:
        """Labels of the words, `_` where unknown."""
        return [row[DEPREL] for row in self.columns]

    @property
    def sent_id(self) -> str | None:
        for line in self.lines:
            line = line.removeprefix(BYTE_ORDER_MARK)
            if line.startswith("#"):
                name, _, value = line[1:].partition("=")
                if name.strip() == "sent_id":
                    return value.strip()
            elif line.strip():
                break
        return None

    def problem(self, message: str, word: int = 0, *, is_error: bool = True) -> Problem:
        """A problem at a word (from 1) or at the sentence."""
        line = self.line + self.places[word - 1] if word else self.line
        return Problem(self.path, line, message, self.sent_id, is_error)

    def text(self) -> str:
        return f"{self.before}{''.join(self.lines)}{self.after}"

    def with_tree(
        self,
        heads: Sequence[int],
        labels: Sequence[str],
        *,
        clear_deps: bool = False,
        misc: Sequence[str] | None = None,
        comments: Sequence[str] = (),
    ) -> Sentence:
        """The same lines with another tree; `misc` (attributes to add, by word) and `comments` (lines) are added."""
        lines, columns = list(self.lines), []
        if misc is not None and self.columns and len(self.columns[0]) <= MISC:
            return self._with_all_columns().with_tree(
                heads, labels, clear_deps=clear_deps, misc=misc, comments=comments
            )
        for word, (place, row) in enumerate(zip(self.places, self.columns, strict=True)):
            row = row.copy()
            row[HEAD], row[DEPREL] = "_" if heads[word] == UNKNOWN else str(heads[word]), labels[word]
            if clear_deps and len(row) > DEPS:
                row[DEPS] = "_"
            if misc is not None:
                row[MISC] = _with_attribute(row[MISC], misc[word])
            columns.append(row)
            line = lines[place]
            end = line[len(line.rstrip("\r\n")) :]
            lines[place] = BYTE_ORDER_MARK * line.startswith(BYTE_ORDER_MARK) + "\t".join(row) + end
        places = self.places
        names = {comment.partition("=")[0].strip() for comment in comments}
        if clear_deps or names:
            dropped = [(clear_deps and _is_empty_node(line)) or _is_comment_of(line, names) for line in lines]
            lines, places = _without(lines, places, dropped)
        if comments:
            first = next(place for place, line in enumerate(lines) if line.strip() and not _is_comment(line))
            end = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
            added = [f"# {comment}{end}" for comment in comments]
            if lines[first].startswith(BYTE_ORDER_MARK):  # stays where it is, at the start of the file
                lines[first] = lines[first].removeprefix(BYTE_ORDER_MARK)
                added[0] = BYTE_ORDER_MARK + added[0]
            lines[first:first] = added
            places = [place + len(comments) for place in places]
        return self._with(lines, places, columns)

    def _with(self, lines: list[str], places: list[int], columns: list[list[str]]) -> Sentence:
        """Other lines in the same place of the file."""
        result = Sentence(lines, places, columns, self.path, self.line)
        result.before, result.after = self.before, self.after
        return result

    def _with_all_columns(self) -> Sentence:
        """The same with the columns that CoNLL-X may leave out."""
        lines = []
        for line in self.lines:
            body = line.rstrip("\r\n")
            missing = 0 if not body.strip() or _is_comment(line) else MISC - body.count("\t")
            lines.append(body + "\t_" * missing + line[len(body) :])
        return self._with(lines, self.places, [row + ["_"] * (MISC + 1 - len(row)) for row in self.columns])

    def without_comments(self, *names: str) -> Sentence:
        """The same without comments whose first word is one of these."""
        dropped = [END_OF_WORD.split(_comment(line), maxsplit=1)[0] in names for line in self.lines]
        return self._with(*_without(self.lines, self.places, dropped), self.columns)

    def without_mark(self) -> Sentence:
        """The same without a byte order mark, which belongs at the start of a file only."""
        lines = [self.lines[0].removeprefix(BYTE_ORDER_MARK), *self.lines[1:]]
        result = Sentence(lines, self.places, self.columns, self.path, self.line)
        result.before, result.after = self.before.removeprefix(BYTE_ORDER_MARK), self.after
        return result


def _unpacked(lines: list[str], places: list[int], path: str, line: int, before: str, after: str) -> Sentence:
    columns = [lines[place].rstrip("\r\n").split("\t") for place in places]
    if places and columns[0][0].startswith(BYTE_ORDER_MARK):
        columns[0][0] = columns[0][0].removeprefix(BYTE_ORDER_MARK)
    result = Sentence(lines, places, columns, path, line)
    result.before, result.after = before, after
    return result


def is_number(text: str) -> bool:
    """Whether these are plain digits; `int` and `str.isdigit` take much more for a number, and at most 4300 digits."""
    return text.isascii() and text.isdigit() and len(text) < 10


def _without(lines: list[str], places: list[int], dropped: Sequence[bool]) -> tuple[list[str], list[int]]:
    """Lines but for those that are dropped, and where the words' lines are then. A byte order mark stays in front."""
    kept = [place for place in range(len(lines)) if not dropped[place]]
    moved = {old: new for new, old in enumerate(kept)}
    result = [lines[place] for place in kept]
    if dropped[0] and lines[0].startswith(BYTE_ORDER_MARK):
        result[0] = BYTE_ORDER_MARK + result[0]
    return result, [moved[place] for place in places]


def _with_attribute(misc: str, attribute: str) -> str:
    """MISC with another attribute, in the place of an earlier one of the same name."""
    name = attribute.partition("=")[0]
    others = [] if misc in ("_", "") else [each for each in misc.split("|") if each.partition("=")[0] != name]
    return "|".join([*others, attribute])


def _is_comment_of(line: str, names: set[str]) -> bool:
    return bool(names) and _comment(line).partition("=")[0].strip() in names


def _comment(line: str) -> str:
    """What a comment says; nothing if the line is none."""
    return line.removeprefix(BYTE_ORDER_MARK)[1:].strip() if _is_comment(line) else ""


def _is_comment(line: str) -> bool:
    return line.removeprefix(BYTE_ORDER_MARK).startswith("#")


def _is_empty_node(line: str) -> bool:
    return not _is_comment(line) and "." in line.partition("\t")[0]
