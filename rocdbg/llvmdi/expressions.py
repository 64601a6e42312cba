"""Expressions: operations with checked parameters, and the typed tree that they build.

An expression works on a stack; what well-formed ones mean does not depend on it, so they are kept as trees: the
result is the root, an operation's inputs are its children.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.llvmdi.datalayout import DataLayout
from rocdbg.llvmdi.errors import NotWellFormed, Position
from rocdbg.llvmdi.module import Module, Node, Operand, RawOperation
from rocdbg.llvmdi.operations import OPERATIONS, SPELLINGS, OperationInfo
from rocdbg.llvmdi.types import FloatType, IntType, PointerType, Type, VectorType

__all__ = ["Expression", "Inputs", "Operation", "Tree", "is_diop", "parse_expression", "typed_tree"]

MAX_OPERATIONS = 4096
MAX_NESTING = 150
"""How deep a tree may be."""
MAX_LANES = 1 << 16
Argument = int | Type | Operand


class Operation(Struct, frozen=True):
    """An operation: `arguments` are as its row of the table says."""

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
        """Whether both do the same, wherever they are written."""
        return self.name == other.name and _plain(self.arguments) == _plain(other.arguments)


def _plain(arguments: tuple[Argument, ...]) -> tuple[object, ...]:
    return tuple(
        (item.kind, str(item.type), item.name, item.value) if isinstance(item, Operand) else str(item)
        for item in arguments
    )


class Expression(Struct, frozen=True):
    """The operations of a `DIExpr`, or of a `DIExpression` that consists of DIOps. Its fragment is apart."""

    operations: tuple[Operation, ...]
    offset: int = 0
    fragment: tuple[int, int] | None = None
    """(first bit, bits) of the variable, of a `DIOpFragment`."""

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
        """The operation's."""
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
    """What an expression may refer to: sizes in bits, None where it is not known or there is none.

    `has_referrer` says whether the lifetime segment is a bounded one.
    """

    has_referrer: bool = False
    referrer_bits: int | None = None
    arguments: tuple[int | None, ...] = ()
    is_property: bool = False
    """Whether it describes a type property."""
    object_bits: int | None = None
    has_lanes: bool = True


def is_diop(node: Node) -> bool:
    """Whether an expression is written in DIOps, and not in DWARF's operations."""
    return node.kind == "DIExpr" or any(
        raw.name.startswith("DIOp") or raw.name in SPELLINGS for raw in node.operations
    )


def parse_expression(module: Module, node: Node) -> Expression:
    """The operations of a node with their parameters checked; `NotWellFormed` if they are not in order."""
    if len(node.operations) > MAX_OPERATIONS:
        raise NotWellFormed(f"an expression of more than {MAX_OPERATIONS} operations", module.position(node.offset))
    operations: list[Operation] = []
    fragment: tuple[int, int] | None = None
    for raw in node.operations:
        operation = _operation(module, raw)
        if fragment is not None:
            raise NotWellFormed(
                "DIOpFragment is not the last operation", module.position(raw.offset), rule="DIOpFragment"
            )
        if operation.name == "DIOpFragment":
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
        # DIOpExtend(64, i64), DIOpSelect(64, i64) and DIOpRead(i32) say again what the stack says.
        arguments = arguments[: len(kinds)]
        spelled = True
    if spelled:
        _note(module, raw)
    if name == "DIOpConstant":
        if len(arguments) != 1 or not isinstance(arguments[0], Operand):
            raise _parameters(module, raw, "a type and a literal")
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
    words = f"'{raw.name}' with other parameters than its definition" if raw.name in OPERATIONS else f"'{raw.name}'"
    note = (raw.offset, words)
    if note not in module.spellings:
        module.spellings.append(note)


def _parameters(module: Module, raw: RawOperation, words: str) -> NotWellFormed:
    return NotWellFormed(f"{raw.name[:40]} takes {words}", module.position(raw.offset), rule=raw.name)


def typed_tree(module: Module, expression: Expression, inputs: Inputs) -> Tree:
    """The tree of an expression, with types; `NotWellFormed` names the rule that an operation breaks."""
    return _Typing(module, inputs).tree(expression)


class _Typing:
    """Types the operations of one expression."""

    def __init__(self, module: Module, inputs: Inputs) -> None:
        self.module = module
        self.layout: DataLayout = module.layout
        self.inputs = inputs
        self.at = 0
        self.name = ""

    def tree(self, expression: Expression) -> Tree:
        stack: list[Tree] = []
        for operation in expression.operations:
            self.at, self.name = operation.offset, operation.name
            try:
                count = self._count(operation)
                if len(stack) < count:
                    raise self.wrong(f"takes {count} entries, and the stack has {len(stack)}", "stack")
                children = tuple(stack[len(stack) - count :])
                del stack[len(stack) - count :]
                self._check_inputs(operation, children)
                type = self._type(operation, children)
                depth = 1 + max((child.depth for child in children), default=0)
                if depth > MAX_NESTING:
                    raise self.wrong(f"is nested more than {MAX_NESTING} deep", "limit")
                stack.append(Tree(operation, type, self.layout.bits(type), children, depth))
            except NotWellFormed as error:
                if error.position is None:
                    raise NotWellFormed(error.reason, self._position, error.rule or self.name) from None
                raise
        if len(stack) != 1:
            position = self.module.position(expression.offset)
            raise NotWellFormed(f"an expression leaves one entry on the stack, not {len(stack)}", position, "DIExpr")
        return stack[0]

    @property
    def _position(self) -> Position:
        return self.module.position(self.at)

    def wrong(self, words: str, rule: str = "") -> NotWellFormed:
        return NotWellFormed(f"{self.name} {words}", self._position, rule or self.name)

    @staticmethod
    def _count(operation: Operation) -> int:
        if operation.info.takes_count:
            count = operation.arguments[0]
            assert isinstance(count, int)
            return count
        return len(operation.info.inputs)

    def _check_inputs(self, operation: Operation, children: tuple[Tree, ...]) -> None:
        """What holds for inputs of all operations: implicit addresses, values that are undefined."""
        name = operation.name
        for child in children:
            if child.name == "DIOpAddrOf" and name != "DIOpDeref":
                raise self.wrong("is applied to an implicit address, which only DIOpDeref may be", "DIOpAddrOf")
        for child in self._read(name, children):
            operand = child.operation.arguments[0] if child.name == "DIOpConstant" else None
            if isinstance(operand, Operand) and operand.kind == "undef":
                raise self.wrong("reads an undefined value", "read")
            beyond = _beyond(child)
            if beyond is not None:
                raise self.wrong(f"reads {child.bits} bits from bit {beyond[0]} of {beyond[1]} bits", "read")

    @staticmethod
    def _read(name: str, children: tuple[Tree, ...]) -> tuple[Tree, ...]:
        """The inputs whose value an operation reads."""
        if name in ("DIOpReinterpret", "DIOpComposite", "DIOpExtend", "DIOpAddrOf"):
            return ()
        if name in ("DIOpBitOffset", "DIOpByteOffset", "DIOpSelect"):
            return children[-1:]
        return children

    def _type(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        method = getattr(self, "_" + operation.name, None) or self._arithmetic
        result: Type = method(operation, children)
        return result

    def _given(self, operation: Operation) -> Type:
        type = operation.arguments[-1]
        assert isinstance(type, Type)
        return type

    def _equal(self, type: Type, bits: int | None, what: str) -> Type:
        own = self.layout.bits(type)
        if bits is not None and own != bits:
            raise self.wrong(f"says {type} of {own} bits for {what} of {bits} bits")
        return type

    def _DIOpReferrer(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        if not self.inputs.has_referrer:
            raise self.wrong("stands in a lifetime segment that is not bounded, which has no referrer")
        return self._equal(self._given(operation), self.inputs.referrer_bits, "a referrer")

    def _DIOpArg(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        index = operation.arguments[0]
        assert isinstance(index, int)
        count = len(self.inputs.arguments)
        if index >= count:
            raise self.wrong(f"asks for input {index}, and there are {count}")
        return self._equal(self._given(operation), self.inputs.arguments[index], "an input")

    def _DIOpTypeObject(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        if not self.inputs.is_property:
            raise self.wrong("stands where no type property is evaluated")
        return self._equal(self._given(operation), self.inputs.object_bits, "an object")

    def _DIOpConstant(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        operand = operation.arguments[0]
        assert isinstance(operand, Operand)
        assert operand.type is not None
        return operand.type

    def _DIOpConvert(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        source, target = self._resolved(children[0].type), self._resolved(self._given(operation))
        for type in (source, target):
            if not isinstance(type, IntType | FloatType | PointerType | VectorType):
                raise self.wrong(f"has no conversion for {type}")
        lanes = [type.count if isinstance(type, VectorType) else None for type in (source, target)]
        if lanes[0] != lanes[1]:
            raise self.wrong(f"cannot convert {source} to {target}")
        return self._given(operation)

    def _extension(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        source, target = self._resolved(children[0].type), self._resolved(self._given(operation))
        if not isinstance(source, IntType) or not isinstance(target, IntType):
            raise self.wrong(f"takes integers, not {source} to {target}")
        if target.bits <= source.bits:
            raise self.wrong(f"needs a wider type than {source}")
        return target

    _DIOpSExt = _DIOpZExt = _extension

    def _DIOpReinterpret(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        return self._equal(self._given(operation), children[0].bits, "a location")

    def _offset(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        if not self._is_integral(children[1].type):
            raise self.wrong(f"takes an offset of an integral type, not {children[1].type}")
        return self._given(operation)

    _DIOpBitOffset = _DIOpByteOffset = _offset

    def _DIOpComposite(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        return self._equal(self._given(operation), sum(child.bits for child in children), "parts")

    def _scalar(self, type: Type) -> Type:
        if not isinstance(self._resolved(type), IntType | FloatType | PointerType):
            raise self.wrong(f"takes elements of an integral, floating point or pointer type, not {type}")
        return type

    def _DIOpExtend(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        count = operation.arguments[0]
        assert isinstance(count, int)
        if not 0 < count <= MAX_LANES:
            raise self.wrong(f"takes a count from 1 to {MAX_LANES}, not {count}")
        return VectorType(count, self._scalar(children[0].type))

    def _DIOpSelect(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        zero, one, mask = children
        type = self._resolved(zero.type)
        if not isinstance(type, VectorType) or self._resolved(one.type) != type:
            raise self.wrong(f"takes two vectors of one type, not {zero.type} and {one.type}")
        self._scalar(type.element)
        if mask.bits < type.count:
            raise self.wrong(f"takes a mask of at least {type.count} bits, not {mask.bits}")
        return type

    def _DIOpAddrOf(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        space = operation.arguments[0]
        assert isinstance(space, int)
        if space >= 1 << 24:
            raise self.wrong(f"names address space {space}, and LLVM has none above {(1 << 24) - 1}")
        return PointerType(space)

    def _DIOpDeref(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        child, type = children[0], self._given(operation)
        if not isinstance(self._resolved(child.type), PointerType):
            raise self.wrong(f"takes a pointer, not {child.type}")
        if child.name == "DIOpAddrOf" and self._resolved(child.children[0].type) != self._resolved(type):
            raise self.wrong(f"gives {type} to what an implicit address says is {child.children[0].type}")
        return type

    def _DIOpRead(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        return children[0].type

    def _arithmetic(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        second, top = (self._resolved(child.type) for child in children)
        if second != top:
            raise self.wrong(f"takes two operands of one type, not {children[0].type} and {children[1].type}")
        integral = operation.name not in ("DIOpAdd", "DIOpSub", "DIOpMul", "DIOpDiv")
        if integral and not self._is_integral(second):
            raise self.wrong(f"takes integral operands, not {second}")
        if not isinstance(second, IntType | FloatType | PointerType | VectorType):
            raise self.wrong(f"takes numbers, not {second}")
        return children[0].type

    def _DIOpPushLane(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        type = self._given(operation)
        if not self._is_integral(type):
            raise self.wrong(f"takes an integral type, not {type}")
        if not self.inputs.has_lanes:
            raise self.wrong("stands in a program without lanes")
        return type

    def _resolved(self, type: Type) -> Type:
        return self.layout.resolved(type)

    def _is_integral(self, type: Type) -> bool:
        return isinstance(self._resolved(type), IntType)


_SIZED = frozenset((
    "DIOpReferrer", "DIOpConstant", "DIOpRead", "DIOpConvert", "DIOpAdd", "DIOpSub", "DIOpMul", "DIOpDiv",
))  # fmt: skip
"""Operations whose storage is as large as what they give; of an input's it may be more, such as all of memory."""


def _beyond(tree: Tree) -> tuple[int, int] | None:
    """(first bit, bits of the storage) where constant offsets lead out of a storage whose size is known."""
    first, base = 0, tree
    while base.name in ("DIOpBitOffset", "DIOpByteOffset", "DIOpReinterpret"):
        if base.name != "DIOpReinterpret":
            amount = base.children[1]
            operand = amount.operation.arguments[0] if amount.name == "DIOpConstant" else None
            if not isinstance(operand, Operand) or operand.kind != "constant":
                return None
            number = operand.value - (1 << amount.bits if operand.value >> (amount.bits - 1) else 0)
            first += number * (8 if base.name == "DIOpByteOffset" else 1)
        base = base.children[0]
    if base.name not in _SIZED or (first >= 0 and first + tree.bits <= base.bits):
        return None
    return first, base.bits
