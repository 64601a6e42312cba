"""The operators of the pseudocode on its typed values, conversions, and assignment."""

from __future__ import annotations

import re

from tests.sim.pcode import values as v
from tests.sim.pcode.scope import PcodeError, Place, Scope, Typed
from tests.sim.pcode.values import Value

_TYPE = re.compile(r"(bf|fp|u|i|f|b)(\d+)$")
_FLOAT8 = {"fp8": ("fp8", 8), "bf8": ("bf8", 8), "fp6": ("fp6", 6), "bf6": ("bf6", 6), "fp4": ("fp4", 4)}


def type_of(word: str) -> tuple[str, int] | None:
    if word in _FLOAT8:
        return _FLOAT8[word]
    match = _TYPE.fullmatch(word)
    return (match.group(1), int(match.group(2))) if match else None


def literal_value(token: str) -> Value:
    """A number: 8'255U, 16'0.0, 0x1FULL, 1.0F, 12."""
    width, digits = 0, token
    if "'" in token:
        before, digits = token.split("'")
        width = int(before)
    is_hex = digits.lower().startswith("0x")
    match = re.fullmatch(
        r"(-?(?:0x[0-9a-fA-F]+?|\d+\.\d+|\d+))(ULL|LL|U|F)?"
        if not is_hex
        else r"(-?0x[0-9a-fA-F]+)(ULL|LL|U)?",
        digits,
    )
    assert match is not None, token
    number, suffix = match.group(1), match.group(2) or ""
    if "." in number:
        return v.from_float(float(number), "f", width or (32 if suffix == "F" else 64), 0)
    bits = width or (64 if "LL" in suffix else 32)
    value = int(number, 0)
    bits = max(bits, value.bit_length() + ("U" not in suffix and not is_hex and not width))
    return Value("u" if "U" in suffix else "i", bits, value & (1 << bits) - 1)


def truth(value: Value) -> bool:
    return value.raw != 0


def flag(condition: object) -> Value:
    return Value("u", 1, int(bool(condition)))


def sliced(value: Value, low: int, width: int) -> Value:
    raw = v.signed(value) if value.kind == "i" else int(value.raw)  # type: ignore[call-overload]
    return Value("b", width, raw >> low & (1 << width) - 1)


def reinterpret(value: Value, kind: str, bits: int) -> Value:
    """The same bits as another type: truncated or, for integers, extended."""
    if value.kind == "sym":
        if kind == "b":
            return value
        return symbol_as(value, kind, bits)
    if value.kind == "pow2":
        return value
    raw = v.signed(value) if value.kind == "i" else int(value.raw)  # type: ignore[call-overload]
    return Value(kind, bits, raw & (1 << bits) - 1)


def symbol_as(value: Value, kind: str, bits: int) -> Value:
    form = v.FORMATS.get((kind, bits))
    if form is None or value.raw == "DENORM":
        return Value("sym", bits, value.raw)
    if value.raw == "INF":
        return Value(kind, bits, form.infinity)
    if value.raw == "-INF":
        return Value(kind, bits, form.infinity | 1 << bits - 1)
    if value.raw == "NAN":
        return Value(kind, bits, form.nan)
    return value


def cast(scope: Scope, value: Value, kind: str, bits: int) -> Value:
    """32'U(x): a conversion of the number."""
    if kind in ("f", "bf"):
        if value.kind in ("fp8", "bf8", "fp6", "bf6", "fp4"):
            return scope.names[f"{value.kind}_to_f32"](value)  # type: ignore[no-any-return]
        if value.kind in ("f", "bf"):
            converted = v.convert(value, kind, bits, scope.rounding(bits))
            if v.is_signaling(value) and bits > value.bits:  # 64'F(x) inside isSignalNAN
                converted.raw ^= v.format_of(converted).quiet  # type: ignore[operator]
            return converted
        if value.kind == "pow2" or value.kind == "sym":
            return value if value.kind == "pow2" else symbol_as(value, "f", bits)
        if value.kind == "b":
            return reinterpret(value, "f", bits)
        number = v.signed(value)
        return v.pack("f", bits, number < 0, abs(number), 0, scope.rounding(bits))
    if value.kind in ("f", "bf") and kind != "b":
        low, high = (0, (1 << bits) - 1) if kind == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
        return Value(kind, bits, v.to_integer(value, low, high) & (1 << bits) - 1)
    return reinterpret(value, kind, bits)


def concatenated(parts: list[Value]) -> Value:
    raw = bits = 0
    for part in parts:
        raw = raw << part.bits | int(part.raw)  # type: ignore[call-overload]
        bits += part.bits
    return Value("b", bits, raw)


def apply(operator: str, value: Value) -> Value:
    if operator == "!":
        return flag(not truth(value))
    if operator == "+":
        return value
    if value.kind == "sym":
        return Value("sym", value.bits, "-" + str(value.raw))
    raw = int(value.raw)  # type: ignore[call-overload]
    if operator == "-":
        if value.is_float:
            return Value(value.kind, value.bits, raw ^ 1 << value.bits - 1)
        return Value(value.kind, value.bits, -raw & (1 << value.bits) - 1)
    return Value(value.kind, value.bits, ~raw & (1 << value.bits) - 1)


def operate(scope: Scope, operator: str, a: Value, b: Value) -> Value:
    if operator in ("<<", ">>"):
        amount = min(v.signed(b), 4096)
        bits = max(a.bits, 32) if a.kind == "b" else a.bits
        raw = v.signed(a) << amount if operator == "<<" else v.signed(a) >> amount
        return Value(a.kind, bits, raw & (1 << bits) - 1)
    if operator == "**":
        return Value("pow2", 0, v.signed(b))
    if a.is_float or b.is_float:
        return operate_float(scope, operator, a, b)
    return operate_integer(operator, a, b)


def operate_integer(operator: str, a: Value, b: Value) -> Value:
    bits = max(a.bits, b.bits)
    wide = [x for x in (a, b) if x.bits == bits]
    kind = "u" if any(x.kind != "i" for x in wide) else "i"
    if operator in "+-*" and "b" in (a.kind, b.kind):
        bits = max(bits, 32)  # bit fields do not wrap
    mask = (1 << bits) - 1
    x, y = v.signed(a) & mask, v.signed(b) & mask
    if kind == "i":
        x, y = (n - (1 << bits) if n >> bits - 1 else n for n in (x, y))
    match operator:
        case "+":
            result = x + y
        case "-":
            result = x - y
        case "*":
            result = x * y
        case "&":
            result = x & y
        case "|":
            result = x | y
        case "^":
            result = x ^ y
        case "/":
            result = abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
        case "%":
            result = abs(x) % abs(y) * (-1 if x < 0 else 1)
        case "==":
            return flag(x == y)
        case "!=" | "<>":
            return flag(x != y)
        case "<":
            return flag(x < y)
        case ">":
            return flag(x > y)
        case "<=":
            return flag(x <= y)
        case ">=":
            return flag(x >= y)
        case _:
            raise PcodeError(f"operator {operator}")
    return Value(kind, bits, result & mask)


def operate_float(scope: Scope, operator: str, a: Value, b: Value) -> Value:
    if a.kind == "sym" and b.kind == "sym":
        return Value("sym", 0, f"{a.raw}{operator}{b.raw}")
    if "sym" in (a.kind, b.kind) and "PI" in (str(a.raw), str(b.raw)):
        return Value("sym", 0, "PI*2")
    if b.kind == "sym":
        if b.raw == "DENORM":
            return flag(v.is_subnormal(a) == (operator == "=="))
        b = symbol_as(b, a.kind, a.bits)
    if "pow2" in (a.kind, b.kind):
        number, power = (b, a) if a.kind == "pow2" else (a, b)
        return v.multiply(number.kind, number.bits, number, power, scope.rounding(number.bits))
    if a.kind not in ("f", "bf") or b.kind not in ("f", "bf"):
        raise PcodeError(f"{a!r} {operator} {b!r}")
    kind, bits = (a.kind, a.bits) if a.bits >= b.bits else (b.kind, b.bits)
    rounding = scope.rounding(bits)
    match operator:
        case "+":
            return v.add(kind, bits, a, b, rounding)
        case "-":
            return v.add(kind, bits, a, b, rounding, negate=1)
        case "*":
            return v.multiply(kind, bits, a, b, rounding)
        case "/":
            return v.divide(kind, bits, a, b, rounding)
    x, y = v.to_float(a), v.to_float(b)
    match operator:
        case "==":
            return flag(x == y)
        case "!=":
            return flag(x != y)
        case "<>":
            return flag(x < y or x > y)
        case "<":
            return flag(x < y)
        case ">":
            return flag(x > y)
        case "<=":
            return flag(x <= y)
        case ">=":
            return flag(x >= y)
        case _:
            raise PcodeError(f"operator {operator} on floats")


def assign(scope: Scope, place: Place, value: Value) -> None:
    """Store a value; it gets the type of the place."""
    storage, low, width, kind = place
    if value.kind == "sym" and kind is None:
        storage.store(low, width, value)
        return
    if kind is not None:
        if kind[0] in ("f", "bf"):
            if value.kind in ("f", "bf"):
                value = v.convert(value, *kind, scope.rounding(kind[1]))
            elif value.kind == "sym":
                value = symbol_as(value, *kind)
            else:
                value = reinterpret(value, *kind)
        else:
            value = reinterpret(value, *kind)
        if width is None and (low or isinstance(storage, Typed)):
            width = kind[1]
    storage.store(low, width, value)
