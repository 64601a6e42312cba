"""The names, registers and memory at one place: what expressions are evaluated in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rocdbg.arch.address_spaces import AddressSpace, UnknownAddressSpaceError, address_space_by_name
from rocdbg.debugger.errors import ExpressionError, NoRegistersError, NoSymbolError
from rocdbg.debugger.expr.convenience import Convenience
from rocdbg.debugger.expr.dynamic_types import Resolver, is_dynamic
from rocdbg.debugger.expr.member_pointers import as_class, data_member, member_location
from rocdbg.debugger.frames.context import FrameContext
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.kernel_arguments import entry_value
from rocdbg.debugger.frames.places import locate, memory_location
from rocdbg.debugger.frames.registers import RegisterFile, is_register_name
from rocdbg.debugger.frames.static_context import StaticContext
from rocdbg.debugger.program import lds
from rocdbg.debugger.program.program import KERNEL_BODY, Program
from rocdbg.debugger.settings import Settings
from rocdbg.debugger.target.protocol import Target
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.history import ValueHistory
from rocdbg.debugger.values.locations import has_fixed_address, value_at
from rocdbg.debugger.values.memory import FileMemory, GlobalTargetMemory, LaneMemory
from rocdbg.debugger.values.storage import Absence, Memory, MemoryStorage
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.vectors import DIM3, builtin_type
from rocdbg.dwarf.info import Block, Constant, Exprloc, Function, Loclist, String, Variable
from rocdbg.dwarf.info import Scope as CodeScope
from rocdbg.dwarf.info.types import (
    ClassKind,
    ClassType,
    EnumType,
    FunctionType,
    Type,
    TypedefType,
    UnspecifiedType,
)
from rocdbg.dwarf.location import LocationDescription

BUILTINS = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"}
"""HIP's built-in variables."""
NO_DEBUG_DATA = UnspecifiedType("<data variable, no debug info>")


@dataclass
class ProgramEnvironment:
    """An `expr.Environment` over a program, and over a frame of it when it runs."""

    program: Program | None
    target: Target | None
    frame: Frame | None
    settings: Settings
    history: ValueHistory
    convenience: Convenience
    language: str = "auto"

    # -- the place

    @property
    def is_cplusplus(self) -> bool:
        """Whether the frame's (else the first unit's) language is C++; HIP is."""
        if self.language != "auto":
            return self.language in ("c++", "hip")
        return self.language_name in ("c++", "hip")

    @cached_property
    def language_name(self) -> str:
        """``c``, ``c++``, ``opencl``, ..."""
        if self.frame is not None and self.frame.function is not None:
            return self.frame.function.unit.language_name
        if self.program is not None and self.program.has_debug_info:
            for unit in self.program.info.units[:1]:
                return unit.language_name
        return "c"

    @property
    def input_radix(self) -> int:
        """Base of literals."""
        return self.settings.input_radix

    @cached_property
    def memory(self) -> Memory:
        """Memory as the lane in focus sees it."""
        if self.target is None:
            return FileMemory(self.program)
        if self.frame is None or self.frame.scope.thread is None:
            return GlobalTargetMemory(self.target)
        return LaneMemory(self.target, self.frame.scope.thread, self.frame.scope.lane)

    @cached_property
    def context(self) -> FrameContext | None:
        """The DWARF context, without a frame one that has no registers."""
        if self.frame is not None:
            return self.frame.context
        return StaticContext(self.program, self.memory) if self.program is not None else None

    # -- variables

    def variable(self, name: str) -> Value | None:
        """A local, argument, global, function or built-in of this name."""
        local = self.local(name)
        if local is not None:
            return local
        if name in BUILTINS and self.is_cplusplus and self.frame is not None:
            builtin = self._builtin(name)
            if builtin is not None:
                return builtin
        return self.global_symbol(name)

    def local(self, name: str) -> Value | None:
        """A variable of the frame's blocks, innermost first; ``x@entry``: what a kernel was given for a parameter."""
        name, at, _ = name.partition("@")
        for variable in self.local_variables():
            if at and variable.name == name and self.frame is not None and self.target is not None:
                passed = entry_value(self.frame, variable, self.target, self.memory)
                return passed or Value.absent(variable.type)
            if variable.name == name:
                return self.value_of(variable)
        return None

    def local_variables(self) -> Iterator[Variable]:
        """The variables of the frame's blocks, those that hide others first."""
        for scope in self.frame.scopes if self.frame is not None else ():
            yield from reversed(scope.variables)
        if self.frame is not None and self.frame.inline is not None and self.program is not None:
            yield from lds.body_variables(self.program, self.frame.inline.function)

    def global_symbol(self, name: str) -> Value | None:
        """A global variable, function, enumerator or symbol."""
        program = self.program
        if program is None:
            return None
        if program.has_debug_info:
            for qualified in self._qualified_names(name):
                for variable in program.info.variables_named(qualified):
                    return self.value_of(variable)
            for function in self._functions(name):
                return self.function_value(function)
            enumerator = self._enumerator(name)
            if enumerator is not None:
                return enumerator
            scope, _, last = name.rpartition("::")
            found = self._function_variable(scope, last) if scope else None
            if found is not None:
                return found
        return self._minimal_symbol(name)

    def _qualified_names(self, name: str) -> list[str]:
        """The name in each namespace or class around the frame's function, then as it is."""
        names = []
        if self.frame is not None and self.frame.function is not None:
            parts = (self.frame.function.qualified_name or "").split("(")[0].split("::")[:-1]
            names = ["::".join([*parts[:end], name]) for end in range(len(parts), 0, -1)]
        return [*names, name]

    def _functions(self, name: str) -> list[Function]:
        assert self.program is not None
        for qualified in self._qualified_names(name):
            found = [f for f in self.program.info.functions_named(qualified) if f.low_pc is not None]
            if found:
                return found
        return []

    def function_value(self, function: Function) -> Value:
        """A function as a value: its type, at its entry."""
        assert self.program is not None
        entry = function.entry_pc if function.entry_pc is not None else function.low_pc
        return Value(function.type, MemoryStorage(self.memory, 0, self.program.to_loaded(entry or 0)))

    def _minimal_symbol(self, name: str) -> Value | None:
        assert self.program is not None
        symbol = self.program.code_object.symbols.get(name)
        address = self.program.symbol_address(name)
        if symbol is None or address is None or symbol.is_absolute:
            return None
        from rocdbg.codeobject.symbols import SymbolType

        is_code = symbol.type in (SymbolType.FUNC, SymbolType.AMDGPU_HSA_KERNEL)
        type_: Type = FunctionType(ctypes.INT, prototyped=False) if is_code else NO_DEBUG_DATA
        return Value(type_, MemoryStorage(self.memory, 0, address))

    def _enumerator(self, name: str) -> Value | None:
        """An enumerator of an enumeration visible here; scoped ones as ``E::A``."""
        if self.program is None:
            return None
        scope, _, last = name.rpartition("::")
        if scope:
            for type_ in self.program.info.types_named(scope):
                stripped = type_.strip_typedefs()
                if isinstance(stripped, EnumType):
                    for enumerator in stripped.enumerators:
                        if enumerator.name == last:
                            return Value.of_int(stripped, enumerator.value)
        for type_ in self._enumerations():
            if not type_.scoped:
                for enumerator in type_.enumerators:
                    if enumerator.name == name:
                        return Value.of_int(type_, enumerator.value)
        return None

    def _enumerations(self) -> Iterator[EnumType]:
        """Enumerations of the frame's blocks and of its compile unit."""
        for scope in self.frame.scopes if self.frame is not None else ():
            for type_ in scope.types:
                if isinstance(type_, EnumType):
                    yield type_
        assert self.program is not None
        for found in self.program.info.types_matching(""):
            stripped = found.strip_typedefs()
            if isinstance(stripped, EnumType):
                yield stripped

    def value_of(self, variable: Variable) -> Value:
        """A variable's value, where it lives in this frame and lane."""
        type_ = self.complete_type(variable.type)
        location = variable.location
        found = self.location_of(variable)
        if found is not None:
            return self._typed(type_, found, self.context_of(variable))
        if isinstance(location, Constant):
            size = type_.size or 8
            return Value.of_int(ctypes.signed_of(size), location.signed_value(size)).with_type(type_)
        if isinstance(location, Block):
            return Value(type_, data=location.data[: type_.size or 0].ljust(type_.size or 0, b"\0"))
        if isinstance(location, String):
            return Value(type_, data=location.value.encode() + b"\0")
        return self._without_location(variable, type_)

    def _typed(self, type_: Type, location: LocationDescription, context: FrameContext) -> Value:
        """The value of a type at a location, of a dynamic type with what holds for this object."""
        resolver = Resolver(context, lambda variable: self.value_of(variable).as_int())
        if not location.is_undefined and resolver.needs(type_):
            resolved = resolver.resolve(type_, location)
            if resolved.absence is not None:
                return Value.absent(resolved.type, resolved.absence)
            type_, location = resolved.type, resolved.location
        return value_at(type_, location, self.memory, context)

    def at_address(self, type_: Type, space: int, address: int) -> Value:
        """What is at an address, of a dynamic type with what holds for this object."""
        type_ = self.complete_type(type_)
        if self.context is not None and is_dynamic(type_):
            return self._typed(type_, memory_location(self.context, space, address), self.context)
        return Value(type_, MemoryStorage(self.memory, space, address))

    def at_location(self, type_: Type, location: LocationDescription) -> Value:
        """What is at a location (behind an implicit pointer)."""
        assert self.context is not None
        return self._typed(self.complete_type(type_), location, self.context)

    def pointed_member(self, pointer: Value, object_: Value) -> Value:
        """``object_.*pointer``: as the pointer's type says, else where the number it holds says."""
        type_, number = data_member(pointer)
        if self.context is not None:
            location = member_location(type_, number, object_, self.context)
            if location is not None:
                return self.at_location(type_.target, location)
        return as_class(object_, type_.containing).part(self.complete_type(type_.target), number)

    def location_of(self, variable: Variable) -> LocationDescription | None:
        """Where a variable's location attribute says it is; ``None`` without one that says anything."""
        location = variable.location
        if not isinstance(location, Exprloc | Loclist):
            return None
        if isinstance(location, Exprloc) and lds.is_unplaced(variable):
            return None
        found = locate(variable, self.context_of(variable))
        assert found is not None
        return variable.unit.conventions.extent(found, self.complete_type(variable.type).size or 0)

    def context_of(self, variable: Variable) -> FrameContext:
        """The context a variable's expressions are evaluated in: that of the frame, for the variable's unit."""
        context = self.context
        assert context is not None
        if context.unit is None or context.unit.offset != variable.unit.offset:
            return context.for_unit(variable.unit)
        return context

    def _without_location(self, variable: Variable, type_: Type) -> Value:
        program = self.program
        assert program is not None
        for name in (variable.linkage_name, variable.name):
            if name is None:
                continue
            offset = program.lds_offset(name)
            if offset is not None:
                return Value(type_, MemoryStorage(self.memory, AddressSpace.LOCAL, offset))
        if self.frame is not None and not variable.is_parameter:
            kernel = self._kernel_function()
            placed = lds.place_variables(program, kernel) if kernel is not None else lds.place_shared(program)
            offset = placed.get(variable.offset)
            if offset is not None:
                return Value(type_, MemoryStorage(self.memory, AddressSpace.LOCAL, offset))
        if variable.external:
            address = program.symbol_address(variable.linkage_name or variable.name or "")
            if address is not None:
                return Value(type_, MemoryStorage(self.memory, 0, address))
        return Value.absent(type_, Absence.OPTIMIZED_OUT)

    def _kernel_function(self) -> Function | None:
        """The kernel whose frame this is; of OpenCL the function that has its body; else the only kernel."""
        if self.frame is None or self.program is None:
            return None
        function = self.frame.context.function
        if function is None or not self.program.is_kernel(function):
            return lds.sole_kernel(self.program)
        if self.program.is_kernel_wrapper(function):
            name = KERNEL_BODY + (function.linkage_name or function.name or "")
            bodies = self.program.info.functions_named(name)
            return next((body for body in bodies if body.low_pc is not None), function)
        return function

    def scoped_variable(self, scope: str, name: str) -> Value:
        """``'file.c'::name`` or ``function::name``."""
        program = self.program
        if program is None or not program.has_debug_info:
            raise NoSymbolError(name)
        found = self._function_variable(scope, name)
        if found is not None:
            return found
        files = program.info.files_named(scope)
        if not files:
            raise NoSymbolError(scope, f'No symbol "{scope}" in current context.')
        for variable in program.info.variables_named(name):
            if variable.decl_file is not None and variable.decl_file in files:
                return self.value_of(variable)
        for function in program.info.functions_named(name):
            if function.decl_file in files and function.low_pc is not None:
                return self.function_value(function)
        raise NoSymbolError(name, f'No symbol "{name}" in specified context.')

    def _function_variable(self, scope: str, name: str) -> Value | None:
        """A variable of a function and its blocks; elsewhere than in its frame only static ones have a value."""
        assert self.program is not None
        for qualified in self._qualified_names(scope):
            for function in self.program.info.functions_named(qualified):
                found = self._in_function(function, name)
                if found is not None:
                    return found
        return None

    def _in_function(self, function: CodeScope, name: str) -> Value | None:
        for variable in function.variables:
            if variable.name == name:
                located = isinstance(variable.location, Exprloc | Loclist)
                if located and not has_fixed_address(variable) and not self._is_here(function):
                    raise ExpressionError(f'No frame is currently executing in block {function.name}.')
                return self.value_of(variable)
        for child in function.children:
            found = self._in_function(child, name)
            if found is not None:
                return found
        return None

    def _is_here(self, function: CodeScope) -> bool:
        return self.frame is not None and any(s.offset == function.offset for s in self.frame.scopes)

    def _builtin(self, name: str) -> Value | None:
        """HIP's built-in variables, from what the target knows of the wave."""
        assert self.frame is not None
        thread, lane = self.frame.scope.thread, self.frame.scope.lane
        if self.target is None or thread is None or lane is None:
            return None
        wave = self.target.wave(thread)
        if name == "warpSize":
            return Value.of_int(ctypes.UNSIGNED_INT, wave.lane_count)
        groups = tuple(
            -(-total // size) if size else 0
            for total, size in zip(wave.grid, wave.full_workgroup, strict=True)
        )
        triple = {
            "threadIdx": wave.work_item(lane),
            "blockIdx": wave.workgroup,
            "blockDim": wave.full_workgroup,
            "gridDim": groups,
        }[name]
        return Value(DIM3, data=b"".join(part.to_bytes(4, "little") for part in triple))

    # -- types

    def is_type(self, name: str) -> bool:
        """Whether a name is a type and no variable hides it."""
        if any(variable.name == name for variable in self.local_variables()):
            return False
        program = self.program
        if program is not None and program.has_debug_info:
            if self._local_type(name) is not None:
                return True
            if any(program.info.variables_named(q) for q in self._qualified_names(name)):
                return False
            if any(program.info.types_named(q) for q in self._qualified_names(name)):
                return True
        return builtin_type(name) is not None

    def is_known(self, name: str) -> bool:
        """Whether a name with template arguments names anything."""
        program = self.program
        if program is None or not program.has_debug_info:
            return False
        return bool(program.info.functions_named(name) or program.info.types_named(name))

    def find_type(self, name: str, tag: str) -> Type:
        """A type by name and keyword."""
        found = self._local_type(name, tag)
        if found is None and self.program is not None and self.program.has_debug_info:
            for qualified in self._qualified_names(name):
                candidates = [t for t in self.program.info.types_named(qualified) if _has_tag(t, tag)]
                if candidates:
                    found = candidates[0]
                    break
        if found is None and not tag:
            found = builtin_type(name)
        if found is not None:
            return self.complete_type(found)
        if tag:
            raise NoSymbolError(name, f"No {tag} type named {name}.")
        raise NoSymbolError(name)

    def _local_type(self, name: str, tag: str = "") -> Type | None:
        for scope in self.frame.scopes if self.frame is not None else ():
            for type_ in scope.types:
                if _type_name(type_) == name and _has_tag(type_, tag):
                    return type_
        return None

    def complete_type(self, type_: Type) -> Type:
        """The definition of a declared class or enumeration."""
        stripped = type_.strip_typedefs()
        if (
            isinstance(stripped, ClassType | EnumType)
            and stripped.is_declaration
            and self.program is not None
        ):
            return self.program.complete_type(stripped)
        return type_

    # -- registers and address spaces

    @cached_property
    def registers(self) -> RegisterFile | None:
        """The registers of the frame."""
        if self.frame is None or self.target is None or self.frame.scope.thread is None:
            return None
        return RegisterFile(self.target, self.frame.scope.thread, self.frame.context)

    def register(self, name: str) -> Value | None:
        """A register by name; ``None`` when no register is called so."""
        if self.registers is None:
            if self.program is not None and is_register_name(name):
                raise NoRegistersError
            return None
        return self.registers.value(name)

    def register_range(self, file: str, first: int, last: int) -> Value:
        """``$s[4:5]``."""
        if self.registers is None:
            raise NoRegistersError
        return self.registers.range(file, first, last)

    def address_space(self, name: str) -> int:
        """The DWARF number of a named space."""
        try:
            return int(address_space_by_name(name).space)
        except UnknownAddressSpaceError:
            raise ExpressionError(f"Address space {name} not recognised by the architecture") from None


def _type_name(type_: Type) -> str | None:
    if isinstance(type_, ClassType | EnumType | TypedefType):
        return type_.name
    return str(type_)


def _has_tag(type_: Type, tag: str) -> bool:
    if not tag:
        return True
    if isinstance(type_, EnumType):
        return tag == "enum"
    if isinstance(type_, ClassType):
        if type_.kind is ClassKind.UNION:
            return tag == "union"
        return tag in ("struct", "class")
    return False


