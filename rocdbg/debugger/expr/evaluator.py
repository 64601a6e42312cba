"""From a syntax tree to a value, by C's rules over an `Environment`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.digits import decimal
from rocdbg.debugger.errors import ExpressionError, NoSymbolError
from rocdbg.debugger.expr import ast
from rocdbg.debugger.expr.convenience import MAX_STRING, string_value
from rocdbg.debugger.expr.environment import Environment
from rocdbg.debugger.expr.operators import advance, binary, convert, unary
from rocdbg.debugger.expr.parser import parse
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.locations import LocationStorage
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import (
    ArrayType,
    ClassType,
    FunctionType,
    MemberPointerType,
    Parameter,
    PointerKind,
    PointerType,
    QualifiedType,
    Qualifier,
    Type,
    VectorType,
    VoidType,
)

MAX_REPETITIONS = 1 << 24
_COMPONENTS = "xyzw"


def evaluate(text: str, environment: Environment) -> Value:
    """The value of an expression; what it assigns is carried out. Raises `rocdbg.Error` subclasses."""
    return Evaluator(environment).text(text)


def evaluate_type(text: str, environment: Environment) -> tuple[Type, bool]:
    """The type of an expression or type name, without side effects; and whether it was a type name."""
    tree = parse_in(text, environment)
    evaluator = Evaluator(environment, avoid_side_effects=True)
    with _nesting_limited(text):
        if isinstance(tree, ast.TypeExpression):
            return evaluator.type(tree.type), True
        return evaluator.value(tree).type, False


def parse_in(text: str, environment: Environment) -> ast.Expression:
    """Parse with an environment's types."""
    asked_types: list[tuple[str, bool]] = []
    asked_names: list[tuple[str, bool]] = []

    def is_type(name: str) -> bool:
        asked_types.append((name, environment.is_type(name)))
        return asked_types[-1][1]

    def is_known(name: str) -> bool:
        asked_names.append((name, environment.is_known(name)))
        return asked_names[-1][1]

    key = text, environment.input_radix
    known = _TREES.get(key)
    if known is not None:
        tree, types, names = known
        same_types = all(environment.is_type(name) is answer for name, answer in types)
        if same_types and all(environment.is_known(name) is answer for name, answer in names):
            return tree
    with _nesting_limited(text):
        tree = parse(text, is_type, is_known, environment.input_radix)
    if len(text) <= MAX_KEPT_TEXT:
        if len(_TREES) >= MAX_KEPT:
            _TREES.clear()
        _TREES[key] = tree, tuple(dict(asked_types).items()), tuple(dict(asked_names).items())
    return tree


_Answers: TypeAlias = tuple[tuple[str, bool], ...]
_TREES: dict[tuple[str, int], tuple[ast.Expression, _Answers, _Answers]] = {}
"""Trees of texts that were parsed (loops and conditions evaluate the same ones over and over), with what was asked of
the environment meanwhile: `is_type` and `is_known`. A tree holds wherever the answers are the same."""
MAX_KEPT = 1024
MAX_KEPT_TEXT = 1024


@contextmanager
def _nesting_limited(text: str) -> Iterator[None]:
    """Too little stack for a deep expression is a fault of the expression: it says so in one line."""
    try:
        yield
    except RecursionError:
        raise ExpressionError("The expression is nested too deeply.", text) from None


@dataclass(slots=True)
class Evaluator:
    """Evaluates trees. With ``avoid_side_effects`` nothing is stored and nothing need be readable."""

    environment: Environment
    avoid_side_effects: bool = False
    has_stored: bool = False
    """Whether something was assigned to other than a convenience variable: what is known of the target may be wrong."""

    # -- entry points

    def text(self, text: str) -> Value:
        """The value of an expression as typed."""
        tree = parse_in(text, self.environment)
        if isinstance(tree, ast.TypeExpression):
            raise ExpressionError("Attempt to use a type name as an expression")
        with _nesting_limited(text):
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
                value = self._index(self.follow(value), self.operand(outer.index))
            else:
                value = self._member(self.follow(value), outer)
        return value

    def _value(self, node: ast.Expression) -> Value:
        """`value` of a tree that does not lean to the left."""
        match node:
            case ast.Integer(number, suffix, radix):
                return Value.of_int(ctypes.literal_type(number, suffix, radix), number)
            case ast.Float(number, suffix):
                type_ = {"f": ctypes.FLOAT, "h": ctypes.HALF, "f16": ctypes.HALF, "l": ctypes.LONG_DOUBLE}
                return Value.of_float(type_.get(suffix, ctypes.DOUBLE), number)
            case ast.Char(number):
                return Value.of_int(ctypes.CHAR, number)
            case ast.String(data):
                return string_value(data)
            case ast.Bool(truth):
                type_of_bool = ctypes.BOOL if self.environment.is_cplusplus else ctypes.INT
                return Value.of_int(type_of_bool, truth)
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
                self._assign(operand, old, self._step(before, operator))
                return before
            case ast.Assign():
                return self._assignment(node)
            case ast.Conditional(condition, then, otherwise):
                return self.value(then if self.operand(condition).is_true() else otherwise)
            case ast.Cast(type_name, operand):
                return self._cast(self.type(type_name), operand)
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
        return self.follow(self.value(node))

    def operand(self, node: ast.Expression) -> Value:
        """The value as an operand: references followed, arrays and functions decayed to pointers."""
        return self.decay(self.lvalue(node))

    def follow(self, value: Value) -> Value:
        """What a reference refers to; other values as they are."""
        stripped = value.bare
        if isinstance(stripped, PointerType) and stripped.kind is not PointerKind.POINTER:
            return self._at(stripped.target, stripped.address_class or 0, value.as_int())
        return value

    def decay(self, value: Value) -> Value:
        """Arrays to a pointer to their first element, functions to a pointer to them."""
        stripped = value.bare
        if isinstance(stripped, ArrayType):
            address = value.address
            if address is None:
                return value
            return Value.of_int(ctypes.pointer_to(stripped.element, address.space), address.value)
        if isinstance(stripped, FunctionType):
            address = value.address
            return Value.of_int(ctypes.pointer_to(value.type), address.value if address else 0)
        return value

    # -- types

    def type(self, name: ast.AnyTypeName) -> Type:
        """The type a type name stands for."""
        if isinstance(name, ast.TypeOf):
            base = Evaluator(self.environment, True)._type_of(name.operand)
            return self._derive(base, name.derivations)
        found = ctypes.basic_type(name.name) if not name.tag else None
        if found is None or name.name == "half":
            try:
                found = self.environment.find_type(name.name, name.tag)
            except NoSymbolError:
                if found is None:
                    raise
        if name.is_const:
            found = QualifiedType(Qualifier.CONST, found)
        if name.is_volatile:
            found = QualifiedType(Qualifier.VOLATILE, found)
        return self._derive(found, name.derivations)

    def _derive(self, base: Type, derivations: ast.Derivations) -> Type:
        for derivation in derivations:
            if isinstance(derivation, tuple):
                types = [self.type(name) for name in derivation]
                if len(types) == 1 and ctypes.is_void(types[0]):
                    types = []
                parameters = tuple(Parameter(type_) for type_ in types)
                base = FunctionType(base, parameters, prototyped=bool(derivation))
            elif isinstance(derivation, int):
                base = ArrayType(base, derivation if derivation >= 0 else None)
            else:
                base = PointerType(base, PointerKind(derivation))
        return base

    def _type_of(self, node: ast.Expression) -> Type:
        if isinstance(node, ast.TypeExpression):
            return self.type(node.type)
        return self.lvalue(node).type

    # -- leaves

    def _name(self, node: ast.Name) -> Value:
        if node.global_:
            value = self.environment.global_symbol(node.name)
        else:
            value = self.environment.local(node.name)
            if value is None:
                value = self._member_of_this(node.name)  # members hide globals
            if value is None:
                value = self.environment.variable(node.name)
        if value is None:
            raise NoSymbolError(node.name)
        return value

    def _member_of_this(self, name: str) -> Value | None:
        """A member of the object whose method this is; of one that is optimised out it is so, too."""
        if not self.environment.is_cplusplus:
            return None
        this = self.environment.local("this")
        if this is None or not isinstance(this.bare, PointerType):
            return None
        if this.absence is not None:
            class_ = self.environment.complete_type(this.bare.target)
            return Value.absent(class_, this.absence).find_member(name)
        return self._target(self.follow(this)).find_member(name)

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

    # -- memory

    def _at(self, type_: Type, space: int, address: int) -> Value:
        return self.environment.at_address(type_, space, address)

    def _target(self, pointer: Value) -> Value:
        """What a pointer points at."""
        stripped = pointer.bare
        if not isinstance(stripped, PointerType):
            if ctypes.is_integral(stripped):
                # "*0x1000": GDB reads a long there
                return self._at(ctypes.LONG, 0, pointer.as_int())
            raise ExpressionError("Attempt to take contents of a non-pointer value.")
        if isinstance(stripped.target.strip_typedefs(), VoidType):
            raise ExpressionError("Attempt to take contents of a non-pointer value.")
        behind = pointer.storage
        if isinstance(behind, LocationStorage) and pointer.data is None:
            pointee = behind.pointee(pointer.offset, pointer.size)
            if pointee is not None:
                return self.environment.at_location(stripped.target, pointee)
        if self.avoid_side_effects:
            return self._at(stripped.target, stripped.address_class or 0, 0)
        return self._at(stripped.target, stripped.address_class or 0, pointer.as_int())

    def address_of(self, value: Value) -> Value:
        """``&value``."""
        address = value.address
        if address is None:
            if self.avoid_side_effects:
                return Value.of_int(ctypes.pointer_to(value.type), 0)
            if value.bit_size is not None:
                raise ExpressionError("Attempt to take address of value not located in memory.")
            if value.storage is not None and value.storage.register is not None:
                raise ExpressionError("Attempt to take address of value not located in memory.")
            if value.absence is not None:
                what = value.absence.value.strip("<>")
                raise ExpressionError(f"Can't take address of a value that is {what}")
            raise ExpressionError("Attempt to take address of value not located in memory.")
        return Value.of_int(ctypes.pointer_to(value.type, address.space), address.value)

    # -- operators

    def _unary(self, operator: str, operand: ast.Expression) -> Value:
        if operator == "&":
            pointer = self._pointer_to_member(operand)
            if pointer is not None:
                return pointer
            inner = self.value(operand)
            stripped = inner.bare
            if isinstance(stripped, PointerType) and stripped.kind is not PointerKind.POINTER:
                return Value.of_int(
                    ctypes.pointer_to(stripped.target, stripped.address_class or 0), inner.as_int()
                )
            return self.address_of(inner)
        if operator == "*":
            return self._target(self.operand(operand))
        if operator in ("++", "--"):
            old = self.lvalue(operand)
            return self._assign(operand, old, self._step(old, operator))
        return unary(operator, self._number(operand), self._bool())

    def _pointer_to_member(self, node: ast.Expression) -> Value | None:
        """``&Class::member``; ``None`` for anything else."""
        scope, _, last = node.name.rpartition("::") if isinstance(node, ast.Name) else ("", "", "")
        if not scope or not self.environment.is_type(scope):
            return None
        class_ = self.environment.find_type(scope, "")
        stripped = class_.strip_typedefs()
        for member in stripped.members if isinstance(stripped, ClassType) else ():
            if member.name == last and member.bit_offset is not None and member.bit_size is None:
                return Value.of_int(MemberPointerType(member.type, class_, 8), member.bit_offset // 8)
        return None

    def _number(self, node: ast.Expression) -> Value:
        """An operand; where nothing may be read, a one of its type."""
        return self._readable(self.operand(node))

    def _readable(self, value: Value) -> Value:
        if self.avoid_side_effects and ctypes.is_scalar(value.type):
            if ctypes.is_float(value.type):
                return Value.of_float(value.type, 1)
            return Value.of_int(value.type, 1)
        return value

    def _bool(self) -> Type:
        return ctypes.BOOL if self.environment.is_cplusplus else ctypes.INT

    def _step(self, old: Value, operator: str) -> Value:
        one = 1 if operator == "++" else -1
        if ctypes.is_pointer(old.type):
            return advance(old, one)
        return convert(binary("+", old, Value.of_int(ctypes.INT, one)), old.type)

    def _binary(self, operator: str, left: Value, right: ast.Expression) -> Value:
        if operator == ",":
            return self.value(right)
        left = self.follow(left)
        if operator in ("&&", "||"):
            answer = self.decay(left).is_true()
            if answer == (operator == "&&"):
                answer = self.operand(right).is_true()
            return Value.of_int(self._bool(), answer)
        if operator in (".*", "->*"):
            return self._pointed_member(left, right)
        if operator == "@":
            return self._repeat(left, self.operand(right))
        return binary(operator, self._readable(self.decay(left)), self._number(right), self._bool())

    def _pointed_member(self, object_: Value, right: ast.Expression) -> Value:
        """``object.*member``, ``pointer->*member``; as GDB, either operator takes objects and pointers."""
        if isinstance(object_.bare, PointerType):
            object_ = self._target(object_)
        return self.environment.pointed_member(self.operand(right), object_)

    def _repeat(self, left: Value, right: Value) -> Value:
        count = right.as_int()
        if count <= 0:
            raise ExpressionError(f"Invalid number {count} of repetitions.")
        if count > MAX_REPETITIONS:
            raise ExpressionError(f"Number {count} of repetitions is too large.")
        address = left.address
        if address is None:
            raise ExpressionError("Only values in memory can be extended with '@'.")
        return Value(ctypes.array_of(left.type, count), left.storage, left.offset)

    def _assignment(self, node: ast.Assign) -> Value:
        target = self.lvalue(node.left)
        right = self.lvalue(node.right)
        if node.operator:
            right = binary(node.operator, self.decay(target), self.decay(right), self._bool())
        return self._assign(node.left, target, right)

    def _assign(self, node: ast.Expression, target: Value, new: Value) -> Value:
        if self.avoid_side_effects:
            return target if not self._is_convenience(node) else new
        if self._is_convenience(node):
            assert isinstance(node, ast.Dollar)
            self.environment.convenience.set(node.name[1:], new)
            return self.environment.convenience.get(node.name[1:], self.environment.focus)
        stripped = target.bare
        if isinstance(stripped, ArrayType | ClassType | VectorType):
            converted = self._assign_aggregate(target, new)
        else:
            converted = self.cast(target.type, self.decay(new), implicit=True)
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

    # -- casts

    def _cast(self, type_: Type, operand: ast.Expression) -> Value:
        stripped = type_.strip_typedefs()
        if isinstance(operand, ast.ArrayLiteral) and isinstance(stripped, VectorType):
            return self._vector_literal(type_, stripped, operand.elements)
        if isinstance(stripped, VectorType) and isinstance(operand, ast.Binary) and operand.operator == ",":
            return self._vector_literal(type_, stripped, _comma_list(operand))
        if isinstance(stripped, ClassType | ArrayType):
            value = self.lvalue(operand)
            if isinstance(value.bare, ClassType) and isinstance(stripped, ClassType):
                return value.with_type(type_)
            if value.size == ctypes.size_of(type_):
                return value.with_type(type_)
            raise ExpressionError("Invalid cast.")
        if isinstance(stripped, PointerType) and stripped.kind is not PointerKind.POINTER:
            # a cast to a reference is a look at the same place as another type
            return self.lvalue(operand).with_type(stripped.target)
        return self.cast(type_, self.operand(operand))

    def cast(self, type_: Type, value: Value, implicit: bool = False) -> Value:
        """Convert a scalar. A pointer cast keeps the address space unless the type names one."""
        stripped = type_.strip_typedefs()
        source = value.bare
        if (
            isinstance(stripped, PointerType)
            and isinstance(source, PointerType)
            and not implicit
            and stripped.address_class is None
            and source.address_class
        ):
            space = source.address_class
            type_ = PointerType(stripped.target, stripped.kind, source.byte_size, space)
        elif isinstance(stripped, PointerType) and isinstance(source, PointerType) and implicit:
            value = self._between_spaces(value, source, stripped)
        elif isinstance(source, PointerType) and ctypes.size_of(type_) == 8 and ctypes.is_integral(type_):
            # a number has no address space: that of the place in the generic one, as in the language
            flat = self.environment.memory.generic_address(source.address_class or 0, value.as_int())
            value = value if flat is None else Value.of_int(ctypes.UNSIGNED_LONG, flat)
        return convert(value, type_)

    def _between_spaces(self, value: Value, source: PointerType, target: PointerType) -> Value:
        """An address of one space as the same place's address in another, where one exists."""
        have, want = source.address_class or 0, target.address_class or 0
        flat = {AddressSpace.GLOBAL, AddressSpace.GENERIC}
        if have == want or {have, want} <= flat or value.as_int() == 0:
            return value
        place = self.environment.memory.generic_address(have, value.as_int()) if want in flat else None
        if place is not None:
            return Value.of_int(ctypes.UNSIGNED_LONG, place)
        raise ExpressionError(
            f"Cannot assign a {AddressSpace(have).name.lower()} address to a pointer to "
            f"{AddressSpace(want).name.lower()}."
        )

    def _vector_literal(self, type_: Type, vector: VectorType, elements: Sequence[ast.Expression]) -> Value:
        if len(elements) not in (1, vector.count):
            raise ExpressionError(f"A {type_} takes {vector.count} elements.")
        values = [convert(self.operand(e), vector.element).contents() for e in elements]
        if len(values) == 1:
            values *= vector.count
        return Value(type_, data=b"".join(values).ljust(vector.byte_size, b"\0"))

    # -- sizeof, members, elements

    def _sizeof(self, node: ast.Sizeof) -> Value:
        type_ = Evaluator(self.environment, True)._type_of(node.operand)
        type_ = self.environment.complete_type(type_)
        number = _alignment(type_) if node.align else ctypes.size_of(type_)
        return Value.of_int(ctypes.UNSIGNED_LONG, number)

    def _index(self, base: Value, index: Value) -> Value:
        number = index.as_int()
        stripped = base.bare
        if isinstance(stripped, VectorType):
            if not 0 <= number < stripped.count:
                raise ExpressionError(f"no such vector element (there are {stripped.count})")
            return base.element(number)
        if isinstance(stripped, ArrayType):
            lower = stripped.lower_bound if isinstance(stripped.lower_bound, int) else 0
            if base.storage is None or base.address is None:
                count = base.elements()[1]
                if not 0 <= number - lower < count:
                    raise ExpressionError("no such vector element")
            return base.element(number - lower)
        if isinstance(stripped, PointerType):
            if number == 0:
                return self._target(base)  # also of a pointer that has no value to be advanced
            return self._target(advance(base, number))
        if ctypes.is_integral(stripped) and isinstance(index.bare, PointerType):
            return self._target(advance(index, base.as_int()))
        if ctypes.is_integral(stripped):
            raise ExpressionError(f"cannot subscript something of type `{base.type}'")
        raise ExpressionError(f"cannot subscript something of type `{base.type}'")

    def _member(self, base: Value, node: ast.Member) -> Value:
        if isinstance(base.bare, PointerType):
            # GDB takes "." for "->" where the left side is a pointer
            base = self._target(base)
        elif node.arrow and isinstance(base.bare, ArrayType):
            base = self._target(self.decay(base))
        base = self._completed(base)
        stripped = base.bare
        if isinstance(stripped, VectorType):
            return self._swizzle(base, node.name)
        if not isinstance(stripped, ClassType):
            pointer = " pointer" if node.arrow else ""
            raise ExpressionError(
                f"Attempt to extract a component of a value that is not a structure{pointer}."
            )
        name = node.name.rpartition("::")[2]
        member = base.find_member(name)
        if member is None:
            static = self._static_member(stripped, name)
            if static is not None:
                return static
            raise ExpressionError(f"There is no member named {name}.")
        return member

    def _completed(self, value: Value) -> Value:
        complete = self.environment.complete_type(value.bare)
        if complete is value.bare:
            return value
        return Value(complete, value.storage, value.offset, value.data, absence=value.absence)

    def _static_member(self, type_: ClassType, name: str) -> Value | None:
        if any(member.name == name for member in type_.static_members):
            return self.environment.variable(f"{type_.qualified_name or type_.name}::{name}")
        return None

    def _swizzle(self, base: Value, name: str) -> Value:
        """``v.x``, ``v.s3``, ``v.xyz``, ``v.lo``: components of a vector as OpenCL names them."""
        element, count, stride = base.elements()
        indices = _swizzle_indices(name, count)
        if indices is None or any(index >= count for index in indices):
            raise ExpressionError(f"There is no member named {name}.")
        if len(indices) == 1:
            return base.element(indices[0])
        data = b"".join(base.element(index).contents() for index in indices)
        size = stride * (4 if len(indices) == 3 else len(indices))
        return Value(VectorType(element, len(indices), size), data=data.ljust(size, b"\0"))

    # -- the rest

    def _call(self, function: ast.Expression, arguments: tuple[ast.Expression, ...]) -> Value:
        if isinstance(function, ast.Dollar):
            name = function.name[1:]
            handler = self.environment.convenience.functions.get(name)
            if handler is not None:
                return handler(self, [self.lvalue(argument) for argument in arguments])
            raise ExpressionError(f"You cannot call the value of ${name}: it is no convenience function.")
        value = self.lvalue(function)
        type_ = value.bare
        if isinstance(type_, PointerType):
            type_ = type_.target.strip_typedefs()
        if isinstance(type_, FunctionType):
            if self.avoid_side_effects:
                return Value.of_int(type_.return_type, 0) if ctypes.is_scalar(type_.return_type) else Value(
                    type_.return_type, data=bytes(type_.return_type.size or 0)
                )
            raise ExpressionError("Functions of the program cannot be called on this target.")
        raise ExpressionError("Cannot perform a call on a non-function value.")

    def read_string(self, value: Value, limit: int = MAX_STRING) -> bytes:
        """The characters of an array or behind a pointer, up to the first null."""
        value = self.follow(value)
        if isinstance(value.bare, ArrayType | VectorType):
            return value.contents().split(b"\0")[0]
        if not isinstance(value.bare, PointerType):
            raise ExpressionError("Expected a string.")
        space = value.bare.address_class or 0
        address = value.as_int()
        out = bytearray()
        while len(out) < limit:
            byte = self.environment.memory.read(space, address + len(out), 1)
            if byte == b"\0":
                break
            out += byte
        return bytes(out)

    def read_bytes(self, value: Value, size: int) -> bytes:
        """``size`` bytes behind a pointer or of an array."""
        value = self.decay(self.follow(value))
        if isinstance(value.bare, PointerType):
            return self.environment.memory.read(value.bare.address_class or 0, value.as_int(), size)
        data = value.contents()
        if len(data) < size:
            raise ExpressionError(f"The value has only {len(data)} bytes.")
        return data[:size]

    def _typed_memory(self, type_: Type, address: Value) -> Value:
        space = ctypes.pointer_space(address.type)
        return self._at(type_, space, address.as_int())

    def _array_literal(self, elements: tuple[ast.Expression, ...]) -> Value:
        values = [self.operand(element) for element in elements]
        first = values[0]
        if any(value.size != first.size for value in values):
            raise ExpressionError("array elements must all be the same size")
        return Value(ctypes.array_of(first.type, len(values)), data=b"".join(v.contents() for v in values))

    def _space_address(self, space: str, address: ast.Expression) -> Value:
        number = self.environment.address_space(space)
        value = self.operand(address)
        target: Type = ctypes.VOID
        if isinstance(value.bare, PointerType):
            target = value.bare.target
        return Value.of_int(ctypes.pointer_to(target, number), value.as_int())


def _alignment(type_: Type) -> int:
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ArrayType):
        return _alignment(stripped.element)
    if isinstance(stripped, ClassType):
        return max([1, *(_alignment(m.type) for m in stripped.members)])
    size = ctypes.size_of(stripped)
    return 1 << (size.bit_length() - 1) if size else 1


def _comma_list(node: ast.Expression) -> list[ast.Expression]:
    elements = []
    while isinstance(node, ast.Binary) and node.operator == ",":
        elements.append(node.right)
        node = node.left
    return [node, *reversed(elements)]


def _swizzle_indices(name: str, count: int) -> list[int] | None:
    halves = {"lo": range((count + 1) // 2), "hi": range((count + 1) // 2, count),
              "even": range(0, count, 2), "odd": range(1, count, 2)}  # fmt: skip
    if name in halves:
        return list(halves[name])
    if name and all(letter in _COMPONENTS for letter in name):
        return [_COMPONENTS.index(letter) for letter in name]
    if name and all(letter in "rgba" for letter in name):
        return ["rgba".index(letter) for letter in name]
    if len(name) > 1 and name[0] in "sS" and all(c in "0123456789abcdefABCDEF" for c in name[1:]):
        return [int(c, 16) for c in name[1:]]
    return None
