"""The documents name only existing files, modules, names and links; and their layout is readable."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ROOT / "docs" / "commands.md"
DOCUMENTS = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "demo_kernels").rglob("*.md")})
WIDTH = 100
FOLDERS = "benchmarks|demo_kernels|docs|plugins|rocdbg|tests"

PATH = re.compile(rf"(?<![\w./~$-])(?:{FOLDERS})/(?:[\w.*/-]*[\w*/])?")
"""A path from the top of the checkout."""
FILE = re.compile(r"`([\w./-]+\.(?:py|md))(?:::(\w+))?`")
"""A file, named by the last parts of its path, and optionally a test in it."""
NAME = re.compile(r"(?<![\w./-])rocdbg(?:\.\w+)+(?![\w-]*/)")
MODULE = re.compile(r"python3? -m ((?:rocdbg|tests)[\w.]*)")
ENTRY_POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
LINK = re.compile(r"\]\((?!\w+:)([^)#]+)")


def is_code(line: str) -> bool:
    return line.startswith("    ")


def exists(name: str) -> bool:
    """Whether a dotted name leads to a module or to something in one."""
    first, *rest = name.split(".")
    found = importlib.import_module(first)
    for number, part in enumerate(rest, 1):
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(".".join((first, *rest[:number])))
            except ModuleNotFoundError:
                return False
    return True


@cache
def files() -> list[Path]:
    folders = [(ROOT / folder).rglob("*.*") for folder in FOLDERS.split("|")]
    return [path for found in (ROOT.glob("*.*"), *folders) for path in found if path.is_file()]


def has_file(name: str, test: str | None) -> bool:
    """Whether a file's path ends in ``name`` and, for a test file, whether the file has such a test."""
    parts = Path(name).parts
    found = [path for path in files() if path.parts[-len(parts):] == parts]
    return any(test is None or f"def {test}(" in path.read_text() for path in found)


def missing(text: str, folder: Path) -> list[str]:
    """The names in a document in ``folder`` that do not exist."""
    lines = text.splitlines()
    prose = "\n".join(line for line in lines if not is_code(line))
    modules = {name: name.replace(".", "/") for name in MODULE.findall(text)}
    return [
        *(path for path in PATH.findall(text) if not [*ROOT.glob(path)]),
        *(name for name, test in FILE.findall(prose) if not has_file(name, test or None)),
        *(name for name in NAME.findall(text) if name not in ENTRY_POINTS and not exists(name)),
        *(
            name
            for name, path in modules.items()
            if not (ROOT / f"{path}.py").is_file() and not (ROOT / path / "__main__.py").is_file()
        ),
        *(link for link in LINK.findall(prose) if not (folder / link).exists()),
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_named_exists(path: Path) -> None:
    assert missing(path.read_text(), path.parent) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`rocdbg/errors.py`, rocdbg/sim/, tests/sim/vectors/*.txt.", []),
        ("See rocdbg/nosuch.py.", ["rocdbg/nosuch.py"]),
        ("`tests/nosuch/*.txt`", ["tests/nosuch/*.txt"]),
        ("`sim/core/wave.py`, `wave.py`, `test_layers.py::test_the_check_sees_an_import_in_a_function`", []),
        ("`cli/wave.py` `test_layers.py::test_nosuch`", ["cli/wave.py", "test_layers.py"]),
        ("rocdbg.Error, `rocdbg.sim.core.wave.Wave.pc` and rocdbg.dwarf.evaluate", []),
        ("`rocdbg.sim.core.wave.Wave.nosuch` and rocdbg.nosuch", ["rocdbg.sim.core.wave.Wave.nosuch", "rocdbg.nosuch"]),
        ("    python -m rocdbg.isa.generate gfx90a\n    python -m tests.nosuch", ["tests.nosuch"]),
        ("[here](README.md), [there](https://example.org) [nowhere](nosuch.md#top)", ["nosuch.md"]),
    ],
)
def test_what_does_not_exist_is_found(text: str, found: list[str]) -> None:
    assert missing(text, ROOT) == found


@pytest.mark.parametrize(
    "path", [path for path in DOCUMENTS if path != GENERATED], ids=lambda path: str(path.relative_to(ROOT))
)
def test_lines_can_be_read(path: Path) -> None:
    prose = re.sub(r"(?ms)^```.*?^```$", "", path.read_text()).splitlines()
    assert [line for line in prose if len(line) > WIDTH and not is_code(line) and not line.startswith("|")] == []


SOURCES = [path for path in sorted((ROOT / "rocdbg").rglob("*.py")) if path.parent.name != "tables"]
SHORT = re.compile(r"(?<![`:])`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)`(?!`)")
"""A name in single backticks: a Python name, by the convention of docstrings."""
FOREIGN = re.compile(r"None|DW_\w+|DI[A-Z]\w+|amd_\w+|s_\w+|SI[A-Z]\w+|(llvm|dbg|triton)\..*")
"""Names that are not Python's: those of DWARF, LLVM's metadata, the ABI, instructions, Triton."""


def names_and_docstrings(source: str) -> tuple[set[str], list[str]]:
    """All names in a module's text, and all docstrings, including those of fields and constants."""
    names, texts = set(re.findall(r"[A-Za-z_]\w*", re.sub(r'(?s)""".*?"""|#[^\n]*', "", source))), []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            texts.append(node.value.value)
    return names, texts


def missing_in_docstring(text: str, known: set[str]) -> list[str]:
    """The names in a docstring that do not exist: paths, full names of rocdbg, identifiers (``known``)."""
    return [
        *(path for path in PATH.findall(text) if not [*ROOT.glob(path)]),
        *(name for name, _ in FILE.findall(text) if not has_file(name, None)),
        *(name for name in NAME.findall(text) if name not in ENTRY_POINTS and not exists(name)),
        *(
            name
            for name in SHORT.findall(text)
            if not name.startswith("rocdbg.")
            and ("." in name or "_" in name or name[0].isupper())
            and not FOREIGN.fullmatch(name)
            and not set(name.split(".")) <= known
        ),
    ]


def test_docstrings_name_what_exists() -> None:
    read = {path: names_and_docstrings(path.read_text()) for path in SOURCES}
    known = {part for path in SOURCES for part in (path.stem, path.parent.name)}
    known.update(*(names for names, _ in read.values()))
    found = {
        str(path.relative_to(ROOT)): wrong
        for path, (_, texts) in read.items()
        if (wrong := [name for text in texts for name in missing_in_docstring(text, known)])
    }
    assert found == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See `rocdbg.sim.core.wave.Wave.pc`, `Wave.pc`, `wave`, ``anything.else`` and `DW_OP_regx`.", []),
        ("See `rocdbg.sim.nosuch`.", ["rocdbg.sim.nosuch"]),
        ("Made by `NoSuch` and `no_such` as `wave.no_such`; `plain` words may be the reader's.", [
            "NoSuch", "no_such", "wave.no_such",
        ]),
        ("Read from rocdbg/sim/nosuch.py, `sim/nosuch.py`.", ["rocdbg/sim/nosuch.py", "sim/nosuch.py"]),
    ],
)
def test_what_docstrings_name_in_vain_is_found(text: str, found: list[str]) -> None:
    assert missing_in_docstring(text, {"Wave", "pc", "wave"}) == found


def test_the_architecture_is_short() -> None:
    assert len((ROOT / "docs" / "architecture.md").read_text().splitlines()) <= 160


def test_the_readme_links_every_document() -> None:
    links = set(LINK.findall((ROOT / "README.md").read_text()))
    assert links >= {str(path.relative_to(ROOT)) for path in DOCUMENTS} - {"README.md"}
