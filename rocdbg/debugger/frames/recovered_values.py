"""Values of variables that have no location, found by following them through the machine code
(``analysis.value_flow``).

Only variables that never change are followed (`debugger.program.source_text.constant_variables`): for other variables,
a recovered value might be outdated, because debug information does not show an assignment after which the value has no
location.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct, field

from rocdbg.addresses import FileAddress
from rocdbg.analysis.control_flow import jump_targets
from rocdbg.analysis.machine_state import AGPR
from rocdbg.analysis.passed_lines import PassedLines
from rocdbg.analysis.prologue import PrologueRows
from rocdbg.analysis.recomputation import Computations, computations
from rocdbg.analysis.value_flow import CONSTANT, VECTOR, Claim, ValueFlow
from rocdbg.arch.dwarf_registers import register_number
from rocdbg.debugger.frames.described_lanes import DescribedLanes
from rocdbg.debugger.frames.described_places import constant_of, places_of
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.frames.frames import Frame, FrameKind
from rocdbg.debugger.frames.kernel_arguments import entry_value
from rocdbg.debugger.frames.routine_of_frame import routine_of
from rocdbg.debugger.program.functions_with_code import Routine
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source_text.constant_variables import Constants, ConstantVariables, is_const
from rocdbg.debugger.program.source_text.initialisers import Initialiser, Initialisers
from rocdbg.debugger.program.source_text.source_expressions import Reader, evaluate
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import AbsentError, Memory
from rocdbg.dwarf.context import LocationList
from rocdbg.dwarf.conventions import UpstreamClang
from rocdbg.dwarf.decoding import decode
from rocdbg.dwarf.info import Loclist, Variable
from rocdbg.dwarf.reader.prepared import location_expression
from rocdbg.errors import Error

_MOST_CLAIMS = 4000
_MOST_OPERATIONS = 64


class Followed(Struct):
    """The variables of a routine that never change, by the offsets of their entries, and where their values are."""

    numbers: dict[int, int]
    flow: ValueFlow | None
    constants: dict[int, int] = field(default_factory=dict)
    """The bits of variables whose values are known numbers."""
    computations: Computations = field(default_factory=Computations)
    initialisers: dict[int, Initialiser] = field(default_factory=dict)
    """The initialisers of variables, by the offsets of the variables' entries."""
    objects: frozenset[int] = frozenset()
    """The offsets of the entries of parameters of class type that keep the value passed."""
    passed: PassedLines | None = None
    """The lines of the routine's text, if there are initialisers."""

    def initialised(self, variable: Variable, pc: int) -> Initialiser | None:
        """Return a variable's initialiser, if it has certainly been executed."""
        found = self.initialisers.get(variable.offset)
        done = found is not None and self.passed is not None and self.passed.before(pc) > found.line
        return found if done else None


class Recovery:
    """Recovers values. ``rows`` gives the unwind analysis of functions for a wave size; ``described`` finds locations
    that do not hold for all lanes.

    A function is analysed when one of its variables is first requested; the result is cached.
    """

    def __init__(
        self, rows: Callable[[Program, int], PrologueRows], constants: ConstantVariables,
        described: DescribedLanes | None = None,
    ) -> None:
        self._rows = rows
        self._variables = constants
        self._described = described
        self._routines: dict[tuple[int, int, int], tuple[Program, Followed]] = {}

    def value(
        self, frame: Frame, variable: Variable, target: Target | None, memory: Memory,
        by_location: Callable[[Variable], Value],
    ) -> Value | None:
        """Return the value that a variable of a frame's function has at the frame's PC, in the frame's lane; None if it
        is not known.

        ``by_location`` returns the value that a variable's location describes.
        """
        if target is None or not self.looks_at(frame, target.wave(frame.context.access.thread).exec_mask):
            return None
        followed = self.known_of(frame, variable)
        if followed is None:
            return None
        return _Values(followed, frame, target, memory, by_location).value(variable)

    @staticmethod
    def looks_at(frame: Frame, executing: int) -> bool:
        """Whether the values of variables are recovered for a frame's lane, which must be active according to the mask
        ``executing``.
        """
        context = frame.context
        if frame.kind is FrameKind.DUMMY or context.pc is None or context.pc != context.wave_pc or context.lane is None:
            return False
        return bool(executing >> context.lane & 1)

    def follows(self, frame: Frame, variable: Variable) -> bool:
        """Whether a variable of a frame's function may be recovered in some lane."""
        return frame.kind is not FrameKind.DUMMY and self.known_of(frame, variable) is not None

    def known_of(self, frame: Frame, variable: Variable) -> Followed | None:
        """Return the analysis of a frame's variables, if it covers the given variable."""
        routine = routine_of(frame)
        if routine is None:
            return None
        followed = self.followed(frame.program, routine, frame.context.wave_size)
        return followed if variable.offset in followed.numbers or variable.offset in followed.objects else None

    def followed(self, program: Program, routine: Routine, wave_size: int) -> Followed:
        """Return the analysis of a routine's variables."""
        key = id(program), routine.scope.offset, wave_size
        kept = self._routines.get(key)
        if kept is None:
            try:
                has_code = routine.function.low_pc is not None
                made = self._follow(program, routine, wave_size) if has_code else Followed({}, None)
            except (Error, RecursionError):  # damaged locations or code: nothing is known
                made = Followed({}, None)
            kept = self._routines[key] = program, made
        return kept[1]

    def _follow(self, program: Program, routine: Routine, wave_size: int) -> Followed:
        assert routine.function.low_pc is not None
        known = self._variables.of(program, routine)
        variables = known.variables
        numbers = {variable.offset: number for number, variable in enumerate(variables)}
        constants: dict[int, int] = {}
        claims: list[Claim] = []
        for number, variable in enumerate(variables):
            what = self._listed(program, variable, wave_size)
            found = [] if what is None else _claims(variable, what, number, wave_size, constants)
            if found is None:  # it has two different values: not a constant after all
                del numbers[variable.offset]
                constants.pop(number, None)
                continue
            claims += found
        followed = Followed(numbers, None, constants, objects=known.objects)
        if not variables:
            return followed
        _initialise(followed, known)
        analysis = self._rows(program, wave_size).analysis(routine.function.low_pc)
        if analysis is None:
            return Followed(numbers, None, objects=known.objects)
        if followed.initialisers:
            followed.passed = PassedLines(
                analysis.blocks, analysis.function.start, lambda address: _line(program, routine, known, address)
            )
        if not claims or len(claims) > _MOST_CLAIMS:
            return followed
        ways, sources = computations(analysis, claims, len(variables))
        instructions = [
            instruction for _, block in sorted(analysis.blocks.items()) for instruction in block.instructions
        ]
        followed.computations = ways
        followed.flow = ValueFlow(analysis, claims + sources, jump_targets(instructions), repeats=not known.runs_once)
        return followed

    def _listed(self, program: Program, variable: Variable, wave_size: int) -> LocationList | None:
        """Return the location list of a variable of up to 8 bytes, without the parts that do not hold for all lanes."""
        size = variable.type.size or 0
        if not isinstance(variable.location, Loclist) or not 0 < size <= 8:
            return None
        what = location_expression(variable.die, wave_size, size)
        if not isinstance(what, LocationList):
            return None
        if self._described is None or not isinstance(variable.unit.conventions, UpstreamClang):
            return what
        return LocationList(self._described.without_gaps(program, wave_size, variable, what), what.dialect)


def _initialise(followed: Followed, known: Constants) -> None:
    text = known.text
    if text is None:
        return
    reader = Initialisers(text)
    named = {
        variable.name: variable for variable in known.variables
        if variable.name and variable.offset in followed.numbers
        and text.keeps(variable, is_const=is_const(variable.type))
    }
    for variable in named.values():
        initialiser = reader.read(variable, named)
        if initialiser is not None:
            followed.initialisers[variable.offset] = initialiser


class _Values:
    """The recovered variables of a frame."""

    def __init__(
        self, followed: Followed, frame: Frame, target: Target, memory: Memory, by_location: Callable[[Variable], Value]
    ) -> None:
        self._followed = followed
        self._frame = frame
        self._target = target
        self._memory = memory
        self._by_location = by_location
        self._known: dict[int, int | None] = {}
        self._reader = Reader(self._bits, self._position)

    def value(self, variable: Variable) -> Value | None:
        """Return a variable's value; None where it is not known."""
        followed, context, size = self._followed, self._frame.context, variable.type.size
        number = followed.numbers.get(variable.offset)
        if not size or context.pc is None or (number is None and variable.offset not in followed.objects):
            return None
        if variable.is_parameter:
            passed = entry_value(self._frame, variable, self._target, self._memory)
            if passed is not None:
                return Value(variable.type, data=passed.contents(), recovered=True)
        if number is None:
            return None
        pc = self._frame.program.to_file(context.pc)
        data = _followed_data(followed, number, size, pc, context)
        if data is None:
            initialiser = followed.initialised(variable, pc)
            found = evaluate(initialiser.expression, self._reader) if initialiser is not None else None
            if found is None:
                return None
            data = (found & (1 << 8 * size) - 1).to_bytes(size, "little")
        return Value(variable.type, data=data, recovered=True)

    def _bits(self, variable: Variable) -> int | None:
        if variable.offset not in self._known:
            self._known[variable.offset] = None
            value: Value | None = self._by_location(variable)
            if value is not None and value.absence is not None:
                value = self.value(variable)
            with suppress(AbsentError):
                if value is not None:
                    self._known[variable.offset] = int.from_bytes(value.contents(), "little")
        return self._known[variable.offset]

    def _position(self, what: str, axis: int) -> int | None:
        context = self._frame.context
        wave = self._target.wave(context.access.thread)
        if what == "work_items" and wave.workgroup_size[axis] != wave.full_workgroup[axis]:
            return None
        places = {
            "workitem_id": wave.work_item(context.lane or 0), "workgroup_id": wave.workgroup,
            "workgroup_size": wave.full_workgroup, "work_items": wave.full_workgroup,
        }
        return places[what][axis]


def _line(program: Program, routine: Routine, known: Constants, address: int) -> int:
    """Return the line of an instruction that belongs to a routine's own text; 0 for other instructions."""
    row = program.info.line_at(FileAddress(address))
    text = known.text
    if row is None or text is None or row.file != text.file or not routine.scope.contains(address):
        return 0
    return row.line if text.tokens[0].line <= row.line <= text.tokens[-1].line else 0


def _followed_data(
    followed: Followed, number: int, size: int, pc: int, context: FrameContext
) -> bytes | None:
    """Return the bytes of a variable that machine code still has."""
    if followed.flow is None:
        return None
    places = followed.flow.before(pc)
    if number in followed.constants and places.is_known(number):
        return followed.constants[number].to_bytes(8, "little")[:size]
    if size <= 4:
        bits = followed.computations.bits(number, places, lambda place: _read(context, place), int)
        return None if bits is None else bits.to_bytes(4, "little")[:size]
    found = b""
    for part in range((size + 3) // 4):
        place = places.registers.get((number, part))
        dword = _read(context, place) if place is not None else None
        if dword is None:
            return None
        found += dword.to_bytes(4, "little")
    return found[:size]


def _claims(
    variable: Variable, what: LocationList, number: int, wave_size: int, constants: dict[int, int]
) -> list[Claim] | None:
    """Return the registers and numbers in a location list; None if it has two different numbers."""
    size = variable.type.size or 0
    found: list[Claim] = []
    entries = [entry for entry in what if entry[0] is not None and entry[1] is not None]
    highest = 0
    for low, high, data in sorted(entries, key=lambda entry: (entry[0] or 0, entry[1] or 0)):
        assert low is not None and high is not None
        if low < highest:
            return []  # several descriptions apply at once
        highest = high
        operations = decode(data, what.dialect or "amd")
        if len(operations) > _MOST_OPERATIONS:
            continue
        constant = constant_of(operations)
        if constant is not None:
            constant &= (1 << 8 * size) - 1
            if constants.setdefault(number, constant) != constant:
                return None
            found.append(Claim(low, high, number, (CONSTANT + number,)))
            continue
        places = places_of(operations, wave_size)
        if any(place is not None for place in places) and len(places) == (size + 3) // 4:
            found.append(Claim(low, high, number, tuple(places)))
    return found


def _read(context: FrameContext, place: int) -> int | None:
    """Return a dword of the frame's lane in a register, if unwinding can recover it."""
    if place >= CONSTANT or context.lane is None:
        return None
    vector = place - VECTOR
    name = f"s{place}" if vector < 0 else f"a{vector - AGPR}" if vector >= AGPR else f"v{vector}"
    try:
        location = context.register_location(register_number(name, context.wave_size))
        if location.is_undefined:
            return None
        return location.read(32, 0 if vector < 0 else 32 * context.lane)
    except Error:
        return None


