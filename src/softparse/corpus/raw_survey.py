"""One pass over raw text before training on it: how much there is, which words, and what looks wrong with it."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .conllu import read_all
from .vocabulary import normal_form

MOST_COUNTED = 2_000_000  # words in memory; beyond that, the rare ones so far are forgotten
SURVEYED_FOR_LETTERS = 20_000  # sentences
MARKS = ",;:!?"  # which tokenised text has apart from words
FEW = 5  # words that may be odd in any text
SHORT = 5  # sentences of so many words recur in any two texts


@dataclass
class Survey:
    """What raw files hold, counted."""

    sentences: int = 0
    words: int = 0
    left_out: int = 0  # longer than the limit
    recurring: int = 0  # of more than `SHORT` words, that are in the development set too
    counts: Counter[str] = field(default_factory=Counter)  # by normal form
    letters: Counter[str] = field(default_factory=Counter)  # of the first sentences
    checksum: str = ""  # of the sentences in their order

    @property
    def scripts(self) -> Counter[str]:
        return scripts(self.letters)


def survey(
    paths: Sequence[str | Path], longest: int = 0, development: Iterable[Sequence[str]] = (), most: int = MOST_COUNTED
) -> Survey:
    """Read the files once; memory does not grow with them."""
    result = Survey()
    known = {tuple(words) for words in development if len(words) > SHORT}
    checksum = hashlib.blake2b(digest_size=16)
    for sentence in read_all(paths):
        words = sentence.words
        if longest and len(words) > longest:
            result.left_out += 1
            continue
        checksum.update("\x1f".join([*words, "\n"]).encode())
        result.sentences += 1
        result.words += len(words)
        result.recurring += len(words) > SHORT and tuple(words) in known
        result.counts.update(map(normal_form, words))
        if len(result.counts) > most:
            result.counts = _thinned(result.counts, most // 2)
        if result.sentences <= SURVEYED_FOR_LETTERS:
            result.letters.update("".join(words))
    result.checksum = checksum.hexdigest()
    return result


def _thinned(counts: Counter[str], most: int) -> Counter[str]:
    """The frequent words, at most so many."""
    least = 1
    while len(counts) > most:
        least += 1
        counts = Counter({word: count for word, count in counts.items() if count >= least})
    return counts


def scripts(letters: Counter[str]) -> Counter[str]:
    """Letters by script, as far as their names tell.

    >>> scripts(Counter("abcя1."))
    Counter({'LATIN': 3, 'CYRILLIC': 1})
    """
    found: Counter[str] = Counter()
    for letter, count in letters.items():
        if letter.isalpha():
            found[unicodedata.name(letter, "UNKNOWN").partition(" ")[0]] += count
    return found


def tokenisation_doubt(counts: Counter[str]) -> str:
    """What is odd about words if they were not cut out of their text, or nothing.

    >>> tokenisation_doubt(Counter({"so,": 9, "what?": 3, "!": 2}))
    'does not look tokenised: 12 words have one of ,;:!? at their end, which stand apart 2 times'
    """
    attached = sum(count for word, count in counts.items() if word[-1:] in MARKS and word[:1].isalpha())
    apart = sum(counts[mark] for mark in MARKS)
    if attached <= max(apart, FEW):
        return ""
    return (
        f"does not look tokenised: {attached} words have one of {MARKS} at their end, which stand apart {apart} times"
    )


def doubts(result: Survey, forms: Collection[str], trees: str = "the treebank") -> list[str]:
    """What a user should know before training on raw text beside trees with these word forms."""
    found = []
    mine = scripts(Counter("".join(forms)))
    if mine and result.scripts:
        (script, _), (other, _) = mine.most_common(1)[0], result.scripts.most_common(1)[0]
        if script != other:
            found.append(
                f"the raw text is mostly in {other.capitalize()} script, {trees} in {script.capitalize()}; "
                "is it the same language?"
            )
    known = {normal_form(form) for form in forms}
    covered = sum(count for word, count in result.counts.items() if word in known)
    if known and result.words and covered < 0.25 * result.words and not found:
        found.append(
            f"only {covered / result.words:.0%} of the words of the raw text occur in {trees}; is it the same "
            "language, and are its words separated by spaces as there?"
        )
    doubt = tokenisation_doubt(result.counts)
    if doubt:
        found.append(f"the raw text {doubt}; if it is running text, say so: --set data.raw_text=true")
    if result.recurring:
        found.append(
            f"{result.recurring} raw sentences of more than {SHORT} words are in the development set too: scores on it "
            "will flatter the model"
        )
    return found
