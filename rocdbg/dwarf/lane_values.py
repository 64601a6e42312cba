"""Values that upstream clang computes from registers, for one lane.

LLVM translates operations on its own integers, which have 8, 16 or 32 bits, into operations on DWARF's generic type,
which has 64. The low bits of sums and products are the same in both. Right shifts, quotients, remainders and
comparisons differ: their operands are therefore first truncated or sign-extended to the size that LLVM used.

Three things cannot be known; a value that depends on one of them is not known, rather than possibly wrong:
* whether a comparison of two numbers with different signs was signed;
* where a pointer in a single register leads;
* the upper half of a 64-bit value that comes from one register.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocdbg.dwarf.architecture import architecture_by_name
from rocdbg.dwarf.decoding import Operation, decode
from rocdbg.dwarf.errors import DecodeError
from rocdbg.dwarf.operation_assembler import Item, assemble, encode_operation
from rocdbg.dwarf.operation_table import LLVM_USER

__all__ = ["based_register", "computed_value", "is_vector", "read_register", "reads_register", "register_location"]

LANE_BITS = 32
"""Bits of a vector register per lane."""
ARCHITECTURE = "amdgcn_gfx125"
"""The architecture that has every register; a register has the same meaning in all architectures that have it."""
_DWORD = 0xFFFF_FFFF
_SIGN = 0x8000_0000
_LOW_BITS = frozenset({"plus", "minus", "mul", "and", "or", "xor", "shl"})
"""Operations whose low result bits depend only on the low bits of their operands."""
_SIGNED = frozenset({"div", "mod", "shra"})
_EQUALITIES = frozenset({"eq", "ne"})
_ORDERS = frozenset({"lt", "le", "gt", "ge"})
_UNARY = frozenset({"neg", "not", "plus_uconst"})


def based_register(operation: Operation) -> tuple[int, int] | None:
    """The register and displacement of a `DW_OP_breg*` or `DW_OP_bregx`; None for other operations."""
    meaning = operation.info.meaning
    if meaning == "bregx":
        number, displacement = operation.operands
    elif re.fullmatch(r"breg[0-9]+", meaning):
        number, displacement = int(meaning[4:]), operation.operands[0]
    else:
        return None
    assert isinstance(number, int)
    assert isinstance(displacement, int)
    return number, displacement


def is_vector(register: int) -> bool:
    """Whether a DWARF register is a VGPR or AGPR of either wavefront size."""
    return register >= 0 and architecture_by_name(ARCHITECTURE).register_elements(register) > 1


def is_wide(register: int) -> bool:
    """Whether a DWARF register is a scalar one of 64 bits: EXEC, VCC or the PC in wave64."""
    return not is_vector(register) and architecture_by_name(ARCHITECTURE).register_size(register) == 8


def register_location(register: int) -> list[Item]:
    """The location of a register; for a vector register, that of the focused lane's dword."""
    if is_vector(register):
        return [("regx", register), "push_lane", "lit4", "mul", "offset"]
    return [("regx", register)]


def read_register(register: int) -> list[Item]:
    """Push the register's contents; for a vector register, the focused lane's dword."""
    if is_wide(register):
        return [("regx", register), "deref"]
    return [*register_location(register), ("deref_size", 4)]


def reads_register(operation: Operation) -> bool:
    """Whether an operation names a register by its number, or is a block of operations that may."""
    meaning = operation.info.meaning
    return operation.register is not None or based_register(operation) is not None or meaning in (
        "regval_type", "entry_value"
    )


def computed_value(operations: Sequence[Operation], size: int | None) -> bytes | None:
    """Return an expression that computes, for one lane, the value that the operations compute (A.2.5.4.4.3); None if
    the value is not known.

    `size` is the object's in bits; if it is None (not known), the object is assumed to fit.
    """
    return _Computation(operations, size).result()


class _Entry:
    """A stack entry: the location of a `register`, or a value.

    `type` is the operation that converts to the value's base type, None for the generic type. `cut` means that bits 32
    and above are zero.
    """

    __slots__ = ("cut", "literal", "register", "type")

    def __init__(
        self, type_: bytes | None = None, *, cut: bool = False, literal: int | None = None, register: int | None = None
    ) -> None:
        self.type, self.cut, self.literal, self.register = type_, cut, literal, register


class _UnknownValueError(Exception):
    """The value cannot be known."""


class _Computation:
    def __init__(self, operations: Sequence[Operation], size: int | None) -> None:
        self.operations, self.size = operations, size
        self.out: list[bytes] = []
        self.stack: list[_Entry] = []
        self.last_convert = max(
            (i for i, operation in enumerate(operations) if operation.info.meaning == "convert"), default=-1
        )
        self.reads_dword = False
        self.check: tuple[int, int] | None = None
        """The position at which the first comparison of numbers with different signs is skipped, and the number of
        stack entries there.
        """

    def result(self) -> bytes | None:
        try:
            for i, operation in enumerate(self.operations):
                self.execute(operation, self._bits(i))
        except _UnknownValueError:
            return None
        if len(self.stack) != 1 or self.stack[0].register is not None:
            return None
        if (self.size or 0) > LANE_BITS and self.last_convert < 0 and self.reads_dword:
            return None
        if self.check is None:
            return b"".join(self.out) + assemble("stack_value")
        # from here on the value does not depend on the comparison, or it is not known
        index, depth = self.check
        unknown = assemble(*["drop"] * depth, "undefined")
        known = b"".join(self.out[index:]) + assemble("stack_value", ("skip", len(unknown)))
        return b"".join(self.out[:index]) + assemble(("bra", len(known))) + known + unknown

    def _bits(self, i: int) -> int:
        """How wide LLVM's integers are at an operation: as wide as the object unless something converts them."""
        if i < self.last_convert or self.size is None or self.size not in (8, 16):
            return LANE_BITS
        return self.size

    def put(self, *items: Item) -> None:
        self.out.append(assemble(*items))

    def pop(self) -> _Entry:
        """The top entry, which must be a value."""
        if not self.stack or self.stack[-1].register is not None:
            raise _UnknownValueError
        return self.stack.pop()

    def execute(self, operation: Operation, bits: int) -> None:
        meaning = operation.info.meaning
        based = based_register(operation)
        if based is not None:
            register, displacement = based
            self.put(*read_register(register), *plus(displacement))
            self._has_read(register, displacement)
        elif meaning == "entry_value":
            self._entry_value(operation)
        elif meaning == "regval_type":
            number, type_ = operation.operands
            assert isinstance(number, int) and isinstance(type_, int)
            self.put(*read_register(number), ("convert", type_))
            self.stack.append(_Entry(assemble(("convert", type_))))
        elif operation.register is not None:
            self.put(*register_location(operation.register))
            self.stack.append(_Entry(register=operation.register))
        elif meaning in ("deref", "deref_size", "deref_type"):
            self._fetch(operation)
        elif (literal := operation.literal) is not None:
            self._raw(operation)
            self.stack.append(_Entry(cut=0 <= literal <= _DWORD, literal=literal))
        elif meaning == "convert":
            self.pop()
            self._raw(operation)
            self.stack.append(_Entry(self.out[-1] if operation.operands[0] else None))
        elif meaning in _UNARY:
            entry = self.pop()
            self._raw(operation)
            self.stack.append(_Entry(entry.type))
        elif meaning in ("dup", "swap", "over", "drop", "nop"):
            self._rearrange(operation)
        elif meaning in _LOW_BITS or meaning in _SIGNED or meaning in _EQUALITIES | _ORDERS or meaning == "shr":
            self._binary(operation, bits)
        else:
            raise _UnknownValueError

    def _raw(self, operation: Operation) -> None:
        self.out.append(encode_operation(operation.info, operation.operands))

    def _fetch(self, operation: Operation) -> None:
        """Replace the location of a register with the register's contents. Any other location is in memory whose
        address space is not named.
        """
        register = self.stack.pop().register if self.stack else None
        if register is None:
            raise _UnknownValueError
        if is_wide(register) and not operation.operands:
            self._raw(operation)
            self._has_read(register, 0)
            return
        size = operation.operands[0] if operation.operands else LANE_BITS // 8
        assert isinstance(size, int)
        if not is_wide(register) and size > LANE_BITS // 8:
            raise _UnknownValueError
        if operation.info.meaning == "deref_type":
            self._raw(operation)
            self.stack.append(_Entry(assemble(("convert", operation.operands[1]))))
        else:
            self.put(("deref_size", size))
            self._has_read(register, 0)

    def _entry_value(self, operation: Operation) -> None:
        """The contents of a register on entry; for a vector register, those of the lane."""
        block = operation.operands[0]
        assert isinstance(block, bytes)
        try:
            inner = decode(block, "llvm22")
        except DecodeError:
            raise _UnknownValueError from None
        if any(one.code == LLVM_USER for one in inner):  # already zero-extended
            self._raw(operation)
            self.stack.append(_Entry())
            return
        register = inner[0].register if len(inner) == 1 else None
        based = (register, 0) if register is not None else based_register(inner[0]) if len(inner) == 1 else None
        if based is None:
            raise _UnknownValueError
        self.put(("entry_value", assemble(*read_register(based[0]), *plus(based[1]))))
        self._has_read(*based)

    def _has_read(self, register: int, displacement: int) -> None:
        is_dword = not is_wide(register)
        self.reads_dword = self.reads_dword or is_dword
        self.stack.append(_Entry(cut=is_dword and not displacement))

    def _rearrange(self, operation: Operation) -> None:
        meaning = operation.info.meaning
        if meaning == "nop":
            return
        if len(self.stack) < (2 if meaning in ("swap", "over") else 1):
            raise _UnknownValueError
        self._raw(operation)
        if meaning == "drop":
            self.stack.pop()
        elif meaning == "swap":
            self.stack[-2:] = self.stack[:-3:-1]
        else:
            self.stack.append(self.stack[-1 if meaning == "dup" else -2])

    def _binary(self, operation: Operation, bits: int) -> None:
        meaning = operation.info.meaning
        right, left = self.pop(), self.pop()
        # After a conversion upstream continues with untyped constants: they take its type.
        type_ = left.type or right.type
        if type_ is not None:
            if right.type is None:
                self.out.append(type_)
            elif left.type is None:
                self.out += [assemble("swap"), type_, assemble("swap")]
            if meaning in _ORDERS:
                raise _UnknownValueError
            self._raw(operation)
            self.stack.append(_Entry(cut=True) if meaning in _EQUALITIES else _Entry(type_))
            return
        if meaning in _LOW_BITS:
            self._raw(operation)
            self.stack.append(_Entry(cut=meaning == "and" and (left.cut or right.cut)))
        elif meaning == "shr":
            self._left(left, bits, signed=False)
            self._raw(operation)
            self.stack.append(_Entry(cut=True))
        elif meaning in _SIGNED:
            self._left(left, bits, signed=True)
            if meaning != "shra":
                self._extend(right, bits, signed=True)
            if meaning == "mod":
                self.put("over", "over", "div", "mul", "minus")  # DWARF's generic type has no sign
            else:
                self._raw(operation)
            self.stack.append(_Entry())
        else:
            self._compare(operation, left, right)

    def _left(self, entry: _Entry, bits: int, *, signed: bool) -> None:
        before = len(self.out)
        self.put("swap")
        self._extend(entry, bits, signed=signed)
        if len(self.out) == before + 1:
            self.out.pop()
        else:
            self.put("swap")

    def _extend(self, entry: _Entry, bits: int, *, signed: bool) -> None:
        """Truncate the top entry to a size, then zero-extend or sign-extend it."""
        literal = entry.literal
        if literal is not None and 0 <= literal < 1 << (bits - 1):
            return
        if signed:
            self.put(("const1u", 64 - bits), "shl", ("const1u", 64 - bits), "shra")
        elif not entry.cut or bits < LANE_BITS:
            self.put(("const4u", (1 << bits) - 1), "and")

    def _compare(self, operation: Operation, left: _Entry, right: _Entry) -> None:
        self._left(left, LANE_BITS, signed=False)
        self._extend(right, LANE_BITS, signed=False)
        if operation.info.meaning in _ORDERS:
            if self.check is not None:
                raise _UnknownValueError
            self.put("over", "over", "xor", ("const4u", _SIGN), "and")
            self.check = len(self.out), len(self.stack) + 2
        self._raw(operation)
        self.stack.append(_Entry(cut=True))


def plus(displacement: int) -> list[Item]:
    """Add a number to the top entry."""
    if displacement > 0:
        return [("plus_uconst", displacement)]
    return [("consts", displacement), "plus"] if displacement else []
