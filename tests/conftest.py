"""What all tests share: the check for LLVM's tools, and a translation cache of their own."""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path

import pytest

# A bug surfaces as the exception it is, in the commands that tests start, too.
os.environ.setdefault("ROCDBG_INTERNAL_ERRORS", "raise")

TOOLS = ("clang-22", "ld.lld-22", "llvm-mc-22", "llvm-objdump-22", "llvm-dwarfdump-22", "llvm-readelf-22")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test marked `llvm` needs the tools: without them it is skipped, or fails where they are required."""
    if item.get_closest_marker("llvm") is None:
        return
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        message = f"needs {', '.join(missing)} (Debian: clang-22 lld-22 llvm-22)"
        if os.environ.get("ROCDBG_REQUIRE_TOOLS"):
            pytest.fail(message)
        pytest.skip(message)


def pytest_collection_finish() -> None:
    """What was collected stays: Python's collector need not go through tens of thousands of tests again and again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Libraries that look for leaks as Python ends are to find none."""
    gc.unfreeze()


GROWTH = 512 << 20
"""Bytes by which a test process grows before what tests dropped is collected: sessions lie in cycles, with memory that
Python's collector does not count."""
_collected_at = 0


def _resident() -> int:
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def pytest_runtest_teardown() -> None:
    global _collected_at
    if _resident() > _collected_at + GROWTH:
        gc.collect()
        _collected_at = _resident()


@pytest.fixture(scope="session", autouse=True)
def translation_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests neither read nor fill the user's translation cache."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # processes of one run use what others of them have translated
        folder = folder.parent
    cache = folder / "cache"
    cache.mkdir(mode=0o700, exist_ok=True)
    os.environ.setdefault("ROCDBG_CACHE_DIR", str(cache))
    os.environ.setdefault("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
