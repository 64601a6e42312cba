"""The inferior: the program being debugged, the target that runs it, and the current frames of its lanes.

Every query takes a `Focus`; this module does not know which one the user has selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.errors import FocusError, NoRegistersError, NotRunningError, UnusedLaneError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.active_lanes import active_lanes
from rocdbg.debugger.frames.frames import CalledFrom, Frame, FrameChain
from rocdbg.debugger.frames.machine_code import MachineCode
from rocdbg.debugger.frames.unwind_sources import FoundRow, Rows, Unwinder
from rocdbg.debugger.frames.waiting_lanes import Entered, LanePcs, LanePlace, top_context
from rocdbg.debugger.program.exec_map import ExecMap
from rocdbg.debugger.program.loaded_programs import Programs
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.capabilities.function_calling import calls_of
from rocdbg.debugger.target.capabilities.runnable import Runnable
from rocdbg.debugger.target.capabilities.target_state import Target, WaveInfo
from rocdbg.dwarf.info import SourceFile


class Inferior:
    """The program being debugged and its state.

    Attributes: programs: its code objects, `Programs`. target: what runs or holds the program, ``None`` before a run
    and after it. life: counts the targets so far; facts about one target do not apply to the next. inline_entered: by
    thread, how many of the inlined calls that begin at its PC count as not yet entered. behind_traps: by thread, the
    address of the debug trap at which it last stopped, and the PC after it. source_line: gives the text of a line of
    source, ``None`` where it is not found. thread_names, lane_names: names that the user gave them.
    """

    def __init__(self) -> None:
        self.programs = Programs()
        self.target: Target | None = None
        self.life = 0
        self.inline_entered: dict[int, int] = {}
        self.behind_traps: dict[int, tuple[int, int]] = {}
        self.thread_names: dict[int, str] = {}
        self.lane_names: dict[tuple[int, int], str] = {}
        self._unwinders: dict[Program, Unwinder] = {}
        self._exec_maps: dict[Program, ExecMap] = {}
        self._syntheses: dict[Program, MachineCode] = {}
        self.lane_pc_synthesis = True
        """Whether machine code is analysed for lane positions that debug information lacks; call `state_changed` after
        changing it.
        """
        self.source_line: Callable[[SourceFile, int], str | None] = lambda file, line: None
        self._chains: dict[Focus, FrameChain] = {}
        self._first_chains: dict[tuple[int, int | None, LanePlace], FrameChain] = {}
        """For each place of lanes in a wave, the frames of the lane there that was requested first."""
        self._active: dict[int, tuple[int, int]] = {}
        self._used: dict[int, int] = {}
        self._lane_pcs: dict[int, LanePcs] = {}

    # -- contents

    def use(self, program: Program | None, programs: Sequence[Program]) -> None:
        """Debug these code objects from now on, ``program`` first; they have no target yet. With None, code becomes
        known only when a target has loaded it.
        """
        # in one step: an interrupt must not leave one program's names with another's frames
        self.programs.use(program, programs)
        self._unwinders, self._exec_maps, self._syntheses = {}, {}, {}
        self.state_changed()

    def attach(self, target: Target) -> bool:
        """Let ``target`` run the program from now on; return what `Programs.update` returns."""
        self.leave()
        self.target = target
        return self.programs.update(target.code_objects())

    def leave(self) -> None:
        """Drop the target and all that is known about its waves."""
        self.target = None
        self.life += 1
        self.inline_entered.clear()
        self.behind_traps.clear()
        self.thread_names.clear()
        self.lane_names.clear()
        self.state_changed()

    @property
    def program(self) -> Program | None:
        """The code object whose names take precedence, ``None`` before ``file``."""
        return self.programs.first

    def need_program(self) -> Program:
        """Return the program; raises `NoProgramError`."""
        return self.programs.need()

    def need_target(self) -> Target:
        """Return the target; raises `NotRunningError`."""
        if self.target is None:
            raise NotRunningError
        return self.target

    def need_runnable(self) -> Runnable:
        """Return the target's capability to run. Raises `NotRunningError` if there is no target, or it cannot run."""
        target = self.need_target()
        if target.runnable is None:
            raise NotRunningError
        return target.runnable

    @property
    def running(self) -> bool:
        """Whether there is a target with waves to look at."""
        return self.target is not None and not self.target.finished

    def unwinder(self, program: Program) -> Unwinder:
        """Return the unwind rules of a code object."""
        found = self._unwinders.get(program)
        if found is None:
            synthesis = self.machine_code(program)
            found = self._unwinders[program] = Unwinder(program, lambda program, wave_size: synthesis.rows(wave_size))
            found.elsewhere = self._elsewhere
        return found

    def _elsewhere(self, address: LoadedAddress) -> tuple[Program, Rows]:
        program = self.programs.at(address)
        return program, self.unwinder(program).row

    def exec_map(self, program: Program) -> ExecMap:
        """Where the code of a code object changes EXEC."""
        found = self._exec_maps.get(program)
        if found is None:
            found = self._exec_maps[program] = ExecMap(program)
        return found

    def _synthesis(self, program: Program) -> MachineCode | None:
        return self.machine_code(program) if self.lane_pc_synthesis else None

    def machine_code(self, program: Program) -> MachineCode:
        """Facts derived from a program's machine code."""
        found = self._syntheses.get(program)
        if found is None:
            found = self._syntheses[program] = MachineCode(program)
            found.source_line = self.source_line
        return found

    # -- waves and lanes

    def state_changed(self) -> None:
        """Drop the cached state of the target; called when it runs or registers are written."""
        self._chains.clear()
        self._first_chains.clear()
        self._active.clear()
        self._used.clear()
        self._lane_pcs.clear()

    def wave(self, thread: int) -> WaveInfo:
        """Return a resident wave. Raises `FocusError` if it has ended, `NotRunningError` without a target."""
        return self.need_target().wave(thread)

    def program_of(self, thread: int) -> Program:
        """Return the code object whose code a wave executes."""
        return self.programs.at(self.wave(thread).pc)

    def active_lanes(self, thread: int) -> int:
        """Return the mask of active lanes of a wave."""
        return self._activity(thread)[0]

    def lane_count(self, thread: int) -> int:
        """Return the number of lanes: those of the wave, or fewer if DW_AT_LLVM_lanes says so at its position."""
        return self._activity(thread)[1]

    def is_active(self, focus: Focus) -> bool:
        """Whether the focused lane is active; a focus without a lane counts as active."""
        if focus.thread is None or focus.lane is None:
            return True
        return bool(self.active_lanes(focus.thread) >> focus.lane & 1)

    def _activity(self, thread: int) -> tuple[int, int]:
        """`active_lanes` and `lane_count`, cached until the target runs."""
        found = self._active.get(thread)
        if found is None:
            program, target = self.program_of(thread), self.need_target()
            unwinder = self.unwinder(program)
            innermost = top_context(program, target, Focus(thread, 0), unwinder)
            wave = self.wave(thread)
            count = min(innermost.lanes, wave.lane_count)
            active = active_lanes(program, target, thread, unwinder, self.exec_map(program), self._synthesis(program))
            found = self._active[thread] = active & wave.used_lanes & (1 << count) - 1, count
        return found

    def _lane_pcs_of(self, thread: int) -> LanePcs:
        """Where the lanes of a wave are."""
        found = self._lane_pcs.get(thread)
        if found is None:
            program = self.program_of(thread)
            found = self._lane_pcs[thread] = LanePcs(
                program, self.need_target(), thread, self.unwinder(program), self.active_lanes(thread),
                self._synthesis(program),
            )
        return found

    def entered(self, thread: int, lane: int) -> Entered | None:
        """Return the innermost frame that an inactive lane has entered, and its place there; ``None`` if not known."""
        return self._lane_pcs_of(thread).entered(lane)

    def lane_pcs(self, thread: int, level: int = 0) -> list[int | None] | None:
        """DW_AT_LLVM_lane_pc for all lanes of a wave, ``None`` where its function has none.

        ``level`` counts physical frames, 0 the innermost.
        """
        return self._lane_pcs_of(thread).vector(level)

    # -- frames

    def chain(self, focus: Focus) -> FrameChain:
        """Return the current frames of a lane; cached until the target runs."""
        key = focus.with_frame(0)
        found = self._chains.get(key)
        if found is None:
            thread, target = key.thread, self.need_target()
            assert thread is not None
            lane_pcs = self._lane_pcs_of(thread)
            program = lane_pcs.program
            found = self._chains[key] = FrameChain(
                program, target, key, self.unwinder(program), self.inline_entered.get(thread),
                lane_pcs, self._trapped_at(thread), self._called_from(target, key),
            )
            place = lane_pcs.place(key.lane) if key.lane is not None and found.called_from is None else None
            if place is not None:
                first = self._first_chains.setdefault((thread, key.iteration, place), found)
                found.like = first if first is not found else None
        return found

    def _called_from(self, target: Target, focus: Focus) -> CalledFrom | None:
        """Where the debugger called the function that a wave of ``target`` is in; ``None``: the debugger did not call
        it.
        """
        thread = focus.thread
        assert thread is not None
        calls = calls_of(target)
        if calls is None or not calls.depth(thread):
            return None
        outer = calls.before(thread)

        def frames() -> FrameChain:
            program = self.programs.at(outer.wave(thread).pc)
            unwinder = self.unwinder(program)
            synthesis = self._synthesis(program)
            active = active_lanes(program, outer, thread, unwinder, self.exec_map(program), synthesis)
            return FrameChain(
                program, outer, focus, unwinder, None, LanePcs(program, outer, thread, unwinder, active, synthesis),
                called_from=self._called_from(outer, focus),
            )

        return CalledFrom(calls.return_address, frames)

    def _trapped_at(self, thread: int) -> int | None:
        """Return the address of the debug trap after which a wave is stopped; ``None`` if it has moved on or its PC was
        written.
        """
        if thread not in self.behind_traps:
            return None
        trap, behind = self.behind_traps[thread]
        return trap if self.wave(thread).pc == behind else None

    def frames(self, focus: Focus) -> Iterator[Frame]:
        """Yield the frames of a lane, innermost first, inline ones included; lazily unwound. Raises `NoRegistersError`.
        """
        return iter(self.chain(self.need_stack(focus)))

    def frame(self, focus: Focus) -> Frame:
        """The frame at ``focus.frame``. Raises `FocusError` when there is none, `NoRegistersError` without a wave."""
        found = self.chain(self.need_stack(focus)).get(focus.frame)
        if found is None:
            raise FocusError(f"No frame at level {focus.frame}.")
        return found

    def need_stack(self, focus: Focus) -> Focus:
        """Return ``focus`` if it names a lane of a target. Raises `NoRegistersError` in GDB's words, `UnusedLaneError`.
        """
        if self.target is None or focus.thread is None:
            raise NoRegistersError("stack")
        if focus.lane is not None and not is_used(self, focus):
            raise UnusedLaneError(focus.lane)
        return focus

    def iteration_count(self, focus: Focus) -> int:
        """How many iterations of a loop execute together at a frame (DW_AT_LLVM_iterations)."""
        return self.frame(focus).context.iterations

    def unwind_row(self, pc: LoadedAddress, focus: Focus) -> FoundRow | None:
        """Return the unwind rules at a loaded address for waves like the one in focus, and their source."""
        self.need_program()
        program = self.programs.at(pc)
        running = self.target is not None and focus.thread is not None
        wave_size = self.wave(focus.thread or 0).lane_count if running else program.wave_size
        return self.unwinder(program).row(program.to_file(pc), wave_size)


def outwards(inferior: Inferior, frame: Frame) -> Iterator[Frame]:
    """Yield a frame and its callers."""
    return (other for other in inferior.frames(frame.scope) if other.level >= frame.level)


def is_used(inferior: Inferior, focus: Focus) -> bool:
    """Whether a lane has a work-item; unused lanes of partial waves have no work-item and no frames."""
    if focus.lane is None or focus.thread is None:
        return True
    used = inferior._used.get(focus.thread)
    if used is None:
        used = inferior._used[focus.thread] = inferior.wave(focus.thread).used_lanes
    return bool(used >> focus.lane & 1)
