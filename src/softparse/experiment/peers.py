"""Other parsers on the same files. A peer is a script beside the rows, which trains the parser and parses dev and test;
this project then scores what it wrote, like its own parses.

    python peers/NAME.py --train TREES --dev DEV --test TEST --output FOLDER

writes FOLDER/dev.conllu and FOLDER/test.conllu, and FOLDER/peer.json with the seconds of training and of parsing and
the versions of what it used.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from ..configuration import ConfigurationError
from .processes import call
from .settings import Files

WRITTEN = "peer.json"


def run(script: Path, trees: Path, files: Files, place: Path) -> dict[str, Any]:
    """What the peer says of itself; its parses are in `place` afterwards."""
    if not script.exists():
        known = ", ".join(sorted(path.stem for path in script.parent.glob("[a-z]*.py")))
        raise ConfigurationError(f"{script}: there is no such peer (there are {known or 'none'})")
    if not (place / WRITTEN).exists():  # the last file that it writes
        code = call(
            [sys.executable, str(script), "--train", str(trees), "--dev", str(files.dev), "--test", str(files.test),
             "--output", str(place)]
        )  # fmt: skip
        if code:
            raise ConfigurationError(f"{script}: ended with code {code}; what it said is above")
    found: dict[str, Any] = json.loads((place / WRITTEN).read_text(encoding="utf-8"))
    return found


def folder(row: Path) -> Path:
    """Where the scripts of peers are, by the path of a row."""
    return row.parent.parent / "peers"


def digest(folder: Path) -> str:
    """Of all scripts: what they share may be in files of its own."""
    scripts = sorted(folder.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in scripts)).hexdigest()[:12]
