"""Unwinding by hand-made call frame information: at every instruction, every register of every caller."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rocdbg import codeobject, dwarf, isa
from rocdbg.arch.dwarf_registers import register_number, register_size
from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.frames.frames import top_context
from rocdbg.dwarf.cfi_rule_types import (
    ExpressionRule,
    OffsetRule,
    RegisterRule,
    Rule,
    SameValueRule,
    UndefinedRule,
    ValExpressionRule,
    ValOffsetRule,
)

SOURCES = Path(__file__).resolve().parents[2] / "demo_kernels" / "extensions" / "unwinding"
WAVES = {"gfx90a": 64, "gfx1100": 32}
Inputs = Callable[[str], NDArray[np.int32]]

LOST_IN_ANY_CALL = {*(f"s{n}" for n in (*range(4, 10), 30, 31)), *(f"v{n}" for n in (*range(8), 43))}
LOST = {
    "leaf": LOST_IN_ANY_CALL,
    "inner": LOST_IN_ANY_CALL | {"s36", "s37", "s41"},
    "outer": LOST_IN_ANY_CALL | {"s34", "s35", "s36", "s37", "s41", "v41", "v42", "v49"},
}
"""The registers whose caller's value is undefined, by callee."""


@dataclass(frozen=True)
class Call:
    """The contents of a caller's registers at a call, by register name, and the return address."""

    caller: str
    returns_to: int
    registers: dict[str, bytes]


NAMES = ["exec", *(f"s{n}" for n in range(50)), *(f"v{n}" for n in range(50))]


def read_all(session: Session, wave_size: int) -> dict[str, bytes]:
    target = session.inferior.need_target()
    return {name: target.read_register(1, register_number(name, wave_size)) for name in NAMES}


def top(session: Session) -> FrameContext:
    """The innermost frame at the wave's own PC."""
    chain = session.inferior.chain(Focus(1, 0))
    return top_context(session.inferior.need_program(), session.inferior.need_target(), Focus(1, 0), chain.unwinder)


def check_frames(session: Session, calls: list[Call], wave_size: int) -> int:
    """Unwind from here and compare with the callers' registers; return the number of registers compared."""
    context: FrameContext | None = top(session)
    compared = 0
    lost: set[str] = set()
    for call in reversed(calls):
        assert context is not None and context.function is not None
        callee = context.function.name
        assert callee is not None
        lost = lost | LOST[callee]
        context = context.next_frame()
        assert context is not None and context.function is not None
        assert context.function.name == call.caller
        assert context.pc == call.returns_to - 1
        for name in NAMES:
            number = register_number(name, wave_size)
            location = context.register_location(number)
            assert location.is_undefined == (name in lost), (callee, name)
            if name not in lost:
                size = register_size(number, wave_size)
                assert location.read_bytes(size) == call.registers[name], (callee, name, hex(top(session).pc or 0))
                compared += 1
    assert context is not None and context.next_frame() is None  # a kernel's return address is undefined
    return compared


@pytest.mark.parametrize("target", WAVES)
def test_every_register_of_every_caller(extension: Callable[..., Session], target: str) -> None:
    wave_size = WAVES[target]
    session = extension("unwinding", target)
    session.start()
    machine = session.inferior.need_target()
    calls: list[Call] = []
    deepest = compared = 0
    while 1 in [row.number for row in session.tables.threads()]:
        compared += check_frames(session, calls, wave_size)
        deepest = max(deepest, len(calls))
        pc = machine.wave(1).pc
        instruction = isa.decode(machine.read_memory(0, pc, 8), target, address=pc)
        context = top(session)
        if instruction.name == "s_call_b64":
            assert context.function is not None and context.function.name is not None
            calls.append(Call(context.function.name, pc + 4, read_all(session, wave_size)))
        session.running.stepi()
        if instruction.name == "s_setpc_b64":
            assert machine.wave(1).pc == calls.pop().returns_to
        if session.inferior.target is None:
            break
    assert deepest == 3
    assert compared > 5000


def rules_of(session: Session, name: str) -> set[type[Rule]]:
    """The kinds of rules that occur in a function's rows."""
    program = session.inferior.need_program()
    function = program.info.functions_named(name)[0]
    assert function.low_pc is not None and function.high_pc is not None
    unwinder = session.inferior.chain(Focus(1, 0)).unwinder
    kinds: set[type[Rule]] = set()
    for pc in range(function.low_pc, function.high_pc, 4):
        found = unwinder.row(pc)
        assert found is not None
        kinds |= {type(rule) for rule in found.row.rules.values()}  # type: ignore[attr-defined]
    return kinds


def test_every_kind_of_rule_occurs(extension: Callable[..., Session]) -> None:
    session = extension("unwinding")
    session.start()
    assert rules_of(session, "leaf") == {SameValueRule, UndefinedRule, ExpressionRule}
    assert rules_of(session, "inner") == {
        SameValueRule, UndefinedRule, ExpressionRule, OffsetRule, RegisterRule, ValExpressionRule,
    }
    assert rules_of(session, "outer") == {
        SameValueRule, UndefinedRule, ExpressionRule, OffsetRule, ValOffsetRule,
    }
    assert rules_of(session, "unwinding") == {UndefinedRule}


@pytest.mark.parametrize("target", WAVES)
def test_variables_of_each_frame(extension: Callable[..., Session], extension_input: Inputs, target: str) -> None:
    session = extension("unwinding", target)
    x = extension_input("unwinding")
    session.break_at("unwinding.hip:4")
    session.run()
    lanes = [lane for lane in range(WAVES[target]) if x[lane] & 7 == 7]
    assert session.inferior.active_lanes(1) == sum(1 << lane for lane in lanes)
    for lane in lanes:
        value = int(x[lane])
        expected = [
            ("leaf", 0, {"x": value}),
            ("inner", 1, {"x": value, "r": value}),
            ("outer", 2, {"x": value, "k": 7 * value + 1, "r": 0}),
            ("unwinding", 3, {"x": value, "r": -value, "i": lane}),
        ]
        frames = list(session.focus.frames(Focus(1, lane)))
        assert [(frame.name, frame.level, frame.line) for frame in frames] == [
            ("leaf", 0, 4), ("inner", 1, 10), ("outer", 2, 18), ("unwinding", 3, 27),
        ]
        for name, level, variables in expected:
            for variable, number in variables.items():
                got = session.data.evaluate(variable, Focus(1, lane, level)).as_int()
                assert got == number, (name, variable, lane)


@pytest.mark.parametrize("target", WAVES)
def test_spilled_register_is_written_where_it_is(
    extension: Callable[..., Session], extension_input: Inputs, target: str
) -> None:
    """`k` of outer is in v41, which inner has spilled for the lanes that called it."""
    session = extension("unwinding", target)
    x = extension_input("unwinding")
    session.break_at("unwinding.hip:4")
    session.run()
    lane = next(lane for lane in range(WAVES[target]) if x[lane] & 7 == 7)
    register = session.data.evaluate(f"$v41[{lane}]", Focus(1, lane)).as_int()
    session.data.evaluate("k = 555", Focus(1, lane, 2))
    assert session.data.evaluate("k", Focus(1, lane, 2)).as_int() == 555
    assert session.data.evaluate(f"$v41[{lane}]", Focus(1, lane)).as_int() == register  # inner's x, untouched
    session.break_at("unwinding.hip:28")
    session.running.proceed()
    value = int(x[lane])
    assert session.data.evaluate("r", Focus(1, lane)).as_int() == value * value + 1 + 555


def in_words(rule: object, dialect: str) -> str:
    """A rule of a row, without its encoding."""
    expression = getattr(rule, "expression", None)
    if expression is None:
        return str(rule)
    text = dwarf.format_expression(expression, dialect=dialect)
    text = text.replace("DW_OP_LLVM_user ", "").replace("offset_constu", "offset_uconst")
    return f"{type(rule).__name__}({text})"


@pytest.mark.llvm
@pytest.mark.parametrize("target", WAVES)
def test_dialects_say_the_same(tmp_path: Path, target: str) -> None:
    """The call frame information assembled in each encoding, row by row."""
    rows: dict[str, list[tuple[int, str, dict[int, str]]]] = {}
    for dialect in dwarf.DIALECTS:
        output = tmp_path / f"{dialect}.co"
        command = ["clang-22", "-P", "-g0", "-x", "assembler-with-cpp", "-target", "amdgcn-amd-amdhsa",
                   f"-mcpu={target}", f"-DDIALECT_{dialect}", "unwinding.S", "-o", str(output)]
        subprocess.run(command, cwd=SOURCES, check=True, timeout=60)
        code_object = codeobject.open_file(output)
        table = dwarf.parse_frames(code_object.sections[".debug_frame"].data, dialect=dialect)
        rows[dialect] = []
        for fde in table.fdes:
            for pc in range(fde.start, fde.end, 4):
                row = table.row(pc)
                assert row is not None
                rules = {number: in_words(rule, dialect) for number, rule in row.rules.items()}
                rows[dialect].append((pc, in_words(row.cfa, dialect), rules))
    assert len(rows["amd"]) > 100
    assert rows["proposal2020"] == rows["amd"]
    assert rows["llvm22"] == rows["amd"]
    expected = "address_space=6" if target == "gfx90a" else "DW_OP_regx 0x40, DW_OP_deref_size 0x4"
    assert expected in rows["amd"][0][1]
