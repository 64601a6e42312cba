"""The import column of docs/architecture.md, checked for every file of rocdbg/."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from rocdbg.sim.semantics.index import MODULES
from tests.imports import imports

ROOT = Path(__file__).resolve().parent.parent / "rocdbg"

MAY_IMPORT: dict[str, set[str]] = {
    "arch": set(),
    "codeobject": {"arch"},
    "dwarf": set(),
    "llvmdi": {"dwarf"},
    "isa": {"arch"},
    "sim": {"arch", "isa", "codeobject"},
    "analysis": {"arch", "isa", "dwarf"},
    "launch": {"arch", "codeobject", "dwarf", "sim"},
    "host": {"arch", "codeobject", "launch", "sim"},
    "debugger": {"arch", "codeobject", "dwarf", "isa", "sim", "analysis", "launch", "host", "llvmdi"},
    "cli": {"debugger"},
    "triton": {"api", "arch", "codeobject", "launch", "sim", "debugger", "cli"},
}
EVERYONE = {"addresses", "argument_parser", "errors", "regular_file", "streams", "text", "toml_text", "work"}


def imported_layers(source: str) -> set[str]:
    """The parts of rocdbg that a module's text imports, anywhere in it."""
    found = set()
    for node, _ in imports(source):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            assert node.level == 0, "relative imports hide the layer"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
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
    assert imported_layers("def f():\n    from rocdbg.cli import main\n    import rocdbg.sim.core.wave") == {
        "cli", "sim",
    }

GROUPS = (
    "base", "target", "program", "values", "frames", "annotate", "expr", "breakpoints", "running", "time", "reports",
)  # fmt: skip
"""The folders of ``debugger/``, lowest first: each imports only itself and those before it."""


def imported_groups(source: str) -> set[str]:
    """The folders and top modules of ``debugger/`` that a module's text imports, type checking included."""
    names: set[str] = set()
    for node, _ in imports(source):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module == "rocdbg.debugger":
                names |= {alias.name for alias in node.names}
            elif node.module.startswith("rocdbg.debugger."):
                names.add(node.module.split(".")[2])
    return names


@pytest.mark.parametrize("group", GROUPS)
def test_groups_of_the_debugger_import_downwards(group: str) -> None:
    may = set(GROUPS[: GROUPS.index(group) + 1])
    files = sorted((ROOT / "debugger" / group).rglob("*.py"))
    assert files
    wrong = {file.name: extra for file in files if (extra := imported_groups(file.read_text()) - may)}
    assert wrong == {}


ATTRIBUTES = {
    "LOCATION", "FRAME_BASE", "RETURN_ADDR", "STATIC_LINK", "DATA_MEMBER_LOCATION", "VTABLE_ELEM_LOCATION",
    "USE_LOCATION", "STRING_LENGTH", "CALL_VALUE", "CALL_DATA_VALUE", "CALL_DATA_LOCATION", "CALL_TARGET",
    "LLVM_LANES", "LLVM22_LANES", "LLVM_LANE_PC", "LLVM22_LANE_PC", "LLVM_ACTIVE_LANE", "LLVM_VECTOR_SIZE",
    "LLVM22_VECTOR_SIZE", "LLVM22_ADDRESS_SPACE", "ADDRESS_CLASS", "LLVM22_MEMORY_SPACE", "AMD_MEMORY_SPACE",
}
"""Attributes that `rocdbg.dwarf.reader` evaluates, each by its rule, and whose violations it reports."""


def attributes_read(source: str) -> set[str]:
    """A module's accesses to attributes that bypass the reader: their codes, and calls that prepare their expressions.
    """
    found: set[str] = set()
    if not re.search(r"\bAt\b|\b(attribute_)?expressions\b", source):
        return found
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "At":
            found |= {node.attr} & ATTRIBUTES
        elif isinstance(node, ast.ImportFrom) and node.module == "rocdbg.dwarf.info.attribute_expressions":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and node.attr == "expressions":
            found.add(node.attr)
    return found


def test_attributes_are_read_by_the_reader_alone() -> None:
    """`debugger/annotate` writes attributes and so has to name them."""
    files = [file for layer in ("debugger", "analysis", "cli") for file in sorted((ROOT / layer).rglob("*.py"))]
    wrong = {
        str(file.relative_to(ROOT)): found
        for file in files
        if "annotate" not in file.parts and (found := attributes_read(file.read_text()))
    }
    assert wrong == {}
    assert attributes_read("die.find(At.LOCATION)\ndie.find(At.NAME)\nprogram.info.entries.expressions") == {
        "LOCATION", "expressions",
    }


DEBUGGER = sorted((ROOT / "debugger").rglob("*.py"))
MOST_LINES = 700
"""The maximum number of lines of a module of ``debugger/``: a longer one very likely contains a second concept."""
MOST_METHODS = 25
"""The maximum number of public methods (including properties) of a class of ``debugger/``."""


def public_methods(source: str) -> dict[str, int]:
    """The number of public methods that each class of a module's text itself defines; setters are not counted twice."""
    return {
        node.name: len({
            method.name
            for method in node.body
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and not method.name.startswith("_")
        })
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef)
    }


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


def foreign_state(source: str) -> list[int]:
    """The lines of a module's text that access the ``__dict__`` of an object, by name or through ``vars``."""
    return sorted(
        node.lineno
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Attribute) and node.attr == "__dict__")
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars" and node.args)
    )


def test_reaching_into_objects_is_seen() -> None:
    assert foreign_state("a.__dict__.update(b)\nx = vars(a)\ny = '__dict__'\nz = vars()") == [1, 2]


def test_no_module_of_the_debugger_edits_the_state_of_objects() -> None:
    wrong = {str(file.relative_to(ROOT)): lines for file in DEBUGGER if (lines := foreign_state(file.read_text()))}
    assert wrong == {}


def modules_imported(source: str, known: set[str]) -> set[str]:
    """The modules of rocdbg that a module's text imports when it runs (not only for type checking)."""
    found: set[str] = set()
    for node, is_for_types in imports(source):
        if is_for_types:
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if alias.name in known)
        elif node.module is not None:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in known else node.module)
    return found & known


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, by Tarjan's strongly connected components."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def connect(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                connect(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            component = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(component) > 1 or name in graph[name]:
                found.append(sorted(component))

    for name in sorted(graph):
        if name not in index:
            connect(name)
    return found


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


@cache
def import_graph() -> dict[str, set[str]]:
    """The modules of rocdbg that each module imports when it runs."""
    files = {}
    for file in sorted(ROOT.rglob("*.py")):
        name = ".".join(("rocdbg", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        files[name] = file
    known = set(files)
    return {name: modules_imported(file.read_text(), known) - {name} for name, file in files.items()}


def test_no_module_imports_itself_through_others() -> None:
    assert circles(import_graph()) == []


BY_NAME = {
    # loaded by tables of names: of packages' __init__.py, and of the tools in rocdbg.cli.main
    "rocdbg.amdgcn", "rocdbg.debug_objects", "rocdbg.dwarf.checker.check", "rocdbg.llvmdi.checker",
    "rocdbg.cli.annotate", "rocdbg.cli.dwarf_tool", "rocdbg.cli.llvmdi_tool",
    # entry points, and programs that developers run
    "rocdbg.plugin", "rocdbg.pytest_plugin", "rocdbg.cli.manual",
    "rocdbg.isa.generate.llvm_aliases", "rocdbg.sim.semantics.make_index",
    # the semantics that tests run without the translator, and the queue with which they drive devices
    "rocdbg.sim.core.reference_builder", "rocdbg.sim.device.user_queue",
}


def test_every_module_is_imported() -> None:
    """This test finds files that a merge has restored next to their replacements."""
    graph = import_graph()
    semantics = {f"rocdbg.sim.semantics.{name}" for name in MODULES}
    packages = {name.rpartition(".")[0] for name in graph}
    imported = set[str]().union(*graph.values(), semantics, packages)
    unused = {name for name in graph if name not in imported and not name.endswith(".__main__")}
    assert unused == BY_NAME
