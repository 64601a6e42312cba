"""The registers in which values are passed, by the amdgcn calling convention of clang's functions.

Every scalar of the flattened LLVM type takes one vector register (two when it has 64 bits), except that pairs of
16-bit vector elements share one. Padding that clang spells out as bytes counts too. Larger classes, and those that
cannot be copied byte by byte, are in memory. (clang, AMDGPUABIInfo::classifyArgumentType and classifyReturnType; LLVM,
CC_AMDGPU_Func and SITargetLowering::getRegisterTypeForCallingConv.)
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.values import c_types
from rocdbg.dwarf.conventions import Gcc
from rocdbg.dwarf.info import Function
from rocdbg.dwarf.info.constants import At, Tag
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.types import (
    Access,
    ArrayType,
    ClassKind,
    ClassType,
    Type,
    VectorType,
)

MAX_COUNTED = 16
"""How many registers, as `counted` counts them, an aggregate may take; a larger one is passed in memory. All arguments
of a call together share this number.
"""
ARGUMENT_REGISTERS = 31
"""Vector registers for arguments, from v0 on (v31 has the work-item ids); further arguments are on the stack."""

NOCALL = 3
"""DW_CC_nocall: the optimiser has changed the function's interface, for example dropped members that are never read."""
PASS_BY_REFERENCE = 4
"""DW_CC_pass_by_reference of a class."""
_OTHER_NAMES = (Tag.TYPEDEF, Tag.TEMPLATE_ALIAS, Tag.CONST_TYPE, Tag.VOLATILE_TYPE, Tag.ATOMIC_TYPE, Tag.RESTRICT_TYPE)
"""Tags of entries that only give a type another name or qualifier."""

Parts = list[tuple[int, int]]
"""(offset, size) in bytes of a part that gets its own registers."""


class UnknownPassingError(DebuggerError):
    """The description of a type does not determine how its values are passed (bit-fields in unions, virtual bases)."""

    def __init__(self, type_: Type) -> None:
        super().__init__(f"It is not known how values of type {type_} are passed.")


def is_gccs(function: Function) -> bool:
    """Whether GCC compiled a function: GCC passes arguments in other registers, and returns values in s24 and s25."""
    return isinstance(function.unit.conventions, Gcc)


def is_clangs(function: Function) -> bool:
    """Whether a function follows the calling convention of this module."""
    return function.calling_convention != NOCALL and not is_gccs(function)


def is_by_reference(die: Die | None) -> bool:
    """Whether a type's entry is a class, or a typedef of one, that is marked as not passed by value.

    A pointer or reference to such a class is passed like any other.
    """
    while die is not None and die.tag in _OTHER_NAMES:
        die = die.find_reference(At.TYPE)
    return die is not None and die.number(At.CALLING_CONVENTION) == PASS_BY_REFERENCE


def parts(type_: Type, size: int) -> Parts | None:
    """Return the parts of a value in registers; ``None`` where it is in memory. Raises `UnknownPassingError`."""
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ClassType):
        if _is_flexible(stripped) or counted(stripped) > MAX_COUNTED:
            return None
        if size <= 8:  # small structures are packed into one or two registers
            return [] if _is_empty(stripped) else [(at, min(4, size - at)) for at in range(0, size, 4)]
    return _flatten(stripped, 0)


def counted(type_: Type) -> int:
    """Count registers as clang does to choose between registers and memory: each member takes whole 32-bit registers.
    """
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ClassType):
        return sum(counted(member.type) for member in stripped.members)
    return (c_types.size_of(stripped) + 3) // 4


def _is_flexible(type_: ClassType) -> bool:
    last = type_.members[-1].type.strip_typedefs() if type_.members else None
    return isinstance(last, ArrayType) and last.count is None


def _is_empty(type_: ClassType) -> bool:
    """Whether a class has no data, so that it takes no space of its own in another class."""
    if type_.members:
        return False
    return all(isinstance(base := b.type.strip_typedefs(), ClassType) and _is_empty(base) for b in type_.bases)


def _flatten(type_: Type, offset: int) -> Parts:
    """Return the scalars of a type at an offset. Raises `UnknownPassingError`."""
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ClassType):
        return _flatten_class(stripped, offset, as_base=False)
    if isinstance(stripped, ArrayType | VectorType):
        element, count = stripped.element, stripped.count
        if not isinstance(count, int):
            raise UnknownPassingError(type_)
        size = c_types.size_of(element)
        if isinstance(stripped, VectorType) and size == 2:
            return [(offset + at, min(4, 2 * count - at)) for at in range(0, 2 * count, 4)]
        return [part for index in range(count) for part in _flatten(element, offset + index * size)]
    return [(offset, c_types.size_of(stripped))]


def _flatten_class(type_: ClassType, offset: int, as_base: bool) -> Parts:
    """Return the scalars of a class, including the padding that clang makes explicit (CGRecordLowering); a base has no
    tail padding.
    """
    if any(member.bit_offset is None for member in type_.members):
        raise UnknownPassingError(type_)
    placed = sorted(_placed(type_), key=lambda entry: entry.at)
    if type_.kind is ClassKind.UNION and placed:
        # LLVM represents a union by its most aligned, then largest member, followed by bytes
        placed = [max(placed, key=lambda entry: (_alignment(entry.type), c_types.size_of(entry.type)))]
    alignment = max((_alignment(entry.type) for entry in placed), default=1)
    data_end = _data_size(type_)
    packed = data_end % alignment != 0 and type_.kind is not ClassKind.UNION
    parts: Parts = []
    end = 0
    for entry in placed:
        if entry.at < end:
            raise UnknownPassingError(type_)
        parts += _padding(end, entry.at, 1 if packed else _alignment(entry.type), offset)
        inner = entry.type.strip_typedefs()
        if entry.is_base and isinstance(inner, ClassType):
            parts += _flatten_class(inner, offset + entry.at, as_base=True)
        else:
            parts += _flatten(inner, offset + entry.at)
        end = entry.end
    if as_base:
        return parts + _padding(end, data_end, 1 if packed else alignment, offset)
    exact = packed or type_.kind is ClassKind.UNION
    return parts + _padding(end, c_types.size_of(type_), 1 if exact else alignment, offset)


class _Placed(Struct, frozen=True):
    """A base or member that takes space in a class: where it begins, and where the next may begin."""

    at: int
    end: int
    type: Type
    is_base: bool = False


def _placed(type_: ClassType) -> list[_Placed]:
    found = []
    for base in type_.bases:
        inner = base.type.strip_typedefs()
        if base.virtual or base.byte_offset is None or not isinstance(inner, ClassType):
            raise UnknownPassingError(type_)
        if not _is_empty(inner):
            found.append(_Placed(base.byte_offset, base.byte_offset + _data_size(inner), inner, is_base=True))
    if type_.kind is not ClassKind.UNION:
        found += _units(type_)
    elif any(member.bit_size is not None for member in type_.members):
        raise UnknownPassingError(type_)
    for member in type_.members:
        if member.bit_size is None and not _is_empty_class(member.type):
            at = (member.bit_offset or 0) // 8
            found.append(_Placed(at, at + c_types.size_of(member.type), member.type))
    return found


def _units(type_: ClassType) -> list[_Placed]:
    """Replace bit-fields with the integers through which they are accessed (CGRecordLowering::accumulateBitFields).

    Adjacent bit-fields share an integer of up to 64 bits if it is aligned without raising the alignment of the class.
    """
    fields = sorted((m for m in type_.members if m.bit_size), key=lambda member: member.bit_offset or 0)
    others = [(member.bit_offset or 0) // 8 for member in type_.members if member.bit_size is None]
    alignment = max((c_types.alignment_of(member.type) for member in type_.members), default=1)
    runs: list[tuple[int, int]] = []
    for field in fields:
        begin = field.bit_offset or 0
        end = begin + (field.bit_size or 0)
        if runs:
            first = runs[-1][0] // 8
            size = _integer_bytes(-(-end // 8) - first)
            apart = any(first < other <= begin // 8 for other in others)
            if begin % 8 or (not apart and size <= min(8, alignment) and first % size == 0):
                runs[-1] = runs[-1][0], end
                continue
        runs.append((begin, end))
    starts = [begin // 8 for begin, _ in runs]
    found = []
    for begin, end in runs:
        first, last = begin // 8, -(-end // 8)
        limit = min([at for at in (*starts, *others) if at >= last], default=c_types.size_of(type_))
        size = _integer_bytes(last - first)
        if size > 8 or first + size > limit:  # no integer fits: bytes
            found += [_Placed(at, at + 1, c_types.UNSIGNED_CHAR) for at in range(first, last)]
        else:
            found.append(_Placed(first, first + size, c_types.unsigned_of(size)))
    return found


def _integer_bytes(size: int) -> int:
    """Return the size of the smallest integer with at least this many bytes."""
    return 1 << max(size - 1, 0).bit_length()


def _data_size(type_: ClassType) -> int:
    """Return the size of a class in bytes without tail padding, which derived classes may reuse; a POD class keeps it.
    """
    if _is_plain(type_):
        return c_types.size_of(type_)
    return max((entry.end for entry in _placed(type_)), default=0)


def _is_plain(type_: ClassType) -> bool:
    """Whether a class is POD in the sense of C++03, by which the ABI decides on its padding."""
    own = {type_.name, f"~{type_.name}"}
    if type_.bases or any((method.name in own and not method.artificial) or method.virtual for method in type_.methods):
        return False
    for member in type_.members:
        inner = member.type.strip_typedefs()
        while isinstance(inner, ArrayType):
            inner = inner.element.strip_typedefs()
        if member.access is not Access.PUBLIC or c_types.is_reference(inner):
            return False
        if isinstance(inner, ClassType) and not _is_plain(inner):
            return False
    return True


def _padding(end: int, start: int, alignment: int, offset: int) -> Parts:
    """Padding bytes that are members of the LLVM type because alignment alone does not give the next offset."""
    natural = -(-end // alignment) * alignment
    return [] if start == natural else [(offset + at, 1) for at in range(end, start)]


def _is_empty_class(type_: Type) -> bool:
    stripped = type_.strip_typedefs()
    return isinstance(stripped, ClassType) and _is_empty(stripped)


def _alignment(type_: Type) -> int:
    """Return the ABI alignment that LLVM gives a type, in bytes."""
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ClassType):
        return max((_alignment(member.type) for member in stripped.members), default=1)
    if isinstance(stripped, ArrayType):
        return _alignment(stripped.element)
    size = c_types.size_of(stripped)
    return 1 << max(size - 1, 0).bit_length()


def registers_counted(type_: Type) -> int:
    """How many registers of `MAX_COUNTED` an argument uses."""
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ClassType) and c_types.size_of(stripped) <= 8:
        return (c_types.size_of(stripped) + 3) // 4
    return counted(stripped)


def in_memory(type_: Type, left: int) -> bool:
    """Whether an argument is passed as the private address of a copy; ``left``: how many of the `MAX_COUNTED` registers
    are still unused.
    """
    stripped = type_.strip_typedefs()
    if not isinstance(stripped, ClassType) or c_types.size_of(stripped) <= 8 or _is_empty(stripped):
        return False
    if _is_flexible(stripped):
        return True
    return not _is_single(stripped) and (left == 0 or counted(stripped) > left)


def _is_single(type_: ClassType) -> bool:
    """Whether a class consists of a single scalar or vector, which is then passed in its place."""
    placed = [m.type.strip_typedefs() for m in type_.members if not _is_empty_class(m.type)]
    placed += [b.type.strip_typedefs() for b in type_.bases if not _is_empty_class(b.type)]
    if len(placed) != 1:
        return False
    inner = placed[0]
    while isinstance(inner, ArrayType) and inner.count == 1:
        inner = inner.element.strip_typedefs()
    if c_types.size_of(inner) != c_types.size_of(type_) or isinstance(inner, ArrayType):
        return False
    return _is_single(inner) if isinstance(inner, ClassType) else True


def argument_words(type_: Type, data: bytes) -> list[bytes]:
    """Return the dwords in which an argument is passed, one for each register or stack slot.

    Small integers are sign- or zero-extended to 32 bits according to their type. Raises `UnknownPassingError`.
    """
    stripped = type_.strip_typedefs()
    if not isinstance(stripped, ClassType | ArrayType | VectorType) and len(data) < 4:
        signed = c_types.is_signed(stripped) and not c_types.is_float(stripped) and bool(data) and data[-1] >> 7
        return [data.ljust(4, b"\xff" if signed else b"\0")]
    if isinstance(stripped, ClassType) and len(data) <= 8:
        found = [] if _is_empty(stripped) else [(at, min(4, len(data) - at)) for at in range(0, len(data), 4)]
    else:
        found = _flatten(stripped, 0)
    return [
        data[offset + at : offset + min(size, at + 4)].ljust(4, b"\0")
        for offset, size in found for at in range(0, size, 4)
    ]
