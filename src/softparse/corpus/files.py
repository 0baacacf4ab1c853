"""Files in and out: gzip by name, `-` for the standard streams, and writing that never leaves half a file."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from .problems import CorpusError

STANDARD = "-"


def name_of(path: str | Path) -> str:
    return "<stdin>" if str(path) == STANDARD else str(path)


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """A file as bytes, unpacked if it is gzip (by its first bytes, whatever its name)."""
    if str(path) == STANDARD:
        yield _unpacked(sys.stdin.buffer)
        return
    try:
        file = open(path, "rb")  # noqa: SIM115 (closed below)
    except IsADirectoryError:
        raise CorpusError(f"{path}: is a folder; give the files in it") from None
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror or error}") from None
    with file:
        yield _unpacked(file)


def _unpacked(file: BinaryIO) -> BinaryIO:
    buffered = file if isinstance(file, io.BufferedReader) else io.BufferedReader(file)  # type: ignore[type-var]
    if buffered.peek(2)[:2] == b"\x1f\x8b":
        return gzip.open(buffered, "rb")  # type: ignore[return-value]
    return buffered


def lines(path: str | Path) -> Iterator[bytes]:
    """The lines of a file with their ends; a broken gzip file is an error that names it."""
    with opened(path) as file:
        try:
            yield from file
        except (EOFError, zlib.error, OSError) as error:  # gzip.BadGzipFile is an OSError
            raise CorpusError(f"{name_of(path)}: cannot be read to its end ({error})") from None


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write that takes its name only when it is complete; the old one stays until then."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, permitted(0o666))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def permitted(mode: int) -> int:
    """A file mode without what the user's settings take away; temporary files are made without any of it."""
    mask = os.umask(0)
    os.umask(mask)
    return mode & ~mask


@contextlib.contextmanager
def written(path: str | Path | None) -> Iterator[IO[bytes]]:
    """Where output goes: `-` or None is standard output, `.gz` is packed, a regular file is replaced when complete."""
    if path is None or str(path) == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif Path(path).exists() and not Path(path).is_file():  # a pipe or a device
        with open(path, "wb") as file:
            yield file
    else:
        with replacing(path) as file:
            if str(path).endswith(".gz"):
                with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield file
