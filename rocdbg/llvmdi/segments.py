"""Lifetime segments: ways to find an object, and the instructions at which each is in force."""

from __future__ import annotations

from dataclasses import dataclass, field

from rocdbg.llvmdi.di_expressions import Expression, is_diop
from rocdbg.llvmdi.errors import NotWellFormed
from rocdbg.llvmdi.function_flow import Range, contains
from rocdbg.llvmdi.module import Function, Module, Node, Operand

__all__ = ["CODES", "OBJECTS", "PROPERTIES", "VARIABLES", "Occurrence", "Segment", "type_bits"]

VARIABLES = ("DILocalVariable", "DIGlobalVariable")
OBJECTS = (*VARIABLES, "DIFragment")
CODES = ("DILabel", "DIExprCode")
PROPERTIES = ("dataLocation", "associated", "rank", "allocated")
"""Fields of an array type that name a type property fragment; the specification has the first two and `rank`."""
_MAX_TYPE_CHAIN = 64


@dataclass(frozen=True, eq=False)
class Occurrence:
    """The position of a debug instruction."""

    function: Function
    index: int


@dataclass(eq=False)
class Segment:
    """A lifetime segment: one way to find an object, over a range of instructions or, if computed, anywhere.

    Segments of `DILifetime` have a `node`. The segments of `#dbg_value` and `#dbg_declare` have LLVM values as
    `arguments`, and `fragment` is the part of the variable that they describe.
    """

    object: Node | None
    node: Node | None = None
    location: Node | None = None
    arguments: tuple[Node | Operand | None, ...] = ()
    definitions: list[Occurrence] = field(default_factory=list)
    kills: list[Occurrence] = field(default_factory=list)
    referrer: Operand | None = None
    record: Occurrence | None = None
    translated: Expression | None = None
    """The expression, if it differs from the one in the text."""
    trouble: NotWellFormed | None = None
    """Why a record's expression has no translation."""
    fragment: tuple[int, int] | None = None
    inlined: Node | None = None
    """The DILocation at which a record's variable is inlined."""
    killed_by: frozenset[int] = frozenset()
    """The instructions that end it on some path on which no other instruction has ended it before."""
    ranges: tuple[Range, ...] = ()
    """The instructions of `function` at which it is active."""

    @property
    def is_bounded(self) -> bool:
        """Whether it is active over a range only."""
        return self.record is not None or bool(self.definitions or self.kills)

    @property
    def function(self) -> Function | None:
        """The function whose instructions bound it."""
        if self.record is not None:
            return self.record.function
        found = self.definitions or self.kills
        return found[0].function if found else None

    @property
    def is_killed(self) -> bool:
        """Whether a record says that the variable has no location: a value that its expression uses was removed.

        With DWARF's operations every value counts, as in LLVM; with DIOps only those that the expression uses.
        """
        if self.record is None:
            return False
        if self.translated is None or self.location is None or not is_diop(self.location):
            return any(isinstance(operand, Operand) and operand.kind == "undef" for operand in self.arguments)
        for operation in self.translated.operations:
            operand = self.referrer if operation.name == "DIOpReferrer" else None
            index = operation.arguments[0] if operation.name == "DIOpArg" else None
            if isinstance(index, int) and index < len(self.arguments):
                argument = self.arguments[index]
                operand = argument if isinstance(argument, Operand) else None
            if operand is not None and operand.kind == "undef":
                return True
        return False

    @property
    def name(self) -> str:
        """The segment's name in the text."""
        return f"!{self.node.name}" if self.node is not None and self.node.name else "segment"

    def is_active(self, function: Function, index: int) -> bool:
        """Whether it is active at an instruction."""
        return self.function is function and contains(self.ranges, index)


def type_bits(module: Module, node: Node | None) -> int | None:
    """Size in bits of a DIType; None if it is not stated."""
    for _ in range(_MAX_TYPE_CHAIN):
        if node is None:
            return None
        size = node.fields.get("size")
        if isinstance(size, int) and 0 < size < 1 << 40:
            return size
        node = module.node(node.fields.get("baseType"))
    return None
