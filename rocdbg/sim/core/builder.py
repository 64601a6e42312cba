"""The abstract builder: typed values and the few primitives that make up instruction semantics.

A semantic never computes anything itself. It adds, compares and selects values, and the builder behind these values
either records the operations (LLVM IR) or interprets them (reference). A vector instruction's semantic describes *one
lane*; builders repeat it over lanes as they like. A value is *uniform* when it is the same for the whole wave.

Integers have no sign; operations whose result depends on a sign have a signed and an unsigned form. Python ints and
floats mix in freely as constants of the other operand's type. Shift counts must be smaller than the width: mask them
first. Float arithmetic is IEEE 754 round-to-nearest-even without contraction, with subnormals; f16 operations round
once. The primitive determines the payload of a NaN result; rules for canonical NaNs belong to semantics.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from enum import Enum, auto
from typing import Union

from msgspec import Struct

from rocdbg.sim.core.mode_rounding import ModeRounding


class Type(Struct, frozen=True):
    """A scalar type; ``bits`` wide."""

    name: str
    bits: int
    is_float: bool = False

    def __repr__(self) -> str:
        return self.name.upper()


I1 = Type("i1", 1)
I8 = Type("i8", 8)
I16 = Type("i16", 16)
I32 = Type("i32", 32)
I64 = Type("i64", 64)
I128 = Type("i128", 128)
F16 = Type("f16", 16, True)
F32 = Type("f32", 32, True)
F64 = Type("f64", 64, True)

INTEGER = {t.bits: t for t in (I1, I8, I16, I32, I64, I128)}
FLOAT = {t.bits: t for t in (F16, F32, F64)}


class Op(Enum):
    """Primitives. Operands and result have the same type unless noted otherwise."""

    __hash__ = object.__hash__  # implemented in C: translating one instruction hashes dozens of members

    ADD = auto()
    SUB = auto()
    MUL = auto()
    UDIV = auto()  # divisor must not be 0
    UREM = auto()
    AND = auto()
    OR = auto()
    XOR = auto()
    SHL = auto()  # count < width
    LSHR = auto()
    ASHR = auto()
    EQ = auto()  # -> I1
    NE = auto()
    ULT = auto()
    ULE = auto()
    SLT = auto()
    SLE = auto()
    UMIN = auto()
    UMAX = auto()
    SMIN = auto()
    SMAX = auto()
    CTPOP = auto()
    CTLZ = auto()  # of 0: the width
    CTTZ = auto()  # of 0: the width
    BITREVERSE = auto()
    FSHL = auto()  # funnel shifts: (a:b) shifted by c modulo the width; high (FSHL) or low (FSHR) half
    FSHR = auto()
    UADD_SAT = auto()
    USUB_SAT = auto()
    SADD_SAT = auto()
    SSUB_SAT = auto()
    SELECT = auto()  # I1, T, T -> T
    ZEXT = auto()  # conversions: the result type is given
    SEXT = auto()
    TRUNC = auto()
    BITCAST = auto()
    FADD = auto()
    FSUB = auto()
    FMUL = auto()
    FDIV = auto()
    FMA = auto()  # one rounding
    SQRT = auto()
    FLOOR = auto()
    CEIL = auto()
    FTRUNC = auto()  # toward zero
    RINT = auto()  # ties to even
    FNEG = auto()  # sign bit only, NaN too
    FABS = auto()
    FEQ = auto()  # ordered compares -> I1
    FLT = auto()
    FLE = auto()
    FNE = auto()  # unordered or not equal -> I1
    FUNO = auto()  # either is NaN -> I1
    FPEXT = auto()
    FPTRUNC = auto()  # one rounding, ties to even
    FPTOSI = auto()  # toward zero, saturating, NaN -> 0
    FPTOUI = auto()
    SITOFP = auto()
    UITOFP = auto()


Operand = Union["Value", int, float]


class Value:
    """A typed value of some builder. Immutable; operators record into the builder that made it."""

    __slots__ = ("builder", "ref", "type", "uniform")

    def __init__(self, builder: Arithmetic, type: Type, ref: object, uniform: bool) -> None:
        self.builder, self.type, self.ref, self.uniform = builder, type, ref, uniform

    def __repr__(self) -> str:
        return f"<{self.type.name} {self.ref}>"

    def __bool__(self) -> bool:
        raise TypeError("a builder's value has no truth at translation time; use select()")

    __hash__ = None  # type: ignore[assignment]

    def _coerce(self, other: Operand) -> Value:
        if isinstance(other, Value):
            if other.type is not self.type:
                raise TypeError(f"operands are {self.type!r} and {other.type!r}")
            return other
        return self.builder.const(other, self.type)

    def _two(self, op: Op, other: Operand, result: Type | None = None) -> Value:
        return self.builder.emit(op, result or self.type, (self, self._coerce(other)))

    def _one(self, op: Op, result: Type | None = None) -> Value:
        return self.builder.emit(op, result or self.type, (self,))

    # arithmetic; + - * / are float operations on float values
    def __add__(self, other: Operand) -> Value:
        return self._two(Op.FADD if self.type.is_float else Op.ADD, other)

    def __sub__(self, other: Operand) -> Value:
        return self._two(Op.FSUB if self.type.is_float else Op.SUB, other)

    def __mul__(self, other: Operand) -> Value:
        return self._two(Op.FMUL if self.type.is_float else Op.MUL, other)

    def __truediv__(self, other: Operand) -> Value:
        return self._two(Op.FDIV, other)

    def __radd__(self, other: Operand) -> Value:
        return self._coerce(other) + self

    def __rsub__(self, other: Operand) -> Value:
        return self._coerce(other) - self

    def __rmul__(self, other: Operand) -> Value:
        return self._coerce(other) * self

    def __rtruediv__(self, other: Operand) -> Value:
        return self._coerce(other) / self

    def __neg__(self) -> Value:
        """Float: flips the sign bit. Integer: two's complement."""
        return self._one(Op.FNEG) if self.type.is_float else self._coerce(0) - self

    def __and__(self, other: Operand) -> Value:
        return self._two(Op.AND, other)

    def __or__(self, other: Operand) -> Value:
        return self._two(Op.OR, other)

    def __xor__(self, other: Operand) -> Value:
        return self._two(Op.XOR, other)

    __rand__ = __and__
    __ror__ = __or__
    __rxor__ = __xor__

    def __invert__(self) -> Value:
        return self._two(Op.XOR, -1)

    def shl(self, count: Operand) -> Value:
        return self._two(Op.SHL, count)

    def lshr(self, count: Operand) -> Value:
        return self._two(Op.LSHR, count)

    def ashr(self, count: Operand) -> Value:
        return self._two(Op.ASHR, count)

    def udiv(self, other: Operand) -> Value:
        return self._two(Op.UDIV, other)

    def urem(self, other: Operand) -> Value:
        return self._two(Op.UREM, other)

    # integer compares -> I1; == and != stay Python's
    def eq(self, other: Operand) -> Value:
        """Equal. Floats: ordered (false when either is NaN)."""
        return self._two(Op.FEQ if self.type.is_float else Op.EQ, other, I1)

    def ne(self, other: Operand) -> Value:
        """Not equal. Floats: true when either is NaN."""
        return self._two(Op.FNE if self.type.is_float else Op.NE, other, I1)

    def ult(self, other: Operand) -> Value:
        return self._two(Op.ULT, other, I1)

    def ule(self, other: Operand) -> Value:
        return self._two(Op.ULE, other, I1)

    def ugt(self, other: Operand) -> Value:
        return self._coerce(other).ult(self)

    def uge(self, other: Operand) -> Value:
        return self._coerce(other).ule(self)

    def slt(self, other: Operand) -> Value:
        return self._two(Op.SLT, other, I1)

    def sle(self, other: Operand) -> Value:
        return self._two(Op.SLE, other, I1)

    def sgt(self, other: Operand) -> Value:
        return self._coerce(other).slt(self)

    def sge(self, other: Operand) -> Value:
        return self._coerce(other).sle(self)

    # float compares, ordered
    def flt(self, other: Operand) -> Value:
        return self._two(Op.FLT, other, I1)

    def fle(self, other: Operand) -> Value:
        return self._two(Op.FLE, other, I1)

    def fgt(self, other: Operand) -> Value:
        return self._coerce(other).flt(self)

    def fge(self, other: Operand) -> Value:
        return self._coerce(other).fle(self)

    def unordered(self, other: Operand) -> Value:
        return self._two(Op.FUNO, other, I1)

    def is_nan(self) -> Value:
        return self._two(Op.FUNO, self, I1)

    def umin(self, other: Operand) -> Value:
        return self._two(Op.UMIN, other)

    def umax(self, other: Operand) -> Value:
        return self._two(Op.UMAX, other)

    def smin(self, other: Operand) -> Value:
        return self._two(Op.SMIN, other)

    def smax(self, other: Operand) -> Value:
        return self._two(Op.SMAX, other)

    def uadd_sat(self, other: Operand) -> Value:
        return self._two(Op.UADD_SAT, other)

    def usub_sat(self, other: Operand) -> Value:
        return self._two(Op.USUB_SAT, other)

    def sadd_sat(self, other: Operand) -> Value:
        return self._two(Op.SADD_SAT, other)

    def ssub_sat(self, other: Operand) -> Value:
        return self._two(Op.SSUB_SAT, other)

    def ctpop(self) -> Value:
        return self._one(Op.CTPOP)

    def ctlz(self) -> Value:
        """Leading zeros; the width for 0."""
        return self._one(Op.CTLZ)

    def cttz(self) -> Value:
        """Trailing zeros; the width for 0."""
        return self._one(Op.CTTZ)

    def bitreverse(self) -> Value:
        return self._one(Op.BITREVERSE)

    def fshl(self, low: Operand, count: Operand) -> Value:
        """High half of (self:low) << (count modulo the width)."""
        return self.builder.emit(Op.FSHL, self.type, (self, self._coerce(low), self._coerce(count)))

    def fshr(self, low: Operand, count: Operand) -> Value:
        """Low half of (self:low) >> (count modulo the width)."""
        return self.builder.emit(Op.FSHR, self.type, (self, self._coerce(low), self._coerce(count)))

    def select(self, yes: Operand, no: Operand) -> Value:
        """``yes`` where this I1 is set, else ``no``; one of them must be a Value."""
        if isinstance(yes, Value):
            no = yes._coerce(no)
        elif isinstance(no, Value):
            yes = no._coerce(yes)
        else:
            raise TypeError("select() of two plain numbers: give one as builder.const()")
        return self.builder.emit(Op.SELECT, yes.type, (self, yes, no))

    # conversions
    def zext(self, type: Type) -> Value:
        return self if type is self.type else self._one(Op.ZEXT, type)

    def sext(self, type: Type) -> Value:
        return self if type is self.type else self._one(Op.SEXT, type)

    def trunc(self, type: Type) -> Value:
        return self if type is self.type else self._one(Op.TRUNC, type)

    def bitcast(self, type: Type) -> Value:
        """The same bits as another type of the same width."""
        return self if type is self.type else self._one(Op.BITCAST, type)

    def bits(self) -> Value:
        """The same bits as an integer."""
        return self.bitcast(INTEGER[self.type.bits]) if self.type.is_float else self

    def fpext(self, type: Type) -> Value:
        return self if type is self.type else self._one(Op.FPEXT, type)

    def fptrunc(self, type: Type) -> Value:
        """Narrow with one rounding, to nearest even."""
        return self if type is self.type else self._one(Op.FPTRUNC, type)

    def fptosi(self, type: Type) -> Value:
        """Toward zero, saturating, NaN gives 0."""
        return self._one(Op.FPTOSI, type)

    def fptoui(self, type: Type) -> Value:
        """Toward zero, saturating, NaN gives 0."""
        return self._one(Op.FPTOUI, type)

    def sitofp(self, type: Type) -> Value:
        return self._one(Op.SITOFP, type)

    def uitofp(self, type: Type) -> Value:
        return self._one(Op.UITOFP, type)

    # float
    def fma(self, factor: Operand, addend: Operand) -> Value:
        """self * factor + addend, rounded once."""
        return self.builder.emit(Op.FMA, self.type, (self, self._coerce(factor), self._coerce(addend)))

    def sqrt(self) -> Value:
        return self._one(Op.SQRT)

    def floor(self) -> Value:
        return self._one(Op.FLOOR)

    def ceil(self) -> Value:
        return self._one(Op.CEIL)

    def ftrunc(self) -> Value:
        """Round toward zero, staying float."""
        return self._one(Op.FTRUNC)

    def rint(self) -> Value:
        """Round to nearest, ties to even, staying float."""
        return self._one(Op.RINT)

    def fabs(self) -> Value:
        return self._one(Op.FABS)


ROUNDING = frozenset((Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.FMA, Op.SQRT, Op.FPTRUNC, Op.SITOFP, Op.UITOFP))
"""Primitives whose result may be inexact."""


class InexactError(Exception):
    """A primitive that rounds to nearest is used where the instruction rounds otherwise."""


class Arithmetic(ModeRounding):
    """What values record into: the primitives."""

    keeps_signaling: bool = False
    """Whether signaling NaNs pass through arithmetic unchanged (MODE.IEEE is clear, before GFX12)."""

    def check_exact(self, op: Op, type: Type) -> None:
        """Raise InexactError if ``op`` would round to nearest in an instruction that rounds otherwise."""
        if op in ROUNDING and self.rounding_of(type):
            raise InexactError(f"{op.name} to {type.name}")

    @abstractmethod
    def contains(self, name: str, table: Sequence[int], key: Value, where: Value) -> Value:
        """Whether the sorted ``table`` of I32 numbers, called ``name``, holds ``key`` (I32) and ``where`` (I1) is true.

        For rare cases: it costs one branch if ``where`` holds in no lane, and otherwise a search per lane."""

    @abstractmethod
    def const(self, value: int | float, type: Type) -> Value:
        """A constant. Ints wrap to the width; for float types a Python number is rounded to the type."""


class Builder(Arithmetic):
    """The primitives, and the wave's state.

    State access is by hardware numbers. ``read_vgpr`` and friends are legal only inside *lane code* (between
    ``lanes()`` and ``scalar()``) and apply to the current lane. Scalar state may be accessed anywhere.
    """

    wave_size: int

    @property
    def mask_type(self) -> Type:
        """I32 or I64: an integer with a bit per lane."""
        return I64 if self.wave_size == 64 else I32

    # lane code
    @abstractmethod
    def lanes(self) -> None:
        """Enter lane code (does nothing inside it)."""

    @abstractmethod
    def scalar(self) -> None:
        """Leave lane code: afterwards the state holds the results of the lanes."""

    @abstractmethod
    def lane_id(self) -> Value:
        """Number of the current lane, I32."""

    @abstractmethod
    def lane_bit(self, mask: Value) -> Value:
        """The current lane's bit in a uniform mask, I1."""

    @abstractmethod
    def active(self) -> Value:
        """The current lane's EXEC bit, I1."""

    @abstractmethod
    def read_vgpr(self, number: int) -> Value:
        """I32. AGPR n is VGPR number 256 + n."""

    @abstractmethod
    def write_vgpr(self, number: int, value: Value) -> None:
        """Write I32 in active lanes."""

    @abstractmethod
    def read_vgpr_at(self, number: int, offset: Value) -> Value:
        """I32: VGPR ``number + offset`` (uniform I32); v0 if the wave has no such register. Call `scalar` and re-enter
        lane code before using this or `write_vgpr_at`."""

    @abstractmethod
    def write_vgpr_at(self, number: int, offset: Value, value: Value) -> None:
        """Write VGPR ``number + offset`` in active lanes; do nothing if the wave has no such register. `scalar` must
        follow before any other register is read."""

    @abstractmethod
    def read_lane_mask(self, code: int) -> Value:
        """The current lane's bit of the mask in SGPR ``code`` (and ``code + 1`` in wave64), I1."""

    @abstractmethod
    def write_lane_mask(self, code: int, bit: Value) -> None:
        """Collect the current lane's bit into the mask at SGPR ``code``; inactive lanes give 0."""

    @abstractmethod
    def read_data(self, dword: int) -> Value:
        """The current lane's dword of the transfer buffer, I32."""

    @abstractmethod
    def write_data(self, dword: int, value: Value) -> None:
        """Write the current lane's dword of the transfer buffer (active or not)."""

    @abstractmethod
    def write_address(self, address: Value) -> None:
        """Set the current lane's address for a memory access, I64."""

    # scalar state
    @abstractmethod
    def read_sgpr(self, code: int, dwords: int = 1) -> Value:
        """I32 (1), I64 (2). Codes as in `layout`."""

    @abstractmethod
    def write_sgpr(self, code: int, value: Value) -> None:
        """Write I32 or I64."""

    @abstractmethod
    def read_scc(self) -> Value:
        """I1."""

    @abstractmethod
    def write_scc(self, bit: Value) -> None:
        """I1."""

    @abstractmethod
    def read_field(self, name: str) -> Value:
        """A field of the state's header (`layout.HEADER`), I32 or I64."""

    @abstractmethod
    def write_field(self, name: str, value: Value) -> None:
        """Write a field of the state's header."""

    @abstractmethod
    def read_env(self, name: str) -> Value:
        """A field of the environment (`layout.ENV`), I32 or I64."""

    @abstractmethod
    def pc(self) -> Value:
        """Address of the current instruction, I64."""

    # whole-wave primitives, outside lane code
    @abstractmethod
    def read_lane(self, vgpr: int, lane: Value) -> Value:
        """The dword of VGPR ``vgpr`` in lane ``lane`` (uniform I32, taken modulo the wave size), regardless of EXEC."""

    @abstractmethod
    def write_lane(self, vgpr: int, lane: Value, value: Value) -> None:
        """Set the dword of one lane, regardless of EXEC."""

    @abstractmethod
    def shuffle(self, vgpr: int, sources: Sequence[int | None], dword: int) -> None:
        """Put the permuted lanes of VGPR ``vgpr`` into dword ``dword`` of the transfer buffer: lane L gets the value of
        lane ``sources[L]``, or 0 for None."""

    @abstractmethod
    def permute_mask(self, mask: Value, sources: Sequence[int | None]) -> Value:
        """A mask (wave-size integer) whose bit L is bit ``sources[L]`` of ``mask``, or 0 for None."""

    @abstractmethod
    def call(self, helper: str, args: Sequence[Value]) -> None:
        """Call a runtime routine (see `routine_names`); a fault it reports ends the instruction without effect."""

    @abstractmethod
    def read_transfer(self, dword: int, lane: int = 0) -> Value:
        """A dword of the transfer buffer, outside lane code, I32."""

    @abstractmethod
    def write_scalar_address(self, address: Value) -> None:
        """Set the I64 address for a scalar memory access."""

    @abstractmethod
    def write_scalar_data(self, dword: int, value: Value) -> None:
        """Write lane 0's dword of the transfer buffer, outside lane code."""

    # control
    @abstractmethod
    def branch(self, condition: Value | None, target: int) -> None:
        """End the instruction: pc becomes the constant address ``target`` if ``condition`` holds (None: always)."""

    @abstractmethod
    def jump(self, target: Value) -> None:
        """End the instruction: pc becomes ``target`` (I64)."""

    @abstractmethod
    def stop(self, status: int, target: Value | None = None, *, counted: bool = True) -> None:
        """End the instruction and return ``status``; pc becomes ``target``, default the next instruction.

        ``counted``: whether the instruction counts as executed.
        """

    @abstractmethod
    def leave_if(self, condition: Value, status: int) -> None:
        """Return ``status`` after this instruction, which is counted, if the condition (uniform I1) holds; otherwise
        continue. Must be called outside lane code, as the last thing that the instruction does."""
