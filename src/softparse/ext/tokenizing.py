"""The tokenizer of a model folder: one that UDPipe has trained on the model's trees, or the rules for all languages."""

from __future__ import annotations

import importlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..corpus.plain_text import Token, Tokenizer
from ..corpus.problems import CorpusError
from ..corpus.rule_tokenizer import RuleTokenizer
from ..corpus.sentence import Sentence
from ..corpus.spacing import with_spaces
from ..learning.tokenizers import TokenizerMaker
from ..parser.folder import TOKENIZER

INSTALL = "pip install 'softparse[text]'"
MOST_SECONDS = 300  # for training, which takes about 10 on a machine that is not busy
FEWEST_CHARACTERS = 500
# An epoch is 10,000 pieces of 50 characters, whatever the size of the treebank; with small batches few are enough.
OPTIONS = "dimension=16;batch_size=10"

_log = logging.getLogger(__name__)


def tokenizer_of(folder: str | Path) -> Tokenizer:
    """The tokenizer of a model: the one that was trained with it, if it has one and UDPipe is installed."""
    path = Path(folder) / TOKENIZER
    if not path.exists():
        return RuleTokenizer()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror or error})") from None
    return _trained_if_installed(content, str(path))


def _trained_if_installed(content: bytes, name: str) -> Tokenizer:
    if is_installed():
        return TrainedTokenizer(content, name)
    message = "%s: UDPipe is not installed, so text is tokenised by rules and not as in the treebank; run: %s"
    _log.warning(message, name, INSTALL)
    return RuleTokenizer()


def description(folder: str | Path) -> str:
    """What tokenises plain text for a model, for people."""
    if not (Path(folder) / TOKENIZER).exists():
        return f"by {RuleTokenizer.kind}"
    needs = "" if is_installed() else f" (UDPipe is not installed, so by rules; run: {INSTALL})"
    return f"by a {TrainedTokenizer.kind}{needs}"


def is_installed() -> bool:
    try:
        _udpipe()
    except ImportError:
        return False
    return True


def _udpipe() -> Any:
    return importlib.import_module("ufal.udpipe")


class TrainedTokenizer(Tokenizer):
    """A tokenizer of UDPipe, which cuts text as the treebank does that it was trained on; knows multiword tokens."""

    kind = "tokenizer trained on the trees"

    def __init__(self, content: bytes, name: str = "<memory>"):
        udpipe = _udpipe()
        self.content = content
        self._sentence, self._error = udpipe.Sentence(), udpipe.ProcessingError()
        self._model = _loaded(udpipe, content)
        tokenizer = self._model.newTokenizer(udpipe.Model.TOKENIZER_RANGES) if self._model else None
        if tokenizer is None:
            raise CorpusError(f"{name}: damaged, or not a tokenizer; delete it to tokenise by rules, or train anew")
        self._tokenizer = tokenizer
        self._lock = threading.Lock()  # a server has many threads, and UDPipe's objects have one state

    def tokens(self, text: str) -> list[list[Token]]:
        with self._lock:
            self._tokenizer.resetDocument()
            self._tokenizer.setText(text.replace("\0", "\ufffd"))  # where text would end for UDPipe
            result = []
            while self._tokenizer.nextSentence(self._sentence, self._error):
                result.append(_tokens(self._sentence))
            if self._error.occurred():
                raise CorpusError(f"UDPipe cannot tokenise {text[:40]!r}: {self._error.message}")
            return result


def _loaded(udpipe: Any, content: bytes) -> Any:
    """UDPipe reads files only, and a file in memory is one."""
    if not content:
        return None
    descriptor = os.memfd_create("tokenizer") if hasattr(os, "memfd_create") else None
    if descriptor is not None:
        try:
            with open(descriptor, "wb", closefd=False) as file:
                file.write(content)
            return udpipe.Model.load(f"/proc/self/fd/{descriptor}")
        finally:
            os.close(descriptor)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / TOKENIZER
        path.write_bytes(content)
        return udpipe.Model.load(str(path))


def _tokens(sentence: Any) -> list[Token]:
    result = []
    ranges = {int(token.idFirst): token for token in sentence.multiwordTokens}
    last = 0
    for word in sentence.words[1:]:  # the first one stands for the root
        if word.id in ranges:
            token = ranges[word.id]
            last = token.idLast
            words = tuple(sentence.words[number].form for number in range(word.id, last + 1))
            result.append(Token(token.getTokenRangeStart(), token.getTokenRangeEnd(), words))
        elif word.id > last:
            result.append(Token(word.getTokenRangeStart(), word.getTokenRangeEnd()))
    return result


def _with_known_spaces(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Those of files that say somewhere that there is no space: the others would teach that there always is one."""
    by_file: dict[str, list[Sentence]] = {}
    for sentence in sentences:
        by_file.setdefault(sentence.path, []).append(sentence)
    return [sentence for some in by_file.values() if with_spaces(some)[1] for sentence in some]


class UDPipeMaker(TokenizerMaker):
    """Trains tokenizers, where UDPipe is installed."""

    def train(self, sentences: Sequence[Sentence], epochs: int, warn: Callable[[str], None]) -> bytes | None:
        """None if there is nothing to learn from, or if it fails: plain text is then tokenised by rules."""
        if not is_installed():
            return None
        known = _with_known_spaces(sentences)
        text, joined = with_spaces(known)
        if not joined:
            warn(
                "the training trees do not say where there is no space between words (neither SpaceAfter=No nor "
                "# text), so no tokenizer can be trained on them"
            )
            return None
        if sum(len(word) for sentence in known for word in sentence.words) < FEWEST_CHARACTERS:
            warn("there is too little text in the trees to train a tokenizer on")
            return None
        try:
            content = _trained(text, f"{OPTIONS};epochs={epochs}")
            self.load(content)
            return content
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            warn(f"no tokenizer was trained ({_reason(error)})")
            return None

    def load(self, content: bytes) -> Tokenizer:
        return _trained_if_installed(content, "the tokenizer")


def _trained(text: str, options: str) -> bytes:
    """The same trees and options give the same tokenizer."""
    code = "import sys; from softparse.ext.udpipe_training import main; main(sys.argv[1])"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.run(
        [sys.executable, "-c", code, options],
        input=text.encode(), capture_output=True, timeout=MOST_SECONDS, check=True, env=environment,
    )  # fmt: skip
    return process.stdout


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it took more than {MOST_SECONDS} seconds"
    if isinstance(error, subprocess.CalledProcessError):
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"UDPipe: {lines[-1]}" if lines else f"UDPipe ended with {error.returncode}"
    return str(error)
