"""The frames of one lane: physical ones found with unwind rules, and inline ones between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from functools import cached_property
from itertools import pairwise

from msgspec import Struct, field
from msgspec.structs import replace

from rocdbg.addresses import NOWHERE, FileAddress, LoadedAddress
from rocdbg.arch.dwarf_registers import sgpr_number
from rocdbg.codeobject.demangle import function_name
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frame_context import FrameContext, entered, share_caller, waiting_at
from rocdbg.debugger.frames.unwind_sources import Unwinder
from rocdbg.debugger.frames.waiting_lanes import MAX_FRAMES, Entered, LanePcs
from rocdbg.debugger.frames.waiting_lanes import top_context as top_context
from rocdbg.debugger.program.functions_with_code import inlined_starting_at
from rocdbg.debugger.program.opencl_kernels import is_kernel_body
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.trap_messages import message_in
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.dwarf.info import Function, InlinedSubroutine, LineRow, SourceFile
from rocdbg.dwarf.info import Scope as CodeScope
from rocdbg.errors import Error
from rocdbg.work import unit


class FrameKind(Enum):
    """Whether a frame has registers of its own."""

    NORMAL = "normal"
    INLINE = "inline"
    DUMMY = "dummy"
    """Represents the debugger, which called the function of the frame inside this one."""


class FrameId(Struct, frozen=True):
    """Identity of a frame: its place, the start of its function, and its inline depth.

    ``place`` is the CFA and the return address as numbers, ``None`` for an outermost frame.
    """

    place: tuple[int | None, int | None] | None
    function: int | None
    inline_depth: int


class Frame(Struct, eq=False, dict=True):
    """One frame of one lane.

    ``level`` counts from 0, the innermost. ``pc`` is the address as loaded: for a caller the return address;
    ``lookup_pc`` is inside the call (after a debug trap: at the trap) and determines scopes and lines. ``function`` is
    the function whose frame this is; for an inline frame, the inlined function, and ``inline`` is then the inlined
    call. ``scopes`` are the blocks of this frame, innermost first; its own function or inlined call comes last. If the
    function was entered through an entry point, that entry point follows, because its parameters are the frame's.
    """

    level: int
    kind: FrameKind
    scope: Focus
    pc: LoadedAddress
    lookup_pc: LoadedAddress
    program: Program
    context: FrameContext
    function: Function | None
    inline: InlinedSubroutine | None = None
    inline_depth: int = 0
    scopes: tuple[CodeScope, ...] = ()
    call_file: SourceFile | None = None
    call_line: int | None = None
    is_outermost: bool = False
    hidden: int = 0
    """Inlined calls that begin at the PC and count as not yet entered: their frames are not shown."""
    stop_reason: str = ""
    """Why unwinding ended here, if the caller is not known."""
    candidates: tuple[LoadedAddress, ...] | None = None
    """The possible places of a lane whose position is not known; ``pc`` is then the wave's PC."""

    _origin: Frame | None = None

    def at_level(self, level: int) -> Frame:
        """Return the same frame at another level, because there are frames inside it."""
        return replace(self, level=level, scope=self.scope.with_frame(level))

    def at_lane(self, lane: int) -> Frame:
        """Return this frame for another lane at the same place. For that lane, too, it must be the innermost frame."""
        scope = self.scope
        return replace(
            self, scope=Focus(scope.thread, lane, scope.frame, scope.iteration), context=self.context.at_lane(lane),
            _origin=self.origin,
        )

    @property
    def origin(self) -> Frame:
        """The other lane's frame from which this frame was copied; if it was not copied, this frame itself."""
        return self if self._origin is None else self._origin

    @property
    def row(self) -> LineRow | None:
        """The line table's row at this frame's PC."""
        return self._row if self._origin is None else self._origin._row

    @cached_property
    def _row(self) -> LineRow | None:
        return self.program.line_at(self.lookup_pc)

    @property
    def file(self) -> SourceFile | None:
        """The file of this frame's position; for a frame around an inlined call, the file of the call."""
        if self.call_line is not None:
            return self.call_file
        return self.row.file if self.row is not None and self.row.line else None

    @property
    def line(self) -> int | None:
        """The line of this frame's position, ``None`` if not known."""
        if self.call_line is not None:
            return self.call_line
        return self.row.line if self.row is not None and self.row.line else None

    @property
    def name(self) -> str | None:
        """The function's name as backtraces show it, ``None`` when not even a symbol is known."""
        if self.kind is FrameKind.DUMMY:
            return "<function called from gdb>"
        if self.function is not None:
            name = self.function.qualified_name or self.function.name
            if name is not None:
                linkage = self.function.linkage_name
                if linkage is not None and linkage.startswith("_Z") and ("<" in name or name == "operator()"):
                    return function_name(linkage)  # as in GDB: template arguments and closures as mangled
                return name
        found = self.program.symbol_and_offset(self.lookup_pc, data=False)
        return found[0] if found is not None else None

    @property
    def has_debug_info(self) -> bool:
        """Whether debug information describes the function."""
        return self.function is not None

    @property
    def shows_address(self) -> bool:
        """Whether a frame line shows the PC, which it does if the PC is not at the beginning of a line."""
        if self.line is None or self.row is None:
            return True
        if self.call_line is not None:
            return False  # the call of an inlined function has a line but no address
        if self.pc != self.lookup_pc:
            return True  # a return address
        if self.program.to_loaded(self.row.address) != self.pc:
            return True
        if self.row.is_stmt:
            return False
        before = self.program.info.line_at(FileAddress(self.row.address - 1))  # the middle of the same line?
        return before is not None and (before.line, before.file) == (self.row.line, self.row.file)

    @property
    def level_of_physical(self) -> int:
        """0 for the innermost physical frame and the inline frames in it."""
        count = 0
        context = self.context.callee
        while context is not None:
            count += 1
            context = context.callee
        return count

    @cached_property
    def id(self) -> FrameId:
        """Identity for stepping."""
        start = self.function.low_pc if self.function is not None else None
        if self.inline is not None:
            start = self.inline.low_pc
        return FrameId(physical_place(self.context), start, self.inline_depth)


def physical_place(context: FrameContext) -> tuple[int | None, int | None] | None:
    """Return the CFA and return address of a physical frame; ``None`` for an outermost one or if rules are missing."""
    try:
        returns_to = context.return_address()
        if returns_to is None:
            return None
        cfa = context.cfa
        place = cfa.places[0].bit_offset if cfa is not None and cfa.places else None
    except Error:
        return None
    return place, returns_to


class CalledFrom(Struct):
    """A call that the debugger made: the address it returns to, and the frames of the lane where it was made."""

    return_address: int
    frames: Callable[[], FrameChain]


class FrameChain(Struct):
    """The frames of one lane, unwound as far as requested. Valid until the target runs.

    Frames of functions that the lane has not entered are omitted; the others keep their numbers.
    """

    program: Program
    target: Target
    scope: Focus
    unwinder: Unwinder
    not_entered: int | None = None
    """How many inlined calls that begin at the PC are hidden; ``None``: all."""
    lane_pcs: LanePcs | None = None
    """Positions of the lanes; without them, every lane is at the position of its wave."""
    trapped_at: int | None = None
    """Loaded address of the debug trap after which the wave has just stopped: the position that the user sees."""
    called_from: CalledFrom | None = None
    """Where the debugger called the function that the wave is in; ``None``: the debugger did not call it."""
    like: FrameChain | None = None
    """The frames of another lane at the same place, from which the innermost frame can be copied."""
    _first: Frame | None = None
    _frames: list[Frame] = field(default_factory=list)
    _iterator: Iterator[Frame] | None = None

    def __iter__(self) -> Iterator[Frame]:
        index = self.innermost
        while True:
            frame = self.get(index)
            if frame is None:
                return
            yield frame
            index += 1

    def get(self, level: int) -> Frame | None:
        """Return the frame at a level, ``None`` past the outermost; levels below `innermost` give the innermost frame.
        """
        first = self._first if self._first is not None or self.like is None else self._of_another(self.like)
        if first is not None and level <= first.level:
            return first
        if self._iterator is None:
            self._iterator = self._unwind()
        while not self._frames or self._frames[-1].level < level:
            unit()
            try:
                frame = next(self._iterator, None)
            except Error:  # raised again by the next request
                self._iterator = None
                self._frames.clear()
                raise
            if frame is None:
                return None
            self._frames.append(frame)
        return self._frames[max(0, level - self._frames[0].level)]

    def _of_another(self, like: FrameChain) -> Frame | None:
        """Return the innermost frame, copied from another lane's; ``None`` if that is not possible."""
        self.like = None
        with suppress(Error):  # the error may concern only this lane
            first, lane = like.get(0), self.scope.lane
            self._first = first.at_lane(lane) if first is not None and lane is not None else None
        return self._first

    @property
    def innermost(self) -> int:
        """The level of the innermost frame that the lane is in: 0 unless there are frames that the lane has not
        entered.
        """
        frame = self.get(0)
        return frame.level if frame is not None else 0

    def _entered(self) -> Entered:
        """Return the physical level at which the lane's frames begin, and its PC there."""
        lane, lane_pcs = self.scope.lane, self.lane_pcs
        if lane is None or lane_pcs is None or lane_pcs.active >> lane & 1:
            return Entered(0, None)
        return lane_pcs.entered(lane) or Entered(0, None)

    def _unwind(self) -> Iterator[Frame]:
        thread = self.scope.thread
        assert thread is not None
        context: FrameContext | None = top_context(self.program, self.target, self.scope, self.unwinder)
        level = 0
        seen: set[tuple[int | None, int | None]] = set()
        pc_shown = self.target.wave(thread).pc
        entered = self._entered()
        for depth in range(MAX_FRAMES):
            assert context is not None
            if depth == entered.level and entered.pc is not None and entered.pc != pc_shown:
                context = waiting_at(context, entered.pc)
                pc_shown = entered.pc
            elif depth == 0 and self.trapped_at is not None:
                context = waiting_at(context, LoadedAddress(self.trapped_at))
            frames = self._inline_frames(context, level, pc_shown)
            if depth == entered.level:
                for frame in frames:
                    frame.candidates = entered.candidates
            shared = self.lane_pcs.unwound(depth) if self.lane_pcs is not None else None
            if shared is not None and shared.wave_pc == context.wave_pc:
                share_caller(context, shared)
            if self._is_called(context):
                if depth >= entered.level:
                    yield from frames
                yield from self._beyond(level + len(frames), context)
                return
            caller, reason = self._caller(context, seen)
            frames[-1].is_outermost = caller is None
            frames[-1].stop_reason = reason
            # damaged information may end the chain before the lane's frame
            if depth >= entered.level or caller is None:
                yield from frames
            if caller is None:
                return
            level += len(frames)
            pc_shown = LoadedAddress((caller.pc or NOWHERE) + 1)
            context = caller

    def _is_called(self, context: FrameContext) -> bool:
        """Whether a physical frame is that of a function that the debugger called."""
        if self.called_from is None:
            return False
        try:
            if context.found_row is None and context.callee is None:
                # The code is unknown or missing: the address may still be where the caller put it.
                low, high = (context.access.read_register(sgpr_number(30 + half), 0, 4) for half in (0, 1))
                return int.from_bytes(low + high, "little") == self.called_from.return_address
            return context.return_address() == self.called_from.return_address
        except Error:
            return False

    def _beyond(self, level: int, context: FrameContext) -> Iterator[Frame]:
        """Yield the dummy frame of the debugger, then the frames of the place where it made the call."""
        assert self.called_from is not None
        outer = self.called_from.frames()
        scope, returns_to = self.scope.with_frame(level), LoadedAddress(self.called_from.return_address)
        caller = context.next_frame() or context
        yield Frame(level, FrameKind.DUMMY, scope, returns_to, returns_to, self.program, caller, None)
        for frame in outer:
            level += 1
            yield frame.at_level(level)

    def _caller(
        self, context: FrameContext, seen: set[tuple[int | None, int | None]]
    ) -> tuple[FrameContext | None, str]:
        function = context.function
        if function is not None and context.program.is_kernel(function):
            return None, ""
        try:
            caller = context.next_frame()
        except Error as error:
            return None, str(error)
        if caller is None:
            return None, "" if context.found_row is not None else "no unwind information"
        place = physical_place(context)
        if place is not None:
            if place in seen:
                return None, "previous frame identical to this frame (corrupt stack?)"
            seen.add(place)
        if caller.pc is None or caller.program.symbol_at(caller.pc) is None:
            return None, "the return address is not in the program"
        return caller, ""

    def _inline_frames(self, context: FrameContext, level: int, pc: LoadedAddress) -> list[Frame]:
        """Return the frames at one physical PC, innermost first."""
        program = context.program
        lookup = context.pc or NOWHERE
        file_pc = program.to_file(lookup)
        function = context.function
        scopes = program.info.scopes_at(file_pc) if function is not None else ()
        inlined = program.info.inline_frames_at(file_pc) if function is not None else ()
        frames: list[Frame] = []
        start = 0
        hidden = 0
        if context.callee is None and inlined and self.trapped_at is None:
            starting = len(inlined_starting_at(program, lookup))
            hidden = starting if self.not_entered is None else min(self.not_entered, starting)
            for instance in inlined[:hidden]:
                start = next((i + 1 for i, s in enumerate(scopes) if s.offset == instance.offset), start)
        while hidden < len(inlined) and message_in(inlined[hidden].function.name):  # a trap's message
            start = next((i + 1 for i, s in enumerate(scopes) if s.offset == inlined[hidden].offset), start)
            hidden += 1
        all_inlined = inlined
        inlined = inlined[hidden:]
        for depth, instance in enumerate(inlined):
            end = next((i for i, s in enumerate(scopes) if s.offset == instance.offset), start)
            frames.append(
                Frame(
                    level + depth, FrameKind.INLINE, self.scope.with_frame(level + depth), pc, lookup,
                    program, context, instance.function, instance, len(inlined) - depth,
                    tuple(scopes[start : end + 1]),
                )
            )
            start = end + 1
            if is_kernel_body(instance.function):
                break  # the enclosing kernel is clang's wrapper, not the user's code
        else:
            number = level + len(frames)
            entry = entered(context)
            frames.append(
                Frame(
                    number, FrameKind.NORMAL, self.scope.with_frame(number), pc, lookup, program, context,
                    function, scopes=(*scopes[start:], *(() if entry is None else (entry,))),
                )
            )
        for inner, outer in pairwise(frames):
            assert inner.inline is not None
            outer.call_file = inner.inline.call_file
            outer.call_line = inner.inline.call_line
        if hidden:
            frames[0].hidden = hidden
            frames[0].call_file = all_inlined[hidden - 1].call_file
            frames[0].call_line = all_inlined[hidden - 1].call_line
        return frames
