"""Large JSON files, one member of an object at a time."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import IO, Any, NoReturn

from .problems import CorpusError

CHUNK = 1 << 20  # characters
SPACE = " \t\r\n"
ENDS = {*SPACE, *",:]}"}  # what comes after a value


class _Reader:
    """A window on the text: what has been decoded is dropped, more is read when a value is not complete."""

    def __init__(self, file: IO[bytes], name: str, decoder: json.JSONDecoder):
        self.text = io.TextIOWrapper(file, encoding="utf-8")
        self.name = name
        self.window = ""
        self.place = 0
        self.decoder = decoder

    def more(self) -> bool:
        text = self.text.read(max(CHUNK, len(self.window) - self.place))  # doubles, so that long values stay linear
        self.window, self.place = self.window[self.place :] + text, 0
        return bool(text)

    def next(self, expected: str) -> str:
        """The next character that is not space, without stepping over it."""
        while True:
            while self.place < len(self.window) and self.window[self.place] in SPACE:
                self.place += 1
            if self.place < len(self.window):
                return self.window[self.place]
            if not self.more():
                self.fail(f"the file ends where {expected} should be")

    def mark(self, expected: str) -> str:
        """Step over the next character, which must be one of those expected."""
        found = self.next(f"one of {expected}")
        if found not in expected:
            self.fail(f"{found!r} where one of {expected} should be")
        self.place += 1
        return found

    def value(self) -> Any:
        self.next("a value")
        while True:
            problem = "a value without an end"
            try:
                value, end = self.decoder.raw_decode(self.window, self.place)
                if self.window[end : end + 1] in ENDS:  # what looks like a number may be cut off: 0 of 0.5
                    self.place = end
                    return value
            except json.JSONDecodeError as error:
                problem = error.msg
            if not self.more():
                self.fail(problem)

    def fail(self, problem: str) -> NoReturn:
        raise CorpusError(f"{self.name}: not the JSON that was expected: {problem}; get the file anew")


def members(file: IO[bytes], name: str, key: str, decoder: json.JSONDecoder | None = None) -> Iterator[tuple[str, Any]]:
    """The members of the object that is the value of `key` in the outermost object.

    >>> list(members(io.BytesIO(b'{"size": 2, "data": {"a": [1], "b": []}}'), "example.json", "data"))
    [('a', [1]), ('b', [])]
    """
    reader = _Reader(file, name, decoder or json.JSONDecoder())
    reader.mark("{")
    while True:
        found = reader.value()
        reader.mark(":")
        if found == key:
            break
        reader.value()
        if reader.mark(",}") == "}":
            reader.fail(f"no {key!r} in it")
    reader.mark("{")
    while reader.next("a member") != "}":
        member = reader.value()
        reader.mark(":")
        yield member, reader.value()
        if reader.mark(",}") == "}":
            return
