"""Counts the instructions at which variables have values: those at which the compiler describes a location, and those
at which rocdbg recovers the value in addition.

A set of instructions is an integer with one bit for each instruction, because a kernel may have 10,000 variables and
100,000 instructions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from rocdbg.analysis.recomputation import DEEPEST, Number
from rocdbg.analysis.value_flow import Part, Places
from rocdbg.debugger.frames.kernel_arguments import passed_argument
from rocdbg.debugger.frames.recovered_values import Followed, Recovery
from rocdbg.debugger.program.functions_with_code import Routine
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source_text.source_expressions import variables_of
from rocdbg.dwarf.context import LocationList
from rocdbg.dwarf.info import AddressRange, Loclist, Variable
from rocdbg.dwarf.reader.prepared import location_expression


class RoutineCoverage:
    """Counts for the variables of a routine; ``addresses``: the addresses of its function's instructions, ascending."""

    def __init__(self, recovery: Recovery, program: Program, routine: Routine, addresses: Sequence[int]) -> None:
        self._program = program
        self._routine = routine
        self._addresses = addresses
        self._wave_size = program.wave_size
        self._followed: Followed = recovery.followed(program, routine, program.wave_size)
        self._located: dict[int, int] = {}
        self._recovered: dict[int, int] = {}
        self._computed: dict[tuple[int, int], int] = {}

    def inside(self, ranges: Iterable[AddressRange]) -> int:
        """Return the set of instructions in some ranges."""
        return self._between((part.low, part.high) for part in ranges)

    def count(self, variable: Variable, inside: int) -> tuple[int, int]:
        """Return at how many instructions of the set ``inside`` the compiler gives a variable's location, and at how
        many others the variable is recovered.
        """
        located = self._where_located(variable)
        return (located & inside).bit_count(), (self._where_recovered(variable) & ~located & inside).bit_count()

    def _between(self, bounds: Iterable[tuple[int, int]]) -> int:
        found = 0
        for low, high in bounds:
            first, end = bisect_left(self._addresses, low), bisect_left(self._addresses, high)
            found |= _run(first, end) if first < end else 0
        return found

    @cached_property
    def _everywhere(self) -> int:
        return _run(0, len(self._addresses))

    def _where_located(self, variable: Variable) -> int:
        location = variable.location
        if not isinstance(location, Loclist):
            return self._everywhere if location is not None else 0
        found = self._located.get(variable.offset)
        if found is None:
            what = location_expression(variable.die, self._wave_size, variable.type.size)
            entries = list(what) if isinstance(what, LocationList) else []
            found = self._between((low, high) for low, high, _ in entries if low is not None and high is not None)
            if any(low is None for low, _, _ in entries):
                found = self._everywhere
            self._located[variable.offset] = found
        return found

    def _where_recovered(self, variable: Variable) -> int:
        if variable.offset not in self._recovered:
            self._recovered[variable.offset] = 0  # guards against recursion
            try:
                self._recovered[variable.offset] = self._find(variable)
            except KeyboardInterrupt:
                del self._recovered[variable.offset]
                raise
        return self._recovered[variable.offset]

    def _find(self, variable: Variable) -> int:
        followed = self._followed
        number = followed.numbers.get(variable.offset)
        size = variable.type.size or 0
        if variable.offset in followed.objects:
            return passed_argument(self._program, self._routine, variable) is not None
        if number is None or not size:
            return 0
        if variable.is_parameter and passed_argument(self._program, self._routine, variable) is not None:
            return self._everywhere
        found = 0
        if followed.flow is not None:
            parts, numbers = self._values
            if number in followed.constants:
                found = parts.get((number, 0), 0) | numbers.get(number, 0)
            elif size > 4:
                found = self._everywhere
                for part in range((size + 3) // 4):
                    found &= parts.get((number, part), 0)
            else:
                found = self._where_computed(number, 0)
        initialiser = followed.initialisers.get(variable.offset)
        if initialiser is not None:
            done = self._where_passed[initialiser.line]
            for other in variables_of(initialiser.expression):
                done &= self._where_located(other) | self._where_recovered(other)
            found |= done
        return found

    def _where_computed(self, value: int, depth: int) -> int:
        """Return where a value is in a register, or can be computed again."""
        if (value, depth) not in self._computed:
            self._computed[value, depth] = self._compute(value, depth)
        return self._computed[value, depth]

    def _compute(self, value: int, depth: int) -> int:
        parts, numbers = self._values
        held = parts.get((value, 0), 0)
        computations = self._followed.computations
        if depth >= DEEPEST or value not in computations.ways:
            return held
        marker = computations.markers.get(value)
        wanted = self._everywhere if marker is None else numbers.get(marker, 0)
        found = 0
        for way in computations.ways[value] if wanted & ~held else ():
            computed = wanted
            for source in way.sources:
                if not isinstance(source, Number) and computed:
                    computed &= self._where_computed(source, depth + 1)
            found |= computed
        return held | found

    @cached_property
    def _values(self) -> tuple[Mapping[Part, int], Mapping[int, int]]:
        """Where the dwords of values are in registers, and where values that are numbers are known."""
        flow = self._followed.flow
        assert flow is not None
        places: dict[Part, list[int]] = {}
        runs: dict[int, int] = {}
        for low, high in self._routine.scope.ranges:
            first, end = bisect_left(self._addresses, low), bisect_left(self._addresses, high)
            begun: dict[int, int] = {}
            before = 0
            for index in range(first, end + 1):
                held = flow.before(self._addresses[index]) if index < end else Places()
                for part in held.registers:
                    places.setdefault(part, []).append(index)
                changed, before = held.numbers ^ before, held.numbers
                while changed:
                    number = changed.bit_length() - 1
                    changed ^= 1 << number
                    if before >> number & 1:
                        begun[number] = index
                    else:
                        runs[number] = runs.get(number, 0) | _run(begun[number], index)
        return {part: _bits(indices, len(self._addresses)) for part, indices in places.items()}, runs

    @cached_property
    def _where_passed(self) -> dict[int, int]:
        """For the last line of each initialiser, the instructions at which the initialiser has certainly been executed.
        """
        passed, count = self._followed.passed, len(self._addresses)
        lines = sorted({initialiser.line for initialiser in self._followed.initialisers.values()}, reverse=True)
        if passed is None:
            return dict.fromkeys(lines, 0)
        reached = sorted(
            ((passed.before(address), index) for index, address in enumerate(self._addresses)), reverse=True
        )
        found: dict[int, int] = {}
        bits, next_ = bytearray(count // 8 + 1), 0
        for line in lines:
            while next_ < count and reached[next_][0] > line:
                index = reached[next_][1]
                bits[index >> 3] |= 1 << (index & 7)
                next_ += 1
            found[line] = int.from_bytes(bits, "little")
        return found


def _run(first: int, end: int) -> int:
    return (1 << end) - (1 << first)


def _bits(indices: Sequence[int], count: int) -> int:
    found = bytearray(count // 8 + 1)
    for index in indices:
        found[index >> 3] |= 1 << (index & 7)
    return int.from_bytes(found, "little")
