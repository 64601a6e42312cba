"""Other requests of kernels to the host: to end them, to call functions, to take kernels from a queue."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rocdbg
from rocdbg.sim.core.layout import PageFlags
from rocdbg.sim.core.memory import Allocation, AllocationKind
from rocdbg.sim.services.hostcall import HostcallBuffer, HostcallError, buffer_size

pytestmark = pytest.mark.llvm

Build = Callable[[str, str], Path]
SOURCE = (Path(__file__).parent / "services.hip").read_text().splitlines()
FAILED = f"line {SOURCE.index('    assert(value < 3);') + 1}: `value < 3' is false\n"


def test_a_failed_assertion(hip: Build, capsys: pytest.CaptureFixture[str]) -> None:
    values = np.arange(5, dtype=np.int32)
    with pytest.raises(rocdbg.GpuFault, match="abort trap") as caught:
        rocdbg.load(hip("gfx90a", "O0")).kernels["checked"].launch(5, 5, [values]).run()
    assert caught.value.lanes == (3, 4)
    assert capsys.readouterr() == ("", FAILED * 2)


def test_a_failed_assertion_is_caught(
    hip: Build, debugger: Callable[..., rocdbg.Debugger], capsys: pytest.CaptureFixture[str]
) -> None:
    session = debugger(hip("gfx1100", "O2"), "checked", 4, ['buffer = "i32[4]"\ninit = "arange"'])
    session.execute("catch exception abort")
    stop = session.execute("run", to_string=True).splitlines()
    assert stop[3] == 'Thread 1 "checked" hit Catchpoint 1 (exception abort)'
    assert stop[5].startswith("failed (what=")
    assert "#1  checked" in session.execute("backtrace", to_string=True)
    assert capsys.readouterr().err == FAILED


def test_functions_of_the_host_cannot_be_called(hip: Build, debugger: Callable[..., rocdbg.Debugger]) -> None:
    session = debugger(hip("gfx1100", "O2"), "calls_the_host", 1, [])
    stop = session.execute("run", to_string=True).splitlines()
    assert stop[3:5] == [
        'Thread 1 "calls_the_host" received signal SIGABRT, Aborted.',
        "The kernel calls a function of the host program, but there is no host program.",
    ]


@pytest.mark.parametrize(
    ("what", "message"), [(0, "refers to packet 255, which does not exist"), (1, "does not end")]
)
def test_a_damaged_buffer(hip: Build, what: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(rocdbg.GpuFault, match=message):
        rocdbg.load(hip("gfx1100", "O2")).kernels["damages"].launch(1, 1, [np.int32(what)]).run()
    assert capsys.readouterr().out == ""


def test_the_default_queue_is_full(opencl: Build) -> None:
    out = np.zeros(3, np.uint64)
    rocdbg.load(opencl("gfx1100", "O2")).kernels["queue"].launch(1, 1, [out]).run()
    assert out.tolist() == [32, 0xFFFF_FFFF, 1]


@settings(suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 2**64 - 1) | st.integers(0, 8)), max_size=30))
def test_whatever_a_kernel_writes_into_the_buffer(writes: list[tuple[int, int]]) -> None:
    """Packets are served, or refused with a reason; no other part of the buffer is read or written."""
    memory = np.zeros(buffer_size(4), np.uint8)
    buffer = HostcallBuffer(Allocation(4096, memory.size, "", AllocationKind.RUNTIME, PageFlags.READ, memory), 4)
    words = memory.view(np.uint64)
    for place, value in writes:
        words[place] = value
    served: list[int] = []
    with contextlib.suppress(HostcallError):
        buffer.serve(lambda service, row: (served.append(service) or 7, 8))
    assert len(served) <= 4 * 64 and words[4] == 0
