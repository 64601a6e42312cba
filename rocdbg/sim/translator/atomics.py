"""Read-modify-write operations, one row each: what becomes of the old value and the operand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rocdbg.sim.builder import F16, F32, FLOAT, I16, I32, I64, Type, Value
from rocdbg.sim.semantics import floats

Compute = Callable[[Value, Value], Value]


@dataclass(frozen=True, slots=True)
class Atomic:
    """``name`` is the helper's; ``type`` the memory's width as an integer; operands 2 is compare-and-swap."""

    name: str
    type: Type
    operands: int
    operation: Callable[[Value, Value, Value | None], Value]

    def compute(self, old: Value, data: Value, second: Value | None) -> Value:
        """The new value."""
        return self.operation(old, data, second)


def _minimum(type: Type, largest: bool) -> Compute:
    """IEEE minimumNumber / maximumNumber: a number wins over NaN, -0 is less than +0."""

    def compute(old: Value, data: Value) -> Value:
        a, b = old.bitcast(type), data.bitcast(type)
        less = a.flt(b)
        tie = a.eq(b)
        # Equal: bitwise or (minimum) or and (maximum) gives the right zero, and leaves other values as they are.
        equal = a.bits() & b.bits() if largest else a.bits() | b.bits()
        pick = less.select(b.bits(), a.bits()) if largest else less.select(a.bits(), b.bits())
        pick = tie.select(equal, pick)
        return a.is_nan().select(b.bits(), b.is_nan().select(a.bits(), pick))

    return compute


def _packed(operation: Callable[[Value, Value], Value]) -> Compute:
    def compute(old: Value, data: Value) -> Value:
        low = operation(old.trunc(I16), data.trunc(I16))
        high = operation(old.lshr(16).trunc(I16), data.lshr(16).trunc(I16))
        return low.zext(I32) | high.zext(I32).shl(16)

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
    """Each dword whose data has bit 31 set takes the other bits of it."""

    def dword(old: Value, data: Value) -> Value:
        return data.slt(0).select(data & 0x7FFFFFFF, old)

    low, high = (
        dword(old.trunc(I32), data.trunc(I32)),
        dword(old.lshr(32).trunc(I32), data.lshr(32).trunc(I32)),
    )
    return low.zext(I64) | high.zext(I64).shl(32)


def _float_add(type: Type) -> Compute:
    return lambda old, data: floats.add(old.bitcast(type), data.bitcast(type)).bits()


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
    return Atomic(name, type, 1, lambda old, data, _: compute(old, data))


def _two(operation: Callable[[Value, Value, Value], Value]) -> Callable[[Value, Value, Value | None], Value]:
    def compute(old: Value, first: Value, second: Value | None) -> Value:
        assert second is not None
        return operation(old, first, second)

    return compute


def _table() -> list[Atomic]:
    rows: list[Atomic] = []
    for type in (I32, I64):
        bits, real = type.bits, FLOAT[type.bits]
        rows += [_simple(f"{name}_{bits}", type, compute) for name, compute in _INTEGER.items()]
        rows += [
            # VMEM: data 0 is the new value, data 1 what is compared with. DS: the other way round; see memory_ds.
            Atomic(f"cmpswap_{bits}", type, 2, _two(lambda old, new, cmp: old.eq(cmp).select(new, old))),
            Atomic(f"mskor_{bits}", type, 2, _two(lambda old, mask, data: old & ~mask | data)),
            Atomic(f"fcmpswap_{bits}", type, 2, _two(_float_swap(real))),
            _simple(f"fadd_{bits}", type, _float_add(real)),
            _simple(f"fmin_{bits}", type, _minimum(real, False)),
            _simple(f"fmax_{bits}", type, _minimum(real, True)),
        ]
    rows += [
        # Data 0 is the limit, data 1 what is added below it.
        Atomic(
            "wrap_32", I32, 2, _two(lambda old, limit, step: old.uge(limit).select(old - limit, old + step))
        ),
        _simple("condxchg_64", I64, _conditional_exchange),
        _simple("pk_add_f16", I32, _packed(_half_add)),
        _simple("pk_add_bf16", I32, _packed(_bfloat_add)),
    ]
    return rows


def _float_swap(real: Type) -> Callable[[Value, Value, Value], Value]:
    return lambda old, new, cmp: old.bitcast(real).eq(cmp.bitcast(real)).select(new, old)


ATOMICS = _table()
BY_NAME = {a.name: a for a in ATOMICS}
__all__ = ["ATOMICS", "BY_NAME", "Atomic"]
