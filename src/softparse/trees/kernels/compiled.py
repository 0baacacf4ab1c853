"""Compilation of the kernels with Numba: once per machine and dtype, cached, announced, never at import.

Where Numba is missing, `inlined` and `compiled` leave functions as they are: the scalar kernels (tracing, k-best,
Chu-Liu/Edmonds) then run as plain Python, slowly, and the vector ones are not used at all.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

try:
    import numba
    from numba import types
except ImportError:
    numba = None

HAVE_NUMBA = numba is not None
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
ANNOUNCE_AFTER = 2.0  # seconds; loading compiled code from the cache is faster than this

logger = logging.getLogger("softparse")

if HAVE_NUMBA:
    Int, Float = types.int64, types.float64
    inlined = numba.njit(**OPTIONS)

    def array(element: Any, dimensions: int) -> Any:
        return types.Array(element, dimensions, "C")
else:
    Int, Float = np.int64, np.float64

    def inlined(function: Callable) -> Callable:
        return function

    def array(element: Any, dimensions: int) -> Any:
        return element


def compiled(signature: Callable[[Any], tuple]) -> Callable[[Callable], Callable]:
    """Decorator for an entry point. `signature` gives the argument types for an element type.

    The result is called with the dtype first: `kernel(np.float32, *arguments)`. One signature per dtype, all arrays
    contiguous: no call compiles a second time.
    """

    def decorate(function: Callable) -> Callable:
        if not HAVE_NUMBA:
            return lambda dtype, *arguments: function(*arguments)
        lock = threading.Lock()
        versions: dict[np.dtype, Callable] = {}

        @functools.wraps(function)
        def call(dtype: Any, *arguments: Any) -> Any:
            version = versions.get(dtype)
            if version is None:
                with lock:
                    version = versions.get(dtype)
                    if version is None:
                        version = versions[dtype] = _compile(function, signature(numba.from_dtype(np.dtype(dtype))))
            return version(*arguments)

        return call

    return decorate


def _compile(function: Callable, arguments: tuple) -> Callable:
    with _announced(function.__name__):
        folder = _cache_folder()
        if folder is None:
            return numba.njit(arguments, **OPTIONS)(function)
        # Numba looks its cache folder up once, when a function is decorated; the setting is put back at once.
        with _configuration_lock:
            previous = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(folder)
            try:
                return numba.njit(arguments, cache=True, **OPTIONS)(function)
            finally:
                numba.config.CACHE_DIR = previous


_configuration_lock = threading.Lock()


@functools.cache
def _cache_folder() -> Path | None:
    """The first of some folders that can be written, with a digest of all kernel sources in its name.

    Numba itself watches only the file of the function it compiles, not those of the functions compiled into it.
    """
    here = Path(__file__).parent
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))).hexdigest()[:16]
    bases = [here / "__pycache__"]
    with contextlib.suppress(RuntimeError):  # no home folder
        bases.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "softparse")
    bases.append(Path(tempfile.gettempdir()) / f"softparse-{os.getuid() if hasattr(os, 'getuid') else 'user'}")
    if os.environ.get("NUMBA_CACHE_DIR"):
        bases.insert(0, Path(os.environ["NUMBA_CACHE_DIR"]))
    for base in bases:
        folder = base / f"softparse-kernels-{digest}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
            if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
                continue  # compiled code is loaded from here: it has to be one's own
        except OSError:
            continue
        return folder
    return None


@contextlib.contextmanager
def _announced(name: str) -> Iterator[None]:
    """Say so when compiling takes long enough for a person to wonder."""
    message = "softparse: compiling the CPU kernel '%s' for this machine (once, some seconds; cached afterwards)"
    timer = threading.Timer(ANNOUNCE_AFTER, logger.warning, (message, name))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
