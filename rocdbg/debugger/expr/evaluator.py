"""Computes the value of a syntax tree, by C's rules over an `Environment`."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from rocdbg.debugger.base.errors import ExpressionError, NoSymbolError, TypeNameError
from rocdbg.debugger.expr.call_expressions import call, operator_call, pointed_method, run
from rocdbg.debugger.expr.casting import (
    cast,
    character_type,
    dynamic_cast,
    in_one_space,
    is_reinterpreted,
    object_cast,
    reference_cast,
    reinterpretable,
    reinterpreted,
)
from rocdbg.debugger.expr.class_casts import cast_pointer
from rocdbg.debugger.expr.class_members import has_method
from rocdbg.debugger.expr.environments.environment import Environment, is_opencl
from rocdbg.debugger.expr.literals import (
    array_literal,
    comma_list,
    integer_literal,
    size_value,
    space_address,
    typed_memory,
    vector_literal,
)
from rocdbg.debugger.expr.names.convenience_variables import string_value
from rocdbg.debugger.expr.names.dollar_names import dollar_value, is_convenience, registers
from rocdbg.debugger.expr.names.meanings import name_value, need_names
from rocdbg.debugger.expr.names.minimal_symbols import NO_DEBUG_DATA, need_type
from rocdbg.debugger.expr.operators import (
    COMPARISONS,
    binary,
    convert,
    need_no_operator,
    shift_warning,
    stepped,
    unary,
    vector_not,
)
from rocdbg.debugger.expr.overload_resolution import overload
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.parsing.kept_trees import nesting_limited, parse_in
from rocdbg.debugger.expr.qualified_members import member_pointer
from rocdbg.debugger.expr.string_contents import StringReader
from rocdbg.debugger.expr.value_access import (
    address_of,
    decay,
    element,
    follow,
    member,
    placed,
    pointee,
    repeated,
)
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import ConvenienceStorage
from rocdbg.dwarf.info.types import (
    ArrayType,
    ClassType,
    FunctionType,
    Parameter,
    PointerKind,
    PointerType,
    QualifiedType,
    Qualifier,
    Type,
    VectorType,
)
from rocdbg.errors import Error


def evaluate(text: str, environment: Environment) -> Value:
    """Return the value of an expression, and carry out assignments in it. Raises `rocdbg.Error` subclasses."""
    return Evaluator(environment).text(text)


def evaluate_type(text: str, environment: Environment) -> tuple[Type, bool]:
    """Return the type of an expression or type name, without side effects; and whether it was a type name."""
    tree = parse_in(text, environment, names_first=True)
    evaluator = Evaluator(environment, only_type=True)
    with nesting_limited(text):
        if isinstance(tree, syntax.TypeExpression):
            return evaluator.type(tree.type), True
        return evaluator.whole(tree).type, False


def value_tree(text: str, environment: Environment) -> syntax.Expression:
    """Return the tree of an expression that has a value. Raises `TypeNameError` for the name of a type."""
    tree = parse_in(text, environment, names_first=True)
    if isinstance(tree, syntax.TypeExpression):
        Evaluator(environment, only_type=True).type(tree.type)  # the type may be invalid
        raise TypeNameError
    return tree


class Evaluator(Struct):
    """Evaluates trees. With ``only_type``, nothing is stored, and values need not be readable."""

    environment: Environment
    only_type: bool = False
    warnings: list[str] = []
    """Warnings for a front end to show."""
    has_stored: bool = False
    """Whether anything but a convenience variable was assigned, so that cached state of the target may be outdated."""

    # -- entry points

    def text(self, text: str) -> Value:
        """Return the value of an expression as typed."""
        tree = value_tree(text, self.environment)
        with nesting_limited(text):
            return self.whole(tree)

    def whole(self, tree: syntax.Expression) -> Value:
        """Return the `value` of a whole expression: an unknown name takes precedence over other errors."""
        try:
            return self.value(tree)
        except Error:
            need_names(tree, self.environment)
            raise

    def value(self, node: syntax.Expression) -> Value:
        """Return the value of a tree; arrays, functions and references are not converted.

        Left-leaning trees (sums, chains of members) are evaluated in a loop, so that their length is not limited.
        """
        spine: list[syntax.Binary | syntax.Index | syntax.Member] = []
        while True:
            if isinstance(node, syntax.Binary):
                spine.append(node)
                node = node.left
            elif isinstance(node, syntax.Index | syntax.Member):
                spine.append(node)
                node = node.base
            else:
                break
        value = self._value(node)
        for outer in reversed(spine):
            if isinstance(outer, syntax.Binary):
                value = self._binary(outer.operator, value, outer.right)
            elif isinstance(outer, syntax.Index):
                base, index = follow(value, self.environment), self.lvalue(outer.index)
                value = self._operator("[]", base, index) or element(
                    base, decay(index), self.environment, self.only_type
                )
            else:
                value = self._member(follow(value, self.environment), outer)
        return value

    def _value(self, node: syntax.Expression) -> Value:
        """Return the `value` of a tree that is not a chain of operators nested to the left."""
        match node:
            case syntax.Integer(number, suffix, radix):
                return integer_literal(number, suffix, radix)
            case syntax.Float(number, suffix):
                type_ = {"f": c_types.FLOAT, "h": c_types.HALF, "f16": c_types.HALF, "l": c_types.LONG_DOUBLE}
                return Value.of_float(type_.get(suffix, c_types.DOUBLE), number)
            case syntax.Char(number, prefix):
                return Value.of_int(character_type(prefix, self.environment), number)
            case syntax.String(data, prefix):
                return string_value(data, character_type(prefix, self.environment))
            case syntax.Bool(truth):
                return Value.of_int(self.environment.bool_type, truth)
            case syntax.Name():
                value = self._named(node)
                if not self.only_type:
                    need_type(value, node.name)
                return value
            case syntax.ScopedName(scope, name):
                return self.environment.scoped_variable(scope, name)
            case syntax.Dollar(name):
                return dollar_value(name, self.environment)
            case syntax.RegisterRange() | syntax.RegisterList() | syntax.RegisterHalf():
                return registers(node, self)
            case syntax.Unary(operator, operand):
                return self._unary(operator, operand)
            case syntax.Postfix(operator, operand):
                old = self.lvalue(operand)
                found = self._operator(operator, old, integer_literal(0, "", 10))
                if found is not None:
                    return found
                before = old.rvalue() if not c_types.is_void(old.type) else old
                self._assign(operand, old, stepped(before, operator))
                return before
            case syntax.Assign():
                return self._assignment(node)
            case syntax.Conditional():
                return conditional(node, self, self.environment)
            case syntax.Cast(type_name, operand, kind):
                return cast_value(self.type(type_name), operand, kind, self)
            case syntax.Sizeof():
                return self._sizeof(node)
            case syntax.Call(function, arguments):
                return self._call(function, arguments)
            case syntax.TypedMemory(type_name, address):
                return typed_memory(self.type(type_name), self.operand(address), self.environment)
            case syntax.ArrayLiteral(elements):
                return array_literal([self.operand(element) for element in elements])
            case syntax.SpaceAddress(space, address):
                return space_address(space, self.operand(address))
            case _:  # ast.TypeExpression
                assert isinstance(node, syntax.TypeExpression)
                self.type(node.type)
                raise ExpressionError("Attempt to use a type name as an expression")

    def _named(self, node: syntax.Name) -> Value:
        """Return what a name denotes; a symbol of unknown type is allowed, and then only its place is known."""
        return name_value(node, self.environment, self.only_type)

    def cast_symbol(self, type_: Type, operand: syntax.Expression) -> Value | None:
        """Return a symbol of unknown type, read as the type to which it is cast; None for any other operand."""
        if not isinstance(operand, syntax.Name):
            return None
        value = self._named(operand)
        if value.type is not NO_DEBUG_DATA:
            return None
        found = Value(type_, value.storage)
        return found if self.only_type else found.rvalue()

    def lvalue(self, node: syntax.Expression) -> Value:
        """Return the value with references followed."""
        return follow(self.value(node), self.environment)

    def operand(self, node: syntax.Expression) -> Value:
        """Return the value as an operand: with references followed, and arrays and functions decayed to pointers."""
        return decay(self.lvalue(node))

    # -- types

    def type(self, name: syntax.AnyTypeName) -> Type:
        """Return the type of a type name."""
        return named_type(name, self.environment, self._unevaluated)

    def _unevaluated(self, node: syntax.Expression) -> Type:
        """Return the type of the operand of ``sizeof`` or ``typeof``, which is not evaluated."""
        if isinstance(node, syntax.TypeExpression):
            return self.type(node.type)
        return Evaluator(self.environment, only_type=True).lvalue(node).type

    # -- operators

    def _unary(self, operator: str, operand: syntax.Expression) -> Value:
        if operator == "&":
            scope, _, last = operand.name.rpartition("::") if isinstance(operand, syntax.Name) else ("", "", "")
            pointer = member_pointer(scope, last, self.environment) if scope else None
            if pointer is not None:
                return pointer
            if isinstance(operand, syntax.Unary) and operand.operator == "*":
                pointer = self.lvalue(operand.operand)  # as GDB, which does not dereference it
                if c_types.is_pointer(pointer.type) or c_types.is_number(pointer.type):
                    return pointer
            inner = self._named(operand) if isinstance(operand, syntax.Name) else self.value(operand)
            stripped = inner.bare
            if isinstance(stripped, PointerType) and stripped.kind is not PointerKind.POINTER:
                return Value.of_int(c_types.pointer_to(stripped.target, stripped.address_class or 0), inner.as_int())
            name = operand.name if isinstance(operand, syntax.Name) else ""
            return address_of(self._kept(inner), self.only_type, name)
        if operator == "*":
            given = self.value(operand)
            pointer = follow(given, self.environment)
            found = self._operator(operator, pointer)
            of_number = c_types.is_reference(given.type) and c_types.is_number(pointer.type)
            code = pointer.bare if isinstance(pointer.bare, FunctionType) else None
            if found is None and (of_number or (code is not None and (self.only_type or code.of_member))):
                raise ExpressionError("Attempt to take contents of a non-pointer value.")  # as in GDB
            return found or pointee(decay(self._kept(pointer)), self.environment, self.only_type)
        if operator in ("++", "--"):
            old = self.lvalue(operand)
            found = self._operator(operator, old)
            return found or self._assign(operand, old, stepped(old, operator))
        value = self.lvalue(operand)
        found = self._operator(operator, value)
        if found is not None:
            return found
        if operator == "!" and isinstance(value.bare, VectorType) and is_opencl(self.environment):
            return vector_not(value)
        return unary(operator, self.readable(decay(value)), self.environment.bool_type)

    def readable(self, value: Value) -> Value:
        """Return the value, or a placeholder of its type if only the type is wanted."""
        if self.only_type and c_types.is_scalar(value.type):
            if c_types.is_float(value.type):
                return Value.of_float(value.type, 1)
            return Value.of_int(value.type, 1)
        return value

    def _member(self, base: Value, node: syntax.Member) -> Value:
        """Return a member; if the object's class overloads ``->``, a member of that operator's result."""
        if node.arrow and isinstance(base.bare, ClassType) and has_method(base, "operator->", self.environment):
            base = follow(self._operator("->", base) or base, self.environment)
        return member(base, node, self.environment, self.only_type)

    def _binary(self, operator: str, left: Value, right: syntax.Expression) -> Value:
        if operator == ",":
            return self.value(right)
        if left.type.integer is None:
            left = follow(left, self.environment)
        elif type(right) is syntax.Integer and operator in COMPARISONS and not self.only_type:
            number = integer_literal(right.value, right.suffix, right.radix)
            return binary(operator, left, number, self.environment.bool_type)
        if operator in (".*", "->*"):
            # as in GDB, either operator accepts objects and pointers
            if isinstance(left.bare, PointerType):
                left = pointee(left, self.environment, self.only_type)
            pointer = self.operand(right)
            method = pointed_method(pointer, left, self.environment)
            return method if method is not None else self.environment.pointed_member(pointer, left)
        if operator in ("&&", "||") and not c_types.is_class(left.type) and not (
            isinstance(left.bare, VectorType) and is_opencl(self.environment)
        ):
            answer = self.readable(decay(left)).is_true()
            if answer == (operator == "&&"):
                other = self.operand(right)
                found = self._operator(operator, left, other)
                if found is not None:
                    return found
                answer = self.readable(other).is_true()
            else:
                need_names(right, self.environment)
            return Value.of_int(self.environment.bool_type, answer)
        if operator == "@":
            return repeated(left, self.operand(right), self.only_type)
        other = self.lvalue(right)
        found = self._operator(operator, left, other)
        if found is not None:
            return found
        if operator in ("+", "-"):
            left, other = self._kept(left), self._kept(other)
        return self._computed(operator, self.readable(_operand(left)), self.readable(_operand(other)))

    def _kept(self, value: Value) -> Value:
        return placed(value, self.environment, self.only_type)

    def _computed(self, operator: str, left: Value, right: Value) -> Value:
        """Return `binary` of two values, whose pointers may have different spaces; add the warnings about shifts."""
        left, right = in_one_space(left, right, self.environment)
        warning = shift_warning(operator, left, right)
        if warning is not None:
            self.warnings.append(warning)
        return binary(operator, left, right, self.environment.bool_type)

    def _assignment(self, node: syntax.Assign) -> Value:
        target = self.lvalue(node.left)
        right = self.lvalue(node.right)
        if node.operator:
            found = self._operator(f"{node.operator}=", target, right)
            if found is not None:
                return found
            right = self._computed(node.operator, decay(target), decay(right))
        return self._assign(node.left, target, right)

    def _assign(self, node: syntax.Expression, target: Value, new: Value) -> Value:
        if self.only_type:
            return target if not is_convenience(node, self.environment) else new
        if is_convenience(node, self.environment):
            assert isinstance(node, syntax.Dollar)
            kept = decay(new) if isinstance(new.bare, ArrayType | FunctionType) and new.address is not None else new
            self.environment.convenience.set(node.name[1:], kept)
            return self.environment.convenience.get(node.name[1:], self.environment.focus)
        if isinstance(node, syntax.Dollar) and self.environment.register(node.name[1:]) is None:
            raise ExpressionError("Left operand of assignment is not a modifiable lvalue.")  # a value in the history
        if target.absence is not None and target.absence.is_lost:
            raise ExpressionError("Left operand of assignment is not an lvalue.")
        if isinstance(target.bare, FunctionType) and (new.size == 1 or new.address is not None):
            return target  # assignments to code are ignored
        converted = stored_value(target, new, self.environment)
        warning = bit_field_warning(target, converted)
        if warning is not None:
            self.warnings.append(warning)
        self.has_stored = True
        stored = target.store(converted.contents())
        inside = isinstance(target.storage, ConvenienceStorage)
        return Value(stored.type, stored.storage, stored.offset, converted.contents()) if inside else stored

    # -- sizeof

    def _sizeof(self, node: syntax.Sizeof) -> Value:
        if isinstance(node.operand, syntax.Name):
            need_type(self._named(node.operand), node.operand.name)
        return size_value(self._unevaluated(node.operand), node.align, self.environment)

    # -- calls

    def _call(self, function: syntax.Expression, arguments: tuple[syntax.Expression, ...]) -> Value:
        if arguments and all(isinstance(argument, syntax.TypeExpression) for argument in arguments):
            if not isinstance(function, syntax.Name) or self.environment.local(function.name) is not None:
                return self.value(function)  # the value alone: the parameters have no meaning
            types = (self.type(argument.type) for argument in arguments if isinstance(argument, syntax.TypeExpression))
            return overload(function.name, types, self.environment)
        if isinstance(function, syntax.Dollar):
            name = function.name[1:]
            handler = self.environment.convenience.functions.get(name)
            if handler is not None:
                if self.only_type:
                    return integer_literal(0, "", 10)  # as GDB, which does not call the function then
                # As in GDB, an array decays to a pointer only if the argument is its name.
                named = [self.operand if isinstance(each, syntax.Name) else self.lvalue for each in arguments]
                given = [get(argument) for get, argument in zip(named, arguments, strict=True)]
                return handler(StringReader(self.environment), given)
            if self.environment.register(name) is None and name not in self.environment.convenience:
                raise ExpressionError("Invalid data type for function to be called.")
        values = [self.lvalue(argument) for argument in arguments]
        self.has_stored |= not self.only_type  # conservatively: what functions store is not tracked
        return call(function, self, values, self.environment, self.only_type)

    def _operator(self, operator: str, *operands: Value) -> Value | None:
        """Return the result of a user-defined operator; ``None`` if the operands have no such operator."""
        if not any(isinstance(operand.bare, ClassType) for operand in operands):
            return None
        found = operator_call(operator, list(operands), self.environment)
        if found is None:
            need_no_operator(operator, operands)
            return None
        self.has_stored |= not self.only_type
        return run(*found, self.environment, self.only_type)


def _operand(value: Value) -> Value:
    """Return a value as the operand of arithmetic: an object's method does not decay to a pointer."""
    return value if isinstance(value.bare, FunctionType) and value.bare.of_member else decay(value)


# What an assignment stores: the new value, converted to the target's type.
_LONGEST = (1 << 64) - 1


def stored_value(target: Value, new: Value, environment: Environment) -> Value:
    """Convert the new value to the target's type. Raises `ExpressionError` if that is not possible."""
    bare = target.bare
    if isinstance(bare, VectorType) and not isinstance(new.bare, ArrayType | ClassType):
        return convert(new, target.type)
    if isinstance(bare, ArrayType) and isinstance(new.bare, ArrayType):
        return _array(target, new)
    if isinstance(bare, ArrayType | ClassType | VectorType):
        return reinterpreted(target.type, new, environment)
    if isinstance(bare, PointerType) and c_types.is_float(new.type):
        return reinterpreted(target.type, new, environment)
    if isinstance(bare, PointerType):
        new = placed(new, environment)
    return cast(target.type, decay(new), environment, implicit=True)


def _array(target: Value, new: Value) -> Value:
    """Convert an array to one of another length: a string is padded with nulls, a longer one raises `ExpressionError`.
    """
    if new.size == target.size:
        return new
    if new.address is not None:
        raise ExpressionError("Invalid cast.")
    if new.size > target.size:
        raise ExpressionError("Too many array elements")
    return Value(target.type, data=new.contents().ljust(target.size, b"\0"))


def bit_field_warning(target: Value, new: Value) -> str | None:
    """Return the warning about a number that a bit-field cannot hold."""
    bits = target.bit_size
    if bits is None or not c_types.is_integral(new.type):
        return None
    number = new.as_int() & _LONGEST
    mask = (1 << bits) - 1
    if not ~number & _LONGEST & ~(mask >> 1):
        return None  # negative as a 64-bit number, it fits as a signed one
    if not number & ~mask:
        return None
    return f"Value does not fit in {bits} bits."


# All kinds of casts in expressions: of arrays, references, pointers and numbers; and vectors from elements.


def cast_value(type_: Type, operand: syntax.Expression, kind: str, operands: Evaluator) -> Value:
    """Return the value of ``(type) operand``; ``kind`` is ``static`` for ``static_cast`` etc. Raises `rocdbg.Error`."""
    environment = operands.environment
    stripped = type_.strip_typedefs()
    symbol = operands.cast_symbol(type_, operand) if not kind else None
    if symbol is not None:
        return symbol
    if isinstance(operand, syntax.ArrayLiteral) and isinstance(stripped, VectorType):
        return vector_literal(type_, operand.elements, operands.operand)
    if isinstance(stripped, VectorType) and isinstance(operand, syntax.Binary) and operand.operator == ",":
        return vector_literal(type_, comma_list(operand), operands.operand)
    if isinstance(stripped, ClassType | ArrayType):
        return object_cast(type_, operands.lvalue(operand), environment)
    if isinstance(stripped, PointerType) and stripped.kind is not PointerKind.POINTER:
        return reference_cast(stripped, operands.lvalue(operand), environment)
    value = operands.operand(operand)
    if isinstance(stripped, PointerType):
        value = decay(placed(value, environment, operands.only_type))
    if kind != "dynamic":
        value = operands.readable(value)
    if is_reinterpreted(type_, value):
        return reinterpreted(type_, value, environment)
    if kind == "dynamic":
        return dynamic_cast(type_, value, environment)
    if kind == "reinterpret" and not reinterpretable(stripped, value.bare):
        raise ExpressionError("Invalid reinterpret_cast")
    if kind != "reinterpret" and isinstance(stripped, PointerType) and c_types.is_pointer(value.type):
        value = value if operands.only_type else cast_pointer(value, stripped, environment)
    return cast(type_, value, environment, is_address=isinstance(operand, syntax.SpaceAddress))


# ``condition ? then : otherwise``, which OpenCL applies to each element of vectors.


def conditional(node: syntax.Conditional, operands: Evaluator, environment: Environment) -> Value:
    """Return the value of the operator; in the operand that is not chosen, only names are looked up.

    Raises `ExpressionError`.
    """
    condition = operands.operand(node.condition)
    if isinstance(condition.bare, VectorType) and is_opencl(environment):
        return _selected(condition, operands.operand(node.then), operands.operand(node.otherwise))
    chosen, other = (node.then, node.otherwise) if condition.is_true() else (node.otherwise, node.then)
    need_names(other, environment)
    return operands.value(chosen)


def _selected(condition: Value, then: Value, otherwise: Value) -> Value:
    """Select each element from ``then`` if the condition's element is not zero, else from ``otherwise``; a scalar
    serves for all elements.
    """
    if isinstance(then.bare, VectorType):
        shape = then
    elif isinstance(otherwise.bare, VectorType):
        shape = otherwise
    else:
        raise ExpressionError("Cannot perform conditional operation on incompatible types")
    sides = [each if isinstance(each.bare, VectorType) else convert(each, shape.bare) for each in (then, otherwise)]
    kinds = {
        (c_types.is_float(element), c_types.is_signed(element), c_types.size_of(element), count)
        for element, count, _ in (side.elements() for side in sides)
    }
    if len(kinds) > 1:
        raise ExpressionError("Cannot perform operation on vectors with different types")
    if condition.elements()[1] != shape.elements()[1]:
        raise ExpressionError("Cannot perform conditional operation on vectors with different sizes")
    parts = [
        sides[0 if each.is_true() else 1].element(index).contents()
        for index, each in enumerate(condition.each_element())
    ]
    return Value(shape.bare, data=b"".join(parts).ljust(shape.size, b"\0"))


# From the tree of a type name to its type.


def named_type(
    name: syntax.AnyTypeName, environment: Environment, type_of: Callable[[syntax.Expression], Type]
) -> Type:
    """Return the type that a type name denotes; ``type_of`` returns the type of an expression (for ``typeof``).

    Raises `NoSymbolError` for a name that is not a type.
    """
    if isinstance(name, syntax.TypeOf):
        return _derived(type_of(name.operand), name.derivations, environment, type_of)
    found = c_types.basic_type(name.name) if not name.tag else None
    if found is None or name.name == "half":
        try:
            found = environment.types.named(name.name, name.tag)
        except NoSymbolError:
            if found is None:
                raise
    if name.is_const:
        found = QualifiedType(Qualifier.CONST, found)
    if name.is_volatile:
        found = QualifiedType(Qualifier.VOLATILE, found)
    return _derived(found, name.derivations, environment, type_of)


def _derived(
    base: Type, derivations: syntax.Derivations, environment: Environment, type_of: Callable[[syntax.Expression], Type]
) -> Type:
    """Return the pointer, array or function type that a declarator derives from a type."""
    for derivation in derivations:
        if isinstance(derivation, tuple):
            variadic = derivation[-1:] == (syntax.VARIADIC,)
            types = [named_type(name, environment, type_of) for name in derivation if name != syntax.VARIADIC]
            if len(types) == 1 and c_types.is_void(types[0]):
                types = []
            parameters = tuple(Parameter(type_) for type_ in types)
            base = FunctionType(base, parameters, variadic, prototyped=bool(derivation))
        elif isinstance(derivation, int):
            base = ArrayType(base, derivation if derivation >= 0 else None)
        elif derivation in ("const", "volatile"):
            base = QualifiedType(Qualifier(derivation), base)
        else:
            base = PointerType(base, PointerKind(derivation))
    return base
