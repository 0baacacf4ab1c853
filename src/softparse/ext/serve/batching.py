"""The queue: requests that come at the same time are parsed together, on one thread.

There is no waiting for company. Whoever comes while the thread is idle is served at once; whoever comes while it works
waits, and all that wait for the same thing then go together. So an idle server is as quick as it can be, and a busy one
takes larger batches the busier it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .limits import Limits, Refusal

Together = Callable[[list[Any]], list[Any]]  # results in the order of the items; an exception is a result, too
logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Job:
    together: Together
    item: Any
    words: int
    future: asyncio.Future[Any]


class Batcher:
    """Runs jobs in the order they came, those with an equal function together.

    Everything that asks a model goes through here, so that what waits together is parsed together, and no more is
    begun at a time than the machine can do.
    """

    def __init__(self, limits: Limits):
        self.limits = limits
        self.batches = self.jobs = 0  # done so far
        self._waiting: deque[Job] = deque()
        self._words = 0  # of the jobs that wait
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    async def run(self, together: Together, item: Any, words: int) -> Any:
        """The result for an item; `Refusal` if there is too much to do. Whoever gives up waiting leaves the queue."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        job = Job(together, item, words, future)
        self._put(job)
        try:
            return await future
        finally:
            self._leave(job)

    def _put(self, job: Job) -> None:
        with self._change:
            if self._is_closed:
                raise Refusal(503, "the server is being stopped")
            if self._waiting and self._words + job.words > self.limits.waiting_words:
                raise Refusal(503, f"too much to do: {self._words} words are waiting; try again later")
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="parsing", daemon=True)
                self._thread.start()
            self._waiting.append(job)
            self._words += job.words
            self._change.notify()

    def _leave(self, job: Job) -> None:
        """Nobody waits for the job any more; if it has not been begun, it never will be."""
        with self._change:
            if job in self._waiting:
                self._waiting.remove(job)
                self._words -= job.words

    def open(self) -> None:
        with self._change:
            self._is_closed = False

    def close(self) -> None:
        """Finish what was accepted, and take no more."""
        with self._change:
            self._is_closed = True
            thread = self._thread
            self._change.notify()
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while batch := self._next():
            self.batches, self.jobs = self.batches + 1, self.jobs + len(batch)
            try:
                results = batch[0].together([job.item for job in batch])
            except Exception as error:
                logger.exception("a batch failed")
                results = [error] * len(batch)
            for job, result in zip(batch, results, strict=True):
                with contextlib.suppress(RuntimeError):  # the loop of whoever asked is closed
                    job.future.get_loop().call_soon_threadsafe(_settle, job.future, result)

    def _next(self) -> list[Job]:
        """The first job that waits and those like it, as many as fit; none when the queue is closed and empty."""
        with self._change:
            while True:
                while not self._waiting and not self._is_closed:
                    self._change.wait()
                batch: list[Job] = []
                rest: deque[Job] = deque()
                words = 0
                for job in self._waiting:
                    if not batch or (
                        job.together == batch[0].together
                        and len(batch) < self.limits.batch
                        and words + job.words <= self.limits.request_words
                    ):
                        batch.append(job)
                        words += job.words
                    else:
                        rest.append(job)
                self._waiting = rest
                self._words -= words
                if batch or self._is_closed:
                    if not batch:
                        self._thread = None
                    return batch


def _settle(future: asyncio.Future[Any], result: Any) -> None:
    if future.done():
        return
    if isinstance(result, BaseException):
        future.set_exception(result)
    else:
        future.set_result(result)
