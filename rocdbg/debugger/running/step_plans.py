"""What a step has learnt of the places it comes to, as a plan that the target follows without coming back.

A step is decided on where its lane or wave arrives (`rocdbg.debugger.running.stepping`). An arrival at a place that was
decided on before, with the same answer, need not be asked about again: it becomes a row of a `StopPlan`. Nothing is
worked out in advance, and nothing is learnt that depends on more than the place and on whether the lane is active.
"""

from __future__ import annotations

from msgspec import Struct, field

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.arch.dwarf_registers import FRAME_REGISTERS, RegisterClass, dwarf_register
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.compiled_locations import compile_location
from rocdbg.debugger.frames.compiled_places import InRegister, Pieces, Place, Untranslatable
from rocdbg.debugger.frames.entry_point_of_frame import entry_points_of
from rocdbg.debugger.frames.frame_context import FrameContext, lane_entries
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.lane_pcs import top_context
from rocdbg.debugger.frames.wave_access import ThreadAccess
from rocdbg.debugger.program.extents import function_start
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.running.runner import Runner, thread_of
from rocdbg.debugger.running.step_calls import links_at
from rocdbg.debugger.running.step_start import StepStart
from rocdbg.dwarf.info.attribute_expressions import as_written
from rocdbg.dwarf.reader import results
from rocdbg.errors import Error
from rocdbg.sim.core.layout import EXEC_LO, VCC_LO
from rocdbg.sim.core.stop_plan import RowFlag, StopPlan


class StepPlan(Struct):
    """The plan of one step of a lane, from ``start`` on. ``into``: calls are entered where they can be."""

    inferior: Inferior
    scope: Focus
    start: StepStart
    into: bool
    program: Program
    plan: StopPlan

    @classmethod
    def of(cls, runner: Runner, scope: Focus, start: StepStart, into: bool) -> StepPlan | None:
        """A plan with nothing in it; ``None`` where each instruction has to be looked at."""
        inferior, thread = runner.parts.inferior, thread_of(scope)
        if scope.lane is None or any(one.is_idle or one.needs_checks for one in runner.watcher.all()):
            return None
        program = inferior.program_of(thread)
        low, high = program.text_range()
        function = _extent(program, start) if runner.top_frame(scope).program is program else None
        return cls(inferior, scope, start, into, program, StopPlan(low, high - low, scope.lane, function))

    # -- what is learnt where the wave is

    def goes_on(self, low: int, high: int) -> None:
        """The lane is active, in the frame it began in, and goes on in a range."""
        pc = self._pc
        mask = self._mask()
        if mask is None or (self.start.place is not None and pc == self.start.place[1]):
            return  # behind the call of this very function the wave is perhaps in its caller
        row = self.plan.row(pc)
        row.flags |= RowFlag.ACTIVE | self._entry(pc)
        row.active, row.mask, row.links = (low, high), mask, self._links(pc)
        self.plan.put(pc, row)

    def waits(self, low: int, high: int, known: bool) -> None:
        """The lane is not active, and is looked for again where the wave leaves a range. ``known``: it was active when
        the wave left the last, and where it waits is known for all lanes."""
        pc = self._pc
        mask = self._mask()
        if mask is None:
            return
        row = self.plan.row(pc)
        row.flags |= RowFlag.WAITING | self._entry(pc)
        if known and self._tells_all(pc):
            row.flags |= RowFlag.KNOWN_WAIT
        row.waiting, row.mask, row.links = (low, high), mask, self._links(pc)
        self.plan.put(pc, row)

    def called(self, entry: LoadedAddress, entered: bool) -> None:
        """A call that began at ``entry`` was run through, and the wave is where it returned to. ``entered``: it would
        have been entered if that were to be done."""
        if not self.plan.get("function_size"):
            return
        row = self.plan.row(entry)
        row.links = links_at(self.inferior, entry)
        row.flags |= RowFlag.WAITING_ENTRY
        if entered == self.into:
            row.flags |= RowFlag.ENTRY
        self.plan.put(entry, row)
        behind = self._pc
        frame = self._frame_register()
        if frame is not None:
            row = self.plan.row(behind)
            row.flags |= RowFlag.FRAME
            row.frame = frame or None
            self.plan.put(behind, row)

    # -- parts

    @property
    def _pc(self) -> LoadedAddress:
        return self.inferior.wave(thread_of(self.scope)).pc

    def _entry(self, pc: LoadedAddress) -> RowFlag:
        """A row of a function's entry is first asked whether it was called."""
        return RowFlag.WAITING_ENTRY if self._begins_function(pc) else RowFlag(0)

    def _begins_function(self, pc: LoadedAddress) -> bool:
        program = self.inferior.programs.at(pc)
        begin = function_start(program, pc)
        return begin is not None and program.to_loaded(begin) == pc

    def _links(self, pc: LoadedAddress) -> tuple[int, ...]:
        return links_at(self.inferior, pc) if self._begins_function(pc) else ()

    @property
    def _context(self) -> FrameContext:
        """The innermost frame at the wave's own PC, read anew."""
        inferior, thread = self.inferior, thread_of(self.scope)
        program = inferior.program_of(thread)
        return top_context(program, inferior.need_target(), Focus(thread, self.scope.lane), inferior.unwinder(program))

    def _mask(self) -> int | None:
        """The scalar register that has the active lanes where the wave is: of a pair the first, such that the lane's
        half is where it is in EXEC. ``None`` where it is no register that is always the same at this place."""
        context, inferior, lane = self._context, self.inferior, self.scope.lane
        program, target = context.program, inferior.need_target()
        assert lane is not None
        wave = target.wave(thread_of(self.scope))
        address = program.to_file(wave.pc)
        if lane >= min(context.lanes, wave.lane_count) or not wave.used_lanes >> lane & 1:
            return None
        try:
            if entry_points_of(context.function):
                return None
            for entry in lane_entries(context):
                told = results.expression(entry.die, results.ACTIVE_LANE)
                if told is not None:
                    return _register_of(compile_location(as_written(told, entry.unit), context), lane)
            exec_map = inferior.exec_map(program)
            if not inferior.lane_pc_synthesis:
                saved = exec_map.saved_mask(address, wave.lane_count)
                return EXEC_LO if saved is None else saved
            wakes = exec_map.wakes_lanes(address, wave.lane_count)
            found = inferior.machine_code(program).active_lanes(address, wave.lane_count) if wakes else None
            return EXEC_LO if found is None else _register_of(compile_location(found, context), lane)
        except (Error, Untranslatable):
            return None

    def _tells_all(self, pc: LoadedAddress) -> bool:
        """Whether it is known at a place where each lane waits, whichever way it has come there."""
        context, inferior = self._context, self.inferior
        program, size = context.program, context.wave_size
        if not inferior.lane_pc_synthesis:
            return False
        if any(results.expression(entry.die, results.LANE_PC) is not None for entry in lane_entries(context)):
            return False
        return inferior.machine_code(program).tells_all(program.to_file(pc), size)

    def _frame_register(self) -> int | None:
        """The scalar register that alone tells in which frame of its function the wave is; 0 where there is only one
        frame. ``None`` where it takes more."""
        if self.start.place is None:
            return 0
        context, reads = self._context, _Reads()
        context.access.reader = reads
        try:
            cfa = context.cfa
        except Error:
            return None
        finally:
            context.access.reader = None
        if cfa is None or reads.memory or len(reads.registers) != 1:
            return None
        (number,) = reads.registers
        return dwarf_register(number).index if number in FRAME_REGISTERS else None


class _Reads(Struct):
    """What is read, by number of registers."""

    registers: set[int] = field(default_factory=set)
    memory: bool = False

    def read_register(self, access: ThreadAccess, number: int, offset: int, size: int) -> None:
        self.registers.add(number)

    def read_memory(self, access: ThreadAccess, space: int, address: int, size: int, lane: int | None) -> None:
        self.memory = True


def _register_of(place: Place, lane: int) -> int | None:
    """The operand code of the first dword of a mask, such that the lane's dword lies behind it as in a pair."""
    half = lane // 32
    if isinstance(place, Pieces):
        if len(place.parts) <= half or any(bits != 32 for _, bits in place.parts):
            return None
        place = place.parts[half][0]
    elif isinstance(place, InRegister):
        place = place.moved(32 * half)
    if not isinstance(place, InRegister) or place.by_lane or place.bit % 32:
        return None
    register, dword = dwarf_register(place.number), place.bit // 32
    if not 0 <= dword < register.size // 4:
        return None
    match register.register_class:
        case RegisterClass.SGPR:
            code = register.index
        case RegisterClass.EXEC:
            code = EXEC_LO + dword
        case RegisterClass.VCC:
            code = VCC_LO + dword
        case _:
            return None
    return code - half if code >= half else None


def _extent(program: Program, start: StepStart) -> tuple[int, int] | None:
    """Where the code of the function is that a step began in, ``None`` where it is in several pieces."""
    if start.function_low is not None:
        function = program.info.function_at(FileAddress(start.function_low))
        if function is None or function.low_pc != start.function_low or len(function.ranges) != 1:
            return None
        (only,) = function.ranges
        return program.to_loaded(only.low), program.to_loaded(only.high)
    code = program.functions.at(start.code) if start.code is not None else None
    return (program.to_loaded(FileAddress(code.start)), program.to_loaded(FileAddress(code.end))) if code else None


__all__ = ["StepPlan"]
