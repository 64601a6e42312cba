"""Completes locations of variables with facts known from elsewhere: extents of registers, places in LDS."""

from __future__ import annotations

from functools import cached_property

from rocdbg import work
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.program import lds_variable_places
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.architecture import Architecture
from rocdbg.dwarf.decoding import decode
from rocdbg.dwarf.info import Variable
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.types import is_aggregate
from rocdbg.dwarf.operation_assembler import assemble

_LANE_BITS = 32
_MOVES = frozenset({"push_lane", "lit4", "mul", "offset"})
"""Operations that lead from a vector register to the focused lane's dword."""


def clean_location(program: Program, die: Die, data: bytes, target: str, wave_size: int) -> bytes:
    """Convert a variable's location from its producer's conventions to the specification's form. Raises `DwarfError`.
    """
    type_ = Variable(die).type
    size = program.complete_type(type_).size or 0
    clean = die.unit.conventions.location(data, target, wave_size, size, is_aggregate(type_))
    known = _register_bits(clean, program.architecture)
    if known is None or 8 * size <= known:
        return clean
    # bits beyond the register are not available, regardless of what is stored after it
    return clean + assemble(("bit_piece", known, 0), ("bit_piece", 8 * size - known, 0))


def _register_bits(data: bytes, architecture: Architecture) -> int | None:
    """If a location is a register or part of one, return how many bits of an object it can hold; otherwise return None.
    """
    operations = decode(data)
    if not operations:
        return None
    number = operations[0].register
    if number is None:
        return None
    meanings = [operation.info.meaning for operation in operations[1:]]
    skipped = 0
    if meanings[-1:] == ["bit_offset"] and meanings[-2:-1] == ["lit16"]:
        meanings, skipped = meanings[:-2], 16
    if not _MOVES.issuperset(meanings):
        return None
    if architecture.register_elements(number) > 1:
        return _LANE_BITS - skipped
    size = architecture.register_size(number)
    return None if size is None else 8 * size - skipped


class LdsPlaces:
    """The places of LDS variables that have no location of their own, if they are the same in all kernels."""

    def __init__(self, program: Program) -> None:
        self._program = program

    @cached_property
    def _places(self) -> dict[int, int]:
        """LDS offsets by the entry of the variable."""
        program = self._program
        kernels = program.code_object.kernels
        found: dict[int, int] = {}
        conflicts: set[int] = set()
        placed = [lds_variable_places.place_shared(program)]
        for function in program.info.functions_matching(""):
            work.unit()
            if function.low_pc is not None and program.is_kernel(function):
                placed.append(lds_variable_places.place_variables(program, function))
        for places in placed if len(kernels) else []:
            for entry, offset in places.items():
                if found.setdefault(entry, offset) != offset:
                    conflicts.add(entry)
        return {entry: offset for entry, offset in found.items() if entry not in conflicts}

    def location(self, die: Die) -> bytes | None:
        """Return the location of a variable in LDS; ``None`` if debug information already gives a location, or if the
        place of the variable is not known.
        """
        offset = self._places.get(die.offset)
        if offset is None:
            return None
        return assemble(
            ("constu", offset), (f"lit{int(AddressSpace.LOCAL)}",), ("form_aspace_address",)
        )
