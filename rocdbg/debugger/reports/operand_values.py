"""The registers that the instruction at the PC reads and will write."""

from __future__ import annotations

from msgspec import Struct

from rocdbg import isa
from rocdbg.addresses import LoadedAddress
from rocdbg.arch.targets import target_by_name
from rocdbg.debugger.base.errors import NoRegistersError
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.reports.disassembly import MAX_INSTRUCTION, instructions_at
from rocdbg.isa import Flow, Instruction, OperandKind
from rocdbg.isa.operands import Register, register_text
from rocdbg.isa.result_operands import ACCUMULATES, ignores_exec, results

_REGISTERS = (OperandKind.VGPR, OperandKind.AGPR, OperandKind.SGPR, OperandKind.TTMP, OperandKind.SPECIAL)
_SCALAR = ("SOP1", "SOP2", "SOPK", "SOPC", "SOPP", "SMEM", "SMRD")
_READ_SCC = ("s_cbranch_scc", "s_addc_", "s_subb_", "s_add_co_ci", "s_sub_co_ci", "s_cselect_", "s_cmov")
_WRITE_SCC = (
    "s_cmp_", "s_cmpk_", "s_bitcmp", "s_add_u32", "s_add_i32", "s_sub_u32", "s_sub_i32", "s_addc_", "s_subb_",
    "s_add_co_", "s_sub_co_", "s_min_i32", "s_min_u32", "s_max_i32", "s_max_u32", "s_and_", "s_or_", "s_xor_",
    "s_andn2_", "s_orn2_", "s_nand_", "s_nor_", "s_xnor_", "s_and_not", "s_or_not", "s_lshl", "s_lshr_", "s_ashr_",
    "s_bfe_", "s_absdiff", "s_abs_i32", "s_not_", "s_wqm_", "s_quadmask_", "s_bcnt0_", "s_bcnt1_", "s_addk_",
    "s_andn1_", "s_orn1_", "s_barrier_signal_isfirst", "s_alloc_vgpr",
)


class OperandRow(Struct, frozen=True):
    """A register that an instruction reads, writes, or both; ``name`` is in operand syntax."""

    name: str
    reads: bool
    writes: bool


def operands_of(instruction: Instruction, wave_size: int, target_name: str) -> list[OperandRow]:
    """Return the instruction's registers in the order of its text, then implicit ones: EXEC, SCC, VCC."""
    target = target_by_name(target_name)
    found: dict[str, tuple[bool, bool]] = {}

    def note(name: str, *, reads: bool = False, writes: bool = False) -> None:
        before = found.get(name, (False, False))
        found[name] = before[0] or reads, before[1] or writes

    written = list(results(instruction))
    name = instruction.name
    for operand in instruction.operands:
        if operand.kind not in _REGISTERS or not operand.dwords:
            continue
        register = Register(operand.kind, operand.index, operand.dwords, half=operand.half)
        text = register_text(register, target)
        if text in ("null", "scc", "off") or operand.text == "null":
            continue
        writes = operand in written
        note(text, reads=not writes or name.startswith(ACCUMULATES), writes=writes)
    by_lanes = instruction.encoding not in _SCALAR and instruction.flow is Flow.NEXT
    if by_lanes and not ignores_exec(instruction) and name != "v_readlane_b32":
        note("exec", reads=True)
    if name.startswith(("v_cmpx", "v_cmpsx")) or "saveexec" in name or "_wrexec" in name:
        note("exec", reads=True, writes=True)
    if name.startswith("s_cbranch_exec"):
        note("exec", reads=True)
    if name.startswith("s_cbranch_vcc"):
        note("vcc", reads=True)
    if name.startswith(_READ_SCC):
        note("scc", reads=True)
    if name.startswith(_WRITE_SCC):
        note("scc", writes=True)
    return [OperandRow(name, *roles) for name, roles in found.items()]


def operands_here(inferior: Inferior, focus: Selection, data: Data) -> tuple[str, list[OperandRow]]:
    """Return the instruction at the selected frame's PC, and its registers. Raises `NoRegistersError`."""
    target = inferior.target
    if target is None or focus.current.thread is None:
        raise NoRegistersError
    pc = LoadedAddress(focus.frame().pc)
    wave_size = inferior.wave(focus.current.thread).lane_count
    program = inferior.programs.at(pc)
    name = program.code_object.target.name
    memory = data.environment().memory
    [line] = instructions_at(program, memory, pc, 1, wave_size=wave_size)
    instruction = isa.decode(line.data.ljust(MAX_INSTRUCTION, b"\0"), name, address=pc, wave_size=wave_size)
    return line.text, operands_of(instruction, wave_size, name)
