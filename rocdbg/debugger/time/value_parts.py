"""The parts of a value at its location: dwords of registers, and runs of memory."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.arch.dwarf_registers import RegisterClass, dwarf_register
from rocdbg.arch.targets import Target
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.located_values import LocationStorage
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import AbsentError, CallbackStorage
from rocdbg.dwarf.info.types import VectorType
from rocdbg.dwarf.storage import Fragment, MemoryStorage, RegisterStorage
from rocdbg.isa.instruction import OperandKind
from rocdbg.isa.operands import SPECIAL_CODES, special_code

_KINDS = {
    RegisterClass.SGPR: OperandKind.SGPR, RegisterClass.VGPR: OperandKind.VGPR, RegisterClass.AGPR: OperandKind.AGPR,
}
_CODES = {RegisterClass.VCC: SPECIAL_CODES["vcc_lo"], RegisterClass.EXEC: SPECIAL_CODES["exec_lo"]}
_NAMED = {"m0": "m0", "scc": "src_scc", "vcc_hi": "vcc_hi", "exec_hi": "exec_hi"}
"""Registers without a DWARF number whose writes can be found, each with the name of its operand."""


class RegisterPart(Struct, frozen=True):
    """Dwords of consecutive registers. ``offset``: the byte offset of the first one in the value.

    For special registers ``index`` is an operand code; ``lane`` is the lane of the dwords, None for scalar registers.
    """

    offset: int
    kind: OperandKind
    index: int
    dwords: int
    lane: int | None


class MemoryPart(Struct, frozen=True):
    """Bytes of an address space, as a lane sees them."""

    offset: int
    space: int
    address: int
    size: int
    lane: int | None


Part = RegisterPart | MemoryPart


def parts_of(value: Value, focus: Focus, target: Target) -> list[Part]:
    """Return the parts of a value that instructions can write. A value that is neither in memory nor in a register that
    instructions can name has none. For a whole vector register, the focused lane's dword is used.

    Raises `AbsentError` if the value is optimized out, and `DebuggerError` if something other than a location
    determines it.
    """
    if value.absence is not None:
        raise AbsentError(value.absence)
    if value.recovered:
        raise DebuggerError("The value was recovered from machine code; its location is not known.")
    if value.storage is None:
        return []
    if value.bit_size is not None:
        first, shift = value.offset + value.bit_offset // 8, value.bit_offset % 8
        size = (shift + value.bit_size + 7) // 8
        value = replace(value, offset=first, bit_offset=0, bit_size=None)
    else:
        value, size = of_lane(value, focus)
    return _joined(_found(value, size, focus, target))


def of_lane(value: Value, focus: Focus) -> tuple[Value, int]:
    """Return the focused lane's element of a value that is whole vector registers, and the size of the result."""
    bare = value.type.bare
    if isinstance(bare, VectorType) and focus.lane is not None and _is_file(value):
        value = value.part(bare.element, c_types.size_of(bare.element) * focus.lane)
    return value, value.size


def _is_file(value: Value) -> bool:
    """Whether a value covers all lanes of vector registers."""
    storage = value.storage
    if isinstance(storage, CallbackStorage):
        return bool(storage.columns)
    if not isinstance(storage, LocationStorage) or storage.location.is_undefined:
        return False
    whole = next(storage.location.fragments(8 * value.size, 8 * value.offset)).storage
    if not isinstance(whole, RegisterStorage) or not dwarf_register(whole.number).is_vector:
        return False
    lanes = whole.size // 32  # lanes of dwords or, for halves of registers, of 16 bits each
    return value.size in (4 * lanes, 2 * lanes)


def _found(value: Value, size: int, focus: Focus, target: Target) -> Iterator[Part]:
    storage = value.storage
    assert storage is not None
    address = storage.address
    if address is not None:
        yield MemoryPart(0, address.space, address.value + value.offset, max(size, 1), focus.lane)
    elif isinstance(storage, CallbackStorage) and storage.columns:
        for offset in range(0, size, 4):
            dword = (value.offset + offset) // 4
            column = storage.columns[dword % len(storage.columns)].part(c_types.INT, dword // len(storage.columns) * 4)
            for part in _found(column, 4, focus, target):
                yield replace(part, offset=offset + part.offset)
    elif isinstance(storage, CallbackStorage):
        code = special_code(_NAMED.get(storage.name, ""), target) if storage.name in _NAMED else None
        if code is not None:
            yield RegisterPart(0, OperandKind.SPECIAL, code, 1, None)
    elif isinstance(storage, LocationStorage):
        offset = 0
        for fragment in storage.location.fragments(8 * size, 8 * value.offset):
            found = _of_fragment(fragment, offset // 8, focus)
            if found is not None:
                yield found
            offset += fragment.bits


def _of_fragment(fragment: Fragment, offset: int, focus: Focus) -> Part | None:
    storage, first = fragment.storage, fragment.offset
    if isinstance(storage, MemoryStorage):
        space = storage.space.number if storage.space.alias is None else storage.space.alias
        size = (first % 8 + fragment.bits + 7) // 8
        return MemoryPart(offset, space, first // 8, size, focus.lane if storage.lane is None else storage.lane)
    if not isinstance(storage, RegisterStorage):
        return None
    register = dwarf_register(storage.number)
    dword, count = first // 32, (first % 32 + fragment.bits + 31) // 32
    if register.is_vector:  # it has one dword per lane
        return RegisterPart(offset, _KINDS[register.register_class], register.index, 1, dword)
    if register.register_class in _KINDS:
        return RegisterPart(offset, _KINDS[register.register_class], register.index + dword, count, None)
    if register.register_class in _CODES:
        return RegisterPart(offset, OperandKind.SPECIAL, _CODES[register.register_class] + dword, count, None)
    return None


def _joined(parts: Iterator[Part]) -> list[Part]:
    """Merge consecutive registers into one part."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, RegisterPart) and isinstance(last, RegisterPart) and (
            (part.kind, part.lane, part.index, part.offset)
            == (last.kind, last.lane, last.index + last.dwords, last.offset + 4 * last.dwords)
        ):
            found[-1] = replace(last, dwords=last.dwords + part.dwords)
        elif part not in found:
            found.append(part)
    return found


__all__ = ["MemoryPart", "Part", "RegisterPart", "of_lane", "parts_of"]
