"""Makes catchpoints, and finds out which events happen where.

Waves begin at one address and end at s_endpgm, so both events can be detected by stopping there. Without catchpoints
this costs nothing, and every way of running the program (natively, step by step, or replayed from a recording) stops at
the same instruction. Exceptions and traps stop the target in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from rocdbg import isa
from rocdbg.addresses import LoadedAddress
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.codeobject import CodeObject
from rocdbg.codeobject.elf import PF_X
from rocdbg.debugger.base.errors import BreakpointError
from rocdbg.debugger.breakpoints.breakpoint_parts import BreakpointParts
from rocdbg.debugger.breakpoints.breakpoint_table import Arrival, Disposition, Hit
from rocdbg.debugger.breakpoints.catchpoints import BEGIN, END, Catchpoint, Event
from rocdbg.debugger.target.capabilities.runnable import TargetStop
from rocdbg.debugger.target.capabilities.target_state import DispatchInfo, LoadedCodeObject, Target, WaveInfo
from rocdbg.sim.core.builder import Op
from rocdbg.sim.core.lane_expressions import Field, Node, apply, both, constant

_ENDS = frozenset({"s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done"})
_MESSAGES = frozenset({"s_sendmsg", "s_sendmsghalt", "s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64"})
_NONE: frozenset[LoadedAddress] = frozenset()


class Catcher:
    """Creates the catchpoints of a session's table, and detects their events."""

    def __init__(self, parts: BreakpointParts) -> None:
        self._parts = parts
        self._loaded: Sequence[LoadedCodeObject] = ()
        self._found: dict[frozenset[str], frozenset[LoadedAddress]] = {}
        self._target: Target | None = None
        self.looked_at: int | None = None
        """The wave whose place was examined last since the command began: it may continue from there without stopping
        again.
        """
        self._again: set[int] = set()
        """Waves that have to stop at their current place once more."""
        self._travelled = self._replaying = False
        """Whether the target has moved in time since the last resume, and whether it was replaying then."""

    def make(self, event: Event, when: tuple[str, ...] = (), argument: str = "", temporary: bool = False) -> Catchpoint:
        """Create a catchpoint that is not in a table yet; an empty ``when`` means both begin and end, if the event has
        them.
        """
        made = Catchpoint(0, "", event=event, when=when or ((BEGIN, END) if event.has_ends else ()), argument=argument)
        made.disposition = Disposition.DELETE if temporary else Disposition.KEEP
        made.places, made.happening, made.guard = self._places, self._happening, self._guard
        return made

    # -- events of waves

    def _instructions(self, names: frozenset[str]) -> frozenset[LoadedAddress]:
        """Return the addresses of instructions with these names in the target's loaded code."""
        target = self._parts.inferior.need_target()
        loaded = target.code_objects()
        if loaded is not self._loaded:
            self._loaded = loaded
            self._found.clear()
        if names not in self._found:
            self._found[names] = frozenset(
                LoadedAddress(each.base + address)
                for each in loaded
                for address in instruction_places(each.code_object, names)
            )
        return self._found[names]

    def ends(self) -> frozenset[LoadedAddress]:
        """Return the addresses where waves end."""
        return self._instructions(_ENDS)

    def _dispatches(self, made: Catchpoint) -> list[DispatchInfo]:
        """Return the dispatches in progress to which a catchpoint applies."""
        target = self._parts.inferior.target
        rows = target.dispatches() if target is not None else ()
        return [row for row in rows if made.event is not Event.DISPATCH or made.matches(row.kernel)]

    def _places(self, made: Catchpoint) -> frozenset[LoadedAddress]:
        dispatches = self._dispatches(made)
        if not dispatches:
            return _NONE
        if made.event is Event.SENDMSG:
            return self._instructions(_MESSAGES)
        return _NONE.union(*(self._places_of(made, row) for row in dispatches))

    def _places_of(self, made: Catchpoint, dispatch: DispatchInfo) -> frozenset[LoadedAddress]:
        if not made.event.has_ends:
            return _NONE
        begins, ends = BEGIN in made.when, END in made.when
        if made.event is Event.DISPATCH:
            begins = begins and not dispatch.instructions
            if ends and not self._all_there(dispatch):
                # A dispatch cannot end before its last workgroup begins: wait for a wave of that group.
                begins, ends = True, False
        places = frozenset({dispatch.entry}) if begins else _NONE
        return places | self._instructions(_ENDS) if ends else places

    def _all_there(self, dispatch: DispatchInfo) -> bool:
        """Whether all workgroups of a dispatch have begun."""
        return len({wave.workgroup for wave in self._waves(dispatch)}) == dispatch.groups_left

    def _waves(self, dispatch: DispatchInfo) -> list[WaveInfo]:
        return [wave for wave in self._parts.inferior.need_target().waves() if wave.id.dispatch == dispatch.number]

    def _guard(self, made: Catchpoint, address: int) -> Node | None:
        dispatches = [row for row in self._dispatches(made) if row.entry == address]
        if not dispatches or not made.event.has_ends:
            return None
        if END in made.when and address in self._instructions(_ENDS):
            return None  # the kernel is empty: its waves begin and end at the same address
        fresh = _is("instructions", 0)
        dispatch = dispatches[0]
        if made.event is not Event.DISPATCH or not dispatch.instructions or len(dispatches) > 1:
            return fresh
        groups = [-(-total // size) for total, size in zip(dispatch.grid, dispatch.workgroup, strict=True)]
        last = [_is(f"workgroup_{axis}", count - 1) for axis, count in zip("xyz", groups, strict=True)]
        return both(fresh, *last)

    def _happening(self, made: Catchpoint, thread: int) -> str:
        target = self._parts.inferior.need_target()
        wave = target.wave(thread)
        dispatch = next((row for row in self._dispatches(made) if row.number == wave.id.dispatch), None)
        if dispatch is None:
            return ""
        if made.event is Event.SENDMSG:
            return self._text(target, wave)
        begins, ends = _EVENTS[made.event]
        words, fresh = [], wave.pc == dispatch.entry and not wave.instructions
        waves = self._waves(dispatch)
        if BEGIN in made.when and fresh and begins(waves, wave, dispatch):
            words.append(BEGIN)
        if END in made.when and wave.pc in self._instructions(_ENDS) and ends(self, waves, wave, dispatch):
            words.append(END)
        return f"{made.event.value} {' and '.join(words)}" if words else ""

    def forget(self) -> None:
        """Forget reported events, because the target has moved in time: waves reach their ends again, and stop there.
        """
        self._travelled = True
        self._again.clear()
        for one in self._catchpoints():
            one.reported.clear()

    def note(self, thread: int) -> None:
        """Record that an event was reported, so that it is not reported again while the wave remains in that state."""
        position = self._position
        for one in self._catchpoints():
            if thread in one.reported:
                one.report_positions[thread] = position

    @property
    def _position(self) -> int:
        """The target's position in time; constant for a target that cannot change it."""
        recording = self._parts.inferior.need_target().recording
        return recording.position if recording is not None else 0

    def prepare(self, stepped: int | None) -> bool:
        """Prepare catchpoints before the target resumes, and return whether ``stepped`` has to stop once more.

        A wave that stopped at its end may not have been the last of its workgroup then, but may be the last when it
        continues: such a wave stops once more.
        """
        target = self._parts.inferior.need_target()
        if target is not self._target:
            self._target = target
            self.forget()
            for one in self._catchpoints():
                one.report_positions.clear()
        recording = target.recording
        replaying = recording is not None and recording.replaying
        if self._travelled or (self._replaying and not replaying):
            self._recall(self._position, live=not replaying)
        self._travelled, self._replaying = False, replaying
        if not any(END in one.when for one in self._all(Event.DISPATCH, Event.WORKGROUP, Event.WAVE)):
            return False
        ends, runnable = self._instructions(_ENDS), self._parts.inferior.need_runnable()
        for wave in target.waves():
            if wave.pc in ends and wave.number != self.looked_at and runnable.stop_again(wave.number):
                self._again.add(wave.number)
        return stepped in self._again

    def _recall(self, position: int, live: bool) -> None:
        """Restore the record of the ends of waves that were reported up to a position in time, so that they are not
        reported again.
        """
        for one in self._catchpoints():
            if live:  # drop reports about a future that was discarded
                one.report_positions = {wave: at for wave, at in one.report_positions.items() if at <= position}
            one.reported.update(wave for wave, at in one.report_positions.items() if at <= position)

    @property
    def again_at(self) -> frozenset[LoadedAddress]:
        """The addresses where waves stop once more."""
        return self._instructions(_ENDS) if self._again else _NONE

    def look(self, thread: int) -> bool:
        """Record that a stopped wave's place was examined; return whether the wave had stopped there before."""
        again = thread in self._again
        self._again.discard(thread)
        self.looked_at = thread
        return again

    def _text(self, target: Target, wave: WaveInfo) -> str:
        code = target.read_memory(AddressSpace.GLOBAL, wave.pc, 4)
        return isa.decode(code, target.architecture.name, address=wave.pc).text

    # -- events at which the target stops

    def caught(self, stop: TargetStop, arrival: Arrival, problem: Callable[[str], None]) -> tuple[list[Hit], str]:
        """Return the catchpoints for an exception or trap, after counting them, and what the first one caught."""
        hits: list[Hit] = []
        words = ""
        for made in self._all(Event.EXCEPTION, Event.TRAP):
            if made.event is Event.TRAP:
                what = "" if stop.trap_id is None else str(stop.trap_id)
            else:
                what = made.argument if made.argument in stop.exceptions else "" if made.argument else ", ".join(
                    stop.exceptions
                )
            if not what or made.argument not in ("", what):
                continue
            if self._parts.breakpoints.counts(made, arrival, stop.lanes, problem) is not None:
                words = words or f"{made.event.value} {what}"
                hits.append(Hit(made, stop.lanes))
        return hits, words

    def loaded(self, arrival: Arrival, problem: Callable[[str], None]) -> tuple[list[Hit], str]:
        """Return the catchpoints for the code objects of a new target, after counting them, and the objects' names."""
        names = [program.uri for program in self._parts.inferior.programs if program.loaded]
        return self.code_change(names, (), arrival, problem)

    def code_change(
        self, come: Sequence[str], gone: Sequence[str], arrival: Arrival, problem: Callable[[str], None]
    ) -> tuple[list[Hit], str]:
        """Return the catchpoints for code objects that were loaded or unloaded, after counting them, and their names.
        """
        hits = [
            Hit(made, 0)
            for event, names in ((Event.LOAD, come), (Event.UNLOAD, gone))
            for made in self._all(event)
            if any(made.matches(name) for name in names)
            and self._parts.breakpoints.counts(made, arrival, 0, problem) is not None
        ]
        lines = [*(f"\n  Inferior loaded {name}" for name in come), *(f"\n  Inferior unloaded {name}" for name in gone)]
        return hits, "".join(lines)

    def _all(self, *events: Event) -> list[Catchpoint]:
        return [one for one in self._catchpoints() if one.enabled and one.event in events]

    def _catchpoints(self) -> list[Catchpoint]:
        return [one for one in self._parts.breakpoints.elsewhere if isinstance(one, Catchpoint)]


def _is(name: str, value: int) -> Node:
    return apply(Op.EQ, Field(name), constant(value))


def _first_of_group(waves: Sequence[WaveInfo], wave: WaveInfo, dispatch: DispatchInfo) -> bool:
    group = [other for other in waves if other.workgroup == wave.workgroup]
    x, y, z = wave.workgroup_size
    return len(group) == -(-x * y * z // wave.lane_count) and not any(other.instructions for other in group)


def _last_of_group(catcher: Catcher, waves: Sequence[WaveInfo], wave: WaveInfo, dispatch: DispatchInfo) -> bool:
    return sum(other.workgroup == wave.workgroup for other in waves) == 1


def _last_of_all(catcher: Catcher, waves: Sequence[WaveInfo], wave: WaveInfo, dispatch: DispatchInfo) -> bool:
    return len(waves) == 1 and catcher._all_there(dispatch)


_Begins = Callable[[Sequence[WaveInfo], WaveInfo, DispatchInfo], bool]
_Ends = Callable[[Catcher, Sequence[WaveInfo], WaveInfo, DispatchInfo], bool]
_EVENTS: dict[Event, tuple[_Begins, _Ends]] = {
    Event.DISPATCH: (lambda waves, wave, dispatch: not dispatch.instructions, _last_of_all),
    Event.WORKGROUP: (_first_of_group, _last_of_group),
    Event.WAVE: (lambda waves, wave, dispatch: True, lambda catcher, waves, wave, dispatch: True),
}
"""For each event, whether the beginning and the end of a wave are also the beginning and the end of the event."""


def check_trap(text: str) -> str:
    """Return the number of a trap in normalised form. Raises `BreakpointError`."""
    try:
        number = int(text, 0)
    except ValueError:
        number = -1
    if not 0 <= number <= 0xFF:
        raise BreakpointError(f"Invalid trap ID: {text} (0 to 255)")
    return str(number)


# Finds scalar instructions by name in a code object without decoding all its code.
_KINDS = ((0xFF80_0000, 0xBF80_0000, 0xFFFF_0000), (0xFF80_0000, 0xBE80_0000, 0xFF80_FF00))
"""For SOPP and SOP1: the mask and the value that identify the encoding, and the bits that select the instruction."""


def instruction_places(code_object: CodeObject, names: Collection[str]) -> list[int]:
    """Return the file addresses of all dwords that would be executed as SOPP or SOP1 instructions of these names.

    A wave whose PC reaches one of them is about to execute such an instruction. Some of the dwords may be literals or
    data, which a PC never reaches.
    """
    target, found = code_object.target.name, list[int]()
    for part in code_object.layout.parts:
        if not part.flags & PF_X:
            continue
        data = code_object.source.bytes_at(part.file_offset, part.file_size, part.name)
        skipped = -part.address % 4
        words = np.frombuffer(data, "<u4", max(0, len(data) - skipped) // 4, skipped)
        for mask, value, opcode in _KINDS:
            at = np.flatnonzero(words & mask == value)
            codes, where = np.unique(words[at] & opcode, return_inverse=True)
            wanted = [_name(int(code), target) in names for code in codes]
            rows = at[np.array(wanted, bool)[where]]
            found += (part.address + skipped + 4 * rows.astype(np.uint64)).tolist()
    return sorted(found)


def _name(word: int, target: str) -> str:
    try:
        return isa.decode(word.to_bytes(4, "little"), target).name
    except isa.DecodeError:
        return ""
