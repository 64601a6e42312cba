"""Names in expressions over lanes: variables, registers, HIP's built-in variables, positions of waves and lanes."""

from __future__ import annotations

import re
from math import prod

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.dwarf_registers import UnknownRegisterError, dwarf_register, register_number
from rocdbg.debugger.base.digits import decimal
from rocdbg.debugger.expr.dynamic_types import is_dynamic
from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment, local_variable, variable_here
from rocdbg.debugger.expr.lanes.lane_terms import Term
from rocdbg.debugger.expr.names.builtin_variables import BUILTINS
from rocdbg.debugger.expr.names.known_variables import Known, lds_offset
from rocdbg.debugger.expr.names.program_names import ProgramNames
from rocdbg.debugger.expr.names.up_level_variables import up_level_variable
from rocdbg.debugger.frames.compiled_locations import compile_location, registers_extent
from rocdbg.debugger.frames.compiled_places import (
    Bytes,
    InMemory,
    InRegister,
    Nowhere,
    Number,
    Pieces,
    Place,
    Untranslatable,
)
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.vector_types import DIM3
from rocdbg.dwarf.info import Block, Constant, String, Variable
from rocdbg.dwarf.info.types import PointerType, Type
from rocdbg.isa.operands import SPECIAL_CODES
from rocdbg.sim.core.builder import I1, I32, I64, Op
from rocdbg.sim.core.lane_expressions import (
    Field,
    LaneNumber,
    Node,
    Require,
    Scalar,
    apply,
    both,
    constant,
    number_of,
    unsigned,
)
from rocdbg.sim.core.layout import EXEC_LO, VCC_LO
from rocdbg.sim.core.wave import m0_code

_HALVES = {"exec_lo": "exec", "exec_hi": "exec", "vcc_lo": "vcc", "vcc_hi": "vcc"}
_OWN_HALVES = {"vcc_hi": VCC_LO + 1, "exec_hi": EXEC_LO + 1}
"""Upper halves that are registers of their own in wave32, not part of the masks."""
_ALIASES = {"sp": "s32", "fp": "s33"}


def complete(type_: Type, environment: ProgramEnvironment) -> Type:
    """Return the definition of a type. Raises `Untranslatable` unless it is complete and the same for every object."""
    type_ = environment.complete_type(type_)
    if is_dynamic(type_):
        raise Untranslatable("a type whose size is computed")
    return type_


# -- variables


def local(name: str, environment: ProgramEnvironment) -> Term | None:
    """Return a variable of the frame's blocks; ``None`` if there is none of this name."""
    known = local_variable(environment, name)
    if known is None and up_level_variable(environment, name) is not None:
        raise Untranslatable(f"{name}, which is in an outer frame")
    return None if known is None else _variable(known, environment)


def class_of_this(environment: ProgramEnvironment) -> Type | None:
    """Return the class of a method's object (`this`), wherever the pointer is; None outside methods."""
    known = local_variable(environment, "this") if environment.is_cplusplus else None
    bare = known.type.bare if known is not None else None
    return bare.target if isinstance(bare, PointerType) else None


def global_variable(name: str, environment: ProgramEnvironment) -> Term | None:
    """Return a global variable that debug information describes."""
    program = environment.program
    if program is None or not program.has_debug_info:
        return None
    variable = ProgramNames(program, environment.frame).variable(name)
    return None if variable is None else _variable(variable_here(environment, variable), environment)


def _variable(known: Known, environment: ProgramEnvironment) -> Term:
    """Return a variable's value, as `ProgramEnvironment.value_of` does."""
    located = _by_location(known, environment)
    recovery, frame, target = environment.recovery, environment.frame, environment.target
    if not isinstance(located.place, Nowhere):
        return located
    if recovery is None or frame is None or target is None:
        raise Untranslatable(f"{known.variable.name}, which is optimized out")
    from rocdbg.debugger.frames.recovered_compiled import RecoveredPlaces  # imported late: few conditions need it

    place = RecoveredPlaces(
        recovery, frame, target, lambda variable: _place_by_location(variable, environment),
        lambda what, axis: _position(what, axis, environment), lambda node: of_dispatch(node, environment),
    ).place(known.variable)
    if isinstance(place, Nowhere):
        raise Untranslatable(f"{known.variable.name}, which is optimized out")
    return Term(known.variable.type, place)


def _place_by_location(variable: Variable, environment: ProgramEnvironment) -> Place:
    """Return the place of a scalar according to its location."""
    term = _by_location(variable_here(environment, variable), environment)
    if term.place is not None:
        return term.place
    return Number(unsigned(term.value(), I64), 8 * c_types.size_of(variable.type))


def _by_location(known: Known, environment: ProgramEnvironment) -> Term:
    """Return the `Term` of a variable according to its location."""
    variable = known.variable
    type_ = complete(known.type, environment)
    if known.expression is not None:
        context = environment.context_of(variable)
        place = compile_location(known.expression, context)
        return Term(type_, registers_extent(place, context, known.size, known.unit.conventions.extent))
    location = variable.location
    size = type_.size or 0
    if isinstance(location, Constant):
        number = location.signed_value(size or 8)
        return Term(type_, Bytes((number & (1 << 8 * (size or 8)) - 1).to_bytes(size or 8, "little")))
    if isinstance(location, Block):
        return Term(type_, Bytes(location.data[:size].ljust(size, b"\0")))
    if isinstance(location, String):
        raise Untranslatable("a string")
    program = environment.program
    assert program is not None
    offset = lds_offset(variable, program, environment.frame)
    if offset is not None:
        return Term(type_, InMemory(AddressSpace.LOCAL, constant(offset)))
    address = program.symbol_address(variable.linkage_name or variable.name or "") if variable.external else None
    return Term(type_, InMemory(AddressSpace.GLOBAL, constant(address)) if address is not None else Nowhere())


# -- registers


def register(name: str, value: Value, environment: ProgramEnvironment) -> Term:
    """Return ``$v3``, ``$exec``, ``$m0``; ``value`` is the register's value in one wave."""
    context, target = environment.context, environment.target
    assert context is not None and target is not None
    if context.callee is not None:
        raise Untranslatable("a register of an outer frame")
    name = _ALIASES.get(name, name)
    if name in _OWN_HALVES and context.wave_size == 32:
        return Term(value.type, Number(unsigned(Scalar(_OWN_HALVES[name]), I64), 32))
    whole = _HALVES.get(name, name)
    if whole != name and name.endswith("_hi") and context.wave_size == 32:  # the half is not part of the mask
        return Term(value.type, Number(unsigned(Scalar(SPECIAL_CODES[name]), I64), 8 * (value.type.size or 0)))
    try:
        number = register_number(whole, context.wave_size)
    except UnknownRegisterError:
        return Term(value.type, Number(_special(name, environment), 8 * (value.type.size or 0)))
    if dwarf_register(number).is_vector and dwarf_register(number).index >= target.architecture.vgpr_file:
        raise Untranslatable(f"${name}")
    place: Place = InRegister(number, 32 if name.endswith("_hi") else 0, wave_size=context.wave_size)
    return Term(value.type, place)


def _special(name: str, environment: ProgramEnvironment) -> Node:
    """Return the value of a register that has no DWARF number, as an I64."""
    target = environment.target
    assert target is not None
    if name == "m0":
        return unsigned(Scalar(m0_code(target.architecture)), I64)
    if name in ("scc", "mode", "trapsts"):
        return Field(name)
    if name.startswith("ttmp") and name[4:].isdecimal() and int(name[4:]) < 16:
        return unsigned(Scalar(target.architecture.first_ttmp + int(name[4:])), I64)
    raise Untranslatable(f"${name}")


# -- position of a lane


def _triple(nodes: list[Node]) -> Term:
    return Term(DIM3, Pieces(tuple((Number(apply(Op.AND, node, constant(0xFFFFFFFF)), 32), 32) for node in nodes)))


def builtin(name: str, environment: ProgramEnvironment) -> Term | None:
    """Return one of HIP's built-in variables, such as ``threadIdx``."""
    if name not in BUILTINS or not environment.is_cplusplus or environment.frame is None:
        return None
    if name == "warpSize":
        return Term(c_types.UNSIGNED_INT, node=constant(_wave_size(environment), I32))
    grid, group = _shape(environment)
    if name == "threadIdx":
        return _triple(_work_item(environment))
    if name == "blockIdx":
        return _triple([Field(f"workgroup_{axis}") for axis in "xyz"])
    if name == "blockDim":
        return _triple([of_dispatch(constant(size), environment) for size in group])
    counts = [-(-total // size) if size else 0 for total, size in zip(grid, group, strict=True)]
    return _triple([of_dispatch(constant(count), environment) for count in counts])


def _wave_size(environment: ProgramEnvironment) -> int:
    context = environment.context
    assert context is not None
    return context.wave_size


def _shape(environment: ProgramEnvironment) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return the grid and the workgroup of the dispatch, in work-items."""
    frame, target = environment.frame, environment.target
    if frame is None or target is None or frame.scope.thread is None:
        raise Untranslatable("a position without a wave")
    wave = target.wave(frame.scope.thread)
    return wave.grid, wave.full_workgroup


def of_dispatch(node: Node, environment: ProgramEnvironment) -> Node:
    """Restrict a node that depends on the dispatch in focus: in waves of other dispatches it is undecided."""
    target, frame = environment.target, environment.frame
    assert target is not None and frame is not None and frame.scope.thread is not None
    waves = target.wave(frame.scope.thread).dispatch_waves
    if waves is None:
        return node
    first, count = waves
    return Require(apply(Op.ULT, apply(Op.SUB, Field("number"), constant(first)), constant(count)), node)


def _group_size(environment: ProgramEnvironment) -> list[Node]:
    """Return the sizes of the wave's own workgroup, which is smaller at the edge of the grid."""
    grid, group = _shape(environment)
    if not prod(grid) or not prod(group) or max(grid) >> 32:
        raise Untranslatable("a position in an empty grid")
    sizes: list[Node] = []
    for axis, total, size in zip("xyz", grid, group, strict=True):
        rest = apply(Op.SUB, constant(total), apply(Op.MUL, Field(f"workgroup_{axis}"), constant(size)))
        whole = constant(size)
        sizes.append(whole if total % size == 0 else apply(Op.UMIN, rest, whole))
    return sizes


def _work_item(environment: ProgramEnvironment) -> list[Node]:
    """Return the work-item's position in its workgroup."""
    x, y, _ = _group_size(environment)
    flat = apply(Op.ADD, apply(Op.MUL, Field("wave_in_group"), constant(_wave_size(environment))), LaneNumber())
    row = apply(Op.UDIV, flat, x)
    places = [apply(Op.UREM, flat, x), apply(Op.UREM, row, y), apply(Op.UDIV, flat, apply(Op.MUL, x, y))]
    return [of_dispatch(place, environment) for place in places]


def _position(what: str, axis: int, environment: ProgramEnvironment) -> Node:
    """Return a position that an initialiser names, as the evaluator of recovered values does."""
    if what == "workitem_id":
        return _work_item(environment)[axis]
    if what == "workgroup_id":
        return Field(f"workgroup_{'xyz'[axis]}")
    _, group = _shape(environment)
    full = constant(group[axis])
    if what == "work_items":
        full_group = apply(Op.EQ, _group_size(environment)[axis], full)
        return of_dispatch(full if number_of(full_group) else Require(full_group, full), environment)
    return of_dispatch(full, environment)


def wave_variable(name: str, environment: ProgramEnvironment) -> Term | None:
    """Return ``$_lane``, ``$_thread`` or another number about the wave; ``None`` for other names."""
    if name not in _NUMBERS and name not in _OF_TARGET:
        return None
    if environment.frame is None or name in environment.convenience.functions:
        raise Untranslatable(f"${name}")
    if name in _OF_TARGET:
        value = environment.convenience.get(name, environment.focus)
        return Term(c_types.INT, node=of_dispatch(constant(value.as_int(), I32), environment))
    return Term(c_types.INT, node=unsigned(_NUMBERS[name], I32))


_NUMBERS: dict[str, Node] = {"_thread": Field("number"), "_gthread": Field("number"), "_lane": LaneNumber()}
_OF_TARGET = frozenset({"_inferior", "_agent", "_queue", "_dispatch"})
_POSITIONS = {
    "_dispatch_pos": (re.compile(rb"\((\d+),(\d+),(\d+)\)/(\d+)"), ("workgroup_x", "workgroup_y", "workgroup_z",
                                                                    "wave_in_group")),
    "_thread_workgroup_pos": (re.compile(rb"(\d+)"), ("wave_in_group",)),
}
_WORK_ITEM = re.compile(rb"\[(\d+),(\d+),(\d+)\]")


def position_is(name: str, text: bytes, environment: ProgramEnvironment) -> Node | None:
    """Return whether a variable that holds a position as text equals a given text; ``None`` for other variables."""
    if name == "_lane_workgroup_pos":
        pattern, nodes = _WORK_ITEM, _work_item(environment)
    elif name in _POSITIONS:
        pattern, fields = _POSITIONS[name]
        nodes = [Field(field) for field in fields]
    else:
        return None
    match = pattern.fullmatch(text.partition(b"\0")[0])
    if match is None or any(len(part) > 1 and part.startswith(b"0") for part in match.groups()):
        return constant(0, I1)
    numbers = [decimal(part.decode()) for part in match.groups()]
    if any(number >> 32 for number in numbers):
        return constant(0, I1)
    return both(*(apply(Op.EQ, node, constant(number)) for node, number in zip(nodes, numbers, strict=True)))
