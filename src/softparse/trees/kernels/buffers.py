"""Memory for charts that is used again.

Charts live from a forward to its backward pass and are about as large as the next ones. Returned to the system and
taken anew each time, their pages would have to be mapped and zeroed again: a third of the time at 40 words.
"""

from __future__ import annotations

import weakref

import numpy as np
from numpy.typing import DTypeLike

SMALLEST, LARGEST = 1 << 16, 1 << 25  # bytes; a larger buffer is not kept
KEPT = 2  # of each size: 128 MB in all at the most

_free: dict[int, list[np.ndarray]] = {}


def take(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """An uninitialised array. Its memory comes back by itself when nothing refers to the array or a view of it."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    capacity = max(SMALLEST, 1 << max(0, size - 1).bit_length())
    if size == 0 or capacity > LARGEST:
        return np.empty(shape, dtype)
    waiting = _free.setdefault(capacity, [])
    try:
        memory = waiting.pop()  # atomic, as is the append below: the collector may call it in any thread
    except IndexError:
        memory = np.empty(capacity, np.uint8)
    # Views refer to the array that owns their memory. The memoryview makes `owner` that array, not `memory`, so that it
    # lives exactly as long as something looks at it.
    owner = np.frombuffer(memory.data[:size], dtype)
    weakref.finalize(owner, _give_back, memory, waiting)
    return owner.reshape(shape)


def _give_back(memory: np.ndarray, waiting: list[np.ndarray]) -> None:
    if len(waiting) < KEPT:
        waiting.append(memory)
