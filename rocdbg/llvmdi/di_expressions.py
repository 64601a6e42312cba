"""Expressions: operations with checked parameters, and the typed tree that they build.

An expression works on a stack. A well-formed one does not depend on what else is on the stack, so it is represented as
a tree: the root is the operation that gives the result, and the children of an operation are its inputs.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.llvmdi.di_operations import OPERATIONS, SPELLINGS, OperationInfo
from rocdbg.llvmdi.errors import NotWellFormed
from rocdbg.llvmdi.llvm_constants import settled
from rocdbg.llvmdi.llvm_types import Type
from rocdbg.llvmdi.module import Module, Node, Operand, RawOperation

__all__ = ["Expression", "Inputs", "Operation", "Tree", "is_diop", "parse_expression"]

MAX_OPERATIONS = 4096
MAX_NESTING = 150
"""The maximum depth of a tree."""
MAX_LANES = 1 << 16
Argument = int | Type | Operand


class Operation(Struct, frozen=True):
    """An operation, with `arguments` as its row of the table defines."""

    info: OperationInfo
    arguments: tuple[Argument, ...] = ()
    offset: int = 0

    @property
    def name(self) -> str:
        """`DIOpAdd`."""
        return self.info.name

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"

    def same_as(self, other: Operation) -> bool:
        """Whether both do the same, regardless of their positions in the text."""
        return self.meaning == other.meaning

    @property
    def meaning(self) -> tuple[object, ...]:
        """Equal for operations that do the same, regardless of their positions in the text."""
        return self.name, *_plain(self.arguments)


def _plain(arguments: tuple[Argument, ...]) -> tuple[object, ...]:
    return tuple(
        (item.kind, str(item.type), item.name, item.value) if isinstance(item, Operand) else str(item)
        for item in arguments
    )


class Expression(Struct, frozen=True):
    """The operations of a `DIExpr`, or of a `DIExpression` that consists of DIOps. Its fragment is kept separately."""

    operations: tuple[Operation, ...]
    offset: int = 0
    fragment: tuple[int, int] | None = None
    """(first bit, number of bits) of the variable, from a `DIOpFragment`."""

    def __str__(self) -> str:
        shown = [str(operation) for operation in self.operations]
        if self.fragment is not None:
            shown.append(f"DIOpFragment({self.fragment[0]}, {self.fragment[1]})")
        return f"!DIExpr({', '.join(shown)})"

    def same_as(self, other: Expression) -> bool:
        """Whether both consist of the same operations."""
        return (
            len(self.operations) == len(other.operations)
            and self.fragment == other.fragment
            and all(a.same_as(b) for a, b in zip(self.operations, other.operations, strict=True))
        )


class Tree(Struct, frozen=True):
    """An operation applied to its inputs: `children` in the order in which they were pushed."""

    operation: Operation
    type: Type
    bits: int
    children: tuple[Tree, ...] = ()
    depth: int = 1

    @property
    def name(self) -> str:
        """The name of its operation."""
        return self.operation.name

    def flat(self) -> list[Operation]:
        """The operations in the order of an expression."""
        found: list[Operation] = []
        pending: list[Tree | Operation] = [self]
        while pending:
            item = pending.pop()
            if isinstance(item, Tree):
                pending.append(item.operation)
                pending += reversed(item.children)
            else:
                found.append(item)
        return found


class Inputs(Struct, frozen=True):
    """What an expression may refer to, with sizes in bits; a size is None if it is not known or does not exist.

    `has_referrer` says whether the lifetime segment is a bounded one.
    """

    has_referrer: bool = False
    referrer_bits: int | None = None
    arguments: tuple[int | None, ...] = ()
    other_sizes: tuple[frozenset[int], ...] = ()
    """For each argument, the sizes of its other segments if they differ."""
    is_property: bool = False
    """Whether it describes a type property, or only the input of one."""
    object_bits: tuple[int | None, ...] = ()
    """Sizes of the types that have the property."""
    has_lanes: bool = True
    undefined: frozenset[int] = frozenset()
    """Arguments that never have a location."""
    addresses: frozenset[int] = frozenset()
    """Arguments that are an implicit address in some of their places."""
    referrer_is_undefined: bool = False


def is_diop(node: Node) -> bool:
    """Whether an expression is written in DIOps, and not in DWARF's operations."""
    return node.kind == "DIExpr" or any(
        raw.name.startswith("DIOp") or raw.name in SPELLINGS for raw in node.operations
    )


def parse_expression(module: Module, node: Node) -> Expression:
    """The operations of a node, with their parameters checked; raises `NotWellFormed` if a parameter is wrong."""
    if len(node.operations) > MAX_OPERATIONS:
        raise NotWellFormed(f"the expression has more than {MAX_OPERATIONS} operations", module.position(node.offset))
    operations: list[Operation] = []
    fragment: tuple[int, int] | None = None
    for raw in node.operations:
        operation = _operation(module, raw)
        if operation.name == "DIOpFragment":
            if fragment is not None:
                raise NotWellFormed(
                    "the expression has more than one DIOpFragment", module.position(raw.offset), rule="DIOpFragment"
                )
            start, size = operation.arguments
            assert isinstance(start, int)
            assert isinstance(size, int)
            fragment = start, size
        else:
            operations.append(operation)
    return Expression(tuple(operations), node.offset, fragment)


def _operation(module: Module, raw: RawOperation) -> Operation:
    name = SPELLINGS.get(raw.name, raw.name)
    info = OPERATIONS.get(name)
    if info is None:
        raise NotWellFormed(f"there is no operation '{raw.name[:40]}'", module.position(raw.offset), rule="DIExpr")
    arguments = [argument for argument in raw.arguments if not isinstance(argument, str)]
    expected = [parameter for parameter in info.parameters if parameter.kind != "literal"]
    spelled = name != raw.name
    kinds = [parameter.kind for parameter in info.parameters]
    if name == "DIOpArg" and len(arguments) == 1 and isinstance(arguments[0], Type):
        arguments.insert(0, 0)  # the lane PC listing's DIOpArg(i64)
        spelled = True
    elif name in ("DIOpExtend", "DIOpSelect", "DIOpRead") and arguments and isinstance(arguments[-1], Type):
        # DIOpExtend(64, i64), DIOpSelect(64, i64) and DIOpRead(i32) repeat what the stack states.
        arguments = arguments[: len(kinds)]
        spelled = True
    if spelled:
        _note(module, raw)
    if name == "DIOpConstant":
        if len(arguments) != 1 or not isinstance(arguments[0], Operand):
            raise _parameters(module, raw, "a type and a literal")
        try:
            arguments[0] = settled(arguments[0], module.layout)
        except NotWellFormed as error:
            raise _parameters(module, raw, f"a literal, but {error.args[0]}") from None
        if arguments[0].kind not in ("constant", "undef", "elided"):
            raise _parameters(module, raw, "a literal, not " + str(arguments[0])[:60])
        return Operation(info, tuple(arguments), raw.offset)
    if len(arguments) != len(expected):
        raise _parameters(module, raw, f"{len(expected)} parameters, not {len(arguments)}")
    for argument, parameter in zip(arguments, expected, strict=True):
        if isinstance(argument, Type) != (parameter.kind == "type") or isinstance(argument, Operand):
            wanted = {"type": "a type"}.get(parameter.kind, "a number")
            raise _parameters(module, raw, f"{wanted} for {parameter.name}")
    return Operation(info, tuple(arguments), raw.offset)


def _note(module: Module, raw: RawOperation) -> None:
    words = f"'{raw.name}' has other parameters than in its definition" if raw.name in OPERATIONS else f"'{raw.name}'"
    note = (raw.offset, words)
    if note not in module.spellings:
        module.spellings.append(note)


def _parameters(module: Module, raw: RawOperation, words: str) -> NotWellFormed:
    return NotWellFormed(f"{raw.name[:40]} takes {words}", module.position(raw.offset), rule=raw.name)
