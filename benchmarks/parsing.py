"""Parsing from file to file against spaCy and UDPipe 1, on one thread, and with two workers.

    pip install -c constraints.txt -e '.[bench,peers]'
    python benchmarks/parsing.py MODEL --train TREES.conllu --input TEST.conllu

The peers are trained here on the same trees, but only just (their speed does not depend on how well they parse):
spaCy's `tok2vec` + `parser` as its `init config --optimize accuracy` makes them, and UDPipe's `parsito` without tags.
Models are loaded before the clock starts; reading and writing CoNLL-U is part of the time. The systems take turns, and
the best of several rounds counts. Also: reading alone against the package conllu.
"""

from __future__ import annotations

import sys

# As a script, this folder would come first on the path, and operator.py in the place of Python's own.
sys.path[:] = [folder for folder in sys.path if not folder.endswith("benchmarks")]

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import json
import platform
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import conllu
import torch

from softparse import load
from softparse.corpus.conllu import read
from softparse.parser.bulk import Options, parsed_texts


def spacy_peers(train: Path, source: Path, folder: Path) -> dict[str, Callable[[], None]]:
    """spaCy as it is installed, and with numpy's matrix products, which are faster than blis' on some machines."""
    import spacy
    from spacy.tokens import Doc
    from thinc.backends.numpy_ops import NumpyOps

    def run(*arguments: str) -> None:
        subprocess.run([sys.executable, "-m", "spacy", *arguments], check=True, capture_output=True)

    (folder / "train.conllu").write_bytes(train.read_bytes())
    run("convert", str(folder / "train.conllu"), str(folder), "-c", "conllu", "-n", "1")
    run("init", "config", str(folder / "c.cfg"), "--lang", "xx", "--pipeline", "parser", "--optimize", "accuracy")
    run(
        "train", str(folder / "c.cfg"), "--output", str(folder / "out"), "--paths.train", str(folder / "train.spacy"),
        "--paths.dev", str(folder / "train.spacy"), "--paths.vectors", "null", "--initialize.vectors", "null",
        "--components.tok2vec.model.embed.include_static_vectors", "false", "--training.max_steps", "30",
        "--training.eval_frequency", "30",
    )  # fmt: skip

    def parser(nlp: spacy.Language) -> Callable[[], None]:
        def parse() -> None:
            sentences = list(read(source))
            docs = (
                Doc(nlp.vocab, words=sentence.words, sent_starts=[place == 0 for place in range(len(sentence))])
                for sentence in sentences
            )
            with open(folder / "spacy.conllu", "wb") as file:
                for sentence, doc in zip(sentences, nlp.pipe(docs), strict=True):
                    heads = [0 if word.head.i == word.i else word.head.i + 1 for word in doc]
                    file.write(sentence.with_tree(heads, [word.dep_ for word in doc]).text().encode())

        return parse

    as_installed = spacy.load(folder / "out" / "model-last")
    make = NumpyOps.__init__
    NumpyOps.__init__ = lambda self, *given, **named: make(self, *given, **(named | {"use_blis": False}))
    spacy.require_cpu()
    with_numpy = spacy.load(folder / "out" / "model-last")
    NumpyOps.__init__ = make
    return {"spaCy": parser(as_installed), "spaCy, numpy": parser(with_numpy)}


def udpipe_peer(train: Path, source: Path, folder: Path) -> Callable[[], None]:
    import ufal.udpipe as udpipe

    error = udpipe.ProcessingError()

    def sentences(path: Path):
        reader = udpipe.InputFormat.newConlluInputFormat()
        reader.setText(path.read_text(encoding="utf-8"))
        sentence = udpipe.Sentence()
        while reader.nextSentence(sentence, error):
            yield sentence
            sentence = udpipe.Sentence()

    trees = udpipe.Sentences()
    for sentence in sentences(train):
        trees.push_back(sentence)
    options = (
        "iterations=1;embedding_form=50;use_gold_tags=0;learning_rate=0.02;learning_rate_final=0.001;l2=0.3;"
        "hidden_layer=200;batch_size=10;dropout_hidden=0.10;embedding_upostag=0;embedding_feats=0;embedding_xpostag=0"
    )
    none = udpipe.Trainer.NONE
    content = udpipe.Trainer.train("morphodita_parsito", trees, udpipe.Sentences(), none, none, options, error)
    if error.occurred():
        raise RuntimeError(error.message)
    (folder / "m.udpipe").write_bytes(content)
    model = udpipe.Model.load(str(folder / "m.udpipe"))
    writer = udpipe.OutputFormat.newConlluOutputFormat()

    def parse() -> None:
        with open(folder / "udpipe.conllu", "w", encoding="utf-8") as file:
            for sentence in sentences(source):
                model.parse(sentence, udpipe.Pipeline.DEFAULT)
                file.write(writer.writeSentence(sentence))

    return parse


def softparse_here(model: str, source: Path, folder: Path) -> Callable[[], None]:
    parser = load(model)

    def parse() -> None:
        with open(folder / "softparse.conllu", "wb") as file:
            for text in parsed_texts(parser, read(source), Options()):
                file.write(text)

    return parse


def best_of(systems: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    seconds = dict.fromkeys(systems, float("inf"))
    for function in systems.values():
        function()
    for _ in range(rounds):
        for name, function in systems.items():
            start = time.perf_counter()
            function()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def workers(model: str, source: Path, folder: Path, times: int) -> dict[str, float]:
    """Seconds for a long file with one and two workers, without what it takes to start: the difference of two files."""
    long, short = folder / "long.conllu", folder / "short.conllu"
    for path, copies in ((short, times // 4), (long, times)):
        path.write_bytes(source.read_bytes() * copies)
    seconds = {}
    for number in (1, 2):
        took = []
        for path in (short, long):
            command = [sys.executable, "-m", "softparse", "parse", model, str(path), "-o", str(folder / "out.conllu"),
                       "--workers", str(number), "--threads", "1"]  # fmt: skip
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            took.append(time.perf_counter() - start)
        seconds[str(number)] = took[1] - took[0]
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copies", type=int, default=24, help="of the input, for the run with workers")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "parsing.json")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    number = sum(1 for _ in read(arguments.input))
    words = sum(map(len, read(arguments.input)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        systems = {
            "softparse": softparse_here(arguments.model, arguments.input, folder),
            **spacy_peers(arguments.train, arguments.input, folder),
            "UDPipe 1": udpipe_peer(arguments.train, arguments.input, folder),
        }
        seconds = best_of(systems, arguments.rounds)
        reading = best_of(
            {
                "softparse": lambda: sum(len(sentence.heads) for sentence in read(arguments.input)),
                "conllu": lambda: sum(map(len, conllu.parse(arguments.input.read_text(encoding="utf-8")))),
            },
            arguments.rounds,
        )
        shared = workers(arguments.model, arguments.input, folder, arguments.copies)
    print(f"{number} sentences, {words} words, one thread, from file to file")
    for name, value in seconds.items():
        ratio = value / seconds["softparse"]
        print(f"{name:>12} {number / value:8.0f} sentences/s {words / value:8.0f} words/s  {ratio:.2f} times the time")
    print(f"two workers: {shared['1'] / shared['2']:.2f} times as fast as one")
    print(f"reading: {reading['conllu'] / reading['softparse']:.1f} times as fast as the package conllu")
    result = {
        "sentences": number, "words": words, "seconds": seconds, "reading_seconds": reading,
        "seconds_by_workers": shared,
        "machine": {"processor": platform.processor() or platform.machine()},
        "versions": {"torch": torch.__version__},
    }  # fmt: skip
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
