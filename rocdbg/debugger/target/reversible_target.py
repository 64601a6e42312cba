"""The simulated device with a past: a `Target` that can go back in time."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.target.capabilities.recording import Spans, Write
from rocdbg.debugger.target.capabilities.runnable import Resume, ResumeMode, TargetStop, TargetStopKind, WatchedMemory
from rocdbg.debugger.target.capabilities.target_state import LoadedCodeObject
from rocdbg.debugger.target.simulated_stops import on_host, target_stop
from rocdbg.debugger.target.simulated_target import SimTarget
from rocdbg.launch.argument_binding import BoundLaunch
from rocdbg.sim.core.checks import Check
from rocdbg.sim.core.memory import AllocationKind
from rocdbg.sim.core.run_options import Followed, RunOptions, Stops
from rocdbg.sim.core.stop_plan import StopPlan
from rocdbg.sim.core.stops import Stop, StopKind
from rocdbg.sim.core.watched_words import Access, WatchedBytes
from rocdbg.sim.device.checkpoint_recorder import HistoryError, Recorder
from rocdbg.sim.device.journal import Journal

Ask = Callable[[str], bool]
_PASSED = frozenset((StopKind.BUDGET, StopKind.DONE, StopKind.WAVE_DONE))


class SimRecording:
    """The `Recording` of a `RecordedTarget`."""

    def __init__(self, target: RecordedTarget, recorder: Recorder) -> None:
        self._target = target
        self.recorder = recorder

    @property
    def position(self) -> int:
        return self.recorder.position

    @property
    def bounds(self) -> tuple[int, int]:
        return self.recorder.begin, self.recorder.end

    @property
    def replaying(self) -> bool:
        return not self.recorder.live

    @property
    def size(self) -> int:
        return self.recorder.size

    @property
    def checkpoints(self) -> list[int]:
        return self.recorder.checkpoints

    def go_to(self, position: int) -> None:
        with self._target.repeating():
            self.recorder.go(position)

    def go_before(self, thread: int, count: int, present: int) -> None:
        with self._target.repeating():
            self.recorder.go_before(thread, count, present)

    def count(self, thread: int) -> int:
        return self._target.dispatch.wave(thread).instructions

    def first_count(self, thread: int) -> int:
        return self.recorder.first_count(thread)

    def trace(self, thread: int, first: int, end: int, present: int) -> NDArray[np.uint64]:
        with self._target.repeating():
            return self.recorder.trace(thread, first, end, present)

    def repeat(
        self, until: int, stops: AbstractSet[int], watches: Sequence[WatchedMemory] = (),
        checks: Mapping[int, Check] | None = None,
    ) -> TargetStop | None:
        with self._target.repeating():
            rows, watched = self._target.on_host(watches)
            stop = self.recorder.repeat(until, Stops(stops, checks or {}, rows))
        return target_stop(stop, watched) if stop is not None else None

    def first_of_group(self, thread: int, present: int) -> int:
        group = self._target.group_of(AddressSpace.LOCAL, thread)
        assert group is not None
        with self._target.repeating():
            try:
                return self.recorder.first_of_group(group, present)
            except HistoryError:
                return present

    def find_write(
        self, space: int, address: int, size: int, thread: int | None, lane: int | None, present: int, first: bool
    ) -> Write | None:
        ranges = self._target.host_ranges(space, address, size, thread, lane)
        return self._find(ranges, self._target.group_of(space, thread), present, first)

    def _find(self, ranges: NDArray[np.uint64], group: int | None, present: int, first: bool) -> Write | None:
        search = self.recorder.first_store if first else self.recorder.last_store
        # A wave's or workgroup's memory belonged to others before: writes from that time do not count.
        begin = None if group is None else self.recorder.first_of_group(group, present)
        with self._target.repeating():
            store = search(ranges, present, begin)
            if store is None:
                return None
            self.recorder.go(store.position)
            wave = self.recorder.next_wave()
        assert wave is not None
        return Write(store.position, wave, store.lanes, store.pc)

    def access(self, position: int) -> Access | None:
        with self._target.repeating():
            return self.recorder.access_at(position)

    def spans(self, space: int, address: int, size: int, thread: int | None, lane: int | None) -> Spans:
        return [(int(a), int(b)) for a, b in self._target.host_ranges(space, address, size, thread, lane)]

    def find_store(self, spans: Spans, thread: int | None, present: int) -> Write | None:
        group = self._target.group_of(AddressSpace.LOCAL, thread)
        return self._find(np.array(spans, np.uint64).reshape(-1, 2), group, present, False)

    def is_own(self, spans: Spans, thread: int | None) -> bool:
        return host_home(self._target, spans, thread).own

    def contents(self, spans: Spans) -> bytes:
        return host_contents(self._target, spans)

    def home_of(self, spans: Spans, thread: int | None) -> str:
        return host_home(self._target, spans, thread).text

    def stand(self, thread: int | None) -> None:
        self._target.dispatch.stand(thread)

    def next_wave(self) -> int | None:
        return self.recorder.next_wave()

    def branch(self) -> None:
        self.recorder.branch()


class RecordedTarget(SimTarget):
    """A simulated device that can be recorded. ``ask``: asks the user whether a new future may begin, when something is
    written in the past.
    """

    def __init__(
        self, bound: BoundLaunch, kernel_title: str, loaded: Sequence[LoadedCodeObject], ask: Ask
    ) -> None:
        super().__init__(bound, kernel_title, loaded)
        self._ask = ask
        self._recording: SimRecording | None = None
        self._repeating = False
        self._before_calls: dict[tuple[int, int], bytes] | None = None

    @property
    def recording(self) -> SimRecording | None:
        self._note_calls()
        return self._recording

    def host_ranges(
        self, space: int, address: int, size: int, thread: int | None, lane: int | None
    ) -> NDArray[np.uint64]:
        """Return where bytes of an address space are on the host: uint64[n, 2] of begin and end. Raises `rocdbg.Error`.
        """
        self.read_memory(space, address, size, thread, lane)  # checks all bounds
        space, local, lane = self._route(space, address, lane)
        if space == AddressSpace.PRIVATE_LANE:
            wave = self._wave(thread)
            views = [
                self.machine.memory.view(wave.scratch_address(lane or 0, local + byte), 1) for byte in range(size)
            ]
        elif space == AddressSpace.GLOBAL:
            views = [self.machine.memory.view(local, size)]
        else:
            views = [self._wave_bytes(space, local, size, thread, lane)]
        starts = np.array([view.ctypes.data for view in views], np.uint64)
        return np.stack([starts, starts + np.array([view.size for view in views], np.uint64)], axis=1)

    def on_host(self, watches: Sequence[WatchedMemory]) -> tuple[list[WatchedBytes], list[WatchedMemory]]:
        """Return where watched memory is on the host, and the owner of each piece."""
        return on_host(watches, self._host_bytes)

    def group_of(self, space: int, thread: int | None) -> int | None:
        """Return the first wave of the workgroup that owns an address space; None if the device owns it."""
        if space == AddressSpace.GLOBAL or thread is None:
            return None
        wave = self._wave(thread)
        return wave.number - wave.index

    def record(self, journal: Journal | None = None) -> None:
        """Record from now on; a ``journal`` contains the events that are still to come."""
        originals = {}
        if not self.dispatch.instructions:  # nothing has run, so buffers still have their initial contents
            originals = {b.allocation.address: b.buffer.storage for b in self.bound.buffers if b.layout is None}
        self._recording = SimRecording(self, Recorder(self.machine, self.dispatch, originals, journal))
        self.machine.memory.before_write = self._before_write

    def stop_recording(self) -> None:
        """Forget the past."""
        if self._recording is not None:
            self._recording.recorder.close()
        self._recording = self.machine.memory.before_write = None

    @contextmanager
    def repeating(self) -> Iterator[None]:
        """Return a context manager in whose block writes count as repetitions of recorded writes. Raises
        `DebuggerError` while called functions run.
        """
        if self._calls.under_way:
            raise DebuggerError("Functions called from the debugger have to return before the program can go back.")
        self.forget()
        self._repeating = True
        try:
            yield
        finally:
            self._repeating = False

    # -- resuming

    def resume(self, request: Resume) -> TargetStop:
        if self._recording is None:
            return super().resume(request)
        recorder = self._recording.recorder
        self.forget()
        if self._calls.under_way:
            if self._before_calls is None:
                self._before_calls = recorder.differences()
            return self._run(request, self._run_calls)
        self._note_calls()
        if recorder.live:
            return self._run(request, recorder.run)
        with self.repeating():
            return self._repeat(recorder, request)

    def _leave(self) -> None:
        """Finish the program. Its changes to memory then are part of the history; a repeated history contains them
        already.
        """
        recording = self._recording
        if recording is None or self.at_exit is None:
            super()._leave()
        elif recording.recorder.live:
            before = recording.recorder.differences()
            with self.repeating():
                super()._leave()
            recording.recorder.note(recording.recorder.changed_since(before))

    def _run_calls(self, options: RunOptions) -> Stop:
        stop = self._calls.run(options)
        assert stop is not None, "no function is under way"
        return stop

    def _repeat(self, recorder: Recorder, request: Resume) -> TargetStop:
        """Continue in the past. Waves execute in their original order; the request's choice of waves is ignored."""
        until = recorder.end
        if request.budget is not None:
            until = min(until, recorder.position + request.budget)
        rows, watched = self.on_host(request.watches)
        stops = Stops(request.stop_addresses.difference(request.checks), request.checks, rows)
        if request.mode is ResumeMode.STEP:
            stop = self._step(recorder, request, stops, until)
        elif request.mode is ResumeMode.RANGE:
            wave, plan = self._wave(request.thread), request.plan
            if plan is None:
                plan = StopPlan.of_range(request.low, request.high)
            stop = recorder.repeat(until, stops, Followed(wave.number, plan=plan))
        else:
            stop = recorder.repeat(until, stops)
        if self.dispatch.finished:
            return TargetStop(TargetStopKind.DONE)
        if stop is not None and stop.kind not in (StopKind.BUDGET, StopKind.DONE):
            return target_stop(stop, watched)
        return TargetStop(TargetStopKind.HISTORY if recorder.live else TargetStopKind.BUDGET)

    def _step(self, recorder: Recorder, request: Resume, stops: Stops, until: int) -> Stop | None:
        """Execute one instruction of a wave, at the time when it was scheduled."""
        wave = self._wave(request.thread)
        count = wave.instructions
        stop = recorder.repeat(until, stops, Followed(wave.number, count))
        if stop is None or stop.kind is not StopKind.STEP:
            return stop
        self.dispatch.pass_over(wave.number)
        stop = recorder.repeat(recorder.position + 1, stops)
        if stop is not None and stop.kind not in _PASSED:
            return stop
        if wave.ended:
            return Stop(StopKind.WAVE_DONE, wave)
        return Stop(StopKind.STEP, wave, wave.pc)

    def _note_calls(self) -> None:
        """Make the stores of functions called from the debugger part of the run. Raises `DebuggerError` if they were
        called in the past and the user declines.
        """
        before, recording = self._before_calls, self._recording
        if before is None or recording is None or self._calls.under_way:
            return
        self._before_calls = None
        places = recording.recorder.changed_since(before)
        if not places:
            return
        try:
            self._may_write("what the called function has stored")
        except DebuggerError:
            with self.repeating():
                recording.recorder.again()
            raise
        recording.recorder.note(places)

    # -- writing

    def write_register(self, thread: int, number: int, data: bytes, offset: int = 0) -> None:
        with self._writing(thread, "a register"):
            super().write_register(thread, number, data, offset)

    def write_special(self, thread: int, name: str, value: int) -> None:
        with self._writing(thread, f"register {name}"):
            super().write_special(thread, name, value)

    def write_memory(
        self, space: int, address: int, data: bytes, thread: int | None = None, lane: int | None = None
    ) -> None:
        with self._writing(thread, f"memory at address {address:#x}"):
            super().write_memory(space, address, data, thread, lane)

    @contextmanager
    def _writing(self, thread: int | None, what: str) -> Iterator[None]:
        """Return a context manager in whose block writes to a wave and its LDS are recorded."""
        if self._recording is None or self._repeating or self._calls.under_way:
            yield
            return
        self._may_write(what)
        if thread is None:
            yield
            return
        with self._recording.recorder.writing(self._wave(thread)):
            yield

    def _before_write(self, address: int, data: bytes) -> None:
        """Record a write to global memory."""
        if self._recording is not None and not self._repeating and not self._calls.under_way:
            self._may_write(f"memory at address {address:#x}")
            self._recording.recorder.wrote(address, data)

    def _may_write(self, what: str) -> None:
        """Ask whether a write in the past may begin a new future. Raises `DebuggerError` if the user declines."""
        assert self._recording is not None
        recorder = self._recording.recorder
        if recorder.live:
            return
        question = (
            "Because rocdbg is in replay mode, writing to memory or a register will make the execution log unusable "
            f"from this point onward.  Write {what}?"
        )
        if not self._ask(question):
            raise DebuggerError("Process record canceled the operation.")
        recorder.branch()


# What bytes of the host belong to: a buffer, the arguments, private memory, a workgroup's LDS.


class Home(Struct, frozen=True):
    """The owner of bytes; ``own``: it is one wave or workgroup, and other ones may have used these bytes before."""

    text: str
    own: bool


def host_home(target: SimTarget, spans: Spans, thread: int | None) -> Home:
    """Describe briefly the object that contains bytes. Raises `DebuggerError` if that is not known."""
    begin, end = spans[0][0], spans[0][1]
    for wave in target.dispatch.waves:
        low = wave.lds.ctypes.data
        if wave.lds.size and low <= begin and end <= low + wave.lds.size:
            return Home(f"local#{begin - low:#x}, which nothing has written", True)
    for allocation in target.machine.memory.allocations:
        low = allocation.data.ctypes.data
        if not low <= begin < low + allocation.data.size:
            continue
        offset = begin - low
        if allocation.kind is AllocationKind.SCRATCH:
            return Home("private memory, which nothing has written", True)
        if allocation.kind is AllocationKind.KERNARG:
            return Home(_argument(target, offset), False)
        for bound in target.bound.buffers:
            if bound.allocation is allocation:
                array = bound.buffer.array if bound.layout is None else None  # the rows of an image are padded
                size = array.dtype.itemsize if array is not None else 1
                return Home(f"the launch: {bound.buffer.name or 'a buffer'}[{offset // size}]", False)
        return Home(f"{allocation.kind.value} {allocation.name} as it was loaded, at {allocation.address + offset:#x}",
                    False)
    raise DebuggerError("This host memory does not belong to any part of the device.")


def _argument(target: SimTarget, offset: int) -> str:
    metadata = target.dispatch.kernel.metadata
    explicit = metadata.explicit_args if metadata is not None else ()
    for argument in metadata.args if metadata is not None else ():
        if argument.offset <= offset < argument.offset + argument.size:
            number = f"{explicit.index(argument)}" if argument in explicit else argument.value_kind.name.lower()
            return f"the launch: argument {argument.name or number}"
    return f"the launch: byte {offset} of the kernel's arguments"


def host_contents(target: SimTarget, spans: Spans) -> bytes:
    """Return bytes of the host, which must be memory of the device."""
    for begin, end in spans:
        host_home(target, [(begin, end)], None)
    return b"".join(ctypes.string_at(begin, end - begin) for begin, end in spans)


__all__ = ["Home", "RecordedTarget", "SimRecording", "host_contents", "host_home"]
