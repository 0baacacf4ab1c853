"""Data settings: which public files an experiment takes, and which sentences of them are trees, raw text, dev and test.

A setting is a TOML file. Paths are relative to a folder of data that everybody has at another place, and checksums make
sure that it is the same data:

    title = "English"
    source = "Universal Dependencies 2.16, UD_English-EWT"
    scheme = "modulo"                   # every tenth sentence of `train` keeps its tree, the others are raw;
                                        # sections: parts of all of `train` by number; given: as the files are
    train = ["ud/en_ewt/en_ewt-ud-train.conllu"]
    dev = ["ud/en_ewt/en_ewt-ud-dev.conllu"]
    test = ["ud/en_ewt/en_ewt-ud-test.conllu"]
    raw = []
    vectors = "get en"                  # the end of a command `softparse vectors …`, or "train" (on trees and raw text)
    [checksums]
    "ud/en_ewt/en_ewt-ud-train.conllu" = "…"
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from ..configuration import ConfigurationError, build, choice, read_toml
from ..corpus.conllu import read_all, write
from ..corpus.files import replacing
from ..corpus.locks import locked
from ..corpus.splits import write_modulo, write_sections

PARTS = ("labeled", "dev", "test")
MADE_FROM = "made-from.json"


@dataclass(frozen=True)
class Setting:
    title: str = ""
    source: str = ""
    scheme: str = choice("given", "modulo", "sections")
    train: list[str] = field(default_factory=list)
    dev: list[str] = field(default_factory=list)
    test: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    vectors: str = ""
    is_licensed: bool = False  # data that has to be bought, and differs in how it was converted: no checksums


@dataclass(frozen=True)
class Files:
    """The files of a setting, ready for training; checksums are of the public files they were made of."""

    labeled: Path
    dev: Path
    test: Path
    raw: list[Path]
    checksums: dict[str, str]
    identity: str  # of all of them: the public files, and how they were split


def read_setting(path: Path) -> tuple[Setting, dict[str, str]]:
    """A setting, and the checksums of its files."""
    table = read_toml(path)
    checksums = table.pop("checksums", {})
    setting = build(Setting, table, f"{path.name}: ")
    if not setting.train:
        raise ConfigurationError(f"{path}: names no file under train")
    return setting, checksums


def prepare(path: Path, data: Path, folder: Path, needs_raw: bool = True) -> Files:
    """Make the files of a setting in `folder`, from the public ones in `data`, if they are not there yet.

    Files of raw text that are not needed may not be there.
    """
    setting, checksums = read_setting(path)
    names = [*setting.train, *setting.dev, *setting.test]
    raw_names = [name for name in setting.raw if needs_raw or (data / name).exists()]
    found = {name: _checked(data / name, checksums.get(name), setting) for name in names}
    identity = _identity(setting, found)  # what is made does not depend on files of raw text
    found |= {name: _checked(data / name, checksums.get(name), setting) for name in raw_names}
    with locked(folder.with_suffix(".lock"), wait=True):  # runs of a setting begin at the same time
        if made_from(folder) != identity:
            with tempfile.TemporaryDirectory(dir=folder.parent) as name:  # complete when it has its name
                made = Path(name) / "made"
                _split(setting, data, made)
                (made / MADE_FROM).write_text(identity, encoding="utf-8")
                if folder.exists():  # of other files, or older ones
                    folder.rename(Path(name) / "old")
                made.rename(folder)
    raw = [folder / "raw.conllu"] if setting.scheme == "modulo" else []
    raw += [data / name for name in raw_names]
    labeled, dev, test = (folder / f"{part}.conllu" for part in PARTS)
    return Files(labeled, dev, test, raw, found, _identity(setting, found))


def _identity(setting: Setting, checksums: dict[str, str]) -> str:
    """What the files of a setting depend on."""
    made = {"scheme": setting.scheme, "files": [setting.train, setting.dev, setting.test], "vectors": setting.vectors}
    return json.dumps(made | checksums)


def made_from(folder: Path) -> str | None:
    """The identity of the data that a folder was made from."""
    with contextlib.suppress(OSError):
        return (folder / MADE_FROM).read_text(encoding="utf-8")
    return None


def _split(setting: Setting, data: Path, folder: Path) -> None:
    train = [data / name for name in setting.train]
    if setting.scheme == "modulo":
        write_modulo(train, folder)
    elif setting.scheme == "sections":
        write_sections(train, folder)
    else:
        copy(train, folder / "labeled.conllu")
    for part, names in (("dev", setting.dev), ("test", setting.test)):
        if names:
            copy([data / name for name in names], folder / f"{part}.conllu")


def copy(paths: list[Path], target: Path, places: Collection[int] | None = None, kind: str | None = "conllu") -> None:
    """The sentences of files in one, or only those at some places. Without a kind, files tell theirs."""
    with replacing(target) as file:
        for place, sentence in enumerate(read_all(paths, kind)):
            if places is None or place in places:
                file.write(write(sentence))


def _checked(path: Path, expected: str | None, setting: Setting) -> str:
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ConfigurationError(
            f"{path}: {error.strerror}; this experiment needs {setting.source}; name its folder with --data"
        ) from None
    if expected and found != expected:
        raise ConfigurationError(f"{path}: is another version than the experiment's ({setting.source}): its checksum "
                                 f"is {found}, not {expected}")  # fmt: skip
    return found
