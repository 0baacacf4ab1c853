"""Trees, arc matrices and figures as strings: text, SVG, HTML and LaTeX."""

from .arcs import arcs_svg, stacked_svg
from .bars import Bar, bars_svg
from .chart import Curve, chart_svg
from .dots import Dot, dots_svg
from .heat import heat_text
from .heat_svg import heat_svg
from .reliability_svg import reliability_svg
from .tree_html import heads_table, tree_html
from .tree_svg import tree_svg
from .tree_text import tree_text
from .tree_tikz import tree_tikz

__all__ = [
    "Bar",
    "Curve",
    "Dot",
    "arcs_svg",
    "bars_svg",
    "chart_svg",
    "dots_svg",
    "heads_table",
    "heat_svg",
    "heat_text",
    "reliability_svg",
    "stacked_svg",
    "tree_html",
    "tree_svg",
    "tree_text",
    "tree_tikz",
]
