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
EVERYONE = {"addresses", "errors", "text"}


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
