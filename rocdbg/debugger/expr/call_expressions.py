"""Calls in expressions: functions by name, methods, operators of classes, and targets of function pointers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec.structs import replace

from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.errors import ExpressionError, MemoryAccessError, NoSymbolError, NotRunningError
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.names.program_names import ProgramNames
from rocdbg.debugger.expr.overload_resolution import Callee, best, is_const
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.value_access import address_of, as_class, completed, decay, follow, object_location, pointee
from rocdbg.debugger.program.program import MAX_ADDRESS, Program
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import Function
from rocdbg.dwarf.info.name_matching import split_qualified
from rocdbg.dwarf.info.types import (
    ArrayType,
    ClassType,
    EnumType,
    FunctionType,
    MemberPointerType,
    Method,
    PointerType,
)
from rocdbg.dwarf.reader import results

_NO_PROCESS = "You can't do that without a process to debug."
_POINTER = 8
_MOST_CLASSES = 256
"""The largest number of classes in a hierarchy that are searched for a method."""


class Operands(Protocol):
    """Evaluates parts of an expression."""

    def value(self, node: syntax.Expression) -> Value:
        """Return the value of a tree."""

    def lvalue(self, node: syntax.Expression) -> Value:
        """Return the value of a tree with references followed."""


def call(
    node: syntax.Expression, operands: Operands, arguments: Sequence[Value], environment: Environment, only_type: bool
) -> Value:
    """Return the result of a call; with ``only_type``, only its type is valid. Raises `rocdbg.Error`."""
    try:
        found = call_target(node, operands, arguments, environment, only_type)
    except ExpressionError:
        if only_type or environment.focus.running:
            raise
        raise NotRunningError(_NO_PROCESS) from None  # GDB checks this first
    return run(*found, environment, only_type)


def run(callee: Callee, arguments: list[Value], environment: Environment, only_type: bool) -> Value:
    """Return the result of a function, as `call` does."""
    if only_type:
        type_ = callee.return_type
        return Value.of_int(type_, 0) if c_types.is_scalar(type_) else Value(type_, data=bytes(type_.size or 0))
    if environment.caller is None:
        raise NotRunningError(_NO_PROCESS)
    value = environment.caller.call(callee, arguments, environment)
    return replace(value, type=value.type.strip_typedefs())  # as in GDB, where only the type alone keeps its name


def call_target(
    node: syntax.Expression, operands: Operands, arguments: Sequence[Value], environment: Environment,
    only_type: bool = False,
) -> tuple[Callee, list[Value]]:
    """Resolve a call to the function and its arguments, including the object of a method. ``only_type``: the function
    will not be run.

    Raises `ExpressionError` or `NoSymbolError` if there is no such function, or if none accepts the arguments.
    """
    given = [follow(value, environment) for value in arguments]
    if isinstance(node, syntax.Name) and (node.global_ or environment.local(node.name) is None):
        # a class's scope is inside that of its namespace
        method = None if node.global_ else _method_of_this(node.name, given, environment)
        if method is not None:
            return method
        functions = named_functions(node.name, environment)
        if not functions and _may_be_elsewhere(node) and environment.variable(node.name) is None:
            functions = _in_namespaces(node.name, given, environment)  # argument-dependent lookup
        if functions and functions[0].type.parameters[:1] and functions[0].type.parameters[0].artificial and not given:
            raise ExpressionError(f"Cannot resolve method {node.name} to any overloaded instance")
        if functions:
            return _chosen(node.name, functions, given, environment), given
    if isinstance(node, syntax.Member):
        found = _method_call(node, operands, given, environment)
        if found is not None:
            return found
    if isinstance(node, syntax.Binary) and node.operator in (".*", "->*"):
        found = _pointed_method(node, operands, given, environment)
        if found is not None:
            return found
    return _behind(operands.lvalue(node), environment, only_type), given


def _may_be_elsewhere(node: syntax.Name) -> bool:
    """Whether argument-dependent lookup applies to a function name. As in GDB, it does not apply to operators."""
    return not node.global_ and "::" not in node.name and not re.match(r"operator\W", node.name)


def _behind(value: Value, environment: Environment, only_type: bool) -> Callee:
    """Return the function that a value is or points to. Raises `ExpressionError` in GDB's words for anything else."""
    if isinstance(value.bare, ArrayType):
        raise ExpressionError("Invalid data type for function to be called.")
    pointer = decay(value)
    stripped = pointer.bare
    type_ = stripped.target.bare if isinstance(stripped, PointerType) else None
    if only_type and not isinstance(value.bare, FunctionType):
        raise ExpressionError('Expression of type other than "Function returning ..." used as function')
    # A number is the address of a function without debug information.
    known = isinstance(type_, FunctionType) or c_types.is_number(type_ or stripped)
    if not known:
        raise ExpressionError("Invalid data type for function to be called.")
    address = LoadedAddress(pointer.as_int())
    program = environment.program
    if program is None:
        raise ExpressionError(_NO_PROCESS)
    if isinstance(type_, FunctionType):
        callee = Callee.at(address, type_, program)
        if callee.function is not None or type_.prototyped:
            return callee
    symbol = program.symbol_and_offset(address, data=False)
    title = symbol[0] if symbol is not None else f"at 0x{address & MAX_ADDRESS:#x}"  # GDB has both forms, too
    raise ExpressionError(f"'{title}' has unknown return type; cast the call to its declared return type")


# -- by name


def named_functions(name: str, environment: Environment) -> list[Function]:
    """Return the functions with code that a name denotes here: those of the innermost namespace that has any."""
    program = environment.program
    if program is None or not program.has_debug_info:
        return []
    return ProgramNames(program, environment.frame).functions(name)


def _chosen(
    name: str, functions: Sequence[Function], arguments: Sequence[Value], environment: Environment
) -> Callee:
    program = environment.program
    assert program is not None
    callees = [callee for function in functions if (callee := Callee.of(function, program)) is not None]
    if not environment.is_cplusplus:
        return callees[0]
    return best(f"function {split_qualified(name)[-1]}", callees, arguments)


# -- methods


def _method_of_this(
    name: str, arguments: list[Value], environment: Environment
) -> tuple[Callee, list[Value]] | None:
    """Find the method that an unqualified name calls inside a method: a method of the same object."""
    this = environment.local("this") if environment.is_cplusplus else None
    if this is None or not isinstance(this.bare, PointerType) or this.absence is not None:
        return None
    object_ = completed(pointee(follow(this, environment), environment), environment)
    return method_call(object_, name, arguments, environment)


def _method_call(
    node: syntax.Member, operands: Operands, arguments: list[Value], environment: Environment
) -> tuple[Callee, list[Value]] | None:
    """Resolve ``object.name(...)``; ``None`` if the name is a data member, which may be a function pointer."""
    object_ = operands.lvalue(node.base)
    if isinstance(object_.bare, PointerType):
        object_ = pointee(object_, environment)
    object_ = completed(object_, environment)
    class_ = object_.bare
    if not isinstance(class_, ClassType):
        return None
    name = node.name.rpartition("::")[2]
    found = method_call(object_, name, arguments, environment)
    if found is None and object_.find_member(name) is None:
        raise ExpressionError(f"Couldn't find method {object_.type.strip_qualifiers()}::{name}")
    return found


def method_call(
    object_: Value, name: str, arguments: list[Value], environment: Environment
) -> tuple[Callee, list[Value]] | None:
    """Select a method by name from an object's class or its bases; ``None`` if there is no method of this name.

    Raises `ExpressionError` if none accepts the arguments or the selected one has no code.
    """
    program = environment.program
    assert program is not None
    for part, methods in _methods(object_, name):
        # Of methods that differ only in constness, prefer the one that matches the object.
        methods = sorted(methods, key=lambda method: method.is_const != is_const(object_.type))
        declared = [_declared(method, program) for method in methods]
        explicit = [
            callee if method.static else replace(callee, parameters=callee.parameters[1:])
            for method, callee in zip(methods, declared, strict=True)
        ]
        title = f"method {_class_name(object_)}::{name}"
        position = explicit.index(best(title, explicit, arguments))
        method = methods[position]
        function = _function_of(method, part, environment)
        callee = Callee.of(function, program) if function is not None else None
        if method.virtual:
            callee = _overrider(method, part, callee or declared[position], environment)
        if callee is None or not callee.address:
            raise ExpressionError("Cannot evaluate function -- may be inlined")
        if method.static:
            return callee, arguments
        return callee, [_this(part), *arguments]
    return None


def _declared(method: Method, program: Program) -> Callee:
    """Return the interface of a method without an address: even a method without code takes part in the selection."""
    type_ = method.type
    parameters = tuple(parameter.type for parameter in type_.parameters)
    return Callee(method.name, LoadedAddress(0), program, type_.return_type, parameters, type_.variadic)


def _class_name(object_: Value) -> str:
    class_ = object_.bare
    return (class_.qualified_name or class_.name or "") if isinstance(class_, ClassType) else ""


def _this(object_: Value) -> Value:
    """Return the pointer to an object, or the object itself if it has no address: it will then be copied."""
    return address_of(object_) if object_.address is not None else object_


def _methods(object_: Value, name: str) -> Iterator[tuple[Value, list[Method]]]:
    """Yield the methods of a name in the object's class, otherwise in its bases, with the subobject for each."""
    waiting = [object_]
    for _ in range(_MOST_CLASSES):
        if not waiting:
            return
        part = waiting.pop(0)
        class_ = part.bare
        if not isinstance(class_, ClassType):
            continue
        methods = [method for method in class_.methods if method.name == name]
        if methods:
            yield part, methods
            return
        waiting += [part.base(base) for base in class_.bases if base.byte_offset is not None]


def _function_of(method: Method, object_: Value, environment: Environment) -> Function | None:
    """Return the function that a method declaration refers to; ``None`` if it has no code."""
    program, class_ = environment.program, object_.bare
    assert program is not None and isinstance(class_, ClassType)
    named = program.info.functions_named(f"{class_.qualified_name or class_.name}::{method.name}")
    with_code = [function for function in named if function.low_pc is not None]
    for function in with_code:
        if method.linkage_name is not None and function.linkage_name == method.linkage_name:
            return function
        if method.offset is not None and any(die.offset == method.offset for die in function.die.origins()):
            return function
    return None


def _overrider(method: Method, object_: Value, callee: Callee, environment: Environment) -> Callee:
    """Return the final overrider of a virtual method, found in the object's virtual table."""
    entry = _slot_contents(method, object_, callee.program, environment)
    if entry is None:
        return callee
    function = callee.program.function_at(entry)
    found = Callee.of(function, callee.program) if function is not None else None
    if function is None or found is None or found.address != entry or function.name is None:
        return replace(callee, address=entry)  # the description of a thunk lacks its target's type
    return found


def _slot_contents(
    method: Method, object_: Value, program: Program, environment: Environment
) -> LoadedAddress | None:
    """Return the address in a virtual method's slot: where its class says (A.5.7.8), or by number in the virtual table.
    """
    slot, address, frame = method.vtable_slot, object_.address, environment.frame
    if slot is None:
        if method.vtable_elem_location is None or method.offset is None or frame is None:
            return None
        entry = program.info.die(method.offset)
        place = results.vtable_elem_location(entry, frame.context, object_location(object_, frame.context))
        return None if place is None else LoadedAddress(place.read(8 * _POINTER))
    if address is None:
        return None
    memory = environment.memory
    table = int.from_bytes(memory.read(address.space, address.value, _POINTER), "little")
    return LoadedAddress(int.from_bytes(memory.read(0, table + _POINTER * slot, _POINTER), "little"))


def _pointed_method(
    node: syntax.Binary, operands: Operands, arguments: list[Value], environment: Environment
) -> tuple[Callee, list[Value]] | None:
    """Resolve ``(object.*pointer)(...)`` for a pointer to a member function; ``None`` for a pointer to a data member.

    In the Itanium ABI, such a pointer is the function's address, or 1 plus the offset in the virtual table, followed by
    the adjustment of the object's address.
    """
    pointer = operands.lvalue(node.right)
    type_ = pointer.bare
    if not isinstance(type_, MemberPointerType) or not isinstance(type_.target.bare, FunctionType):
        return None
    object_ = operands.lvalue(node.left)
    if isinstance(object_.bare, PointerType):
        object_ = pointee(object_, environment)
    number, part = _method_address(pointer, type_, object_, environment)
    program = environment.program
    assert program is not None
    callee = Callee.at(LoadedAddress(number), type_.target.bare, program)
    return callee, [_this(part), *arguments]


def pointed_method(pointer: Value, object_: Value, environment: Environment) -> Value | None:
    """Return the function of ``object_.*pointer``, at its address; ``None`` if ``pointer`` does not point to a method.
    """
    type_ = pointer.bare
    if not isinstance(type_, MemberPointerType) or not isinstance(type_.target.bare, FunctionType):
        return None
    if not any(pointer.contents()[:_POINTER]):
        raise MemoryAccessError("global", 0, 1)
    number, _ = _method_address(pointer, type_, object_, environment)
    return environment.at_address(type_.target, 0, number)


def _method_address(
    pointer: Value, type_: MemberPointerType, object_: Value, environment: Environment
) -> tuple[int, Value]:
    """Return the address of the method's code, and the object on which it is called."""
    object_ = as_class(completed(object_, environment), type_.containing)
    data = pointer.contents()
    number, adjustment = (int.from_bytes(data[at : at + _POINTER], "little", signed=True) for at in (0, _POINTER))
    if number == 0:
        raise ExpressionError("Attempt to call a null pointer to a member function.")
    part = object_.part(object_.type, adjustment) if adjustment else object_
    address = part.address
    if number & 1:
        if address is None:
            raise ExpressionError("Attempt to take address of value not located in memory.")
        memory = environment.memory
        table = int.from_bytes(memory.read(address.space, address.value, _POINTER), "little")
        number = int.from_bytes(memory.read(0, table + number - 1, _POINTER), "little")
    return number, part


# -- operators


def operator_call(
    operator: str, operands: list[Value], environment: Environment
) -> tuple[Callee, list[Value]] | None:
    """Find a user-defined operator (method or function) for operands; ``None`` if no operand has a class type.

    Raises `NoSymbolError` if there is no such operator, `ExpressionError` if none accepts the operands.
    """
    if not environment.is_cplusplus or not any(isinstance(operand.bare, ClassType) for operand in operands):
        return None
    name = f"operator{operator}"
    first = completed(operands[0], environment)
    failed: ExpressionError | None = None
    if isinstance(first.bare, ClassType):
        try:
            found = method_call(first, name, operands[1:], environment)
        except ExpressionError as error:
            found, failed = None, error
        if found is not None:
            return found
    functions = named_functions(name, environment) or _in_namespaces(name, operands, environment)
    if functions:
        try:
            return _chosen(name, functions, operands, environment), operands
        except ExpressionError:
            failed = ExpressionError("Cannot resolve")
    if not isinstance(first.bare, ClassType):
        raise ExpressionError("Can't do that binary op on that type")
    if failed is not None and "Too few" in str(failed):
        raise failed
    if failed is not None and "Cannot resolve" in str(failed):
        raise ExpressionError(f"Cannot resolve function {name} to any overloaded instance")  # GDB searches them all
    if failed is not None:
        raise ExpressionError(f"Could not find {name}.")
    raise NoSymbolError(name)


def _in_namespaces(name: str, operands: Sequence[Value], environment: Environment) -> list[Function]:
    """Return the functions with this name in the namespaces of the operands' classes."""
    program = environment.program
    if program is None or not program.has_debug_info or not environment.is_cplusplus:
        return []
    for operand in operands:
        class_ = c_types.referred(operand.type).bare
        if isinstance(class_, PointerType):
            class_ = class_.target.bare
        scope = class_.qualified_name if isinstance(class_, ClassType | EnumType) else None
        while scope and "::" in scope:
            scope = scope.rpartition("::")[0]
            found = [f for f in program.info.functions_named(f"{scope}::{name}") if f.low_pc is not None]
            if found:
                return found
    return []


