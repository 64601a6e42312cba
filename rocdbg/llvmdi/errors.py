"""The errors in LLVM debug information that the specification distinguishes, and further ones of our own.

In the specification, an expression or metadata that is *not well-formed* has no meaning; an evaluation may *encounter
an error*.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.errors import Error
from rocdbg.text import printable

__all__ = ["EvaluationError", "LlvmDiError", "LoweringError", "NotWellFormed", "Position", "ReadError"]


class Position(Struct, frozen=True):
    """A place in a file of LLVM assembly: line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class LlvmDiError(Error):
    """Base class of what `rocdbg.llvmdi` reports. `reason` is the message, `position` the place or None."""

    def __init__(self, reason: str, position: Position | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position

    def __str__(self) -> str:
        # The message may contain names from a hostile file.
        return printable(self.reason if self.position is None else f"{self.position}: {self.reason}")


class ReadError(LlvmDiError):
    """The text is not LLVM assembly, or exceeds a limit that stops hostile input."""


class NotWellFormed(LlvmDiError):
    """The debug information breaks a rule of the specification ("is not well-formed"); `rule` names the rule."""

    def __init__(self, reason: str, position: Position | None = None, rule: str = "") -> None:
        super().__init__(reason, position)
        self.rule = rule


class EvaluationError(LlvmDiError):
    """A well-formed expression cannot be evaluated here and now."""


class LoweringError(LlvmDiError):
    """An expression has no DWARF form, or the location of an operand is not known."""
