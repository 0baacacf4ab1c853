"""The model folder: config.json, vocab.json, model.safetensors, metrics.json, README.md (a model card).

    vectors.safetensors, vectors.json   the external vectors and their words, if the model has any
    metrics.json: calibration           temperatures; a model without them, of an older release, has temperature 1
    tokenizer.udpipe                    what cuts plain text into words, if one was trained

No file is code, and none is trusted: names and shapes of all tensors are checked against the configuration. `FORMAT`
counts incompatible changes. A release reads its own format and all before it; a newer one is refused with a message.

A folder is written beside its place and then exchanged with it, so that at any moment there is a complete model under
the name or none. `update` replaces what changes while a model is being trained: the weights, in one file at once.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load_file, save
from torch import Tensor

from ..configuration import ConfigurationError, as_table, build
from ..corpus.files import permitted, replacing, saying
from ..corpus.problems import CorpusError
from ..corpus.vocabulary import Vocabulary
from .device import usable_device
from .parsing import Parser, ParserConfig
from .temperature import CALIBRATION, Temperatures

FORMAT = 1
CONFIG, VOCABULARY, WEIGHTS, METRICS, CARD = (
    "config.json",
    "vocab.json",
    "model.safetensors",
    "metrics.json",
    "README.md",
)
VECTORS, VECTOR_WORDS = "vectors.safetensors", "vectors.json"
TOKENIZER = "tokenizer.udpipe"


class ModelError(ValueError):
    """A folder that is not a usable model."""


def write(parser: Parser, folder: str | Path, files: Mapping[str, bytes] | None = None) -> None:
    """The whole folder; `files` are further ones to put into it."""
    folder = Path(folder).resolve()
    refuse_other_content(folder)
    with saying(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            _write_into(parser, temporary, files or {})
            temporary.chmod(permitted(0o777))
            if folder.exists():
                _exchange(temporary, folder)
            else:
                os.rename(temporary, folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def is_model(folder: str | Path) -> bool:
    """Whether this is a model of some release, as its configuration says; other programs have a config.json, too."""
    try:
        config = json.loads((Path(folder) / CONFIG).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and isinstance(config.get("format"), int) and isinstance(config.get("model"), dict)


def refuse_other_content(folder: str | Path) -> None:
    """Raise unless there is nothing under this name, an empty folder, or a model: nothing else is ever replaced."""
    folder = Path(folder)
    if folder.exists() and not (folder.is_dir() and (is_model(folder) or not any(folder.iterdir()))):
        raise ModelError(f"{folder}: is there and is not a model, so it is not replaced; choose another name")


def update(parser: Parser, folder: str | Path, files: Mapping[str, bytes] | None = None) -> None:
    """New weights and metrics for a model whose configuration, vocabulary and vectors are in the folder already."""
    folder = Path(folder)
    with replacing(folder / WEIGHTS) as file:
        file.write(_weights(parser))
    update_texts(parser, folder, files)


def update_texts(parser: Parser, folder: str | Path, files: Mapping[str, bytes] | None = None) -> None:
    """New metrics, and what is said about them."""
    for name, content in {**_texts(parser), **(files or {})}.items():
        with replacing(Path(folder) / name) as file:
            file.write(content)


def update_calibration(parser: Parser, folder: str | Path) -> None:
    """New temperatures of a model; its card, which people may have written on, is changed in their section alone."""
    from .card import with_probabilities

    card = with_probabilities(_text(Path(folder), CARD), parser) if (Path(folder) / CARD).exists() else None
    update_texts(parser, folder, {} if card is None else {CARD: card.encode()})


def _write_into(parser: Parser, folder: Path, files: Mapping[str, bytes]) -> None:
    from .. import __version__

    config = {"format": FORMAT, "softparse": __version__, **as_table(parser.config)}
    texts = {CONFIG: json.dumps(config, indent=1).encode(), VOCABULARY: parser.vocabulary.as_json().encode()}
    tokenizer = {} if parser.tokenizer is None else {TOKENIZER: parser.tokenizer}
    for name, content in {**texts, **_texts(parser), WEIGHTS: _weights(parser), **tokenizer, **files}.items():
        (folder / name).write_bytes(content)
    if parser.vector_words:
        (folder / VECTOR_WORDS).write_text(json.dumps(parser.vector_words, ensure_ascii=False), encoding="utf-8")
        # Not by `save_file`, whose errors are not those of the operating system.
        (folder / VECTORS).write_bytes(save({"vectors": parser.network.words.vectors[1:].contiguous().cpu()}))
    for path in folder.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())


def _weights(parser: Parser) -> bytes:
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in parser.network.state_dict().items()}
    return save(tensors, metadata={"format": str(FORMAT)})


def _texts(parser: Parser) -> dict[str, bytes]:
    from .card import model_card

    return {METRICS: json.dumps(parser.metrics, indent=1).encode(), CARD: model_card(parser).encode()}


def _exchange(new: Path, old: Path) -> None:
    """Swap two folders: at once where the system can, otherwise with a moment between two renamings."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
        at_here, exchange = -100, 2
        if renameat2(at_here, os.fsencode(new), at_here, os.fsencode(old), exchange) == 0:
            return
    except (AttributeError, OSError):
        pass
    aside = Path(tempfile.mkdtemp(dir=old.parent, prefix=f".{old.name}.old."))
    os.rename(old, aside / old.name)
    os.rename(new, old)
    shutil.rmtree(aside, ignore_errors=True)


def load(folder: str | Path, device: str | torch.device = "cpu") -> Parser:
    """The parser in a model folder."""
    folder = Path(folder)
    device = usable_device(device)
    config = read_config(folder)
    try:
        parser_config = build(ParserConfig, {key: config[key] for key in ("model", "decoding") if key in config})
        vocabulary = Vocabulary.from_json(_text(folder, VOCABULARY), str(folder / VOCABULARY))
    except (ConfigurationError, CorpusError) as error:
        raise ModelError(f"{folder}: {error}") from None
    words, vectors = _vectors(folder)
    tensors = _tensors(folder / WEIGHTS)
    _refuse_larger(parser_config, tensors, folder)
    try:
        parser = Parser(parser_config, vocabulary, words, vectors)
    except (RuntimeError, TypeError, MemoryError, OverflowError) as error:
        raise ModelError(f"{folder / CONFIG}: no network can be made of it ({str(error)[:200]})") from None
    _fill(parser, tensors, folder / WEIGHTS)
    metrics = _json(folder, METRICS)
    if not isinstance(metrics, dict):
        raise ModelError(f"{folder / METRICS}: must be an object with names and values")
    try:
        Temperatures.of(metrics)
    except ValueError as error:
        remedy = f"remove {CALIBRATION!r} from it, and let `softparse calibrate` write it anew"
        raise ModelError(f"{folder / METRICS}: {error}; {remedy}") from None
    parser.metrics = metrics
    if (folder / TOKENIZER).exists():
        parser.tokenizer = _content(folder, TOKENIZER)
    parser.network.eval()
    return parser.to(device)


def read_config(folder: Path) -> dict[str, Any]:
    """config.json, if its format is one that this release reads."""
    if not folder.is_dir():
        if folder.exists():
            raise ModelError(f"{folder}: is a file, not a model folder; give the folder that `softparse train -o` made")
        raise ModelError(f"{folder}: there is no such model folder; `softparse train … -o {folder}` makes one")
    config = _json(folder, CONFIG)
    version = config.get("format") if isinstance(config, dict) else None
    if not isinstance(version, int) or version < 1:
        raise ModelError(f"{folder / CONFIG}: has no format number; this is not a softparse model")
    if version > FORMAT:
        maker = config.get("softparse", "a newer release")
        raise ModelError(
            f"{folder}: format {version}, written by softparse {maker}; this release reads formats up to {FORMAT}. "
            "Update softparse to use this model"
        )
    return config


def _json(folder: Path, name: str) -> Any:
    text = _text(folder, name)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # of numbers that are too long, and of brackets that are too deep
        raise ModelError(f"{folder / name}: not JSON; the file is damaged") from None


def _text(folder: Path, name: str) -> str:
    try:
        return _content(folder, name).decode()
    except UnicodeDecodeError as error:
        raise ModelError(f"{folder / name}: cannot be read ({error})") from None


def _content(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except FileNotFoundError:
        raise ModelError(f"{folder}: {name} is missing; this is not a complete model folder") from None
    except OSError as error:
        raise ModelError(f"{folder / name}: cannot be read ({error})") from None


def _tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except FileNotFoundError:
        raise ModelError(f"{path.parent}: {path.name} is missing; this is not a complete model folder") from None
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise ModelError(f"{path}: damaged or cut off ({error})") from None


def _vectors(folder: Path) -> tuple[list[str], Tensor | None]:
    if not (folder / VECTORS).exists() and not (folder / VECTOR_WORDS).exists():
        return [], None
    vectors = _tensors(folder / VECTORS).get("vectors")
    words = _json(folder, VECTOR_WORDS)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ModelError(f"{folder / VECTOR_WORDS}: must be a list of words")
    if vectors is None or vectors.dim() != 2 or vectors.shape[0] != len(words):
        raise ModelError(f"{folder / VECTORS}: does not belong to {VECTOR_WORDS}")
    if vectors.dtype != torch.float32 or not vectors.isfinite().all():
        raise ModelError(f"{folder / VECTORS}: must be finite numbers of 32 bits, which these are not")
    return words, vectors


def _refuse_larger(config: ParserConfig, tensors: dict[str, Tensor], folder: Path) -> None:
    """A network that is larger than the weights must not be made: it might be larger than all memory."""
    encoder, numbers = config.model.encoder, sum(tensor.numel() for tensor in tensors.values())
    if encoder.layers > len(tensors) or encoder.hidden**2 > numbers:
        raise ModelError(f"{folder / CONFIG}: asks for a larger network than {WEIGHTS} has weights for")


def _fill(parser: Parser, tensors: dict[str, Tensor], path: Path) -> None:
    """Take the weights, all of them and nothing else, in the shapes that the configuration asks for."""
    wanted = parser.network.state_dict()
    for name, tensor in wanted.items():
        if name not in tensors:
            raise ModelError(f"{path}: tensor {name} is missing, which the configuration asks for")
        if tensors[name].shape != tensor.shape or tensors[name].dtype != tensor.dtype:
            raise ModelError(
                f"{path}: tensor {name} is {tensors[name].dtype} {list(tensors[name].shape)}, "
                f"but the configuration asks for {tensor.dtype} {list(tensor.shape)}"
            )
        if not tensors[name].isfinite().all():
            raise ModelError(f"{path}: tensor {name} has numbers that are none; the file is damaged, train it again")
    surplus = sorted(tensors.keys() - wanted.keys())
    if surplus:
        raise ModelError(f"{path}: tensor {surplus[0]} has no place in this configuration")
    parser.network.load_state_dict(tensors)
