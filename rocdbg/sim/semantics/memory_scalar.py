"""SMEM: scalar loads. Addresses are dword-aligned by dropping their low bits."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.isa.instruction import Operand
from rocdbg.sim.builder import I32, I64, Value
from rocdbg.sim.semantics import integers
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.memory_common import memory, required
from rocdbg.sim.translator.atomics import BY_NAME


def _immediate(i: Access) -> int:
    """The constant offset: an operand, or beside an offset in a register a modifier."""
    operand = i.insn.operand("offset")
    return operand.value if operand is not None else i.modifier("offset")


def _offset(i: Access) -> Value:
    total, register = i.const(_immediate(i), I64), i.insn.operand("soffset")
    if register is not None:
        total = total + i.raw_operand(register).zext(I64)
    return total


def _write(i: Access, destination: Operand, dwords: int) -> None:
    code = i.scalar_code(destination)
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
        base = i.raw_operand(required(i, "sbase"), 64)
        i.b.write_scalar_address((base + _offset(i)) & -4)
        zero = i.const(0, I64)
        i.b.call("sload", (zero, i.const(4 * dwords, I64), zero, zero))
        _write(i, required(i, "sdata"), dwords)

    return function


def _narrow_load(bits: int, *, signed: bool) -> Callable[[Access], None]:
    """A byte or a half, of the dword it is in (halves are aligned by dropping the address's low bit)."""

    def function(i: Access) -> None:
        address = (i.raw_operand(required(i, "sbase"), 64) + _offset(i)) & -(bits // 8)
        i.b.write_scalar_address(address & -4)
        zero = i.const(0, I64)
        i.b.call("sload", (zero, i.const(4, I64), zero, zero))
        _write_narrow(i, address, bits, signed=signed)

    return function


def _write_narrow(i: Access, address: Value, bits: int, *, signed: bool) -> None:
    dword = i.b.read_transfer(0).lshr((address & 3).trunc(I32).shl(3))
    i.b.write_sgpr(i.scalar_code(required(i, "sdata")), integers.field(dword, 0, bits, signed=signed))


def _range(i: Access) -> tuple[Value, Value]:
    """A buffer's base address and its size: num_records bytes, or records of stride bytes."""
    code = i.scalar_code(required(i, "sbase"))
    low, high, records = i.b.read_sgpr(code), i.b.read_sgpr(code + 1), i.b.read_sgpr(code + 2)
    base = low.zext(I64) | (high & 0xFFFF).zext(I64).shl(32)
    stride = (high.lshr(16) & 0x3FFF).zext(I64)
    return base, stride.eq(0).select(records.zext(I64), records.zext(I64) * stride)


def _narrow_buffer_load(bits: int, *, signed: bool) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        base, limit = _range(i)
        offset = _offset(i) & -(bits // 8)
        i.b.write_scalar_address((base + offset) & -4)
        inside = (offset + bits // 8).ule(limit).select(i.const(4, I64), 0)
        i.b.call("sload", (i.const(0, I64), i.const(4, I64), inside, i.const(1, I64)))
        _write_narrow(i, base + offset, bits, signed=signed)

    return function


def _buffer_load(dwords: int) -> Callable[[Access], None]:
    """Out-of-range dwords read 0."""

    def function(i: Access) -> None:
        base, limit = _range(i)
        offset = _offset(i) & -4
        i.b.write_scalar_address(base + offset)
        left = limit.usub_sat(offset)
        zero = i.const(0, I64)
        i.b.call("sload", (zero, i.const(4 * dwords, I64), left, i.const(1, I64)))
        _write(i, required(i, "sdata"), dwords)

    return function


def _one_lane(i: Access, helper: str, address: Value, size: int) -> None:
    """A routine for lanes, used for one scalar access."""
    i.b.write_scalar_address(address)
    zero = i.const(0, I64)
    i.b.call(helper, (i.const(1, I64), i.const(size, I64), zero, zero))


def _put(i: Access, source: Operand, dwords: int) -> None:
    code = i.scalar_code(source)
    for n in range(dwords):
        i.b.write_scalar_data(n, i.b.read_sgpr(code + n))


def _plain(i: Access) -> Value:
    return (i.raw_operand(required(i, "sbase"), 64) + _offset(i)) & -4


def _scratch(i: Access) -> Value:
    """An offset in an SGPR counts 64 bytes."""
    register, offset = i.insn.operand("soffset"), i.const(_immediate(i), I64)
    if register is not None:
        offset = offset + i.raw_operand(register).zext(I64).shl(6)
    return (i.raw_operand(required(i, "sbase"), 64) + offset) & -4


def _in_buffer(i: Access) -> Value:
    code = i.scalar_code(required(i, "sbase"))
    low, high = i.b.read_sgpr(code), i.b.read_sgpr(code + 1)
    return (low.zext(I64) | (high & 0xFFFF).zext(I64).shl(32)) + (_offset(i) & -4)


def _store(address: Callable[[Access], Value], dwords: int) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        _put(i, required(i, "sdata"), dwords)
        _one_lane(i, "store_global", address(i), 4 * dwords)

    return function


def _scratch_load(dwords: int) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        i.b.write_scalar_address(_scratch(i))
        zero = i.const(0, I64)
        i.b.call("sload", (zero, i.const(4 * dwords, I64), zero, zero))
        _write(i, required(i, "sdata"), dwords)

    return function


def _atomic(address: Callable[[Access], Value], helper: str) -> Callable[[Access], None]:
    def function(i: Access) -> None:
        row, data = BY_NAME[helper], required(i, "sdata")
        size = row.type.bits // 8
        _put(i, data, row.operands * size // 4)
        _one_lane(i, f"atomic_{helper}_global", address(i), size)
        if i.modifier("glc"):
            _write(i, data, size // 4)

    return function


for _dwords in (1, 2, 4):
    _suffix = "dword" if _dwords == 1 else f"dwordx{_dwords}"
    memory(f"s_store_{_suffix}", _store(_plain, _dwords))
    memory(f"s_buffer_store_{_suffix}", _store(_in_buffer, _dwords))
    memory(f"s_scratch_store_{_suffix}", _store(_scratch, _dwords))
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
        memory(f"s_atomic_{_name}{_suffix}", _atomic(_plain, f"{_name}_{_bits}"))
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
