"""Register access in the routines of matrix instructions: elements of lanes, and results in the transfer buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.sim.core.builder import I8, I16, I32, I64, Type, Value

if TYPE_CHECKING:
    from rocdbg.sim.translator.runtime import Routine


def integer_type(bits: int) -> Type:
    return {8: I8, 16: I16, 32: I32, 64: I64}[bits]


def register(r: Routine, base: Value, dword: Value | int, lane: Value) -> str:
    """Pointer to a lane's dword, ``dword`` registers after the one at ``base``."""
    row = 4 * r.wave_size
    offset = base + (dword * row if isinstance(dword, int) else dword * r.const(row, I64)) + lane.shl(2)
    return r.gep("%state", offset)


def word(r: Routine, base: Value, dword: Value | int, lane: Value) -> Value:
    """A lane's dword."""
    return r.load(register(r, base, dword, lane), I32)


def element(r: Routine, base: Value, at: Value | int, lane: Value, bits: int) -> Value:
    """Element ``at`` of ``bits`` bits in a lane's consecutive registers, as an integer of that size."""
    if bits == 64:
        first = at * 2 if isinstance(at, int) else at.shl(1)
        low, high = (word(r, base, first + n, lane).zext(I64) for n in range(2))
        return low | high.shl(32)
    if bits == 32:
        return word(r, base, at, lane)
    per = 32 // bits
    if isinstance(at, int):
        dword = word(r, base, at // per, lane)
        shift = at % per * bits
        return (dword.lshr(shift) if shift else dword).trunc(integer_type(bits))
    dword = word(r, base, at.lshr(per.bit_length() - 1), lane)
    return dword.lshr(((at & per - 1) * bits).trunc(I32)).trunc(integer_type(bits))


def accumulator(r: Routine, at: Value, lane: Value, bits: int) -> Value:
    """Element ``at`` of C, or the inline constant."""
    constant = r.value("%c").eq(-1)
    base = constant.select(r.value("%d"), r.value("%c"))
    value = element(r, base, at, lane, bits)
    given = r.value("%constant")
    return constant.select(given if bits == 64 else given.trunc(integer_type(bits)), value)


def result(r: Routine, at: Value, lane: Value, value: Value) -> None:
    """Store a result of 32 or 64 bits in the transfer buffer."""
    bits = value.bits()
    if bits.type is I64:
        r.store(r.data(at.shl(1), lane), bits.trunc(I32))
        r.store(r.data(at.shl(1) + 1, lane), bits.lshr(32).trunc(I32))
    else:
        r.store(r.data(at, lane), bits)


def result16(r: Routine, at: Value, lane: Value, value: Value) -> None:
    """Store a result of 16 bits in the transfer buffer; two share a register."""
    r.store(r.gep(r.data(at.lshr(1), lane), (at & 1).shl(1)), value)


def finish(r: Routine, registers: int) -> None:
    """Copy the results from the transfer buffer to D, and return."""

    def lane(lane: Value) -> None:
        for n in range(registers):
            r.store(register(r, r.value("%d"), n, lane), r.load(r.data(n, lane), I32))

    r.for_range(r.const(r.wave_size, I64), lane)
    r.lines.append("ret i32 0")


__all__ = ["accumulator", "element", "finish", "integer_type", "register", "result", "result16", "word"]
