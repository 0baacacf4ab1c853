"""Other programs, started and stopped along with this one."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from typing import Any


@contextlib.contextmanager
def stopping_politely() -> Iterator[None]:
    """A polite kill is a Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def call(command: Sequence[str]) -> int:
    """The code that a program ends with. It is killed if this one is to stop: nobody would be left to wait for it."""
    with stopping_politely():
        return subprocess.run(command, check=False).returncode
