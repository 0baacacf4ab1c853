"""Sentences whose tree another row made right, or wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..configuration import ConfigurationError
from ..corpus.sentence import Sentence
from ..evaluation.relations import universal
from .agreement import contradictions
from .results import Result
from .settings import prepare

Parse = Sequence[str]  # heads and labels of a sentence, as results have them
SHORTEST, LONGEST = 5, 14  # words: what can be looked at


def dev_files(results: Iterable[Result], settings: Path, data: Path, work: Path) -> tuple[dict[str, Path], list[str]]:
    """The dev sentences of settings whose data is at hand, the same as that of their results; why others have none."""
    by_setting: dict[str, list[Result]] = {}
    for result in results:
        by_setting.setdefault(result["setting"], []).append(result)
    found, missing = {}, []
    for name in sorted(by_setting):
        try:
            files = prepare(settings / f"{name}.toml", data, work / "settings" / name, needs_raw=False)
        except ConfigurationError as error:
            missing.append(str(error))
            continue
        other = {file for result in by_setting[name] for file in contradictions(result["data"], files.checksums)}
        if other:
            missing.append(f"{name}: results are of other files than those at hand ({', '.join(sorted(other))})")
        else:
            found[name] = files.dev
    return found, missing


@dataclass(frozen=True)
class Example:
    """A sentence with its gold tree and two predicted ones."""

    gold: Sentence
    before: Sentence
    after: Sentence

    @property
    def gain(self) -> int:
        """How many more words are right."""
        return len(wrong(self.gold, self.before)) - len(wrong(self.gold, self.after))


def wrong(gold: Sentence, predicted: Sentence) -> set[int]:
    """Words, from 1, with another head or label."""
    pairs = zip(gold.heads, gold.labels, predicted.heads, predicted.labels, strict=True)
    return {
        word
        for word, (head, label, other, same) in enumerate(pairs, 1)
        if head != other or universal(label) != universal(same)
    }


def examples(
    gold: Iterable[Sentence], before: Sequence[Parse], after: Sequence[Parse], number: int
) -> tuple[list[Example], list[Example]]:
    """The largest changes to the better and to the worse, shorter sentences first among equals."""
    found = [
        Example(sentence, _parsed(sentence, first), _parsed(sentence, second))
        for sentence, first, second in zip(gold, before, after, strict=True)
        if SHORTEST <= len(sentence) <= LONGEST
    ]
    return _largest(found, 1, number), _largest(found, -1, number)


def _parsed(sentence: Sentence, parse: Parse) -> Sentence:
    heads, labels = parse
    return sentence.with_tree([int(head) for head in heads.split()], labels.split("\t"))


def _largest(found: Sequence[Example], sign: int, number: int) -> list[Example]:
    changed = [example for example in found if sign * example.gain > 0]
    return sorted(changed, key=lambda example: (-sign * example.gain, len(example.gold)))[:number]
