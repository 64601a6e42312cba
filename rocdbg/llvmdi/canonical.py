"""The canonical form of an expression: the same location with as few operations as possible.

Dereferencing an implicit address cancels both operations, constants are folded, nested composites become one, adjacent
parts are joined, and an offset into a composite becomes the part to which it leads.
"""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.dwarf import typed_values
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.typed_values import Value
from rocdbg.llvmdi.datalayout import DataLayout
from rocdbg.llvmdi.di_expressions import Argument, Expression, Operation, Tree
from rocdbg.llvmdi.di_operations import OPERATIONS
from rocdbg.llvmdi.errors import EvaluationError
from rocdbg.llvmdi.llvm_types import MAX_INT_BITS, IntType, PointerType, Type, VectorType
from rocdbg.llvmdi.module import Operand
from rocdbg.llvmdi.module_debug_info import DebugInfo
from rocdbg.llvmdi.object_evaluator import ARITHMETIC, UNSIGNED
from rocdbg.llvmdi.segments import Segment
from rocdbg.llvmdi.target_types import base_type

__all__ = ["canonical_expression", "canonical_tree"]

_COMPUTED = frozenset({*ARITHMETIC, "DIOpConvert", "DIOpSExt", "DIOpZExt", "DIOpRead", "DIOpPushLane"})
"""Operations whose result is an implicit value."""
_OFFSETS = ("DIOpBitOffset", "DIOpByteOffset")
_MAX_CONSTANT = 1 << 16


def canonical_expression(info: DebugInfo, segment: Segment) -> Expression:
    """A segment's expression in canonical form; raises `NotWellFormed` when `DebugInfo.tree` does."""
    tree = canonical_tree(info.module.layout, info.tree(segment))
    return Expression(tuple(tree.flat()), info.expression(segment).offset, segment.fragment)


def canonical_tree(layout: DataLayout, tree: Tree) -> Tree:
    """The canonical form of a well-formed tree: it has the same type, and locates the same bits."""
    return _Canonical(layout).rewrite(tree)


class _Canonical:
    """Rewrites trees from the leaves up."""

    def __init__(self, layout: DataLayout) -> None:
        self.layout = layout

    def rewrite(self, tree: Tree) -> Tree:
        children = tuple(self.rewrite(child) for child in tree.children)
        if children != tree.children:
            tree = self.make(tree.operation, tree.type, children)
        rule: Callable[[Tree], Tree] | None = getattr(self, "_" + tree.name, None)
        if rule is None and tree.name in ARITHMETIC:
            rule = self._arithmetic
        return rule(tree) if rule is not None else tree

    # Making trees

    def make(self, operation: Operation, type: Type, children: tuple[Tree, ...] = ()) -> Tree:
        depth = 1 + max((child.depth for child in children), default=0)
        return Tree(operation, type, self.layout.bits(type), children, depth)

    def op(self, like: Tree, name: str, arguments: tuple[Argument, ...], type: Type, *children: Tree) -> Tree:
        return self.make(Operation(OPERATIONS[name], arguments, like.operation.offset), type, children)

    def constant(self, like: Tree, type: Type, value: int) -> Tree:
        resolved = self.layout.resolved(type)
        text = hex(value)
        if isinstance(resolved, IntType):
            signed = value - (1 << resolved.bits) if resolved.bits > 1 and value >> (resolved.bits - 1) else value
            text = str(signed)
        operand = Operand("constant", type, text, value=value)
        return self.op(like, "DIOpConstant", (operand,), type)

    def undefined(self, like: Tree, type: Type) -> Tree:
        return self.op(like, "DIOpConstant", (Operand("undef", type, "undef"),), type)

    def retyped(self, tree: Tree, type: Type) -> Tree:
        """The same location with another type of the same size."""
        if tree.type == type:
            return tree
        return self._DIOpReinterpret(self.op(tree, "DIOpReinterpret", (type,), type, tree))

    # Questions

    @staticmethod
    def _value(tree: Tree) -> int | None:
        operand = tree.operation.arguments[0] if tree.name == "DIOpConstant" else None
        return operand.value if isinstance(operand, Operand) and operand.kind == "constant" else None

    @staticmethod
    def _is_undefined(tree: Tree) -> bool:
        operand = tree.operation.arguments[0] if tree.name == "DIOpConstant" else None
        return isinstance(operand, Operand) and operand.kind == "undef"

    def _signed(self, tree: Tree) -> int | None:
        value = self._value(tree)
        return value if value is None else value - (1 << tree.bits if value >> (tree.bits - 1) else 0)

    # Rules

    def _DIOpDeref(self, tree: Tree) -> Tree:
        child = tree.children[0]
        return self.retyped(child.children[0], tree.type) if child.name == "DIOpAddrOf" else tree

    def _DIOpReinterpret(self, tree: Tree) -> Tree:
        child = tree.children[0]
        if child.name == "DIOpReinterpret":
            return self.retyped(child.children[0], tree.type)
        if child.type == tree.type:
            return child
        if child.name in ("DIOpReferrer", "DIOpArg", "DIOpTypeObject", *_OFFSETS):
            # These operations only use the size of a type.
            arguments = (*child.operation.arguments[:-1], tree.type)
            return self.op(child, child.name, arguments, tree.type, *child.children)
        if self._is_undefined(child):
            return self.undefined(child, tree.type)
        value = self._value(child)
        is_int = isinstance(self.layout.resolved(tree.type), IntType)
        return self.constant(child, tree.type, value) if value is not None and is_int else tree

    def _DIOpRead(self, tree: Tree) -> Tree:
        child = tree.children[0]
        is_value = child.name in _COMPUTED or self._value(child) is not None
        return child if is_value else tree

    def _offset(self, tree: Tree) -> Tree:
        """Simplify offsets by constants: several are added up, 0 is dropped, and an offset into a composite becomes a
        part.
        """
        child, number = tree.children[0], self._signed(tree.children[1])
        if self._is_undefined(child):
            return self.undefined(tree, tree.type)
        if number is None:
            return tree
        return self._moved(tree, child, number * (8 if tree.name == "DIOpByteOffset" else 1))

    _DIOpBitOffset = _DIOpByteOffset = _offset

    def _moved(self, tree: Tree, base: Tree, bits: int) -> Tree:
        """`base` moved by `bits`, with the type of `tree`."""
        below = self._signed(base.children[1]) if base.name in _OFFSETS else None
        if below is not None and bits >= 0 and below >= 0:
            return self._moved(tree, base.children[0], bits + below * (8 if base.name == "DIOpByteOffset" else 1))
        if bits == 0 and base.bits == tree.bits:
            return self.retyped(base, tree.type)
        if base.name == "DIOpComposite" and bits >= 0:
            part = self._part(base, bits, tree.bits)
            if part is not None:
                return self._moved(tree, part[0], part[1])
        name, count = ("DIOpByteOffset", bits // 8) if bits % 8 == 0 else ("DIOpBitOffset", bits)
        amount = self.constant(tree, IntType(64), count & (1 << 64) - 1)
        return self.op(tree, name, (tree.type,), tree.type, base, amount)

    @staticmethod
    def _part(composite: Tree, first: int, bits: int) -> tuple[Tree, int] | None:
        """The only part that contains the given bits of a composite, and the position of the first bit in it."""
        position = 0
        for child in composite.children:
            if position <= first and first + bits <= position + child.bits:
                return child, first - position
            position += child.bits
        return None

    def _DIOpComposite(self, tree: Tree) -> Tree:
        parts: list[Tree] = []
        for child in tree.children:
            inner = child.children[0] if child.name == "DIOpReinterpret" else child
            parts += inner.children if inner.name == "DIOpComposite" else (child,)
        joined: list[Tree] = []
        for part in parts:
            both = self._joined(joined[-1], part) if joined else None
            if both is None:
                joined.append(part)
            else:
                joined[-1] = both
        if len(joined) == 1:
            return self.retyped(joined[0], tree.type)
        if len(joined) == len(tree.children) and all(a is b for a, b in zip(joined, tree.children, strict=True)):
            return tree
        return self.op(tree, "DIOpComposite", (len(joined), tree.type), tree.type, *joined)

    def _joined(self, low: Tree, high: Tree) -> Tree | None:
        """Join two adjacent parts, if they are constants, undefined bits, or neighbours in the same place; otherwise
        None.
        """
        if not 0 < low.bits + high.bits <= MAX_INT_BITS:
            return None
        type = IntType(low.bits + high.bits)
        if self._is_undefined(low) and self._is_undefined(high):
            return self.undefined(low, type)
        a, b = self._value(low), self._value(high)
        if a is not None and b is not None and type.bits <= _MAX_CONSTANT:
            return self.constant(low, type, a | b << low.bits)
        (base, first), (other, second) = self._place(low), self._place(high)
        if first is None or second is None or first + low.bits != second or not _same(base, other):
            return None
        if base.name not in ("DIOpReferrer", "DIOpArg", "DIOpTypeObject", "DIOpDeref"):
            return None
        if first == 0 and base.bits == type.bits:
            return self.retyped(base, type)
        name, count = ("DIOpByteOffset", first // 8) if first % 8 == 0 else ("DIOpBitOffset", first)
        return self.op(low, name, (type,), type, base, self.constant(low, IntType(64), count))

    def _place(self, tree: Tree) -> tuple[Tree, int | None]:
        """The location into which a part is an offset, and that offset in bits; None if the offset is not constant."""
        if tree.name not in _OFFSETS:
            return tree, 0
        number = self._signed(tree.children[1])
        scale = 8 if tree.name == "DIOpByteOffset" else 1
        return tree.children[0], None if number is None or number < 0 else number * scale

    def _DIOpSelect(self, tree: Tree) -> Tree:
        mask = self._value(tree.children[2])
        type = self.layout.resolved(tree.type)
        if mask is None or not isinstance(type, VectorType):
            return tree
        lanes = (1 << type.count) - 1
        chosen = {0: 0, lanes: 1}.get(mask & lanes)
        return tree if chosen is None else tree.children[chosen]

    def _convert(self, tree: Tree) -> Tree:
        child = tree.children[0]
        if child.type == tree.type:
            return self._DIOpRead(self.op(tree, "DIOpRead", (), tree.type, child))
        value = self._value(child)
        if value is None:
            return tree
        signed = tree.name not in UNSIGNED
        try:
            source = base_type(self.layout, child.type, signed=signed)
            target = base_type(self.layout, tree.type, signed=signed)
            converted = typed_values.convert(typed_values.from_bits(value, source), source, target, 64)
            result = typed_values.to_bits(converted, target)
        except (DwarfError, EvaluationError):
            return tree
        return self.constant(tree, tree.type, result)

    _DIOpConvert = _DIOpSExt = _DIOpZExt = _convert

    def _arithmetic(self, tree: Tree) -> Tree:
        second, top = self._value(tree.children[0]), self._value(tree.children[1])
        resolved = self.layout.resolved(tree.type)
        if second is not None and top is not None:
            try:
                base = base_type(self.layout, tree.type, signed=tree.name not in UNSIGNED)
                operands = (Value(base, typed_values.from_bits(bits, base)) for bits in (second, top))
                result = typed_values.typed_binary(ARITHMETIC[tree.name], *operands)
                return self.constant(tree, tree.type, typed_values.to_bits(result.value, base))
            except (DwarfError, EvaluationError):
                return tree  # a division by zero is kept
        neutral = 1 if tree.name in ("DIOpMul", "DIOpDiv") else 0
        is_plain = isinstance(resolved, IntType | PointerType) and tree.name not in ("DIOpMod", "DIOpAnd")
        if is_plain and top == neutral and not (neutral == 1 and tree.bits == 1):
            return self._DIOpRead(self.op(tree, "DIOpRead", (), tree.type, tree.children[0]))
        return tree


def _same(a: Tree, b: Tree) -> bool:
    """Whether two trees consist of the same operations."""
    first, second = a.flat(), b.flat()
    return len(first) == len(second) and all(x.same_as(y) for x, y in zip(first, second, strict=True))
