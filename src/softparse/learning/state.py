"""The state of a training run, so that one that was killed can go on as if nothing had happened.

It lies beside the model folder, in MODEL.resume, and goes away when training is done. It is read as data only.

A run that has begun and has no state yet is marked there, so that neither an old model under its name nor an old run's
state is taken for its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ..configuration import as_table, different_keys, merged
from ..corpus.files import replacing
from ..corpus.locks import Taken, locked
from ..parser import ModelError
from .config import Config

NAME, BEGUN, HISTORY, LOCK = "state.pt", "begun", "metrics.jsonl", "lock"
FORMAT = 3
UNIMPORTANT = ("save_seconds", "device")  # of the settings of training: they change nothing in the result


def place(output: str | Path) -> Path:
    output = Path(output)
    return output.with_name(output.name + ".resume")


@contextlib.contextmanager
def alone(output: str | Path) -> Iterator[None]:
    """While no other process trains under this name."""
    path = place(output) / LOCK
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(path))
        except Taken:
            raise ModelError(f"{output}: another process is training it; wait for that, or use another name") from None
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # the folder stays if there is a state in it
                path.unlink(missing_ok=True)
                path.parent.rmdir()


def is_open(output: str | Path) -> bool:
    """Whether a run has begun under this name and is not complete."""
    return any((place(output) / name).exists() for name in (NAME, BEGUN))


def begin(output: str | Path) -> None:
    """Mark that a new run has begun; what an older one has left counts no more."""
    with replacing(place(output) / BEGUN) as file:
        file.write(b"A run has begun and has not saved its state yet.\n")


def take_back(output: str | Path) -> None:
    """After an error before the first state: as if the run had never begun."""
    with contextlib.suppress(OSError):  # a folder with an older run's state stays
        for path in (place(output) / BEGUN, *place(output).glob("tokenizer-*"), *place(output).glob("raw-*")):
            path.unlink(missing_ok=True)
        place(output).rmdir()


def save(output: str | Path, config: Config, fingerprint: str, state: dict[str, Any], history: str) -> None:
    content = io.BytesIO()  # torch would hide from us why a file cannot be written
    torch.save({"format": FORMAT, "config": _text(config), "fingerprint": fingerprint, "state": state}, content)
    with replacing(place(output) / NAME) as file:
        file.write(content.getbuffer())
    with replacing(place(output) / HISTORY) as file:
        file.write(history.encode())
    (place(output) / BEGUN).unlink(missing_ok=True)


def load(output: str | Path, config: Config, fingerprint: str) -> dict[str, Any] | None:
    """The state saved for this configuration and data, if there is one."""
    path = place(output) / NAME
    if not path.exists() or (place(output) / BEGUN).exists():
        return None
    try:
        content = torch.load(path, weights_only=True, map_location="cpu")
        saved, state = json.loads(content["config"]), content["state"]
    except Exception as error:  # whatever a damaged file makes torch raise
        raise ModelError(f"{path}: cannot be read ({type(error).__name__}); delete it to start anew") from None
    if content["format"] != FORMAT:
        raise ModelError(f"{path}: written by another release; finish the run with that one, or delete it")
    different = differences(saved, as_table(config))
    if different:
        raise ModelError(
            f"{path.parent}: was started with other settings ({_compared(different[:5], saved, as_table(config))}); "
            "give the same ones to resume, or delete it to start anew"
        )
    if content["fingerprint"] != fingerprint:
        raise ModelError(f"{path.parent}: the training files have changed since; delete it to start anew")
    return state


def _compared(names: list[str], saved: dict[str, Any], now: dict[str, Any]) -> str:
    """Values of settings by their dotted names, then and now."""

    def value(table: Any, name: str) -> str:
        for key in name.split("."):
            table = table.get(key) if isinstance(table, dict) else None
        return json.dumps(table, ensure_ascii=False)

    return ", ".join(f"{name}={value(saved, name)}, now {value(now, name)}" for name in names)


def discard(output: str | Path) -> None:
    """All but the lock, which keeps others out as long as it is there."""
    with contextlib.suppress(OSError):
        for path in place(output).iterdir():
            if path.name != LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        place(output).rmdir()


def _text(config: Config) -> str:
    table = as_table(config)
    for name in UNIMPORTANT:
        del table["train"][name]
    return json.dumps(table, sort_keys=True)


def differences(saved: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Names of the settings that are others than those saved, of those that change the result."""
    unimportant = {f"train.{name}" for name in UNIMPORTANT}
    saved = merged(as_table(Config()), saved)  # it may be older than a setting
    return [key for key in different_keys(saved, wanted) if key not in unimportant]
