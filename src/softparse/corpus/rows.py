"""The rows of a sentence in CoNLL-U: words, multiword ranges and empty nodes, and what is wrong with them."""

from __future__ import annotations

from .sentence import is_number

COLUMNS, FEWEST_COLUMNS = 10, 8  # CoNLL-X files may leave out the last two, everywhere


class Rows:
    """The rows of a sentence that have been read. `width` is the number of columns if it is known already."""

    def __init__(self, width: int = 0):
        self.width = width
        self.columns: list[list[str]] = []  # of words
        self.places: list[int] = []  # of their lines in the sentence
        self.others: dict[str, int] = {}  # ranges and empty nodes by their ID, with their places
        self.covered = 0  # the last word in a range

    def look_closer(self, row: list[str], place: int) -> str | None:
        """Take a row that may not be an ordinary word, or say what is wrong with it."""
        identifier = row[0].removeprefix("\ufeff")
        wrong = self._wrong_width(row)
        if wrong:
            return wrong
        expected = len(self.columns) + 1
        if identifier == str(expected):
            self.places.append(place)
            self.columns.append([identifier, *row[1:]])
            return None
        if identifier in self.others:
            return f"ID {identifier} a second time"
        start, dash, end = identifier.partition("-")
        if dash and is_number(start) and is_number(end):
            self.others[identifier] = place
            return self._wrong_range(identifier, int(start), int(end))
        whole, dot, part = identifier.partition(".")
        if dot and is_number(whole) and is_number(part):
            self.others[identifier] = place
            return None if int(whole) == expected - 1 else f"empty node {identifier} does not follow word {whole}"
        if is_number(identifier) and int(identifier) < expected:
            return f"ID {identifier} a second time, or out of order; {expected} was expected (is a blank line missing?)"
        return f"ID {identifier[:40]!r}, but {expected} was expected"

    def _wrong_width(self, row: list[str]) -> str | None:
        if len(row) == 1:
            hint = (
                "CoNLL-U has 10 columns with tabs, not spaces, between them (plain text is parsed with --format text)"
            )
            return f"no tabs in {row[0][:40]!r}: {hint}"
        if not FEWEST_COLUMNS <= len(row) <= COLUMNS:
            return f"{len(row)} columns, but CoNLL-U has 10 (CoNLL-X at least 8), separated by tabs"
        if not self.width:
            self.width = len(row)
        if len(row) != self.width:  # which column is missing cannot be known
            return f"{len(row)} columns, but rows before have {self.width}; all rows of a file need the same ones"
        return None

    def _wrong_range(self, identifier: str, start: int, end: int) -> str | None:
        if start != len(self.columns) + 1:
            return f"range {identifier} does not start at the next word, {len(self.columns) + 1}"
        if end < start:
            return f"range {identifier} ends before it starts"
        if start <= self.covered:
            return f"range {identifier} starts within another one, which ends at {self.covered}"
        self.covered = end
        return None

    def problem_of_all(self) -> tuple[str | None, int]:
        """What is wrong with the rows together, and the place of the line to blame."""
        if not self.columns:
            return "a sentence without words", 0
        if self.covered > len(self.columns):
            identifier, place = next(
                (name, place) for name, place in self.others.items() if name.endswith(f"-{self.covered}")
            )
            return f"range {identifier}, but the sentence has {len(self.columns)} words", place
        return None, 0
