"""Stop values as text, and the stops made from the engine's fault records."""

from __future__ import annotations

import numpy as np
import pytest

from rocdbg.arch.lane_sets import format_lanes
from rocdbg.arch.targets import target_by_name
from rocdbg.sim.core import layout
from rocdbg.sim.core.layout import FaultKind
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.core.stops import Access, Fault, Space, Stop, StopKind
from rocdbg.sim.core.wave import Wave, state_block
from rocdbg.sim.engine.native import Fault as EngineFault
from rocdbg.sim.faults import describe_fault, fetch_fault

TARGET = target_by_name("gfx90a")
L, S = layout.Access, layout.Space
SHARED, PRIVATE = layout.SHARED_APERTURE, layout.PRIVATE_APERTURE


def wave() -> Wave:
    """A wave with 256 bytes of LDS and 16 bytes of scratch per lane."""
    made = Wave(state_block(TARGET, 64), TARGET, 64, 1, (0, 0, 0), 0, (64, 1, 1), np.zeros(256, np.uint8))
    made.set_word("lds_size", 256)
    made.set_word("scratch_size", 16 * 64)
    return made


@pytest.mark.parametrize(
    ("kind", "access", "space", "size", "addresses", "text"),
    [
        (FaultKind.UNMAPPED, L.STORE, S.GLOBAL, 4, {3: 0x7F0000100010}, "write of 4 bytes at 0x7f0000100010, just "
         "past the end of buffer 'x' (16 bytes at 0x7f0000100000)"),
        (FaultKind.UNMAPPED, L.LOAD, S.BUFFER, 1, {0: 0x7F0000100020}, "read of 1 byte at 0x7f0000100020, 16 bytes "
         "past the end of buffer 'x' (16 bytes at 0x7f0000100000)"),
        (FaultKind.UNMAPPED, L.LOAD, S.FLAT, 8, {5: 0}, "read of 8 bytes at 0x0, the null pointer"),
        (FaultKind.UNMAPPED, L.LOAD, S.SCALAR, 8, {0: 0x10}, "read of 8 bytes at 0x10, near the null pointer"),
        (FaultKind.UNMAPPED, L.LOAD, S.FLAT, 8, {5: 0x123456789000}, "read of 8 bytes at 0x123456789000"),
        (FaultKind.MISALIGNED, L.ATOMIC, S.GLOBAL, 4, {1: 0x7F0000100002}, "misaligned atomic of 4 bytes at "
         "0x7f0000100002, at offset 2 of buffer 'x' (16 bytes at 0x7f0000100000)"),
        (FaultKind.PERMISSION, L.STORE, S.GLOBAL, 4, {1: 0x7F0000100000}, "write of 4 bytes at 0x7f0000100000, at "
         "offset 0 of buffer 'x' (16 bytes at 0x7f0000100000), which does not permit it"),
        (FaultKind.LDS_RANGE, L.LOAD, S.LDS, 4, {7: 264}, "read of 4 bytes at local#0x108, 8 bytes past the end of "
         "the workgroup's 256 bytes of LDS"),
        (FaultKind.LDS_RANGE, L.LOAD, S.FLAT, 8, {7: SHARED + 252}, "read of 8 bytes at local#0xfc, crossing the end "
         "of the workgroup's 256 bytes of LDS"),
        (FaultKind.SCRATCH_RANGE, L.STORE, S.SCRATCH, 4, {2: 16}, "write of 4 bytes at private_lane#0x10, just past "
         "the end of the lane's 16 bytes of scratch"),
        (FaultKind.SCRATCH_RANGE, L.STORE, S.FLAT, 4, {2: PRIVATE + 17}, "write of 4 bytes at private_lane#0x11, 1 "
         "byte past the end of the lane's 16 bytes of scratch"),
        (FaultKind.SCRATCH_RANGE, L.LOAD, S.BUFFER, 4, {2: 20}, "read of 4 bytes at private_lane#0x14, 4 bytes past "
         "the end of the lane's 16 bytes of scratch"),
        (FaultKind.MISALIGNED, L.ATOMIC, S.GDS, 4, {2: 6}, "misaligned atomic of 4 bytes at region#0x6"),
        (FaultKind.UNMAPPED, L.LOAD, S.GLOBAL, 4, {2: PRIVATE + 8}, "read of 4 bytes at 0x2000000000008, offset 0x8 of "
         "the private aperture, which only flat instructions reach"),
        (FaultKind.UNMAPPED, L.LOAD, S.FLAT, 4, {2: 1 << 63}, "read of 4 bytes at 0x8000000000000000, not an address: "
         "bits 63 to 47 differ"),
    ],
)
def test_faults(
    kind: FaultKind,
    access: layout.Access,
    space: layout.Space,
    size: int,
    addresses: dict[int, int],
    text: str,
) -> None:
    memory = GlobalMemory()
    memory.allocate(16, name="x")
    lanes = 0 if space is S.SCALAR else sum(1 << lane for lane in addresses)
    fault = describe_fault(EngineFault(kind, access, space, size, lanes, addresses), wave(), memory)
    assert fault.text == text
    assert fault.lanes == (() if space is S.SCALAR else tuple(addresses))


def test_a_slip_of_the_compiler_is_named() -> None:
    """Scalar reads at the offset of an aperture's hidden argument, on the targets that have such arguments."""
    record = EngineFault(FaultKind.UNMAPPED, L.LOAD, S.SCALAR, 4, 0, {0: 0xC4})
    for name, named in (("gfx700", True), ("gfx803", True), ("gfx90a", False)):
        target = target_by_name(name)
        early = Wave(state_block(target, 64), target, 64, 1, (0, 0, 0), 0, (64, 1, 1), np.zeros(256, np.uint8))
        text = describe_fault(record, early, GlobalMemory()).text
        assert ("-mcode-object-version=4" in text) == named
        assert text.startswith("read of 4 bytes at 0xc4, ")


def test_lanes_of_other_spaces_are_left_to_a_fault_of_their_own() -> None:
    record = EngineFault(
        FaultKind.LDS_RANGE, L.LOAD, S.FLAT, 4, 0b111, {0: SHARED + 300, 1: 0x1000, 2: SHARED + 304}
    )
    fault = describe_fault(record, wave(), GlobalMemory())
    assert (fault.space, fault.addresses) == (Space.LOCAL, {0: 300, 2: 304})


def test_fetch_fault() -> None:
    fault = fetch_fault(0x4000_0000, GlobalMemory())
    assert (fault.text, fault.lanes) == ("execute of 4 bytes at 0x40000000", ())


@pytest.mark.parametrize(
    ("stop", "text", "exception"),
    [
        (Stop(StopKind.DONE), "done", False),
        (Stop(StopKind.BREAKPOINT, pc=0x1000), "breakpoint at 0x1000", False),
        (
            Stop(StopKind.TRAP, pc=0x10, trap=2, instruction="s_trap 2"),
            "abort trap (`s_trap 2`) at 0x10",
            True,
        ),
        (
            Stop(StopKind.TRAP, pc=0x10, trap=3, instruction="s_trap 3"),
            "debug trap (`s_trap 3`) at 0x10",
            False,
        ),
        (Stop(StopKind.TRAP, pc=0x10, trap=7, instruction="s_trap 7"), "trap 7 (`s_trap 7`) at 0x10", True),
        (
            Stop(StopKind.UNSUPPORTED, pc=0x10, instruction="v_new v0"),
            "unsupported instruction `v_new v0` at 0x10",
            True,
        ),
        (
            Stop(
                StopKind.FAULT,
                pc=0x10,
                lanes=(2,),
                fault=Fault(Access.READ, Space.GLOBAL, 0x20, 4, {2: 0x20}),
                instruction="x",
            ),
            "memory violation by `x` at 0x10: lane 2: read of 4 bytes at 0x20",
            True,
        ),
    ],
)
def test_messages(stop: Stop, text: str, exception: bool) -> None:
    assert (stop.message, stop.is_exception) == (text, exception)


@pytest.mark.parametrize(
    ("lanes", "text"),
    [
        ((5,), "lane 5"),
        ((0, 1, 2, 7), "lanes [0-2 7]"),
        (tuple(range(64)), "lanes [0-63]"),
        ((1, 3), "lanes [1 3]"),
    ],
)
def test_lane_lists(lanes: tuple[int, ...], text: str) -> None:
    assert format_lanes(lanes) == text
