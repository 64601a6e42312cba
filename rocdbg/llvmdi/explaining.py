"""Explains in text where objects are: at which instructions, by which operations, and with what result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rocdbg.llvmdi.canonical import canonical_tree
from rocdbg.llvmdi.di_expressions import Tree
from rocdbg.llvmdi.errors import LlvmDiError
from rocdbg.llvmdi.module import Function, Node, Operand
from rocdbg.llvmdi.module_debug_info import DebugInfo
from rocdbg.llvmdi.module_listing import object_title, segment_title
from rocdbg.llvmdi.segments import Segment
from rocdbg.llvmdi.storages import entity_words

__all__ = ["explanation_lines", "location_words"]

MAX_WORDS = 2000
_SIGNS = {
    "DIOpAdd": "+", "DIOpSub": "-", "DIOpMul": "*", "DIOpDiv": "/", "DIOpMod": "%", "DIOpShl": "<<", "DIOpShr": ">>",
    "DIOpAShr": ">>", "DIOpLShr": ">>>", "DIOpAnd": "&", "DIOpOr": "|", "DIOpXor": "^",
}  # fmt: skip


def explanation_lines(info: DebugInfo, nodes: Sequence[Node]) -> Iterator[str]:
    """For each object, list where it is at which instructions, and each of its expressions operation by operation."""
    for node in nodes:
        yield object_title(info, node)
        segments = info.segments_of.get(node, [])
        for flow in info.flows.values():
            yield from _extents(info, flow.function, len(flow.instructions), segments)
        if segments and not any(segment.is_bounded for segment in segments):
            yield f"  everywhere: {' and '.join(segment.name for segment in segments)}"
        elif not segments and node not in info.global_fragments:
            yield "  nowhere"
        for segment in segments:
            yield f"  {segment_title(info, segment)}"
            yield from (f"    {line}" for line in _steps(info, segment))


def _extents(info: DebugInfo, function: Function, count: int, segments: Sequence[Segment]) -> Iterator[str]:
    """The segments in force, by run of instructions of a function that bounds one of them."""
    own = [segment for segment in segments if segment.is_bounded and segment.function is function]
    if not own:
        return
    default = [segment for segment in segments if not segment.is_bounded]
    edges = sorted({0, count, *(edge for segment in own for part in segment.ranges for edge in part)})
    for first, last in pairwise(edges):
        active = [segment for segment in own if segment.is_active(function, first)] or default
        names = " and ".join(segment_title(info, segment).partition(",")[0] for segment in active)
        yield f"  {function.name} {first}..{last - 1}: {names or 'nowhere'}"


def _steps(info: DebugInfo, segment: Segment) -> Iterator[str]:
    try:
        tree = info.tree(segment)
    except LlvmDiError as error:
        yield f"error: {error}"
        return
    stack: list[Tree] = []
    nodes = list(_in_order(tree))
    width = min(max(len(str(node.operation)) for node in nodes), 60)
    for node in nodes:
        del stack[len(stack) - len(node.children) :]
        stack.append(node)
        shown = " ".join(f"({entry.type})" for entry in reversed(stack))
        yield f"{node.operation!s:<{width}}  {shown}"
    yield f"is {location_words(info, segment, canonical_tree(info.module.layout, tree))}"


def _in_order(tree: Tree) -> Iterator[Tree]:
    """The nodes in the order of the expression."""
    pending: list[tuple[Tree, bool]] = [(tree, False)]
    while pending:
        node, is_done = pending.pop()
        if is_done:
            yield node
        else:
            pending.append((node, True))
            pending += ((child, False) for child in reversed(node.children))


def location_words(info: DebugInfo, segment: Segment, tree: Tree) -> str:
    """A tree of a segment as text, such as "[x.lo; memory at x.hi.addr]"; cut short if it is long."""
    words = _words(info, segment, tree)
    return words if len(words) <= MAX_WORDS else words[: MAX_WORDS - 3] + "..."


def _words(info: DebugInfo, segment: Segment, tree: Tree) -> str:
    name, arguments = tree.name, tree.operation.arguments
    # The texts of children are cut off too, so that long texts are not built only to be cut off.
    parts = [location_words(info, segment, child) for child in tree.children]
    match name:
        case "DIOpReferrer":
            return _operand(segment.referrer)
        case "DIOpArg":
            assert isinstance(arguments[0], int)
            argument = segment.arguments[arguments[0]]
            return info.name_of(argument) if isinstance(argument, Node) else _operand(argument)
        case "DIOpConstant":
            return _operand(arguments[0] if isinstance(arguments[0], Operand) else None)
        case "DIOpTypeObject":
            return "the object"
        case "DIOpPushLane":
            return "the lane"
        case "DIOpReinterpret":
            return parts[0]
        case "DIOpBitOffset" | "DIOpByteOffset":
            return f"{parts[0]}, {parts[1]} {'bits' if name == 'DIOpBitOffset' else 'bytes'} further"
        case "DIOpComposite":
            return f"[{'; '.join(parts)}]"
        case "DIOpExtend":
            return f"{arguments[0]} x {parts[0]}"
        case "DIOpSelect":
            return f"(by bit of {parts[2]}: {parts[1]} else {parts[0]})"
        case "DIOpAddrOf":
            return f"an implicit address of {parts[0]}"
        case "DIOpDeref":
            return f"memory at {parts[0]}"
        case "DIOpRead":
            return f"the value of {parts[0]}"
        case "DIOpConvert" | "DIOpSExt" | "DIOpZExt":
            return f"{tree.type}({parts[0]})"
    return f"({parts[0]} {_SIGNS[name]} {parts[1]})"


def _operand(operand: Operand | None) -> str:
    if operand is None or operand.kind == "undef":
        return "nowhere"
    return entity_words(operand.name) if operand.kind == "entity" else operand.text
