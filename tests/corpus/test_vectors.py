"""Word vectors: every format a user brings, only what is wanted in memory, and errors that say where."""

import gzip
import re
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softparse.corpus.problems import CorpusError
from softparse.corpus.vectors import read_vectors, write_vectors

TEXT = b"the 0.5 -1 2e-3\nof 1 2 3\nNew York 4 5 6\n. . . 7 8 9\nthe 9 9 9\n"
WORDS = ["the", "of", "New York", ". . ."]
MATRIX = np.array([[0.5, -1, 2e-3], [1, 2, 3], [4, 5, 6], [7, 8, 9]], dtype=np.float32)


def binary(words, matrix, end=b"\n"):
    rows = (
        word.encode() + b" " + struct.pack(f"<{len(row)}f", *row) + end for word, row in zip(words, matrix, strict=True)
    )
    return b"%d %d\n" % matrix.shape + b"".join(rows)


def save(tmp_path, data, name="vectors.txt"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        b"5 3\n" + TEXT,
        gzip.compress(TEXT),
        gzip.compress(b"5 3\n" + TEXT),
        TEXT.replace(b"\n", b"\r\n"),
        TEXT.replace(b"\n", b" \n"),
        b"\xef\xbb\xbf" + TEXT,
        TEXT.removesuffix(b"\n"),
        TEXT.replace(b"\n", b"\n\n"),
        re.sub(rb" (?=[-\d])", b"\t", TEXT),
    ],
    ids=["plain", "header", "gzip", "gzip-header", "crlf", "trailing", "mark", "no-last-end", "blank-lines", "tabs"],
)
def test_text(tmp_path, data):
    found = read_vectors(save(tmp_path, data))
    assert found.words == WORDS
    assert found.matrix.dtype == np.float32
    assert found.dimension == 3
    np.testing.assert_array_equal(found.matrix, MATRIX)
    assert found.skipped == 0
    some = read_vectors(save(tmp_path, data), {"New York", "the", "absent"})
    assert some.words == ["the", "New York"]
    np.testing.assert_array_equal(some.matrix, MATRIX[[0, 2]])


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_binary(tmp_path, end, pack):
    generator = np.random.default_rng(0)
    words = [f"wörd{i}" for i in range(3000)]
    for dimension in (1, 3, 300):
        matrix = generator.normal(size=(3000, dimension)).astype(np.float32)
        path = save(tmp_path, pack(binary(words, matrix, end)))
        found = read_vectors(path)
        assert found.words == words
        np.testing.assert_array_equal(found.matrix, matrix)
        some = read_vectors(path, words[7:9])
        np.testing.assert_array_equal(some.matrix, matrix[7:9])


def test_binary_that_looks_like_lines(tmp_path):
    """A float may start with the byte of a line end."""
    matrix = np.frombuffer(b"\n\n\n?" * 3, dtype="<f4").reshape(1, 3)
    np.testing.assert_array_equal(read_vectors(save(tmp_path, binary(["word"], matrix))).matrix, matrix)


def test_text_that_starts_with_foreign_words(tmp_path):
    found = read_vectors(save(tmp_path, "1 3\nв том числе 1 2 3\n".encode()))
    assert found.words == ["в том числе"]


def test_rows_that_may_be_too_long(tmp_path):
    """A word may end in a number, so these are no errors; but nobody should learn of them from bad scores."""
    found = read_vectors(save(tmp_path, b"4 3\na 1.0 2.0 3.0\nb 1.0 2.0 3.0 4.0\nNew York 1 2 3\nc 9 1 2 3\n"))
    assert found.words == ["a", "b 1.0", "New York", "c 9"]
    assert [(problem.line, problem.is_error) for problem in found.doubtful] == [(3, False), (5, False)]
    assert "the row of 'b 1.0' may have too many numbers: every row needs 3" in str(found.doubtful[0])


def test_nothing_wanted_and_empty_header(tmp_path):
    assert read_vectors(save(tmp_path, TEXT), ()).matrix.shape == (0, 3)
    assert read_vectors(save(tmp_path, b"0 7\n")).matrix.shape == (0, 7)


def test_rows_that_are_skipped(tmp_path):
    data = b"caf\xe9 1 2\n 3 4\ncaf\xc3\xa9 5 6\n"
    for wanted in (None, ["café", ""]):
        found = read_vectors(save(tmp_path, data), wanted)
        assert found.words == ["café"]
        assert found.skipped == 2
    found = read_vectors(save(tmp_path, b"2 2\n" + b"\xe9 " + bytes(8) + b"a " + bytes(8)))
    assert found.words == ["a"]
    assert found.skipped == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a 1 2 3\nb 1 2\n", "vectors.txt:2: row has 2 numbers, the first had 3"),
        (b"a 1.5 2.5\nb 1.5 2.5 3.5\n", "vectors.txt:2: row has 3 numbers, the first had 2"),
        (b"2 3\na 1 2 3\nb 1 2\n", "vectors.txt:3: row has 2 numbers, the first had 3"),
        (b"1 2\na 1.5 2.5 3.5\n", "vectors.txt:2: row has 3 numbers, the header says 2"),
        (b"1 4\na 1.5 2.5 3.5\n", "vectors.txt:2: row has 3 numbers, the header says 4"),
        (b"a 1 2\nb 1 nan\n", "vectors.txt:2: the vector of 'b' has a number that is not finite"),
        (b"a 1 2\nb 1e99 2\n", "vectors.txt:2: the vector of 'b' has a number that is not finite"),
        (b"a 1 2\nb 1 x\n", "vectors.txt:2: 'x' is not a number"),
        (b"3 1\na 1\nb 2\n", "vectors.txt:3: the file ends after 2 of 3 rows"),
        (b"just words\n", "vectors.txt:1: no numbers after 'just words'"),
        (b"", "no vectors in it"),
        (b"\n\n", "no vectors in it"),
        (binary(["a", "b"], np.ones((2, 5)))[:-8], "the file ends within row 2 of 2"),
        (b"9 2\n" + b"a " + b"\x01" * 100_000, "row 2 has no word"),
        (gzip.compress(TEXT)[:-9], "cannot be read to its end"),
        (gzip.compress(TEXT)[:20] + b"\xff" * 30, "cannot be read to its end"),
        (b"PK\x03\x04....", "a zip archive; unpack it"),
        (struct.pack("<i", 793712314), "a fastText model"),
    ],
)
def test_errors(tmp_path, data, message):
    with pytest.raises(CorpusError, match=re.escape(message)):
        read_vectors(save(tmp_path, data))


def test_missing_file(tmp_path):
    with pytest.raises(CorpusError, match="No such file"):
        read_vectors(tmp_path / "absent")


def test_short_rows_are_noticed_among_the_unwanted(tmp_path):
    with pytest.raises(CorpusError, match=":2: row has 1 numbers, the first had 2"):
        read_vectors(save(tmp_path, b"a 1 2\nb 1\nc 1 2\n"), ["c"])


@pytest.mark.parametrize("kind", ["text", "binary"])
def test_memory_does_not_grow_with_the_file(tmp_path, kind):
    matrix = np.full((30_000, 200), 0.25, dtype=np.float32)
    words = [f"w{i}" for i in range(len(matrix))]
    path = tmp_path / "big"
    if kind == "binary":
        path.write_bytes(binary(words, matrix))
    else:
        path.write_bytes(b"".join(word.encode() + b" 0.25" * 200 + b"\n" for word in words))
    size = path.stat().st_size
    del matrix
    wanted = {"w3", "w29999"}
    tracemalloc.start()
    found = read_vectors(path, wanted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.words == ["w3", "w29999"]
    assert size > 23_000_000
    assert peak < 13_000_000


word = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=9).filter(
    lambda text: text == text.strip()
)
number = st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(max_examples=60, deadline=None)
@given(
    words=st.lists(word, unique=True, min_size=1, max_size=6),
    data=st.data(),
    dimension=st.integers(1, 4),
    name=st.sampled_from(["vectors.vec", "vectors.vec.gz"]),
)
def test_what_is_written_is_read(tmp_path_factory, words, data, dimension, name):
    if "." in words[0]:
        words[0] = "first"  # a first row that ends in a decimal would contradict the header
    words = list(dict.fromkeys(words))
    rows = data.draw(st.lists(st.lists(number, min_size=dimension, max_size=dimension), min_size=len(words)))
    matrix = np.array(rows[: len(words)], dtype=np.float32)
    path = tmp_path_factory.mktemp("vectors") / name
    write_vectors(path, words, matrix)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    found = read_vectors(path, words)
    assert found.words == words
    np.testing.assert_array_equal(found.matrix, matrix)


@pytest.mark.parametrize("wrong", ["", " a", "a\nb", "a\r", "\udc80"])
def test_words_that_cannot_be_written(tmp_path, wrong):
    path = save(tmp_path, b"old")
    with pytest.raises(CorpusError, match="cannot be a word"):
        write_vectors(path, ["fine", wrong], np.ones((2, 2)))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_written_counts(tmp_path):
    with pytest.raises(ValueError, match="1 words, but 2 vectors"):
        write_vectors(tmp_path / "x", ["a"], np.ones((2, 2)))


def test_the_first_rows_are_kept_too(tmp_path):
    path = tmp_path / "v.vec"
    path.write_text("the 1 2\na 3 4\nthe 5 6\nzebra 7 8\nyak 9 9\n")
    found = read_vectors(path, {"the", "zebra"}, first=2)
    assert found.words == ["the", "a", "zebra"]
    assert found.matrix.tolist() == [[1, 2], [3, 4], [7, 8]]
