"""The selection: the default wave, lane, frame and iteration of commands."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from rocdbg.debugger.base.errors import FocusError, NotRunningError
from rocdbg.debugger.base.focus import STATIC, Focus
from rocdbg.debugger.base.warnings import Warnings
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.inferior import Inferior, is_used
from rocdbg.debugger.target.capabilities.target_state import WaveInfo
from rocdbg.debugger.target.process_target import ProcessTarget
from rocdbg.errors import Error

DIVERGENT = "lane is divergent, skipping inactive frames"
"""The warning about a lane that has not entered the innermost frames of its wave."""


class Selection:
    """A focus that commands move. It lasts for one run of the inferior and ends with the target."""

    def __init__(self, inferior: Inferior, warnings: Warnings, current: Focus = STATIC) -> None:
        self._inferior = inferior
        self._warnings = warnings
        self._life = inferior.life
        self._current = current

    @property
    def current(self) -> Focus:
        """The focus; `STATIC` while nothing runs."""
        return self._current if self._life == self._inferior.life else STATIC

    def move(self, focus: Focus) -> Focus:
        """Make ``focus``, which must exist, the current one."""
        self._current, self._life = focus, self._inferior.life
        return focus

    def need_running(self) -> Focus:
        """Return the focus; raises `NotRunningError` if there is no lane to focus."""
        if self._inferior.target is None or self.current.thread is None:
            raise NotRunningError
        return self.current

    def need_stack(self) -> Focus:
        """Return the focus for a request about frames; raises `NoRegistersError` if there is no lane to focus."""
        return self._inferior.need_stack(self.current)

    # -- threads and lanes

    def select_thread(self, thread: int, lane: int | None = None) -> Focus:
        """``thread N`` or ``thread N:L``; frame 0 is selected. Raises `FocusError`."""
        inferior = self._inferior
        waves = inferior.target.waves() if inferior.target is not None else ()
        if not any(wave.number == thread for wave in waves):
            raise FocusError(f"Unknown thread {thread}.")
        wave = inferior.wave(thread)
        if lane is None:
            active = inferior.active_lanes(thread) & wave.used_lanes
            keep = self.current.lane if self.current.thread == thread and is_used(inferior, self.current) else None
            lane = keep if keep is not None else (active & -active).bit_length() - 1 if active else 0
        self._check_lane(wave, lane)
        return self._innermost(thread, lane)

    def select_lane(self, lane: int) -> Focus:
        """``lane L``. Raises `FocusError`; warns if the lane is inactive, or unused, and has no logical PC."""
        focus = self.need_running()
        assert focus.thread is not None
        self._check_lane(self._inferior.wave(focus.thread), lane)
        return self._innermost(focus.thread, lane)

    def check_exists(self, thread: int | None, lane: int | None) -> None:
        """Raise `FocusError` for a thread that does not exist, or for a lane that the thread (or any thread) does not
        have.
        """
        inferior = self._inferior
        waves = inferior.target.waves() if inferior.target is not None else ()
        if thread is not None and not any(wave.number == thread for wave in waves):
            raise FocusError(f"Unknown thread {thread}.")
        program = inferior.program
        lanes = inferior.lane_count(thread) if thread is not None else program.wave_size if program is not None else 64
        if lane is not None and lane >= lanes:
            raise FocusError(f"Unknown lane {lane}.")

    def _innermost(self, thread: int, lane: int) -> Focus:
        """Focus a lane, in the innermost frame that it is in."""
        focus = Focus(thread, lane)
        follow(self._inferior, thread)
        if not is_used(self._inferior, focus):
            return self.move(focus)
        self.move(focus.with_frame(self._inferior.chain(focus).innermost))
        if self.current.frame:
            self._warnings.add(DIVERGENT)
        return self.current

    def _check_lane(self, wave: WaveInfo, lane: int) -> None:
        inferior = self._inferior
        if not 0 <= lane < inferior.lane_count(wave.number):
            raise FocusError(f"Lane {lane} does not exist on this thread.")
        if not wave.used_lanes >> lane & 1:
            self._warnings.add("Current lane is unused.")
            return
        is_active = inferior.active_lanes(wave.number) & 1 << lane
        if is_active:
            return
        entered = inferior.entered(wave.number, lane)
        if entered is not None and entered.candidates is not None:
            self._warnings.add("Current lane is inactive, lane position unknown.")
        elif entered is None or entered.pc is None:
            self._warnings.add("Current lane is inactive.")

    def select_iteration(self, iteration: int) -> Focus:
        """``iteration N``: focus one of the loop iterations that execute together. Raises `FocusError`."""
        focus = self.need_running()
        count = self._inferior.iteration_count(focus)
        if not 0 <= iteration < count:
            raise FocusError(f"Iteration {iteration} does not exist in this frame; the last one is {count - 1}.")
        return self.move(replace(focus, iteration=iteration))

    def iteration_count(self) -> int:
        """How many iterations of a loop execute together at the selected frame (DW_AT_LLVM_iterations)."""
        return self._inferior.iteration_count(self.need_running())

    def settle(self) -> None:
        """If the focus is on a wave that has ended, move it to the first wave, as after an interrupt."""
        target = self._inferior.target
        waves = target.waves() if target is not None else ()
        if waves and all(wave.number != self.current.thread for wave in waves):
            self.move(Focus(waves[0].number, self._first_active(waves[0])))

    def _first_active(self, wave: WaveInfo) -> int:
        try:
            active = self._inferior.active_lanes(wave.number) & wave.used_lanes
        except Error:  # damaged debug information: fall back to any lane
            active = 0
        return (active & -active).bit_length() - 1 if active else 0

    def name_thread(self, name: str) -> None:
        """``thread name``; an empty one removes it."""
        focus = self.need_running()
        assert focus.thread is not None
        self._inferior.thread_names[focus.thread] = name

    def name_lane(self, name: str) -> None:
        """``lane name``."""
        focus = self.need_running()
        assert focus.thread is not None and focus.lane is not None
        self._inferior.lane_names[focus.thread, focus.lane] = name

    # -- frames

    def frames(self, focus: Focus | None = None) -> Iterator[Frame]:
        """Yield the frames of a lane (by default the current one), innermost first, inline ones included."""
        return self._inferior.frames(self.current if focus is None else focus)

    def frame(self, focus: Focus | None = None) -> Frame:
        """Return the frame of a focus (by default the selected one). Raises `FocusError` when there is none."""
        return self._inferior.frame(self.current if focus is None else focus)

    def is_divergent(self) -> bool:
        """Whether there are frames that the lane has not entered and that are therefore not shown."""
        return self._inferior.chain(self.need_stack()).innermost > 0

    def select_frame(self, level: int) -> Focus:
        """``frame N``. Raises `FocusError`."""
        focus = self.need_stack()
        chain = self._inferior.chain(focus)
        if level < chain.innermost or chain.get(level) is None:
            raise FocusError(f"No frame at level {level}.")
        return self.move(focus.with_frame(level))

    def up(self, count: int = 1) -> Focus:
        """``up``; a negative count goes down. Goes as far as there are frames; raises `FocusError` at either end."""
        focus = self.need_stack()
        chain = self._inferior.chain(focus)
        at = max(focus.frame, chain.innermost)
        wanted = at + count
        if count > 0:
            last = at
            while last < wanted and chain.get(last + 1) is not None:
                last += 1
            if last == at:
                raise FocusError("Initial frame selected; you cannot go up.")
            wanted = last
        elif wanted < chain.innermost:
            if at <= chain.innermost:
                raise FocusError("Bottom (innermost) frame selected; you cannot go down.")
            wanted = chain.innermost
        return self.select_frame(wanted)


def follow(inferior: Inferior, thread: int) -> None:
    """In a process with several code objects, give precedence to the names of the one that a wave executes."""
    if isinstance(inferior.target, ProcessTarget):
        inferior.programs.follow(inferior.wave(thread).pc)
