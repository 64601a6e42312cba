"""The native routines of gfx950's v_mfma_*_f8f6f4: factors in any of five formats, with one scale for each 32 of them.

A lane holds 32 elements of a row of A (or column of B): 32 successive ones along K if they have 4 or 6 bits, or two
runs of 16, half of K apart, if they have 8 bits. Lane ``rows`` * n + i has the scale (E8M0: the exponent of a power of
two, 0xff is NaN) of row i for the elements from 32 n on.

``control``: format of A in bits 2:0 and of B in 10:8 (0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4), negation and absolute value
of C in 12 and 13. For the scale of A, the byte of the register is in 15:14, the `ScaleKind` in 19:18 and the place in
42:22; for the scale of B, they are in 17:16, 21:20 and 63:43.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocdbg.sim.core.builder import F32, F64, I32, I64, Value
from rocdbg.sim.data.matrix_shapes import ScaleKind
from rocdbg.sim.semantics.float8 import E2M1, E2M3, E3M2, E4M3_OCP, E5M2_OCP, widen
from rocdbg.sim.translator.matrix_registers import accumulator, finish, result, word

if TYPE_CHECKING:
    from rocdbg.sim.translator.runtime import Routine

FORMATS = (E4M3_OCP, E5M2_OCP, E2M3, E3M2, E2M1)
"""Formats by their number in the instruction."""


def scaled(r: Routine, rows: int) -> None:
    """The body of the routine for ``rows`` (16 or 32) rows and columns."""
    groups = 64 // rows
    depth = 32 * groups
    control = r.value("%control")
    for name in "ab":
        r.lines.append(f"%factors_{name} = alloca [{rows * depth} x i64]")
    r.lines.append("%total = alloca i64")
    _widen_all(r, "a", rows, control & 7, (control.lshr(18) & 3, control.lshr(14) & 3, control.lshr(22)))
    _widen_all(
        r, "b", rows, control.lshr(8) & 7, (control.lshr(20) & 3, control.lshr(16) & 3, control.lshr(43))
    )

    def one(lane: Value, at: Value) -> None:
        column, group = lane & rows - 1, lane.lshr(rows.bit_length() - 1)
        row = at.lshr(2) * (4 * groups) + group * 4 + (at & 3)
        c = accumulator(r, at, lane, 32).bitcast(F32)
        c = (control & 1 << 13).ne(0).select(c.fabs(), c)
        c = (control & 1 << 12).ne(0).select(-c, c)
        _put(r, "%total", c.fpext(F64))

        def add(k: Value) -> None:
            x, y = _get(r, _place(r, "a", row * depth + k)), _get(r, _place(r, "b", column * depth + k))
            _put(r, "%total", _get(r, "%total") + x * y)

        r.for_range(r.const(depth, I64), add)
        result(r, at, lane, _get(r, "%total").fptrunc(F32))

    results = rows * rows // 64
    r.for_range(r.const(64, I64), lambda lane: r.for_range(r.const(results, I64), lambda at: one(lane, at)))
    finish(r, results)


def _get(r: Routine, pointer: str) -> Value:
    return r.load(pointer, I64).bitcast(F64)


def _put(r: Routine, pointer: str, value: Value) -> None:
    r.store(pointer, value.bits())


def _place(r: Routine, name: str, index: Value) -> str:
    return r.gep(f"%factors_{name}", index.shl(3))


def _widen_all(r: Routine, name: str, rows: int, kind: Value, scale: tuple[Value, Value, Value]) -> None:
    """The scaled elements of A or B as f64, row by row."""
    base = r.value(f"%{name}")
    depth = 32 * 64 // rows
    eight, four = kind.ult(2), kind.eq(4)
    width = eight.select(r.const(8, I64), four.select(r.const(4, I64), 6))

    def one(lane: Value, at: Value) -> None:
        row, group = lane & rows - 1, lane.lshr(rows.bit_length() - 1)
        bit = at * width
        dword = bit.lshr(5)
        # The last element does not extend into the dword after the operand.
        low, high = word(r, base, dword, lane), word(r, base, (dword + 1).umin(width - 1), lane)
        raw = (low.zext(I64) | high.zext(I64).shl(32)).lshr(bit & 31).trunc(I32)
        number = r.const(0.0, F32)
        for n, form in enumerate(FORMATS):
            number = kind.eq(n).select(widen(raw & (1 << form.bits) - 1, form), number)
        split = (at & 15) + group * 16 + at.lshr(4) * (depth // 2)
        k = eight.select(split, at + group * 32)
        factor = _scale(r, scale, row + k.lshr(5) * rows)
        _put(r, _place(r, name, row * depth + k), number.fpext(F64) * factor)

    r.for_range(r.const(64, I64), lambda lane: r.for_range(r.const(32, I64), lambda at: one(lane, at)))


def _scale(r: Routine, scale: tuple[Value, Value, Value], lane: Value) -> Value:
    """The scale that a lane holds, as f64."""
    kind, byte, place = scale
    place = place & (1 << 21) - 1
    in_register = kind.eq(ScaleKind.VECTOR) | kind.eq(ScaleKind.SCALAR)
    at = in_register.select(place + kind.eq(ScaleKind.VECTOR).select(lane.shl(2), 0), 0)
    loaded = r.load(r.gep("%state", at), I32).lshr(byte.trunc(I32).shl(3)) & 0xFF
    constant = kind.eq(ScaleKind.CONSTANT).select(place.trunc(I32), 127)
    exponent = in_register.select(loaded, constant)
    power = (exponent.zext(I64) + (1023 - 127)).shl(52).bitcast(F64)
    return exponent.eq(0xFF).select(r.const(0x7FF8 << 48, I64).bitcast(F64), power)


__all__ = ["FORMATS", "scaled"]
