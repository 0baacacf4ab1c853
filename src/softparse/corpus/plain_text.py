"""Plain running text as sentences: what every tokenizer has in common, whether it was trained or goes by rules.

A tokenizer finds tokens in a piece of text; everything else is here. No character gets lost: a token is a piece of the
text itself, and what a tokenizer leaves out becomes a token too. Only white space is not kept as it was: wherever there
is some, one space stands for it.
"""

from __future__ import annotations

import abc
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, ClassVar, NamedTuple

from .files import name_of, opened_text
from .paragraphs import Part, parts
from .problems import Problem, Reporter, refuse
from .sentence import Sentence

LONGEST_TEXT = 10_000  # characters of a paragraph that are looked at together
LONGEST_SENTENCE = 500  # tokens; the time to parse a sentence grows with the third power of its length


class Token(NamedTuple):
    """A token's place in a text, and the words that it is short for, if any (`du`: `de`, `le`)."""

    start: int
    end: int
    words: tuple[str, ...] = ()


class _Piece(NamedTuple):
    """Text with the sentences in it, after which the paragraph goes on at `follows` (behind its end: it does not)."""

    text: str
    sentences: list[list[Token]]
    follows: int
    line: int
    is_new: bool  # a paragraph begins


class Tokenizer(abc.ABC):
    """Cuts text into sentences and words."""

    kind: ClassVar[str]  # for people

    @abc.abstractmethod
    def tokens(self, text: str) -> list[list[Token]]:
        """The sentences of a paragraph, each as its tokens, in the order of the text."""

    def sentences(self, text: str) -> list[Sentence]:
        """The sentences of a text, with `# text`, SpaceAfter=No and multiword ranges. A blank line ends a paragraph."""
        return list(self.stream(io.BytesIO(text.encode("utf-8", "replace"))))

    def stream(self, file: BinaryIO, path: str = "<memory>", first: int = 1) -> Iterator[Sentence]:
        """The sentences of an open file of any size, one after the other; `first` is the number of the first one."""
        number = first
        for piece in self._pieces(parts(file, path)):
            text, sentences = piece.text, _shortened(piece.sentences)
            starts = [tokens[0].start for tokens in sentences[1:]] + [piece.follows]
            for tokens, follows in zip(sentences, starts, strict=True):
                start = tokens[0].start
                comments = ["newpar"] if piece.is_new and tokens is sentences[0] else []
                comments += [f"sent_id = {number}", f"text = {_on_one_line(text[start : tokens[-1].end])}"]
                yield _sentence(text, tokens, follows, comments, path, piece.line + text.count("\n", 0, start))
                number += 1

    def read_all(self, paths: Iterable[str | Path], report: Reporter = refuse) -> Iterator[Sentence]:
        """The sentences of several files (`-` is standard input), each of which begins a document."""
        number = 0
        for path in paths:
            for sentence in self.document(path, None, number + 1, report):
                number += 1
                yield sentence

    def document(
        self, path: str | Path, name: str | None = None, first: int = 1, report: Reporter = refuse
    ) -> Iterator[Sentence]:
        """The sentences of a file, the first of which names it as a document, by its path unless by another name."""
        is_empty = True
        with opened_text(path) as file:
            for sentence in self.stream(file, name_of(path), first):
                if is_empty:
                    # The system takes names that are no text in any encoding.
                    shown = (name or name_of(path)).encode("utf-8", "replace").decode()
                    sentence = _with_comment(sentence, f"newdoc id = {_on_one_line(shown)}")
                    is_empty = False
                yield sentence
        if is_empty:
            report(Problem(name_of(path), 0, "no text in it"))

    def _pieces(self, stream: Iterable[Part]) -> Iterator[_Piece]:
        """Text with the sentences in it, at most about `LONGEST_TEXT` characters of a paragraph at once."""
        waiting, line, is_new = "", 0, True
        for part in stream:
            if not waiting:
                line = part.line
            waiting += part.text
            while len(waiting) > LONGEST_TEXT and not part.is_last:
                piece = self._first_piece(waiting, line, is_new)
                if piece.sentences:
                    yield piece
                    is_new = False
                line += waiting.count("\n", 0, piece.follows)
                waiting = waiting[piece.follows :]
            if part.is_last:
                sentences = self._sentences(waiting)
                if sentences:
                    yield _Piece(waiting, sentences, len(waiting) + 1, line, is_new)
                waiting, is_new = "", True

    def _first_piece(self, text: str, line: int, is_new: bool) -> _Piece:
        """All sentences of a long text but the last, of which the end has perhaps not been seen."""
        sentences = self._sentences(text)
        if len(sentences) > 1:
            return _Piece(text, sentences[:-1], sentences[-1][0].start, line, is_new)
        cut = max(text.rfind(space, 1, LONGEST_TEXT) for space in " \n")
        cut = cut if cut > 0 else LONGEST_TEXT
        follows = len(text) - len(text[cut:].lstrip())
        return _Piece(text, self._sentences(text[:cut]), follows, line, is_new)

    def _sentences(self, text: str) -> list[list[Token]]:
        return _completed(text, self.tokens(text)) if text.strip() else []


def _completed(text: str, found: Iterable[Iterable[Token]]) -> list[list[Token]]:
    """The same sentences, with tokens for whatever no token holds; white space at the ends of tokens is cut off."""
    result: list[list[Token]] = []
    end = 0
    for tokens in found:
        sentence: list[Token] = []
        for token in tokens:
            start = min(max(token.start, end), len(text))
            sentence += _in_between(text, end, start)
            end = start
            piece = text[start : token.end]
            start += len(piece) - len(piece.lstrip())
            stop = start + len(piece.strip())
            if stop > start:
                sentence.append(Token(start, stop, token.words))
                end = stop
        if sentence:
            result.append(sentence)
    rest = _in_between(text, end, len(text))
    if rest and result:
        result[-1] += rest
    elif rest:
        result.append(rest)
    return result


def _in_between(text: str, start: int, end: int) -> list[Token]:
    tokens = []
    for word in text[start:end].split():
        start = text.index(word, start)
        tokens.append(Token(start, start + len(word)))
        start += len(word)
    return tokens


def _shortened(found: Iterable[list[Token]]) -> list[list[Token]]:
    return [
        tokens[start : start + LONGEST_SENTENCE]
        for tokens in found
        for start in range(0, len(tokens), LONGEST_SENTENCE)
    ]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _sentence(text: str, tokens: list[Token], follows: int, comments: list[str], path: str, line: int) -> Sentence:
    """The sentence of these tokens, after which the text goes on at `follows`."""
    lines = [f"# {comment}\n" for comment in comments]
    places: list[int] = []
    columns: list[list[str]] = []
    starts = [token.start for token in tokens[1:]] + [follows]
    for token, next_start in zip(tokens, starts, strict=True):
        misc = "SpaceAfter=No" if next_start == token.end else "_"
        words = [_on_one_line(word) or "_" for word in token.words] or [_on_one_line(text[token.start : token.end])]
        if token.words:
            first = len(columns) + 1
            form = _on_one_line(text[token.start : token.end])
            lines.append("\t".join([f"{first}-{first + len(words) - 1}", form, *["_"] * 7, misc]) + "\n")
            misc = "_"
        for word in words:
            columns.append([str(len(columns) + 1), word, *["_"] * 7, misc])
            places.append(len(lines))
            lines.append("\t".join(columns[-1]) + "\n")
    return Sentence([*lines, "\n"], places, columns, path, line)


def _with_comment(sentence: Sentence, comment: str) -> Sentence:
    lines, places = [f"# {comment}\n", *sentence.lines], [place + 1 for place in sentence.places]
    return Sentence(lines, places, sentence.columns, sentence.path, sentence.line)
