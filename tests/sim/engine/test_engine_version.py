"""The key of cached translations depends on everything that determines them: it omits no module of the translator."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import rocdbg
from rocdbg.sim.engine.native_jit import shaping_folders

ROOT = Path(rocdbg.__file__).parent
SHAPES_NOTHING = {ROOT / "errors.py"}


def imported(file: Path) -> Iterator[Path]:
    """The files of rocdbg that a file imports when it is loaded or called, except those only for types."""
    waiting: list[ast.AST] = [ast.parse(file.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        waiting.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("rocdbg."):
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                found = ROOT.parent / name.replace(".", "/")
                yield from (place for place in (found.with_suffix(".py"), found / "__init__.py") if place.exists())


def test_every_module_that_shapes_code_counts() -> None:
    waiting = [*(ROOT / "sim/translator").glob("*.py"), *(ROOT / "sim/semantics").glob("*.py")]
    seen = set(waiting)
    while waiting:
        new = set(imported(waiting.pop())) - seen
        seen |= new
        waiting.extend(new)
    assert len(seen) > 100
    assert {file for file in seen - SHAPES_NOTHING if file.parent not in shaping_folders()} == set()
