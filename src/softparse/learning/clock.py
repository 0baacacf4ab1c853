"""Where the time of a run goes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class Clock:
    """Seconds by part. Parts do not contain each other.

    >>> clock = Clock()
    >>> with clock("read"):
    ...     pass
    >>> clock.shares()
    {'read': 1.0}
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - start

    def shares(self) -> dict[str, float]:
        """Of the whole, by part; the clock starts anew."""
        total = sum(self.seconds.values()) or 1.0
        shares = {part: round(seconds / total, 4) for part, seconds in self.seconds.items()}
        self.seconds = {}
        return shares
