"""softparse in a spaCy pipeline: `nlp.add_pipe("softparse", config={"model": "MODEL"})`.

spaCy imports this file through an entry point whenever any pipeline is made, so nothing but spaCy is imported here:
torch and the rest of softparse come with the first document.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import srsly
from spacy.language import Language
from spacy.pipeline import Pipe, Sentencizer
from spacy.pipeline.dep_parser import parser_score
from spacy.tokens import Doc, Span
from spacy.util import minibatch

if TYPE_CHECKING:
    from ..parser import Parse, Parser

ROOT, OTHER = "ROOT", "dep"  # what spaCy calls the label of a root, and a label that says nothing
SENTENCES = ("rules", "given", "doc")
METHODS = ("eisner", "mbr", "nonprojective")


@Language.factory(
    "softparse",
    assigns=["token.head", "token.dep", "token.is_sent_start", "doc.sents"],
    default_config={"model": None, "device": "cpu", "method": None, "sentences": "rules"},
    default_score_weights={"dep_uas": 0.5, "dep_las": 0.5},
)
def make_softparse(
    nlp: Language, name: str, model: str | None, device: str, method: str | None, sentences: str
) -> SoftparseComponent:
    return SoftparseComponent(name, model, device=device, method=method, sentences=sentences)


class SoftparseComponent(Pipe):
    """Sets heads and labels of all tokens, a tree for every sentence.

    `model` is the folder of a model; it is read when the first document comes, and goes along when the pipeline is
    saved. `method` is the way of decoding, the model's own unless given. `sentences` says what is done with tokens
    that no component before this one has marked as sentence starts or as none: "rules" finds starts as spaCy's
    sentencizer does, by punctuation, "doc" takes them for none, and so does "given", which refuses documents without
    any marks.

    Sentences and roots are the same thing to spaCy, so every sentence has one root, also with a model that was trained
    on several.
    """

    def __init__(
        self,
        name: str = "softparse",
        model: str | Path | None = None,
        *,
        device: str = "cpu",
        method: str | None = None,
        sentences: str = "rules",
    ):
        if sentences not in SENTENCES:
            raise ValueError(f"{name}: sentences must be one of {', '.join(SENTENCES)}, got {sentences!r}")
        if method is not None and method not in METHODS:
            raise ValueError(f"{name}: method must be one of {', '.join(METHODS)}, got {method!r}")
        self.name = name
        self.folder = None if model is None else Path(model).absolute()
        self.device, self.method, self.sentences = device, method, sentences
        self._parser: Parser | None = None
        self._process = os.getpid()
        self._sentencizer = Sentencizer()
        self.scorer = parser_score  # for nlp.evaluate

    @property
    def parser(self) -> Parser:
        if self._process != os.getpid():  # nlp.pipe(n_process=…) has forked: torch's threads are not there any more,
            import torch  # and it would wait for them for ever

            torch.set_num_threads(1)
            self._process = os.getpid()
        if self._parser is None:
            from ..parser import load

            if self.folder is None:
                example = f'nlp.add_pipe("softparse", name="{self.name}", config={{"model": "MODEL"}})'
                raise ValueError(f"{self.name}: no model; name the folder of one: {example}")
            self._parser = load(self.folder, self.device)
        return self._parser

    def __call__(self, doc: Doc) -> Doc:
        try:
            self._annotate([doc])
        except Exception as error:
            self.get_error_handler()(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The sentences of all documents of a batch are parsed together."""
        for docs in minibatch(stream, size=batch_size):
            try:
                self._annotate(docs)
            except Exception as error:
                if len(docs) == 1:
                    self.get_error_handler()(self.name, self, docs, error)
                else:  # one document's trouble is not that of the others
                    yield from self.pipe(docs, batch_size=1)
            else:
                yield from docs

    def _annotate(self, docs: Sequence[Doc]) -> None:
        for doc in docs:
            self._find_sentences(doc)
        spans = [[] if len(doc) == 0 else list(doc.sents) for doc in docs]
        words = ([token.text for token in span if not token.is_space] for sents in spans for span in sents)
        parses = self.parser.pipe(words, method=self.method, single_root=True)
        for doc, sents in zip(docs, spans, strict=True):
            if sents:
                _set_trees(doc, sents, [next(parses) for _ in sents])

    def _find_sentences(self, doc: Doc) -> None:
        if doc.has_annotation("SENT_START", require_complete=True):
            return
        if self.sentences == "given":
            if doc.has_annotation("SENT_START"):  # what is not marked as a start is none
                return
            remedy = f'add one that marks them, such as nlp.add_pipe("sentencizer", before="{self.name}")'
            raise ValueError(
                f"{self.name}: no component has marked the sentence starts of {doc.text[:40]!r}; {remedy}, or set "
                'sentences to "rules" or "doc"'
            )
        starts = {0}
        if self.sentences == "rules":
            # White space stays with the sentence before it; the sentencizer lets it begin one.
            guesses = self._sentencizer.predict([doc])[0]
            words = [token.i for token in doc if not token.is_space]
            starts |= {
                word for word, before in zip(words, [0, *words], strict=False) if any(guesses[before + 1 : word + 1])
            }
        # What others have said about some tokens holds.
        starts -= {token.i for token in doc if token.is_sent_start is False}
        starts |= {token.i for token in doc if token.is_sent_start}
        if self.sentences == "rules":
            starts |= _further_starts(starts, doc)
        _set_starts(doc, starts)

    def initialize(self, get_examples: Callable[[], Iterable[Any]], *, nlp: Language | None = None) -> None:
        """Nothing is learnt here; what is wrong with the model is said now rather than later."""
        _ = self.parser

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        self.parser.save(path)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SoftparseComponent:
        from ..parser import load

        self._parser = load(path, self.device)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "model"
            self.parser.save(folder)
            return srsly.msgpack_dumps({file.name: file.read_bytes() for file in sorted(folder.iterdir())})

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SoftparseComponent:
        files = srsly.msgpack_loads(data)
        if not isinstance(files, dict) or any(name != Path(name).name or name in ("", "..") for name in files):
            raise ValueError(f"{self.name}: these bytes are not a softparse model")
        with tempfile.TemporaryDirectory() as temporary:
            for name, content in files.items():
                (Path(temporary) / name).write_bytes(content)
            return self.from_disk(temporary)

    def __reduce__(self) -> tuple[Any, ...]:
        """Processes that are started anew get the model as it is here, not from its folder."""
        options = self.folder, self.device, self.method, self.sentences
        return _rebuilt, (self.name, *options, self.to_bytes(), getattr(self, "error_handler", None))


def _rebuilt(
    name: str, folder: Path | None, device: str, method: str | None, sentences: str, model: bytes, handler: Any
):
    component = SoftparseComponent(name, folder, device=device, method=method, sentences=sentences).from_bytes(model)
    if handler is not None:
        component.set_error_handler(handler)
    return component


def _set_trees(doc: Doc, sents: Sequence[Span], parses: Sequence[Parse]) -> None:
    """Heads and labels of a document, by one call for all tokens: a call for each takes far longer."""
    heads, labels = np.zeros(len(doc), np.int64), [ROOT] * len(doc)
    for span, parse in zip(sents, parses, strict=True):
        places = [token.i for token in span if not token.is_space]
        for place, head, label in zip(places, parse.heads, parse.labels, strict=True):
            if head:
                heads[place] = places[head - 1] - place
                labels[place] = OTHER if label == "_" else label
        for place, host in _hosts(span, places):
            heads[place], labels[place] = host - place, OTHER
    strings = doc.vocab.strings
    table = np.empty((len(doc), 2), np.uint64)
    table[:, 0] = heads.astype(np.uint64)
    table[:, 1] = [strings.add(label) for label in labels]
    doc.from_array(["HEAD", "DEP"], table)
    # spaCy derives the starts anew, from the roots, and does not get all of them right when arcs cross.
    starts = {span.start for span in sents}
    if starts != {token.i for token in doc if token.is_sent_start}:
        _set_starts(doc, starts)


def _hosts(span: Span, words: Sequence[int]) -> Iterator[tuple[int, int]]:
    """White space, which no tree has seen, with the word it hangs on: the one before it, or the first."""
    if not words:  # white space only: the first token is the root
        yield from ((token.i, span.start) for token in span[1:])
        return
    host = words[0]
    for token in span:
        if token.is_space:
            yield token.i, host
        else:
            host = token.i


def _further_starts(starts: set[int], doc: Doc) -> set[int]:
    """Starts inside of sentences that never end: the time to parse one grows with the third power of its length.

    A token that is marked as none is none; the next one that is not will do.
    """
    from ..corpus.plain_text import LONGEST_SENTENCE

    found: set[int] = set()
    ordered = sorted(starts)
    for start, end in zip(ordered, [*ordered[1:], len(doc)], strict=True):
        place = start + LONGEST_SENTENCE
        while place < end:
            if doc[place].is_sent_start is False:
                place += 1
            else:
                found.add(place)
                place += LONGEST_SENTENCE
    return found


def _set_starts(doc: Doc, starts: set[int]) -> None:
    values = np.where([token.i in starts for token in doc], 1, -1).astype(np.int64)
    doc.from_array(["SENT_START"], values.astype(np.uint64))
