"""Inlined calls by where their code is."""

from __future__ import annotations

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import InlinedSubroutine


def inlined_starting_at(program: Program, address: LoadedAddress) -> list[InlinedSubroutine]:
    """The inlined calls whose code begins at a loaded address, innermost first."""
    found: list[InlinedSubroutine] = []
    file_address = program.to_file(address)
    if program.function_at(address) is None:
        return found
    for instance in program.info.inline_frames_at(file_address):
        if instance.entry_pc != file_address and instance.low_pc != file_address:
            break
        found.append(instance)
    return found
