"""What `info uninitialized` says: reads of buffer bytes that neither the host nor the kernel had written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocdbg.addresses import LoadedAddress

if TYPE_CHECKING:
    from rocdbg.debugger.session import Session


@dataclass(frozen=True, slots=True)
class UninitializedRow:
    """One instruction that did such reads.

    ``reads`` counts lanes' accesses, ``bytes`` the bytes that were never written. ``thread`` and ``lane`` (None for a
    scalar instruction) did the first; ``memory`` says where its first such byte lies. ``what``: function and line.
    """

    reads: int
    bytes: int
    pc: int
    thread: int
    lane: int | None
    what: str
    memory: str


def is_counting(session: Session) -> bool:
    """Whether the last launch counts such reads (`MachineOptions.count_uninitialized`)."""
    bound = session.launch.bound
    return bound is not None and bound.machine.uninitialized is not None


def uninitialized_rows(session: Session) -> list[UninitializedRow]:
    """The reads counted since the launch, by address; empty if they are not counted."""
    bound = session.launch.bound
    if bound is None or bound.machine.uninitialized is None:
        return []
    rows = []
    for read in bound.machine.uninitialized.rows:
        where = bound.machine.memory.describe(read.address) or ""
        unit = "byte" if read.size == 1 else "bytes"
        memory = f"{read.size} {unit} {where}" if where else f"{read.size} {unit} at {read.address:#x}"
        rows.append(
            UninitializedRow(
                read.reads, read.bytes, read.pc, read.wave, read.lane, _place(session, read.pc), memory
            )
        )
    return rows


def _place(session: Session, pc: int) -> str:
    """``<saxpy+232> at saxpy.hip:10``, as far as known."""
    symbol = session.symbols.symbol_at(pc)
    row = session.need_program().line_at(LoadedAddress(pc))
    name = f"<{symbol.name}+{symbol.offset}>" if symbol is not None else ""
    line = f"at {row.file.name}:{row.line}" if row is not None else ""
    return f"{name} {line}".strip()
