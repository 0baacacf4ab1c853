"""The machine that a run was made on: its times mean nothing without it."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import torch

CPUINFO = Path("/proc/cpuinfo")
KEYS = {"model name": "", "cpu family": "family ", "model": "model "}  # and what stands before their values


def machine() -> dict[str, Any]:
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
    }


def processor(cpuinfo: Path = CPUINFO) -> str:
    """Its name as Linux tells it, with the family and model that tell generations of one name apart; elsewhere what
    Python knows."""
    try:
        first = cpuinfo.read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
    except OSError:
        first = ""
    found = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}
    if not found.get("model name"):  # processors other than x86 have none there
        return platform.processor() or platform.machine()
    return " ".join(before + found[key] for key, before in KEYS.items() if found.get(key))
