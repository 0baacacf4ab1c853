"""A small pool of threads for kernels that release the interpreter lock.

Numba's own parallel layers are not both thread-safe and fork-safe; plain threads over `nogil` kernels are, if the pool
is made anew in a forked child.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch

_SERIAL_BELOW = 150_000  # operations (words³); waking a thread takes as long as some 50 000 of them

_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_lock = threading.Lock()


def _forget_pool() -> None:
    global _pool, _pool_size, _lock
    _pool, _pool_size, _lock = None, 0, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _executor(size: int) -> ThreadPoolExecutor:
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < size:
            # A smaller pool still finishes what it was given; its threads end when it is collected.
            _pool, _pool_size = ThreadPoolExecutor(size, thread_name_prefix="softparse"), size
        return _pool


def run(task: Callable[[int, int], None], parts: int, operations: float) -> None:
    """Call `task(start, step)` so that all of `parts` are done, on up to `torch.get_num_threads()` threads."""
    threads = min(torch.get_num_threads(), parts)
    if threads <= 1 or operations < _SERIAL_BELOW:
        task(0, 1)
        return
    pool = _executor(threads - 1)
    waiting = [pool.submit(task, start, threads) for start in range(1, threads)]
    try:
        task(0, threads)
    finally:
        for future in waiting:
            future.result()
