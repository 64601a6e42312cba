"""Parts of a composite that refer to the same bits, as far as the text of an expression tells."""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg.llvmdi.debug_info import DebugInfo
from rocdbg.llvmdi.errors import NotWellFormed
from rocdbg.llvmdi.expressions import Tree
from rocdbg.llvmdi.module import Node, Operand
from rocdbg.llvmdi.segments import Segment

__all__ = ["overlapping"]

MAX_PIECES = 4096
_MAX_DEPTH = 32
Piece = tuple[str, int, int]
"""(what it is a part of, first bit, bits)."""


def overlapping(info: DebugInfo, segment: Segment, tree: Tree) -> str | None:
    """What two parts of a composite in the tree both refer to, in words; None if there is no such composite."""
    pending = [tree]
    while pending:
        node = pending.pop()
        pending += node.children
        if node.name != "DIOpComposite":
            continue
        seen: dict[str, list[tuple[int, int]]] = {}
        for count, (what, first, bits) in enumerate(_pieces(info, segment, node, 0, node.bits, 0)):
            if count > MAX_PIECES:
                break
            for other, size in seen.setdefault(what, []):
                if first < other + size and other < first + bits:
                    return what
            seen[what].append((first, bits))
    return None


def _pieces(info: DebugInfo, segment: Segment, tree: Tree, first: int, bits: int, depth: int) -> Iterator[Piece]:
    """The runs of bits of named storage that bits of a location are; what is not known gives none."""
    if depth > _MAX_DEPTH or bits <= 0:
        return
    name = tree.name
    if name == "DIOpComposite":
        position = 0
        for child in tree.children:
            low, high = max(first, position), min(first + bits, position + child.bits)
            if low < high:
                yield from _pieces(info, segment, child, low - position, high - low, depth + 1)
            position += child.bits
    elif name == "DIOpReinterpret":
        yield from _pieces(info, segment, tree.children[0], first, bits, depth + 1)
    elif name in ("DIOpBitOffset", "DIOpByteOffset"):
        offset = tree.children[1].operation.arguments[0] if tree.children[1].name == "DIOpConstant" else None
        if isinstance(offset, Operand) and offset.kind == "constant":
            size = tree.children[1].bits
            number = offset.value - (1 << size) if offset.value >> (size - 1) else offset.value
            moved = first + number * (8 if name == "DIOpByteOffset" else 1)
            yield from _pieces(info, segment, tree.children[0], moved, bits, depth + 1)
    elif name == "DIOpDeref" and tree.children[0].name == "DIOpAddrOf":
        yield from _pieces(info, segment, tree.children[0].children[0], first, bits, depth + 1)
    elif name == "DIOpDeref":
        pointer = " ".join(map(str, tree.children[0].flat()))
        base = _argument(segment, tree.children[0])
        yield f"the memory at {info.name_of(base) if isinstance(base, Node) else pointer}", first, bits
    elif name == "DIOpReferrer":
        yield "the referrer", first, bits
    elif name == "DIOpArg":
        argument = _argument(segment, tree)
        if isinstance(argument, Operand) and argument.kind == "entity":
            yield argument.name, first, bits
        elif isinstance(argument, Node):
            yield from _object(info, argument, first, bits, depth)


def _argument(segment: Segment, tree: Tree) -> Node | Operand | None:
    index = tree.operation.arguments[0] if tree.name == "DIOpArg" else None
    return segment.arguments[index] if isinstance(index, int) and index < len(segment.arguments) else None


def _object(info: DebugInfo, node: Node, first: int, bits: int, depth: int) -> Iterator[Piece]:
    """An object's bits: through its one computed segment, if that is all there is, else the object's own."""
    segments = info.segments_of.get(node, [])
    if len(segments) == 1 and not segments[0].is_bounded:
        try:
            tree = info.tree(segments[0])
        except NotWellFormed:
            return
        yield from _pieces(info, segments[0], tree, first, bits, depth + 1)
    elif segments:
        yield info.name_of(node), first, bits
