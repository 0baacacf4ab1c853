"""Training word vectors with gensim, and reading what gensim writes."""

import gzip
import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from softparse.corpus.problems import CorpusError
from softparse.corpus.vectors import read_vectors
from softparse.ext.gensim_vectors import train_vectors

ANIMALS = ["hund", "katt", "häst", "ko", "får"]
COLOURS = ["röd", "blå", "grön", "gul", "vit"]
SCRIPT = """
import sys
from softparse.ext.gensim_vectors import train_vectors
train_vectors([sys.argv[1]], sys.argv[2], dimension=8, epochs=2, algorithm=sys.argv[3])
"""


@pytest.fixture
def text(tmp_path):
    """Two topics, whose words never meet."""
    generator = np.random.default_rng(0)
    topics = [ANIMALS, COLOURS]
    lines = [" ".join(generator.choice(topics[i % 2], 6)) for i in range(2000)]
    path = tmp_path / "text.txt"
    path.write_text("\n".join([*lines, "Rare ONCE"]) + "\n")
    return path


@pytest.mark.parametrize("algorithm", ["skip-gram", "subword"])
def test_words_that_meet_are_close(tmp_path, text, algorithm):
    messages = []
    path = tmp_path / "out.vec.gz"
    trained = train_vectors([text], path, dimension=20, algorithm=algorithm, report=messages.append)
    found = read_vectors(path)
    assert found.words == trained.words
    np.testing.assert_array_equal(found.matrix, trained.matrix)
    assert set(found.words) == {*ANIMALS, *COLOURS}
    unit = dict(zip(found.words, found.matrix / np.linalg.norm(found.matrix, axis=1, keepdims=True), strict=True))
    assert unit["hund"] @ unit["katt"] > unit["hund"] @ unit["röd"] + 0.1
    assert messages[0] == "12002 words, 10 different ones seen at least 2 times"
    assert messages[1:-1] == [f"epoch {epoch} of 30" for epoch in range(1, 31)]  # so little text needs many
    assert messages[-1].endswith("10 vectors of 20 numbers")


@pytest.mark.parametrize("algorithm", ["skip-gram", "subword"])
def test_the_same_in_every_process(tmp_path, text, algorithm):
    sums = set()
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.vec"
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", SCRIPT, text, path, algorithm], check=True, env=environment)
        sums.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(sums) == 1


def test_seed_case_and_words_not_seen(tmp_path, text):
    def train(name, **options):
        return train_vectors([text], tmp_path / name, dimension=4, epochs=1, **options)

    assert not np.array_equal(train("a").matrix, train("b", seed=2).matrix)
    assert {"rare", "once"} <= set(train("c", lower=True, min_count=1).words)
    found = train("d", algorithm="subword", also=["Hundar", "hund", " ", ""])
    assert found.words[-1] == "Hundar"
    assert len(found.words) == 11
    assert train("e", algorithm="subword", also=["Hundar"], lower=True).words[-1] == "hundar"


def test_treebanks_and_packed_files(tmp_path):
    rows = "1\tNew York\t_\t_\t_\t_\t0\troot\t_\t_\n2\tsover\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
    path = tmp_path / "x.conllu.gz"
    path.write_bytes(gzip.compress((rows * 3).encode()))
    train_vectors([path], tmp_path / "out.vec", dimension=2)
    assert set(read_vectors(tmp_path / "out.vec").words) == {"New York", "sover"}


def test_errors(tmp_path, text, monkeypatch):
    with pytest.raises(CorpusError, match="unknown algorithm 'glove'; there are skip-gram and subword"):
        train_vectors([text], tmp_path / "x", algorithm="glove")
    with pytest.raises(CorpusError, match="use the algorithm subword"):
        train_vectors([text], tmp_path / "x", also=["word"])
    with pytest.raises(CorpusError, match="no word occurs 90000 times"):
        train_vectors([text], tmp_path / "x", min_count=90000)
    os.mkfifo(tmp_path / "pipe")
    for stream in ("-", tmp_path / "pipe"):
        with pytest.raises(CorpusError, match="reads the text several times, so it must be a file"):
            train_vectors([stream], tmp_path / "x")
    with pytest.raises(CorpusError, match="give at least one file"):
        train_vectors([], tmp_path / "x")
    with pytest.raises(CorpusError, match="No such file"):
        train_vectors([tmp_path / "absent"], tmp_path / "x")
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(CorpusError, match=r"needs gensim .* pip install 'softparse\[vectors\]'"):
        train_vectors([text], tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_text_that_is_gone_after_it_was_counted(tmp_path, text):
    """gensim reads in a thread; an error there must not leave it waiting."""
    with pytest.raises(CorpusError, match="No such file"):
        train_vectors([text], tmp_path / "x", report=lambda message: text.unlink(missing_ok=True))
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("binary", [False, True])
def test_what_gensim_writes(tmp_path, binary):
    from gensim.models import KeyedVectors

    generator = np.random.default_rng(0)
    vectors = KeyedVectors(30)
    words = [f"ord{i}å" for i in range(500)]
    vectors.add_vectors(words, generator.normal(size=(500, 30)).astype(np.float32))
    vectors.save_word2vec_format(str(tmp_path / "gensim"), binary=binary)
    found = read_vectors(tmp_path / "gensim")
    assert found.words == words
    np.testing.assert_allclose(found.matrix, vectors.vectors, rtol=1e-6)


def test_what_gensim_reads(tmp_path, text):
    from gensim.models import KeyedVectors

    trained = train_vectors([text], tmp_path / "out.vec.gz", dimension=4, epochs=1)
    loaded = KeyedVectors.load_word2vec_format(str(tmp_path / "out.vec.gz"))
    assert loaded.index_to_key == trained.words
    np.testing.assert_array_equal(loaded.vectors, trained.matrix)
