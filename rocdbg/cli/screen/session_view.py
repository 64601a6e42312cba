"""A view of the session at one moment. Nothing changes between two commands, so everything is queried only once."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from rocdbg.debugger.reports.lane_positions_report import WaveStanding, lanes_by_line, standing
from rocdbg.debugger.reports.place_resolution import SourcePlace
from rocdbg.debugger.reports.register_changes import Snapshot, register_names
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.shell import Shell
    from rocdbg.debugger.base.focus import Focus
    from rocdbg.debugger.frames.frames import Frame
    from rocdbg.debugger.target.capabilities.target_state import WaveInfo

BARS = " ▁▂▃▄▅▆▇█"
PLAIN_BARS = " .:-=+*%#"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PLACE_STYLES = 6
"""How many colours distinguish places, in addition to letters."""


class View:
    """A session at one moment, as windows see it.

    Attributes:
        shell, session: the objects that are viewed.
        focus: the selected wave, lane and frame.
        unicode: whether the terminal shows more than ASCII.
        stops: the number of stops so far.
        life: the number of runs so far.
        baseline: the wave's registers at the previous stop, as bytes by name; ``None`` if they were not read.
        seen_registers: `registers`, once a window has used them.
    """

    def __init__(self, shell: Shell, unicode: bool, stops: int, baseline: Snapshot | None) -> None:
        self.shell = shell
        self.session = shell.session
        self.focus: Focus = shell.session.focus.current
        self.unicode = unicode
        self.stops = stops
        self.life = shell.session.inferior.life
        self.baseline = baseline
        self.seen_registers: Snapshot | None = None

    @property
    def running(self) -> bool:
        """Whether there is a wave to show."""
        return self.session.inferior.running and self.focus.thread is not None

    @cached_property
    def wave(self) -> WaveInfo | None:
        """The focused wave."""
        if not self.running or self.focus.thread is None:
            return None
        try:
            return self.session.inferior.wave(self.focus.thread)
        except Error:
            return None

    @cached_property
    def frame(self) -> Frame | None:
        """The selected frame."""
        if self.wave is None:
            return None
        try:
            return self.session.focus.frame()
        except Error:
            return None

    @cached_property
    def standing(self) -> WaveStanding | None:
        """The positions of the focused wave's lanes."""
        if self.wave is None:
            return None
        try:
            return standing(self.session.inferior, self.wave.number)
        except Error:
            return None

    @property
    def exec_is_of_source(self) -> bool:
        """Whether EXEC is the mask of the lanes that are active in the source; it is not while code saves or restores
        whole registers, or computes masks.
        """
        wave, standing = self.wave, self.standing
        return wave is None or standing is None or wave.exec_mask & standing.used == standing.active & standing.used

    @cached_property
    def others(self) -> Counter[tuple[str, int]]:
        """The number of lanes of other waves at each line."""
        try:
            return lanes_by_line(self.session.inferior, self.focus.thread)
        except Error:
            return Counter()

    @cached_property
    def listed(self) -> SourcePlace | None:
        """The middle of the last listing, otherwise the position of the frame or of the kernel."""
        try:
            place = self.session.places.default_line()
        except Error:
            return None
        first = self.session.places.position.first
        return SourcePlace(place.file, (first + place.line) // 2 if first else place.line)

    @cached_property
    def frame_place(self) -> SourcePlace | None:
        """The line of the selected frame."""
        frame = self.frame
        return SourcePlace(frame.file, frame.line) if frame is not None and frame.file and frame.line else None

    @cached_property
    def breakpoints(self) -> dict[tuple[str, int], str]:
        """The mark in the margin for the breakpoints at a line, in GDB's form: ``b+``, ``B-``."""
        found: dict[tuple[str, int], str] = {}
        for breakpoint_ in self.session.breakpoints:
            for place in breakpoint_.locations:
                file, line = place.location.file, place.location.line
                if file is not None and line is not None:
                    found[file.path, line] = _mark(breakpoint_.hit_count, breakpoint_.enabled and place.enabled)
        return found

    @cached_property
    def breakpoint_addresses(self) -> dict[int, str]:
        """The mark for the breakpoints at a loaded address."""
        return {
            int(place.address): _mark(breakpoint_.hit_count, breakpoint_.enabled and place.enabled)
            for breakpoint_ in self.session.breakpoints
            for place in breakpoint_.locations
        }

    @property
    def registers(self) -> Snapshot:
        """The registers of the selected frame as bytes, by name."""
        if self.seen_registers is None:
            self.seen_registers = self._read_registers()
        return self.seen_registers

    def _read_registers(self) -> Snapshot:
        found: Snapshot = {}
        if self.frame is None:
            return found
        environment = self.session.data.environment()
        for name in self.register_names:
            try:
                value = environment.register(name)
                if value is not None:
                    found[name] = value.contents()
            except Error:
                continue
        return found

    @cached_property
    def register_names(self) -> list[str]:
        """All registers of the focused wave, in the order of ``info registers``."""
        wave, target = self.wave, self.session.inferior.target
        if wave is None or target is None:
            return []
        return register_names(target, wave.number)

    def bar(self, count: int, whole: int) -> str:
        """Return a character whose height represents a fraction."""
        bars = BARS if self.unicode else PLAIN_BARS
        return bars[0 if not count else max(1, count * 8 // max(1, whole))] if count <= whole else bars[8]

    def place_style(self, index: int) -> str:
        """Return the style of a place of `standing`."""
        return f"class:place{index % PLACE_STYLES}"

    def place_letter(self, index: int, active: bool) -> str:
        """Return the letter of a place of `standing`: a capital for lanes that are active there."""
        letter = LETTERS[min(index, len(LETTERS) - 1)]
        return letter if active else letter.lower()


def _mark(hits: int, enabled: bool) -> str:
    return ("B" if hits else "b") + ("+" if enabled else "-")
