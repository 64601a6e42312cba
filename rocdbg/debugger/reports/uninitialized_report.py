"""`info uninitialized`: reads of buffer bytes that neither the host nor the kernel had written before."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.reports.symbol_queries import Symbols
from rocdbg.debugger.running.launch_control import LaunchControl


class UninitializedRow(Struct, frozen=True):
    """One instruction that read uninitialized bytes.

    ``reads`` counts the lanes' accesses, ``bytes`` the bytes that were never written. ``thread`` and ``lane`` (None for
    a scalar instruction) made the first such access; ``memory`` is the place of its first uninitialized byte. ``what``
    is the function and line.
    """

    reads: int
    bytes: int
    pc: int
    thread: int
    lane: int | None
    what: str
    memory: str


def is_counting(launch: LaunchControl) -> bool:
    """Whether the last launch counts reads of uninitialized bytes (`MachineOptions.count_uninitialized`)."""
    bound = launch.bound
    return bound is not None and bound.machine.uninitialized is not None


def uninitialized_rows(launch: LaunchControl, program: Program, symbols: Symbols) -> list[UninitializedRow]:
    """Return the reads counted since the launch, by address; empty if they are not counted."""
    bound = launch.bound
    if bound is None or bound.machine.uninitialized is None:
        return []
    rows = []
    for read in bound.machine.uninitialized.rows:
        where = bound.machine.memory.describe(read.address) or ""
        unit = "byte" if read.size == 1 else "bytes"
        memory = f"{read.size} {unit} {where}" if where else f"{read.size} {unit} at {read.address:#x}"
        rows.append(
            UninitializedRow(
                read.reads, read.bytes, read.pc, read.wave, read.lane, _place(program, symbols, read.pc), memory
            )
        )
    return rows


def _place(program: Program, symbols: Symbols, pc: int) -> str:
    """Return ``<saxpy+232> at saxpy.hip:10``, or the part of it that is known."""
    symbol = symbols.symbol_at(pc)
    row = program.line_at(LoadedAddress(pc))
    name = f"<{symbol.name}+{symbol.offset}>" if symbol is not None else ""
    line = f"at {row.file.name}:{row.line}" if row is not None else ""
    return f"{name} {line}".strip()
