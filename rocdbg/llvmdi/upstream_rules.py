"""The rules that LLVM itself has for today's debug records.

It drops the debug information of a module that breaks one of these rules ("ignoring invalid debug info").
"""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg.llvmdi.llvm_types import IntType, PointerType
from rocdbg.llvmdi.module import Instruction, Module, Node, Operand
from rocdbg.llvmdi.module_debug_info import DebugInfo
from rocdbg.llvmdi.segments import Segment

__all__ = ["broken_record"]

def broken_record(info: DebugInfo, segment: Segment) -> Iterator[tuple[str, int]]:
    """The problem with the debug record that a segment comes from, and where it is; None if there is none."""
    record = segment.record
    if record is None:
        return
    module = info.module
    instruction = info.flows[record.function.name].instructions[record.index]
    value = module.resolve(instruction.arguments[0])
    is_record = instruction.opcode.startswith("#")  # the rules for old intrinsics are less strict
    if is_record and isinstance(value, Node) and (value.kind or value.elements):
        yield f"the first operand of {instruction.opcode} must be a value", instruction.offset
    if isinstance(value, Operand) and instruction.debug == "declare" and instruction.opcode != "#dbg_declare_value":
        type = module.layout.resolved(value.type) if value.type is not None else None
        if type is not None and not isinstance(type, PointerType | IntType):
            yield f"{instruction.opcode} takes a pointer, not {value.type}", instruction.offset
    if instruction.debug == "assign" and module.node(instruction.arguments[3], "DIAssignID") is None:
        yield "the fourth operand of #dbg_assign must be a DIAssignID", instruction.offset
    yield from _position(module, segment, instruction)


def _position(module: Module, segment: Segment, instruction: Instruction) -> Iterator[tuple[str, int]]:
    """Check that the record's location is a DILocation and belongs to the same function as the variable."""
    is_record = instruction.opcode.startswith("#")
    places = [instruction.arguments[-1]] if is_record else []
    places += [attachment.value for attachment in instruction.attachments if attachment.kind == "dbg"]
    for place in places:
        node = module.resolve(place)
        if place is not None and not isinstance(node, Node):
            continue  # listings leave out locations
        if not isinstance(node, Node) or node.kind != "DILocation":
            yield f"the location of {instruction.opcode} must be a DILocation", instruction.offset
            continue
        assert segment.object is not None
        own, other = _subprogram(module, segment.object), _subprogram(module, node)
        if own is not None and other is not None and own is not other:
            yield "the variable and the location of a record must belong to the same function", instruction.offset


def _subprogram(module: Module, node: Node) -> Node | None:
    """The DISubprogram to whose scope a node belongs."""
    scope = module.node(node.fields.get("scope"))
    for _ in range(1000):
        if scope is None or scope.kind == "DISubprogram":
            return scope
        scope = module.node(scope.fields.get("scope"))
    return None
