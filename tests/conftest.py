"""Shared by all tests: the check for LLVM's tools, and a separate translation cache."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from rocdbg.sim.engine.private_folder import UntrustedFolder, open_private
from tests.accounting import Accounting
from tests.breadth import EVERYTHING, kept_in_test, left_out, test_of
from tests.compilations import Compilations

# A bug surfaces as the exception it is, in the commands that tests start, too.
os.environ.setdefault("ROCDBG_INTERNAL_ERRORS", "raise")

# A busy machine may be slow at any example, and tests are not timed.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

TOOLS = ("clang-22", "ld.lld-22", "llvm-mc-22", "llvm-objdump-22", "llvm-dwarfdump-22", "llvm-readelf-22")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test marked `llvm` needs the tools. `./test` requires them (ROCDBG_REQUIRE_TOOLS), so that none is skipped
    unnoticed; plain pytest skips, so that the other tests can run without LLVM.
    """
    if item.get_closest_marker("llvm") is None:
        return
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        message = f"needs {', '.join(missing)} (Debian: clang-22 lld-22 llvm-22)"
        if os.environ.get("ROCDBG_REQUIRE_TOOLS"):
            pytest.fail(message)
        pytest.skip(message)


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "show processor time per folder, and write that of each test into FILE"
    parser.addoption("--processor-time", nargs="?", const="", metavar="FILE", help=about)


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # it takes a tenth of the time; `pytest_runtest_teardown` collects
    _take_a_core(config)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # run in the background: programs that are started inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    into = config.getoption("--processor-time")
    if into is not None:
        config.pluginmanager.register(Accounting("" if hasattr(config, "workerinput") else into))


def _take_a_core(config: pytest.Config) -> None:
    """Assign each worker to its own core if there are enough cores: some virtual machines keep all processes on one
    core as long as they can, so that the workers would share it.
    """
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) == worker["workercount"] > 1:
            number = int(worker["workerid"].removeprefix("gw"))  # one that replaces a worker has a number of its own
            os.sched_setaffinity(0, {cores[number % len(cores)]})


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests in `breadth.txt` to ``make truth``, which finds them by their mark."""
    if EVERYTHING:
        for item in items:
            if test_of(item.nodeid) in kept_in_test():
                item.add_marker(pytest.mark.truth)
    elif gone := left_out(items, config.args):
        absent = set(gone)
        items[:] = [item for item in items if item not in absent]
        config.hook.pytest_deselected(items=gone)


def pytest_collection_finish() -> None:
    """The collected tests remain: Python's garbage collector need not examine tens of thousands of tests repeatedly."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Libraries that look for leaks when Python ends should find none."""
    gc.unfreeze()


GROWTH = 512 << 20
"""Bytes by which a test process grows before garbage is collected: sessions are in reference cycles, with memory that
Python's collector does not count.
"""
SELDOM = 300
"""The number of tests after which garbage is collected in any case: cycles hold open files, too."""
_collected_at = 0
_tests = 0


def _resident() -> int:
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def pytest_runtest_teardown() -> None:
    global _collected_at, _tests
    _tests += 1
    if _tests % SELDOM == 0 or _resident() > _collected_at + GROWTH:
        gc.collect()
        _collected_at = _resident()


KEPT = Path(__file__).resolve().parents[1] / ".test-cache"
"""The folder for data that later test runs reuse: translations with the key that authenticates them, and compiled
objects. The inputs determine the key of each entry, so removing the folder only costs time.
"""


def kept(name: str) -> Path | None:
    """A folder below `KEPT` that only the user can write to; None if the checkout does not belong to the user alone."""
    try:
        KEPT.mkdir(mode=0o700, exist_ok=True)
        os.close(open_private(KEPT / name))
    except (OSError, UntrustedFolder):
        return None
    return KEPT / name


@pytest.fixture(scope="session", autouse=True)
def translation_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests neither read nor fill the user's translation cache.

    All processes of all runs share one cache, and the state folder with its key: a process trusts no entry that was
    made with another key.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # where nothing can be kept, at least the processes of one run share
        folder = folder.parent
    for variable, name in (("ROCDBG_CACHE_DIR", "cache"), ("XDG_STATE_HOME", "state")):
        place = kept(name) or folder / name
        place.mkdir(mode=0o700, exist_ok=True)
        os.environ.setdefault(variable, str(place))


@pytest.fixture(scope="session", autouse=True)
def compilations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Outputs of compilers are kept between runs."""
    folder = kept("compiled")
    if folder is None:
        yield
        return
    found = Compilations(folder, tmp_path_factory.getbasetemp())
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        found.clean()
    found.install()
    yield
    found.uninstall()
