"""Golden debugging sessions on the kernels with full extensions (form: see tests/cli/conftest.py)."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).resolve().parent
FILES = sorted((HERE / "golden").glob("*.txt"))


def _golden() -> ModuleType:
    spec = importlib.util.spec_from_file_location("golden_sessions", HERE.parent / "cli" / "conftest.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


golden = _golden()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_session(path: Path) -> None:
    expected = path.read_text(encoding="utf-8")
    got = golden.run(golden.read_script(expected))
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        path.write_text(got, encoding="utf-8")
    assert got == expected


@pytest.mark.parametrize("dialect", ["proposal2020", "llvm22"])
@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_dialects_look_the_same(target: str, dialect: str) -> None:
    """A session on the nested example does not show in which dialect its debug information is encoded."""
    expected = (HERE / "golden" / f"nested_{target}.txt").read_text(encoding="utf-8")
    expected = expected.replace("nested/nested.toml", f"nested/nested.{dialect}.toml")
    assert golden.run(golden.read_script(expected)) == expected


def test_each_kernel_has_a_session_on_each_target() -> None:
    kernels = {folder.name for folder in (HERE.parents[1] / "demo_kernels" / "extensions").iterdir() if folder.is_dir()}
    assert {path.stem for path in FILES} == {f"{name}_{target}" for name in kernels for target in ("gfx90a", "gfx1100")}
