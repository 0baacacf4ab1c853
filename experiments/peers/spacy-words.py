"""spaCy's parser (tok2vec and parser, no vectors) trained from nothing on a treebank.

The settings are spaCy's own for accuracy on a processor, with an evaluation at every 200th step and 1600 steps of
patience. They leave out what the trees have less than 30 times (min_action_freq), which on 1255 trees are the labels of
one word in a hundred. It sees words alone; a sentence of the treebank is a document. Matrices are multiplied by numpy
instead of the library blis, spaCy's own choice: the same numbers up to rounding in about half of the time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import spacy
from _spacy_training import STATE, train
from spacy.tokens import Doc, DocBin
from thinc.backends.numpy_ops import NumpyOps

from softparse.corpus.conllu import read, write
from softparse.corpus.files import replacing


def leave_out_blis() -> None:
    """What computes for a model is made in many places of thinc; all of them come by here."""
    make = NumpyOps.__init__
    NumpyOps.__init__ = lambda self, *given, **named: make(self, *given, **(named | {"use_blis": False}))


def documents(path: Path, nlp: spacy.Language, with_trees: bool) -> list[Doc]:
    made = []
    for sentence in read(path, "conllu"):
        size = len(sentence)
        trees = {}
        if with_trees:
            heads = [word if head == 0 else head - 1 for word, head in enumerate(sentence.heads)]
            trees = {"heads": heads, "deps": ["ROOT" if label == "root" else label for label in sentence.labels]}
        starts = None if with_trees else [True] + [False] * (size - 1)
        made.append(Doc(nlp.vocab, words=sentence.words, sent_starts=starts, **trees))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("train", "dev", "test", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--language", default="xx")
    arguments = parser.parse_args()
    leave_out_blis()
    nlp = spacy.blank(arguments.language)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for part in ("train", "dev"):
            DocBin(docs=documents(getattr(arguments, part), nlp, True)).to_disk(work / f"{part}.spacy")
        config = ["init", "config", str(work / "config.cfg"), "--lang", arguments.language, "--pipeline", "parser",
                  "--optimize", "accuracy"]  # fmt: skip
        subprocess.run([sys.executable, "-m", "spacy", *config], check=True, stdout=sys.stderr)
        settings = {
            "paths.train": str(work / "train.spacy"),
            "paths.dev": str(work / "dev.spacy"),
            "paths.vectors": None,
            "initialize.vectors": None,
            "components.tok2vec.model.embed.include_static_vectors": False,
            "training.eval_frequency": 200,
            "training.patience": 1600,
        }
        with contextlib.redirect_stdout(sys.stderr):
            trained, took = train(work / "config.cfg", settings, arguments.output)
        seconds = {"training": took}
    for part in ("dev", "test"):
        texts = documents(getattr(arguments, part), trained, False)
        started = time.time()
        parsed = list(trained.pipe(texts))
        seconds[f"parsing {part}"] = time.time() - started
        with replacing(arguments.output / f"{part}.conllu") as file:
            for sentence, doc in zip(read(getattr(arguments, part), "conllu"), parsed, strict=True):
                heads = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
                labels = ["root" if head == 0 else token.dep_ for head, token in zip(heads, doc, strict=True)]
                file.write(write(sentence.with_tree(heads, labels)))
    with replacing(arguments.output / "peer.json") as file:
        file.write(json.dumps({"seconds": seconds, "versions": {"spacy": spacy.__version__}}).encode())
    (arguments.output / STATE).unlink()


if __name__ == "__main__":
    main()
