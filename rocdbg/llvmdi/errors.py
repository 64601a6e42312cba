"""What can be wrong with LLVM debug information, in the three ways the text tells apart, and one of ours.

The text: an expression or metadata that is *not well-formed* has no meaning; an evaluation may *encounter an error*.
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
    """Base class of what `rocdbg.llvmdi` reports. `reason` are the words, `position` where, or None."""

    def __init__(self, reason: str, position: Position | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position

    def __str__(self) -> str:
        # Names out of a hostile file may be in the words.
        return printable(self.reason if self.position is None else f"{self.position}: {self.reason}")


class ReadError(LlvmDiError):
    """The text is not a LLVM assembly, or beyond a limit that ends hostile input."""


class NotWellFormed(LlvmDiError):
    """The debug information breaks a rule of the text ("is not well-formed"); `rule` names the rule."""

    def __init__(self, reason: str, position: Position | None = None, rule: str = "") -> None:
        super().__init__(reason, position)
        self.rule = rule


class EvaluationError(LlvmDiError):
    """A well-formed expression cannot be evaluated here and now."""


class LoweringError(LlvmDiError):
    """An expression has no DWARF form, or it is not known where something is."""
