"""Finds, from an expression alone, operations that read undefined bits or bits beyond a storage.

Errors that depend on places or values are only found by evaluation.
"""

from __future__ import annotations

from rocdbg.llvmdi.di_expressions import Inputs, Tree
from rocdbg.llvmdi.module import Operand

__all__ = ["unreadable"]

_LANES_LOOKED_AT = 3
"""How many of several equal elements are examined."""

_UNDEFINED = "an undefined value"


def unreadable(tree: Tree, inputs: Inputs) -> str | None:
    """A message that says why the location of a tree cannot be read; None if the tree alone does not show that."""
    return _trouble(tree, 0, tree.bits, inputs)


def _trouble(tree: Tree, first: int, bits: int, inputs: Inputs) -> str | None:
    """The problem with ``bits`` bits of a location, from bit ``first`` on; None if no problem is known."""
    match tree.name:
        case "DIOpReinterpret":
            return _trouble(tree.children[0], first, bits, inputs)
        case "DIOpBitOffset" | "DIOpByteOffset":
            moved = _constant(tree.children[1])
            if moved is None:
                return None
            first += moved * (8 if tree.name == "DIOpByteOffset" else 1)
            return _trouble(tree.children[0], first, bits, inputs)
        case "DIOpDeref":
            pointer = tree.children[0]
            return _trouble(pointer.children[0], first, bits, inputs) if pointer.name == "DIOpAddrOf" else None
        case "DIOpArg":
            return _UNDEFINED if tree.operation.arguments[0] in inputs.undefined else None
        case "DIOpAddrOf":
            return None
    if tree.name == "DIOpReferrer" and inputs.referrer_is_undefined:
        return _UNDEFINED
    if tree.name == "DIOpConstant":
        value = tree.operation.arguments[0]
        if isinstance(value, Operand) and value.kind == "undef":
            return _UNDEFINED
    if first < 0 or first + bits > tree.bits:
        return f"{bits} bits from bit {first} of {tree.bits} bits"
    return _parts(tree, first, bits, inputs)


def _parts(tree: Tree, first: int, bits: int, inputs: Inputs) -> str | None:
    """As `_trouble`, for the parts of a composite."""
    children: tuple[Tree, ...] = ()
    if tree.name == "DIOpComposite":
        children = tree.children
    elif tree.name == "DIOpExtend":
        size = tree.children[0].bits
        count = min(_LANES_LOOKED_AT, -(-(first % size + bits) // size))
        children, first = tree.children * count, first % size
    position = 0
    for child in children:
        low, high = max(first, position), min(first + bits, position + child.bits)
        found = _trouble(child, low - position, high - low, inputs) if low < high else None
        if found is not None:
            return found
        position += child.bits
    return None


def _constant(tree: Tree) -> int | None:
    """The value of a constant, with its sign."""
    operand = tree.operation.arguments[0] if tree.name == "DIOpConstant" else None
    if not isinstance(operand, Operand) or operand.kind != "constant":
        return None
    return operand.value - (1 << tree.bits if operand.value >> (tree.bits - 1) else 0)
