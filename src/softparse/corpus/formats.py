"""Which format a file has: CoNLL-U (or CoNLL-X), or plain text with one tokenised sentence a line.

Damaged CoNLL-U must not pass for text, whose words would be its columns. So whatever looks like CoNLL-U in part is
taken for it, and its reader says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

CONLLU, TEXT = "conllu", "text"
NAME = re.compile(r"\.conll[ux]?(\.gz)?$", re.IGNORECASE)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
COMMENT = re.compile(rb"#\s*(sent_id\s*=|text\s*=|(newdoc|newpar)\s*(id\s*=.*)?$|global\.columns\s*=)")
IDENTIFIER = re.compile(rb"[0-9]+([-.][0-9]+)?$")
HEAD = re.compile(rb"[0-9]+$|_$")
LOOKED_AT = 50  # lines, and more if these are all comments:
MOST_LOOKED_AT = 1000


def beginning(stream: Iterator[bytes]) -> list[bytes]:
    """As many lines as it takes to see the format."""
    start: list[bytes] = []
    has_row = False
    for line in stream:
        start.append(line)
        has_row = has_row or bool(line.strip() and not line.startswith(b"#"))
        if len(start) >= (LOOKED_AT if has_row else MOST_LOOKED_AT):
            break
    return start


def named(path: str | Path) -> str | None:
    """The format that the name of a file promises."""
    return CONLLU if NAME.search(str(path)) else None


def detect(start: Iterable[bytes]) -> str:
    """The format of a file that starts with these lines."""
    lines = [line.removeprefix(BYTE_ORDER_MARK).rstrip() for line in start]
    rows = [line for line in lines if line and not line.startswith(b"#")]
    is_conllu = (
        not any(lines)
        or any(COMMENT.match(line) or _has_columns(line) for line in lines)
        or (len(rows) > 0 and _starts_with_identifier(rows[0]))
        or _has_columns_with_spaces(rows)
    )
    return CONLLU if is_conllu else TEXT


def _starts_with_identifier(row: bytes) -> bool:
    identifier, tab, _ = row.partition(b"\t")
    return bool(tab and IDENTIFIER.match(identifier))


def _has_columns(row: bytes) -> bool:
    """Whether these are columns, even if some are cut off: words with tabs between them have no `_` among them."""
    fields = row.split(b"\t")
    return (len(fields) >= 8 and bool(IDENTIFIER.match(fields[0]))) or (len(fields) >= 3 and b"_" in fields)


def _has_columns_with_spaces(rows: Sequence[bytes]) -> bool:
    """Whether some rows are columns with spaces where tabs should be: with `_` in them, or numbered one by one."""
    before = None
    for row in rows:
        fields = row.split()
        is_like = 8 <= len(fields) <= 10 and IDENTIFIER.match(fields[0]) and HEAD.match(fields[6])
        number = int(fields[0]) if is_like and fields[0].isdigit() and len(fields[0]) < 10 else None
        if is_like and (b"_" in fields or (number is not None and before is not None and number == before + 1)):
            return True
        before = number
    return False
