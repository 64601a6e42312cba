"""Converts the debug records and intrinsics in use today, such as `#dbg_value` and `#dbg_declare`, to lifetime
segments.

A `#dbg_declare` is in force throughout its function. A `#dbg_value` is in force until the next one for overlapping bits
of the same variable; where paths join, only records in force at the end of all of the paths remain. An expression of
DWARF operations is translated into DIOps (`rocdbg.llvmdi.translation`).
"""

from __future__ import annotations

from collections import deque

from rocdbg.llvmdi.di_expressions import is_diop, parse_expression
from rocdbg.llvmdi.errors import NotWellFormed
from rocdbg.llvmdi.function_flow import ControlFlow, Range, joined
from rocdbg.llvmdi.llvm_types import PointerType
from rocdbg.llvmdi.module import Field, GlobalVariable, Instruction, Module, Node, Operand
from rocdbg.llvmdi.segments import VARIABLES, Occurrence, Segment, type_bits
from rocdbg.llvmdi.translation import translate

__all__ = ["global_segment", "record_segments"]

MAX_PASSES = 200_000


def record_segments(module: Module, flow: ControlFlow, stray: list[tuple[Occurrence, str]]) -> list[Segment]:
    """The segments that a function's records give, each with the instructions at which it is active.

    Records that lack a variable or an expression are added to `stray`.
    """
    found: dict[int, Segment] = {}
    for index, instruction in enumerate(flow.instructions):
        if instruction.debug in ("value", "declare", "assign"):
            segment = _segment(module, flow, index, instruction, stray)
            if segment is not None:
                found[index] = segment
    instances: dict[tuple[Node | None, Node | None], list[int]] = {}
    for index, segment in found.items():
        if flow.instructions[index].debug == "declare":
            segment.ranges = ((0, len(flow.instructions)),)
        else:
            instances.setdefault((segment.object, segment.inlined), []).append(index)
    budget = [MAX_PASSES]
    for indices in instances.values():
        active = _Values(flow, {index: found[index] for index in indices}, budget).active()
        for index, ranges in active.items():
            found[index].ranges = ranges
    return list(found.values())


def global_segment(module: Module, variable: GlobalVariable, value: Field) -> Segment | None:
    """The segment of `!dbg !DIGlobalVariableExpression(var: ..., expr: ...)` on a global variable; None for others."""
    node = module.node(value, "DIGlobalVariableExpression")
    if node is None:
        return None
    described = module.node(node.fields.get("var"), *VARIABLES)
    expression = module.node(node.fields.get("expr"), "DIExpression", "DIExpr")
    if described is None or expression is None:
        return None
    address = Operand("entity", PointerType(variable.space), variable.name, variable.name, offset=variable.offset)
    segment = Segment(described, None, expression, (address,))
    _translate(module, segment, [address], is_address=True)
    return segment


def _segment(
    module: Module, flow: ControlFlow, index: int, instruction: Instruction, stray: list[tuple[Occurrence, str]]
) -> Segment | None:
    occurrence = Occurrence(flow.function, index)
    variable = module.node(instruction.arguments[1], *VARIABLES)
    expression = module.node(instruction.arguments[2])
    if variable is None or expression is None or expression.kind not in ("DIExpr", "DIExpression"):
        stray.append((occurrence, f"{instruction.opcode} needs a variable and an expression"))
        return None
    operands = _operands(module, instruction.arguments[0])
    segment = Segment(
        variable, None, expression, tuple(operands), referrer=operands[0] if len(operands) == 1 else None,
        record=occurrence, inlined=_inlined(module, instruction),
    )
    _translate(module, segment, operands, is_address=instruction.debug == "declare")
    return segment


def _translate(module: Module, segment: Segment, operands: list[Operand], *, is_address: bool) -> None:
    """Set a segment's expression in DIOps, or the reason why there is none."""
    assert segment.object is not None
    assert segment.location is not None
    try:
        if is_diop(segment.location):
            segment.translated = parse_expression(module, segment.location)
        else:
            bits = type_bits(module, module.node(segment.object.fields.get("type")))
            segment.translated = translate(module, segment.location, operands, bits, is_address)
        segment.fragment = segment.translated.fragment
    except NotWellFormed as error:
        segment.trouble = error


def _operands(module: Module, value: Field) -> list[Operand]:
    if isinstance(value, Operand):
        return [value]
    found = module.resolve(value)
    if isinstance(found, Node) and found.kind == "DIArgList":
        found = found.elements
    return [item for item in found if isinstance(item, Operand)] if isinstance(found, tuple) else []


def _inlined(module: Module, instruction: Instruction) -> Node | None:
    location = instruction.arguments[-1] if instruction.opcode.startswith("#") else None
    for attachment in instruction.attachments:
        if attachment.kind == "dbg":
            location = attachment.value
    node = module.node(location, "DILocation")
    return module.node(node.fields.get("inlinedAt")) if node is not None else None


class _Values:
    """The ranges in which each record of one variable is in force, found by a forward data flow over blocks."""

    def __init__(self, flow: ControlFlow, segments: dict[int, Segment], budget: list[int]) -> None:
        self.flow = flow
        self.segments = segments
        self.budget = budget
        self.by_block: dict[int, list[int]] = {}
        for index in segments:
            self.by_block.setdefault(flow.block_of(index), []).append(index)

    def _after(self, state: frozenset[int], index: int) -> frozenset[int]:
        own = self.segments[index].fragment
        return frozenset(
            other for other in state if not _overlap(own, self.segments[other].fragment) and other != index
        ) | {index}

    def active(self) -> dict[int, tuple[Range, ...]]:
        flow = self.flow
        at_end: dict[int, frozenset[int]] = {}
        pending = deque([0])
        waiting = {0}
        entry: dict[int, frozenset[int]] = {}
        while pending:
            self.budget[0] -= 1
            if self.budget[0] < 0:
                raise NotWellFormed(f"the records of {flow.function.name} take more than {MAX_PASSES} steps")
            block = pending.popleft()
            waiting.discard(block)
            known = [at_end[before] for before in flow.predecessors[block] if before in at_end]
            state = frozenset.intersection(*known) if known and block else frozenset()
            entry[block] = state
            for index in self.by_block.get(block, ()):
                state = self._after(state, index)
            if at_end.get(block) != state:
                at_end[block] = state
                following = [after for after in flow.successors[block] if after not in waiting]
                pending += following
                waiting.update(following)
        found: dict[int, list[Range]] = {index: [] for index in self.segments}
        for block, state in entry.items():
            since = flow.starts[block]
            for index in [*self.by_block.get(block, ()), flow.ends[block]]:
                for holding in state:
                    if since < index:
                        found[holding].append((since, index))
                if index in self.segments and index < flow.ends[block]:
                    state = self._after(state, index)
                    since = index + 1 if not state - {index} else index
                    for holding in state - {index}:
                        found[holding].append((index, index + 1))
                    since = index + 1
        return {index: joined(ranges) for index, ranges in found.items()}


def _overlap(a: tuple[int, int] | None, b: tuple[int, int] | None) -> bool:
    """Whether two parts of a variable have bits in common; None means the whole variable."""
    return a is None or b is None or (a[0] < b[0] + b[1] and b[0] < a[0] + a[1])
