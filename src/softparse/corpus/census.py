"""A treebank in numbers, with what is wrong in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .checks import tree_problems, treebank
from .files import name_of
from .problems import Problem
from .projectivity import crossing
from .sentence import HEAD, UNKNOWN, Sentence

LISTED = 100_000  # errors and warnings that a census keeps, of each, lest they fill the memory; all are counted


def inspect(paths: Iterable[str | Path], single_root: bool = True, kind: str | None = None) -> Census:
    """Count what is in these treebanks, a sentence at a time. `kind` is that of `conllu.read`.

    Errors do not stop it: what cannot be used is in the census. A file that cannot be opened is refused.
    """
    census = Census()
    for path in paths:
        census.files.append(name_of(path))
        for sentence in treebank(path, kind, census.note, census.note_repeated):
            census.add(sentence, single_root)
    return census


@dataclass
class Census:
    """What treebanks hold, counted. `errors` and `warnings` list the first of each, the counts are of all."""

    files: list[str] = field(default_factory=list)
    sentences: int = 0
    words: int = 0
    ranges: int = 0  # multiword tokens
    empty_nodes: int = 0
    words_with_spaces: int = 0
    longest: int = 0
    complete: int = 0  # sentences by how many of their heads are known: all,
    partial: int = 0  # some,
    bare: int = 0  # none; or
    faulty: int = 0  # with an error
    arcs: int = 0  # known ones, of trees without error
    several_roots: int = 0
    non_projective_trees: int = 0
    non_projective_arcs: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    forms: set[str] = field(default_factory=set, repr=False)
    repeated_ids: int = 0
    repeated_sentences: int = 0  # the same words as an earlier one, in any of the files
    error_count: int = 0
    warning_count: int = 0
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set, repr=False)

    @property
    def mean_length(self) -> float:
        return self.words / self.sentences if self.sentences else 0.0

    def note(self, problem: Problem) -> None:
        if problem.is_error:
            self.error_count += 1
        else:
            self.warning_count += 1
        kept = self.errors if problem.is_error else self.warnings
        if len(kept) < LISTED:
            kept.append(problem)

    def note_repeated(self, problem: Problem) -> None:
        self.repeated_ids += 1
        self.note(problem)

    def add(self, sentence: Sentence, single_root: bool = True) -> None:
        words = sentence.words
        self.sentences += 1
        self.words += len(words)
        self.longest = max(self.longest, len(words))
        self.words_with_spaces += sum(" " in word for word in words)
        self.forms.update(words)
        fingerprint = hash(tuple(words))
        self.repeated_sentences += fingerprint in self._seen
        self._seen.add(fingerprint)
        for line in sentence.lines:
            identifier = line.partition("\t")[0].removeprefix("\ufeff")
            if identifier[:1].isdigit():
                self.ranges += "-" in identifier
                self.empty_nodes += "." in identifier
        self._add_tree(sentence, single_root)

    def _add_tree(self, sentence: Sentence, single_root: bool) -> None:
        problems = tree_problems(sentence, single_root)
        for problem in problems:
            self.note(problem)
        self.several_roots += sum(row[HEAD] == "0" for row in sentence.columns) > 1
        if any(problem.is_error for problem in problems):
            self.faulty += 1
            return
        heads = sentence.heads
        known = len(heads) - heads.count(UNKNOWN)
        self.arcs += known
        self.complete += known == len(heads)
        self.partial += 0 < known < len(heads)
        self.bare += known == 0
        non_projective = len(crossing(heads))
        self.non_projective_arcs += non_projective
        self.non_projective_trees += non_projective > 0
        self.labels.update(
            label for label, head in zip(sentence.labels, heads, strict=True) if head != UNKNOWN and label != "_"
        )

    def as_dict(self) -> dict[str, Any]:
        """The same in plain numbers, strings and lists, for JSON."""
        names = [name for name in self.__dataclass_fields__ if not name.startswith("_")]
        values = {name: getattr(self, name) for name in names}
        return {
            **values,
            "mean_length": self.mean_length,
            "forms": len(self.forms),
            "labels": dict(self.labels.most_common()),
            "errors": [asdict(problem) for problem in self.errors],
            "warnings": [asdict(problem) for problem in self.warnings],
        }

    def text(self) -> str:
        """A report to read."""
        trees = self.complete + self.partial
        counts = [
            ("sentences", self.sentences, ""),
            ("  longest", self.longest, "words"),
            ("  mean", round(self.mean_length, 1), "words"),
            ("  repeated", self.repeated_sentences, "the same words as an earlier one"),
            ("  repeated sent_id", self.repeated_ids, ""),
            ("words", self.words, ""),
            ("  distinct forms", len(self.forms), ""),
            ("  with spaces", self.words_with_spaces, ""),
            ("multiword tokens", self.ranges, ""),
            ("empty nodes", self.empty_nodes, ""),
            ("trees", trees, ""),
            ("  complete", self.complete, ""),
            ("  partial", self.partial, "some heads unknown"),
            ("  non-projective", self.non_projective_trees, _share(self.non_projective_trees, trees)),
            ("sentences without tree", self.bare, ""),
            ("sentences with errors", self.faulty, ""),
            ("sentences with several roots", self.several_roots, ""),
            ("arcs", self.arcs, ""),
            ("  non-projective", self.non_projective_arcs, _share(self.non_projective_arcs, self.arcs)),
            ("labels", len(self.labels), ""),
        ]
        counts += [(f"  {label}", number, _share(number, self.arcs)) for label, number in self.labels.most_common()]
        width = max(len(name) for name, _, _ in counts)
        report = ["files: " + " ".join(self.files)]
        report += [f"{name:<{width}} {number:>11,}  {note}".rstrip() for name, number, note in counts]
        report.append(f"errors: {self.error_count:,}, warnings: {self.warning_count:,}")
        for title, listed, count in (
            ("error", self.errors, self.error_count),
            ("warning", self.warnings, self.warning_count),
        ):
            report += [f"  {title}: {problem}" for problem in listed]
            if count > len(listed):
                report.append(f"  and {count - len(listed):,} more {title}s")
        return "\n".join(report) + "\n"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.2f} %" if whole else ""
