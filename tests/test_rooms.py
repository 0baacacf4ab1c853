"""The order of the rooms: imports inside the package go downward only, and extras stay at the edges."""

import ast
from pathlib import Path

import softparse

ROOT = Path(softparse.__file__).parent
ROOMS = ["trees", "drawing", "demonstration", "cli"]  # from the bottom up
MAY_IMPORT = {
    "trees": set(),
    "drawing": set(),
    "demonstration": {"trees", "drawing"},
    "cli": {"demonstration"},
}
CORE = {"torch", "numpy", "numba", "llvmlite", "click"}


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path):
    """Absolute names of everything a file imports, wherever in it."""
    package = ("softparse", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{prefix}.{alias.name}" for alias in node.names)


def files():
    return [path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py"]


def test_every_room_is_known():
    assert {room(path) for path in files()} == set(ROOMS) == set(MAY_IMPORT)


def test_imports_go_downward():
    for path in files():
        here = room(path)
        for name in imports(path):
            if name.startswith("softparse."):
                there = name.split(".")[1]
                assert there == here or there in MAY_IMPORT[here], f"{path.relative_to(ROOT)} imports {name}"
                assert ROOMS.index(there) <= ROOMS.index(here)


def test_only_core_dependencies():
    import sys

    for path in files():
        for name in imports(path):
            top = name.split(".")[0]
            assert top in CORE | {"softparse"} | sys.stdlib_module_names, f"{path.relative_to(ROOT)} imports {name}"


def test_files_stay_small():
    for path in files():
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 350, path.relative_to(ROOT)
