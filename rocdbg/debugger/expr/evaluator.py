"""From a syntax tree to a value, by C's rules over an `Environment`."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from rocdbg.debugger.digits import decimal
from rocdbg.debugger.errors import ExpressionError, NoSymbolError
from rocdbg.debugger.expr import ast
from rocdbg.debugger.expr.access import (
    address_of,
    decay,
    element,
    follow,
    member,
    member_of_this,
    member_pointer,
    pointee,
)
from rocdbg.debugger.expr.casting import aggregate_cast, cast, space_number, vector_literal
from rocdbg.debugger.expr.convenience import string_value
from rocdbg.debugger.expr.environment import Environment
from rocdbg.debugger.expr.operators import COMPARISONS, binary, convert, repeated, stepped, unary
from rocdbg.debugger.expr.strings import StringReader
from rocdbg.debugger.expr.trees import nesting_limited, parse_in
from rocdbg.debugger.expr.type_names import named_type
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import (
    ArrayType,
    ClassType,
    FunctionType,
    PointerKind,
    PointerType,
    Type,
    VectorType,
)


def evaluate(text: str, environment: Environment) -> Value:
    """The value of an expression; what it assigns is carried out. Raises `rocdbg.Error` subclasses."""
    return Evaluator(environment).text(text)


def evaluate_type(text: str, environment: Environment) -> tuple[Type, bool]:
    """The type of an expression or type name, without side effects; and whether it was a type name."""
    tree = parse_in(text, environment)
    evaluator = Evaluator(environment, only_type=True)
    with nesting_limited(text):
        if isinstance(tree, ast.TypeExpression):
            return evaluator.type(tree.type), True
        return evaluator.value(tree).type, False


def value_tree(text: str, environment: Environment) -> ast.Expression:
    """The tree of a text that has a value. Raises `ExpressionError` for a type's name."""
    tree = parse_in(text, environment)
    if isinstance(tree, ast.TypeExpression):
        raise ExpressionError("Attempt to use a type name as an expression")
    return tree


@lru_cache(maxsize=1024)
def _literal(number: int, suffix: str, radix: int) -> Value:
    return Value.of_int(ctypes.literal_type(number, suffix, radix), number)


class Evaluator(Struct):
    """Evaluates trees. Where ``only_type`` is wanted, nothing is stored and nothing need be readable."""

    environment: Environment
    only_type: bool = False
    has_stored: bool = False
    """Whether something was assigned to other than a convenience variable: what is known of the target may be wrong."""

    # -- entry points

    def text(self, text: str) -> Value:
        """The value of an expression as typed."""
        tree = value_tree(text, self.environment)
        with nesting_limited(text):
            return self.value(tree)

    def value(self, node: ast.Expression) -> Value:
        """The value of a tree; arrays, functions and references come as they are.

        What leans to the left (sums, chains of members) is followed in a loop, so that its length is not limited.
        """
        spine: list[ast.Binary | ast.Index | ast.Member] = []
        while True:
            if isinstance(node, ast.Binary):
                spine.append(node)
                node = node.left
            elif isinstance(node, ast.Index | ast.Member):
                spine.append(node)
                node = node.base
            else:
                break
        value = self._value(node)
        for outer in reversed(spine):
            if isinstance(outer, ast.Binary):
                value = self._binary(outer.operator, value, outer.right)
            elif isinstance(outer, ast.Index):
                base = follow(value, self.environment)
                value = element(base, self.operand(outer.index), self.environment, self.only_type)
            else:
                value = member(follow(value, self.environment), outer, self.environment, self.only_type)
        return value

    def _value(self, node: ast.Expression) -> Value:
        """`value` of a tree that does not lean to the left."""
        match node:
            case ast.Integer(number, suffix, radix):
                return _literal(number, suffix, radix)
            case ast.Float(number, suffix):
                type_ = {"f": ctypes.FLOAT, "h": ctypes.HALF, "f16": ctypes.HALF, "l": ctypes.LONG_DOUBLE}
                return Value.of_float(type_.get(suffix, ctypes.DOUBLE), number)
            case ast.Char(number):
                return Value.of_int(ctypes.CHAR, number)
            case ast.String(data):
                return string_value(data)
            case ast.Bool(truth):
                return Value.of_int(self.environment.bool_type, truth)
            case ast.NullPointer():
                return Value.of_int(ctypes.VOID_POINTER, 0)
            case ast.Name():
                return self._name(node)
            case ast.ScopedName(scope, name):
                return self.environment.scoped_variable(scope, name)
            case ast.Dollar(name):
                return self._dollar(name)
            case ast.RegisterRange(file, first, last):
                return self.environment.register_range(file, first, last)
            case ast.Unary(operator, operand):
                return self._unary(operator, operand)
            case ast.Postfix(operator, operand):
                old = self.lvalue(operand)
                before = old.rvalue()
                self._assign(operand, old, stepped(before, operator))
                return before
            case ast.Assign():
                return self._assignment(node)
            case ast.Conditional(condition, then, otherwise):
                return self.value(then if self.operand(condition).is_true() else otherwise)
            case ast.Cast(type_name, operand):
                return self._cast(named_type(type_name, self.environment, self._unevaluated), operand)
            case ast.Sizeof():
                return self._sizeof(node)
            case ast.Call(function, arguments):
                return self._call(function, arguments)
            case ast.TypedMemory(type_name, address):
                return self._typed_memory(self.type(type_name), self.operand(address))
            case ast.ArrayLiteral(elements):
                return self._array_literal(elements)
            case ast.SpaceAddress(space, address):
                return self._space_address(space, address)
            case _:  # ast.TypeExpression
                raise ExpressionError("Attempt to use a type name as an expression")

    def lvalue(self, node: ast.Expression) -> Value:
        """The value with references followed."""
        return follow(self.value(node), self.environment)

    def operand(self, node: ast.Expression) -> Value:
        """The value as an operand: references followed, arrays and functions decayed to pointers."""
        return decay(self.lvalue(node))

    # -- types

    def type(self, name: ast.AnyTypeName) -> Type:
        """The type a type name stands for."""
        return named_type(name, self.environment, self._unevaluated)

    def _unevaluated(self, node: ast.Expression) -> Type:
        """The type of the operand of ``sizeof`` or ``typeof``, which is not evaluated."""
        if isinstance(node, ast.TypeExpression):
            return self.type(node.type)
        return Evaluator(self.environment, only_type=True).lvalue(node).type

    # -- leaves

    def _name(self, node: ast.Name) -> Value:
        if node.global_:
            value = self.environment.global_symbol(node.name)
        else:
            value = self.environment.local(node.name)
            if value is None:
                value = member_of_this(node.name, self.environment, self.only_type)  # members hide globals
            if value is None:
                value = self.environment.variable(node.name)
        if value is None:
            raise NoSymbolError(node.name)
        return value

    def _dollar(self, name: str) -> Value:
        body = name[1:]
        history = self.environment.history
        if body == "":
            return history.relative(0)
        if body == "$":
            return history.relative(1)
        if body.startswith("$") and body[1:].isdecimal():
            return history.relative(decimal(body[1:]))
        if body.isdecimal():
            return history.get(decimal(body)) if body != "0" else history.relative(0)
        register = self.environment.register(body)
        if register is not None:
            return register
        return self.environment.convenience.get(body, self.environment.focus)

    # -- operators

    def _unary(self, operator: str, operand: ast.Expression) -> Value:
        if operator == "&":
            pointer = member_pointer(operand, self.environment)
            if pointer is not None:
                return pointer
            inner = self.value(operand)
            stripped = inner.bare
            if isinstance(stripped, PointerType) and stripped.kind is not PointerKind.POINTER:
                return Value.of_int(
                    ctypes.pointer_to(stripped.target, stripped.address_class or 0), inner.as_int()
                )
            return address_of(inner, self.only_type)
        if operator == "*":
            return pointee(self.operand(operand), self.environment, self.only_type)
        if operator in ("++", "--"):
            old = self.lvalue(operand)
            return self._assign(operand, old, stepped(old, operator))
        return unary(operator, self._number(operand), self.environment.bool_type)

    def _number(self, node: ast.Expression) -> Value:
        """An operand; where nothing may be read, a one of its type."""
        return self._readable(self.operand(node))

    def _readable(self, value: Value) -> Value:
        if self.only_type and ctypes.is_scalar(value.type):
            if ctypes.is_float(value.type):
                return Value.of_float(value.type, 1)
            return Value.of_int(value.type, 1)
        return value

    def _binary(self, operator: str, left: Value, right: ast.Expression) -> Value:
        if operator == ",":
            return self.value(right)
        if left.type.integer is None:
            left = follow(left, self.environment)
        elif type(right) is ast.Integer and operator in COMPARISONS:
            return binary(operator, left, _literal(right.value, right.suffix, right.radix), self.environment.bool_type)
        if operator in ("&&", "||"):
            answer = decay(left).is_true()
            if answer == (operator == "&&"):
                answer = self.operand(right).is_true()
            return Value.of_int(self.environment.bool_type, answer)
        if operator in (".*", "->*"):
            # as GDB, either operator takes objects and pointers
            if isinstance(left.bare, PointerType):
                left = pointee(left, self.environment, self.only_type)
            return self.environment.pointed_member(self.operand(right), left)
        if operator == "@":
            return repeated(left, self.operand(right))
        return binary(operator, self._readable(decay(left)), self._number(right), self.environment.bool_type)

    def _assignment(self, node: ast.Assign) -> Value:
        target = self.lvalue(node.left)
        right = self.lvalue(node.right)
        if node.operator:
            right = binary(node.operator, decay(target), decay(right), self.environment.bool_type)
        return self._assign(node.left, target, right)

    def _assign(self, node: ast.Expression, target: Value, new: Value) -> Value:
        if self.only_type:
            return target if not self._is_convenience(node) else new
        if self._is_convenience(node):
            assert isinstance(node, ast.Dollar)
            self.environment.convenience.set(node.name[1:], new)
            return self.environment.convenience.get(node.name[1:], self.environment.focus)
        stripped = target.bare
        if isinstance(stripped, ArrayType | ClassType | VectorType):
            converted = self._assign_aggregate(target, new)
        else:
            converted = cast(target.type, decay(new), self.environment, implicit=True)
        self.has_stored = True
        return target.store(converted.contents())

    @staticmethod
    def _assign_aggregate(target: Value, new: Value) -> Value:
        if isinstance(target.bare, VectorType) and not isinstance(new.bare, ArrayType | ClassType):
            return convert(new, target.type)
        if new.size != target.size:
            raise ExpressionError("Invalid cast.")
        return new

    def _is_convenience(self, node: ast.Expression) -> bool:
        if not isinstance(node, ast.Dollar):
            return False
        body = node.name[1:]
        if body in ("", "$") or body.lstrip("$").isdecimal():
            return False
        return self.environment.register(body) is None

    # -- casts and sizeof

    def _cast(self, type_: Type, operand: ast.Expression) -> Value:
        stripped = type_.strip_typedefs()
        if isinstance(operand, ast.ArrayLiteral) and isinstance(stripped, VectorType):
            return vector_literal(type_, operand.elements, self.operand)
        if isinstance(stripped, VectorType) and isinstance(operand, ast.Binary) and operand.operator == ",":
            return vector_literal(type_, _comma_list(operand), self.operand)
        if isinstance(stripped, ClassType | ArrayType):
            return aggregate_cast(type_, self.lvalue(operand))
        if isinstance(stripped, PointerType) and stripped.kind is not PointerKind.POINTER:
            # a cast to a reference is a look at the same place as another type
            return self.lvalue(operand).with_type(stripped.target)
        return cast(type_, self.operand(operand), self.environment)

    def _sizeof(self, node: ast.Sizeof) -> Value:
        type_ = self._unevaluated(node.operand)
        bare = type_.bare
        if not node.align and isinstance(bare, PointerType) and bare.kind is not PointerKind.POINTER:
            type_ = bare.target  # the size of a reference is that of what it refers to
        type_ = self.environment.complete_type(type_)
        number = ctypes.alignment_of(type_) if node.align else ctypes.size_of(type_)
        return Value.of_int(ctypes.UNSIGNED_LONG, number)

    # -- calls

    def _call(self, function: ast.Expression, arguments: tuple[ast.Expression, ...]) -> Value:
        if isinstance(function, ast.Dollar):
            name = function.name[1:]
            handler = self.environment.convenience.functions.get(name)
            if handler is not None:
                return handler(StringReader(self.environment), [self.lvalue(argument) for argument in arguments])
            raise ExpressionError(f"You cannot call the value of ${name}: it is no convenience function.")
        value = self.lvalue(function)
        type_ = value.bare
        if isinstance(type_, PointerType):
            type_ = type_.target.strip_typedefs()
        if isinstance(type_, FunctionType):
            if self.only_type:
                return Value.of_int(type_.return_type, 0) if ctypes.is_scalar(type_.return_type) else Value(
                    type_.return_type, data=bytes(type_.return_type.size or 0)
                )
            raise ExpressionError("Functions of the program cannot be called on this target.")
        raise ExpressionError("Cannot perform a call on a non-function value.")

    # -- what GDB and ROCgdb add to C

    def _typed_memory(self, type_: Type, address: Value) -> Value:
        space = ctypes.pointer_space(address.type)
        return self.environment.at_address(type_, space, address.as_int())

    def _array_literal(self, elements: tuple[ast.Expression, ...]) -> Value:
        values = [self.operand(node) for node in elements]
        first = values[0]
        if any(value.size != first.size for value in values):
            raise ExpressionError("array elements must all be the same size")
        return Value(ctypes.array_of(first.type, len(values)), data=b"".join(v.contents() for v in values))

    def _space_address(self, space: str, address: ast.Expression) -> Value:
        number = space_number(space)
        value = self.operand(address)
        target: Type = ctypes.VOID
        if isinstance(value.bare, PointerType):
            target = value.bare.target
        return Value.of_int(ctypes.pointer_to(target, number), value.as_int())


def _comma_list(node: ast.Expression) -> list[ast.Expression]:
    elements = []
    while isinstance(node, ast.Binary) and node.operator == ",":
        elements.append(node.right)
        node = node.left
    return [node, *reversed(elements)]
