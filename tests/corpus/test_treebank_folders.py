"""Treebanks from the repositories of Universal Dependencies, on a server of our own, and from folders."""

import functools
import gzip
import http.server
import shutil
import threading

import pytest

from softparse.corpus import treebanks
from softparse.corpus.problems import CorpusError
from softparse.corpus.treebank_sources import SPLITS
from tests.corpus.packages_made_here import SENTENCE, names


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    folder = tmp_path / "mirror"
    for branch, splits in (("master", SPLITS), ("r2.16", ["test"])):
        (folder / "UD_Welsh-CCG" / "raw" / branch).mkdir(parents=True)
        for split in splits:
            path = folder / "UD_Welsh-CCG" / "raw" / branch / f"cy_ccg-ud-{split}.conllu"
            path.write_text(SENTENCE.format(f"{branch}-{split}"))

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def send_header(self, name, value):
            if name == "Content-Length" and "broken" in self.path:
                value = str(int(value) + 1)
            super().send_header(name, value)

    handler = functools.partial(Handler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("SOFTPARSE_UD_URL", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("no_proxy", "*")
    yield folder
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("code", ["cy_ccg", "UD_Welsh-CCG"])
def test_a_repository(mirror, tmp_path, code):
    paths = treebanks.get(code, tmp_path / "out")
    assert [path.name for path in paths] == [f"cy_ccg-ud-{split}.conllu" for split in SPLITS]
    assert paths[0].read_text() == SENTENCE.format("master-train")


def test_a_release_with_one_file(mirror, tmp_path):
    messages = []
    (path,) = treebanks.get("cy_ccg@2.16", tmp_path, report=messages.append)
    assert path.read_text() == SENTENCE.format("r2.16-test")
    assert "UD_Welsh-CCG has no train file" in messages
    with pytest.raises(CorpusError, match=r"no files of cy_ccg in r9.9; check the name and the release"):
        treebanks.get("cy_ccg@9.9", tmp_path)


def test_a_download_that_breaks_off_or_is_something_else(mirror, tmp_path):
    shutil.copytree(mirror / "UD_Welsh-CCG" / "raw" / "master", mirror / "UD_Welsh-CCG" / "raw" / "rbroken")
    with pytest.raises(CorpusError, match=r"broke off|cannot be downloaded"):
        treebanks.get("cy_ccg@broken", tmp_path / "out")
    (mirror / "UD_Welsh-CCG" / "raw" / "master" / "cy_ccg-ud-dev.conllu").write_text("<html>Log in</html>")
    with pytest.raises(CorpusError, match="what came is not CoNLL-U"):
        treebanks.get("cy_ccg", tmp_path / "out")
    assert names(tmp_path / "out") == []


def test_a_mirror_that_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTPARSE_UD_URL", "nowhere")
    with pytest.raises(CorpusError, match="cannot be downloaded"):
        treebanks.get("cy_ccg", tmp_path / "out")


def test_no_network(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTPARSE_UD_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    message = r"cannot be downloaded \(.*refused.*\); without internet, .*: softparse treebank get CODE --from DIR"
    with pytest.raises(CorpusError, match=message):
        treebanks.get("cy_ccg", tmp_path)


def _release(folder, code="cy_ccg", name="UD_Welsh-CCG"):
    (folder / name).mkdir(parents=True)
    for split in ("train", "test"):
        (folder / name / f"{code}-ud-{split}.conllu").write_text(SENTENCE.format(split))


@pytest.mark.parametrize("code", ["cy_ccg", "UD_Welsh-CCG"])
@pytest.mark.parametrize("depth", ["", "release", "release/UD_Welsh-CCG"])
def test_a_folder(tmp_path, code, depth):
    _release(tmp_path / "release")
    _release(tmp_path / "release", "cy_other", "UD_Welsh-Other")
    paths = treebanks.get(code, tmp_path / "out", source=tmp_path / depth)
    assert [path.name for path in paths] == ["cy_ccg-ud-train.conllu", "cy_ccg-ud-test.conllu"]
    assert paths[1].read_text() == SENTENCE.format("test")


def test_a_folder_of_a_treebank_that_is_nowhere_else(tmp_path):
    _release(tmp_path, "xx_own", "UD_Own-OWN")
    for code in ("xx_own", "UD_Own-OWN"):
        assert len(treebanks.get(code, tmp_path / "out", source=tmp_path)) == 2
        shutil.rmtree(tmp_path / "out")
    packed = tmp_path / "UD_Own-OWN" / "xx_own-ud-dev.conllu.gz"
    packed.write_bytes(gzip.compress(b"packed"))
    assert treebanks.get("xx_own", tmp_path / "out", source=tmp_path)[1].read_bytes() == b"packed"


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:20] + b"\xff\xff" + data[22:]])
def test_a_packed_file_that_is_damaged(tmp_path, damage):
    _release(tmp_path)
    packed = tmp_path / "UD_Own-OWN" / "xx_own-ud-dev.conllu.gz"
    packed.parent.mkdir()
    packed.write_bytes(damage(gzip.compress(SENTENCE.encode() * 9)))
    with pytest.raises(CorpusError, match=r"xx_own-ud-dev.conllu.gz: cannot be read to its end"):
        treebanks.get("xx_own", tmp_path / "out", source=tmp_path)
    assert not list((tmp_path / "out").glob("*"))


def test_folders_without_it(tmp_path):
    _release(tmp_path)
    with pytest.raises(CorpusError, match=r"no cy_cgg-ud-\*.conllu in it or in its folders \(close: cy_ccg\)"):
        treebanks.get("cy_cgg", tmp_path / "out", source=tmp_path)
    with pytest.raises(CorpusError, match="not a folder"):
        treebanks.get("cy_ccg", tmp_path / "out", source=tmp_path / "absent")
    _release(tmp_path / "other")
    with pytest.raises(CorpusError, match=r"cy_ccg is in several places \("):
        treebanks.get("cy_ccg", tmp_path / "out", source=tmp_path)
