"""The generative model in files of its own beside the parser's, which never needs it to parse.

generative.json          its configuration, and the words that it generates with their counts
generative.safetensors   its weights; what it shares with the parser is there
"""

from __future__ import annotations

import json
from pathlib import Path

import safetensors
import torch
from safetensors.torch import load_file, save

from ..configuration import ConfigurationError, as_table, build
from ..corpus.batches import Numbering
from ..corpus.vocabulary import Vocabulary
from ..model.generative import Generative, GenerativeConfig
from ..parser import ModelError, Parser, folder

DESCRIPTION, WEIGHTS = "generative.json", "generative.safetensors"


def contents(generative: Generative, parser: Parser) -> dict[str, bytes]:
    """The two files."""
    words = parser.numbering.generated
    assert words is not None
    description = {"config": as_table(generative.config), "words": words.words, "counts": words.counts}
    return {
        DESCRIPTION: json.dumps(description, ensure_ascii=False, indent=0).encode(),
        WEIGHTS: save({name: tensor.detach().cpu().contiguous() for name, tensor in own(generative, parser).items()}),
    }


def own(generative: Generative, parser: Parser) -> dict[str, torch.Tensor]:
    """The weights that are not the parser's."""
    shared = {parameter.data_ptr() for parameter in parser.network.parameters()}
    return {name: tensor for name, tensor in generative.state_dict().items() if tensor.data_ptr() not in shared}


def _forms(tensors: dict[str, torch.Tensor]) -> dict[str, tuple[torch.Size, torch.dtype]]:
    return {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()}


def load(path: str | Path) -> tuple[Parser, Generative]:
    """A parser with the generative model that it was trained with."""
    path = Path(path)
    parser = folder.load(path)
    try:
        description = json.loads((path / DESCRIPTION).read_text(encoding="utf-8"))
        config = build(GenerativeConfig, description["config"])
        words = Vocabulary(description["words"], description["counts"], list(parser.vocabulary.characters))
        weights = load_file(path / WEIGHTS)
    except FileNotFoundError:
        raise ModelError(f"{path}: has no generative model; it was trained without raw text") from None
    except (OSError, ValueError, KeyError, TypeError, ConfigurationError, safetensors.SafetensorError) as error:
        raise ModelError(f"{path}: the generative model is damaged ({error})") from None
    parser.numbering = Numbering(parser.vocabulary, parser.numbering.external, words)
    generative = Generative(config, parser.network, torch.tensor(words.counts))
    wanted = own(generative, parser)
    if _forms(wanted) != _forms(weights):
        raise ModelError(f"{path}: {WEIGHTS} does not fit {DESCRIPTION}")
    generative.load_state_dict(weights, strict=False)
    return parser, generative.eval()
