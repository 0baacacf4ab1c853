"""Trees and arc matrices as strings: text and SVG."""

from .arcs import arcs_svg, stacked_svg
from .heat import heat_text

__all__ = ["arcs_svg", "heat_text", "stacked_svg"]
