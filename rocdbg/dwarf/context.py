"""The protocol by which the evaluator queries the context of an expression (A.2.5.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, overload, runtime_checkable

from msgspec import Struct

from rocdbg.dwarf.architecture import Architecture
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.storage import MemoryAccess
from rocdbg.dwarf.typed_values import BaseType, ConstValue

__all__ = [
    "CallSites",
    "Context",
    "DieContent",
    "Expression",
    "ExpressionLike",
    "Loaded",
    "LocationList",
    "LocationListEntry",
    "load_bias",
]


class Expression(Struct, frozen=True):
    """An operation expression (A.2.5.4), and the dialect of its unit."""

    data: bytes
    dialect: str


LocationListEntry = tuple[int | None, int | None, bytes]
"""(low, high, expression), where high is one past the last address; (None, None, expression) is the default entry."""


class LocationList(Sequence[LocationListEntry]):
    """A location list expression with absolute addresses (A.2.5.5).

    `dialect` is the dialect of the list's unit; None means the dialect of the expression that refers to the list.
    """

    __slots__ = ("dialect", "entries")

    def __init__(self, entries: Sequence[LocationListEntry], dialect: str | None = None) -> None:
        self.entries = tuple(entries)
        self.dialect = dialect

    def __len__(self) -> int:
        return len(self.entries)

    @overload
    def __getitem__(self, index: int) -> LocationListEntry: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[LocationListEntry]: ...

    def __getitem__(self, index: int | slice) -> LocationListEntry | Sequence[LocationListEntry]:
        return self.entries[index]

    def matching(self, pc: int) -> list[bytes]:
        """The expressions of the entries that match `pc`, an address of the file; if none matches, those of the default
        entries (A.2.5.5).
        """
        rows = self.entries
        found = [data for low, high, data in rows if low is not None and high is not None and low <= pc < high]
        return found or [data for low, _, data in rows if low is None]

    def __iter__(self) -> Iterator[LocationListEntry]:
        return iter(self.entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LocationList) and self.entries == other.entries

    def __hash__(self) -> int:
        return hash(self.entries)

    def __repr__(self) -> str:
        return f"LocationList({list(self.entries)!r})"


ExpressionLike = bytes | Expression | LocationList
DieContent = bytes | Expression | LocationList | ConstValue | BaseType | None
"""What an entry offers to expressions: the bytes of its exprloc DW_AT_location, its location list, its
DW_AT_const_value, the base type that it describes, or None.
"""


class Context(MemoryAccess, Protocol):
    """Everything that an evaluation may need (A.2.5.1). Elements that are not specified are None, or raise
    `EvaluationError`.

    Attributes may be properties, computed on demand. One context describes one thread, frame and lane; the `lane`
    argument of memory accesses may name another lane, because locations outlive a change of focus.
    """

    @property
    def architecture(self) -> Architecture:
        """The current target architecture (A.2.5.1)."""
        ...

    @property
    def offset_size(self) -> int:
        """4 or 8 bytes: offsets in the DWARF format of the current compilation unit (A.2.5.1, A.7.4)."""
        ...

    @property
    def pc(self) -> int | None:
        """The current program location (A.2.5.1), an address; None if not specified."""
        ...

    @property
    def lane(self) -> int | None:
        """The current lane (A.2.5.1), from 0; None if not specified."""
        ...

    @property
    def lanes(self) -> int:
        """DW_AT_LLVM_lanes of the current subprogram (A.3.3.5): how many lanes there are."""
        ...

    @property
    def iteration(self) -> int | None:
        """The current iteration (A.2.5.1), from 0; None if not specified."""
        ...

    @property
    def iterations(self) -> int:
        """DW_AT_LLVM_iterations of the current subprogram at the current program location (A.3.3.5)."""
        ...

    @property
    def object(self) -> LocationDescription | None:
        """The current object (A.2.5.1); None if not specified."""
        ...

    @property
    def cfa(self) -> LocationDescription | None:
        """The canonical frame address of the current frame (A.6.4.1); None if it is not known."""
        ...

    @property
    def frame_base(self) -> ExpressionLike | LocationDescription | None:
        """DW_AT_frame_base of the current subprogram (A.3.3.5), which the evaluator evaluates in this context; None if
        absent.
        """
        ...

    def register_location(self, number: int) -> LocationDescription:
        """Where DWARF register `number` of the current frame is (A.2.5.4.4.4): for the top frame, the register itself.

        Raises `IllFormed` if the architecture has no such register.
        """
        ...

    def entry_register_location(self, number: int) -> LocationDescription:
        """Where the CFI says that the value a register had on entry to the current subprogram can be found
        (A.2.5.4.4.1).

        Without CFI the architecture's default rule applies. Raises what `Row.register_location` raises.
        """
        ...

    def caller(self) -> Context:
        """The context of the calling frame at its call site (A.2.5.4.3.4); `EvaluationError` if it cannot be found."""
        ...

    def indexed_address(self, index: int) -> int:
        """Entry `index`, from 0, of the unit's part of .debug_addr (A.2.5.4.3.1); `IllFormed` if there is none."""
        ...

    def die(self, offset: int, unit_relative: bool) -> tuple[DieContent, Context]:
        """What the entry at `offset` bytes of the unit (or else of .debug_info) offers, and the context for its unit.

        Called for call operations and implicit pointers (A.2.5.4.2, A.2.5.4.4.5). Raises `IllFormed` if there is no
        such entry.
        """
        ...

    def tls_location(self, address: int) -> LocationDescription:
        """The location of thread-local storage address `address` (A.2.5.4.4.3); `EvaluationError` if it is unknown."""
        ...


@runtime_checkable
class CallSites(Protocol):
    """Optional part of a context: what the call site in the calling frame says about parameters (A.3.4.2)."""

    def call_site_value(self, parameter: int) -> ExpressionLike | None:
        """The DW_AT_call_value that the call site states for the parameter whose entry is at unit offset `parameter`,
        or None.

        The expression belongs to the calling frame, in whose context it is evaluated.
        """
        ...


class Loaded(Protocol):
    """Optional part of a context: the distance between the addresses in a file and those at which its code was loaded.
    """

    @property
    def load_bias(self) -> int:
        """The number to add to an address in debug information to get the address in the running program.

        The evaluator adds it to the operand of `DW_OP_addr` and subtracts it from `pc` before it searches a location
        list. Everything that a context itself provides uses loaded addresses: `pc`, `indexed_address`, the contents of
        registers and memory.
        """
        ...


def load_bias(context: Context) -> int:
    """The load bias of a context: 0 if it is not `Loaded`, as its expressions then contain loaded addresses."""
    bias: int = getattr(context, "load_bias", 0)
    return bias
