"""softparse: differentiable dependency trees, and parsers learnt from few trees and raw text.

`softparse.trees` is the structured core; it is usable alone.
"""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    if name == "__version__":  # read when asked for: the look-up is slower than the import
        from importlib.metadata import version

        return version("softparse")
    raise AttributeError(f"module 'softparse' has no attribute {name!r}")
