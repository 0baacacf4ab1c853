"""Small archives in the place of those that registries ship."""

import hashlib
import io
import shutil
import tarfile
import zipfile

from softparse.corpus import packages

SENTENCE = (
    "# sent_id = {0}\n"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tdo\t_\t_\t_\t_\t0\troot\t_\t_\n"
    "2\tn't\t_\t_\t_\t_\t1\tneg\t_\tX={0}\n\n"
)


def wheel(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tarball(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def serve(monkeypatch, path, registry="pip"):
    """A package whose archive is this file, fetched by copying; returns it and the list of fetches."""
    fetched = []

    def fetch(package, folder):
        fetched.append(package)
        return shutil.copy(path, folder)

    monkeypatch.setattr(packages, "fetch", fetch)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return packages.Package("made-here", "1.0", digest, 1, registry), fetched


def names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []
