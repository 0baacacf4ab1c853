"""The order of the rooms: imports inside the package go downward only, and extras stay at the edges."""

import ast
from pathlib import Path

import softparse

ROOT = Path(softparse.__file__).parent
# From the bottom up, with what each may import.
MAY_IMPORT = {
    "trees": set(),
    "configuration": set(),
    "corpus": set(),
    "drawing": set(),
    "evaluation": {"corpus"},
    "model": {"configuration", "corpus", "trees"},
    "parser": {"configuration", "corpus", "model", "trees"},
    "learning": {"configuration", "corpus", "evaluation", "model", "parser", "trees"},
    "experiment": {"configuration", "corpus", "drawing", "evaluation", "learning", "parser"},
    "demonstration": {"trees", "drawing"},
    "ext": {"corpus", "drawing", "learning", "parser", "trees"},
    "cli": {"corpus", "demonstration", "drawing", "evaluation", "experiment", "ext", "learning", "parser"},
    "__main__": {"cli"},
}
ROOMS = list(MAY_IMPORT)
CORE = {"torch", "numpy", "numba", "llvmlite", "safetensors", "click", "tqdm"}
EXTRAS = {  # at the edges only
    "gensim", "ufal", "spacy", "srsly", "ray", "IPython", "fastapi", "pydantic", "starlette", "uvicorn",
}  # fmt: skip


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
            if name.startswith("softparse.") and name != "softparse.__version__":
                there = name.split(".")[1]
                assert there == here or there in MAY_IMPORT[here], f"{path.relative_to(ROOT)} imports {name}"
                assert ROOMS.index(there) <= ROOMS.index(here)


def test_only_core_dependencies():
    import sys

    for path in files():
        for name in imports(path):
            top = name.split(".")[0]
            allowed = CORE | (EXTRAS if room(path) == "ext" else set()) | {"softparse"} | sys.stdlib_module_names
            assert top in allowed, f"{path.relative_to(ROOT)} imports {name}"


def test_files_stay_small():
    for path in files():
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 350, path.relative_to(ROOT)
