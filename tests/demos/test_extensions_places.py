"""Whole wave mode, structs in pieces, overlaid arrays, implicit pointers, embedded source: values compared with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from rocdbg import dwarf
from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.frames.frames import top_context
from rocdbg.debugger.values.value_storage import AbsentError
from rocdbg.dwarf.info import Exprloc, Loclist, Variable
from rocdbg.dwarf.info.attribute_expressions import as_written
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.storage import StorageKind

WAVES = {"gfx90a": 64, "gfx1100": 32}
Open = Callable[..., Session]
Inputs = Callable[[str], NDArray[np.int32]]
targets = pytest.mark.parametrize("target", WAVES)


def wave_context(session: Session, lane: int = 0, iteration: int = 0) -> FrameContext:
    """The innermost frame at the wave's own PC."""
    unwinder = session.inferior.chain(Focus(1, 0)).unwinder
    context = top_context(session.inferior.need_program(), session.inferior.need_target(), Focus(1, lane), unwinder)
    context.iteration = iteration
    context.iterations = iterations(session, context)
    return context


def iterations(session: Session, context: FrameContext) -> int:
    """DW_AT_LLVM_iterations here; 1 without."""
    assert context.function is not None
    value = context.function.attribute(0x3E0A)
    if not isinstance(value, Loclist):
        return 1
    place = dwarf.evaluate_location(as_written(value, context.function.unit), context)
    return place.read(64)


def variable(context: FrameContext, name: str) -> Variable:
    """A variable of the function or of its blocks."""
    assert context.function is not None
    scopes = [context.function, *context.function.children]
    return next(v for scope in scopes for v in scope.variables if v.name == name)


def located(session: Session, name: str, lane: int, iteration: int = 0) -> LocationDescription:
    context = wave_context(session, lane, iteration)
    found = variable(context, name)
    assert isinstance(found.location, Exprloc | Loclist)
    return dwarf.evaluate_location(as_written(found.location, found.unit), context)


def signed(value: int, bits: int = 32) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


# Whole wave mode


@targets
def test_active_lanes_in_whole_wave_mode(extension: Open, extension_input: Inputs, target: str) -> None:
    session = extension("wholewave", target)
    x = extension_input("wholewave")
    everything = (1 << WAVES[target]) - 1
    took = sum(1 << lane for lane in range(WAVES[target]) if x[lane] > 50)
    session.break_at("wholewave.hip:7")
    session.run()
    seen = set()
    while session.focus.frame(Focus(1, took.bit_length() - 1)).line == 7:
        wave = session.inferior.wave(1)
        pcs = session.inferior.lane_pcs(1)
        assert pcs is not None
        assert session.inferior.active_lanes(1) == took
        assert [pc == wave.pc for pc in pcs] == [bool(took >> lane & 1) for lane in range(WAVES[target])]
        waiting = {pc for lane, pc in enumerate(pcs) if not took >> lane & 1 and pc is not None}
        assert [session.inferior.need_program().line_at(pc).line for pc in waiting] == [10]  # type: ignore[union-attr]
        seen.add(wave.exec_mask)
        session.running.stepi()
    assert seen == {took, everything}


@targets
def test_sum_of_the_active_lanes(extension: Open, extension_input: Inputs, target: str) -> None:
    session = extension("wholewave", target)
    x = extension_input("wholewave")
    session.break_at("wholewave.hip:8")
    session.run()
    for lane in range(WAVES[target]):
        group = x[lane // 32 * 32 : lane // 32 * 32 + 32]
        if x[lane] > 50:
            assert session.data.evaluate("total", Focus(1, lane)).as_int() == group[group > 50].sum()


# Pieces


@targets
def test_struct_in_pieces(extension: Open, extension_input: Inputs, target: str) -> None:
    session = extension("pieces", target)
    x = extension_input("pieces")
    session.break_at("pieces.hip:17")
    session.run()
    for lane in range(0, WAVES[target], 5):
        mine = int(x[lane])
        expected = {
            "parts.scalar": x[0], "parts.vector": mine, "parts.shared": 3 * mine, "parts.scratch": mine - 1,
            "parts.constant": 42, "parts.literal": 1000, "quad[0]": x[0], "quad[3]": x[0],
            "nibbles": (x[1] & 15) | mine << 4,
        }
        got = {name: session.data.evaluate(name, Focus(1, lane)).as_int() for name in expected}
        assert got == expected
        with pytest.raises(AbsentError):
            session.data.evaluate("parts.lost", Focus(1, lane)).as_int()


def test_kinds_of_the_pieces(extension: Open) -> None:
    session = extension("pieces")
    session.break_at("pieces.hip:17")
    session.run()
    lane = 5
    fragments = located(session, "parts", lane).fragments(8 * 28)
    assert [(part.storage.kind, part.offset, part.bits) for part in fragments] == [
        (StorageKind.REGISTER, 0, 32),  # s10
        (StorageKind.REGISTER, 32 * lane, 32),  # v2
        (StorageKind.MEMORY, 8 * (4 * lane + 16), 32),  # LDS
        (StorageKind.MEMORY, 8 * 8, 32),  # scratch
        (StorageKind.IMPLICIT, 0, 32),  # computed
        (StorageKind.IMPLICIT, 0, 32),  # given
        (StorageKind.UNDEFINED, 0, 32),  # lost
    ]


@targets
def test_each_piece_is_written_where_it_is(extension: Open, extension_input: Inputs, target: str) -> None:
    session = extension("pieces", target)
    x = extension_input("pieces")
    session.break_at("pieces.hip:17")
    session.run()
    for name, value in {"scalar": 1, "vector": 20, "shared": 300, "scratch": 4000}.items():
        session.data.evaluate(f"parts.{name} = {value}", Focus(1, 3))
    others = Focus(1, 4)
    assert session.data.evaluate("parts.scalar", others).as_int() == 1  # an SGPR is everybody's
    assert session.data.evaluate("parts.vector", others).as_int() == x[4]
    assert session.data.evaluate("parts.shared", others).as_int() == 3 * x[4]
    assert session.data.evaluate("parts.scratch", others).as_int() == x[4] - 1
    session.break_at("pieces.hip:18")
    session.running.proceed()
    total = session.data.evaluate(f"$v3[{3}]", Focus(1, 3)).as_int()
    assert total == 1 + 20 + 300 + 4000


@targets
def test_members_before_they_have_values(extension: Open, extension_input: Inputs, target: str) -> None:
    session = extension("pieces", target)
    session.break_at("pieces.hip:10")
    session.run()
    assert session.data.evaluate("parts.scalar", Focus(1, 0)).as_int() == extension_input("pieces")[0]
    with pytest.raises(AbsentError):
        session.data.evaluate("parts.vector", Focus(1, 0)).as_int()


# Overlay and iterations


@targets
def test_concurrent_iterations(extension: Open, extension_input: Inputs, target: str) -> None:
    session = extension("overlay", target)
    rows = extension_input("overlay").reshape(100, 16)
    session.break_at("overlay.hip:8")
    session.run()
    for base in (0, 4, 8, 12):
        for lane in (0, 7, 31):
            for iteration in range(4):
                j = located(session, "j", lane, iteration)
                t = located(session, "t", lane, iteration)
                assert j.read(32) == base + iteration
                assert signed(t.read(32)) == rows[lane, base + iteration]
        session.running.proceed()


@targets
def test_overlaid_row(extension: Open, extension_input: Inputs, target: str) -> None:
    """While elements base to base + 3 are in registers, memory does not contain them yet."""
    session = extension("overlay", target)
    inputs = extension_input("overlay").reshape(100, 16)
    final = inputs * inputs + np.arange(16, dtype=np.int32)
    session.break_at("overlay.hip:8")
    session.run()
    for base in (0, 4, 8, 12):
        session.running.next()
        assert session.focus.frame().line == 6
        for lane in (0, 7, 31):
            row = located(session, "row", lane)
            known = [*final[lane, : base + 4], *[0] * (12 - base)]
            assert [signed(value or 0) for value in row.read_elements(32, 16)] == known
            memory = session.inferior.need_target().read_memory(5, 0, 64, 1, lane)
            assert np.frombuffer(memory, np.int32).tolist() == [*final[lane, :base], *[0] * (16 - base)]
        session.running.proceed()


def test_number_of_iterations(extension: Open) -> None:
    session = extension("overlay")
    for line, expected in ((5, 1), (7, 4), (8, 4), (12, 1)):
        session.break_at(f"overlay.hip:{line}", temporary=True)
        if session.inferior.target is None:
            session.run()
        else:
            session.running.proceed()
        assert (session.focus.frame().line, wave_context(session).iterations) == (line, expected)


# Implicit pointers


def pointee(pointer: LocationDescription, context: FrameContext, size: int = 8) -> LocationDescription:
    """The location of the object to which an implicit pointer of `size` bytes points."""
    value = dwarf.evaluate(bytes((0x94, size)), context, kind="value", initial=(pointer,))  # DW_OP_deref_size
    assert isinstance(value, dwarf.Value)
    return dwarf.dereference(value, context)


@targets
def test_implicit_pointers(extension: Open, extension_input: Inputs, target: str) -> None:
    session = extension("pointers", target)
    x = extension_input("pointers")
    session.break_at("pointers.hip:14")
    session.break_at("pointers.hip:16")
    session.run()
    for factor in (0, 2):
        for lane in range(0, WAVES[target], 9):
            context = wave_context(session, lane)
            pair = int(x[lane]), 7 + factor * int(x[lane])
            assert located(session, "pair", lane).read_elements(32, 2) == [*pair]
            p, pp, second = (located(session, name, lane) for name in ("p", "pp", "second"))
            assert pointee(p, context).read_elements(32, 2) == [*pair]
            assert pointee(pointee(pp, context), context).read_elements(32, 2) == [*pair]
            assert pointee(second, context).read(32) == pair[1]
        session.running.proceed()


@targets
def test_write_through_an_implicit_pointer(extension: Open, extension_input: Inputs, target: str) -> None:
    session = extension("pointers", target)
    x = extension_input("pointers")
    session.break_at("pointers.hip:14")
    session.run()
    context = wave_context(session, 5)
    pointee(pointee(located(session, "pp", 5), context), context).write(-9 & 0xFFFF_FFFF, 32, 32)
    assert session.data.evaluate("pair.second", Focus(1, 5)).as_int() == -9
    assert session.data.evaluate("pair.first", Focus(1, 5)).as_int() == x[5]
    assert session.data.evaluate("pair.second", Focus(1, 6)).as_int() == 7


@targets
def test_pointer_into_local_memory(extension: Open, extension_input: Inputs, target: str) -> None:
    session = extension("pointers", target)
    x = extension_input("pointers")
    session.break_at("pointers.hip:16")
    session.run()
    assert session.data.evaluate("slot", Focus(1, 2)).as_int() == 6 + 2 * x[2]
    context = wave_context(session, 2)
    value = dwarf.evaluate(bytes((0x94, 4)), context, kind="value", initial=(located(session, "shared", 2),))
    assert isinstance(value, dwarf.ImplicitPointerValue) and value.address_space == 3
    assert dwarf.dereference(value, context).read(32) == 6 + 2 * x[2]


# Embedded source


@targets
def test_source_comes_from_the_line_table(extension: Open, target: str) -> None:
    session = extension("embedded", target)
    session.break_at("collatz")
    session.run()
    frame = session.focus.frame()
    assert frame.name == "collatz" and frame.file is not None
    assert frame.file.name.endswith("only_in_the_debug_information.hip")
    assert frame.file.source is not None
    assert frame.file.source.splitlines()[frame.line - 1 if frame.line else 0] == "  int steps = 0;"
