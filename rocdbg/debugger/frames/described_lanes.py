"""Whether a variable's location list describes the value of every lane at a place.

`analysis.lane_coverage` follows which lanes have executed the instructions that gave a variable its value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.addresses import FileAddress, LoadedAddress
from rocdbg.analysis.advanced_registers import Sum
from rocdbg.analysis.lane_coverage import Held, LaneCoverage
from rocdbg.analysis.machine_state import AGPR
from rocdbg.analysis.prologue import PrologueRows
from rocdbg.analysis.saved_registers import Analysis
from rocdbg.analysis.scheduled_code import Extent
from rocdbg.analysis.value_flow import CONSTANT, VECTOR
from rocdbg.arch.dwarf_registers import RegisterClass, UnknownRegisterError, dwarf_register
from rocdbg.debugger.frames.calls_made_loops import CallsMadeLoops
from rocdbg.debugger.frames.described_pieces import Piece, composed, pieces_of, projected
from rocdbg.debugger.frames.described_places import constant_of, has_replaced_operand, places_of, sum_of
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.program.functions_with_code import routines_in
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source_text.constant_variables import ConstantVariables
from rocdbg.dwarf.context import Expression, LocationList, LocationListEntry
from rocdbg.dwarf.conventions import UpstreamClang
from rocdbg.dwarf.decoding import Operation, decode
from rocdbg.dwarf.info import Variable
from rocdbg.dwarf.info.code_ranges import ranges_of
from rocdbg.dwarf.lane_values import based_register
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.errors import Error

_MOST_ENTRIES = 1_000
_IN_MEMORY = frozenset({"form_aspace_address", "fbreg", "addr", "addrx", "call_frame_cfa", "implicit_pointer"})
_DWORD = 0xFFFF_FFFF
_UNDEFINED = assemble("undefined")


class DescribedLanes:
    """Finds where location lists describe only the values of other lanes.

    ``rows`` gives the unwind analysis of a program's functions for a wave size; ``constants`` finds variables whose
    value never changes.
    """

    def __init__(
        self, rows: Callable[[Program, int], PrologueRows], constants: ConstantVariables | None = None
    ) -> None:
        self._rows = rows
        self.constants = constants
        self._calls_made_loops = None if constants is None else CallsMadeLoops(constants.text)
        self._kept: dict[tuple[int, int], tuple[Program, frozenset[int]]] = {}
        self._coverages: dict[tuple[int, int, int], tuple[Program, LaneCoverage]] = {}
        self._found: dict[tuple[int, int, int, Piece], tuple[Program, _Described]] = {}
        self._pieces: dict[tuple[int, int, int, bytes], tuple[Program, Sequence[_Part]]] = {}

    def known_part(
        self, variable: Variable, what: Expression | LocationList, context: FrameContext
    ) -> Expression | LocationList:
        """Return a variable's location, without the pieces that do not hold for every lane at the frame's PC."""
        try:
            parts = self._parts_at(variable, what, context)
            unknown = {
                part.piece.offset for part in parts
                if part.piece.data and not self._are_known(variable, part.what, context, part)
            }
        except (Error, RecursionError):  # damaged locations or code: the evaluator will report it
            return what
        if not unknown:
            return what
        left = [
            part.piece if part.piece.offset not in unknown else replace(part.piece, data=b"")
            for part in parts
        ]
        return Expression(composed(left) if any(piece.data for piece in left) else _UNDEFINED, what.dialect or "amd")

    def are_left(self, variable: Variable, what: Expression | LocationList, context: FrameContext) -> bool:
        """Whether a location is wrong for lanes that ended earlier and are shown at a frame's PC, although it holds for
        the lanes that are active there.
        """
        try:
            return self._are_left(variable, what, context)
        except (Error, RecursionError):
            return False

    def are_known_at(
        self, variable: Variable, what: Expression | LocationList, context: FrameContext,
        places: Sequence[LoadedAddress],
    ) -> bool:
        """Whether a location at the frame's PC also describes the value of a lane that is at an unknown one of several
        ``places``. The location must have the same description at all these places: memory, or vector registers that
        the lane does not write.
        """
        try:
            return self._are_known_at(variable, what, context, places)
        except (Error, RecursionError):
            return True

    def _are_known_at(
        self, variable: Variable, what: Expression | LocationList, context: FrameContext,
        places: Sequence[LoadedAddress],
    ) -> bool:
        if context.pc is None or isinstance(what, Expression):
            return True
        program, wave_size = context.program, context.wave_size
        matching = what.matching(program.to_file(context.pc))
        if len(matching) != 1 or len(what) > _MOST_ENTRIES:
            return not matching
        for place in map(program.to_file, places):
            analysis = self._rows(program, wave_size).analysis(place)
            if analysis is None or what.matching(place) != matching:
                return False
            for part in self._parts(program, wave_size, variable, what, matching[0]):
                described = self._of(program, wave_size, analysis, variable, part)
                if described.scalars or not described.holds_at(place) or place in described.ended:
                    return False
        return bool(places)

    def _are_left(self, variable: Variable, what: Expression | LocationList, context: FrameContext) -> bool:
        if context.pc is None or not isinstance(what, LocationList) or len(what) > _MOST_ENTRIES:
            return False
        program, wave_size, pc = context.program, context.wave_size, context.program.to_file(context.pc)
        matching, analysis = what.matching(pc), self._rows(program, wave_size).analysis(pc)
        if len(matching) != 1 or analysis is None:
            return False
        return any(
            pc in self._of(program, wave_size, analysis, variable, part).ended
            for part in self._parts(program, wave_size, variable, what, matching[0])
        )

    def _parts_at(
        self, variable: Variable, what: Expression | LocationList, context: FrameContext
    ) -> Sequence[_Part]:
        """The parts of the description of a variable at a frame's PC; none unless there is exactly one description."""
        if context.pc is None or what.dialect is None:
            return ()
        program, wave_size = context.program, context.wave_size
        matching = [what.data] if isinstance(what, Expression) else what.matching(program.to_file(context.pc))
        if len(matching) != 1 or (isinstance(what, LocationList) and len(what) > _MOST_ENTRIES):
            return ()
        return self._parts(program, wave_size, variable, what, matching[0])

    def _parts(
        self, program: Program, wave_size: int, variable: Variable, what: Expression | LocationList, data: bytes
    ) -> Sequence[_Part]:
        """The pieces of one description of a variable. Each is accompanied by the other descriptions of the same piece.
        """
        key = id(program), wave_size, variable.offset, data
        found = self._pieces.get(key)
        if found is None:
            dialect = what.dialect or "amd"
            parts = []
            for piece in pieces_of(data, dialect) or [Piece(0, 8 * (variable.type.size or 4), data, b"")]:
                about = what
                if piece.end:
                    about = Expression(piece.data, dialect) if isinstance(what, Expression) else projected(what, piece)
                parts.append(_Part(piece, about))
            found = self._pieces[key] = program, parts
        return found[1]

    def _are_known(
        self, variable: Variable, what: Expression | LocationList, context: FrameContext, part: _Part
    ) -> bool:
        if context.pc is None:
            return True
        program, wave_size = context.program, context.wave_size
        pc = program.to_file(context.pc)
        analysis = self._rows(program, wave_size).analysis(pc)
        place = None if analysis is None else analysis.place_of(pc)
        if analysis is None or place is None:
            return True
        described = self._of(program, wave_size, analysis, variable, part)
        address = analysis.blocks[place[0]].instructions[place[1]].address
        if not described.holds_at(address):
            return False
        if context.pc == context.wave_pc or not described.registers:
            return True
        if address in described.ended:
            return False
        coverage, silent = self._coverage(program, wave_size, analysis), partial(_is_silent, program)
        return not coverage.are_written_before(described.registers, address, silent) and not (
            context.wave_pc is not None
            and coverage.are_written_between(described.scalars, program.to_file(context.wave_pc), address)
        )

    def without_gaps(
        self, program: Program, wave_size: int, variable: Variable, what: LocationList
    ) -> list[LocationListEntry]:
        """Return the entries of a location list, without the addresses at which some active lane does not have the
        value that they describe.
        """
        rows = self._rows(program, wave_size)
        found: list[LocationListEntry] = []
        for low, high, data in what:
            analysis = rows.analysis(FileAddress(low)) if low is not None and high is not None else None
            if low is None or high is None or analysis is None or len(what) > _MOST_ENTRIES:
                found.append((low, high, data))
                continue
            begin = low
            every = [
                self._of(program, wave_size, analysis, variable, part)
                for part in self._parts(program, wave_size, variable, what, data)
            ]
            if any(first < high and low < last for described in every for first, last in described.misplaced):
                continue
            for gap in sorted(frozenset[int]().union(*(described.gaps for described in every))):
                place = analysis.place_of(gap)
                if place is None or not low <= gap < high or len(what.matching(gap)) != 1:
                    continue
                if begin < gap:
                    found.append((begin, gap, data))
                begin = gap + analysis.blocks[place[0]].instructions[place[1]].size
            if begin < high:
                found.append((begin, high, data))
        return found

    def _coverage(self, program: Program, wave_size: int, analysis: Analysis) -> LaneCoverage:
        key = id(program), wave_size, analysis.function.start
        found = self._coverages.get(key)
        if found is None:
            found = self._coverages[key] = program, LaneCoverage(analysis)
        return found[1]

    def _of(
        self, program: Program, wave_size: int, analysis: Analysis, variable: Variable, part: _Part
    ) -> _Described:
        entry = id(program), wave_size, variable.offset, part.piece
        found = self._found.get(entry)
        if found is None:
            described = _Described()
            if _registers(decode(part.piece.data, part.what.dialect or "amd")) is not None:  # else it is memory
                start = FileAddress(analysis.function.start)
                keeps = partial(self._keeps, program, start, variable)
                is_of_pass = partial(self._is_of_pass, program, start, variable)
                coverage = self._coverage(program, wave_size, analysis)
                described = _described(coverage, variable, part, wave_size, keeps, is_of_pass)
            found = self._found[entry] = program, described
        return found[1]

    def _keeps(self, program: Program, start: FileAddress, variable: Variable) -> bool:
        """Whether the source text shows that a variable of a function, or of a call inlined in it, keeps one value."""
        function = program.info.function_at(start)
        if self.constants is None or function is None:
            return False
        key = id(program), function.offset
        kept = self._kept.get(key)
        if kept is None:
            routines = routines_in(function)
            found = frozenset(
                each.offset for routine in routines for each in self.constants.of(program, routine).variables
            )
            kept = self._kept[key] = program, found
        return variable.offset in kept[1]

    def _is_of_pass(self, program: Program, start: FileAddress, variable: Variable) -> bool:
        """Whether the source text computes a variable from a recursive call that the code executes as a loop iteration.
        """
        function = program.info.function_at(start)
        return self._calls_made_loops is not None and function is not None and (
            variable.offset in self._calls_made_loops.variables(program, function)
        )


class _Part(Struct, frozen=True):
    """One piece of a variable's description (or the whole), and the descriptions of that part of the variable."""

    piece: Piece
    what: Expression | LocationList


class _Described(Struct, frozen=True):
    """The places where a description, or equal ones of the same list, does not hold for all lanes, and the registers
    that it reads.
    """

    gaps: frozenset[int] = frozenset()
    ended: frozenset[int] = frozenset()
    """Addresses at which it does not hold for lanes that ended earlier."""
    misplaced: frozenset[Extent] = frozenset()
    """Ranges in which the registers may already hold something else."""
    registers: frozenset[int] = frozenset()
    scalars: frozenset[int] = frozenset()
    """Scalar registers that other lanes may change while the described lane waits."""

    def holds_at(self, address: int) -> bool:
        """Whether it holds for the active lanes at an instruction."""
        return address not in self.gaps and not any(low <= address < high for low, high in self.misplaced)


def _is_silent(program: Program, address: int) -> bool:
    row = program.info.line_at(FileAddress(address))
    return row is not None and not row.line


def _described(
    coverage: LaneCoverage, variable: Variable, part: _Part, wave_size: int, keeps: Callable[[], bool],
    is_of_pass: Callable[[], bool],
) -> _Described:
    what, data = part.what, part.piece.data
    dialect = what.dialect or "amd"
    operations = decode(data, dialect)
    registers = _registers(operations)
    if registers is None:
        return _Described()
    scope, scalars = _scope_of(variable), frozenset(register for register in registers if register < VECTOR)
    conventions = variable.unit.conventions
    by_clang = isinstance(conventions, UpstreamClang) and conventions.version is not None
    if isinstance(what, Expression):
        if not by_clang:
            return _Described()
        misplaced = coverage.code.misplaced(scope, registers, scope, is_whole=True)
        if has_replaced_operand(operations) or (coverage.has_loops and registers and is_of_pass()):
            misplaced |= frozenset(scope)
        pending = coverage.code.pending(registers, scope)
        return _Described(pending, misplaced=misplaced, registers=frozenset(registers), scalars=scalars)
    extents: list[Extent] = []
    others: list[Held] = []
    for low, high, other in what:
        if low is None or high is None:
            return _Described()
        if other == data:
            extents.append((low, high))
        else:
            others.append(Held((low, high), _place(other, dialect, wave_size)))
    gaps = coverage.gaps(extents, registers, others)
    if not by_clang:  # the rest is about what LLVM does to descriptions
        return _Described(gaps.active, registers=frozenset(registers))
    misplaced = coverage.code.misplaced(extents, registers, scope)
    place = _place(data, dialect, wave_size)
    if place is not None and VECTOR <= place < CONSTANT:
        bits = _DWORD >> max(0, 32 - part.piece.size)
        misplaced |= {extent for extent in extents if coverage.has_other_numbers(extent, place, others, bits)}
    if has_replaced_operand(operations) or (coverage.has_loops and registers and is_of_pass()):
        misplaced |= frozenset(extents)
    if place is not None:
        misplaced |= {extent for extent in extents if coverage.is_speculated(extent, place, others)}
    found = _sum(data, dialect, wave_size)
    if found is not None and found[1]:
        sums = _sums(what, wave_size)
        misplaced |= {extent for extent in extents if coverage.is_advanced_twice(Sum(extent, *found), sums)}
    overwritten = coverage.code.overwritten(extents, registers)
    if overwritten and not keeps():
        overwritten = frozenset()
    active = gaps.active | overwritten | coverage.code.early(extents, registers)
    return _Described(active, gaps.ended, misplaced, frozenset(registers), scalars)


def _sums(what: LocationList, wave_size: int) -> list[Sum]:
    """Return the descriptions of a list that consist of a register, or of the sum of a register and a constant."""
    found = []
    for low, high, data in what:
        described = _sum(data, what.dialect or "amd", wave_size)
        if described is not None and low is not None and high is not None:
            found.append(Sum((low, high), *described))
    return found


def _scope_of(variable: Variable) -> list[Extent]:
    """Return the addresses of the block that declares a variable."""
    parent = variable.die.parent
    return [] if parent is None else [(part.low, part.high) for part in ranges_of(parent)]


def _registers(operations: Sequence[Operation]) -> set[int] | None:
    """Return the registers that an expression reads; None if it describes memory."""
    found: set[int] = set()
    for operation in operations:
        if operation.info.meaning in _IN_MEMORY:
            return None
        based = based_register(operation)
        number = operation.register if based is None else based[0]
        if number is None:
            continue
        try:
            register = dwarf_register(number)
        except UnknownRegisterError:
            return None
        if register.is_vector:
            found.add(VECTOR + register.index + (AGPR if register.register_class is RegisterClass.AGPR else 0))
        elif register.register_class is RegisterClass.SGPR:
            found.add(register.index)
    return found


@lru_cache(maxsize=_MOST_ENTRIES)
def _sum(data: bytes, dialect: str, wave_size: int) -> tuple[int, int] | None:
    """Return `sum_of` an encoded expression; cached, because each description of a list is compared with all others."""
    return sum_of(decode(data, dialect), wave_size)


@lru_cache(maxsize=_MOST_ENTRIES)
def _place(data: bytes, dialect: str, wave_size: int) -> int | None:
    """Return the place of an encoded expression; cached for the same reason as `_sum`."""
    operations = decode(data, dialect)
    constant = constant_of(operations)
    if constant is not None:
        return CONSTANT + (constant & _DWORD)
    places = places_of(operations, wave_size)
    return places[0] if len(places) == 1 else None
