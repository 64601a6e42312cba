"""Where `list` stands: the file and line that locations without a file, and `list` without arguments, are relative to.
"""

from __future__ import annotations

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.program.location_lookup import Defaults
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.dwarf.info import SourceFile


class ListPosition(Observer):
    """GDB's notion of a current source line; one for a session.

    Attributes:
        place: the current line, which the next `list` begins at; ``None`` where it is the selected frame's.
        shown: the line of the frame that was shown last: ``break +1`` counts from it.
        shown_pc: where that frame stood: `break` alone is there, also when the program has ended since.
        first, last: what `list` showed last, as GDB 13 keeps it: 0 when a frame was shown since, and ``last`` is the
            first line too.
        asked: whether something was relative to a current file: before, and before anything stops, there is none.
    """

    def __init__(self) -> None:
        self.place: Defaults | None = None
        self.shown: Defaults | None = None
        self.shown_pc: LoadedAddress | None = None
        self.first = 0
        self.last = 0
        self.asked = False

    def stopped(self, event: StopEvent) -> None:
        """Locations are relative to where it stands now; after the end, to where it stood last."""
        if event.scope.thread is not None:
            self.reset()

    def reset(self) -> None:
        """Forget what was listed: what counts is where the program stands."""
        self.place = self.shown = None
        self.shown_pc = None
        self.first = self.last = 0

    def show_frame(self, file: SourceFile, line: int, pc: LoadedAddress) -> None:
        """A frame was shown with its source line: the next `list` is around it."""
        self.place = self.shown = Defaults(file, line)
        self.shown_pc = pc
        self.first = self.last = 0

    def show_lines(self, file: SourceFile, first: int, then: int) -> None:
        """Lines were listed from ``first``; the next `list` begins at ``then``."""
        self.place = Defaults(file, then)
        self.first = self.last = first
