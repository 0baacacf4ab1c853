"""From a request to sentences, or to a refusal that says what is wrong."""

from __future__ import annotations

import asyncio
import io
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ...corpus.conllu import read_conllu
from ...corpus.formats import CONLLU, beginning, detect
from ...corpus.plain_text import Tokenizer
from ...corpus.problems import CorpusError
from ...corpus.sentence import Sentence
from ...parser.restriction import Restricted
from .limits import Limits, Refusal, too_late
from .schema import Arc, ArcOfSentence, ParseRequest, PastedRequest, SentenceRequest

Found = TypeVar("Found")
LONGEST_WORD = 10_000  # in letters


class Reader:
    """Cuts, reads and counts."""

    def __init__(self, tokenizer: Tokenizer, limits: Limits):
        self.tokenizer, self.limits = tokenizer, limits
        # Cutting text can take long, and a tokenizer does one thing at a time: one thread, which others need not await.
        self._cutting = ThreadPoolExecutor(1, "cutting")

    async def read(self, way: Callable[[Any], Found], request: Any) -> Found:
        """What one of the ways below finds in a request, without keeping anybody else waiting."""
        is_text = isinstance(request, PastedRequest) or request.source == "text"
        thread = self._cutting if is_text else None
        return await asyncio.get_running_loop().run_in_executor(thread, way, request)

    def pasted(self, request: PastedRequest) -> list[Sentence]:
        is_conllu = request.pasted.strip() and detect(beginning(io.BytesIO(request.pasted.encode()))) == CONLLU
        return self._checked(_conllu(request.pasted) if is_conllu else self._cut(request.pasted))

    def sentences(self, request: ParseRequest) -> list[Sentence]:
        if request.source == "text":
            return self._checked(self._cut(request.text), request.kbest)
        if request.source == "conllu":
            return self._checked(_conllu(request.conllu), request.kbest)
        if [] in request.tokens:
            raise Refusal(422, f"sentence {request.tokens.index([]) + 1} of tokens has no words; leave it out")
        return self._checked([Sentence.from_words(words) for words in request.tokens], request.kbest)

    def sentence(self, request: SentenceRequest) -> Restricted:
        """The one sentence of a request with its constraints."""
        if request.source == "tokens":
            found = [Sentence.from_words(request.tokens)] if request.tokens else []
        else:
            found = self._checked(self._cut(request.text) if request.source == "text" else _conllu(request.conllu))
        if len(found) != 1:
            raise Refusal(422, f"one sentence is wanted here, not {len(found)}; /parse takes several")
        return _restricted(self._checked(found)[0], request.constraints, 1)

    def _cut(self, text: str) -> Iterator[Sentence]:
        """Sentence by sentence, until it has taken too long: nobody waits for the rest then."""
        end = time.monotonic() + self.limits.seconds
        try:
            for sentence in self.tokenizer.stream(io.BytesIO(text.encode())):
                if time.monotonic() > end:
                    raise too_late(self.limits)
                yield sentence
        except CorpusError as error:
            raise Refusal(422, str(error)) from None

    def _checked(self, sentences: Iterable[Sentence], kbest: int = 1) -> list[Sentence]:
        """All of them, or a refusal as soon as there is too much: words count once for every tree that is asked for."""
        found: list[Sentence] = []
        most_words = self.limits.request_words // kbest
        words = 0
        for number, sentence in enumerate(sentences, 1):
            if len(sentence) > self.limits.sentence_words:
                most = f"at most {self.limits.sentence_words} are taken; divide it"
                raise Refusal(413, f"sentence {number} has {len(sentence)} words, but {most}")
            if any(len(word) > LONGEST_WORD for word in sentence.words):
                raise Refusal(413, f"sentence {number} has a word of more than {LONGEST_WORD:,} letters")
            words += len(sentence)
            if words > most_words:
                trees = f" with {kbest} trees of each sentence" if kbest > 1 else ""
                most = f"at most {most_words:,} are taken{trees}; send the text in several parts"
                raise Refusal(413, f"the request has more than {words - 1:,} words, but {most}")
            found.append(sentence)
        return found


def _conllu(text: str) -> list[Sentence]:
    try:
        return list(read_conllu(io.BytesIO(text.encode()), "conllu"))
    except CorpusError as error:
        remedy = "plain text is parsed with --format text", "plain text goes into the field text"
        raise Refusal(422, str(error).replace(*remedy)) from None


def text_of(sentence: Sentence) -> str:
    """The text of a sentence as it was written, where a comment has it."""
    for line in sentence.lines[: sentence.places[0]]:
        name, equals, value = line.lstrip("\ufeff# ").partition("=")
        if equals and name.strip() == "text":
            return value.strip()
    return " ".join(sentence.words)


def constrained(sentences: Sequence[Sentence], arcs: Sequence[ArcOfSentence]) -> list[Sentence | Restricted]:
    """The sentences of a request, restricted to trees with what is asked for."""
    by_sentence: dict[int, list[Arc]] = defaultdict(list)
    for arc in arcs:
        if arc.sentence > len(sentences):
            raise Refusal(422, f"a constraint is about sentence {arc.sentence}, but there are {len(sentences)}")
        by_sentence[arc.sentence].append(arc)
    return [
        _restricted(sentence, by_sentence[number], number) if number in by_sentence else sentence
        for number, sentence in enumerate(sentences, 1)
    ]


def _restricted(sentence: Sentence, arcs: Sequence[Arc], number: int) -> Restricted:
    required: dict[int, int] = {}
    for arc in arcs:
        if arc.kind == "require" and required.setdefault(arc.word, arc.head) != arc.head:
            heads = f"{required[arc.word]} and {arc.head}; a tree has one a word"
            raise Refusal(422, f"sentence {number}: word {arc.word} is to have two heads, {heads}")
    forbidden = {(arc.head, arc.word) for arc in arcs if arc.kind == "forbid"}
    try:
        return Restricted(sentence, required, forbidden)
    except CorpusError as error:
        raise Refusal(422, f"sentence {number}: {error}") from None
