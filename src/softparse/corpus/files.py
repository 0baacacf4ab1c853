"""Files in and out: gzip by name, `-` for the standard streams, and writing that never leaves half a file."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

from .problems import CorpusError

STANDARD = "-"
OTHER_KINDS = {  # by their first bytes
    b"PK\x03\x04": "a zip archive or an office document",
    b"\xd0\xcf\x11\xe0": "an office document",
    b"%PDF-": "a PDF document",
    b"{\\rtf": "an RTF document",
    b"BZh91AY&SY": "packed with bzip2",
    b"\xfd7zXZ": "packed with xz",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
    b"7z\xbc\xaf": "a 7z archive",
}
TAR_PLACE = 257  # of its sign
LONGEST_LINE = 1 << 20  # bytes in which the first line should end
IN_MEMORY = -1  # standard output that is no file


def name_of(path: str | Path) -> str:
    return "<stdin>" if str(path) == STANDARD else str(path)


def can_be_read_again(path: str | Path) -> bool:
    """Whether this is no stream; a file that is not there is told when it is opened."""
    return str(path) != STANDARD and (os.path.isfile(path) or not os.path.exists(path))


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """A file as bytes, unpacked if it is gzip (by its first bytes, whatever its name)."""
    if str(path) == STANDARD:
        if sys.stdin is None:  # closed by who started this
            raise CorpusError(f"{name_of(path)}: is closed")
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


def is_same(one: str | Path, other: str | Path) -> bool:
    """Whether both names are of one file that is there; a terminal, which may well be both ends, is none."""
    return os.path.isfile(one) and os.path.isfile(other) and os.path.samefile(one, other)


@contextlib.contextmanager
def opened_text(path: str | Path) -> Iterator[BinaryIO]:
    """A file of text as bytes; an error if it is something else."""
    with opened(path) as file:
        start = _start(file)
        for sign, what in OTHER_KINDS.items():
            if start.startswith(sign):
                raise CorpusError(f"{name_of(path)}: is {what}; give plain text in UTF-8 (packed with gzip, if at all)")
        if start[TAR_PLACE:].startswith(b"ustar"):
            raise CorpusError(f"{name_of(path)}: is a tar archive; unpack it and give the files in it")
        yield file


def _start(file: BinaryIO) -> bytes:
    """The first bytes, which are read again afterwards."""
    try:
        return file.peek(1)  # type: ignore[attr-defined]
    except (EOFError, zlib.error, OSError):  # told when it is read
        return b""


def lines(path: str | Path) -> Iterator[bytes]:
    """The lines of a file with their ends; a broken gzip file is an error that names it."""
    with opened_text(path) as file:
        try:
            first = file.readline(LONGEST_LINE)
            if b"\r" in first.rstrip(b"\r") and not first.endswith(b"\n"):
                raise CorpusError(f"{name_of(path)}: its lines end in CR alone, as on old Macs; convert them: "
                                  "tr '\\r' '\\n' < OLD > NEW")  # fmt: skip
            if first and not first.endswith(b"\n"):
                first += file.readline()
            if first:
                yield first
            yield from file
        except (EOFError, zlib.error, OSError) as error:  # gzip.BadGzipFile is an OSError
            raise CorpusError(f"{name_of(path)}: cannot be read to its end ({error})") from None


class _Named(io.FileIO):
    """A file to write whose errors say its name; the system's own, of a full disk, do not."""

    def __init__(self, descriptor: int, name: str):
        super().__init__(descriptor, "wb")
        self.title = name

    def write(self, data: Any) -> int:
        with saying(self.title):
            return super().write(data)

    def close(self) -> None:
        with saying(self.title):
            super().close()


@contextlib.contextmanager
def saying(name: str | Path) -> Iterator[None]:
    """Errors of the operating system in here are about this file, whatever name they have themselves."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(name)) from None


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write that takes its name only when it is complete; the old one stays until then.

    Behind a symbolic link, it is the file that the link leads to.
    """
    with saying(path):
        target = _followed(path)
        mode = target.stat().st_mode & 0o777 if target.exists() else permitted(0o666)
        _make_folder(target.parent)
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:50]}.")
    try:
        with io.BufferedWriter(_Named(descriptor, str(path))) as file:
            yield file
            file.flush()
            with saying(path):
                os.fsync(descriptor)
        with saying(path):
            os.chmod(temporary, mode)
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _followed(path: str | Path) -> Path:
    target = os.path.realpath(path)
    if os.path.islink(target):  # links in a circle; anything else would have been followed
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return Path(target)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, f"{folder} is a file, not a folder") from None


def permitted(mode: int) -> int:
    """A file mode without what the user's settings take away; temporary files are made without any of it."""
    mask = os.umask(0)
    os.umask(mask)
    return mode & ~mask


@contextlib.contextmanager
def written(path: str | Path | None, effort: int = 9) -> Iterator[IO[bytes]]:
    """Where output goes: `-` or None is standard output, `.gz` is packed, a regular file is replaced when complete."""
    with _place(path) as file:
        if str(path).lower().endswith(".gz"):
            with gzip.GzipFile("", "wb", effort, file, mtime=0) as packed:
                yield packed  # type: ignore[misc]
        else:
            yield file


@contextlib.contextmanager
def _place(path: str | Path | None) -> Iterator[IO[bytes]]:
    number = _standard_output() if path is None or str(path) == STANDARD else _open_descriptor(path)
    if number == IN_MEMORY:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif number is not None:
        name = "<stdout>" if path is None or str(path) == STANDARD else str(path)
        sys.stdout.flush()
        with saying(name):
            copy = os.dup(number)
        with io.BufferedWriter(_Named(copy, name)) as file:
            yield file
    elif path is not None and os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device
        with io.BufferedWriter(_Named(os.open(path, os.O_WRONLY), str(path))) as file:
            yield file
    else:
        with replacing(str(path)) as file:
            yield file


def _standard_output() -> int:
    if sys.stdout is None:  # the process was started with it closed
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "<stdout>")
    try:
        return sys.stdout.fileno()
    except io.UnsupportedOperation:  # somebody collects what is written
        return IN_MEMORY


def _open_descriptor(path: str | Path) -> int | None:
    """The number of the open file that a name such as /dev/stdout or /dev/fd/63 stands for.

    Such a file is written as it was opened: at its end after `>>`, and never replaced by another one.
    """
    folders = {os.path.realpath(folder) for folder in ("/dev/fd", "/proc/self/fd")}
    name = os.fspath(path)
    for _ in range(40):  # as many links as Linux follows
        folder, last = os.path.split(name)
        if last.isdecimal() and last.isascii() and os.path.realpath(folder) in folders:
            return _standard_output() if last == "1" else int(last)
        if not os.path.islink(name):
            break
        name = os.path.join(folder, os.readlink(name))
    return None
