"""Sentences and words in plain text, by a tokenizer trained on trees and by rules, as the official scorer counts them.

    python benchmarks/text.py --treebank NAME TRAIN.conllu TEST.conllu [--treebank …] [--model NAME MODEL]

The text is rebuilt from the test trees (SpaceAfter, `# text`, paragraphs where they are marked), cut into sentences and
words, and compared with the trees' own. With a model, trees are parsed and compared as well, beside those on the words
of the treebank. Needs the extras `text` and `dev` (udtools, the scorer of Universal Dependencies).
"""

from __future__ import annotations

import sys

# As a script, this folder would come first on the path, and operator.py in the place of Python's own.
sys.path[:] = [folder for folder in sys.path if not folder.endswith("benchmarks")]

import argparse
import io
import json
import resource
import time
from pathlib import Path

from udtools import udeval

from softparse.corpus.conllu import read
from softparse.corpus.plain_text import Tokenizer
from softparse.corpus.rule_tokenizer import RuleTokenizer
from softparse.corpus.sentence import Sentence
from softparse.corpus.spacing import running_text
from softparse.ext.tokenizing import UDPipeMaker
from softparse.learning.config import TokenizerConfig
from softparse.parser import Parser, load

RESULTS = Path(__file__).parent / "results" / "text.json"
MEASURES = ("Tokens", "Words", "Sentences", "UAS", "LAS")


def flat(sentence: Sentence) -> Sentence:
    """With some tree; the scorer wants one."""
    heads = [0] + [1] * (len(sentence) - 1)
    return sentence.with_tree(heads, ["root"] + ["dep"] * (len(sentence) - 1), clear_deps=True)


def parsed(parser: Parser, sentences: list[Sentence]) -> list[Sentence]:
    parses = parser.pipe(sentences)
    return [s.with_tree(p.heads, p.labels, clear_deps=True) for s, p in zip(sentences, parses, strict=True)]


def scores(gold: list[Sentence], found: list[Sentence]) -> dict[str, float]:
    texts = ("".join(sentence.text() for sentence in sentences) for sentences in (gold, found))
    counted = udeval.evaluate(*(udeval.load_conllu(io.StringIO(text), "", {}) for text in texts))
    return {name: round(100 * counted[name].f1, 2) for name in MEASURES}


def measure(train: str, test: str, parser: Parser | None) -> dict[str, object]:
    gold = list(read(test))
    text = running_text(gold)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    content = UDPipeMaker().train(list(read(train)), TokenizerConfig().epochs, print)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    result: dict[str, object] = {"seconds to train": round(seconds, 1)}
    tokenizers: dict[str, Tokenizer] = {"rules": RuleTokenizer()}
    if content is not None:
        tokenizers["trained"] = UDPipeMaker().load(content)
    reference = [sentence.with_tree(sentence.heads, sentence.labels, clear_deps=True) for sentence in gold]
    if parser is not None:
        result["words of the treebank"] = scores(reference, parsed(parser, gold))
    for name, tokenizer in tokenizers.items():
        start = time.process_time()
        found = tokenizer.sentences(text)
        seconds = time.process_time() - start
        row: dict[str, float] = scores(reference, parsed(parser, found) if parser else list(map(flat, found)))
        if parser is None:
            row = {measure: row[measure] for measure in ("Tokens", "Words", "Sentences")}
        result[name] = row | {"words a second": round(sum(map(len, found)) / seconds)}
    return result


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--treebank", nargs=3, action="append", required=True, metavar=("NAME", "TRAIN", "TEST"))
    options.add_argument("--model", nargs=2, action="append", default=[], metavar=("NAME", "MODEL"))
    arguments = options.parse_args()
    models = {name: load(model) for name, model in arguments.model}
    results = {}
    for name, train, test in arguments.treebank:
        results[name] = measure(train, test, models.get(name))
        print(name, json.dumps(results[name], indent=1))
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
