"""The names, registers and memory at one place, from which expressions are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial

from msgspec import Struct
from msgspec.structs import replace

from rocdbg import dwarf
from rocdbg.addresses import FileAddress
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.base.engine_settings import Settings
from rocdbg.debugger.base.errors import ExpressionError, NoRegistersError, NoSymbolError
from rocdbg.debugger.base.focus import STATIC, Focus
from rocdbg.debugger.expr.dynamic_types import Resolver, is_dynamic, may_be_dynamic
from rocdbg.debugger.expr.environments.names_here import NamesHere, in_frame
from rocdbg.debugger.expr.names.builtin_variables import BUILTINS, builtin_variable
from rocdbg.debugger.expr.names.convenience_variables import Convenience
from rocdbg.debugger.expr.names.known_variables import Known, SharedLocations, lds_offset
from rocdbg.debugger.expr.names.minimal_symbols import minimal_symbol
from rocdbg.debugger.expr.names.program_names import ProgramNames
from rocdbg.debugger.expr.names.template_arguments import argument_value
from rocdbg.debugger.expr.names.type_lookup import TypeLookup
from rocdbg.debugger.expr.names.up_level_variables import up_level_value, up_level_variable
from rocdbg.debugger.expr.names.visible_names import visible_names
from rocdbg.debugger.expr.overload_resolution import FunctionCaller
from rocdbg.debugger.expr.value_access import as_class, data_member, member_location
from rocdbg.debugger.frames.described_lanes import DescribedLanes
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.frames.frame_registers import RegisterFile, is_register_name
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.kernel_arguments import entry_value
from rocdbg.debugger.frames.physical_frame import PhysicalFrame
from rocdbg.debugger.frames.recovered_values import Recovery
from rocdbg.debugger.frames.variable_places import memory_location, variable_expression
from rocdbg.debugger.program import lds_variable_places
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.lane_memory import FileMemory, GlobalTargetMemory, LaneMemory
from rocdbg.debugger.values.located_values import has_fixed_address, value_at
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_history import ValueHistory
from rocdbg.debugger.values.value_storage import Absence, Memory, MemoryStorage
from rocdbg.debugger.values.vector_types import builtin_type
from rocdbg.dwarf.context import Expression, ExpressionLike, LocationList
from rocdbg.dwarf.conventions import UpstreamClang
from rocdbg.dwarf.info import Block, Constant, Exprloc, Function, Loclist, String, Variable
from rocdbg.dwarf.info import Scope as CodeScope
from rocdbg.dwarf.info.types import Type
from rocdbg.dwarf.info.whereabouts import whose
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.reader import results

VIRTUAL_TABLE = "_ZTV"
"""Prefix of linkage names of virtual tables."""

_OF_EVERY_MACHINE = frozenset({"pc", "sp", "fp", "ps"})
"""Names of registers that exist even if no program is known."""


class ProgramEnvironment(Struct, dict=True):
    """An `expr.Environment` for a program and, while it runs, one of its frames."""

    program: Program | None
    target: Target | None
    frame: Frame | None
    settings: Settings
    history: ValueHistory
    convenience: Convenience
    here: NamesHere
    """What is the same for all lanes at this place."""
    caller: FunctionCaller | None = None
    """Runs functions of the program; ``None``: functions cannot be called."""
    recovery: Recovery | None = None
    """Recovers values of variables that have no location in debug information."""
    outwards: Callable[[Frame], Iterable[Frame]] | None = None
    """Returns a frame and its callers."""
    described: DescribedLanes | None = None
    """Finds locations in debug information that hold only for other lanes."""
    unused: Focus | None = None
    """The focus, if it is on an unused lane, which has no frames."""
    given_memory: Memory | None = None
    """Memory to be used instead of the lane's."""
    given_registers: RegisterFile | None = None
    """Registers to be used instead of the frame's."""

    # -- the place

    @property
    def focus(self) -> Focus:
        """The frame's focus; without a frame, the focus on an unused lane if there is one, otherwise `STATIC`."""
        return self.frame.scope if self.frame is not None else self.unused or STATIC

    def at_lane(self, lane: int, frame: Frame | None = None) -> ProgramEnvironment:
        """Return the environment of another lane at the same place; ``frame`` is that lane's innermost frame."""
        assert self.frame is not None
        if self.here.locations is None:
            self.here.locations = SharedLocations()
        return replace(self, frame=frame or self.frame.at_lane(lane), given_memory=None, given_registers=None)

    @property
    def bool_type(self) -> Type:
        """The type of truth values: bool in C++, otherwise int."""
        return c_types.BOOL if self.is_cplusplus else c_types.INT

    @property
    def is_cplusplus(self) -> bool:
        """Whether the language of the frame, or else of the first unit, is C++; HIP counts as C++."""
        if self.settings.language not in ("auto", "local"):
            return self.settings.language in ("c++", "hip")
        return self.language_name in ("c++", "hip")

    @property
    def language_name(self) -> str:
        """``c``, ``c++``, ``opencl``, ..."""
        return self.here.language_name

    @property
    def input_radix(self) -> int:
        """The base of integer literals."""
        return self.settings.input_radix

    @cached_property
    def memory(self) -> Memory:
        """Memory as the lane in focus sees it."""
        if self.given_memory is not None:
            return self.given_memory
        if self.target is None:
            return FileMemory(self.program)
        if self.frame is None or self.frame.scope.thread is None:
            return GlobalTargetMemory(self.target)
        return LaneMemory(self.target, self.frame.scope.thread, self.frame.scope.lane)

    @cached_property
    def context(self) -> FrameContext | None:
        """The DWARF context of the frame; without a frame, a context that has no registers."""
        if self.frame is not None:
            return self.frame.context
        return StaticContext(self.program, self.memory) if self.program is not None else None

    # -- variables

    def variable(self, name: str) -> Value | None:
        """Return a local, argument, global, function or built-in of this name."""
        local = self.local(name)
        if local is not None:
            return local
        argument = argument_value(self.frame, name, self.memory) if self.frame is not None else None
        if argument is not None:
            return argument
        up_level = up_level_value(self, name)
        if up_level is not None:
            return up_level
        if name in BUILTINS and self.is_cplusplus and self.frame is not None:
            builtin = builtin_variable(name, self.target, self.frame.scope)
            if builtin is not None:
                return builtin
        return self.global_symbol(name)

    def local(self, name: str) -> Value | None:
        """Return a variable of the frame's blocks, innermost first; ``x@entry`` is the value passed for a parameter."""
        name, at, _ = name.partition("@")
        variable = self.here.locals.get(name)
        if variable is None:
            return None
        if at and self.frame is not None and self.target is not None:
            passed = entry_value(self.frame, variable, self.target, self.memory)
            return passed or Value.absent(variable.type)
        return self.value_of(variable)

    def _known_of(self, variable: Variable) -> Known:
        type_ = self.complete_type(variable.type)
        context, unit = self.context_of(variable), variable.unit
        what = self._expression_of(variable, context, type_.size)
        dialect = what.dialect if isinstance(what, LocationList) else None
        if what is not None and context.pc is not None:
            known = self._known_part(variable, what, context)
            if known is not what and isinstance(known, Expression) and known.data == _UNDEFINED:
                return Known(variable, type_, type_.size or 0, known, unit, self.context is context, False)
            what = known
        if isinstance(what, LocationList) and dialect is not None and context.pc is not None:
            matching = what.matching(context.pc - context.load_bias)
            if len(matching) == 1:
                what = Expression(matching[0], dialect)
        return Known(variable, type_, type_.size or 0, what, unit, self.context is context, may_be_dynamic(type_))

    def _known_part(self, variable: Variable, what: ExpressionLike, context: FrameContext) -> ExpressionLike:
        """Return a variable's location without the pieces that hold only for lanes on another branch.

        Such pieces come from producers that do not use DWARF's operations for lanes.
        """
        if self.described is None or isinstance(what, bytes):
            return what
        if not isinstance(variable.unit.conventions, UpstreamClang):
            return what
        return self.described.known_part(variable, what, context)

    def _is_elsewhere(self, variable: Variable) -> bool:
        """Whether the frame's lane does not have a variable where the variable's location says, because the location
        holds only for other lanes.

        This is so if the lane ended earlier than the lanes that are at its place, or if the lane's place is not known.
        """
        context, frame = self.context, self.frame
        if self.described is None or self.target is None or frame is None or context is None or context.lane is None:
            return False
        if context.pc != context.wave_pc or frame.scope.thread is None:
            return False
        if self.target.wave(frame.scope.thread).exec_mask >> context.lane & 1:
            return False
        context = self.context_of(variable)
        what = self._expression_of(variable, context, variable.type.size)
        if what is None or isinstance(what, bytes) or not isinstance(variable.unit.conventions, UpstreamClang):
            return False
        if frame.candidates is not None and not self.described.are_known_at(variable, what, context, frame.candidates):
            return True
        return self.described.are_left(variable, what, context)

    def local_variables(self) -> Iterator[Variable]:
        """Yield the variables of the frame's blocks; variables that hide others come first."""
        return self.here.local_variables()

    def global_symbol(self, name: str, is_global: bool = False) -> Value | None:
        """Return a global variable, function, enumerator or symbol; ``is_global``: the name began with ``::``."""
        program = self.program
        if program is None:
            return None
        if program.has_debug_info:
            names = self._names
            variable = names.variable(name, is_global)
            if variable is not None and (variable.linkage_name or "").startswith(VIRTUAL_TABLE):
                return Value.absent(variable.type)  # clang describes a virtual table as a pointer to its class
            if variable is not None:
                return self.value_of(variable)
            functions = names.functions(name, is_global)
            if functions:
                return self.function_value(functions[0])
            enumerator = self.types.enumerator(name)
            if enumerator is not None:
                return enumerator
            scope, _, last = name.rpartition("::")
            found = function_variable(self, scope, last) if scope else None
            if found is None and scope and names.functions(scope):
                found = self.global_symbol(last)  # as in GDB, any name that is visible in the function
            if found is not None:
                return found
        return minimal_symbol(self, name)

    @property
    def _names(self) -> ProgramNames:
        """The program's names as visible from the frame. There must be a program with debug information."""
        assert self.program is not None
        return ProgramNames(self.program, self.frame)

    def function_value(self, function: Function) -> Value:
        """Return a function as a value of the function's type, located at its entry."""
        assert self.program is not None
        entry = function.entry_pc if function.entry_pc is not None else function.low_pc
        start = self.program.code_start(entry or FileAddress(0))
        return Value(function.type, MemoryStorage(self.memory, 0, self.program.to_loaded(start)))

    def value_of(self, variable: Variable, recover: bool = True) -> Value:
        """Return a variable's value from its location in this frame and lane or, with ``recover``, its recovered value.
        """
        value = self._value_by_location(variable)
        lost = value.absence is not None and value.absence.is_lost
        if not recover or not lost or self.recovery is None or self.frame is None:
            return value
        return self.recovery.value(self.frame, variable, self.target, self.memory, self._value_by_location) or value

    def _value_by_location(self, variable: Variable) -> Value:
        """Return a variable's value from its location. An error names the attribute."""
        try:
            return self._value_at_location(variable)
        except dwarf.DwarfError as error:
            error.concern("DW_AT_location", whose(variable.die))
            raise

    def _value_at_location(self, variable: Variable) -> Value:
        here = self.here
        known = here.known.get(id(variable))
        if known is None:
            known = here.known[id(variable)] = self._known_of(variable)
        type_ = known.type
        if known.expression is not None and self._is_elsewhere(variable):
            return Value.absent(type_, Absence.NOT_PER_LANE)
        if known.expression is not None:
            own = self.frame if known.is_own_unit else None
            context = own.context if own is not None else self.context_of(variable)
            found = here.locations.located(known, context) if here.locations is not None else known.located(context)
            make = self._typed if known.may_be_dynamic else partial(value_at, memory=self.memory)
            value: Value = make(type_, found, context=context)
            is_lost = value.absence is Absence.OPTIMIZED_OUT
            return Value.absent(type_, Absence.NOT_PER_LANE) if is_lost and _is_not_per_lane(known) else value
        location = variable.location
        if isinstance(location, Constant):
            size = type_.size or 8
            return Value.of_int(c_types.signed_of(size), location.signed_value(size)).with_type(type_)
        if isinstance(location, Block):
            return Value(type_, data=location.data[: type_.size or 0].ljust(type_.size or 0, b"\0"))
        if isinstance(location, String):
            return Value(type_, data=location.value.encode() + b"\0")
        return self._without_location(variable, type_)

    def _typed(self, type_: Type, location: LocationDescription, context: FrameContext) -> Value:
        """Return the value of a type at a location; a dynamic type is resolved for this object."""
        if may_be_dynamic(type_) and not location.is_undefined:
            resolver = Resolver(context, lambda variable: self.value_of(variable).as_int())
            if resolver.needs(type_):
                resolved = resolver.resolve(type_, location)
                if resolved.absence is not None:
                    return Value.absent(resolved.type, resolved.absence)
                type_, location = resolved.type, resolved.location
        return value_at(type_, location, self.memory, context)

    def at_address(self, type_: Type, space: int, address: int) -> Value:
        """Return the value at an address; a dynamic type is resolved for this object."""
        type_ = self.complete_type(type_)
        if self.context is not None and is_dynamic(type_):
            if not space and self.target is not None and self.target.is_generic(address):
                space = AddressSpace.GENERIC  # as for any memory that a plain number addresses
            return self._typed(type_, memory_location(self.context, space, address), self.context)
        return Value(type_, MemoryStorage(self.memory, space, address))

    def at_location(self, type_: Type, location: LocationDescription) -> Value:
        """Return the value at a location; an implicit pointer leads to its target."""
        assert self.context is not None
        return self._typed(self.complete_type(type_), location, self.context)

    def pointed_member(self, pointer: Value, object_: Value) -> Value:
        """Return ``object_.*pointer``, located as the pointer's type says, otherwise by the offset that it holds."""
        type_, number = data_member(pointer)
        context = self.context
        if context is not None and (location := member_location(type_, number, object_, context)) is not None:
            return self.at_location(type_.target, location)
        return as_class(object_, type_.containing).part(self.complete_type(type_.target), number)

    def location_of(self, variable: Variable) -> LocationDescription | None:
        """Return the location that a variable's attribute gives; ``None`` if it gives no usable one."""
        context, type_ = self.context_of(variable), self.complete_type(variable.type)
        if (what := self._expression_of(variable, context, type_.size)) is None:
            return None
        return results.located(variable.die, what, context, type_.size or 0)

    @staticmethod
    def _expression_of(variable: Variable, context: FrameContext, size: int | None) -> ExpressionLike | None:
        """Return a variable's location attribute, if it is a non-empty expression or list."""
        return None if lds_variable_places.is_unplaced(variable) else variable_expression(variable, context, size)

    def context_of(self, variable: Variable) -> FrameContext:
        """Return the context for a variable's expressions: that of the frame, for the variable's unit."""
        context, unit = self.context, variable.unit
        assert context is not None
        return context if context.unit is unit else context.for_unit(unit)

    def _without_location(self, variable: Variable, type_: Type) -> Value:
        program = self.program
        assert program is not None
        offset = lds_offset(variable, program, self.frame)
        if offset is not None:
            return Value(type_, MemoryStorage(self.memory, AddressSpace.LOCAL, offset))
        if variable.external:
            address = program.symbol_address(variable.linkage_name or variable.name or "")
            if address is not None:
                return Value(type_, MemoryStorage(self.memory, 0, address))
        # A variable with external linkage and no symbol is in LDS, whose layout is different in each kernel.
        kernels = program.code_object.kernels.values()
        maybe = variable.location is not None or (
            variable.external and any(kernel.descriptor.group_segment_fixed_size for kernel in kernels)
        )
        in_lds = maybe and lds_variable_places.is_unplaced(variable)
        return Value.absent(type_, Absence.UNPLACED if in_lds else Absence.OPTIMIZED_OUT)

    def scoped_variable(self, scope: str, name: str) -> Value:
        """``'file.c'::name`` or ``function::name``."""
        return scoped_variable(self, scope, name)

    # -- types

    @property
    def types(self) -> TypeLookup:
        """The types of the frame and the program."""
        return self.here.types

    def is_type(self, name: str) -> bool:
        """Whether a name is a type that no variable hides."""
        for variable in self.local_variables():
            if variable.name == name:
                return False
        if self.types.local(name) is not None:
            return True
        if up_level_variable(self, name) is not None:
            return False
        program = self.program
        if program is None or not program.has_debug_info:
            return builtin_type(name) is not None
        names = self._names
        if self.types.find(name, "") is not None:
            return names.variable(name) is None
        return builtin_type(name) is not None and names.variable(name) is None and not names.functions(name)

    def complete_type(self, type_: Type) -> Type:
        """Return the definition of a class or enumeration that is only declared."""
        return self.types.complete(type_)

    # -- registers and address spaces

    @cached_property
    def _registers(self) -> RegisterFile | None:
        """The registers of the frame."""
        if self.given_registers is not None:
            return self.given_registers
        if self.frame is None or self.target is None or self.frame.scope.thread is None:
            return None
        return RegisterFile(self.frame.context.access.target, self.frame.scope.thread, self.frame.context)

    def register(self, name: str) -> Value | None:
        """Return the register that has this name; ``None`` if there is none."""
        if self._registers is None:
            if name in _OF_EVERY_MACHINE or (self.program is not None and is_register_name(name)):
                raise NoRegistersError
            return None
        return self._registers.value(name)

    @property
    def registers(self) -> RegisterFile:
        """The registers of the frame. Raises `NoRegistersError`."""
        if self._registers is None:
            raise NoRegistersError
        return self._registers


def _is_not_per_lane(known: Known) -> bool:
    """Whether a variable, described by a producer without operations for lanes, has no location that holds here."""
    what = known.expression
    return isinstance(what, Expression) and isinstance(known.unit.conventions, UpstreamClang) and (
        what.data.endswith(_UNDEFINED)
    )


_UNDEFINED = assemble("undefined")


def local_variable(environment: ProgramEnvironment, name: str) -> Known | None:
    """Return what is known, for all lanes here, about a variable of the frame's blocks."""
    variable = environment.here.locals.get(name)
    return None if variable is None else environment._known_of(variable)


def variable_here(environment: ProgramEnvironment, variable: Variable) -> Known:
    """Return what is known about a variable here for all lanes."""
    return environment._known_of(variable)


# The environment of expressions when nothing runs.


class StaticContext(FrameContext):
    """The context of a program that is not running: it has only the memory that the file contains."""

    def __init__(self, program: Program, memory: Memory) -> None:
        super().__init__(PhysicalFrame(program, None, None, lambda pc, wave_size: None), None, None)
        self.memory = memory

    def register_location(self, number: int) -> LocationDescription:
        """Fail: there are no registers."""
        raise NoRegistersError

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Read bytes from the file."""
        return self.memory.read(space, address, size)

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """Fail: the file is not changed."""
        self.memory.write(space, address, data)


# Variables named with their file or function: ``'file.c'::name``, ``function::name``.


def scoped_variable(environment: ProgramEnvironment, scope: str, name: str) -> Value:
    """Return a variable or function of a file, or a variable of a function. Raises `NoSymbolError`."""
    program = environment.program
    if program is None or not program.has_debug_info:
        raise NoSymbolError(name)
    found = function_variable(environment, scope, name)
    if found is not None:
        return found
    files = program.info.files_named(scope)
    if not files:
        raise NoSymbolError(scope, f'No symbol "{scope}" in current context.')
    for variable in program.info.variables_named(f"::{name}"):
        if variable.decl_file is not None and variable.decl_file in files:
            return environment.value_of(variable)
    for function in program.info.functions_named(f"::{name}"):
        if function.decl_file in files and function.low_pc is not None:
            return environment.function_value(function)
    outer, _, last = name.rpartition("::")
    if outer:  # a function of the file
        for function in program.info.functions_named(f"::{outer}"):
            found = _in_function(environment, function, last) if function.decl_file in files else None
            if found is not None:
                return found
        if "::" not in outer and not environment._names.functions(outer):
            raise NoSymbolError(outer, f'No function "{outer}" in specified context.')
    elif (found := environment.global_symbol(name)) is not None:  # a name of another file that is visible in this one
        return found
    if environment.is_cplusplus and program.info.types_named(f"::{name}"):
        raise ExpressionError("Attempt to use a type name as an expression")
    raise NoSymbolError(last, f'No symbol "{last}" in specified context.')


def function_variable(environment: ProgramEnvironment, scope: str, name: str) -> Value | None:
    """Return a variable of a function and its blocks; outside the function's frames only static ones have a value."""
    program = environment.program
    assert program is not None
    names = environment._names
    for qualified in visible_names(program, environment.frame, scope):
        for function in sorted(program.info.functions_named(f"::{qualified}"), key=names.distance):
            found = _in_function(environment, function, name)
            if found is not None:
                return found
    return None


def _in_function(environment: ProgramEnvironment, function: CodeScope, name: str) -> Value | None:
    for variable in function.variables:
        if variable.name == name:
            located = isinstance(variable.location, Exprloc | Loclist)
            if not located or has_fixed_address(variable):
                return environment.value_of(variable)
            frame = _nearest(environment, function)
            if frame is None and function.name is None:  # the variable belongs to a block in the function
                raise NoSymbolError(name, f'No symbol "{name}" in specified context.')
            if frame is None:
                raise ExpressionError(f"No frame is currently executing in block {_title(function)}.")
            return (environment if frame is environment.frame else in_frame(environment, frame)).value_of(variable)
    for child in function.children:
        found = _in_function(environment, child, name)
        if found is not None:
            return found
    return None


def _title(block: CodeScope) -> str | None:
    return Program.function_title(block) if isinstance(block, Function) else block.name


def _nearest(environment: ProgramEnvironment, block: CodeScope) -> Frame | None:
    """Return the first frame in a block, from the environment's own frame outwards."""
    own = environment.frame
    if own is None:
        return None
    if _is_in(own, block):
        return own
    outwards = environment.outwards(own) if environment.outwards is not None else ()
    return next((frame for frame in outwards if frame.program is own.program and _is_in(frame, block)), None)


def _is_in(frame: Frame, block: CodeScope) -> bool:
    return any(scope.offset == block.offset for scope in frame.scopes)
