"""Origins of values in code that clang compiled: through LDS, other waves, spills and calls, to the arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.debugger.time.origins import Origin
from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.isa.result_operands import results
from tests.breadth import in_turn

pytestmark = pytest.mark.llvm

COUNT = 128
NAN_AT = 37
"""The element of ``in`` that is 0, and by which 0 is divided."""


def started(path: Path) -> Session:
    session = Session()
    session.load(path)
    session.launch.set_grid(str(COUNT))
    session.launch.set_workgroup("64")
    session.launch.schedule = "random 7"
    numbers = [float(n + 1) for n in range(COUNT)]
    numbers[NAN_AT] = numbers[COUNT - 1 - NAN_AT] = 0.0
    for index, text in enumerate((f"f32[{COUNT}]:zeros", f"f64[{COUNT}]:zeros", f"f32[{COUNT}]:{numbers}",
                                  f"f32[{COUNT}]:zeros", str(COUNT))):
        session.launch.set_argument(index, text)
    return session


def origin(session: Session, buffer: int, type_: str, index: int) -> Origin:
    bound = session.launch.bound
    assert bound is not None
    text = f"(({type_} *) {bound.buffers[buffer].allocation.address:#x})[{index}]"
    return session.time.find_origin(session.data.evaluate(text))


@pytest.mark.truth
@pytest.mark.parametrize(("target", "level"), in_turn(("gfx90a", "gfx1100"), ("-O0", "-O2")))
def test_a_nan_leads_to_its_division(compiled: Callable[..., Path], target: str, level: str) -> None:
    session = started(compiled("divided.hip", target, level))
    assert session.run().reason is StopReason.EXITED
    element = 63 - NAN_AT  # of the workgroup, whose tile is turned round
    found = origin(session, 0, "float", element)
    last, first = found.steps[0], found.steps[-1]
    assert last.write.line == 21 and "_store_" in last.write.instruction
    assert first.write.instruction.startswith("v_div_fixup_f32") and first.write.line == 9
    assert found.end == "arithmetic" and not found.cut
    positions = [step.write.position for step in found.steps]
    assert positions == sorted(positions, reverse=True)
    bits = {step.value.contents() for step in found.steps}
    assert len(bits) == 1 and math.isnan(first.value.as_float())
    assert sorted(value.contents() for _, value in found.operands)[:2] == [bytes(4)] * 2  # 0 / 0
    # In LDS the wave and lane that divided had put it: it is another one's that wrote the result.
    lanes = 64 if target == "gfx90a" else 32
    assert (last.write.thread, last.lane) == (element // lanes + 1, element % lanes)
    assert (first.write.thread, first.lane) == (NAN_AT // lanes + 1, NAN_AT % lanes)
    assert any(step.write.line == 16 for step in found.steps)

    copied = origin(session, 3, "float", 5)
    assert copied.end == "the launch: in[5]" and copied.steps[0].value.as_float() == 6.0
    wide = origin(session, 1, "double", 9)
    assert wide.end == "arithmetic" and wide.steps[-1].write.line == 20
    assert {step.value.as_float() for step in wide.steps} == {4.5}
    assert wide.steps[-1].write.instruction.split("_")[1] in ("mul", "ldexp", "cvt")


def test_registers_spills_and_arguments(compiled: Callable[..., Path]) -> None:
    session = started(compiled("divided.hip", "gfx1100", "-O0"))
    session.break_at("divided.hip:23")
    session.run()
    position, focus = session.time.position, session.focus.current

    def find(text: str) -> Origin:
        return session.time.find_origin(session.data.evaluate(text))

    n = find("n")
    assert n.end == "the launch: argument 4" and n.steps[-1].write.instruction.startswith("s_load_b32")
    assert {step.value.as_int() for step in n.steps} == {COUNT} and n.steps[-1].lane is None
    assert (session.time.position, session.focus.current) == (position, focus)
    spilled = find("$s4")
    assert [step.write.instruction.split()[0] for step in spilled.steps][:2] == ["v_readlane_b32", "v_writelane_b32"]
    assert find("$v0[3]").steps[0].lane == 3
    assert [step.write.instruction for step in find("both.second").steps][-1].startswith("v_mul_f64")
    with pytest.raises(DebuggerError, match="Only the origin of a number or pointer can be found"):
        find("both")
    with pytest.raises(DebuggerError, match="neither in memory nor in a register of the wave"):
        find("1 + 1")


def test_results_of_instructions() -> None:
    def made(name: str, encoding: str, *operands: str, **modifiers: int) -> list[str]:
        rows = tuple(Operand(word, OperandKind.VGPR, 0) for word in operands)
        return [operand.name for operand in results(Instruction(0, 4, encoding, name, name, rows, modifiers, ""))]

    assert made("v_swap_b32", "VOP1", "vdst", "src0") == ["vdst", "src0"]
    assert made("buffer_load_dword", "MUBUF", "vdata", "vaddr", "srsrc") == ["vdata"]
    assert made("buffer_load_dword", "MUBUF", "vdata", "vaddr", "srsrc", lds=1) == []
    assert made("buffer_store_dword", "MUBUF", "vdata", "vaddr", "srsrc") == []
    assert made("buffer_atomic_add", "MUBUF", "vdata", "vaddr", "srsrc") == []
    assert made("buffer_atomic_add", "MUBUF", "vdata", "vaddr", "srsrc", glc=1) == ["vdata"]
    assert made("s_load_dword", "SMEM", "sdata", "sbase") == ["sdata"]
    assert made("s_store_dword", "SMEM", "sdata", "sbase") == []
    for reads in ("s_setreg_b32", "s_cmpk_lt_u32", "s_cbranch_i_fork", "s_waitcnt_vscnt"):
        assert made(reads, "SOPK", "sdst", "simm16") == []
    assert made("s_addk_i32", "SOPK", "sdst", "simm16") == ["sdst"]
    assert made("v_cmp_eq_u32", "VOP3", "sdst", "src0", "src1") == ["sdst"]
    assert made("global_store_dword", "GLOBAL", "vaddr", "vdata", "saddr") == []
