"""Memory for charts that is used again.

Charts live from a forward to its backward pass and are about as large as the next ones. Returned to the system and
taken anew each time, their pages would have to be mapped and zeroed again: a third of the time at 40 words.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import DTypeLike

SMALLEST, LARGEST = 1 << 16, 1 << 25  # bytes; a larger buffer is not kept
KEPT = 2  # of each size: 128 MB in all at the most

_free: dict[int, list[np.ndarray]] = {}


def take(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """An uninitialised array. Its memory comes back by itself when nothing refers to the array or a view of it."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size == 0 or size > LARGEST:
        return np.empty(shape, dtype)
    memory = _find(size)
    # Views refer to the array that owns their memory. The memoryview makes `owner` that array, not `memory`, so that it
    # lives exactly as long as something looks at it.
    owner = np.frombuffer(memory.data[:size], dtype)
    weakref.finalize(owner, _give_back, memory)
    return owner.reshape(shape)


@contextmanager
def borrowed(size: int) -> Iterator[np.ndarray]:
    """Uninitialised bytes, until the end of the block."""
    memory = _find(size)
    try:
        yield memory
    finally:
        _give_back(memory)


def _find(size: int) -> np.ndarray:
    capacity = max(SMALLEST, 1 << (size - 1).bit_length())
    try:
        return _free[capacity].pop()  # atomic, as is the append below: the collector may call it in any thread
    except (KeyError, IndexError):
        return np.empty(capacity, np.uint8)


def _give_back(memory: np.ndarray) -> None:
    waiting = _free.setdefault(memory.size, [])
    if memory.size <= LARGEST and len(waiting) < KEPT:
        waiting.append(memory)
