"""SMEM: scalar loads. Addresses are dword-aligned by dropping their low bits."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.isa.instruction import Operand
from rocdbg.sim.builder import I64, Value
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.memory_common import memory, required


def _offset(i: Access) -> Value:
    total = i.const(0, I64)
    immediate, register = i.insn.operand("offset"), i.insn.operand("soffset")
    if immediate is not None:
        total = i.const(immediate.value, I64)
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


def _buffer_load(dwords: int) -> Callable[[Access], None]:
    """Out-of-range dwords read 0. The range is num_records bytes, or records of stride bytes."""

    def function(i: Access) -> None:
        code = i.scalar_code(required(i, "sbase"))
        low, high, records = i.b.read_sgpr(code), i.b.read_sgpr(code + 1), i.b.read_sgpr(code + 2)
        base = low.zext(I64) | (high & 0xFFFF).zext(I64).shl(32)
        stride = (high.lshr(16) & 0x3FFF).zext(I64)
        limit = stride.eq(0).select(records.zext(I64), records.zext(I64) * stride)
        offset = _offset(i) & -4
        i.b.write_scalar_address(base + offset)
        left = limit.usub_sat(offset)
        zero = i.const(0, I64)
        i.b.call("sload", (zero, i.const(4 * dwords, I64), left, i.const(1, I64)))
        _write(i, required(i, "sdata"), dwords)

    return function


for _dwords in (1, 2, 3, 4, 8, 16):
    _classic = "dword" if _dwords == 1 else f"dwordx{_dwords}"
    for _name in (_classic, f"b{_dwords * 32}"):
        memory(f"s_load_{_name}", _load(_dwords))
        memory(f"s_buffer_load_{_name}", _buffer_load(_dwords))
