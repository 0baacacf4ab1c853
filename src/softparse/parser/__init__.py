"""The parser: configuration, vocabulary and networks together; parse, save, load, and parse files."""

import os

import torch

from .folder import ModelError, load
from .parsing import DecodingConfig, Parse, Parser, ParserConfig
from .restriction import Restricted
from .temperature import Temperatures

if hasattr(os, "register_at_fork"):
    # The threads that torch has started do not come along, and a forked child would wait for them for ever.
    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))

__all__ = ["DecodingConfig", "ModelError", "Parse", "Parser", "ParserConfig", "Restricted", "Temperatures", "load"]
