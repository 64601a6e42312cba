"""Values of variables beyond what their locations say: followed through the machine code (``analysis.value_flow``).

Only variables that never change are followed (`rocdbg.debugger.program.constant_variables`): debug information does not
tell where others got a new value that it has no location for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from rocdbg.addresses import FileAddress
from rocdbg.analysis.control_flow import jump_targets
from rocdbg.analysis.machine_state import AGPR
from rocdbg.analysis.prologue import PrologueRows
from rocdbg.analysis.recomputation import Computations, computations
from rocdbg.analysis.value_flow import CONSTANT, VECTOR, Claim, ValueFlow
from rocdbg.arch.registers import RegisterClass, UnknownRegisterError, dwarf_register, register_number
from rocdbg.debugger.frames.context import FrameContext
from rocdbg.debugger.frames.frames import Frame, FrameKind
from rocdbg.debugger.frames.kernel_arguments import entry_value
from rocdbg.debugger.program.constant_variables import ConstantVariables
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source import SourceFiles
from rocdbg.debugger.target.state import Target
from rocdbg.debugger.values.storage import Memory
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.context import LocationList
from rocdbg.dwarf.decoding import Operation, decode
from rocdbg.dwarf.info import Function, Loclist, Variable
from rocdbg.errors import Error

_MOST_CLAIMS = 4000
_MOST_OPERATIONS = 64


class Followed(Struct):
    """A function's variables that never change, by their entries' offsets, and where their values go."""

    numbers: dict[int, int]
    flow: ValueFlow | None
    constants: dict[int, int] = field(default_factory=dict)
    """Of variables that are numbers, the bits."""
    computations: Computations = field(default_factory=Computations)


class Recovery:
    """Recovers values. ``rows`` gives what is known of a program's functions, for waves of a size.

    What is worked out of a function is kept, and made when a variable of it is first asked for.
    """

    def __init__(self, rows: Callable[[Program, int], PrologueRows], sources: SourceFiles) -> None:
        self._rows = rows
        self._variables = ConstantVariables(sources)
        self._functions: dict[tuple[int, int, int], tuple[Program, Followed]] = {}

    def value(self, frame: Frame, variable: Variable, target: Target | None, memory: Memory) -> Value | None:
        """A variable of a frame's function at the frame's PC, for its lane; None where it is not known."""
        context, function = frame.context, frame.function
        if target is None or frame.kind is not FrameKind.NORMAL or function is None or context.pc is None:
            return None
        if context.pc != context.wave_pc or context.lane is None:
            return None
        wave = target.wave(context.access.thread)
        if not wave.exec_mask >> context.lane & 1:
            return None
        followed = self.followed(frame.program, function, context.wave_size)
        number = followed.numbers.get(variable.offset)
        size = variable.type.size
        if number is None or not size:
            return None
        if variable.is_parameter:
            passed = entry_value(frame, variable, target, memory)
            if passed is not None:
                return Value(variable.type, data=passed.contents(), recovered=True)
        if followed.flow is None:
            return None
        pc = frame.program.to_file(context.pc)
        places = followed.flow.before(pc)
        if number in followed.constants and (number, 0) in places:
            data = followed.constants[number].to_bytes(8, "little")[:size]
            return Value(variable.type, data=data, recovered=True)
        if size <= 4:
            bits = followed.computations.bits(number, places, lambda place: _read(context, place))
            return None if bits is None else Value(
                variable.type, data=bits.to_bytes(4, "little")[:size], recovered=True
            )
        found = b""
        for part in range((size + 3) // 4):
            place = places.get((number, part))
            dword = _read(context, place) if place is not None else None
            if dword is None:
                return None
            found += dword.to_bytes(4, "little")
        return Value(variable.type, data=found[:size], recovered=True)

    def followed(self, program: Program, function: Function, wave_size: int) -> Followed:
        """What is known of a function's variables."""
        low = function.low_pc
        key = id(program), low or 0, wave_size
        kept = self._functions.get(key)
        if kept is None:
            try:
                made = self._follow(program, function, wave_size) if low is not None else Followed({}, None)
            except (Error, RecursionError):  # damaged locations or code: nothing is known
                made = Followed({}, None)
            kept = self._functions[key] = program, made
        return kept[1]

    def _follow(self, program: Program, function: Function, wave_size: int) -> Followed:
        assert function.low_pc is not None
        variables, runs_once = self._variables.of(program, function)
        numbers = {variable.offset: number for number, variable in enumerate(variables)}
        constants: dict[int, int] = {}
        claims: list[Claim] = []
        for number, variable in enumerate(variables):
            found = _claims(program, variable, number, wave_size, constants)
            if found is None:  # it seems to have two values
                del numbers[variable.offset]
                constants.pop(number, None)
                continue
            claims += found
        analysis = self._rows(program, wave_size).analysis(function.low_pc) if claims else None
        if analysis is None or len(claims) > _MOST_CLAIMS:
            return Followed(numbers, None)
        ways, sources = computations(analysis, claims, len(variables))
        instructions = [
            instruction for _, block in sorted(analysis.blocks.items()) for instruction in block.instructions
        ]
        flow = ValueFlow(analysis, claims + sources, jump_targets(instructions), repeats=not runs_once)
        return Followed(numbers, flow, constants, ways)


def _claims(
    program: Program, variable: Variable, number: int, wave_size: int, constants: dict[int, int]
) -> list[Claim] | None:
    """What a location list says of registers and numbers; None when it is of two different numbers."""
    location = variable.location
    size = variable.type.size or 0
    if not isinstance(location, Loclist) or not 0 < size <= 8:
        return []
    what = program.expressions.location(location, variable.unit, wave_size)
    if not isinstance(what, LocationList):
        return []
    found: list[Claim] = []
    entries = [entry for entry in what if entry[0] is not None and entry[1] is not None]
    highest = 0
    for low, high, data in sorted(entries, key=lambda entry: (entry[0] or 0, entry[1] or 0)):
        assert low is not None and high is not None
        if low < highest:
            return []  # several at a time
        highest = high
        operations = decode(data, what.dialect or "amd")
        if len(operations) > _MOST_OPERATIONS:
            continue
        constant = _constant(operations)
        if constant is not None:
            constant &= (1 << 8 * size) - 1
            if constants.setdefault(number, constant) != constant:
                return None
            found.append(Claim(low, high, number, (CONSTANT + number,)))
            continue
        places = _places(operations, wave_size)
        if any(place is not None for place in places) and len(places) == (size + 3) // 4:
            found.append(Claim(low, high, number, tuple(places)))
    return found


def _constant(operations: Sequence[Operation]) -> int | None:
    if len(operations) != 2 or operations[1].info.meaning != "stack_value":
        return None
    return operations[0].literal


def _places(operations: Sequence[Operation], wave_size: int) -> list[int | None]:
    """The registers of an expression that consists of whole dwords in registers; empty for any other."""
    pieces: list[Sequence[Operation]] = []
    start = 0
    for index, operation in enumerate(operations):
        if operation.info.meaning == "piece":
            if operation.operands[0] != 4:
                return []
            pieces.append(operations[start:index])
            start = index + 1
    if start < len(operations):
        if pieces:
            return []
        pieces.append(operations)
    found = [_register(piece, wave_size) if piece else None for piece in pieces]
    return [] if any(place is None and piece for place, piece in zip(found, pieces, strict=True)) else found


def _register(operations: Sequence[Operation], wave_size: int) -> int | None:
    """A scalar register, or the lane's dword of a vector register."""
    number = operations[0].register
    try:
        register = dwarf_register(number) if number is not None else None
    except UnknownRegisterError:
        return None
    if register is None or register.wave_size not in (None, wave_size):
        return None
    rest = [(operation.info.meaning, list(operation.operands)) for operation in operations[1:]]
    if register.register_class is RegisterClass.SGPR:
        return register.index if not rest and register.index < 106 else None
    if rest != [("push_lane", []), ("lit4", []), ("mul", []), ("offset", [])]:
        return None
    if register.register_class is RegisterClass.VGPR:
        return VECTOR + register.index
    return VECTOR + AGPR + register.index if register.register_class is RegisterClass.AGPR else None


def _read(context: FrameContext, place: int) -> int | None:
    """A dword of the frame's lane in a register, as far as the frame's caller rules know it."""
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


def coverage(
    recovery: Recovery, program: Program, function: Function, variable: Variable, addresses: Sequence[int]
) -> tuple[int, int, int]:
    """Of addresses of instructions, at how many the compiler says where a variable is, at how many it is recovered,
    and at how many neither."""
    location = variable.location
    wave_size = program.wave_size
    told: set[int] = set()
    if isinstance(location, Loclist):
        what = program.expressions.location(location, variable.unit, wave_size)
        if isinstance(what, LocationList):
            told = {pc for pc in addresses if any(data for data in what.matching(FileAddress(pc)))}
    elif location is not None:
        told = set(addresses)
    followed = recovery.followed(program, function, wave_size)
    number = followed.numbers.get(variable.offset)
    parts = ((variable.type.size or 0) + 3) // 4
    recovered = 0
    if number is not None and parts:
        symbols, low = program.code_object.symbols, function.low_pc
        symbol = symbols.at(low) if low is not None else None
        is_entered = symbol is not None and program.code_object.kernels.find(symbol.name) is not None
        always = variable.is_parameter and is_entered
        constant = number in followed.constants
        for pc in addresses:
            if pc in told:
                continue
            if always:
                recovered += 1
            elif followed.flow is not None:
                places = followed.flow.before(pc)
                if constant or parts > 1:
                    wanted = range(1) if constant else range(parts)
                    recovered += all((number, part) in places for part in wanted)
                else:
                    recovered += followed.computations.bits(number, places, lambda place: 0) is not None
    return len(told), recovered, len(addresses) - len(told) - recovered
