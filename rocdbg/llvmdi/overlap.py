"""Finds parts of a composite that refer to the same bits, where the expression alone shows that.

Fragments are followed: two fragments may describe the same value. Bits count as the same if the segments that lead to
both are active at one instruction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from rocdbg.llvmdi.di_expressions import Tree
from rocdbg.llvmdi.errors import NotWellFormed
from rocdbg.llvmdi.function_flow import Range
from rocdbg.llvmdi.llvm_types import PointerType
from rocdbg.llvmdi.module import Node, Operand
from rocdbg.llvmdi.module_debug_info import DebugInfo
from rocdbg.llvmdi.segments import Segment

__all__ = ["overlapping"]

MAX_PIECES = 4096
MAX_STEPS = 20_000
"""Limit on the trees that are examined for one expression, because fragments of fragments may lead to many."""
_MAX_DEPTH = 32
_MAX_WORDS = 1000


class Piece(Struct, frozen=True):
    """Bits of a storage; `path` holds the bounded segments that lead to them."""

    what: str
    first: int
    bits: int
    path: tuple[Segment, ...]


def overlapping(info: DebugInfo, segment: Segment, tree: Tree) -> str | None:
    """Text for the bits to which two parts of a composite in the tree both refer; None if there is no such composite.
    """
    pending = [tree]
    search = _Search(info)
    while pending:
        node = pending.pop()
        pending += node.children
        if node.name != "DIOpComposite":
            continue
        seen: dict[str, list[Piece]] = {}
        for count, piece in enumerate(search.pieces(segment, node, 0, node.bits, ())):
            if count > MAX_PIECES:
                break
            for other in seen.setdefault(piece.what, []):
                if (
                    piece.first < other.first + other.bits
                    and other.first < piece.first + piece.bits
                    and _together(piece.path + other.path)
                ):
                    return piece.what
            seen[piece.what].append(piece)
    return None


def _together(path: tuple[Segment, ...]) -> bool:
    """Whether segments are all active at some instruction."""
    segments = list(dict.fromkeys(path))
    if len(segments) < 2:
        return True
    if len({segment.function for segment in segments}) > 1:
        return False
    ranges: Sequence[Range] | None = None
    for segment in segments:
        ranges = segment.ranges if ranges is None else _common(ranges, segment.ranges)
    return ranges is None or bool(ranges)


def _common(a: Sequence[Range], b: Sequence[Range]) -> list[Range]:
    found: list[Range] = []
    i = j = 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low < high:
            found.append((low, high))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return found


class _Search:
    """Finds the pieces of locations; an unknown location has none."""

    def __init__(self, info: DebugInfo) -> None:
        self.info = info
        self.steps = 0
        self.depth = 0

    def pieces(
        self, segment: Segment, tree: Tree, first: int, bits: int, path: tuple[Segment, ...]
    ) -> Iterator[Piece]:
        """The runs of bits in named storage that make up bits of a location."""
        self.steps += 1
        if self.depth > _MAX_DEPTH or bits <= 0 or self.steps > MAX_STEPS:
            return
        self.depth += 1
        try:
            yield from self._pieces(segment, tree, first, bits, path)
        finally:
            self.depth -= 1

    def _pieces(
        self, segment: Segment, tree: Tree, first: int, bits: int, path: tuple[Segment, ...]
    ) -> Iterator[Piece]:
        name = tree.name
        if name == "DIOpComposite":
            position = 0
            for child in tree.children:
                low, high = max(first, position), min(first + bits, position + child.bits)
                if low < high:
                    yield from self.pieces(segment, child, low - position, high - low, path)
                position += child.bits
        elif name == "DIOpReinterpret":
            yield from self.pieces(segment, tree.children[0], first, bits, path)
        elif name in ("DIOpBitOffset", "DIOpByteOffset"):
            offset = tree.children[1].operation.arguments[0] if tree.children[1].name == "DIOpConstant" else None
            if isinstance(offset, Operand) and offset.kind == "constant":
                size = tree.children[1].bits
                number = offset.value - (1 << size) if offset.value >> (size - 1) else offset.value
                moved = first + number * (8 if name == "DIOpByteOffset" else 1)
                yield from self.pieces(segment, tree.children[0], moved, bits, path)
        elif name == "DIOpDeref" and tree.children[0].name == "DIOpAddrOf":
            yield from self.pieces(segment, tree.children[0].children[0], first, bits, path)
        elif name == "DIOpDeref":
            pointer = self._words(segment, tree.children[0])
            type = self.info.module.layout.resolved(tree.children[0].type)
            space = type.space if isinstance(type, PointerType) else 0
            if pointer:
                yield Piece(f"the memory at {pointer}{f' in space {space}' if space else ''}", first, bits, path)
        elif name == "DIOpReferrer":
            yield from self._entity(segment.referrer, first, bits, path)
        elif name == "DIOpArg":
            argument = _argument(segment, tree)
            if isinstance(argument, Node):
                yield from self._object(argument, first, bits, path)
            else:
                yield from self._entity(argument, first, bits, path)

    @staticmethod
    def _entity(operand: Operand | None, first: int, bits: int, path: tuple[Segment, ...]) -> Iterator[Piece]:
        """The bits of a value; none for a global variable, whose address is an implicit value without storage."""
        if operand is not None and operand.kind == "entity" and not operand.name.startswith("@"):
            yield Piece(operand.name, first, bits, path)

    def _object(self, node: Node, first: int, bits: int, path: tuple[Segment, ...]) -> Iterator[Piece]:
        """An object's bits, through each of its segments."""
        for own in self.info.segments_of.get(node, ()):
            try:
                tree = self.info.tree(own)
            except NotWellFormed:
                continue
            yield from self.pieces(own, tree, first, bits, (*path, own) if own.is_bounded else path)

    def _words(self, segment: Segment, tree: Tree) -> str:
        """The text of a pointer's computation: equal texts in segments that are active together mean the same pointer.

        None if it may be more than one pointer.
        """
        self.steps += 1
        if self.steps > MAX_STEPS or tree.depth > _MAX_DEPTH:
            return ""
        if tree.name == "DIOpReferrer":
            return str(segment.referrer.name or segment.referrer.text) if segment.referrer is not None else ""
        if tree.name == "DIOpArg":
            argument = _argument(segment, tree)
            if not isinstance(argument, Node):
                return "" if argument is None else argument.name or argument.text
            segments = self.info.segments_of.get(argument, ())
            if len(segments) != 1:
                return self.info.name_of(argument)
            self.depth += 1
            try:
                return self._words(segments[0], self.info.tree(segments[0])) if self.depth < _MAX_DEPTH else ""
            except NotWellFormed:
                return ""
            finally:
                self.depth -= 1
        if tree.name in ("DIOpRead", "DIOpReinterpret"):
            return self._words(segment, tree.children[0])
        parts = [self._words(segment, child) for child in tree.children]
        if not all(parts):
            return ""
        words = " ".join((*parts, str(tree.operation)))
        return words if len(words) <= _MAX_WORDS else ""


def _argument(segment: Segment, tree: Tree) -> Node | Operand | None:
    index = tree.operation.arguments[0] if tree.name == "DIOpArg" else None
    return segment.arguments[index] if isinstance(index, int) and index < len(segment.arguments) else None
