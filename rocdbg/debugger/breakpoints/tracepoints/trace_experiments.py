"""Trace experiments: tracepoints that collect while the program runs, and inspection of the collected data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from weakref import ReferenceType, ref

from msgspec import Struct

from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.breakpoint_parts import BreakpointParts
from rocdbg.debugger.breakpoints.breakpoint_table import Hit
from rocdbg.debugger.breakpoints.tracepoints.trace_buffer import TraceBuffer, TraceFrame, Words, record
from rocdbg.debugger.breakpoints.tracepoints.trace_layout import Layout, expanded, make_layout
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import Action, Tracepoint
from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment
from rocdbg.debugger.expr.evaluator import Evaluator
from rocdbg.debugger.target.capabilities.recording import Recording
from rocdbg.errors import Error

MAX_BYTES = 1 << 30
"""The size of a trace buffer in bytes unless the user sets a smaller limit."""

_HOST_TAGS = 1 << 32
"""The first tag of records that the evaluator creates."""


class TraceOptions(Struct, frozen=True):
    """Settings of an experiment: the size of its buffer in bytes, whether new frames replace the oldest ones, what
    every tracepoint collects in addition, and the user's notes.
    """

    size: int = MAX_BYTES
    circular: bool = False
    default_collect: tuple[Action, ...] = ()
    notes: str = ""


class TraceStatus(Struct):
    """State of an experiment. ``why``: what has stopped it; ``created``: the number of frames, including those that
    were dropped.
    """

    running: bool = False
    why: str = ""
    created: int = 0
    started: float = 0.0
    stopped: float = 0.0
    past: ReferenceType[Recording] | None = None
    """The recorded run to which the frames belong, if any."""


class Tracing:
    """The trace experiment of a session, and its selected frame (``selected``, -1: none)."""

    def __init__(self, parts: BreakpointParts) -> None:
        self._parts = parts
        self._layouts: dict[int, Layout] = {}
        self._by_host: dict[tuple[int, int, tuple[Action, ...]], tuple[int, Layout]] = {}
        self.options = TraceOptions()
        self.status = TraceStatus()
        self.buffer = TraceBuffer(self.layout)
        self.selected = -1
        self.home: tuple[int, int | None, int | None] | None = None
        """The position, thread and lane of the program before a frame was selected."""
        self.variables: dict[str, int] = {}
        """The initial values of trace state variables, by name without ``$``."""
        self._passed: dict[int, int] = {}

    def tracepoints(self) -> list[Tracepoint]:
        """All tracepoints."""
        return [one for one in self._parts.breakpoints if isinstance(one, Tracepoint)]

    # -- an experiment

    def start(self, options: TraceOptions) -> None:
        """``tstart``: start an experiment, discarding earlier data. Raises `DebuggerError` if nothing is to be
        collected.
        """
        made = self.tracepoints()
        if not made:
            raise DebuggerError("No tracepoints defined, not starting trace")
        if not any(one.enabled for one in made):
            raise DebuggerError("No tracepoints enabled, not starting trace")
        self.options = options
        self._clear()
        self.status = TraceStatus(running=True, started=time.time(), past=self._past)
        for one in made:
            one.installed, one.hit_count = True, 0

    def stop(self, why: str = "by a tstop command") -> None:
        """``tstop``: stop the experiment. Raises `DebuggerError` if none runs."""
        if not self.status.running:
            raise DebuggerError("Trace is not running.")
        self.status.running, self.status.why, self.status.stopped = False, why, time.time()
        for one in self.tracepoints():
            one.installed = False

    def launched(self) -> None:
        """Called when the program restarts: a running experiment restarts too."""
        if self.status.running:
            self._clear()
            self.status.created, self.status.past = 0, self._past

    @property
    def _past(self) -> ReferenceType[Recording] | None:
        target = self._parts.inferior.target
        return ref(target.recording) if target is not None and target.recording is not None else None

    def _clear(self) -> None:
        self._layouts.clear()
        self._by_host.clear()
        self._passed.clear()
        self.buffer = TraceBuffer(self.layout)
        self.selected, self.home = -1, None

    # -- what is collected

    def actions_of(self, made: Tracepoint) -> tuple[Action, ...]:
        """All actions of a tracepoint."""
        return (*self.options.default_collect, *made.actions)

    def layout(self, tag: int) -> Layout:
        """Return the layout of records with a tag."""
        return self._layouts[tag]

    def know(self, tag: int, layout: Layout) -> None:
        """Record the layout of the records that have this tag."""
        self._layouts[tag] = layout

    def compiled(self, made: Tracepoint, pc: int, environment: ProgramEnvironment) -> Layout | None:
        """Return what native code should collect at a wave's position; ``None`` if the wave has to stop to collect."""
        actions = self.actions_of(made)
        if not all(action.collects for action in actions):
            return None
        try:
            layout = make_layout(made.number, pc, [action.text for action in actions], environment, True)
        except Error:
            return None
        return layout if not layout.by_host else None

    def collected(self, words: Words) -> None:
        """Take over records that native code has collected."""
        if not self.status.running:
            return
        before = len(self.buffer)
        self.buffer.add(words)
        self.status.created += len(self.buffer) - before
        self._limit(before)

    def take_hits(self, hits: Sequence[Hit], thread: int, pc: int) -> list[Hit]:
        """Let the evaluator collect data for the tracepoints that a wave has reached; return the other hits."""
        others = [hit for hit in hits if not isinstance(hit.breakpoint, Tracepoint)]
        for hit in hits:
            if isinstance(hit.breakpoint, Tracepoint) and self.status.running:
                try:
                    words = self._by_evaluator(hit.breakpoint, thread, pc, lane_list(hit.lanes))
                except Error as error:
                    self.stop(f"by an error ({error}, tracepoint {hit.breakpoint.number})")
                else:
                    self.collected(words)
        return others

    def _by_evaluator(self, made: Tracepoint, thread: int, pc: int, lanes: Sequence[int]) -> Words:
        actions = self.actions_of(made)
        key = made.number, pc, actions
        if key not in self._by_host:
            items = [action.text for action in actions if action.collects]
            layout = make_layout(made.number, pc, items, self._parts.data.environment(Focus(thread, lanes[0])), False)
            self._by_host[key] = _HOST_TAGS + len(self._by_host), layout
            self.know(*self._by_host[key])
        tag, layout = self._by_host[key]
        count = self._parts.inferior.wave(thread).instructions
        rows = [self._row(layout, actions, Focus(thread, lane)) for lane in lanes]
        return record(tag, thread, count, lanes, rows)

    def _row(self, layout: Layout, actions: Sequence[Action], focus: Focus) -> list[int]:
        """Return the words of a lane."""
        known: dict[str, bytes | None] = {}
        environment = self._parts.data.environment(focus)
        for action in actions:
            if not action.collects:
                self._parts.data.evaluate(action.text, focus)
                environment = self._parts.data.environment(focus)
                continue
            for name, text in expanded([action.text], environment):
                if name not in known:
                    known[name] = _bytes_of(text, environment)
        words, marks = list[int](), 0
        for number, column in enumerate(layout.columns):
            data = known.get(column.name)
            marks |= (data is None) << number
            padded = (data or b"").ljust(8 * column.words, b"\0")
            words += (int.from_bytes(padded[at : at + 8], "little") for at in range(0, 8 * column.words, 8))
        return words + [marks >> 64 * n & (1 << 64) - 1 for n in range(layout.marks)]

    def _limit(self, before: int) -> None:
        """Count new frames; end the experiment if a tracepoint has reached its pass count or the buffer is full."""
        made = {one.number: one for one in self.tracepoints()}
        for number in self.buffer.numbers()[before:].tolist():
            before += 1
            if (one := made.get(number)) is not None:
                self._passed[number] = one.hit_count = self._passed.get(number, 0) + 1
                if one.pass_count and one.hit_count >= one.pass_count:
                    self._end_at(before, f"by tracepoint {number}")
                    break
        for one in made.values():
            one.hit_count = self._passed.get(one.number, 0)
        most = self.options.size // 8
        if self.buffer.words <= most or not self.status.running:
            return
        if self.options.circular:
            self.buffer.keep_newest(most)
        else:
            self._end_at(self.buffer.fitting(most), "because the buffer was full")

    def _end_at(self, frames: int, why: str) -> None:
        self.status.created -= len(self.buffer) - frames
        self.buffer.cut(frames)
        self.stop(why)

    # -- inspecting frames

    def is_of(self, recording: Recording | None) -> bool:
        """Whether the frames belong to the current history."""
        return recording is not None and self.status.past is not None and self.status.past() is recording

    def need_stopped(self) -> None:
        """Raise `DebuggerError` while an experiment runs."""
        if self.status.running:
            raise DebuggerError("May not look at trace frames while trace is running.")

    def need_none(self) -> None:
        """Raise `DebuggerError`, in GDB's words, while a frame is selected."""
        if self.selected >= 0:
            raise DebuggerError("Cannot execute this command while looking at trace frames.")

    def frame(self) -> TraceFrame:
        """Return the selected frame. Raises `DebuggerError`."""
        if self.selected < 0:
            raise DebuggerError("No current trace frame.")
        return self.buffer.frame(self.selected)

    def following(self, wanted: Sequence[bool]) -> int:
        """Return the number of the first frame after the selected one for which ``wanted`` is true; -1 if there is
        none.
        """
        return next((n for n in range(self.selected + 1, len(wanted)) if wanted[n]), -1)


def _bytes_of(text: str, environment: ProgramEnvironment) -> bytes | None:
    try:
        value = Evaluator(environment).text(text)
        return None if value.absence is not None else value.contents()
    except Error:
        return None


__all__ = ["MAX_BYTES", "TraceOptions", "TraceStatus", "Tracing"]
