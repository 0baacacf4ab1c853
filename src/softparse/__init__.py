"""softparse: differentiable dependency trees, and parsers learnt from few trees.

>>> import softparse
>>> parser = softparse.load("MODEL")                                  # doctest: +SKIP
>>> parser.parse([["They", "walk", "the", "dog"]])[0].heads           # doctest: +SKIP
[2, 0, 4, 2]

`softparse.trees` is the structured core; it is usable alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .learning.config import configure
    from .learning.training import train
    from .parser import Parse, Parser, load

__all__ = ["Parse", "Parser", "__version__", "configure", "load", "train"]

# Imported when asked for: torch takes longer to import than many a command to run.
_PLACES = {
    "load": "parser",
    "Parser": "parser",
    "Parse": "parser",
    "train": "learning.training",
    "configure": "learning.config",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("softparse")
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(f"softparse.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'softparse' has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext softparse`: parses and distributions over trees are shown as pictures."""
    from .ext.notebook import load as load_notebook

    load_notebook(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext softparse`"""
    from .ext.notebook import unload

    unload(shell)
