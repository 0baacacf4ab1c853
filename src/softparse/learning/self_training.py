"""Self-training, the baseline in two steps: a parser is trained on trees and parses the raw text; a second one is
trained on the trees and, in every epoch, on as many of the parses that the first one was certain of.

The two see as many sentences together as a run that learns from both at once: with E epochs of L batches of trees and
as many raw sentences, that is 2·E·L batches of this size; here ⅔·E epochs of L, and then ⅔·E epochs of 2·L. So there
are as many updates, or more where that run takes its raw sentences in larger batches (`objective.raw_batch`).
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..configuration import as_json
from ..corpus.conllu import read, read_all, write
from ..corpus.files import can_be_read_again, replacing
from ..corpus.problems import CorpusError
from ..corpus.sentence import Sentence
from ..parser import Parser
from . import state
from .config import Config
from .distributed import Group

FEWEST_WORDS = 2  # a single word is always certain
CERTAINTY, FIRST_STEP, PARSED = "certainty", "first_step", "parsed.conllu"

# A run, which may replace what is there under its name, and whose model says more of itself than that run knows.
Run = Callable[[Config, bool, Mapping[str, Any]], Parser]


def first_step(output: str | Path) -> Path:
    """The model of the first step, which is there until the second is done."""
    return Path(output).with_name(f"{Path(output).name}.first")


def two_steps(config: Config, run: Run, group: Group, resume: bool, raw: Callable[[], list[str]]) -> Parser:
    """Both steps. `run` trains; what is finished already is not done again if this is to `resume`; `raw` says which
    files have the raw sentences."""
    for path in (*config.data.train, *config.data.dev):
        if not can_be_read_again(path):
            raise CorpusError(f"{path}: self-training reads trees in both of its steps, so they must be in a file")
    if config.data.output:
        return _two_steps(config, Path(config.data.output), run, group, resume, raw)
    temporary = group.by_first(tempfile.mkdtemp)
    try:
        return _two_steps(config, Path(temporary) / "model", run, group, resume, raw)
    finally:
        if group.is_first:
            shutil.rmtree(temporary, ignore_errors=True)


def _two_steps(
    config: Config, place: Path, run: Run, group: Group, resume: bool, raw: Callable[[], list[str]]
) -> Parser:
    first, parsed = first_step(place), state.place(place) / PARSED
    epochs = max(1, round(config.train.epochs * 2 / 3))

    def forget() -> None:
        """From here on neither an old model under this name nor old parses can be taken for this run's."""
        parsed.unlink(missing_ok=True)
        if config.data.output:
            state.begin(place)

    supervised = replace(
        config,
        method="joint",
        train=replace(config.train, epochs=epochs),
        objective=replace(config.objective, labelled=0.0, raw=0.0, teacher=0.0),
    )
    if not resume:
        group.by_first(forget)
    with _taken_back_unless_begun(place if group.is_first and not resume else None):
        parser = run(replace(supervised, data=replace(config.data, output=str(first))), False, {})

    def parse() -> None:
        if not (resume and parsed.exists()):
            parse_raw(parser, replace(config, data=replace(config.data, raw=raw())), parsed)

    group.by_first(parse)
    both = {"settings": json.loads(as_json(config)), FIRST_STEP: {"seconds": _seconds(first)}}
    second = run(replace(supervised, data=replace(config.data, parsed=[str(parsed)])), True, both)

    def clean() -> None:
        state.discard(place)
        if first.exists():  # a folder half deleted would be taken for something else
            shutil.rmtree(first.rename(first.with_name(f".{first.name}.old")), ignore_errors=True)

    group.by_first(clean)
    return second


@contextlib.contextmanager
def _taken_back_unless_begun(place: Path | None) -> Iterator[None]:
    """A first step that fails before it has a state leaves what was there, and no sign of a run."""
    try:
        yield
    except Exception:
        if place is not None and not state.is_open(first_step(place)):
            state.take_back(place)
        raise


def _seconds(model: Path) -> float:
    """Of training; parsing the raw text takes little beside it."""
    lines = (model / state.HISTORY).read_text(encoding="utf-8").splitlines()
    return float(json.loads(lines[-1])["seconds"]) if lines else 0.0


def parse_raw(parser: Parser, config: Config, path: Path) -> None:
    """Write the raw sentences whose trees the parser is most certain of, each with its mean probability of an arc."""
    certainties = []
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.") as every:
        for text, certainty in _parses(parser, config):
            every.write(text)
            certainties.append(certainty)
        every.flush()
        if not certainties:
            raise CorpusError(
                f"{', '.join(config.data.raw)}: no raw sentence of {FEWEST_WORDS} to {config.data.longest_raw} words "
                "to parse (data.longest_raw)"
            )
        bound = np.quantile(certainties, 1 - min(1.0, config.self_training.kept))
        with replacing(path) as file:
            for sentence, certainty in zip(read(every.name, "conllu"), certainties, strict=True):
                if certainty >= bound:
                    file.write(write(sentence))


def _parses(parser: Parser, config: Config) -> Iterator[tuple[bytes, float]]:
    longest = config.data.longest_raw or 10**9
    sentences = (s for s in read_all(config.data.raw) if FEWEST_WORDS <= len(s) <= longest)
    some = islice(sentences, config.self_training.most_sentences)
    for parse in parser.pipe((sentence.words for sentence in some), confidence=True, calibrated=False):
        assert parse.probabilities is not None
        certainty = float(np.mean(parse.probabilities))
        bare = Sentence.from_words(parse.words, [f"{CERTAINTY} = {certainty:.4f}"])
        yield write(bare.with_tree(parse.heads, parse.labels)), certainty
