"""What the server takes on, and how it says no."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

MOST_TREES = 20  # of a sentence
MOST_SAMPLES = 8
MOST_CONSTRAINTS = 1000
MOST_SENTENCES = 20_000  # of a request
MOST_WORDS = 20_000  # of a sentence; far fewer are taken, but that is told in better words


@dataclass(frozen=True)
class Limits:
    """The defaults keep memory below a few hundred megabytes and an answer below a few seconds on one core."""

    body_bytes: int = 1_000_000
    sentence_words: int = 200  # time grows with the third power
    request_words: int = 20_000
    waiting_words: int = 100_000
    requests: int = 256  # at the same time
    seconds: float = 30.0  # for the body of a request to come, and for its answer to be found
    batch: int = 64  # requests that are parsed together


@asynccontextmanager
async def in_time(limits: Limits) -> AsyncIterator[None]:
    """Around all that it takes to find an answer."""
    try:
        async with asyncio.timeout(limits.seconds):
            yield
    except TimeoutError:
        raise too_late(limits) from None


class Refusal(Exception):
    """A request that gets no answer but a reason."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status, self.message = status, message

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": "1"} if self.status == 503 else {}


def too_late(limits: Limits) -> Refusal:
    return Refusal(503, f"no answer within {limits.seconds:g} s; send less at once, or try again later")
