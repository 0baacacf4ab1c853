"""Memory that stays as it is, however long a command runs."""

from __future__ import annotations

import os


def keep_few_kernels() -> None:
    """For every new shape of a batch oneDNN compiles and keeps code: a thousand by default, some hundred megabytes.

    Parsing is about as fast with few of them. This has to be said before torch is used.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
