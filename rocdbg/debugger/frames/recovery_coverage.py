"""At how many instructions variables have values: what the compiler says, and what is recovered beyond it."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.addresses import FileAddress
from rocdbg.debugger.frames.kernel_arguments import passed_argument
from rocdbg.debugger.frames.recovered import Followed, Recovery
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.routines import Routine
from rocdbg.debugger.program.source_expressions import variables_of
from rocdbg.dwarf.context import LocationList
from rocdbg.dwarf.info import Loclist, Variable


class RoutineCoverage:
    """Counts for the variables of a routine."""

    def __init__(self, recovery: Recovery, program: Program, routine: Routine) -> None:
        self._program = program
        self._routine = routine
        self._wave_size = program.wave_size
        self._followed: Followed = recovery.followed(program, routine, program.wave_size)
        self._lists: dict[int, LocationList | None] = {}
        self._known: dict[tuple[int, int], bool] = {}

    def count(self, variable: Variable, addresses: Sequence[int]) -> tuple[int, int]:
        """Of addresses of instructions, at how many the compiler says where a variable is, and at how many it is
        recovered."""
        told = [self._is_told(variable, address) for address in addresses]
        recovered = sum(
            self._is_recovered(variable, address)
            for address, is_told in zip(addresses, told, strict=True) if not is_told
        )
        return sum(told), recovered

    def _is_told(self, variable: Variable, address: int) -> bool:
        location = variable.location
        if not isinstance(location, Loclist):
            return location is not None
        if variable.offset not in self._lists:
            what = self._program.expressions.location(location, variable.unit, self._wave_size)
            self._lists[variable.offset] = what if isinstance(what, LocationList) else None
        entries = self._lists[variable.offset]
        return entries is not None and any(entries.matching(FileAddress(address)))

    def _is_recovered(self, variable: Variable, address: int) -> bool:
        key = variable.offset, address
        if key not in self._known:
            self._known[key] = False
            self._known[key] = self._find(variable, address)
        return self._known[key]

    def _find(self, variable: Variable, address: int) -> bool:
        followed = self._followed
        number = followed.numbers.get(variable.offset)
        size = variable.type.size or 0
        if variable.offset in followed.objects:
            return passed_argument(self._program, self._routine, variable) is not None
        if number is None or not size:
            return False
        if variable.is_parameter and passed_argument(self._program, self._routine, variable) is not None:
            return True
        if followed.flow is not None:
            places = followed.flow.before(address)
            if number in followed.constants:
                if (number, 0) in places:
                    return True
            elif size > 4:
                if all((number, part) in places for part in range((size + 3) // 4)):
                    return True
            elif followed.computations.bits(number, places, lambda place: 0) is not None:
                return True
        initialiser = followed.initialised(variable, address)
        return initialiser is not None and all(
            self._is_told(other, address) or self._is_recovered(other, address)
            for other in variables_of(initialiser.expression)
        )
