"""Selects the function that an expression calls, by C++ overload resolution as GDB implements it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.errors import ExpressionError, NoSymbolError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.names.program_names import ProgramNames, of_signature
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import Function
from rocdbg.dwarf.info.types import (
    VOID,
    ArrayType,
    ClassType,
    EnumType,
    FunctionType,
    Method,
    PointerKind,
    PointerType,
    QualifiedType,
    Qualifier,
    Type,
    VectorType,
    VoidType,
)


class Callee(Struct, frozen=True):
    """A callable function: its loaded entry address, and its interface.

    ``function`` is ``None`` if the function is known only through a pointer.
    """

    name: str
    address: LoadedAddress
    program: Program
    return_type: Type = VOID
    parameters: tuple[Type, ...] = ()
    is_variadic: bool = False
    function: Function | None = None

    @classmethod
    def of(cls, function: Function, program: Program) -> Callee | None:
        """Return a function of the program; ``None`` for one without code of its own."""
        entry = function.entry_pc if function.entry_pc is not None else function.low_pc
        if entry is None:
            return None
        type_ = function.type
        return cls(
            program.function_title(function), program.to_loaded(entry), program, type_.return_type,
            tuple(parameter.type for parameter in type_.parameters), type_.variadic, function,
        )

    @classmethod
    def at(cls, address: LoadedAddress, type_: FunctionType, program: Program) -> Callee:
        """Return the target of a function pointer, whose type gives the interface."""
        function = program.function_at(address)
        if function is not None and function.low_pc is not None and program.to_loaded(function.low_pc) != address:
            function = None
        name = program.function_title(function) if function is not None else f"at {address:#x}"
        return cls(
            name, address, program, type_.return_type, tuple(parameter.type for parameter in type_.parameters),
            type_.variadic, function,
        )


class FunctionCaller(Protocol):
    """Runs functions of the program at the place where expressions are evaluated."""

    def call(self, callee: Callee, arguments: Sequence[Value], environment: Environment) -> Value:
        """Return the function's result in the environment's lane; void has no bytes. Raises `rocdbg.Error`."""


# -- overload resolution: each parameter's conversion has a cost, which is 0 if none is needed

_EXACT, _PROMOTION, _CONVERSION = 0, 1, 2
_BASE, _BASE_POINTER, _STEP = 2, 1, 0.01
"""The costs of converting an object and a pointer to a direct base, and the additional cost of each further step."""
_IMPOSSIBLE = 100


def best(name: str, candidates: Iterable[Callee], arguments: Sequence[Value]) -> Callee:
    """Return the candidate whose parameters fit the arguments best; the first one if several are equally good.

    ``name`` is used in the error: ``function f``, ``method C::f``. Raises `ExpressionError` in GDB's words if none
    fits.
    """
    found: tuple[Callee, list[float]] | None = None
    every = list(candidates)
    if all(len(candidate.parameters) > len(arguments) for candidate in every):
        raise ExpressionError("Too few arguments in function call.")
    for candidate in every:
        ranks = _ranks(candidate, arguments)
        if ranks is None:
            continue
        if found is None or (
            all(one <= other for one, other in zip(ranks, found[1], strict=False)) and ranks != found[1]
        ):
            found = candidate, ranks
    if found is None:
        raise ExpressionError(f"Cannot resolve {name} to any overloaded instance")
    return found[0]


def _ranks(candidate: Callee, arguments: Sequence[Value]) -> list[float] | None:
    """Return the cost of each conversion; ``None`` if the candidate cannot accept the arguments."""
    expected = candidate.parameters
    if len(expected) > len(arguments) or (len(expected) < len(arguments) and not candidate.is_variadic):
        return None
    ranks = [_rank(type_, value) for type_, value in zip(expected, arguments, strict=False)]
    return None if any(rank >= _IMPOSSIBLE for rank in ranks) else ranks


def _rank(wanted: Type, value: Value) -> float:
    type_ = wanted.bare
    if isinstance(type_, PointerType) and type_.kind is not PointerKind.POINTER:
        if value.is_lvalue:
            return _rank(type_.target, value) if type_.kind is PointerKind.REFERENCE else _IMPOSSIBLE
        # As in GDB, a value without an address fits any reference that can bind to it; converting it may still fail.
        return _CONVERSION if type_.kind is not PointerKind.REFERENCE or is_const(type_.target) else _IMPOSSIBLE
    have = value.bare
    if type_ == have:
        return _EXACT
    if isinstance(type_, ClassType):
        return _rank_class(type_, have)
    if isinstance(have, ClassType) or isinstance(type_, VectorType) or isinstance(have, VectorType):
        return _IMPOSSIBLE
    if isinstance(type_, PointerType):
        return _rank_pointer(type_, value)
    if isinstance(have, PointerType | ArrayType | FunctionType):
        return _CONVERSION + 1 if c_types.is_bool(type_) else _IMPOSSIBLE
    return _rank_number(type_, have)


def is_const(type_: Type) -> bool:
    """Whether a type itself is const."""
    return isinstance(type_, QualifiedType) and (
        type_.qualifier is Qualifier.CONST or is_const(type_.target)
    )


def _rank_number(wanted: Type, have: Type) -> int:
    if isinstance(wanted, EnumType) or (isinstance(have, EnumType) and have.scoped):
        return _IMPOSSIBLE
    if not c_types.is_scalar(wanted) or not c_types.is_scalar(have):
        return _IMPOSSIBLE
    if c_types.is_float(wanted) != c_types.is_float(have):
        return _CONVERSION
    if c_types.size_of(wanted) == c_types.size_of(have) and c_types.is_signed(wanted) == c_types.is_signed(have):
        return _EXACT if not c_types.is_bool(wanted) and not isinstance(have, EnumType) else _CONVERSION
    promoted = c_types.DOUBLE if c_types.is_float(have) else c_types.promote(have)
    same_size = c_types.size_of(promoted) == c_types.size_of(wanted)
    same = same_size and c_types.is_signed(promoted) == c_types.is_signed(wanted)
    return _PROMOTION if same and c_types.size_of(have) < c_types.size_of(wanted) else _CONVERSION


def _rank_pointer(wanted: PointerType, value: Value) -> float:
    have = value.bare
    if isinstance(have, ArrayType):
        target: Type = have.element
    elif isinstance(have, FunctionType):
        target = have
    elif isinstance(have, PointerType):
        target = have.target
    else:
        null = c_types.is_integral(have) and value.storage is None and value.as_int() == 0
        return _CONVERSION if null else _IMPOSSIBLE
    if wanted.target.bare == target.bare or _same_function(wanted.target.bare, target.bare):
        return _EXACT
    if isinstance(wanted.target.bare, VoidType):
        return _CONVERSION
    if isinstance(wanted.target.bare, ClassType) and isinstance(target.bare, ClassType):
        return _rank_class(wanted.target.bare, target.bare, _BASE_POINTER)
    return _IMPOSSIBLE


def _same_function(one: Type, other: Type) -> bool:
    """Whether two functions have the same parameter and result types."""
    if not isinstance(one, FunctionType) or not isinstance(other, FunctionType):
        return False
    mine, others = ([made.return_type, *(each.type for each in made.parameters)] for made in (one, other))
    same = one.variadic == other.variadic and len(mine) == len(others)
    return same and all(left.bare == right.bare for left, right in zip(mine, others, strict=True))


def _rank_class(wanted: ClassType, have: Type, base: int = _BASE) -> float:
    """Return the cost of converting an object to its class or to a base; it rises with the distance."""
    if not isinstance(have, ClassType):
        return _IMPOSSIBLE
    level = [have]
    for distance in range(64):
        if any(_same(wanted, type_) for type_ in level):
            return base + _STEP * (distance - 1) if distance else _EXACT
        bases = (one.type.bare for type_ in level for one in type_.bases)
        level = [one for one in bases if isinstance(one, ClassType)]
        if not level:
            break
    return _IMPOSSIBLE


def _same(one: ClassType, other: ClassType) -> bool:
    if one.qualified_name is None:
        return one == other
    return one.qualified_name == other.qualified_name


# Functions of the program as values: methods, and members of overload sets.


def method_value(class_: ClassType, method: Method, environment: Environment) -> Value | None:
    """Return a method as a function of its declared type; ``None`` if it has no code."""
    program = environment.types.program
    if program is None:
        return None
    name = f"{class_.qualified_name or class_.name}::{method.name}"
    for function in ProgramNames(program, None).functions(name, is_global=True):
        origins = {die.offset for die in function.die.origins()}
        if method.offset in origins or method.linkage_name in (None, function.linkage_name):
            return environment.function_value(function).with_type(method.type)
    return None


def overload(name: str, types: Iterable[Type], environment: Environment) -> Value:
    """Return the function of a name that has parameters of these types; if there is only one function, it is returned
    regardless of its parameters.

    Raises `NoSymbolError`.
    """
    program = environment.types.program
    found, parameters = None, ""
    if program is not None and program.has_debug_info:
        functions = ProgramNames(program, environment.types.frame).functions(name)
        if not functions:
            raise NoSymbolError(name)
        if len(functions) == 1 or not environment.is_cplusplus:
            return environment.function_value(functions[0])
        parameters = ", ".join(map(str, types))
        found = of_signature(functions, parameters)
    if found is None:
        raise NoSymbolError(name, f'No symbol "{name}({parameters})" in current context.')
    return environment.function_value(found)
