"""Unwind rules derived from clang's code, compared with the actual contents of registers when a function was entered.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rocdbg
from rocdbg import isa
from rocdbg.analysis.control_flow import FunctionCode, jump_targets
from rocdbg.analysis.prologue import PrologueRows
from rocdbg.arch.dwarf_registers import exec_number, register_name, sgpr_number, vgpr_number
from rocdbg.arch.targets import target_by_name
from rocdbg.dwarf import EvaluationError, SimpleContext
from rocdbg.dwarf.caller_context import CallerContext
from rocdbg.dwarf.cfi_rule_types import CfaExpression, CfaRegister, ExpressionRule, RegisterRule, UndefinedRule
from rocdbg.dwarf.cfi_unwinding import Row
from rocdbg.dwarf.context import Context
from rocdbg.dwarf.expression_text import format_expression
from rocdbg.dwarf.location import LocationDescription
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.wave import Wave
from tests.breadth import some_of

pytestmark = pytest.mark.llvm

BUILDS = [
    (arch, level, wave_size)
    for arch, wave_size in [
        ("gfx90a", 64), ("gfx942", 64), ("gfx1030", 32), ("gfx1100", 32), ("gfx1100", 64), ("gfx1250", 32),
    ]
    for level in ("O0", "O2")
]
STEPPED = some_of(BUILDS, [build for build in BUILDS if build[::2] in {("gfx90a", 64), ("gfx1100", 32)}])
"""The functions of which each instruction is executed in a single step."""

RETURNS = ("s_setpc_b64", "s_set_pc_i64")


def plain(expression: bytes) -> str:
    return format_expression(expression).replace("DW_OP_LLVM_user ", "").replace("DW_OP_", "")


def text(row: Row, wave_size: int) -> dict[str, str]:
    """A row as llvm-dwarfdump would write it; registers without a rule are omitted."""
    shown = {}
    match row.cfa:
        case CfaRegister(register=register, displacement=displacement, address_space=space):
            shown["cfa"] = f"{register_name(register, wave_size)}{displacement:+d} in {space}"
        case CfaExpression(expression=expression):
            shown["cfa"] = plain(expression)
    for number, rule in row.rules.items():
        name = register_name(number, wave_size)
        match rule:
            case RegisterRule(register=register):
                shown[name] = register_name(register, wave_size)
            case ExpressionRule(expression=expression):
                shown[name] = plain(expression)
            case UndefinedRule():
                shown[name] = "undefined"
    return shown


def rules_before(compiled: Any, function: str, mnemonic: str) -> dict[str, str]:
    """The rules before the first instruction of a function that begins with some text."""
    code = next(code for name, code in compiled.functions.items() if name.startswith(function))
    for instruction in isa.disassemble(
        compiled.read(code.start, code.end - code.start), compiled.arch, address=code.start,
        wave_size=compiled.wave_size,
    ):
        if instruction.text.startswith(mnemonic):
            row = compiled.rows().row(instruction.address)
            assert row is not None and row.start <= instruction.address < row.end
            return text(row, compiled.wave_size)
    raise AssertionError(f"no {mnemonic} in {function}")


def test_leaf(compiled: Callable[..., Any]) -> None:
    rules = rules_before(compiled("gfx90a", "O2", 64), "leaf", "s_setpc_b64")
    assert rules["cfa"] == "s32+0 in 6"
    assert rules["pc"] == "regx 0x3e, piece 0x4, regx 0x3f, piece 0x4"
    assert "exec" not in rules and "s33" not in rules


def test_return_address_in_lanes(compiled: Callable[..., Any]) -> None:
    # s_mov_b32 s4, s33 / s_mov_b32 s33, s32 / v41 to the stack with all lanes / s4, s30, s31 to lanes of v41
    rules = rules_before(compiled("gfx90a", "O2", 64), "recursive", "s_swappc_b64")
    assert rules["cfa"] == "s33+0 in 6"
    assert rules["pc"] == (
        "regx 0xa29, LLVM_offset_uconst 0x0, piece 0x4, regx 0xa29, LLVM_offset_uconst 0x4, piece 0x4"
    )
    assert rules["s32"] == "s33"
    assert rules["s33"] == "regx 0xa29, LLVM_offset_uconst 0x10"
    assert rules["v41"] == "dup, LLVM_offset_uconst 0x100"  # all lanes of the dword at 4, 64 lanes wide
    assert rules["exec"] == "regx 0x42, piece 0x4, regx 0x43, piece 0x4"  # s_and_saveexec_b64 s[34:35], vcc


@pytest.mark.parametrize(("target", "cfa"), [
    ("gfx90a", "s32-1024 in 6"),
    ("gfx942", "regx 0x40, deref_size 0x4, consts -1024, plus, lit6, shl, lit6, LLVM_form_aspace_address"),
])
def test_moved_stack_pointer_without_a_frame_pointer(target: str, cfa: str) -> None:
    """The CFA is the value of s32 at entry, which is below its current value."""
    code = b"".join(isa.assemble(line, target) for line in ("s_addk_i32 s32, 0x400", "s_nop 0", "s_setpc_b64 s[30:31]"))
    function = FunctionCode(0, len(code), is_kernel=False)
    rows = PrologueRows(target_by_name(target), 64, lambda pc: function, lambda address, size: code[address:][:size])
    before, after = rows.row(0), rows.row(4)
    assert before is not None and after is not None
    assert text(before, 64)["cfa"] == cfa.replace("-1024", "+0") and text(after, 64)["cfa"] == cfa


def test_stack_pointers_of_lanes(compiled: Callable[..., Any]) -> None:
    # with flat scratch s33 counts bytes of one lane: the wave's memory is 32 times as far
    rules = rules_before(compiled("gfx1100", "O2", 32), "recursive", "s_swappc_b64")
    assert rules["cfa"] == (
        "regx 0x41, deref_size 0x4, consts +0, plus, lit5, shl, lit6, LLVM_form_aspace_address"
    )
    assert rules["v41"] == "dup, LLVM_offset_uconst 0x80"


def test_kernel_is_outermost(compiled: Callable[..., Any]) -> None:
    rules = rules_before(compiled("gfx90a", "O2", 64), "kernel", "s_endpgm")
    assert rules == {
        "cfa": "lit0, lit6, LLVM_form_aspace_address", "pc": "undefined",
    }


def test_outside_functions(compiled: Callable[..., Any]) -> None:
    built = compiled("gfx90a", "O2", 64)
    assert built.rows().row(built.address - 4) is None


@pytest.mark.parametrize("size", [0, 4, 10, 30, 41])
def test_cut_off_code(compiled: Callable[..., Any], size: int) -> None:
    built = compiled("gfx90a", "O0", 64)
    code = next(code for name, code in built.functions.items() if name.startswith("middle"))
    cut = FunctionCode(code.start, code.start + size)
    rows = PrologueRows(target_by_name("gfx90a"), 64, lambda pc: cut, built.read)
    assert (rows.row(code.start) is not None) == (size >= 4)
    assert rows.row(code.start + size + 64) is None


@pytest.mark.parametrize("seed", range(20))
def test_any_bytes_give_rows_or_none(seed: int) -> None:
    code = random.Random(seed).randbytes(400)
    function = FunctionCode(0x1000, 0x1000 + len(code))
    rows = PrologueRows(target_by_name("gfx90a"), 64, lambda pc: function, lambda at, size: code)
    for pc in range(function.start, function.end, 4):
        rows.row(pc)


@pytest.mark.parametrize(("arch", "level", "wave_size"), BUILDS)
def test_every_instruction_has_a_return_address(
    compiled: Callable[..., Any], arch: str, level: str, wave_size: int
) -> None:
    built = compiled(arch, level, wave_size)
    rows = built.rows()
    for name, function in built.functions.items():
        if function.is_kernel:
            continue
        for instruction in isa.disassemble(
            built.read(function.start, function.end - function.start), arch, address=function.start,
            wave_size=wave_size,
        ):
            row = rows.row(instruction.address)
            assert row is not None and row.cfa is not None, (name, instruction.text)
            assert not isinstance(row.rules[16], UndefinedRule), (name, instruction.text)
            if instruction.name in RETURNS:
                for register in (*range(32, 40), *range(48, 56)):  # callee-saved
                    assert sgpr_number(register) not in row.rules, (name, register)


# The oracle: the code runs on the simulator, and what the rules say is compared with the registers of the entry.


@dataclass
class Entry:
    """Registers when a function was entered."""

    scalars: np.ndarray[Any, Any]
    vectors: list[np.ndarray[Any, Any]]
    exec: int


class WaveContext(SimpleContext):
    """The current frame of a simulated wave."""

    def __init__(self, wave: Wave, memory: Any) -> None:
        super().__init__(wave_size=wave.wave_size, lane=0, pc=wave.pc)
        self.wave, self.global_memory = wave, memory

    def read_register(self, number: int, offset: int, size: int) -> bytes:
        size_of = self.wave.wave_size
        name = register_name(number, size_of)
        if name == "exec":
            data = self.wave.exec.to_bytes(size_of // 8, "little")
        elif name.startswith("s"):
            data = self.wave.sgpr(int(name[1:])).to_bytes(4, "little")
        else:
            file = self.wave.vgpr if name.startswith("v") else self.wave.agpr
            data = file(int(name[1:])).tobytes()
        return data[offset:offset + size]

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        assert space == 6
        return bytes(self.global_memory.read(self.wave.scratch_base + address, size))


VECTORS = (*range(10), 31, *range(40, 46))


def locate(row: Row, context: Context, number: int) -> LocationDescription:
    return row.register_location(number, context)


def entry_of(wave: Wave) -> Entry:
    return Entry(wave.sgprs.copy(), [wave.vgpr(n).copy() for n in VECTORS], wave.exec)


def check(row: Row, context: Context, entry: Entry, wave_size: int, where: str) -> int:
    """Compare all rules with the entry; return the number of comparisons."""
    count = 0

    def value(number: int, bits: int, offset: int = 0) -> int | None:
        try:
            return row.register_location(number, context).read(bits, offset)
        except EvaluationError as error:
            assert "undefined" in str(error), error
            return None

    assert value(16, 64) == int(entry.scalars[31]) << 32 | int(entry.scalars[30]), f"return address {where}"
    assert value(exec_number(wave_size), wave_size) in (None, entry.exec), f"exec {where}"
    for register in range(102):
        found = value(sgpr_number(register), 32)
        assert found in (None, int(entry.scalars[register])), f"s{register} {where}"
        count += found is not None
    for register, contents in zip(VECTORS, entry.vectors, strict=True):
        for lane in range(0, wave_size, 13):
            if entry.exec >> lane & 1 or register >= 40:
                found = value(vgpr_number(register, wave_size), 32, 32 * lane)
                if found is not None and entry.exec >> lane & 1:
                    assert found == int(contents[lane]), f"v{register}[{lane}] {where}"
                    count += 1
    return count


@pytest.mark.truth
@pytest.mark.parametrize(("arch", "level", "wave_size"), STEPPED)
def test_rules_give_what_was_there(
    compiled: Callable[..., Any], arch: str, level: str, wave_size: int
) -> None:
    built = compiled(arch, level, wave_size)
    program = rocdbg.load(str(built.path))
    kernel = program.kernels["_Z6kernelPiS_"]
    out, into = np.zeros(64, np.int32), np.arange(16, dtype=np.int32)
    launched = kernel.launch(wave_size, wave_size, [out, into])
    dispatch, base = launched.launch.dispatch, program.loaded.base
    rows = built.rows()
    wave = dispatch.wave(1)
    stack: list[Entry] = []
    seen: set[int] = set()
    compared = outer = 0

    def unwind(row: Row, context: Context, base: int) -> None:
        """All outer frames."""
        nonlocal compared, outer
        for entry in stack[-2::-1]:
            caller = row.register_location(16, context).read(64) - base
            context = CallerContext(context, functools.partial(locate, row, context), caller - 1)
            found = rows.row(caller - 1)
            assert found is not None
            row = found
            compared += check(row, context, entry, wave_size, f"in the caller at {caller:#x}")
            outer += 1

    while True:
        pc = wave.pc - base
        function = built.find(pc)
        assert function is not None
        if stack and pc not in seen:
            seen.add(pc)
            if len(seen) % 4 == 0:
                row = rows.row(pc)
                assert row is not None
                context = WaveContext(wave, program.machine.memory)
                compared += check(row, context, stack[-1], wave_size, f"at {pc:#x}")
                if len(seen) % 8 == 0:
                    unwind(row, context, base)
        instruction = isa.decode(built.read(pc, 20), arch, address=pc, wave_size=wave_size)
        if instruction.name == "s_endpgm":
            break
        dispatch.run(RunOptions(wave=1, step=True))
        if instruction.flow is isa.Flow.CALL:
            stack.append(entry_of(wave))
        elif instruction.name in RETURNS:
            stack.pop()
    assert not stack
    assert compared > 3_000 and outer > 5


def test_what_is_no_instruction_has_no_encoding() -> None:
    """After s_getpc_b64, where scalar values are followed, damaged code may contain anything."""
    code = bytes.fromhex("001c80be ffffffff")
    assert jump_targets(list(isa.disassemble(code, "gfx90a", address=0))) == {}
