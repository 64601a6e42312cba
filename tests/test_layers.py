"""The import column of docs/architecture.md, enforced on every file of rocdbg/."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "rocdbg"

MAY_IMPORT: dict[str, set[str]] = {
    "arch": set(),
    "codeobject": {"arch"},
    "dwarf": set(),
    "isa": {"arch"},
    "sim": {"arch", "isa", "codeobject"},
    "analysis": {"arch", "isa", "dwarf"},
    "launch": {"arch", "codeobject", "dwarf", "sim"},
    "debugger": {"arch", "codeobject", "dwarf", "isa", "sim", "analysis", "launch"},
    "cli": {"debugger"},
}
EVERYONE = {"errors", "text"}


def imported_layers(source: str) -> set[str]:
    """The parts of rocdbg that a module's text imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the layer"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("rocdbg.")}
    return found


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_layer_imports_only_what_it_may(layer: str) -> None:
    files = sorted((ROOT / layer).rglob("*.py"))
    assert files
    wrong = {
        str(file.relative_to(ROOT)): extra
        for file in files
        if (extra := imported_layers(file.read_text()) - MAY_IMPORT[layer] - EVERYONE - {layer})
    }
    assert wrong == {}


def test_the_check_sees_an_import_in_a_function() -> None:
    assert imported_layers("def f():\n    from rocdbg.cli import main\n    import rocdbg.sim.wave") == {"cli", "sim"}

GROUPS = ("target", "program", "values", "frames", "expr", "running", "reports")
"""The folders of ``debugger/``, lowest first: each imports itself, those before it, and the base."""
BASE = {"errors", "focus", "settings", "digits", "warnings"}


def imported_groups(source: str) -> set[str]:
    """The folders and top modules of ``debugger/`` that a module's text imports, type checking included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module == "rocdbg.debugger":
                names |= {alias.name for alias in node.names}
            elif node.module.startswith("rocdbg.debugger."):
                names.add(node.module.split(".")[2])
    return names


@pytest.mark.parametrize("group", GROUPS)
def test_groups_of_the_debugger_import_downwards(group: str) -> None:
    may = set(GROUPS[: GROUPS.index(group) + 1]) | BASE
    files = sorted((ROOT / "debugger" / group).rglob("*.py"))
    assert files
    wrong = {file.name: extra for file in files if (extra := imported_groups(file.read_text()) - may)}
    assert wrong == {}


DEBUGGER = sorted((ROOT / "debugger").rglob("*.py"))
MOST_LINES = 400
"""Of a module of ``debugger/``: past that there is a second concept in it."""
MOST_METHODS = 25
"""Public ones (properties are some) of a class of ``debugger/``."""


def public_methods(source: str) -> dict[str, int]:
    """The number of public methods that each class of a module's text defines itself, setters not counted twice."""
    return {
        node.name: len({
            method.name
            for method in node.body
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and not method.name.startswith("_")
        })
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef)
    }  # fmt: skip


def test_public_methods_are_counted() -> None:
    source = """
class A:
    size: int
    def __init__(self): ...
    def _own(self): ...
    def one(self): ...
    @property
    def two(self): ...
    @two.setter
    def two(self, value): ...
    class B:
        async def three(self): ...
def four(): ...
"""
    assert public_methods(source) == {"A": 2, "B": 1}


def test_modules_of_the_debugger_are_short() -> None:
    lines = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in DEBUGGER}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_classes_of_the_debugger_have_few_public_methods() -> None:
    wrong = {
        f"{file.relative_to(ROOT)}: {name}": count
        for file in DEBUGGER
        for name, count in public_methods(file.read_text()).items()
        if count > MOST_METHODS
    }
    assert wrong == {}
