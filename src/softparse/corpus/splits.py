"""The paper's splits: a tenth of a treebank with its trees and the rest without, and sections for other treebanks.

The sentences of all files are numbered from 0 in the order they come.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from .conllu import of_one_width, read_all, write
from .files import is_same, replacing
from .problems import CorpusError
from .sentence import UNKNOWN, Sentence

LABELED, RAW, DEV, TEST = "labeled", "raw", "dev", "test"
MODULO, SECTIONS = [LABELED, RAW], [LABELED, DEV, TEST]  # the files of either split
BYTE_ORDER_MARK = "\ufeff".encode()


def spread(number: int, count: int) -> list[int]:
    """Places of `number` sentences out of `count`, all over the file and as far apart as can be.

    >>> spread(3, 10)
    [1, 5, 8]
    >>> spread(4, 3)
    [0, 1, 2]
    """
    number = min(number, count)
    return [(2 * place + 1) * count // (2 * number) for place in range(number)]


def modulo(sentences: Iterable[Sentence], modulus: int = 10, keep: int = 0) -> Iterator[tuple[str, Sentence]]:
    """Each sentence with "labeled" if its number modulo `modulus` is `keep`, else with "raw" and without its tree.

    >>> sentences = [Sentence.from_words([word]).with_tree([0], ["root"]) for word in "abc"]
    >>> [(part, sentence.labels) for part, sentence in modulo(sentences, modulus=2)]
    [('labeled', ['root']), ('raw', ['_']), ('labeled', ['root'])]
    """
    if not 0 <= keep < modulus:
        raise ValueError(f"keep is {keep}, modulus {modulus}: keep must be in 0..{modulus - 1}")
    for number, sentence in enumerate(sentences):
        if number % modulus == keep:
            yield LABELED, sentence
        else:
            yield RAW, without_tree(sentence)


def without_tree(sentence: Sentence) -> Sentence:
    """The sentence with HEAD, DEPREL and DEPS unknown; DEPS and the empty nodes it needs would give the tree away."""
    return sentence.with_tree([UNKNOWN] * len(sentence), ["_"] * len(sentence), clear_deps=True)


def sections(sentences: Iterable[Sentence], count: int = 10) -> Iterator[tuple[str, Sentence]]:
    """Each sentence with its part by its number modulo `count`: 0 is "test", the last "dev", the others "labeled".

    >>> [part for part, _ in sections([Sentence.from_words([word]) for word in "abcde"], count=4)]
    ['test', 'labeled', 'labeled', 'dev', 'test']
    """
    if count < 3:
        raise ValueError(f"{count} sections: test, labeled and dev need at least 3")
    parts = [TEST, *[LABELED] * (count - 2), DEV]
    for number, sentence in enumerate(sentences):
        yield parts[number % count], sentence


def write_modulo(paths: Iterable[str | Path], folder: str | Path, modulus: int = 10, keep: int = 0) -> dict[str, int]:
    """Write labeled.conllu and raw.conllu, and return the number of sentences in each.

    Sentences without tree are CoNLL-U, too: plain text would take a word with a space in it for two words.
    """
    paths = list(paths)
    _refuse_to_replace(paths, folder, MODULO)
    return _write(modulo(of_one_width(read_all(paths, "conllu")), modulus, keep), folder, MODULO)


def write_sections(paths: Iterable[str | Path], folder: str | Path, count: int = 10) -> dict[str, int]:
    """Write labeled.conllu, dev.conllu and test.conllu, and return the number of sentences in each."""
    paths = list(paths)
    _refuse_to_replace(paths, folder, SECTIONS)
    return _write(sections(of_one_width(read_all(paths, "conllu")), count), folder, SECTIONS)


def _refuse_to_replace(paths: Sequence[str | Path], folder: str | Path, names: Sequence[str]) -> None:
    """A part must not take the place of the whole."""
    for target in (Path(folder) / f"{name}.conllu" for name in names):
        for path in paths:
            if is_same(target, path):
                raise CorpusError(f"{path}: would be replaced by a part of itself; choose another folder")


def _write(parts: Iterable[tuple[str, Sentence]], folder: str | Path, names: Sequence[str]) -> dict[str, int]:
    """All files or, after an error, none. Lines come out as they are; only a byte order mark is left out."""
    counts = dict.fromkeys(names, 0)
    with contextlib.ExitStack() as stack:
        files = {name: stack.enter_context(replacing(Path(folder) / f"{name}.conllu")) for name in names}
        for name, sentence in parts:
            files[name].write(write(sentence).removeprefix(BYTE_ORDER_MARK))
            counts[name] += 1
        for name, number in counts.items():
            if number == 0:
                total = sum(counts.values())
                raise CorpusError(f"{total} sentences are too few to split: there would be none in {name}.conllu")
    return counts
