"""The reference builder: interprets the primitives on Python integers, one lane after the other.

It exists for tests: slow, obvious, and independent of LLVM and of the host's arithmetic. A uniform value is an int (the
bits), a varying one a list with one int per lane. Floats are computed as fractions and rounded once. An operation that
produces a NaN gives the quiet NaN without payload.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rocdbg.sim.core import layout
from rocdbg.sim.core.builder import I1, I32, I64, INTEGER, Builder, Op, Type, Value
from rocdbg.sim.core.layout import ENV, EXEC_LO, WORDS, Status
from rocdbg.sim.core.wave import StateBlock

Number = Fraction | float
"""A float's value: a fraction, or a float for -0.0, infinities and NaN."""

_EXPONENT_BITS = {16: 5, 32: 8, 64: 11}


def decode_float(bits: int, type: Type) -> Number:
    """The value of a float's bits."""
    width, exponent_bits = type.bits, _EXPONENT_BITS[type.bits]
    fraction_bits = width - 1 - exponent_bits
    sign = -1 if bits >> (width - 1) else 1
    exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
    fraction = bits & (1 << fraction_bits) - 1
    if exponent == (1 << exponent_bits) - 1:
        return math.nan if fraction else sign * math.inf
    if exponent == 0 and fraction == 0:
        return -0.0 if sign < 0 else Fraction(0)
    if exponent:
        fraction |= 1 << fraction_bits
    bias = (1 << exponent_bits - 1) - 1 + fraction_bits
    return sign * Fraction(fraction) * Fraction(2) ** (max(exponent, 1) - bias)


def encode_float(value: Number, type: Type, mode: int = 0) -> int:
    """The bits of a value rounded to nearest, ties to even (``mode`` 0), toward +inf (1), -inf (2) or zero (3)."""
    width, exponent_bits = type.bits, _EXPONENT_BITS[type.bits]
    fraction_bits = width - 1 - exponent_bits
    top = (1 << exponent_bits) - 1
    if isinstance(value, float):
        if math.isnan(value):
            return top << fraction_bits | 1 << fraction_bits - 1
        sign = 1 if math.copysign(1, value) < 0 else 0
        return sign << width - 1 | (top << fraction_bits if math.isinf(value) else 0)
    sign, magnitude = int(value < 0), abs(value)
    if magnitude == 0:
        return 0
    bias = (1 << exponent_bits - 1) - 1
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    quantum = Fraction(2) ** (exponent - fraction_bits)
    away = mode == (2 if sign else 1)
    # Python rounds halves to even.
    steps = (
        round(magnitude / quantum) if not mode else (math.ceil if away else math.floor)(magnitude / quantum)
    )
    # A carry out of the significand increments the exponent by itself; a subnormal has exponent field 0.
    encoded = ((exponent + bias - 1) << fraction_bits) + steps
    largest = top << fraction_bits
    return sign << width - 1 | min(encoded, largest if away or not mode else largest - 1)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _special(value: Number) -> bool:
    return isinstance(value, float) and (math.isnan(value) or math.isinf(value))


def _add(a: Number, b: Number) -> Number:
    if _special(a) or _special(b):
        return float(a if _special(a) else 0) + float(b if _special(b) else 0)
    if a == 0 and b == 0:
        return -0.0 if isinstance(a, float) and isinstance(b, float) else Fraction(0)
    return Fraction(a) + Fraction(b)


def _sign(value: Number) -> int:
    return -1 if math.copysign(1, value) < 0 else 1


def _multiply(a: Number, b: Number) -> Number:
    if _special(a) or _special(b):
        return _unit(a) * _unit(b)
    if a == 0 or b == 0:
        return -0.0 if _sign(a) * _sign(b) < 0 else Fraction(0)
    return Fraction(a) * Fraction(b)


def _unit(value: Number) -> float:
    """A float of the same sign and class."""
    return float(value) if _special(value) or value == 0 else float(_sign(value))


def _divide(a: Number, b: Number) -> Number:
    if _special(a) or _special(b):
        if any(isinstance(x, float) and math.isnan(x) for x in (a, b)) or (_special(a) and _special(b)):
            return math.nan
        return _sign(a) * _sign(b) * (math.inf if _special(a) else 0.0)
    if b == 0:
        return math.nan if a == 0 else _sign(a) * _sign(b) * math.inf
    if a == 0:
        return _multiply(a, b)
    return Fraction(a) / Fraction(b)


def _square_root(a: Number, type: Type) -> Number:
    if _special(a):
        return math.nan if math.isnan(a) or a < 0 else math.inf
    if a == 0:
        return a
    if a < 0:
        return math.nan
    # Compute enough bits that rounding this down-rounded root, made odd if inexact, gives the right result.
    shift = 2 * (type.bits + 600)
    scaled = Fraction(a) * 2**shift
    root = math.isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(root * root) == scaled
    return Fraction(2 * root + (0 if exact else 1), 2 << shift // 2)


def _integral(a: Number, rounding: Callable[[Fraction], int]) -> Number:
    if isinstance(a, float):
        return a
    result = rounding(a)
    return -0.0 if result == 0 and a < 0 else Fraction(result)


def _to_integer(value: Number, low: int, high: int) -> int:
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        return 0 if value == 0 else (high if value > 0 else low)
    return max(low, min(high, math.trunc(value)))


_INTEGER: dict[Op, Callable[..., int]] = {
    Op.ADD: lambda n, a, b: a + b,
    Op.SUB: lambda n, a, b: a - b,
    Op.MUL: lambda n, a, b: a * b,
    Op.UDIV: lambda n, a, b: a // b,
    Op.UREM: lambda n, a, b: a % b,
    Op.AND: lambda n, a, b: a & b,
    Op.OR: lambda n, a, b: a | b,
    Op.XOR: lambda n, a, b: a ^ b,
    Op.SHL: lambda n, a, b: a << b,
    Op.LSHR: lambda n, a, b: a >> b,
    Op.ASHR: lambda n, a, b: _signed(a, n) >> b,
    Op.EQ: lambda n, a, b: a == b,
    Op.NE: lambda n, a, b: a != b,
    Op.ULT: lambda n, a, b: a < b,
    Op.ULE: lambda n, a, b: a <= b,
    Op.SLT: lambda n, a, b: _signed(a, n) < _signed(b, n),
    Op.SLE: lambda n, a, b: _signed(a, n) <= _signed(b, n),
    Op.UMIN: lambda n, a, b: min(a, b),
    Op.UMAX: lambda n, a, b: max(a, b),
    Op.SMIN: lambda n, a, b: min(_signed(a, n), _signed(b, n)),
    Op.SMAX: lambda n, a, b: max(_signed(a, n), _signed(b, n)),
    Op.CTPOP: lambda n, a: a.bit_count(),
    Op.CTLZ: lambda n, a: n - a.bit_length(),
    Op.CTTZ: lambda n, a: n if a == 0 else (a & -a).bit_length() - 1,
    Op.BITREVERSE: lambda n, a: int(f"{a:0{n}b}"[::-1], 2),
    Op.FSHL: lambda n, a, b, c: (a << n | b) << c % n >> n,
    Op.FSHR: lambda n, a, b, c: (a << n | b) >> c % n,
    Op.UADD_SAT: lambda n, a, b: min(a + b, (1 << n) - 1),
    Op.USUB_SAT: lambda n, a, b: max(a - b, 0),
    Op.SADD_SAT: lambda n, a, b: _saturate(_signed(a, n) + _signed(b, n), n),
    Op.SSUB_SAT: lambda n, a, b: _saturate(_signed(a, n) - _signed(b, n), n),
    Op.SELECT: lambda n, c, a, b: a if c else b,
    Op.ZEXT: lambda n, a: a,
    Op.TRUNC: lambda n, a: a,
    Op.BITCAST: lambda n, a: a,
    Op.FNEG: lambda n, a: a ^ 1 << n - 1,
    Op.FABS: lambda n, a: a & (1 << n - 1) - 1,
}


def _saturate(value: int, bits: int) -> int:
    return max(-(1 << bits - 1), min((1 << bits - 1) - 1, value))


_FLOAT_RESULT: dict[Op, Callable[..., Number]] = {
    Op.FADD: _add,
    Op.FSUB: lambda a, b: _add(a, _multiply(Fraction(-1), b)),
    Op.FMUL: _multiply,
    Op.FDIV: _divide,
    Op.FMA: lambda a, b, c: _add(_multiply(a, b), c),
    Op.FLOOR: lambda a: _integral(a, math.floor),
    Op.CEIL: lambda a: _integral(a, math.ceil),
    Op.FTRUNC: lambda a: _integral(a, math.trunc),
    Op.RINT: lambda a: _integral(a, round),
    Op.FPEXT: lambda a: a,
    Op.FPTRUNC: lambda a: a,
}
_FLOAT_COMPARE: dict[Op, Callable[[Number, Number], bool]] = {
    Op.FEQ: lambda a, b: a == b,
    Op.FLT: lambda a, b: a < b,
    Op.FLE: lambda a, b: a <= b,
    Op.FNE: lambda a, b: a != b,
    Op.FUNO: lambda a, b: math.isnan(a) or math.isnan(b),
}


def _sign_of_zero(op: Op, numbers: Sequence[Number]) -> Number:
    """The sign of an exact sum that is 0, rounded toward -inf: the sum is -0 unless both terms are +0."""
    terms = [_multiply(numbers[0], numbers[1]), numbers[2]] if op is Op.FMA else list(numbers)
    if op is Op.FSUB:
        terms[1] = _multiply(Fraction(-1), terms[1])
    return Fraction(0) if all(t == 0 and _sign(t) > 0 for t in terms) else -0.0


def compute(op: Op, type: Type, args: Sequence[tuple[Type, int]], mode: int = 0) -> int:
    """Compute one primitive on bits, given the operands' types and bits, the result type and the rounding; return the
    result's bits."""
    first = args[0][0]
    values = [bits for _, bits in args]
    if op in _INTEGER:
        return int(_INTEGER[op](args[-1][0].bits, *values)) & (1 << type.bits) - 1
    if op is Op.SEXT:
        return _signed(values[0], first.bits) & (1 << type.bits) - 1
    if op in (Op.SITOFP, Op.UITOFP):
        number = Fraction(_signed(values[0], first.bits) if op is Op.SITOFP else values[0])
        return encode_float(number, type, mode)
    numbers = [decode_float(bits, t) for t, bits in args]
    if op in _FLOAT_COMPARE:
        return int(_FLOAT_COMPARE[op](numbers[0], numbers[1]))
    if op is Op.FPTOSI:
        return _to_integer(numbers[0], -(1 << type.bits - 1), (1 << type.bits - 1) - 1) & (1 << type.bits) - 1
    if op is Op.FPTOUI:
        return _to_integer(numbers[0], 0, (1 << type.bits) - 1)
    if op is Op.SQRT:
        return encode_float(_square_root(numbers[0], type), type)
    result = _FLOAT_RESULT[op](*numbers)
    if mode == 2 and result == 0 and op in (Op.FADD, Op.FSUB, Op.FMA):
        result = _sign_of_zero(op, numbers)
    return encode_float(result, type, mode)


Call = Callable[[str, Sequence[int]], bool]
"""A routine of the runtime by name and arguments; True if it faulted."""


class Interrupted(Exception):
    """An instruction faulted: it has no effect."""


class ReferenceBuilder(Builder):
    """Executes semantics immediately on a wave's state block.

    ``block`` is the memory of the wave. After an instruction ``status`` says how it ended and ``next_pc`` where.
    """

    def __init__(self, block: StateBlock, wave_size: int, call: Call | None = None) -> None:
        self.state, self.engine, self.wave_size = *block, wave_size
        self.routines = call
        self.env: dict[str, int] = {
            "shared_aperture": layout.SHARED_APERTURE,
            "private_aperture": layout.PRIVATE_APERTURE,
        }
        self.data = [[0] * wave_size for _ in range(layout.MAX_DATA)]
        self.addresses = [0] * wave_size
        self.status = Status.CONTINUE
        self.counted = True
        self.next_pc = 0
        self._pc = 0

    def instruction(self, address: int, size: int) -> None:
        """Begin an instruction."""
        self._pc, self.next_pc = address, address + size
        self.status, self.counted = Status.CONTINUE, True

    # -- primitives --------------------

    def emit(self, op: Op, type: Type, args: Sequence[Value]) -> Value:
        self.check_exact(op, type)
        return self.emit_directed(op, type, args, 0)

    def emit_directed(self, op: Op, type: Type, args: Sequence[Value], mode: int) -> Value:
        def lane(n: int) -> int:
            return compute(op, type, [(a.type, self._bits(a, n)) for a in args], mode)

        if all(a.uniform for a in args):
            return self._value(type, lane(0), True)
        return self._value(type, [lane(n) for n in range(self.wave_size)], False)

    def contains(self, name: str, table: Sequence[int], key: Value, where: Value) -> Value:
        numbers = set(table)

        def found(lane: int) -> int:
            return int(bool(self._bits(where, lane)) and self._bits(key, lane) in numbers)

        return self._value(I1, found(0), True) if key.uniform and where.uniform else self._each(I1, found)

    def const(self, value: int | float, type: Type) -> Value:
        if type.is_float:
            special = not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0)
            number: Number = float(value) if special else Fraction(value)
            return self._value(type, encode_float(number, type), True)
        return self._value(type, int(value) & (1 << type.bits) - 1, True)

    def _value(self, type: Type, ref: int | list[int], uniform: bool) -> Value:
        return Value(self, type, ref, uniform)

    @staticmethod
    def _bits(value: Value, lane: int) -> int:
        if isinstance(value.ref, list):
            return int(value.ref[lane])
        assert isinstance(value.ref, int)
        return value.ref

    def _uniform(self, value: Value) -> int:
        if not value.uniform:
            raise TypeError(f"{value} differs by lane and is used where the wave is")
        return self._bits(value, 0)

    def _each(self, type: Type, function: Callable[[int], int]) -> Value:
        return self._value(type, [int(function(lane)) for lane in range(self.wave_size)], False)

    # -- lane code --------------------

    def lanes(self) -> None:
        """Do nothing: lanes are computed one by one anyway."""

    def scalar(self) -> None:
        """Do nothing, as `lanes`."""

    def lane_id(self) -> Value:
        return self._each(I32, lambda lane: lane)

    def lane_bit(self, mask: Value) -> Value:
        return self._each(I1, lambda lane: self._uniform(mask) >> lane & 1)

    def active(self) -> Value:
        return self.lane_bit(self.read_sgpr(EXEC_LO, self.wave_size // 32))

    def _vgpr(self, number: int) -> NDArray[np.uint32]:
        offset = layout.vgpr_offset(number, self.wave_size)
        return self.state[offset : offset + 4 * self.wave_size].view(np.uint32)

    def read_vgpr(self, number: int) -> Value:
        return self._value(I32, [int(x) for x in self._vgpr(number)], False)

    def write_vgpr(self, number: int, value: Value) -> None:
        mask = self._uniform(self.read_sgpr(EXEC_LO, self.wave_size // 32))
        target = self._vgpr(number)
        for lane in range(self.wave_size):
            if mask >> lane & 1:
                target[lane] = self._bits(value, lane)

    def _indexed(self, number: int, offset: Value) -> int | None:
        index = number + self._uniform(offset)
        return index if index < self._uniform(self.read_field("vgpr_limit")) else None

    def read_vgpr_at(self, number: int, offset: Value) -> Value:
        return self.read_vgpr(self._indexed(number, offset) or 0)

    def write_vgpr_at(self, number: int, offset: Value, value: Value) -> None:
        index = self._indexed(number, offset)
        if index is not None:
            self.write_vgpr(index, value)

    def read_lane_mask(self, code: int) -> Value:
        return self.lane_bit(self.read_sgpr(code, self.wave_size // 32))

    def write_lane_mask(self, code: int, bit: Value) -> None:
        mask = self._uniform(self.read_sgpr(EXEC_LO, self.wave_size // 32))
        bits = sum((self._bits(bit, lane) & mask >> lane & 1) << lane for lane in range(self.wave_size))
        self.write_sgpr(code, self.const(bits, self.mask_type))

    def read_data(self, dword: int) -> Value:
        return self._value(I32, list(self.data[dword]), False)

    def write_data(self, dword: int, value: Value) -> None:
        self.data[dword] = [self._bits(value, lane) for lane in range(self.wave_size)]

    def write_address(self, address: Value) -> None:
        self.addresses = [self._bits(address, lane) for lane in range(self.wave_size)]

    # -- scalar state --------------------

    def _cell(self, offset: int, size: int) -> NDArray[np.uint64]:
        block, at = (self.state, offset) if offset >= 0 else (self.engine, offset - layout.ENGINE_OFFSET)
        return block[at : at + size].view(f"<u{size}")

    def _load(self, offset: int, size: int) -> Value:
        return self._value(INTEGER[size * 8], int(self._cell(offset, size)[0]), True)

    def _store(self, offset: int, value: Value, size: int) -> None:
        self._cell(offset, size)[0] = self._uniform(value)

    def read_sgpr(self, code: int, dwords: int = 1) -> Value:
        low = self._load(layout.sgpr_offset(code), 4)
        if dwords == 1:
            return low
        return low.zext(I64) | self._load(layout.sgpr_offset(code + 1), 4).zext(I64).shl(32)

    def write_sgpr(self, code: int, value: Value) -> None:
        for n in range(value.type.bits // 32):
            self._store(layout.sgpr_offset(code + n), value.lshr(32 * n).trunc(I32), 4)

    def read_scc(self) -> Value:
        return self._load(WORDS["scc"].offset, 4).ne(0)

    def write_scc(self, bit: Value) -> None:
        self._store(WORDS["scc"].offset, bit, 4)

    def read_field(self, name: str) -> Value:
        return self._load(WORDS[name].offset, WORDS[name].size)

    def write_field(self, name: str, value: Value) -> None:
        self._store(WORDS[name].offset, value, WORDS[name].size)

    def read_env(self, name: str) -> Value:
        return self.const(self.env.get(name, 0), INTEGER[ENV[name].size * 8])

    def read_transfer(self, dword: int, lane: int = 0) -> Value:
        return self.const(self.data[dword][lane], I32)

    def write_scalar_address(self, address: Value) -> None:
        self.addresses[0] = self._uniform(address)

    def write_scalar_data(self, dword: int, value: Value) -> None:
        self.data[dword][0] = self._uniform(value)

    def pc(self) -> Value:
        return self.const(self._pc, I64)

    # -- whole-wave primitives --------------------

    def read_lane(self, vgpr: int, lane: Value) -> Value:
        return self.const(int(self._vgpr(vgpr)[self._uniform(lane) % self.wave_size]), I32)

    def write_lane(self, vgpr: int, lane: Value, value: Value) -> None:
        self._vgpr(vgpr)[self._uniform(lane) % self.wave_size] = self._uniform(value)

    def shuffle(self, vgpr: int, sources: Sequence[int | None], dword: int) -> None:
        old = self._vgpr(vgpr)
        self.data[dword] = [0 if s is None else int(old[s]) for s in sources]

    def permute_mask(self, mask: Value, sources: Sequence[int | None]) -> Value:
        bits = self._uniform(mask)
        moved = sum((bits >> s & 1) << lane for lane, s in enumerate(sources) if s is not None)
        return self.const(moved, self.mask_type)

    def call(self, helper: str, args: Sequence[Value]) -> None:
        if self.routines is None:
            raise TypeError(f"no routines were given, {helper} is called")
        if self.routines(helper, [self._uniform(a) for a in args]):
            raise Interrupted

    # -- control --------------------

    def branch(self, condition: Value | None, target: int) -> None:
        if condition is None or self._uniform(condition):
            self.next_pc = target

    def jump(self, target: Value) -> None:
        self.next_pc = self._uniform(target)

    def stop(self, status: int, target: Value | None = None, *, counted: bool = True) -> None:
        self.status, self.counted = Status(status), counted
        if target is not None:
            self.next_pc = self._uniform(target)

    def leave_if(self, condition: Value, status: int) -> None:
        if self._uniform(condition):
            self.status = Status(status)
