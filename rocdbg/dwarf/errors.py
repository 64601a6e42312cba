"""Errors in DWARF. The specification distinguishes two kinds.

*Ill-formed* means that the producer broke a rule, regardless of the state of the program. An *evaluation error* means
that the expression is fine, but cannot be evaluated here and now: a context element is missing, storage is undefined or
too small, a limit was reached.
"""

from __future__ import annotations

from rocdbg.errors import Error

__all__ = [
    "DecodeError", "DwarfError", "EvaluationError", "IllFormed", "LimitExceeded", "UndefinedValue", "missing_address"
]


class DwarfError(Error):
    """Base class of what `rocdbg.dwarf` reports (A.2.5).

    `reason` is the message; `operation` the name of the operation or instruction, or None; `offset` the bytes from the
    start of the expression or of the section, or None. If the error occurred while evaluating an attribute of an entry,
    `attribute` is the attribute's name and `entry` names the entry ("k at .debug_info+0x40"); otherwise both are None.
    """

    def __init__(self, reason: str, *, operation: str | None = None, offset: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.operation = operation
        self.offset = offset
        self.attribute: str | None = None
        self.entry: str | None = None

    def locate(self, operation: str | None, offset: int) -> None:
        """Fill in operation and offset (bytes), unless a nested evaluation (A.2.5.4.2) has already done so."""
        if self.offset is None:
            self.operation = operation
            self.offset = offset

    def concern(self, attribute: str, entry: str) -> None:
        """Fill in the attribute and the entry (A.3 to A.5), unless they are already set because this attribute required
        another one, whose evaluation failed.
        """
        if self.attribute is None:
            self.attribute, self.entry = attribute, entry

    @property
    def detail(self) -> str:
        """The problem and the operation at which it occurred (A.2.5), without the attribute."""
        if self.offset is None:
            return self.reason if self.operation is None else f"{self.operation}: {self.reason}"
        prefix = f"{self.operation} " if self.operation else ""
        return f"{prefix}at offset {self.offset:#x}: {self.reason}"

    def __str__(self) -> str:
        return self.detail if self.attribute is None else f"{self.attribute} of {self.entry}: {self.detail}"


class IllFormed(DwarfError):
    """The DWARF breaks a rule of the specification (A.2.5: "then the DWARF expression is ill-formed")."""


class DecodeError(IllFormed):
    """The bytes are not a sequence of operations or entries (A.7.7): unknown code, or the data ends too early."""


class EvaluationError(DwarfError):
    """A well-formed expression cannot be evaluated (A.2.5), or a location cannot be read or written."""


class UndefinedValue(EvaluationError):
    """The requested bits do not exist: they belong to the undefined location (A.2.5.4.4.2)."""


class LimitExceeded(EvaluationError):
    """An expression (A.2.5.4) exceeded a limit that stops hostile input: steps, stack, calls, nesting."""


def missing_address(index: int, count: int) -> str:
    """The message about an index that exceeds the ``count`` addresses of a unit in .debug_addr (A.2.5.4.3.1)."""
    return f"there is no address {index} in .debug_addr: the unit has {count} addresses"
