"""The session's focus: the selected wave, lane, frame and iteration, the frames there, and tables of what there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.errors import FocusError, NoProgramError, NoRegistersError, NotRunningError
from rocdbg.debugger.expr.convenience import Convenience
from rocdbg.debugger.expr.program_environment import ProgramEnvironment
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames.frames import Frame, FrameChain
from rocdbg.debugger.frames.lane_pcs import LanePcs, active_lanes, top_context
from rocdbg.debugger.frames.unwind import FoundRow, Unwinder
from rocdbg.debugger.program.exec_map import ExecMap
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports import tables
from rocdbg.debugger.reports.frame import describe_frame
from rocdbg.debugger.reports.rows import LaneRow, LibraryRow, ThreadRow
from rocdbg.debugger.running.launch import LaunchControl
from rocdbg.debugger.settings import Settings
from rocdbg.debugger.target.protocol import AgentInfo, DispatchInfo, QueueInfo, Target, WaveInfo
from rocdbg.debugger.target.simulated import SimTarget
from rocdbg.debugger.values.history import ValueHistory

DIVERGENT = "lane is divergent, skipping inactive frames"
"""The warning where a lane has not entered the innermost frames of its wave."""


class SessionFocus:
    """The part of a `Session` that says where we are; the attributes are the session's."""

    settings: Settings
    program: Program | None
    target: Target | None
    launch: LaunchControl
    history: ValueHistory
    convenience: Convenience
    scope: Focus
    exec_map: ExecMap | None
    inline_entered: dict[int, int]
    behind_traps: dict[int, tuple[int, int]]
    _unwinder: Unwinder | None
    _chains: dict[Focus, FrameChain]
    _active: dict[int, tuple[int, int]]
    _lane_pcs: dict[int, LanePcs]
    _warnings: list[str]
    _thread_names: dict[int, str]
    _lane_names: dict[tuple[int, int], str]

    def need_program(self) -> Program:
        """The program; raises `NoProgramError`."""
        if self.program is None:
            raise NoProgramError
        return self.program

    def need_target(self) -> Target:
        """The running target; raises `NotRunningError`."""
        if self.target is None:
            raise NotRunningError
        return self.target

    # -- lanes and frames as they are now

    def chain(self, scope: Focus) -> FrameChain:
        """The frames of a lane as they are now; kept until the target runs."""
        key = scope.with_frame(0)
        found = self._chains.get(key)
        if found is None:
            assert self._unwinder is not None
            assert key.thread is not None
            shown = self.inline_entered.get(key.thread)
            found = FrameChain(
                self.need_program(), self.need_target(), key, self._unwinder, shown,
                self._lane_pcs_of(key.thread), self._trapped_at(key.thread),
            )  # fmt: skip
            self._chains[key] = found
        return found

    def _trapped_at(self, thread: int) -> int | None:
        """Where the debug trap is that a wave stands behind; ``None`` when it has gone on or its PC was written."""
        trap, behind = self.behind_traps.get(thread, (None, None))
        return trap if self.need_target().wave(thread).pc == behind else None

    def active_lanes(self, thread: int) -> int:
        """The mask of active lanes of a wave."""
        return self._activity(thread)[0]

    def lane_count(self, thread: int) -> int:
        """The lanes there are: those of the wave, or as few as DW_AT_LLVM_lanes says for where it stands."""
        return self._activity(thread)[1]

    def _activity(self, thread: int) -> tuple[int, int]:
        """`active_lanes` and `lane_count`, kept until the target runs."""
        assert self._unwinder is not None
        assert self.exec_map is not None
        found = self._active.get(thread)
        if found is None:
            program, target = self.need_program(), self.need_target()
            innermost = top_context(program, target, Focus(thread, 0), self._unwinder)
            count = min(innermost.lanes, self.wave(thread).lane_count)
            active = active_lanes(program, target, thread, self._unwinder, self.exec_map)
            found = self._active[thread] = active & (1 << count) - 1, count
        return found

    def _lane_pcs_of(self, thread: int) -> LanePcs:
        """Where the lanes of a wave are."""
        assert self._unwinder is not None
        found = self._lane_pcs.get(thread)
        if found is None:
            found = LanePcs(
                self.need_program(), self.need_target(), thread, self._unwinder, self.active_lanes(thread)
            )
            self._lane_pcs[thread] = found
        return found

    def state_changed(self) -> None:
        """Drop what was read of the target's state; called when it runs or registers are written."""
        self._chains.clear()
        self._active.clear()
        self._lane_pcs.clear()

    def warn(self, text: str) -> None:
        """Keep a warning for `take_warnings`."""
        self._warnings.append(text)

    def take_warnings(self) -> list[str]:
        """Warnings since the last call, without the ``warning: `` prefix."""
        warnings, self._warnings = self._warnings, []
        return warnings

    # -- focus

    def _running_scope(self) -> Focus:
        if self.target is None or self.scope.thread is None:
            raise NotRunningError
        return self.scope

    def _lane_scope(self) -> Focus:
        return self._running_scope().with_frame(0)

    def wave(self, thread: int) -> WaveInfo:
        """A resident wave. Raises `FocusError` when it has ended, `NotRunningError` without a target."""
        return self.need_target().wave(thread)

    def select_thread(self, thread: int, lane: int | None = None) -> Focus:
        """``thread N`` or ``thread N:L``; frame 0 is selected. Raises `FocusError`."""
        target = self.target
        waves = target.waves() if target is not None else ()
        if not any(wave.number == thread for wave in waves):
            raise FocusError(f"Unknown thread {thread}.")
        wave = self.wave(thread)
        if lane is None:
            active = self.active_lanes(thread) & wave.used_lanes
            keep = self.scope.lane if self.scope.thread == thread else None
            lane = keep if keep is not None else (active & -active).bit_length() - 1 if active else 0
        self._check_lane(wave, lane)
        return self._focus(thread, lane)

    def select_lane(self, lane: int) -> Focus:
        """``lane L``. Raises `FocusError`; an inactive (or unused) lane without logical PC costs a warning."""
        scope = self._running_scope()
        assert scope.thread is not None
        self._check_lane(self.wave(scope.thread), lane)
        return self._focus(scope.thread, lane)

    def _focus(self, thread: int, lane: int) -> Focus:
        """Focus a lane, in the innermost frame that it is in."""
        scope = Focus(thread, lane)
        self.scope = scope.with_frame(self.chain(scope).innermost)
        if self.scope.frame:
            self.warn(DIVERGENT)
        return self.scope

    def _check_lane(self, wave: WaveInfo, lane: int) -> None:
        if not 0 <= lane < self.lane_count(wave.number):
            raise FocusError(f"Lane {lane} does not exist on this thread.")
        is_active = self.active_lanes(wave.number) & wave.used_lanes & 1 << lane
        if not is_active and self.logical_pc(wave.number, lane) is None:
            self.warn("Current lane is inactive.")

    def logical_pc(self, thread: int, lane: int) -> int | None:
        """Where a lane is by DW_AT_LLVM_lane_pc, in whichever frame; ``None`` where nothing says."""
        entered = self._lane_pcs_of(thread).entered(lane)
        return entered.pc if entered is not None else None

    def lane_pcs(self, thread: int, level: int = 0) -> list[int | None] | None:
        """DW_AT_LLVM_lane_pc for all lanes of a wave, ``None`` where its function has none.

        ``level`` counts physical frames, 0 the innermost.
        """
        return self._lane_pcs_of(thread).vector(level)

    def select_iteration(self, iteration: int) -> Focus:
        """``iteration N``: focus one of the loop iterations that run at once. Raises `FocusError`."""
        scope = self._running_scope()
        count = self.iteration_count()
        if not 0 <= iteration < count:
            raise FocusError(f"Iteration {iteration} does not exist here.")
        self.scope = replace(scope, iteration=iteration)
        return self.scope

    def iteration_count(self) -> int:
        """How many iterations of a loop run at once at the selected frame (DW_AT_LLVM_iterations)."""
        self._running_scope()
        return self.frame().context.iterations

    def select_frame(self, level: int) -> Focus:
        """``frame N``. Raises `FocusError`."""
        scope = self._need_stack()
        chain = self.chain(scope)
        if level < chain.innermost or chain.get(level) is None:
            raise FocusError(f"No frame at level {level}.")
        self.scope = scope.with_frame(level)
        return self.scope

    def up(self, count: int = 1) -> Focus:
        """``up``; negative counts go down. Goes as far as there are frames; raises `FocusError` at the ends."""
        scope = self._need_stack()
        at = max(scope.frame, self.chain(scope).innermost)
        wanted = at + count
        if count > 0:
            last = at
            while last < wanted and self.chain(scope).get(last + 1) is not None:
                last += 1
            if last == at:
                raise FocusError("Initial frame selected; you cannot go up.")
            wanted = last
        elif wanted < (innermost := self.chain(scope).innermost):
            if at <= innermost:
                raise FocusError("Bottom (innermost) frame selected; you cannot go down.")
            wanted = innermost
        return self.select_frame(wanted)

    def _need_stack(self) -> Focus:
        if self.target is None or self.scope.thread is None:
            raise NoRegistersError("stack")
        return self.scope

    # -- tables

    def threads(self) -> Sequence[ThreadRow]:
        """``info threads``: resident waves in order of creation."""
        return tables.threads(self, self._thread_names)

    def lanes(self, thread: int | None = None) -> Sequence[LaneRow]:
        """``info lanes``: all lanes of a wave (by default the current one); the front end filters."""
        if thread is None:
            thread = self._running_scope().thread
        assert thread is not None
        return tables.lanes(self, thread, self._lane_names)

    def name_thread(self, name: str) -> None:
        """``thread name``; an empty one removes it."""
        scope = self._running_scope()
        assert scope.thread is not None
        self._thread_names[scope.thread] = name

    def name_lane(self, name: str) -> None:
        """``lane name``."""
        scope = self._running_scope()
        assert scope.thread is not None and scope.lane is not None
        self._lane_names[scope.thread, scope.lane] = name

    def agents(self) -> Sequence[AgentInfo]:
        """``info agents``."""
        return self.target.agents() if self.target is not None else []

    def queues(self) -> Sequence[QueueInfo]:
        """``info queues``."""
        return self.target.queues() if self.target is not None else []

    def dispatches(self) -> Sequence[DispatchInfo]:
        """``info dispatches``."""
        return self.target.dispatches() if self.target is not None else []

    def shared_libraries(self) -> Sequence[LibraryRow]:
        """``info sharedlibrary``: loaded code objects."""
        if self.program is None or not self.program.loaded:
            return []
        low, high = self.program.text_range()
        return [LibraryRow(low, high, self.program.has_debug_info, self.program.uri)]

    # -- frames and variables

    def frames(self, scope: Focus | None = None) -> Iterator[Frame]:
        """The frames of a lane, innermost first, inline ones included; lazily unwound."""
        if scope is None:
            scope = self._need_stack()
        return iter(self.chain(scope))

    def unwind_row(self, pc: LoadedAddress) -> FoundRow | None:
        """The unwind rules at a loaded address, and where they come from."""
        program = self.need_program()
        assert self._unwinder is not None
        running = self.target is not None and self.scope.thread is not None
        wave_size = self.wave(self.scope.thread or 0).lane_count if running else program.wave_size
        return self._unwinder.row(program.to_file(pc), wave_size)

    def is_divergent(self, scope: Focus | None = None) -> bool:
        """Whether there are frames that the lane has not entered, and which are not shown therefore."""
        return self.chain(scope or self._need_stack()).innermost > 0

    def frame(self, scope: Focus | None = None) -> Frame:
        """The frame at ``scope.frame``. Raises `FocusError` when there is none."""
        if scope is None:
            scope = self._need_stack()
        found = self.chain(scope).get(scope.frame)
        if found is None:
            raise FocusError(f"No frame at level {scope.frame}.")
        return found

    def describe_frame(self, frame: Frame) -> list[str]:
        """The lines of ``info frame``."""
        return describe_frame(frame, self.chain(frame.scope).get(frame.level + 1) is not None)

    def environment(self, scope: Focus | None = None) -> ProgramEnvironment:
        """What expressions are evaluated in at a scope (by default the current one)."""
        if scope is None:
            scope = self.scope
        frame = self.frame(scope) if self.target is not None and scope.thread is not None else None
        return self._environment(frame)

    def _environment(self, frame: Frame | None) -> ProgramEnvironment:
        target = self.target
        if target is None and self.launch.bound is not None and self.program is not None:
            bound = self.launch.bound
            target = SimTarget(bound.machine, bound.dispatch, "")
        return ProgramEnvironment(
            self.program, target, frame, self.settings, self.history, self.convenience
        )
