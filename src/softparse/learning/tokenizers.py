"""The tokenizer of a run: trained on its trees for text to come, and at once for raw text that is not tokenised.

Training tokenizers needs an extra, so whoever starts a run passes what can do it. What a run has made of its tokenizer
and its raw text lies beside its state, in MODEL.resume, so that a run that goes on has the same.
"""

from __future__ import annotations

import abc
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..corpus.checks import labelled
from ..corpus.conllu import write
from ..corpus.files import can_be_read_again, replacing, written
from ..corpus.formats import named
from ..corpus.plain_text import Tokenizer
from ..corpus.problems import CorpusError
from ..corpus.rule_tokenizer import RuleTokenizer
from ..corpus.sentence import Sentence
from ..parser.folder import TOKENIZER
from .config import Config

RAW = "raw-{}.conllu.gz"
FAST = 1  # effort of packing


class TokenizerMaker(abc.ABC):
    """Trains tokenizers and brings them back from what it has made."""

    @abc.abstractmethod
    def train(self, sentences: Sequence[Sentence], epochs: int, warn: Callable[[str], None]) -> bytes | None:
        """A tokenizer as the content of a file; None if there can be none, which it says why."""

    @abc.abstractmethod
    def load(self, content: bytes) -> Tokenizer:
        """The tokenizer again."""


class Prepared(NamedTuple):
    files: dict[str, bytes]  # for the model folder
    raw: list[str]  # files to read raw sentences from


class Texts:
    """What a run does about tokens, in the first of its processes. `folder` is where it keeps things until its end."""

    def __init__(self, config: Config, maker: TokenizerMaker | None, folder: Path | None, warn: Callable[[str], None]):
        self.config, self.maker, self.warn = config, maker, warn
        self.is_kept = folder is not None
        self._folder = folder
        self.content: bytes | None = None
        self._prepared: Prepared | None = None

    @property
    def folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp())
        return self._folder

    def close(self) -> None:
        if not self.is_kept and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def prepare(self) -> Prepared:
        """A tokenizer trained on the trees, and raw text tokenised, where that is asked for; done once."""
        if self._prepared is None:
            self._prepared = self._prepare()
        return self._prepared

    def _prepare(self) -> Prepared:
        data = self.config.data
        running = [path for path in data.raw if named(path) is None] if data.raw_text else []
        for path in running:
            if not can_be_read_again(path):
                raise CorpusError(f"{path}: raw text is read again and again, so it must be a file")
        if self.maker is not None and self.config.tokenizer.train and (self.is_kept or running):
            self.content = self._trained(self.maker)
        if self.content is None and self._has_initial():
            self.content = (Path(data.init) / TOKENIZER).read_bytes()
        raw = data.raw
        if running:
            raw = [path for path in raw if path not in running] + [str(self._tokenised(running))]
        return Prepared({TOKENIZER: self.content} if self.content else {}, raw)

    def _has_initial(self) -> bool:
        """Whether the model to start from has a tokenizer."""
        return bool(self.config.data.init) and (Path(self.config.data.init) / TOKENIZER).exists()

    def _trained(self, maker: TokenizerMaker) -> bytes | None:
        paths = [path for path in self.config.data.train if can_be_read_again(path)]  # which can be read only once
        if not paths:
            return None
        sentences = list(labelled(paths, self.config.decoding.single_root))
        epochs = self.config.tokenizer.epochs
        key = _digest(str(epochs), *(line for sentence in sentences for line in sentence.lines))
        place = self.folder / f"tokenizer-{key}.udpipe"  # empty if there can be none
        instead = f"as by {self.config.data.init}" if self._has_initial() else "by rules"
        if not place.exists():
            content = maker.train(
                sentences, epochs, lambda why: self.warn(f"{why}; plain text will be tokenised {instead}")
            )
            with replacing(place) as file:
                file.write(content or b"")
        return place.read_bytes() or None

    def _tokenised(self, paths: list[str]) -> Path:
        """The sentences of running text, in a file of their own."""
        sizes = [f"{path}:{os.stat(path).st_size}:{os.stat(path).st_mtime_ns}" for path in paths if Path(path).exists()]
        place = self.folder / RAW.format(_digest(*paths, *sizes, (self.content or b"").hex()))
        if not place.exists():
            tokenizer = self.maker.load(self.content) if self.maker and self.content else RuleTokenizer()
            self.warn(f"{', '.join(paths)}: running text, tokenised by {'a ' * bool(self.content)}{tokenizer.kind}")
            with written(place, FAST) as file:
                for sentence in tokenizer.read_all(paths):
                    file.write(write(Sentence.from_words(sentence.words)))
        return place


def _digest(*texts: str) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()
