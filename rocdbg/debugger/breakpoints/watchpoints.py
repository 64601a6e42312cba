"""Watchpoints: values of expressions whose change stops the program."""

from __future__ import annotations

from msgspec import Struct, field

from rocdbg.debugger.breakpoints.breakpoint_table import Breakpoint
from rocdbg.debugger.breakpoints.watch_location_place import WatchedPlace
from rocdbg.debugger.target.capabilities.runnable import WatchedMemory
from rocdbg.debugger.values.value import Value

Place = tuple[int | None, int | None]
RegisterDword = tuple[int, int]
"""A register's DWARF number, and the index of one of its dwords; for a vector register, the lane."""


class Watchpoint(Breakpoint):
    """A request to watch an expression; ``text`` is the expression as displayed.

    ``watched`` is evaluated for each of ``lanes`` of wave ``wave``; these are the wave and lanes of the scope.
    Without a wave, it is evaluated once for the whole program. ``scoped``: the expression has a meaning only in one
    frame, that of ``function`` (a file address) at ``place``, and the watchpoint ends with the frame. ``masked``: the
    watchpoint watches all memory whose address agrees with that of the expression in the bits that a mask sets.
    """

    watched: WatchedPlace = WatchedPlace("")
    """The expression, or the place that it denoted when the watchpoint was set, if that place is watched."""
    wave: int | None = None
    lanes: tuple[int | None, ...] = (None,)
    scoped: bool = False
    place: Place | None = None
    function: int | None = None
    ends_at: frozenset[int] = frozenset()
    entry: int | None = None
    """Where the frame's function begins, if the frame has a caller: in reverse execution, the frame ends there."""
    masked: bool = False
    is_fixed: bool = False
    """Whether it watches global memory at an address given in the text, so that no wave is needed to evaluate it."""
    access: str = "write"
    """The trigger: a ``write`` that changes the value, a ``read``, or any ``access``."""
    values: list[Value | None] = field(default_factory=list)
    """The values when the program last resumed, by lane; ``None`` where it could not be read."""
    lost: frozenset[int | None] = frozenset()
    """Lanes in which a variable has not had a location so far: its first value there does not count as a change."""
    memory: list[WatchedMemory] = field(default_factory=list)
    """The memory that was read to evaluate it."""
    is_direct: bool = False
    """Whether each lane's value consists of the bytes of its one piece of ``memory`` while the frame exists: it can
    then be read without evaluation.
    """
    registers: dict[RegisterDword, int] = field(default_factory=dict)
    """The registers that were read to evaluate it, with their contents."""
    bounds: frozenset[int] | None = frozenset()
    """Loaded addresses at which the location of one of its variables may change; ``None``: it may change anywhere."""
    inlined: bool = False
    """Whether the frame is that of an inlined function, which does not end at a known address."""
    in_registers: bool = False
    """Whether anything other than memory was read."""
    looked: bool = False
    """Whether it was evaluated in a running program; before that, it is not known whether anything is read for it."""
    software: bool = False
    """Whether the user requested a software watchpoint. It works as a hardware one; only its description differs."""

    @property
    def expression(self) -> str:
        """The text that is evaluated."""
        return self.watched.text

    @property
    def at_places(self) -> bool:
        """Always False: it refers to values."""
        return False

    @property
    def kind(self) -> str:
        """The type that ``info breakpoints`` shows."""
        words = {"write": "watchpoint" if self._is_software else "hw watchpoint", "read": "read watchpoint"}
        return words.get(self.access, "acc watchpoint")

    @property
    def title(self) -> str:
        """The kind of watchpoint, as messages name it."""
        if self.access != "write":
            return f"Hardware {'read' if self.access == 'read' else 'access (read/write)'} watchpoint"
        if self.masked:
            return "Masked hardware watchpoint"
        return "Watchpoint" if self._is_software else "Hardware watchpoint"

    @property
    def is_idle(self) -> bool:
        """Whether evaluating it reads nothing: only commands can change it, through convenience variables."""
        return self.looked and not self.memory and not self.needs_checks

    @property
    def needs_checks(self) -> bool:
        """Whether its value can change although memory does not: registers are read, or a variable moves (for example
        from a constant to a register).
        """
        return self.in_registers or self.bounds is None or bool(self.bounds)

    @property
    def _is_software(self) -> bool:
        """Whether no part of it is in memory; a register that only locates the frame does not count."""
        return self.software or (not self.memory and (self.in_registers or self.looked))


class Trigger(Struct, frozen=True):
    """A watchpoint with a new value: the lane, and the values before and after; ``lanes``: the mask of all lanes with
    such a change for which the watchpoint's condition holds.
    """

    watchpoint: Watchpoint
    lane: int | None
    old: Value | None
    new: Value | None
    lanes: int = 0
