"""Characters and bytes to which a value leads, as convenience functions and ``printf`` request them."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.names.convenience_variables import MAX_STRING
from rocdbg.debugger.expr.value_access import decay, follow
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ArrayType, PointerType, Type, VectorType


class StringReader(Struct, frozen=True):
    """Reads at one place of the program; this is the `EvaluationHost` of convenience functions."""

    environment: Environment

    @property
    def frame(self) -> Frame | None:
        """The frame in which the expression is evaluated; ``None`` if there is none."""
        return self.environment.frame

    @property
    def bool_type(self) -> Type:
        """The type of a truth value in the language of the expression."""
        return self.environment.bool_type

    def read_string(self, value: Value, limit: int = MAX_STRING) -> bytes:
        """Return the characters of an array, or those at a pointer, up to the first null.

        Raises `ExpressionError` for other values.
        """
        value = follow(value, self.environment)
        is_text = not isinstance(value.bare, ArrayType) or c_types.is_char(value.bare.element)
        if isinstance(value.bare, ArrayType | VectorType) and is_text:
            return value.contents().split(b"\0")[0]
        if not isinstance(value.bare, PointerType) or not c_types.is_char(value.bare.target):
            raise ExpressionError(f"Trying to read string with inappropriate type `{value.bare}'.")
        space = value.bare.address_class or 0
        address = value.as_int()
        out = bytearray()
        while len(out) < limit:
            byte = self.environment.memory.read(space, address + len(out), 1)
            if byte == b"\0":
                break
            out += byte
        return bytes(out)

    def read_bytes(self, value: Value, size: int) -> bytes:
        """Return ``size`` bytes of an array, or at an address given by a pointer or a number.

        Raises `ExpressionError` if there are fewer.
        """
        value = decay(follow(value, self.environment))
        if c_types.is_integral(value.type):
            return self.environment.memory.read(0, value.as_int(), size)
        if isinstance(value.bare, PointerType):
            return self.environment.memory.read(value.bare.address_class or 0, value.as_int(), size)
        data = value.contents()
        if len(data) < size:
            raise ExpressionError(f"The value has only {len(data)} bytes.")
        return data[:size]

    def as_text(self, value: Value) -> str:
        """Return the text of a value as it is shown for a member of a structure; for an array, the text of a pointer to
        it.
        """
        return self.environment.convenience.text(decay(value) if isinstance(value.bare, ArrayType) else value)
