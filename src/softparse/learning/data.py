"""Treebank files as training data: checked, lifted or thinned to projective trees, counted; some held out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..corpus.batches import Tree
from ..corpus.checks import labelled
from ..corpus.files import STANDARD, can_be_read_again, is_same
from ..corpus.problems import CorpusError, Problem
from ..corpus.projectivity import crossing, is_projective, lift
from ..corpus.raw_survey import SHORT, Survey, doubts, survey
from ..corpus.sentence import Sentence
from ..corpus.splits import spread
from ..evaluation.baselines import branching_scores
from .config import DataConfig

FEWEST_FOR_HOLDING_OUT = 50
MOST_HELD_OUT = 500
MOST_WARNINGS = 10


@dataclass
class Data:
    """Trees to learn from, sentences with their own trees to choose the best epoch on, and what happened to them."""

    train: list[Tree]
    dev: list[Sentence]
    counts: dict[str, Any] = field(default_factory=dict)
    raw: Survey | None = None
    raw_files: list[str] = field(default_factory=list)  # where the raw sentences are
    parsed: list[Tree] = field(default_factory=list)  # trees that a parser has made


def load(config: DataConfig, single_root: bool, warn: Callable[[str], None]) -> Data:
    if not config.train and not config.raw:
        raise CorpusError("no treebank to train on; give one with --train")

    warn_of_repeated_files(config, warn)
    sentences = with_trees(config.train, single_root, warn) if config.train else []
    counts: dict[str, Any] = {"trees": config.train, "sentences": len(sentences)}
    if config.dev:
        dev = with_trees(config.dev, single_root, warn)
        counts |= {"dev": ", ".join(config.dev), "dev_sentences": len(dev)}
        if not any(is_same(one, other) for one in config.train for other in config.dev):  # which has been told
            _warn_of_recurring(sentences, dev, warn)
    else:
        sentences, dev = held_out(sentences, config.held_out)
        if dev:
            counts |= {"dev": f"{len(dev)} trees held out of the training files", "dev_sentences": len(dev)}
            counts["sentences"] = len(sentences)
    if config.longest:
        short = [sentence for sentence in sentences if len(sentence) <= config.longest]
        if len(short) < len(sentences):
            counts["left_out_as_too_long"] = len(sentences) - len(short)
            warn(f"{len(sentences) - len(short)} sentences of more than {config.longest} words are left out "
                 "(data.longest)")  # fmt: skip
        sentences = short
    if config.train and not sentences:
        raise CorpusError("no sentence with a tree is left to train on")
    if dev and not config.train:  # the only thing that shows what was learnt
        counts |= {f"dev_UAS_of_{name}_trees": round(uas, 2) for name, uas in branching_scores(dev).items()}
    trees, changed = projective(sentences, config.nonprojective)
    counts["words"] = sum(map(len, trees))
    counts |= changed
    raw = _raw(config, trees, dev, counts, warn)
    parsed = projective(labelled(config.parsed, single_root), config.nonprojective)[0] if config.parsed else []
    if parsed:
        counts["parsed"] = len(parsed)
    return Data(trees, dev, counts, raw, config.raw, parsed)


def _raw(
    config: DataConfig, trees: list[Tree], dev: list[Sentence], counts: dict[str, Any], warn: Callable[[str], None]
) -> Survey | None:
    """A look at the raw text, if there is some."""
    if not config.raw:
        return None
    for path in config.raw:
        if not can_be_read_again(path):
            raise CorpusError(f"{path}: raw text is read again and again, so it must be a file")
    found = survey(config.raw, config.longest_raw, [sentence.words for sentence in dev])
    if not found.sentences:
        what = "the raw text" if config.raw_text else ", ".join(config.raw)
        advice = "for long ones: --set data.longest_raw=NUMBER"
        if not config.raw_text:
            advice = f"is it a tokenised sentence a line? for running text: --set data.raw_text=true; {advice}"
        limit = f"none of {found.left_out} sentences has at most {config.longest_raw} words"
        raise CorpusError(f"{what}: {limit}; {advice}")
    for doubt in doubts(found, {form for tree in trees for form in tree.words}):
        warn(doubt)
    counts |= {"raw": config.raw, "raw_sentences": found.sentences, "raw_words": found.words}
    if found.left_out:
        counts["raw_left_out_as_too_long"] = found.left_out
        warn(f"{found.left_out} raw sentences of more than {config.longest_raw} words are left out (data.longest_raw)")
    return found


def with_trees(paths: list[str], single_root: bool, warn: Callable[[str], None]) -> list[Sentence]:
    """The sentences with trees; of many warnings the first ones are shown and the others are counted."""
    count = 0

    def report(problem: Problem) -> None:
        nonlocal count
        count += 1
        if count <= MOST_WARNINGS:
            warn(str(problem))

    sentences = list(labelled(paths, single_root, report))
    if count > MOST_WARNINGS:
        warn(f"and {count - MOST_WARNINGS} more; see all of them with: softparse check {' '.join(paths)}")
    return sentences


def warn_of_repeated_files(config: DataConfig, warn: Callable[[str], None]) -> None:
    """Files that come twice in training count twice; dev scores on what was learnt by heart are too good."""
    seen: set[str] = set()
    for path in config.train:
        place = os.path.realpath(path)
        if place in seen and path != STANDARD:
            both = "" if config.dev else ", and trees that are held out may be among those that are learnt"
            warn(f"{path}: given twice to train on; its trees count twice{both}")
        seen.add(place)
    for path in config.dev:
        if os.path.realpath(path) in seen:
            warn(f"{path}: given to train on and as dev; scores on it say nothing about other text")


def _warn_of_recurring(sentences: Sequence[Sentence], dev: Sequence[Sentence], warn: Callable[[str], None]) -> None:
    """Short sentences recur in any two texts."""
    known = {tuple(sentence.words) for sentence in dev if len(sentence) > SHORT}
    number = sum(tuple(sentence.words) in known for sentence in sentences)
    if number:
        warn(f"{number} sentences of more than {SHORT} words are in the training files and in dev: scores on it will "
             "flatter the model, and so will probabilities that are calibrated on it")  # fmt: skip


def held_out(sentences: Sequence[Sentence], part: float) -> tuple[list[Sentence], list[Sentence]]:
    """Every k-th sentence apart, all over the file, if there are enough of them."""
    if part <= 0 or len(sentences) < FEWEST_FOR_HOLDING_OUT:
        return list(sentences), []
    number = max(1, min(MOST_HELD_OUT, round(len(sentences) * part)))
    chosen = set(spread(number, len(sentences)))
    return (
        [sentence for place, sentence in enumerate(sentences) if place not in chosen],
        [sentence for place, sentence in enumerate(sentences) if place in chosen],
    )


def projective(sentences: Iterable[Sentence], how: str) -> tuple[list[Tree], dict[str, int]]:
    """Trees that the projective model can learn from. What was changed is counted, nothing is skipped."""
    trees = []
    changed_trees = changed_arcs = 0
    for sentence in sentences:
        heads, labels = sentence.heads, sentence.labels
        if not is_projective(heads):
            changed_trees += 1
            if how == "lift":
                heads, labels, number = lift(heads, labels)
            else:
                wrong = crossing(heads)
                number = len(wrong)
                heads = [-1 if word in wrong else head for word, head in enumerate(heads, 1)]
            changed_arcs += number
        trees.append(Tree(sentence.words, heads, labels))
    if not changed_trees:
        return trees, {}
    verb = "lifted" if how == "lift" else "dropped"
    return trees, {"nonprojective_trees": changed_trees, f"arcs_{verb}": changed_arcs}
