"""Types expressions: makes the tree that an expression's operations build, and checks what "is not well-formed" in
each.

There is one method for each operation, named after it.
"""

from __future__ import annotations

from rocdbg.llvmdi.datalayout import DataLayout
from rocdbg.llvmdi.di_expressions import MAX_LANES, MAX_NESTING, Expression, Inputs, Operation, Tree
from rocdbg.llvmdi.errors import NotWellFormed, Position
from rocdbg.llvmdi.llvm_types import FloatType, IntType, PointerType, Type, VectorType
from rocdbg.llvmdi.module import Module, Operand
from rocdbg.llvmdi.undefined_bits import unreadable

__all__ = ["typed_tree"]


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
                    raise self.wrong(f"takes {count} stack entries, but the stack has {len(stack)}", "stack")
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
            raise NotWellFormed(
                f"an expression must leave one entry on the stack, not {len(stack)}", position, "DIExpr"
            )
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
        """Check the rules for inputs of all operations, about implicit addresses and undefined values."""
        name = operation.name
        for child in children:
            is_address = child.name == "DIOpAddrOf" or (
                child.name == "DIOpArg" and child.operation.arguments[0] in self.inputs.addresses
            )
            if is_address and name != "DIOpDeref":
                raise self.wrong("cannot be applied to an implicit address; only DIOpDeref can", "DIOpAddrOf")
        for child in self._read(name, children):
            trouble = unreadable(child, self.inputs)
            if trouble is not None:
                raise self.wrong(f"reads {trouble}", "read")

    @staticmethod
    def _read(name: str, children: tuple[Tree, ...]) -> tuple[Tree, ...]:
        """The inputs whose values an operation reads."""
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
            raise self.wrong(f"gives the type {type}, which has {own} bits, to {what} of {bits} bits")
        return type

    def _DIOpReferrer(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        if not self.inputs.has_referrer:
            raise self.wrong("cannot be used in a lifetime segment that is not bounded, because it has no referrer")
        return self._equal(self._given(operation), self.inputs.referrer_bits, "a referrer")

    def _DIOpArg(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        index = operation.arguments[0]
        assert isinstance(index, int)
        count = len(self.inputs.arguments)
        if index >= count:
            raise self.wrong(f"asks for input {index}, but there are {count} inputs")
        type = self._equal(self._given(operation), self.inputs.arguments[index], "an input")
        for bits in sorted(self.inputs.other_sizes[index]) if self.inputs.other_sizes else ():
            self._equal(type, bits, "an input that has a segment")
        return type

    def _DIOpTypeObject(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        if not self.inputs.is_property:
            raise self.wrong("can be used only in the expression of a type property")
        type = self._given(operation)
        for bits in (*self.inputs.object_bits, None):
            self._equal(type, bits, "an object")
        return type

    def _DIOpConstant(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        operand = operation.arguments[0]
        assert isinstance(operand, Operand)
        assert operand.type is not None
        return operand.type

    def _DIOpConvert(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        source, target = self._resolved(children[0].type), self._resolved(self._given(operation))
        for type in (source, target):
            if not isinstance(type, IntType | FloatType | PointerType | VectorType):
                raise self.wrong(f"cannot convert values of type {type}")
        lanes = [type.count if isinstance(type, VectorType) else None for type in (source, target)]
        if lanes[0] != lanes[1]:
            raise self.wrong(f"cannot convert {source} to {target}")
        return self._given(operation)

    def _extension(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        source, target = self._resolved(children[0].type), self._resolved(self._given(operation))
        if not isinstance(source, IntType) or not isinstance(target, IntType):
            raise self.wrong(f"can convert only between integer types, not {source} to {target}")
        if target.bits <= source.bits:
            raise self.wrong(f"must convert to a type that is wider than {source}")
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
            raise self.wrong(f"names address space {space}, but the highest address space of LLVM is {(1 << 24) - 1}")
        return PointerType(space)

    def _DIOpDeref(self, operation: Operation, children: tuple[Tree, ...]) -> Type:
        child, type = children[0], self._given(operation)
        if not isinstance(self._resolved(child.type), PointerType):
            raise self.wrong(f"takes a pointer, not {child.type}")
        if child.name == "DIOpAddrOf" and self._resolved(child.children[0].type) != self._resolved(type):
            raise self.wrong(
                f"gives the type {type} to an object that has type {child.children[0].type} by its implicit address"
            )
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
            raise self.wrong("cannot be used in a program without lanes")
        return type

    def _resolved(self, type: Type) -> Type:
        return self.layout.resolved(type)

    def _is_integral(self, type: Type) -> bool:
        return isinstance(self._resolved(type), IntType)
