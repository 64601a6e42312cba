"""Descriptions of frames: the lines of ``info frame``."""

from __future__ import annotations

import re

from rocdbg.arch.lane_sets import lane_ranges
from rocdbg.debugger.frames.frame_context import FrameContext, static_link
from rocdbg.debugger.frames.frames import Frame, FrameKind
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.reports.location_descriptions import LANE_BITS, joined, leaf_words
from rocdbg.dwarf import evaluate_frame_base
from rocdbg.dwarf.architecture import Architecture
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.storage import Fragment, MemoryStorage, RegisterStorage
from rocdbg.errors import Error

LOST = "optimized out"
"""What `leaf_words` returns for undefined storage."""


def describe_frame(
    frame: Frame, inferior: Inferior, arguments: str, selected: bool = True, verbose: bool = False
) -> list[str]:
    """Describe a frame: its place, its caller, how it was unwound, and where registers are saved.

    ``arguments`` is the text of its arguments; the level is included for the selected frame. ``verbose``: also list
    where its lane may be, if that is not known.
    """
    context = frame.context
    base = _cfa(context)
    lines = [f"Stack level {frame.level}, frame at {base}:" if selected else f"Stack frame at {base}:"]
    where = f" ({frame.file.name}:{frame.line})" if frame.file is not None and frame.line else ""
    name = f" in {frame.name}" if frame.name else ""
    saved = _return_address(context)
    lines.append(f" pc = {frame.pc:#x}{name}{where}; saved pc = {saved}")
    chain = inferior.chain(frame.scope)
    outer = chain.get(frame.level + 1)
    inner = chain.get(frame.level - 1) if frame.level > chain.innermost else None
    if outer is None and frame.stop_reason:
        lines.append(f" Outermost frame: {frame.stop_reason}")
    relatives = []
    if frame.inline is not None:
        relatives.append(f" inlined into frame {frame.level + 1}")
    elif outer is not None:
        # the dummy frame of the debugger is where the stack was when the debugger made the call
        relatives.append(f" called by frame at {base if outer.kind is FrameKind.DUMMY else _cfa(outer.context)}")
    if inner is not None:
        relatives.append(f" caller of frame at {_cfa(inner.context)}")
    if relatives:
        lines.append(",".join(relatives))
    if frame.function is not None:
        lines.append(f" source language {frame.function.unit.language_name}.")
    link = static_link(context)
    if link is not None:
        lines.append(f" static link: {link.describe()}")
    own = _frame_base(context)
    if frame.inline is None:
        lines.append(f" Arglist at {own}, args: {arguments}")
        lines.append(f" Locals at {own}, Previous frame's sp is {base}")
    else:  # the stack frame is that of the enclosing function
        lines.append(" Arglist at unknown address.")
        lines.append(" Locals at unknown address, Previous frame's sp in s32")
    lines += _lane_position(frame, inferior, verbose)
    found = context.found_row
    lines.append(f" unwound by {found.source}." if found is not None else " no unwind information here.")
    if found is not None:
        registers = _saved_registers(context, context.architecture)
        if registers:
            lines.append(" Saved registers:")
            lines += [f"  {register}" for register in registers]
    return lines


def frame_address(frame: Frame) -> int | None:
    """Return the stack address of a frame, as ``frame address`` accepts it; ``None`` if not known."""
    found = re.search(r"(?:#|^)(0x[0-9a-f]+)$", _cfa(frame.context))
    return int(found[1], 16) if found is not None else None


def _lane_position(frame: Frame, inferior: Inferior, verbose: bool) -> list[str]:
    """Return what machine code shows about an inactive lane, in the lane's innermost frame."""
    scope = frame.scope
    if scope.thread is None or scope.lane is None or inferior.is_active(scope):
        return []
    entered = inferior.entered(scope.thread, scope.lane)
    if entered is None or frame.level_of_physical != entered.level:
        return []
    if entered.candidates is None:
        return [" lane position synthesised from machine code."] if entered.synthesised else []
    if not verbose:
        return [' lane position unknown (use "info frame -v" for the reason).']
    if not entered.candidates:
        return [
            " lane position unknown: no remaining mask can make the lane active again, or it could continue "
            "at too many places."
        ]
    program = frame.program
    places = []
    for address in entered.candidates:
        row = program.line_at(address)
        line = f" ({row.file.name}:{row.line})" if row is not None and row.line else ""
        places.append(f"{address:#x}{line}")
    return [f" lane position unknown: later code decides whether the lane continues at {' or '.join(places)}."]


def _cfa(context: FrameContext) -> str:
    try:
        cfa = context.cfa
    except Error as error:
        return f"<{error}>"
    if cfa is None or not cfa.places:
        return "<unknown>"
    place = cfa.places[0]
    return place.describe().removeprefix("memory at ")


def _frame_base(context: FrameContext) -> str:
    """Return the base of the function's own variables; by default the frame's address."""
    try:
        text = evaluate_frame_base(context).describe() if context.frame_base is not None else ""
    except Error:
        text = ""
    return text.removeprefix("memory at ") if text.startswith("memory at ") else _cfa(context)


def _return_address(context: FrameContext) -> str:
    try:
        address = context.return_address()
    except Error as error:
        return f"<{error}>"
    return "<not saved>" if address is None else f"{address:#x}"


def _saved_registers(context: FrameContext, architecture: Architecture) -> list[str]:
    """Return the registers whose value in the caller is no longer in the register itself, with its place."""
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
    """Describe the location of a scalar register: ``in $s33``, ``in $v40, lane 0 and $v40, lane 1``, ``at
    private_wave#0x100``.
    """
    texts = [leaf_words(part) for part in joined(location.fragments(bits, 0))]
    return texts[0] if len(texts) == 1 else " and ".join([texts[0], *(text.removeprefix("in ") for text in texts[1:])])


def _by_lane(location: LocationDescription, lanes: int, own: str) -> str:
    """Describe the location of a vector register; lanes at the same place are grouped. Return ``own`` if no lane was
    moved.
    """
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
    """Return the place of the whole vector, given a lane's dword, if the lanes are adjacent."""
    start = part.offset - LANE_BITS * lane
    if isinstance(part.storage, RegisterStorage) and start == 0:
        return f"in ${part.storage.name}"
    if isinstance(part.storage, MemoryStorage) and part.storage.lane is None and start >= 0:
        return leaf_words(Fragment(part.storage, start, part.bits))
    return leaf_words(part)
