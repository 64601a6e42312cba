"""A module's debug information as lines of text: as written, or in canonical form."""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg.dwarf.context import LocationList
from rocdbg.dwarf.expression_text import format_expression
from rocdbg.dwarf.typed_values import BaseType
from rocdbg.llvmdi.canonical import canonical_expression
from rocdbg.llvmdi.errors import LlvmDiError
from rocdbg.llvmdi.lowering import Entry, Lowered
from rocdbg.llvmdi.module import Node
from rocdbg.llvmdi.module_debug_info import DebugInfo
from rocdbg.llvmdi.segments import CODES, Segment

__all__ = ["lowered_lines", "object_lines", "object_title", "segment_title"]


def object_title(info: DebugInfo, node: Node) -> str:
    """An object as text: "DILocalVariable x (!1), 64 bits"."""
    name = info.name_of(node)
    called = f" (!{node.name})" if node.name and name != f"!{node.name}" else ""
    bits = info.object_bits(node)
    return f"{node.kind} {name}{called}" + (f", {bits} bits" if bits is not None else "")


def segment_title(info: DebugInfo, segment: Segment) -> str:
    """A lifetime segment as text: "!2, bounded, @f 1..3, referrer i64 %x"."""
    words = [segment.name]
    function = segment.function
    if not segment.is_bounded or function is None:
        words.append("computed")
    else:
        if segment.record is not None:
            flow = info.flows[function.name]
            words[0] = f"{flow.instructions[segment.record.index].opcode} {segment.record.index}"
        else:
            words.append("bounded")
        where = " ".join(f"{first}..{last - 1}" for first, last in segment.ranges) or "nowhere"
        words.append(f"{function.name} {where}")
    if segment.record is not None:
        words += [str(argument) for argument in segment.arguments]
    elif segment.referrer is not None and segment.referrer.kind != "undef":
        words.append(f"referrer {segment.referrer}")
    arguments = [info.name_of(item) for item in segment.arguments if isinstance(item, Node)]
    if arguments:
        words.append(f"of {', '.join(arguments)}")
    return ", ".join(words)


def object_lines(info: DebugInfo, canonical: bool = False) -> Iterator[str]:
    """Every object with its lifetime segments, every code location, every global variable's fragment.

    Instructions are numbered from 0 through each function. A line that begins with "error:" reports a fault.
    """
    for node in info.objects:
        yield object_title(info, node)
        for variable in info.global_fragments.get(node, ()):
            yield f"  the address of {variable.name}"
        for segment in info.segments_of.get(node, ()):
            yield f"  {segment_title(info, segment)}"
            try:
                expression = canonical_expression(info, segment) if canonical else info.expression(segment)
                yield f"    {expression}"
            except LlvmDiError as error:
                yield f"    error: {error}"
    for node in info.nodes:
        if node.kind in CODES:
            where = [
                f"block {flow.function.blocks[flow.block_of(occurrence.index)].label} of {flow.function.name}"
                for occurrence in info.labels.get(node, ())
                for flow in [info.flows[occurrence.function.name]]
            ]
            yield f"{node.kind} {info.name_of(node)}: {', '.join(where) or 'nowhere'}"


def lowered_lines(lowered: Lowered) -> Iterator[str]:
    """The entries of lowered debug information, with expressions as llvm-dwarfdump writes them."""
    names = {entry.offset: entry.name for entry in lowered.entries}
    for entry in lowered.entries:
        yield f"{entry.offset:#010x}: {entry.tag} {f'{entry.owner}, of {entry.name}' if entry.owner else entry.name}"
        yield from (f"            {line}" for line in _content(entry, lowered.dialect, names))
    for index, address in enumerate(lowered.debug_addr):
        yield f".debug_addr[{index}] = {address:#x}"


def _content(entry: Entry, dialect: str, names: dict[int, str]) -> Iterator[str]:
    if entry.trouble is not None:
        yield f"error: {entry.trouble}"
        return
    content = entry.content
    if isinstance(content, BaseType):
        yield f"{content.encoding}, {content.size} bits"
    elif isinstance(content, bytes):
        yield f"{entry.attribute} ({_text(content, dialect, names)})"
    elif isinstance(content, LocationList):
        yield f"{entry.attribute}:"
        for low, high, data in content:
            extent = "default" if low is None or high is None else f"[{low:#x}, {high:#x})"
            yield f"  {extent}: {_text(data, dialect, names)}"
    else:
        yield "no location"


def _text(data: bytes, dialect: str, names: dict[int, str]) -> str:
    return format_expression(data, dialect, type_name=names.get) if data else "<empty>"
