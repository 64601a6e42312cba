"""What is known of a variable at a place of the code before anything is read."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.dwarf.context import ExpressionLike
from rocdbg.dwarf.info import Unit, Variable
from rocdbg.dwarf.info.types import Type


class Known(Struct, frozen=True):
    """What is known of a variable at a place of the code, whatever the lane."""

    variable: Variable
    type: Type
    size: int
    """Bytes, 0 where they are not known."""
    expression: ExpressionLike | None
    unit: Unit
    is_own_unit: bool
    """Whether the frame's context is that of its unit."""
    may_be_dynamic: bool
