"""Kernels with preloaded arguments begin 256 bytes after their entry: breakpoints are set on code that runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.running.stop_events import StopReason

pytestmark = pytest.mark.llvm
PRELOADING = "-mllvm", "-amdgpu-kernarg-preload-count=8"
BUILDS = [("gfx942", "-O0"), ("gfx942", "-O1"), ("gfx90a", "-O1"), ("gfx950", "-O1")]


@pytest.mark.parametrize("place", ["twice", "twice.hip:2", "twice.hip:5"])
@pytest.mark.parametrize(("target", "level"), BUILDS)
def test_breakpoints_are_where_the_kernel_begins(
    compiled: Callable[..., Path], target: str, level: str, place: str
) -> None:
    session = Session()
    session.load(compiled("twice.hip", target, level, *PRELOADING))
    (kernel,) = session.inferior.need_program().code_object.kernels.values()
    preloads = level != "-O0"  # without optimisation clang preloads nothing
    assert kernel.start_address == kernel.entry_address + 256 * preloads
    session.launch.set_kernel(kernel.name)
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    for index, text in enumerate(("3", "i32[64]")):
        session.launch.set_argument(index, text)
    session.break_at(place)
    event = session.run()
    assert event.reason is StopReason.BREAKPOINT
    frame = session.inferior.chain(session.focus.current).get(0)
    assert frame is not None and frame.row is not None
    assert frame.row.line == (5 if place.endswith("5") else 4 if preloads else 3)
    assert session.data.evaluate("n").as_int() == 3


@pytest.mark.parametrize("options", [("-g0",), ("-gline-tables-only",)])
def test_breakpoints_without_descriptions_of_functions(compiled: Callable[..., Path], options: tuple[str, ...]) -> None:
    """Triton's kernels have only line tables."""
    session = Session()
    session.load(compiled("twice.hip", "gfx90a", "-O1", *PRELOADING, *options))
    (kernel,) = session.inferior.need_program().code_object.kernels.values()
    (location,) = session.break_at(kernel.name).locations
    assert location.address == kernel.start_address == kernel.entry_address + 256
