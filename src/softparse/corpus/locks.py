"""One process at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]


class Taken(Exception):
    """Another process has the lock."""


@contextlib.contextmanager
def locked(path: Path, wait: bool = False) -> Iterator[None]:
    """While no other process has the lock of this file, or once it has let go if this is to `wait`.

    The system frees a lock however its process ends, so the file may stay.
    """
    if fcntl is None:
        yield
        return
    with _taken(path, wait):
        yield


def _taken(path: Path, wait: bool) -> BinaryIO:
    """The file, open and locked. Who had it before may have deleted it: its lock would keep nobody out."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = open(path, "wb")  # noqa: SIM115 (closed by the caller)
        except FileNotFoundError:
            if path.is_symlink():  # to nowhere
                raise
            continue  # the folder is gone again
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            file.close()
            raise Taken(str(path)) from None
        except OSError:  # a file system without locks
            pass
        if _is_at(file, path):
            return file
        file.close()


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False
