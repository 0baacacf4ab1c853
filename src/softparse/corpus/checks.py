"""What is wrong with trees, and the sentences of a treebank that training can use."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from .conllu import read_conllu, read_text, wrong_encoding
from .files import lines, name_of
from .formats import TEXT, beginning, detect
from .problems import CorpusError, Problem, Reporter, refuse
from .projectivity import LIFTED
from .sentence import FORM, HEAD, UNKNOWN, Sentence

NAMED = 5  # words of a cycle, or errors of a treebank, that a message names


def tree_problems(sentence: Sentence, single_root: bool = True) -> list[Problem]:
    """What is wrong with the tree of a sentence: first by words, then as a whole. Partial trees are fine.

    >>> sentence = Sentence.from_words(["They", "walk"]).with_tree([7, 0], ["nsubj", "root"])
    >>> print(*tree_problems(sentence))
    <memory>: HEAD 7 but the sentence has 2 words
    """
    problems, heads = [], []
    for word, (row, label) in enumerate(zip(sentence.columns, sentence.labels, strict=True), 1):
        head, wrong = _head(row[HEAD], word, len(sentence))
        heads.append(head)
        if not row[FORM]:
            problems.append(
                sentence.problem(f"word {word} has no FORM; write _ for an unknown one", word, is_error=False)
            )
        if wrong:
            problems.append(sentence.problem(wrong, word))
        for message, is_error in _label_problems(label, head, row[HEAD] != "_"):
            problems.append(sentence.problem(f"{message} (word {word})", word, is_error=is_error))
    for cycle in _cycles(heads):
        way = " → ".join(map(str, [*_some(cycle), cycle[0]]))
        words = " ".join(sentence.columns[word - 1][FORM] for word in cycle[:NAMED])
        message = f"a cycle of {len(cycle)} words, each the head of the one before: {way} ({words}); change one HEAD"
        problems.append(sentence.problem(message, cycle[0]))
    roots = [word for word, head in enumerate(heads, 1) if head == 0]
    if not roots and UNKNOWN not in heads:
        problems.append(sentence.problem("no root: one word must have HEAD 0"))
    if single_root and len(roots) > 1:
        named = ", ".join(map(str, _some(roots)))
        remedy = "keep one HEAD 0, or allow several: train --set decoding.single_root=false, check --multi-root"
        message = f"{len(roots)} roots, words {named}: {remedy}"
        problems.append(sentence.problem(message, roots[1]))
    return problems


def _some(words: Sequence[int]) -> list[int | str]:
    return [*words[:NAMED], *(["…"] if len(words) > NAMED else [])]


def _head(text: str, word: int, words: int) -> tuple[int, str | None]:
    """The head that is written, or UNKNOWN and what is wrong with it."""
    if text == "_":
        return UNKNOWN, None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        return UNKNOWN, f"HEAD of word {word} is {text[:40]!r}, not a number (write _ for an unknown head)"
    head = int(text)
    if head > words:
        return UNKNOWN, f"HEAD {head} but the sentence has {words} word{'s' if words > 1 else ''}"
    if head == word:
        return UNKNOWN, f"word {word} is its own head"
    return head, None


def _label_problems(label: str, head: int, is_known: bool) -> Iterator[tuple[str, bool]]:
    """What is wrong with a label, and whether that is an error."""
    if label == "_":
        return
    if not is_known:
        yield f"label {label!r} without a HEAD is ignored", False
    elif not label:
        yield "DEPREL is empty; write _ for an unknown label", True
    elif LIFTED in label:
        yield f"label {label!r} has {LIFTED} in it, which stands for lifted arcs; undo the lifting or rename it", True
    elif any(letter.isspace() for letter in label):
        yield f"label {label!r} has a space in it and is a label of its own", False
    elif head != UNKNOWN and (head == 0) != (label.partition(":")[0].lower() == "root"):
        place = "HEAD 0" if head == 0 else f"HEAD {head}"
        yield f"label {label!r} with {place}; root is the label of HEAD 0 and of no other", False


def _cycles(heads: Sequence[int]) -> Iterator[list[int]]:
    """Words that are above themselves; each cycle once, from its leftmost word on."""
    reached_from = [0] * (len(heads) + 1)
    for start in range(1, len(heads) + 1):
        path, word = [], start
        while word > 0 and not reached_from[word]:
            reached_from[word] = start
            path.append(word)
            word = heads[word - 1]
        if word > 0 and reached_from[word] == start:
            cycle = path[path.index(word) :]
            first = cycle.index(min(cycle))
            yield cycle[first:] + cycle[:first]


def treebank(
    path: str | Path, kind: str | None = None, report: Reporter = refuse, repeated: Reporter | None = None
) -> Iterator[Sentence]:
    """The sentences of a treebank. Plain text (unless `kind` asks for it) and an empty file are errors.

    A sent_id that comes a second time in the file is a warning, given to `repeated` if that is set.
    """
    name, stream = name_of(path), lines(path)
    start = beginning(stream)
    if kind is None and detect(start) == TEXT:
        report(wrong_encoding(start, name, 1) or _plain_text(name, start))
        return
    has_error = False

    def note(problem: Problem) -> None:
        nonlocal has_error
        has_error = has_error or problem.is_error
        report(problem)

    places: dict[int, int] = {}  # hashes are shorter than the names of sentences
    is_empty = True
    for sentence in (read_text if kind == TEXT else read_conllu)(itertools.chain(start, stream), name, note):
        is_empty = False
        if sentence.sent_id is not None:
            place = places.setdefault(hash(sentence.sent_id), sentence.line)
            if place != sentence.line:
                message = f"the same sent_id as the sentence at line {place}"
                (repeated or report)(sentence.problem(message, is_error=False))
        yield sentence
    if is_empty and not has_error:
        report(Problem(name, 0, "no sentence in it"))


def _plain_text(name: str, start: Sequence[bytes]) -> Problem:
    rows = [row.decode("utf-8", "replace").removeprefix("\ufeff").strip("\r\n") for row in start]
    words = ((number, row) for number, row in enumerate(rows, 1) if row.strip() and not row.startswith("#"))
    number, row = next(words, (1, rows[0]))
    remedy = "a treebank has 10 columns with tabs between them; text goes to train --raw"
    return Problem(name, number, f"looks like plain text: {row[:40]!r}; {remedy}")


def labelled(
    paths: Iterable[str | Path], single_root: bool = True, report: Reporter = lambda problem: None
) -> Iterator[Sentence]:
    """The sentences to train on: those with a known head. `report` gets the warnings.

    Sentences with errors are left out and, when all files are read, refused: an iteration that comes to its end had
    none.
    """
    paths = list(paths)
    if not paths:
        raise CorpusError("no treebank is given")
    errors: list[Problem] = []
    number = count = 0

    def note(problem: Problem) -> None:
        nonlocal count
        if not problem.is_error:
            report(problem)
            return
        count += 1
        if count <= NAMED:
            errors.append(problem)

    for path in paths:
        bare = 0
        for sentence in treebank(path, None, note):
            problems = tree_problems(sentence, single_root)
            for problem in problems:
                note(problem)
            if any(problem.is_error for problem in problems):
                continue
            if all(row[HEAD] == "_" for row in sentence.columns):
                bare += 1
                continue
            number += 1
            yield sentence
        if bare:
            report(Problem(name_of(path), 0, f"sentences without any HEAD, left out: {bare}", is_error=False))
    names = " ".join(map(str, paths))
    if count:
        listed = [f"errors in the treebank: {count}", *(f"  {problem}" for problem in errors)]
        if count > NAMED:
            listed.append(f"  and {count - NAMED} more")
        raise CorpusError("\n".join([*listed, f"see all of them with: softparse check {names}"]))
    if not number:
        raise CorpusError(f"{names}: no tree, HEAD is _ everywhere; such sentences go to train --raw")
