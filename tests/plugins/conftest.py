"""Plug-in tests use the golden sessions of the text front end."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


def _cli_conftest() -> ModuleType:
    name = "rocdbg_tests_cli_golden"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "cli" / "conftest.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(name="run_golden")
def run_golden_fixture() -> Callable[[str], str]:
    """The current output of a golden file's commands."""
    golden = _cli_conftest()
    return lambda text: golden.run(golden.read_script(text))


@pytest.fixture(name="make_shell")
def make_shell_fixture() -> Callable[..., tuple[object, object]]:
    """A shell with a demo loaded, and the text that it writes."""
    return _cli_conftest().make_shell  # type: ignore[no-any-return]
