"""SMEM: scalar loads, stores and atomics.

The base and each offset are aligned by dropping low bits: two in general, one for 16-bit loads, none for 8-bit loads.
Through a buffer resource, accesses beyond num_records bytes (or records of stride bytes) read 0 and write nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.isa.instruction import Operand, OperandKind
from rocdbg.sim.core.builder import I64, Value
from rocdbg.sim.data.atomics import BY_NAME
from rocdbg.sim.semantics import integers
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.memory_common import memory, required, scaled


def _immediate(i: Access) -> int:
    """The constant offset: an operand, or a modifier if a register holds another offset."""
    operand = i.insn.operand("offset")
    return operand.value if operand is not None else i.modifier("offset")


def _offset(i: Access, align: int = 4) -> Value:
    total, register = i.const(_immediate(i) & -align, I64), i.insn.operand("soffset")
    if i.generation < 8 and (register is None or register.kind is OperandKind.LITERAL):
        dwords = _immediate(i) if register is None else register.value & 0xFFFF_FFFF
        return i.const(4 * dwords, I64)  # constants count dwords, including the literals of GFX7
    if register is not None:
        total = total + (scaled(i, i.raw_operand(register).zext(I64)) & -align)
    return total


def _plain(i: Access, align: int = 4) -> Value:
    return (i.raw_operand(required(i, "sbase"), 64) & -align) + _offset(i, align)


def _write(i: Access, destination: Operand, dwords: int) -> None:
    code = i.scalar_code(destination, dwords)
    if code == i.context.null:
        return
    if dwords == 1:
        i.b.write_sgpr(code, i.b.read_transfer(0))
        return
    for n in range(0, dwords - 1, 2):
        low, high = i.b.read_transfer(n), i.b.read_transfer(n + 1)
        i.b.write_sgpr(code + n, low.zext(I64) | high.zext(I64).shl(32))
    if dwords & 1:
        i.b.write_sgpr(code + dwords - 1, i.b.read_transfer(dwords - 1))


def _load(dwords: int) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        i.b.write_scalar_address(_plain(i))
        zero = i.const(0, I64)
        i.b.call("sload", (zero, i.const(4 * dwords, I64), zero, zero))
        _write(i, required(i, "sdata"), dwords)

    return function


def _narrow_load(bits: int, *, signed: bool) -> Callable[[Access], None]:
    """A byte or a half."""

    def function(i: Access) -> None:
        i.b.write_scalar_address(_plain(i, bits // 8))
        zero = i.const(0, I64)
        i.b.call("sload", (zero, i.const(bits // 8, I64), zero, zero))
        _write_narrow(i, bits, signed=signed)

    return function


def _write_narrow(i: Access, bits: int, *, signed: bool) -> None:
    field = integers.field(i.b.read_transfer(0), 0, bits, signed=signed)
    code = i.scalar_code(required(i, "sdata"))
    if code != i.context.null:
        i.b.write_sgpr(code, field)


def _range(i: Access, align: int = 4) -> tuple[Value, Value]:
    """A buffer's base address and its size: num_records bytes, or records of stride bytes."""
    low, high, records = (i.dword(required(i, "sbase"), n) for n in range(3))
    base = (low & -align).zext(I64) | (high & 0xFFFF).zext(I64).shl(32)
    stride = (high.lshr(16) & 0x3FFF).zext(I64)
    return base, stride.eq(0).select(records.zext(I64), records.zext(I64) * stride)


def _narrow_buffer_load(bits: int, *, signed: bool) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        size = bits // 8
        base, limit = _range(i, size)
        offset = _offset(i, size)
        i.b.write_scalar_address(base + offset)
        inside = (offset + size).ule(limit).select(i.const(size, I64), 0)
        i.b.call("sload", (i.const(0, I64), i.const(size, I64), inside, i.const(1, I64)))
        _write_narrow(i, bits, signed=signed)

    return function


def _buffer_load(dwords: int) -> Callable[[Access], None]:
    """Out-of-range dwords read 0."""

    def function(i: Access) -> None:
        base, limit = _range(i)
        offset = _offset(i)
        i.b.write_scalar_address(base + offset)
        left = limit.usub_sat(offset) & -4
        zero = i.const(0, I64)
        i.b.call("sload", (zero, i.const(4 * dwords, I64), left, i.const(1, I64)))
        _write(i, required(i, "sdata"), dwords)

    return function


_SCALAR = 1
"""Argument a of routines for global memory: a fault is reported as one of a scalar access."""


def _one_lane(i: Access, helper: str, address: Value, size: Value) -> None:
    """Use a routine for lanes for one scalar access of ``size`` bytes (I64); if the size is 0, nothing is accessed."""
    i.b.write_scalar_address(address)
    i.b.call(helper, (size.ne(0).zext(I64), size, i.const(_SCALAR, I64), i.const(0, I64)))


def _put(i: Access, source: Operand, dwords: int) -> None:
    for n in range(dwords):
        i.b.write_scalar_data(n, i.dword(source, n))


def _scratch(i: Access) -> Value:
    """Offset in units of 64 bytes in an SGPR."""
    register, offset = i.insn.operand("soffset"), i.const(_immediate(i) & -4, I64)
    if register is not None:
        offset = offset + i.raw_operand(register).zext(I64).shl(6)
    return (i.raw_operand(required(i, "sbase"), 64) & -4) + offset


Place = Callable[[Access, int], tuple[Value, Value]]
"""Address of an access of the given number of bytes, and how many of them are in range (both I64)."""


def _anywhere(address: Callable[[Access], Value]) -> Place:
    return lambda i, size: (address(i), i.const(size, I64))


def _in_buffer(i: Access, size: int) -> tuple[Value, Value]:
    base, limit = _range(i)
    offset = _offset(i)
    return base + offset, (limit.usub_sat(offset) & -4).umin(size)


def _store(place: Place, dwords: int) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        address, size = place(i, 4 * dwords)
        _put(i, required(i, "sdata"), dwords)
        _one_lane(i, "store_global", address, size)

    return function


def _scratch_load(dwords: int) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        i.b.write_scalar_address(_scratch(i))
        zero = i.const(0, I64)
        i.b.call("sload", (zero, i.const(4 * dwords, I64), zero, zero))
        _write(i, required(i, "sdata"), dwords)

    return function


def _atomic(place: Place, helper: str) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        row, data = BY_NAME[helper], required(i, "sdata")
        size = row.type.bits // 8
        address, inside = place(i, size)
        inside = inside.eq(size).select(inside, 0)
        _put(i, data, row.operands * size // 4)
        _one_lane(i, f"atomic_{helper}_global", address, inside)
        if i.modifier("glc"):
            # If nothing was accessed, the transfer buffer still holds the operands, but an access out of range must
            # give 0.
            for n in range(size // 4):
                i.b.write_scalar_data(n, inside.ne(0).select(i.b.read_transfer(n), 0))
            _write(i, data, size // 4)

    return function


for _dwords in (1, 2, 4):
    _suffix = "dword" if _dwords == 1 else f"dwordx{_dwords}"
    memory(f"s_store_{_suffix}", _store(_anywhere(_plain), _dwords))
    memory(f"s_buffer_store_{_suffix}", _store(_in_buffer, _dwords))
    memory(f"s_scratch_store_{_suffix}", _store(_anywhere(_scratch), _dwords))
    memory(f"s_scratch_load_{_suffix}", _scratch_load(_dwords))
for _name in (
    "swap",
    "cmpswap",
    "add",
    "sub",
    "smin",
    "umin",
    "smax",
    "umax",
    "and",
    "or",
    "xor",
    "inc",
    "dec",
):
    for _suffix, _bits in (("", 32), ("_x2", 64)):
        memory(f"s_atomic_{_name}{_suffix}", _atomic(_anywhere(_plain), f"{_name}_{_bits}"))
        memory(f"s_buffer_atomic_{_name}{_suffix}", _atomic(_in_buffer, f"{_name}_{_bits}"))

for _bits in (8, 16):
    for _letter, _signed in (("u", False), ("i", True)):
        memory(f"s_load_{_letter}{_bits}", _narrow_load(_bits, signed=_signed))
        memory(f"s_buffer_load_{_letter}{_bits}", _narrow_buffer_load(_bits, signed=_signed))
for _dwords in (1, 2, 3, 4, 8, 16):
    _classic = "dword" if _dwords == 1 else f"dwordx{_dwords}"
    for _name in (_classic, f"b{_dwords * 32}"):
        memory(f"s_load_{_name}", _load(_dwords))
        memory(f"s_buffer_load_{_name}", _buffer_load(_dwords))
