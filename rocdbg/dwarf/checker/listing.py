"""Lists the units, entries and attributes of a file, as the library reads them, and explains where objects are."""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg import work
from rocdbg.dwarf.checker.probe import Probe
from rocdbg.dwarf.context import Context, LocationList
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.explanation import entry_text, explain
from rocdbg.dwarf.expression_text import format_expression
from rocdbg.dwarf.info.attribute_expressions import as_written
from rocdbg.dwarf.info.attribute_values import AttributeValue, Exprloc, Loclist, Reference, String
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.types import is_aggregate
from rocdbg.dwarf.reader.entry import Entry
from rocdbg.dwarf.reader.file import DebugFile
from rocdbg.errors import Error

__all__ = ["explained", "listed"]


def listed(file: DebugFile) -> Iterator[str]:
    """List every unit and every entry with its attributes; expressions are shown in the dialect of their unit."""
    for unit in file.units:
        yield (
            f"unit at {unit.offset:#x}: DWARF {unit.version}, {8 * unit.offset_size}-bit, dialect {unit.dialect}, "
            f"augmentation '{unit.augmentation}', producer '{unit.producer}'"
        )
        depths = {unit.top.offset: 0}
        for entry in unit.entries:
            work.unit()
            parent = entry.parent
            depth = depths[entry.offset] = 0 if parent is None else depths.get(parent.offset, 0) + 1
            indent = "  " * (depth + 1)
            yield f"{indent}{entry.offset:#x} {entry.tag}"
            for name, value in entry.attributes.items():
                yield from (f"{indent}    {line}" for line in _value(entry, name, value))


def _value(entry: Entry, name: str, value: AttributeValue) -> Iterator[str]:
    unit = entry.die.unit
    match value:
        case Exprloc() | Loclist():
            try:
                what = as_written(value, unit)
            except DwarfError as error:
                yield f"{name}: <{error.detail}>"
                return
            if isinstance(what, LocationList):
                yield f"{name}: list at {value.offset:#x}" if isinstance(value, Loclist) else name
                for low, high, data in what:
                    place = "default" if low is None else f"[{low:#x}, {high:#x})"
                    yield f"  {place}: {_text(data, unit.dialect)}"
            else:
                yield f"{name}: {_text(what.data, unit.dialect)}"
        case String(value=text):
            yield f"{name}: {text!r}"
        case Reference(offset=offset):
            yield f"{name}: {offset:#x}"
        case _:
            number = getattr(value, "value", None)
            shown = f"{number:#x}" if isinstance(number, int) and not isinstance(number, bool) else f"{value}"
            yield f"{name}: {shown}"


def _text(data: bytes, dialect: str) -> str:
    try:
        return format_expression(data, dialect)
    except DwarfError as error:
        return f"<{error.detail}>"


def explained(file: DebugFile, name: str, pc: int | None = None, lane: int = 0) -> Iterator[str]:
    """Explain the DW_AT_location of the objects called `name`, or of all objects that have one if `name` is empty.

    Shows the expression as it was written and as its producer means it, then each step with the stack, in a program
    whose registers and memory are all zeros.
    """
    for entry in file.named(name) if name else file:
        work.unit()
        value = entry.die.find(At.LOCATION)
        if not isinstance(value, Exprloc | Loclist):
            continue
        yield f"{entry.name or '?'} at {entry.place}, {entry.tag}:"
        try:
            yield from (f"  {line}" for line in _steps(entry, value, pc, lane))
        except Error as error:
            yield f"  <{error}>"


def _steps(entry: Entry, value: Exprloc | Loclist, pc: int | None, lane: int) -> Iterator[str]:
    from rocdbg.dwarf.architecture import UNSPECIFIED, architecture_by_name
    from rocdbg.dwarf.reader.unit_context import in_unit

    yield from _value(entry, "DW_AT_location", value)
    architecture = architecture_by_name(entry.file.architecture) if entry.file.architecture is not None else UNSPECIFIED
    expressions, aggregate = entry.die.unit.entries.expressions, is_aggregate(entry.type)
    what = expressions.location(value, entry.die.unit, 64, entry.size or None, aggregate)
    if pc is None:
        lows = [low for low, _, _ in what if low is not None] if isinstance(what, LocationList) else []
        pc = min(lows, default=0)
    probe = Probe(architecture, pc, 0, 64)
    probe.lane = lane
    context: Context = in_unit(probe, entry.die, frames=entry.file.frames)
    if not isinstance(what, LocationList):
        meant = _text(what.data, what.dialect)
        yield f"meant as {meant}"
    found = explain(what, context, "location")
    for step in found.steps:
        after = "fails" if step.after is None else ", ".join(step.after) or "empty"
        yield f"{'  ' * step.level}{step.operation.name}: {after}"
    if found.error is not None:
        yield f"error: {found.error.detail}"
    elif found.result is not None:
        yield f"result: {entry_text(found.result)}"
