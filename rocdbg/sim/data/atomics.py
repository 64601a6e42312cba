"""The read-modify-write operations: how each combines the old value and the operand.

Float operations round to nearest. Subnormals are flushed as the caller says (`Flush`);
`rocdbg.sim.semantics.memory_common` knows which generation flushes them where.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from rocdbg.sim.core.builder import F16, F32, F64, FLOAT, I16, I32, I64, Type, Value
from rocdbg.sim.semantics import floats

Compute = Callable[[Value, Value], Value]


class Flush(Struct, frozen=True):
    """Whether subnormal inputs, and results, of a float operation become zeros, I1."""

    inputs: Value
    results: Value


FloatCompute = Callable[[Value, Value, Flush], Value]
Operation = Callable[[Value, Value, "Value | None", Flush], Value]


class Atomic(Struct, frozen=True):
    """An atomic operation. ``name`` is that of its routine; ``type`` is an integer of the width in memory; an operation
    with two operands is a compare-and-swap.
    """

    name: str
    type: Type
    operands: int
    operation: Operation

    def compute(self, old: Value, data: Value, second: Value | None, flush: Flush) -> Value:
        """The new value."""
        return self.operation(old, data, second, flush)


_MANTISSA = {F16: 10, F32: 23, F64: 52}
_BFLOAT_MANTISSA = 7


def _flushed(bits: Value, mantissa: int, when: Value) -> Value:
    """The bits of a float; if ``when`` holds, subnormals become the zero of their sign."""
    width = bits.type.bits
    exponent = (1 << width - 1 - mantissa) - 1 << mantissa
    return (when & (bits & exponent).eq(0)).select(bits & 1 << width - 1, bits)


def _minimum(type: Type, largest: bool) -> FloatCompute:
    """IEEE minimumNumber / maximumNumber: a number is preferred to NaN, -0 is less than +0. Flushed for the comparison
    only."""

    def compute(old: Value, data: Value, flush: Flush) -> Value:
        flushed = [_flushed(x, _MANTISSA[type], flush.inputs) for x in (old, data)]
        a, b = (x.bitcast(type) for x in flushed)
        less = a.flt(b)
        tie = a.eq(b)
        # If both are zeros (including flushed numbers), the sign decides.
        equal = (old if largest else data).slt(0).select(data, old)
        pick = less.select(data, old) if largest else less.select(old, data)
        pick = tie.select(equal, pick)
        pick = a.is_nan().select(data, b.is_nan().select(old, pick))
        return _flushed(pick, _MANTISSA[type], flush.results)

    return compute


def _packed(operation: Callable[[Value, Value], Value], mantissa: int) -> FloatCompute:
    def compute(old: Value, data: Value, flush: Flush) -> Value:
        def half(shift: int) -> Value:
            a, b = (_flushed(x.lshr(shift).trunc(I16), mantissa, flush.inputs) for x in (old, data))
            return _flushed(operation(a, b), mantissa, flush.results).zext(I32)

        return half(0) | half(16).shl(16)

    return compute


def _half_add(a: Value, b: Value) -> Value:
    return floats.add(a.bitcast(F16), b.bitcast(F16)).bits()


def _bfloat_add(a: Value, b: Value) -> Value:
    """bf16: exact sum rounded to f32, then to bf16, ties to even (f32 has enough bits for both to be one rounding)."""
    total = floats.add(a.zext(I32).shl(16).bitcast(F32), b.zext(I32).shl(16).bitcast(F32))
    bits = total.bits()
    rounded = (bits + 0x7FFF + (bits.lshr(16) & 1)).lshr(16)
    return total.is_nan().select(bits.lshr(16) | 0x40, rounded).trunc(I16)


def _conditional_exchange(old: Value, data: Value) -> Value:
    """In each dword whose data has bit 31 set, exchange the other bits."""

    def dword(old: Value, data: Value) -> Value:
        return data.slt(0).select(data & 0x7FFFFFFF, old)

    low, high = (
        dword(old.trunc(I32), data.trunc(I32)),
        dword(old.lshr(32).trunc(I32), data.lshr(32).trunc(I32)),
    )
    return low.zext(I64) | high.zext(I64).shl(32)


def _float_add(type: Type) -> FloatCompute:
    def compute(old: Value, data: Value, flush: Flush) -> Value:
        a, b = (_flushed(x, _MANTISSA[type], flush.inputs).bitcast(type) for x in (old, data))
        return _flushed(floats.add(a, b).bits(), _MANTISSA[type], flush.results)

    return compute


_INTEGER: dict[str, Compute] = {
    "swap": lambda old, data: data,
    "add": lambda old, data: old + data,
    "sub": lambda old, data: old - data,
    "rsub": lambda old, data: data - old,
    "smin": lambda old, data: old.smin(data),
    "umin": lambda old, data: old.umin(data),
    "smax": lambda old, data: old.smax(data),
    "umax": lambda old, data: old.umax(data),
    "and": lambda old, data: old & data,
    "or": lambda old, data: old | data,
    "xor": lambda old, data: old ^ data,
    "inc": lambda old, data: old.uge(data).select(0, old + 1),
    "dec": lambda old, data: (old.eq(0) | old.ugt(data)).select(data, old - 1),
    "sub_clamp": lambda old, data: old.usub_sat(data),
    "cond_sub": lambda old, data: old.uge(data).select(old - data, old),
}


def _simple(name: str, type: Type, compute: Compute) -> Atomic:
    return Atomic(name, type, 1, lambda old, data, _, flush: compute(old, data))


def _float(name: str, type: Type, compute: FloatCompute) -> Atomic:
    return Atomic(name, type, 1, lambda old, data, _, flush: compute(old, data, flush))


def _two(operation: Callable[[Value, Value, Value], Value]) -> Operation:
    def compute(old: Value, first: Value, second: Value | None, flush: Flush) -> Value:
        assert second is not None
        return operation(old, first, second)

    return compute


def _table() -> list[Atomic]:
    rows: list[Atomic] = []
    for type in (I32, I64):
        bits, real = type.bits, FLOAT[type.bits]
        rows += [_simple(f"{name}_{bits}", type, compute) for name, compute in _INTEGER.items()]
        rows += [
            # VMEM: data 0 is the new value, data 1 the value to compare with. DS: the other way round; see memory_ds.
            Atomic(f"cmpswap_{bits}", type, 2, _two(lambda old, new, cmp: old.eq(cmp).select(new, old))),
            Atomic(f"mskor_{bits}", type, 2, _two(lambda old, mask, data: old & ~mask | data)),
            Atomic(f"fcmpswap_{bits}", type, 2, _float_swap(real)),
            _float(f"fadd_{bits}", type, _float_add(real)),
            _float(f"fmin_{bits}", type, _minimum(real, False)),
            _float(f"fmax_{bits}", type, _minimum(real, True)),
        ]
    rows += [
        # Data 0 is the limit, data 1 is added if the sum stays below it.
        Atomic(
            "wrap_32", I32, 2, _two(lambda old, limit, step: old.uge(limit).select(old - limit, old + step))
        ),
        _simple("condxchg_64", I64, _conditional_exchange),
        _float("pk_add_f16", I32, _packed(_half_add, _MANTISSA[F16])),
        _float("pk_add_bf16", I32, _packed(_bfloat_add, _BFLOAT_MANTISSA)),
    ]
    return rows


def _float_swap(real: Type) -> Operation:
    def compute(old: Value, new: Value, compared: Value | None, flush: Flush) -> Value:
        assert compared is not None
        a, b = (_flushed(x, _MANTISSA[real], flush.inputs).bitcast(real) for x in (old, compared))
        return _flushed(a.eq(b).select(new, old), _MANTISSA[real], flush.results)

    return compute


ATOMICS = _table()
BY_NAME = {a.name: a for a in ATOMICS}
__all__ = ["ATOMICS", "BY_NAME", "Atomic", "Flush"]
