import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from click.testing import CliRunner

from softparse.cli import main


def test_demo_draws_a_tree(tmp_path):
    picture = tmp_path / "tree.svg"
    result = CliRunner().invoke(main, ["demo", "-o", str(picture)])
    assert result.exit_code == 0, result.output
    assert result.output.count("temperature") == 4
    drawn = ElementTree.parse(picture).getroot()
    paths = [element for element in drawn.iter() if element.tag.endswith("path")]
    assert len(paths) >= 5 * 2 * 7  # at least the seven arcs of a tree, five times
    # The last panel is a tree: seven opaque arcs.
    panels = [element for element in drawn if element.tag.endswith("svg")]
    opacities = [element.get("opacity") for element in panels[-1].iter() if element.tag.endswith("}g")]
    assert opacities == ["1.000"] * 7


def test_help_is_quick():
    code = "import sys, softparse.cli; sys.exit('torch' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_version():
    import softparse

    assert softparse.__version__ in CliRunner().invoke(main, ["--version"]).output
