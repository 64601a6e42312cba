"""Sentences about frames: the lines of ``info frame``."""

from __future__ import annotations

from rocdbg.arch.lanes import lane_ranges
from rocdbg.debugger.frames.context import FrameContext, attribute_location
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.reports.whereabouts import LANE_BITS, joined, leaf_words
from rocdbg.dwarf.architecture import Architecture
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.storage import Fragment, MemoryStorage, RegisterStorage
from rocdbg.errors import Error

LOST = "optimized out"
"""What `leaf_words` says of undefined storage."""


def describe_frame(frame: Frame, inferior: Inferior) -> list[str]:
    """What is known of a frame: place, caller, how it was unwound, where registers are saved."""
    context = frame.context
    lines = [f"Stack level {frame.level}, frame at {_cfa(context)}:"]
    where = f" ({frame.file.name}:{frame.line})" if frame.file is not None and frame.line else ""
    name = f" in {frame.name}" if frame.name else ""
    saved = _return_address(context)
    lines.append(f" pc = {frame.pc:#x}{name}{where}; saved pc = {saved}")
    if frame.inline is not None:
        lines.append(f" inlined into frame {frame.level + 1}")
    if inferior.chain(frame.scope).get(frame.level + 1) is None:
        reason = frame.stop_reason or "a kernel has no caller"
        lines.append(f" Outermost frame: {reason}")
    if frame.function is not None:
        lines.append(f" source language {frame.function.unit.language_name}.")
    link = attribute_location(context, At.STATIC_LINK)
    if link is not None:
        lines.append(f" static link: {link.describe()}")
    found = context.found_row
    lines.append(f" unwound by {found.source}." if found is not None else " no unwind information here.")
    if found is not None:
        registers = _saved_registers(context, context.architecture)
        if registers:
            lines.append(" Saved registers:")
            lines += [f"  {register}" for register in registers]
    return lines


def _cfa(context: FrameContext) -> str:
    try:
        cfa = context.cfa
    except Error as error:
        return f"<{error}>"
    if cfa is None or not cfa.places:
        return "<unknown>"
    place = cfa.places[0]
    return place.describe().removeprefix("memory at ")


def _return_address(context: FrameContext) -> str:
    try:
        address = context.return_address()
    except Error as error:
        return f"<{error}>"
    return "<not saved>" if address is None else f"{address:#x}"


def _saved_registers(context: FrameContext, architecture: Architecture) -> list[str]:
    """Registers whose caller's value is somewhere else than in the register, and where."""
    found = context.found_row
    assert found is not None
    shown = []
    for number in sorted(found.row.rules):
        try:
            location = found.row.register_location(number, context)
            if location.is_undefined or location == context.register_location(number):
                continue
            bits = 8 * (architecture.register_size(number) or 0)
            lanes = architecture.register_elements(number)
            own = f"in ${architecture.register_name(number)}"
            words = _by_lane(location, lanes, own) if lanes > 1 else _in_parts(location, bits)
            if words in (LOST, own):
                continue
        except Error as error:
            words = f"<{error}>"
        shown.append(f"{architecture.register_name(number)} {words}")
    return shown


def _in_parts(location: LocationDescription, bits: int) -> str:
    """Where a scalar register is: ``in $s33``, ``in $v40, lane 0 and $v40, lane 1``, ``at private_wave#0x100``."""
    texts = [leaf_words(part) for part in joined(location.fragments(bits, 0))]
    return texts[0] if len(texts) == 1 else " and ".join([texts[0], *(text.removeprefix("in ") for text in texts[1:])])


def _by_lane(location: LocationDescription, lanes: int, own: str) -> str:
    """Where a vector register is, the lanes that are in the same place together; ``own`` where none was moved."""
    masks: dict[str, int] = {}
    for lane in range(lanes):
        text = " and ".join(_of_lane(part, lane) for part in location.fragments(LANE_BITS, LANE_BITS * lane))
        masks[text] = masks.get(text, 0) | 1 << lane
    if len(masks) == 1:
        return next(iter(masks))
    if not masks.keys() - {LOST, own}:
        return own
    return ", ".join(f"{text} for lanes [{lane_ranges(mask)}]" for text, mask in masks.items())


def _of_lane(part: Fragment, lane: int) -> str:
    """The place of a lane's dword as that of the whole vector, where the lanes follow each other."""
    start = part.offset - LANE_BITS * lane
    if isinstance(part.storage, RegisterStorage) and start == 0:
        return f"in ${part.storage.name}"
    if isinstance(part.storage, MemoryStorage) and part.storage.lane is None and start >= 0:
        return leaf_words(Fragment(part.storage, start, part.bits))
    return leaf_words(part)
