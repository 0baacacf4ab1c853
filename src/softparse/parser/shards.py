"""A folder of parsed files that many workers fill: what goes where, what is done, and what a rerun may keep.

Every input file becomes one output file of the folder. It is parsed in parts, which lie in `FOLDER/.softparse` until
all of them are there; then they are put together in order, the output takes its name, and a record says from which
input it was made. All files appear under their names only when complete, so a run can be killed at any moment, and the
next one does what is missing. Nothing here knows who parses the parts.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..corpus.files import STANDARD, opened, replacing, saying, written
from ..corpus.formats import named
from ..corpus.problems import CorpusError
from .bulk import Options
from .folder import CONFIG, METRICS, TOKENIZER, VECTOR_WORDS, VECTORS, VOCABULARY, WEIGHTS

BOOKS = ".softparse"
RUN = "run.json"
ENDS = re.compile(r"(\.txt)?(\.gz)?$", re.IGNORECASE)
COPIED_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Shard:
    """An input file, where its output and its parts go, and the size and time that tell this input from others."""

    source: str
    name: str  # of the input, as it was given
    output: str
    books: str
    size: int
    time: int

    @property
    def record(self) -> Path:
        return Path(self.books) / f"{Path(self.output).name}.json"

    @property
    def parts(self) -> Path:
        return Path(self.books) / f"{Path(self.output).name}.{self.size}.{self.time}"

    def part(self, number: int) -> Path:
        return self.parts / f"{number:08}.conllu"

    def start(self) -> set[int]:
        """Begin, or go on: the parts that an earlier run has left of this input, and not of what it was before."""
        for path in Path(self.books).glob("*"):
            of_this = re.fullmatch(rf"{re.escape(Path(self.output).name)}\.\d+\.\d+", path.name)
            if of_this and path != self.parts:
                shutil.rmtree(path, ignore_errors=True)
        if not self.parts.is_dir():
            return set()
        for path in self.parts.glob("*.tries"):
            path.unlink()
        return {int(path.stem) for path in self.parts.glob("*.conllu") if path.stem.isdecimal()}

    def tries(self, number: int) -> int:
        """How often somebody has begun to parse this part, this time included."""
        path = self.part(number).with_suffix(".tries")
        with saying(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "ab") as file:
                file.write(b".")
                return file.tell()

    @property
    def counts(self) -> tuple[int, int] | None:
        """Sentences and words of the output, if it is there and was made from this input."""
        try:
            record = json.loads(self.record.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        if not Path(self.output).exists() or (record["size"], record["time"]) != (self.size, self.time):
            return None
        return record["sentences"], record["words"]

    def write_part(self, number: int, text: bytes) -> None:
        with replacing(self.part(number)) as file:
            file.write(text)

    def put_together(self, parts: int, sentences: int, words: int) -> None:
        """The output of all parts in order; they are removed when nothing can be lost any more."""
        if self.counts is not None:  # somebody has done it meanwhile
            return
        with written(self.output) as file:
            for number in range(parts):
                with opened(self.part(number)) as part:
                    shutil.copyfileobj(part, file, COPIED_AT_ONCE)
        made = {"source": self.source, "size": self.size, "time": self.time, "sentences": sentences, "words": words}
        with replacing(self.record) as file:
            file.write(json.dumps(made, indent=1).encode())
        shutil.rmtree(self.parts, ignore_errors=True)


def plan(folder: str, sources: Sequence[str], model: str, options: Options, kind: str | None) -> list[Shard]:
    """The shards of a run, in the order of the inputs; raises if the folder holds anything else."""
    place = Path(folder).absolute()
    if place.exists() and not place.is_dir():
        raise CorpusError(f"{folder}: is a file; the output is a folder with a file for every input")
    shards: dict[str, Shard] = {}
    for source in sources:
        shard = _shard(place, source)
        if shard.output in shards:
            other = shards[shard.output].source
            raise CorpusError(f"{source}: its output would be {shard.output}, as that of {other}; rename one of them")
        shards[shard.output] = shard
    for shard in shards.values():
        if os.path.exists(shard.output) and not shard.record.exists() and not shard.parts.exists():
            raise CorpusError(f"{shard.output}: is there and was not made by such a run; choose another folder")
    # Another release may cut its input into other windows, and parts of both would not fit together.
    _enter(place, {"model": digest(model), "options": asdict(options), "format": kind, "softparse": __version__})
    return list(shards.values())


def _shard(folder: Path, source: str) -> Shard:
    if source == STANDARD:
        raise CorpusError("standard input can be read by one process only; give files, which all workers can reach")
    with opened(source):  # says what is wrong with it
        status = os.stat(source)
    return Shard(
        os.path.abspath(source),
        source,
        str(folder / output_name(source)),
        str(folder / BOOKS),
        status.st_size,
        status.st_mtime_ns,
    )


def output_name(source: str) -> str:
    """The name of an input as one of CoNLL-U, packed if it was.

    >>> [output_name(name) for name in ("a/x.conllu.gz", "x.txt", "X.TXT.GZ", "x.tokens", "x.conllx")]
    ['x.conllu.gz', 'x.conllu', 'X.conllu.gz', 'x.tokens.conllu', 'x.conllx']
    """
    name = os.path.basename(source)
    if named(name):
        return name
    packed = ".gz" if name.lower().endswith(".gz") else ""
    return f"{ENDS.sub('', name)}.conllu{packed}"


def digest(model: str) -> str:
    """What tells models apart: the content of the files that parsing depends on."""
    sums = hashlib.sha256()
    # METRICS has the temperatures.
    for name in (CONFIG, VOCABULARY, WEIGHTS, VECTOR_WORDS, VECTORS, METRICS, TOKENIZER):
        path = Path(model) / name
        if path.exists():
            with open(path, "rb") as file:
                sums.update(f"{name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return sums.hexdigest()


def _enter(folder: Path, run: dict[str, Any]) -> None:
    """Note what is done here, or see that it is the same as before."""
    path = folder / BOOKS / RUN
    with saying(path):
        if not path.exists():
            with replacing(path) as file:
                file.write(json.dumps(run, indent=1).encode())
            return
        text = path.read_text(encoding="utf-8")
    try:
        before = json.loads(text)
    except json.JSONDecodeError:
        raise CorpusError(f"{path}: not JSON; the file is damaged, remove the folder {folder}") from None
    if before != run:
        names = [name for name in ("model", "format", "softparse") if before.get(name) != run[name]]
        old, new = before.get("options", {}), run["options"]
        names += [f"{name} (was {old.get(name)}, is {new[name]})" for name in new if old.get(name) != new[name]]
        message = f"holds the output of another run; these differ: {', '.join(names)}"
        raise CorpusError(f"{folder}: {message}. Choose another folder, or remove this one")
