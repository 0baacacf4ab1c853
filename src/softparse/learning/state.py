"""The state of a training run, so that one that was killed can go on as if nothing had happened.

It lies beside the model folder, in MODEL.resume, and goes away when training is done. It is read as data only.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch

from ..configuration import as_table
from ..corpus.files import replacing
from ..parser import ModelError
from .config import Config

NAME = "state.pt"
FORMAT = 1


def place(output: str | Path) -> Path:
    output = Path(output)
    return output.with_name(output.name + ".resume")


def save(output: str | Path, config: Config, fingerprint: str, state: dict[str, Any]) -> None:
    folder = place(output)
    with replacing(folder / NAME) as file:
        content = {"format": FORMAT, "config": _text(config), "fingerprint": fingerprint, "state": state}
        torch.save(content, file)


def load(output: str | Path, config: Config, fingerprint: str) -> dict[str, Any] | None:
    """The state saved for this configuration and data, if there is one."""
    path = place(output) / NAME
    if not path.exists():
        return None
    try:
        content = torch.load(path, weights_only=True, map_location="cpu")
        saved, state = json.loads(content["config"]), content["state"]
    except Exception as error:  # whatever a damaged file makes torch raise
        raise ModelError(f"{path}: cannot be read ({type(error).__name__}); delete it to start anew") from None
    if content["format"] != FORMAT:
        raise ModelError(f"{path}: written by another release; finish the run with that one, or delete it")
    mine = json.loads(_text(config))
    different = sorted(_differences(saved, mine))
    if different:
        raise ModelError(
            f"{path.parent}: was started with other settings ({', '.join(different[:5])}); "
            "give the same ones to resume, or delete it to start anew"
        )
    if content["fingerprint"] != fingerprint:
        raise ModelError(f"{path.parent}: the training files have changed since; delete it to start anew")
    return state


def discard(output: str | Path) -> None:
    shutil.rmtree(place(output), ignore_errors=True)


def _text(config: Config) -> str:
    table = as_table(config)
    # These change nothing in the result.
    for name in ("save_seconds", "device"):
        del table["train"][name]
    return json.dumps(table, sort_keys=True)


def _differences(one: Any, other: Any, prefix: str = "") -> list[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = one.keys() | other.keys()
        return [name for key in keys for name in _differences(one.get(key), other.get(key), f"{prefix}{key}.")]
    return [] if one == other else [prefix.rstrip(".")]
