"""What an assignment stores: the value as the target's type."""

from __future__ import annotations

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.casting import cast, reinterpreted
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.operators import convert
from rocdbg.debugger.expr.value_access import decay, placed
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ArrayType, ClassType, PointerType, VectorType

_LONGEST = (1 << 64) - 1


def stored_value(target: Value, new: Value, environment: Environment) -> Value:
    """The new value in the target's type. Raises `ExpressionError` where it has none."""
    bare = target.bare
    if isinstance(bare, VectorType) and not isinstance(new.bare, ArrayType | ClassType):
        return convert(new, target.type)
    if isinstance(bare, ArrayType) and isinstance(new.bare, ArrayType):
        return _array(target, new)
    if isinstance(bare, ArrayType | ClassType | VectorType):
        return reinterpreted(target.type, new, environment)
    if isinstance(bare, PointerType) and c_types.is_float(new.type):
        return reinterpreted(target.type, new, environment)
    if isinstance(bare, PointerType):
        new = placed(new, environment)
    return cast(target.type, decay(new), environment, implicit=True)


def _array(target: Value, new: Value) -> Value:
    """An array as one of another length: behind a string nulls follow. Raises `ExpressionError` for a longer one."""
    if new.size == target.size:
        return new
    if new.address is not None:
        raise ExpressionError("Invalid cast.")
    if new.size > target.size:
        raise ExpressionError("Too many array elements")
    return Value(target.type, data=new.contents().ljust(target.size, b"\0"))


def bit_field_warning(target: Value, new: Value) -> str | None:
    """The warning for a number that a bit-field cannot hold."""
    bits = target.bit_size
    if bits is None or not c_types.is_integral(new.type):
        return None
    number = new.as_int() & _LONGEST
    mask = (1 << bits) - 1
    if not ~number & _LONGEST & ~(mask >> 1):
        return None  # what is negative in 64 bits, and fits with a sign
    if not number & ~mask:
        return None
    return f"Value does not fit in {bits} bits."
