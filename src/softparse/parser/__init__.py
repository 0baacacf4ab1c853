"""The parser: configuration, vocabulary and networks together; parse, save, load, and parse files."""

from .folder import ModelError, load
from .parsing import DecodingConfig, Parse, Parser, ParserConfig
from .restriction import Restricted
from .temperature import Temperatures

__all__ = ["DecodingConfig", "ModelError", "Parse", "Parser", "ParserConfig", "Restricted", "Temperatures", "load"]
