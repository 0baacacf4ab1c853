"""Work that is dealt out to processes, and comes back in its order."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def in_processes(
    make: Callable[..., Callable[[Item], Answer]], arguments: tuple[Any, ...], items: Iterable[Item], workers: int
) -> Iterator[Answer]:
    """The answers to items in their order; each process makes its function once, by `make(*arguments)`.

    Items are read as they are needed. A `ChildProcessError` tells that a process was ended from outside.

    Every process has a pipe of its own, the other end of which only this one has. So whatever ends a process ends its
    pipe, also in the middle of an answer, and nobody waits for what cannot come. A `ProcessPoolExecutor` has one pipe
    for the answers of all, and waits for ever for the rest of one whose process was ended while it wrote.
    """
    # Processes are started anew, not forked: forking a process with threads in it may hang.
    context = multiprocessing.get_context("spawn")
    processes = []
    idle: SimpleQueue[Connection] = SimpleQueue()

    def answer(item: Item) -> Answer:
        pipe = idle.get()  # there is one for each thread
        try:
            pipe.send(item)
            failure, result = pipe.recv()
        except (EOFError, OSError):
            message = "a worker process was ended from outside, perhaps for want of memory; use fewer --workers"
            raise ChildProcessError(message) from None
        finally:
            idle.put(pipe)
        if failure is not None:
            raise failure
        return result

    with ThreadPoolExecutor(workers) as threads, contextlib.ExitStack() as pipes:
        try:
            with _without_interrupts():
                for _ in range(workers):
                    here, there = context.Pipe()
                    idle.put(pipes.enter_context(here))
                    with there:
                        process = context.Process(target=_work, args=(there, make, arguments), daemon=True)
                        process.start()
                    processes.append(process)
            waiting: deque[Future[Answer]] = deque()
            failures: list[Exception] = []
            for item in _until_failure(items, failures):
                waiting.append(threads.submit(answer, item))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
            for failure in failures:
                raise failure
        finally:  # at the end they have nothing to do; before it, nobody waits for what is still to be done
            for process in processes:
                process.terminate()
            for process in processes:
                process.join()
            threads.shutdown(cancel_futures=True)


def _until_failure(items: Iterable[Item], failures: list[Exception]) -> Iterator[Item]:
    """Items as long as they can be read; what is wrong then can be told when those before it are answered."""
    try:
        yield from items
    except Exception as failure:
        failures.append(failure)


def _work(pipe: Connection, make: Callable[..., Callable[[Item], Answer]], arguments: tuple[Any, ...]) -> None:
    function = make(*arguments)
    # A parent that is killed cannot stop its processes; its end of the pipe is gone with it.
    with contextlib.suppress(EOFError, OSError):
        while True:
            item = pipe.recv()
            answer: tuple[Exception | None, Answer | None]
            try:
                answer = None, function(item)
            except Exception as failure:
                answer = failure, None
            pipe.send(answer)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that are started here leave a Ctrl-C, which reaches all of them, to this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
