"""Writes LLVM IR for the builder's primitives, on scalars and on vectors of lanes.

`Writer` knows types, constants and primitives, but nothing about waves. A uniform value is an LLVM scalar, a varying
one a vector of ``width`` lanes. f16 operations are computed in f32 or f64, which are wide enough that rounding twice
equals rounding once, so that results do not depend on whether the host has f16 arithmetic.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from rocdbg.sim.core.builder import F16, F32, F64, I1, I32, INTEGER, Arithmetic, InexactError, Op, Type, Value

_NAMES = {"f16": "half", "f32": "float", "f64": "double"}

_BINARY = {
    Op.ADD: "add", Op.SUB: "sub", Op.MUL: "mul", Op.UDIV: "udiv", Op.UREM: "urem", Op.AND: "and", Op.OR: "or",
    Op.XOR: "xor", Op.SHL: "shl", Op.LSHR: "lshr", Op.ASHR: "ashr", Op.FADD: "fadd", Op.FSUB: "fsub",
    Op.FMUL: "fmul", Op.FDIV: "fdiv",
}
_COMPARE = {
    Op.EQ: "icmp eq", Op.NE: "icmp ne", Op.ULT: "icmp ult", Op.ULE: "icmp ule", Op.SLT: "icmp slt", Op.SLE: "icmp sle",
    Op.FEQ: "fcmp oeq", Op.FLT: "fcmp olt", Op.FLE: "fcmp ole", Op.FNE: "fcmp une", Op.FUNO: "fcmp uno",
}
_CONVERT = {
    Op.ZEXT: "zext", Op.SEXT: "sext", Op.TRUNC: "trunc", Op.BITCAST: "bitcast", Op.FPEXT: "fpext",
    Op.FPTRUNC: "fptrunc", Op.SITOFP: "sitofp", Op.UITOFP: "uitofp",
}
_INTRINSIC = {
    Op.UMIN: "umin", Op.UMAX: "umax", Op.SMIN: "smin", Op.SMAX: "smax", Op.CTPOP: "ctpop", Op.BITREVERSE: "bitreverse",
    Op.FSHL: "fshl", Op.FSHR: "fshr", Op.UADD_SAT: "uadd.sat", Op.USUB_SAT: "usub.sat", Op.SADD_SAT: "sadd.sat",
    Op.SSUB_SAT: "ssub.sat", Op.FMA: "fma", Op.SQRT: "sqrt", Op.FLOOR: "floor", Op.CEIL: "ceil", Op.FTRUNC: "trunc",
    Op.RINT: "rint",
}
_SHIFTS = frozenset((Op.SHL, Op.LSHR, Op.ASHR))
_DIVISIONS = frozenset((Op.UDIV, Op.UREM))
_VIA_F32 = frozenset((Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.SQRT, Op.FLOOR, Op.CEIL, Op.FTRUNC, Op.RINT))
_FLOAT_COMPARES = frozenset((Op.FEQ, Op.FLT, Op.FLE, Op.FNE, Op.FUNO))


_SAME_INTEGERS = {
    **dict.fromkeys((
        Op.ADD, Op.SUB, Op.MUL, Op.UDIV, Op.UREM, Op.AND, Op.OR, Op.XOR, Op.SHL, Op.LSHR, Op.ASHR, Op.UMIN, Op.UMAX,
        Op.SMIN, Op.SMAX, Op.UADD_SAT, Op.USUB_SAT, Op.SADD_SAT, Op.SSUB_SAT,
    ), 2),
    **dict.fromkeys((Op.CTPOP, Op.CTLZ, Op.CTTZ, Op.BITREVERSE), 1), Op.FSHL: 3, Op.FSHR: 3,
}
"""Primitives on integers of one type, with their number of operands; then those on floats."""
_SAME_FLOATS = {
    **dict.fromkeys((Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV), 2), Op.FMA: 3,
    **dict.fromkeys((Op.SQRT, Op.FLOOR, Op.CEIL, Op.FTRUNC, Op.RINT, Op.FNEG, Op.FABS), 1),
}


def well_typed(op: Op, type: Type, types: Sequence[Type]) -> bool:
    """Whether a primitive exists for these operand types and this result type."""
    first = types[0]
    if op in _SAME_INTEGERS:
        return not type.is_float and len(types) == _SAME_INTEGERS[op] and all(t is type for t in types)
    if op in _SAME_FLOATS:
        return type.is_float and len(types) == _SAME_FLOATS[op] and all(t is type for t in types)
    if op in _COMPARE:
        return type is I1 and len(types) == 2 and first is types[1] and first.is_float == (op in _FLOAT_COMPARES)
    if op is Op.SELECT:
        return len(types) == 3 and first is I1 and types[1] is type and types[2] is type
    if len(types) != 1:
        return False
    match op:
        case Op.ZEXT | Op.SEXT:
            return not first.is_float and not type.is_float and first.bits < type.bits
        case Op.TRUNC:
            return not first.is_float and not type.is_float and first.bits > type.bits
        case Op.BITCAST:
            return first.bits == type.bits
        case Op.FPEXT:
            return first.is_float and type.is_float and first.bits < type.bits
        case Op.FPTRUNC:
            return first.is_float and type.is_float and first.bits > type.bits
        case Op.FPTOSI | Op.FPTOUI:
            return first.is_float and not type.is_float
        case Op.SITOFP | Op.UITOFP:
            return not first.is_float and type.is_float
    return False


def float_literal(value: float, type: Type) -> str:
    """A float constant as LLVM writes it, after rounding to ``type``."""
    if type is F16:
        return f"0xH{int.from_bytes(struct.pack('<e', value), 'little'):04X}"
    if type is F32:
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{int.from_bytes(struct.pack('<d', value), 'little'):016X}"


def int_literal(value: int, type: Type) -> str:
    """An integer constant, wrapped to the width."""
    value &= (1 << type.bits) - 1
    if type is I1:
        return "true" if value else "false"
    return str(value - (1 << type.bits) if value >> (type.bits - 1) else value)


def scalar_type(type: Type) -> str:
    return _NAMES.get(type.name, type.name)


class Constant(str):
    """A reference that is a literal."""

    __slots__ = ()


class Bounded(str):
    """A reference to an integer that is known to be at most ``most``, unsigned."""

    __slots__ = ("most",)

    most: int


_SMALL = 256
"""Only bounds below this are recorded: they are used to prove that a shift count is below the width."""


def most(value: Value) -> int:
    """A known upper bound of an integer's unsigned value."""
    if isinstance(value.ref, Bounded):
        return value.ref.most
    if isinstance(value.ref, Constant):
        text = str(value.ref)
        return {"true": 1, "false": 0}[text] if value.type is I1 else int(text) & (1 << value.type.bits) - 1
    return (1 << value.type.bits) - 1


def _bound(op: Op, type: Type, args: Sequence[Value]) -> int:
    """The upper bound of the result of a primitive on integers."""
    every = (1 << type.bits) - 1
    match op:
        case Op.AND | Op.UMIN:
            return min(most(args[0]), most(args[1]))
        case Op.OR | Op.XOR:
            return (1 << max(most(args[0]), most(args[1])).bit_length()) - 1
        case Op.UMAX:
            return max(most(args[0]), most(args[1]))
        case Op.SELECT:
            return max(most(args[1]), most(args[2]))
        case Op.ZEXT | Op.TRUNC:
            return min(most(args[0]), every)
        case Op.CTPOP | Op.CTLZ | Op.CTTZ:
            return type.bits
        case Op.ADD:
            return min(most(args[0]) + most(args[1]), every)
        case Op.SUB if isinstance(args[0].ref, Constant) and most(args[1]) <= most(args[0]):
            return most(args[0])
        case Op.LSHR if isinstance(args[1].ref, Constant):
            return most(args[0]) >> most(args[1])
        case Op.SHL if isinstance(args[1].ref, Constant):
            return min(most(args[0]) << most(args[1]), every)
        case Op.UREM:
            return min(max(0, most(args[1]) - 1), most(args[0]))
    return every


class Writer(Arithmetic):
    """Emits primitives. ``lines`` receives uniform code, ``lane_lines`` varying code."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self._counter = 0
        self._splats: dict[str, str] = {}
        self.directed: dict[str, str] = {}
        """Functions and tables of `emit_directed` and `contains`, by name."""

    # -- names and text --------------------

    def fresh(self, stem: str = "v") -> str:
        self._counter += 1
        return f"%{stem}{self._counter}"

    def text_type(self, type: Type, uniform: bool) -> str:
        """The text of a type: a scalar of `builder.Type`, or a vector with one element per lane. Only this function
        converts types to text. Vectors of one element are avoided because LLVM's code generator asserts on them.
        """
        name = scalar_type(type)
        if uniform:
            return name
        if self.width < 2:
            raise TypeError("a lane's value is used where there are no lanes")
        return f"<{self.width} x {name}>"

    def put(self, uniform: bool, line: str) -> None:
        """Append a line to the uniform or the lane code."""
        (self.lines if uniform else self.lane_lines()).append(line)

    def lane_lines(self) -> list[str]:
        """The list that receives lane code."""
        raise TypeError("no lane code here")

    def new(self, type: Type, uniform: bool, text: str) -> Value:
        """A new value defined by the instruction ``text``."""
        name = self.fresh()
        self.put(uniform, f"{name} = {text}")
        return Value(self, type, name, uniform)

    def const(self, value: int | float, type: Type) -> Value:
        if type.is_float:
            return Value(self, type, Constant(float_literal(float(value), type)), True)
        if isinstance(value, float):
            raise TypeError(f"{value} is not an integer")
        return Value(self, type, Constant(int_literal(value, type)), True)

    def constant(self, value: Value) -> int | None:
        """The value of an integer constant, or None if it is not known."""
        if isinstance(value.ref, Constant) and not value.type.is_float:
            text = str(value.ref)
            number = {"true": 1, "false": 0}.get(text)
            return (int(text) if number is None else number) & ((1 << value.type.bits) - 1)
        return None

    def ref(self, value: Value, uniform: bool) -> str:
        """The value's name, splatted to a vector if it is uniform and a vector is needed."""
        name = str(value.ref)
        if value.uniform == uniform:
            return name
        if not value.uniform:
            raise TypeError(f"{value} differs by lane and is used where the wave is")
        scalar = scalar_type(value.type)
        if isinstance(value.ref, Constant):
            return "<" + ", ".join([f"{scalar} {name}"] * self.width) + ">"
        splat = self._splats.get(name)
        if splat is None:
            vector = self.text_type(value.type, False)
            first, splat = self.fresh("i"), self.fresh("s")
            self.lines.append(f"{first} = insertelement {vector} poison, {scalar} {name}, i32 0")
            self.lines.append(
                f"{splat} = shufflevector {vector} {first}, {vector} poison, <{self.width} x i32> zeroinitializer"
            )
            self._splats[name] = splat
        return splat

    def declare(self, name: str, result: str, args: Sequence[str]) -> None:
        self.declarations.add(f"declare {result} @{name}({', '.join(args)})")

    # -- primitives --------------------

    def emit(self, op: Op, type: Type, args: Sequence[Value]) -> Value:
        """As `Arithmetic.emit`. Meaningless operations (on operands of other types) raise an error here, because LLVM
        would abort the process. Operations that are undefined in LLVM are defined here: shifts are by the count modulo
        the width (by less than the width where that is not a power of two), divisors are at least 1.
        """
        if not well_typed(op, type, [a.type for a in args]):
            raise TypeError(f"{op.name} of {', '.join(a.type.name for a in args)} to {type.name}")
        self.check_exact(op, type)
        if op in _SHIFTS and most(args[1]) >= type.bits:
            limit = type.bits - 1  # routines of matrices have integers of 320 and 576 bits
            args = (args[0], args[1].umin(limit) if type.bits & limit else args[1] & limit)
        elif op in _DIVISIONS and self.constant(args[1]) is None:
            args = (args[0], args[1].umax(1))
        result = self._emit(op, type, args)
        if type.bits > 1 and not type.is_float and result.ref.__class__ is str:
            bound = _bound(op, type, args)
            if bound < _SMALL:
                name = Bounded(result.ref)
                name.most = bound
                return Value(self, type, name, result.uniform)
        return result

    def _emit(self, op: Op, type: Type, args: Sequence[Value]) -> Value:
        folded = _fold(self, op, type, args)
        if folded is not None:
            return folded
        if type is F16 or any(a.type is F16 for a in args):
            # the steps in wider types are exact, or such that rounding their result amounts to rounding once
            with self.nearest():
                special = self._half(op, type, args)
            if special is not None:
                return special
        uniform = all(a.uniform for a in args)
        t = self.text_type(args[-1].type, uniform)
        refs = [self.ref(a, uniform) for a in args]
        if op in _BINARY:
            return self.new(type, uniform, f"{_BINARY[op]} {t} {refs[0]}, {refs[1]}")
        if op in _COMPARE:
            return self.new(type, uniform, f"{_COMPARE[op]} {t} {refs[0]}, {refs[1]}")
        if op in _CONVERT:
            return self.new(type, uniform, f"{_CONVERT[op]} {t} {refs[0]} to {self.text_type(type, uniform)}")
        if op is Op.SELECT:
            c = self.text_type(I1, uniform)
            return self.new(type, uniform, f"select {c} {refs[0]}, {t} {refs[1]}, {t} {refs[2]}")
        if op is Op.FNEG:
            return self.new(type, uniform, f"fneg {t} {refs[0]}")
        if op is Op.FABS:
            magnitude = args[0].bits() & (1 << type.bits - 1) - 1
            return magnitude.bitcast(type)
        if op in (Op.FPTOSI, Op.FPTOUI):
            return self._intrinsic(
                "fptosi.sat" if op is Op.FPTOSI else "fptoui.sat", type, args, refs, uniform, True
            )
        if op in (Op.CTLZ, Op.CTTZ):
            return self._intrinsic(op.name.lower(), type, args, [*refs, "i1 false"], uniform, False)
        return self._intrinsic(_INTRINSIC[op], type, args, refs, uniform, False)

    def _intrinsic(
        self, name: str, type: Type, args: Sequence[Value], refs: list[str], uniform: bool, two_types: bool
    ) -> Value:
        result = self.text_type(type, uniform)
        prefix = "" if uniform else f"v{self.width}"
        full = f"llvm.{name}.{prefix}{type.name}"
        if two_types:
            full += f".{prefix}{args[0].type.name}"
        kinds = [self.text_type(a.type, uniform) for a in args] + ["i1"] * (len(refs) - len(args))
        self.declare(full, result, kinds)
        texts = [f"{k} {r}" if not r.startswith("i1 ") else r for k, r in zip(kinds, refs, strict=True)]
        return self.new(type, uniform, f"call {result} @{full}({', '.join(texts)})")

    # -- tables --------------------

    def contains(self, name: str, table: Sequence[int], key: Value, where: Value) -> Value:
        uniform = key.uniform and where.uniform
        function = f"rocdbg.contains.{name}" if uniform else f"rocdbg.contains.{name}.v{self.width}"
        if function not in self.directed:
            self.directed[f"{name}.table"] = _table(name, table)
            if uniform:
                self.directed[function] = _search(function, name, len(table))
            else:
                self.declare("llvm.cttz.i64", "i64", ["i64", "i1"])
                self.directed[function] = _search_lanes(function, name, len(table), self.width)
        texts = ", ".join(f"{self.text_type(a.type, uniform)} {self.ref(a, uniform)}" for a in (key, where))
        return self.new(I1, uniform, f"call {self.text_type(I1, uniform)} @{function}({texts})")

    # -- directed rounding --------------------

    def emit_directed(self, op: Op, type: Type, args: Sequence[Value], mode: int) -> Value:
        """Apply a primitive with directed rounding. f32 and f64 use the host's rounding mode, in separate functions so
        that no other code can be moved to where the mode is changed. f16 is computed in f64: rounding twice in the same
        direction is rounding once.
        """
        if type is F16:
            if op is Op.FPTRUNC:
                wide = args[0].fpext(F64)
            else:
                wider = args if op in (Op.SITOFP, Op.UITOFP) else [a.fpext(F64) for a in args]
                wide = self.emit_directed(op, F64, wider, mode)
            return _narrow_half(wide, mode)
        if op in (Op.FDIV, Op.SQRT):
            raise InexactError(f"{op.name} to {type.name}")
        uniform = all(a.uniform for a in args)
        prefix = "" if uniform else f"v{self.width}"
        name = f"rocdbg.{op.name.lower()}.{prefix}{type.name}.{prefix}{args[0].type.name}.{mode}"
        result = self.text_type(type, uniform)
        kinds = [self.text_type(a.type, uniform) for a in args]
        if name not in self.directed:
            self.directed[name] = self._directed_function(
                name, op, result, kinds, type, args[0].type, prefix, mode
            )
        texts = ", ".join(f"{k} {self.ref(a, uniform)}" for k, a in zip(kinds, args, strict=True))
        return self.new(type, uniform, f"call {result} @{name}({texts})")

    def _directed_function(
        self,
        name: str,
        op: Op,
        result: str,
        kinds: list[str],
        type: Type,
        source: Type,
        prefix: str,
        mode: int,
    ) -> str:
        suffix = f"{prefix}{type.name}"
        if op in (Op.FPTRUNC, Op.SITOFP, Op.UITOFP):
            suffix += f".{prefix}{source.name}"
        operation = f"llvm.experimental.constrained.{op.name.lower()}.{suffix}"
        self.declare(operation, result, [*kinds, "metadata", "metadata"])
        self.declare("llvm.set.rounding", "void", ["i32"])
        parameters = ", ".join(f"{k} %a{n}" for n, k in enumerate(kinds))
        # LLVM numbers the modes 0 zero, 1 nearest, 2 +inf, 3 -inf.
        lines = [
            f"define internal {result} @{name}({parameters}) #1 {{",
            f"call void @llvm.set.rounding(i32 {(1, 2, 3, 0)[mode]}) #2",
            f'%r = call {result} @{operation}({parameters}, metadata !"round.dynamic", '
            'metadata !"fpexcept.strict") #2',
            "call void @llvm.set.rounding(i32 1) #2",
            f"ret {result} %r",
            "}",
        ]
        return "\n".join(lines)

    # -- f16 --------------------

    def _half(self, op: Op, type: Type, args: Sequence[Value]) -> Value | None:
        """f16 computed in wider types. f32 has 24 >= 2 * 11 + 2 bits: rounding twice equals rounding once.

        For fma, adding a third f16 to the product of two in f64 does not lose a bit that could break a tie.
        """
        if op in _VIA_F32:
            return self.emit(op, F32, [a.fpext(F32) for a in args]).fptrunc(F16)
        if op in _FLOAT_COMPARES:
            return self.emit(op, type, [a.fpext(F32) for a in args])
        if op is Op.FMA:
            return self.emit(op, F64, [a.fpext(F64) for a in args]).fptrunc(F16)
        if op is Op.FPEXT and type is F64:
            return args[0].fpext(F32).fpext(F64)
        if op is Op.FPTRUNC and args[0].type is F64:
            return _round_to_odd(args[0]).fptrunc(F16)
        if op in (Op.FPTOSI, Op.FPTOUI):
            return self.emit(op, type, [args[0].fpext(F32)])
        if op in (Op.SITOFP, Op.UITOFP):
            # Integers of up to 24 bits are exact in f32; larger ones become infinite in f16 anyway.
            return self.emit(op, F32, args).fptrunc(F16)
        if op is Op.FNEG:
            return (args[0].bits() ^ 0x8000).bitcast(F16)
        return None


def _narrow_half(wide: Value, mode: int) -> Value:
    """f64 to f16, rounded toward +inf (1), -inf (2) or zero (3)."""
    near = wide.fptrunc(F16)
    back, bits = near.fpext(F64), near.bits()
    negative = (bits & 0x8000).ne(0)
    up = bits.eq(0x8000).select(1, negative.select(bits - 1, bits + 1))
    down = bits.eq(0).select(0x8001, negative.select(bits + 1, bits - 1))
    if mode == 1:
        moved = back.flt(wide).select(up, bits)
    elif mode == 2:
        moved = wide.flt(back).select(down, bits)
    else:
        moved = wide.fabs().flt(back.fabs()).select(bits - 1, bits)
    return wide.is_nan().select(bits, moved).bitcast(F16)


def _round_to_odd(value: Value) -> Value:
    """f64 to f32 such that rounding the result again equals rounding once."""
    near = value.fptrunc(F32)
    back = near.fpext(F64)
    bits = near.bits()
    keep = back.eq(value) | value.is_nan() | (bits & 1).ne(0)
    toward = back.fabs().fgt(value.fabs()).select(bits - 1, bits + 1)
    return keep.select(bits, toward).bitcast(F32)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


_FOLDS: dict[Op, Callable[[int, int, int], int]] = {
    Op.ADD: lambda a, b, n: a + b,
    Op.SUB: lambda a, b, n: a - b,
    Op.MUL: lambda a, b, n: a * b,
    Op.AND: lambda a, b, n: a & b,
    Op.OR: lambda a, b, n: a | b,
    Op.XOR: lambda a, b, n: a ^ b,
    Op.SHL: lambda a, b, n: a << b,
    Op.LSHR: lambda a, b, n: a >> b,
    Op.ASHR: lambda a, b, n: _signed(a, n) >> b,
    Op.EQ: lambda a, b, n: int(a == b),
    Op.NE: lambda a, b, n: int(a != b),
    Op.ULT: lambda a, b, n: int(a < b),
    Op.ULE: lambda a, b, n: int(a <= b),
    Op.SLT: lambda a, b, n: int(_signed(a, n) < _signed(b, n)),
    Op.SLE: lambda a, b, n: int(_signed(a, n) <= _signed(b, n)),
}


def _fold(writer: Writer, op: Op, type: Type, args: Sequence[Value]) -> Value | None:
    """Fold integer constants here, because no optimiser processes the text."""
    first = writer.constant(args[0])
    if len(args) == 2 and op in _FOLDS:
        second = writer.constant(args[1])
        for known, other in ((first, args[1]), (second, args[0])):
            if known is not None and op in (Op.AND, Op.OR) and known in (0, (1 << type.bits) - 1):
                # the constant is 0 or all ones: the result is the other operand or the constant
                return other if (known == 0) is (op is Op.OR) else writer.const(known, type)
        if second is None:
            return None
        if first is not None:
            return writer.const(_FOLDS[op](first, second, args[0].type.bits), type)
        if second == 0 and op in (Op.ADD, Op.SUB, Op.OR, Op.XOR, Op.SHL, Op.LSHR, Op.ASHR):
            return args[0]
        return None
    if first is None:
        return None
    if op in (Op.ZEXT, Op.TRUNC):
        return writer.const(first, type)
    if op is Op.SEXT:
        return writer.const(_signed(first, args[0].type.bits), type)
    if op is Op.SELECT:
        return args[1] if first else args[2]
    if op is Op.BITCAST and type in (F16, F32, F64):
        return _float_constant(writer, first, type)
    return None


def _float_constant(writer: Writer, bits: int, type: Type) -> Value | None:
    exponent = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF << 52}[type.bits]
    if bits & exponent == exponent:
        return None  # NaN payloads would not survive the conversion to a host float
    code = {16: "e", 32: "f", 64: "d"}[type.bits]
    return writer.const(struct.unpack(f"<{code}", bits.to_bytes(type.bits // 8, "little"))[0], type)


__all__ = ["I32", "INTEGER", "Constant", "Writer", "float_literal", "int_literal", "scalar_type"]


def _table(name: str, table: Sequence[int]) -> str:
    return f"@{name} = private constant [{len(table)} x i32] [{', '.join(f'i32 {n}' for n in table)}]"


def _search_loop(table: str, count: int, before: str) -> str:
    """Blocks of a binary search for ``%key``, entered from block ``before``; ``found`` begins with whether ``%same``
    holds."""
    return f"""search:
  %low = phi i64 [ 0, %{before} ], [ %low.next, %search ]
  %length = phi i64 [ {count}, %{before} ], [ %length.next, %search ]
  %half = lshr i64 %length, 1
  %middle = add i64 %low, %half
  %at.middle = getelementptr [{count} x i32], ptr @{table}, i64 0, i64 %middle
  %there = load i32, ptr %at.middle
  %beyond = icmp ule i32 %there, %key
  %low.next = select i1 %beyond, i64 %middle, i64 %low
  %length.next = sub i64 %length, %half
  %more = icmp ugt i64 %length.next, 1
  br i1 %more, label %search, label %found
found:
  %at = getelementptr [{count} x i32], ptr @{table}, i64 0, i64 %low.next
  %value = load i32, ptr %at
  %same = icmp eq i32 %value, %key"""


def _search(function: str, table: str, count: int) -> str:
    """Return a function of a key, and of a condition that decides whether to search for the key."""
    return f"""define internal i1 @{function}(i32 %key, i1 %where) noinline #0 {{
entry:
  br i1 %where, label %search, label %done
{_search_loop(table, count, "entry")}
  br label %done
done:
  %answer = phi i1 [ false, %entry ], [ %same, %found ]
  ret i1 %answer
}}"""


def _search_lanes(function: str, table: str, count: int, width: int) -> str:
    """A function of keys and conditions: a binary search for each lane whose condition holds."""
    lanes, keys, conditions = f"i{width}", f"<{width} x i32>", f"<{width} x i1>"
    return f"""define internal {conditions} @{function}({keys} %keys, {conditions} %where) noinline #0 {{
entry:
  %wanted.lanes = bitcast {conditions} %where to {lanes}
  %wanted = zext {lanes} %wanted.lanes to i64
  %any = icmp ne i64 %wanted, 0
  br i1 %any, label %lane, label %done
lane:
  %left = phi i64 [ %wanted, %entry ], [ %left.next, %found ]
  %result = phi i64 [ 0, %entry ], [ %result.next, %found ]
  %number = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %key = extractelement {keys} %keys, i64 %number
  br label %search
{_search_loop(table, count, "lane")}
  %bit = zext i1 %same to i64
  %bits = shl i64 %bit, %number
  %result.next = or i64 %result, %bits
  %below = sub i64 %left, 1
  %left.next = and i64 %left, %below
  %again = icmp ne i64 %left.next, 0
  br i1 %again, label %lane, label %done
done:
  %all = phi i64 [ 0, %entry ], [ %result.next, %found ]
  %narrow = trunc i64 %all to {lanes}
  %answer = bitcast {lanes} %narrow to {conditions}
  ret {conditions} %answer
}}"""
