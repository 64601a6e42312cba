"""How single instructions change what is known (``State``). The few that save, restore and move registers are modelled
exactly; for all others, the registers that they write become unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from rocdbg.analysis.machine_state import (
    AGPR,
    EXEC_HI,
    EXEC_LO,
    UNKNOWN,
    VCC_LO,
    Complement,
    Number,
    Saved,
    Scalar,
    StackAddress,
    State,
    Vector,
    vector_key,
    written,
    written_scalars,
)
from rocdbg.isa import Flow, Instruction, Operand, OperandKind

_MASK: Final = 0xFFFFFFFF
_RETURN_ADDRESS: Final = (30, 31)
_DESTINATIONS: Final = frozenset({"sdst", "vdst", "vdstx", "vdsty"})
_SCALAR_KINDS: Final = (OperandKind.SGPR, OperandKind.SPECIAL)
_CONSTANT_KINDS: Final = (OperandKind.CONSTANT, OperandKind.LITERAL, OperandKind.IMMEDIATE)
_NO_RESULT: Final = (
    "s_cmpk_", "s_setreg_", "s_setpc", "s_set_pc", "s_cbranch", "s_store", "s_buffer_store", "s_scratch_store",
)
_VECTOR_COPIES: Final = frozenset({"v_accvgpr_write_b32", "v_accvgpr_read_b32", "v_accvgpr_mov_b32", "v_mov_b32"})
_ADDITIONS: Final = frozenset({
    "s_add_u32", "s_add_i32", "s_addk_i32", "s_addc_u32", "s_add_ci_u32", "s_sub_u32", "s_sub_i32",
})
_POINTER_LOADS: Final = frozenset({"s_load_dwordx2", "s_load_b64"})
_SWAPS: Final = frozenset({"v_swap_b32", "v_permlane16_swap_b32", "v_permlane32_swap_b32", "v_swap_b16"})


class Clobbers(Struct, frozen=True):
    """Registers that a function may change."""

    scalars: frozenset[int]
    vectors: frozenset[int]


def preserves_scalar(register: int) -> bool:
    """True when the calling convention makes the callee preserve a scalar register (LLVM's AMDGPU
    convention)."""
    if register >= EXEC_LO:
        return register in (EXEC_LO, EXEC_HI)
    return 32 <= register < VCC_LO and (register >= 96 or register % 16 < 8)


def preserves_vector(register: int) -> bool:
    """As ``preserves_scalar``, for the active lanes of a vector register."""
    if register >= AGPR:
        return register >= AGPR + 32
    return register >= 40 and register % 16 >= 8


BY_CONVENTION: Final = Clobbers(
    frozenset(register for register in range(EXEC_HI + 1) if not preserves_scalar(register)),
    frozenset(register for register in (*range(256), *range(AGPR, AGPR + 256)) if not preserves_vector(register)),
)
"""What a call of an unknown function may change."""


class Machine(Struct, frozen=True):
    """What the effects of instructions depend on: the wave size, and whether stack pointers count bytes of the whole
    wave.

    ``clobbers`` gives what a function with a known entry address changes; ``pointer`` reads an address from memory that
    is never written: functions that other objects can see are called through a table of addresses.
    """

    wave_size: int
    unswizzled: bool
    clobbers: Callable[[int], Clobbers]
    pointer: Callable[[int], int | None] = lambda address: None


def apply(state: State, instruction: Instruction, machine: Machine) -> None:
    """Change ``state`` to what is known after an instruction (after the call has returned, for a call)."""
    name = instruction.name
    if instruction.flow is Flow.CALL:
        target = call_target(state, instruction)
        link(state, instruction)
        _forget(state, BY_CONVENTION if target is None else machine.clobbers(target))
        return
    if instruction.encoding in ("SOP1", "SOP2", "SOPK") and _apply_scalar(state, instruction):
        return
    if name in _POINTER_LOADS and _load_pointer(state, instruction, machine):
        return
    if name == "v_writelane_b32":
        _write_lane(state, instruction)
        return
    if name == "v_readlane_b32" and _read_lane(state, instruction):
        return
    if instruction.encoding in ("MUBUF", "SCRATCH") and _apply_stack(state, instruction, machine):
        return
    if name in _VECTOR_COPIES and _copy_vector(state, instruction, machine):
        return
    _apply_other(state, instruction, machine)


# Calls


def call_target(state: State, instruction: Instruction) -> int | None:
    """The target of a call, if it is known."""
    if instruction.branch_target is not None:
        return instruction.branch_target
    source = instruction.operand("ssrc0")
    if source is None or source.kind is not OperandKind.SGPR:
        return None
    low, high = state.scalar(source.index), state.scalar(source.index + 1)
    if isinstance(low, Number) and isinstance(high, Number):
        return high.value << 32 | low.value
    return None


def link(state: State, instruction: Instruction) -> None:
    """The effect of a call before its function begins: it writes the return address."""
    destination = instruction.operand("sdst")
    if destination is not None:
        for register in _registers(destination):
            state.set_scalar(register, None)


def _forget(state: State, clobbers: Clobbers) -> None:
    """Change ``state`` to what is known after a call. Registers that the convention preserves remain known, regardless
    of what is known about the function.
    """
    for register in clobbers.scalars & BY_CONVENTION.scalars:
        state.set_scalar(register, None)
    for register in (*_RETURN_ADDRESS, VCC_LO, VCC_LO + 1):
        state.set_scalar(register, None)
    for register in clobbers.vectors & BY_CONVENTION.vectors:
        state.set_vector(register, Vector(None, state.vector(register).inactive))
    state.carry = None


# Scalars


def _registers(operand: Operand) -> range:
    return range(operand.index, operand.index + operand.dwords)


def _value(state: State, operand: Operand | None, half: int = 0) -> Scalar:
    """The contents of one dword of a scalar source."""
    if operand is None:
        return None
    if operand.kind in _SCALAR_KINDS:
        return state.scalar(operand.index + half)
    if operand.kind is OperandKind.IMMEDIATE:
        return Number((operand.value ^ 0x8000) - 0x8000 & _MASK) if half == 0 else None
    if operand.kind in _CONSTANT_KINDS:
        return Number(operand.value >> 32 * half & _MASK)
    return None


def _apply_scalar(state: State, instruction: Instruction) -> bool:
    """Apply a scalar move, an addition or an operation on EXEC. False for anything else."""
    name = instruction.name
    destination = instruction.operand("sdst")
    if destination is None or destination.kind not in _SCALAR_KINDS:
        return False
    first = instruction.operand("ssrc0") or destination  # SOPK: the destination is the first source
    second = instruction.operand("ssrc1") or instruction.operand("simm16")
    if name in ("s_mov_b32", "s_mov_b64", "s_movk_i32"):
        source = instruction.operand("ssrc0") or instruction.operand("simm16")
        _set(state, destination, [_value(state, source, half) for half in range(destination.dwords)])
        return True
    if name in ("s_getpc_b64", "s_get_pc_i64"):
        after = instruction.address + instruction.size
        _set(state, destination, [Number(after & _MASK), Number(after >> 32)])
        return True
    if name == "s_add_nc_u64" and second is not None:
        _set(state, destination, _add_wide(state, first, second))
        return True
    if "saveexec" in name:
        _save_exec(state, instruction, destination)
        return True
    if name in ("s_or_b64", "s_or_b32") and destination.index == EXEC_LO and second is not None:
        _rejoin(state, destination, first, second)
        state.carry = None
        return True
    if name == "s_sext_i32_i16":  # gfx12 extends the PC it reads
        value = _value(state, first)
        low = (value.value & 0xFFFF ^ 0x8000) - 0x8000 & _MASK if isinstance(value, Number) else None
        _set(state, destination, [None if low is None else Number(low)])
        return True
    if name.replace("_co_", "_") in _ADDITIONS:  # gfx12 has "co" in the names
        carry = state.carry if name in ("s_addc_u32", "s_add_co_ci_u32") else 0
        sign = -1 if name.startswith("s_sub") else 1
        left, right = _value(state, first), _value(state, second)
        state.carry = None
        result: Scalar = None
        if carry is not None and isinstance(right, Number):
            result = _add(left, right, sign, carry)
        elif carry is not None and isinstance(left, Number) and sign > 0:
            result = _add(right, left, sign, carry)
        if sign > 0 and name.endswith("u32") and isinstance(left, Number) and isinstance(right, Number):
            state.carry = None if carry is None else (left.value + right.value + carry) >> 32
        _set(state, destination, [result])
        return True
    return False


def _load_pointer(state: State, instruction: Instruction, machine: Machine) -> bool:
    """Apply a load from the global offset table. False for anything else."""
    destination, base = instruction.operand("sdata"), instruction.operand("sbase")
    offset = instruction.operand("offset")
    if destination is None or base is None or base.kind is not OperandKind.SGPR or instruction.operand("soffset"):
        return False
    if destination.kind is not OperandKind.SGPR or offset is None or offset.value:
        return False
    low, high = (_value(state, base, half) for half in range(2))
    if not isinstance(low, Number) or not isinstance(high, Number):
        return False
    found = machine.pointer(high.value << 32 | low.value)
    if found is None:
        return False
    _set(state, destination, [Number(found & _MASK), Number(found >> 32)])
    return True


def _add_wide(state: State, first: Operand, second: Operand) -> list[Scalar]:
    """Both halves of a 64-bit sum, if it is known."""
    halves = [_value(state, operand, half) for operand in (first, second) for half in range(2)]
    numbers = [half.value for half in halves if isinstance(half, Number)]
    if len(numbers) < 4:
        return [None, None]
    total = numbers[0] + numbers[2] + (numbers[1] + numbers[3] << 32)
    return [Number(total & _MASK), Number(total >> 32 & _MASK)]


def _add(left: Scalar, right: Number, sign: int, carry: int) -> Scalar:
    if isinstance(left, Number):
        return Number(left.value + sign * right.value + carry & _MASK)
    if isinstance(left, StackAddress) and carry == 0:
        step = right.value - (1 << 32) if right.value >> 31 else right.value
        return StackAddress(left.offset + sign * step)
    return None


def _set(state: State, destination: Operand, values: list[Scalar]) -> None:
    for register, value in zip(_registers(destination), values, strict=True):
        state.set_scalar(register, value)


def _save_exec(state: State, instruction: Instruction, destination: Operand) -> None:
    """Apply ``s_or_saveexec_b64 D, S`` and similar instructions: D gets EXEC, and EXEC gets the result."""
    source = instruction.operand("ssrc0")
    old = [state.scalar(EXEC_LO + half) for half in range(destination.dwords)]
    new: list[Scalar] = [None] * destination.dwords
    if source is not None and source.kind is OperandKind.CONSTANT and _value(state, source) == Number(_MASK):
        if instruction.name.startswith("s_or_saveexec"):
            new = [Number(_MASK)] * destination.dwords
        elif instruction.name.startswith("s_xor_saveexec"):
            # Inverting a mask that is not known to be the entry mask gives an unknown mask, not even a subset of it.
            new = [
                Complement(half.register) if isinstance(half, Saved) else Number(0) for half in old
            ]
    _set(state, destination, old)
    for half, value in enumerate(new):
        state.set_scalar(EXEC_LO + half, value)
    state.carry = None


def _rejoin(state: State, destination: Operand, first: Operand, second: Operand) -> None:
    """Apply ``s_or_b64 exec, exec, S``: if S is the mask at entry, so is EXEC afterwards, because it was a subset of
    that mask.
    """
    sources = [operand for operand in (first, second) if operand.index != EXEC_LO]
    for half, register in enumerate(_registers(destination)):
        value = _value(state, sources[0], half) if len(sources) == 1 else None
        state.set_scalar(register, value if value == Saved(register) else None)


# Vectors


def _write_lane(state: State, instruction: Instruction) -> None:
    destination = instruction.operand("vdst")
    key = None if destination is None else vector_key(destination)
    if key is None:
        return
    lane = _value(state, instruction.operand("src1"))
    if isinstance(lane, Number):
        value = _value(state, instruction.operand("src0"))
        state.set_vector(key, state.vector(key).with_lane(lane.value, value))
    else:
        state.set_vector(key, UNKNOWN)


def _read_lane(state: State, instruction: Instruction) -> bool:
    destination = instruction.operand("vdst") or instruction.operand("sdst")
    source = instruction.operand("src0")
    lane = _value(state, instruction.operand("src1"))
    key = None if source is None else vector_key(source)
    if destination is None or destination.kind not in _SCALAR_KINDS or key is None or not isinstance(lane, Number):
        return False
    state.set_scalar(destination.index, dict(state.vector(key).lanes).get(lane.value))
    return True


def _copy_vector(state: State, instruction: Instruction, machine: Machine) -> bool:
    destination, source = instruction.operand("vdst"), instruction.operand("src0")
    if destination is None or source is None:
        return False
    if instruction.modifiers and not instruction.name.startswith("v_accvgpr"):  # v_accvgpr ignores its modifiers
        return False
    to, origin = vector_key(destination), vector_key(source)
    if to is None or origin is None or source.half is not None or destination.half is not None:
        return False
    lanes = state.lanes(machine.wave_size)
    state.set_vector(to, written(state.vector(to), state.vector(origin), lanes))
    return True


def _apply_stack(state: State, instruction: Instruction, machine: Machine) -> bool:
    """Apply a load or store of whole dwords at a fixed place of the stack. False for anything else."""
    address = instruction.operand("vaddr")
    scalar = instruction.operand("soffset" if instruction.encoding == "MUBUF" else "saddr")
    if address is None or address.kind is not OperandKind.OFF or scalar is None:
        return False
    base = _value(state, scalar)
    if not isinstance(base, StackAddress):
        return False
    offset = base.offset // (machine.wave_size if machine.unswizzled else 1)
    extra = instruction.modifiers.get("offset", 0)
    offset += extra if isinstance(extra, int) else 0
    data = instruction.operand("vdata") or instruction.operand("vdst")
    key = None if data is None else vector_key(data)
    if data is None or key is None:
        return False
    is_store = "_store_" in instruction.name
    whole = "dword" in instruction.name or "_b32" in instruction.name or "_b64" in instruction.name or (
        "_b96" in instruction.name or "_b128" in instruction.name
    )
    lanes = state.lanes(machine.wave_size)
    for number in range(data.dwords):
        place, register = offset + 4 * number, key + number
        if is_store:
            stored = written(state.slot(place), state.vector(register), lanes) if whole else UNKNOWN
            state.slots[place & ~3] = stored
        else:
            loaded = state.slot(place) if whole else UNKNOWN
            state.set_vector(register, written(state.vector(register), loaded, lanes))
    return True


# Everything else


def _apply_other(state: State, instruction: Instruction, machine: Machine) -> None:
    """Make unknown what an instruction writes."""
    name = instruction.name
    if name.startswith(_NO_RESULT):
        return
    lanes = state.lanes(machine.wave_size)
    for operand in instruction.operands:
        is_result = operand.name in _DESTINATIONS or (
            operand.name in ("sdata", "vdata") and "store" not in name
        ) or (operand.name == "src0" and name in _SWAPS)
        if not is_result:
            continue
        if operand.kind in _SCALAR_KINDS:
            for register in written_scalars(instruction, operand):
                state.set_scalar(register, None)
        key = vector_key(operand)
        if key is not None:
            for register in range(key, key + operand.dwords):
                state.set_vector(register, written(state.vector(register), UNKNOWN, lanes))
    if name.startswith(("v_cmpx", "v_cmpsx")) or "_wrexec" in name:
        state.set_scalar(EXEC_LO, None)
        state.set_scalar(EXEC_HI, None)
    if instruction.encoding in ("SOP1", "SOP2", "SOPC", "SOPK"):  # others, such as waits, keep SCC
        state.carry = None
