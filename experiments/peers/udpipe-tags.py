"""UDPipe 1 in its native setting: a tagger trained on the treebank's tags, and a parser that sees its tags."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import tempfile
import time
from pathlib import Path

import ufal.udpipe as udpipe

from softparse.corpus.conllu import read, write
from softparse.corpus.files import replacing

OPTIONS = (
    "iterations=30;embedding_form=50;use_gold_tags=0;learning_rate=0.02;learning_rate_final=0.001;l2=0.3;"
    "hidden_layer=200;batch_size=10;dropout_hidden=0.10"
)


def sentences(path: Path) -> udpipe.Sentences:
    reader, error, found = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError(), udpipe.Sentences()
    reader.setText(path.read_text(encoding="utf-8"))
    while True:
        sentence = udpipe.Sentence()
        if not reader.nextSentence(sentence, error):
            if error.occurred():
                raise SystemExit(f"{path}: {error.message}")
            return found
        found.push_back(sentence)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("train", "dev", "test", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    arguments = parser.parse_args()
    error, trainer = udpipe.ProcessingError(), udpipe.Trainer
    started = time.time()
    parts = sentences(arguments.train), sentences(arguments.dev)
    content = trainer.train("morphodita_parsito", *parts, trainer.NONE, trainer.DEFAULT, OPTIONS, error)
    if error.occurred():
        raise SystemExit(error.message)
    seconds = {"training": time.time() - started}
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        model = udpipe.Model.load(file.name)
    for part in ("dev", "test"):
        found, trees = sentences(getattr(arguments, part)), []
        started = time.time()
        for sentence in found:  # each is a copy
            model.tag(sentence, model.DEFAULT)
            model.parse(sentence, model.DEFAULT)
            trees.append([(word.head, word.deprel) for word in list(sentence.words)[1:]])
        seconds[f"parsing {part}"] = time.time() - started
        with replacing(arguments.output / f"{part}.conllu") as file:
            for gold, tree in zip(read(getattr(arguments, part), "conllu"), trees, strict=True):
                file.write(write(gold.with_tree([head for head, _ in tree], [label for _, label in tree])))
    versions = {"ufal.udpipe": importlib.metadata.version("ufal.udpipe")}
    with replacing(arguments.output / "peer.json") as file:
        file.write(json.dumps({"seconds": seconds, "versions": versions}).encode())


if __name__ == "__main__":
    main()
