"""Compiles C expressions for the lanes of any wave that reaches an instruction, as `rocdbg.debugger.expr.evaluator`
evaluates them.

The tree that the evaluator would walk for each lane becomes one expression that the simulator translates. It is
compiled in the environment of one wave that has reached the instruction, but uses only what all waves there have in
common: names, scopes, types, and variable locations. It is used for breakpoint conditions, and for other features that
need values of lanes without stopping.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.base.errors import NoSymbolError
from rocdbg.debugger.expr.class_members import static_value
from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment
from rocdbg.debugger.expr.evaluator import Evaluator, value_tree
from rocdbg.debugger.expr.lanes import lane_names
from rocdbg.debugger.expr.lanes.lane_parameters import Parameter, Parameters
from rocdbg.debugger.expr.lanes.lane_pointers import in_one_space, pointer_cast
from rocdbg.debugger.expr.lanes.lane_terms import (
    Term,
    address_of,
    advance,
    binary,
    constant_term,
    decay,
    integer,
    of_truth,
    size_of,
    truth,
    unary,
)
from rocdbg.debugger.expr.lanes.literal_cells import Shape, shape_of
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.parsing.kept_trees import nesting_limited
from rocdbg.debugger.frames.compiled_places import InMemory, InRegister, Number, Untranslatable
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import ArrayType, ClassType, FunctionType, PointerType, Type, VectorType, VoidType
from rocdbg.errors import Error
from rocdbg.sim.core.builder import I64, INTEGER, Op
from rocdbg.sim.core.lane_expressions import (
    Cell,
    Choose,
    LaneExpressionError,
    Node,
    Require,
    apply,
    check,
    constant,
    is_uniform,
    number_of,
    unsigned,
)

_CONSTANT = (syntax.Integer, syntax.Float, syntax.Char, syntax.Bool, syntax.Sizeof)


class Compiled(Struct, frozen=True):
    """An expression over lanes; ``literals`` and then ``parameters`` determine the contents of its cells."""

    node: Node
    parameters: tuple[Parameter, ...]
    literals: tuple[int, ...] = ()


def compile_condition(text: str, environment: ProgramEnvironment) -> Compiled:
    """Compile an expression as a condition (I1). Raises `Untranslatable`, or what the evaluator raises for it."""
    with nesting_limited(text):
        tree = value_tree(text, environment)
    return _condition(tree, environment, None)


Shapes: TypeAlias = dict[object, Compiled | None]
"""Compiled conditions at one place by their shape; ``None`` for a shape that cannot be compiled."""


def compile_alike(text: str, environment: ProgramEnvironment, shapes: Shapes) -> Compiled:
    """Compile a condition as `compile_condition` does, but share one expression, kept in ``shapes``, between conditions
    of one shape, which differ only in their ``literals``.

    Where compiling requires a literal's value, the condition is compiled by itself.
    """
    with nesting_limited(text):
        tree = value_tree(text, environment)
        for indexes in (True, False):
            shape = shape_of(tree, environment, indexes)
            if shape is None or not shape.literals:
                break
            if shape.key not in shapes:
                try:
                    shapes[shape.key] = _condition(tree, environment, shape)
                except (Untranslatable, Error):
                    shapes[shape.key] = None
            known = shapes[shape.key]
            if known is not None:
                return Compiled(known.node, known.parameters, shape.numbers)
    return _condition(tree, environment, None)


def _condition(tree: syntax.Expression, environment: ProgramEnvironment, shape: Shape | None) -> Compiled:
    compiler = LaneCompiler(environment, shape)
    target = environment.target
    assert target is not None, "there is no wave"
    try:
        node = compiler.truth(tree)
        check(node, target.architecture.vgpr_file, target.architecture.has_agprs)
    except LaneExpressionError as error:
        raise Untranslatable(str(error)) from None
    except RecursionError:
        raise Untranslatable("a deep expression") from None
    return Compiled(node, tuple(compiler.parameters.all), shape.numbers if shape is not None else ())


class CompiledValues(Struct, frozen=True):
    """Scalars over lanes: the bits of each (I64), and its type; ``parameters`` determine the contents of the cells."""

    nodes: tuple[Node, ...]
    types: tuple[Type, ...]
    parameters: tuple[Parameter, ...]


def compile_values(texts: Sequence[str], environment: ProgramEnvironment) -> CompiledValues:
    """Compile the values of expressions. Raises `Untranslatable`, or what the evaluator raises for bad expressions."""
    compiler = LaneCompiler(environment)
    target = environment.target
    assert target is not None, "there is no wave"
    nodes, types = [], []
    try:
        for text in texts:
            with nesting_limited(text):
                term = compiler.lvalue(value_tree(text, environment))
            if not c_types.is_scalar(term.type):
                raise Untranslatable(f"a value of type {term.type}")
            node = term.value()
            if c_types.is_float(term.type):
                if c_types.is_bfloat(term.type) or (term.type.size or 0) * 8 != node.type.bits:
                    raise Untranslatable(f"a value of type {term.type}")
                node = apply(Op.BITCAST, node, type=INTEGER[node.type.bits])
            node = unsigned(node, I64)
            check(node, target.architecture.vgpr_file, target.architecture.has_agprs)
            nodes.append(node)
            types.append(term.type)
    except LaneExpressionError as error:
        raise Untranslatable(str(error)) from None
    except RecursionError:
        raise Untranslatable("a deep expression") from None
    return CompiledValues(tuple(nodes), tuple(types), tuple(compiler.parameters.all))


class LaneCompiler:
    """Compiles trees at one place of the program. If there is a ``shape``, its literals are the first cells."""

    def __init__(self, environment: ProgramEnvironment, shape: Shape | None = None) -> None:
        self.environment = environment
        self._cells = shape.cells() if shape is not None else {}
        self.parameters = Parameters(environment, len(self._cells))
        self._types = Evaluator(environment, only_type=True)

    def operand(self, node: syntax.Expression) -> Term:
        """Return the value as an operand: with references followed, and arrays decayed to pointers."""
        return decay(self.lvalue(node))

    def truth(self, node: syntax.Expression) -> Node:
        """Return whether the value is not 0 (I1)."""
        if isinstance(node, syntax.Conditional):  # its two operands may have different types
            return Choose(self.truth(node.condition), self.truth(node.then), self.truth(node.otherwise))
        return truth(self.operand(node))

    def lvalue(self, node: syntax.Expression) -> Term:
        """Return the value with references followed."""
        return self._follow(self.term(node))

    def term(self, node: syntax.Expression) -> Term:
        """Return the value of a tree."""
        if isinstance(node, _CONSTANT):
            value = Evaluator(self.environment).value(node)
            cell = self._cells.get(id(node))
            if cell is None:
                return self.known(value)
            return Term(value.type, Number(Cell(cell), 8 * size_of(value.type)))
        match node:
            case syntax.Name(name, everywhere):
                return self._name(name, everywhere)
            case syntax.ScopedName():
                return self.known(self._types.value(node))
            case syntax.Dollar(name):
                return self._dollar(name[1:])
            case syntax.Unary(operator, operand):
                return self._unary(operator, operand)
            case syntax.Binary(operator, left, right):
                return self._binary(operator, left, right)
            case syntax.Conditional(condition, then, otherwise):
                return self._conditional(self.operand(condition), self.operand(then), self.operand(otherwise))
            case syntax.Cast(type_name, operand):
                return self._cast(self._types.type(type_name), operand)
            case syntax.Index(base, index):
                return self._element(self.lvalue(base), self.operand(index))
            case syntax.Member(base, name, arrow):
                return self._member(self.lvalue(base), name, arrow)
            case syntax.TypedMemory(type_name, address):
                return self._typed_memory(self._types.type(type_name), self.operand(address))
            case syntax.Call(syntax.Dollar("$_streq"), arguments):
                return self._same_text(arguments)
        raise Untranslatable(_WHAT.get(type(node), "this kind of expression"))

    # -- leaves

    def known(self, value: Value) -> Term:
        """Return a value that is the same for all lanes: a constant, or one at a fixed address."""
        if value.absence is not None or value.function is not None:
            raise Untranslatable("an unavailable value")
        if value.data is not None and c_types.is_scalar(value.type) and not c_types.is_reference(value.type):
            return constant_term(value.type, value.data)
        address = value.address
        if address is None:
            raise Untranslatable("a value that is neither a number nor in memory")
        return Term(value.type, InMemory(address.space, constant(address.value)))

    def _name(self, name: str, everywhere: bool) -> Term:
        names, environment = lane_names, self.environment
        if not everywhere:
            if "@" in name:
                raise Untranslatable("the value at a function's entry")
            local = names.local(name, environment)
            if local is not None:
                return local
            class_ = names.class_of_this(environment)
            nowhere = InMemory(AddressSpace.GLOBAL, constant(0))
            if class_ is not None and self._find(Term(class_, nowhere), name) is not None:
                this = names.local("this", environment)
                found = self._find(self._pointee(this), name) if this is not None else None
                if found is not None:
                    return found
            builtin = names.builtin(name, environment)
            if builtin is not None:
                return builtin
        variable = names.global_variable(name, environment)
        if variable is not None:
            return variable
        value = environment.global_symbol(name)
        if value is None:
            raise NoSymbolError(name)
        return self.known(value)

    def _dollar(self, body: str) -> Term:
        if not (body in ("", "$") or body.lstrip("$").isdecimal()):
            register = self.environment.register(body)
            if register is not None:
                return lane_names.register(body, register, self.environment)
            term = lane_names.wave_variable(body, self.environment)
            if term is not None:
                return term
        return self.parameters.term(body)

    def _same_text(self, arguments: Sequence[syntax.Expression]) -> Term:
        """Compile ``$_streq($_dispatch_pos, "(0,0,0)/1")``, with the arguments in either order."""
        for names, text in (arguments, list(reversed(arguments))) if len(arguments) == 2 else ():
            if isinstance(names, syntax.Dollar) and isinstance(text, syntax.String):
                same = lane_names.position_is(names.name[1:], text.value, self.environment)
                if same is not None:
                    return of_truth(c_types.INT, same)
        raise Untranslatable("a convenience function")

    # -- operators

    def _unary(self, operator: str, operand: syntax.Expression) -> Term:
        if operator == "&":
            inner = self.term(operand)
            return address_of(self._follow(inner) if c_types.is_reference(inner.type) else inner, _referred(inner.type))
        if operator == "*":
            return self._pointee(self.operand(operand))
        if operator in ("++", "--"):
            raise Untranslatable("an assignment")
        return unary(operator, self.operand(operand), self.environment.bool_type)

    def _binary(self, operator: str, left: syntax.Expression, right: syntax.Expression) -> Term:
        bool_type = self.environment.bool_type
        if operator in ("&&", "||"):
            first, second = self.truth(left), self.truth(right)
            fixed = constant(operator == "||", first.type)
            yes, no = (second, fixed) if operator == "&&" else (fixed, second)
            return of_truth(bool_type, Choose(first, yes, no))
        if operator in (",", "@", ".*", "->*"):
            raise Untranslatable(f"the operator {operator}")
        sides = in_one_space(self.operand(left), self.operand(right), self.environment)
        return binary(operator, *sides, bool_type)

    def _conditional(self, condition: Term, then: Term, otherwise: Term) -> Term:
        if then.type.bare != otherwise.type.bare:
            raise Untranslatable("a choice between two types")
        return Term(then.type, node=Choose(truth(condition), then.value(), otherwise.value()))

    def _cast(self, type_: Type, operand: syntax.Expression) -> Term:
        bare = type_.bare
        if isinstance(bare, VectorType) or isinstance(operand, syntax.ArrayLiteral):
            raise Untranslatable("a vector")
        if c_types.is_reference(type_):
            return self.lvalue(operand).part(_referred(type_), 0)
        if isinstance(bare, ClassType | ArrayType):
            term = self.lvalue(operand)
            if term.type.size != type_.size:
                raise Untranslatable("a cast between structures")
            return term.part(type_, 0)
        return pointer_cast(type_, self.operand(operand), self.environment)

    # -- pointers and members

    def _follow(self, term: Term) -> Term:
        return self._at(_referred(term.type), term) if c_types.is_reference(term.type) else term

    def _pointee(self, pointer: Term) -> Term:
        bare = pointer.bare
        if isinstance(bare, PointerType):
            if isinstance(bare.target.strip_typedefs(), VoidType | FunctionType):
                raise Untranslatable("what a void pointer points to")
            return self._at(bare.target, pointer)
        if c_types.is_integral(bare):
            number = Term(c_types.pointer_to(c_types.LONG), node=integer(pointer, I64))
            return self._at(c_types.LONG, number)
        raise Untranslatable(f"what a value of type {pointer.type} points to")

    def _at(self, type_: Type, pointer: Term) -> Term:
        bare = pointer.bare
        space = (bare.address_class or 0) if isinstance(bare, PointerType) else 0
        return Term(lane_names.complete(type_, self.environment), InMemory(space, integer(pointer, I64)))

    def _typed_memory(self, type_: Type, address: Term) -> Term:
        if not isinstance(address.bare, PointerType) and not c_types.is_integral(address.type):
            raise Untranslatable("an address that is not a number")
        return self._at(type_, address)

    def _element(self, base: Term, index: Term) -> Term:
        bare = base.bare
        number = integer(index, I64)
        if isinstance(bare, VectorType):
            return self._vector_element(base, bare, number, c_types.size_of(bare.element), bare.count)
        if isinstance(bare, ArrayType):
            count = bare.count if isinstance(bare.count, int) else 0
            stride = bare.byte_stride if isinstance(bare.byte_stride, int) else c_types.size_of(bare.element)
            lower = bare.lower_bound if isinstance(bare.lower_bound, int) else 0
            number = apply(Op.SUB, number, constant(lower))
            place = base.in_memory
            if place is None:
                return self._vector_element(base, bare, number, stride, count)
            offset = apply(Op.MUL, number, constant(stride))
            return Term(bare.element, InMemory(place.space, apply(Op.ADD, place.address, offset)))
        if isinstance(bare, PointerType):
            return self._pointee(advance(base, number))
        if c_types.is_integral(bare) and isinstance(index.bare, PointerType):
            return self._pointee(advance(index, integer(base, I64)))
        raise Untranslatable(f"an element of a value of type {base.type}")

    def _vector_element(
        self, base: Term, bare: VectorType | ArrayType, number: Node, stride: int, count: int
    ) -> Term:
        fixed = number_of(number)
        if fixed is not None:
            if fixed >= count:
                raise Untranslatable("an unavailable element")
            return base.part(bare.element, 8 * stride * fixed)
        inside = apply(Op.ULT, number, constant(count))
        place = base.in_memory
        if place is not None:
            address = apply(Op.ADD, place.address, apply(Op.MUL, number, constant(stride)))
            return Term(bare.element, InMemory(place.space, Require(inside, address)))
        whole = base.place
        value = whole.element(number) if isinstance(whole, InRegister) and not base.first and stride == 4 else None
        if value is None or not c_types.is_integral(bare.element):
            raise Untranslatable("an element of a value that is in no memory")
        return Term(bare.element, node=Require(inside, value))

    def _member(self, base: Term, name: str, arrow: bool) -> Term:
        if isinstance(base.bare, PointerType) or (arrow and isinstance(base.bare, ArrayType)):
            base = self._pointee(decay(base))
        type_ = lane_names.complete(base.type, self.environment)
        bare = type_.bare
        if isinstance(bare, VectorType) and len(name) == 1 and name in "xyzw":
            index = "xyzw".index(name)
            return self._vector_element(base, bare, constant(index), c_types.size_of(bare.element), bare.count)
        found = self._find(Term(type_, base.place, base.node, base.first, base.bits), name.rpartition("::")[2])
        if found is None:
            raise Untranslatable(f"the member {name}")
        return found

    def _find(self, value: Term, name: str) -> Term | None:
        """Return a data member, also of anonymous members and base classes."""
        class_ = lane_names.complete(value.type, self.environment).bare
        if not isinstance(class_, ClassType):
            return None
        for member in class_.members:
            if member.name == name:
                if member.bit_offset is None:
                    raise Untranslatable("a member whose place is computed")
                return value.part(member.type, member.bit_offset, member.bit_size)
        for static in class_.static_members:
            if static.name == name:
                defined = static_value(class_, static, self.environment)
                if defined is None:
                    raise Untranslatable("a static member without a definition")
                return self.known(defined)
        parts = [
            value.part(member.type, member.bit_offset)
            for member in class_.members
            if not member.name and member.bit_offset is not None
        ]
        parts += [value.part(base.type, 8 * base.byte_offset) for base in class_.bases if base.byte_offset is not None]
        if any(base.byte_offset is None for base in class_.bases):
            raise Untranslatable("a virtual base")
        return next((found for part in parts if (found := self._find(part, name)) is not None), None)


def _referred(type_: Type) -> Type:
    bare = type_.bare
    return bare.target if isinstance(bare, PointerType) and c_types.is_reference(type_) else type_


_WHAT = {
    syntax.Assign: "an assignment", syntax.Postfix: "an assignment", syntax.Call: "a call",
    syntax.String: "a string", syntax.ArrayLiteral: "an array", syntax.RegisterRange: "a range of registers",
    syntax.RegisterList: "a list of registers", syntax.RegisterHalf: "half a register",
    syntax.SpaceAddress: "an address space",
}


# Values of any type over the lanes of a wave, as words that the simulator can record.
MAX_BYTES = 4096
"""The size in bytes of the largest value that is collected."""


class LaneColumn(Struct, frozen=True):
    """A value over lanes: its bytes in words (I64) of eight bytes each, the last zero-extended, and its type.

    ``shared``: the words are the same for all lanes of a wave.
    """

    words: tuple[Node, ...]
    type: Type
    shared: bool


def compile_column(text: str, environment: ProgramEnvironment) -> LaneColumn:
    """Compile the value of an expression, of any type. Raises `Untranslatable`, or what the evaluator raises for bad
    expressions.
    """
    compiler = LaneCompiler(environment)
    target = environment.target
    assert target is not None, "there is no wave"
    try:
        with nesting_limited(text):
            term = compiler.lvalue(value_tree(text, environment))
        words = _words(term)
        for word in words:
            check(word, target.architecture.vgpr_file, target.architecture.has_agprs)
    except LaneExpressionError as error:
        raise Untranslatable(str(error)) from None
    except RecursionError:
        raise Untranslatable("a deep expression") from None
    if compiler.parameters.all:
        raise Untranslatable("a convenience variable")
    return LaneColumn(words, term.type, all(map(is_uniform, words)))


def _words(term: Term) -> tuple[Node, ...]:
    size = c_types.size_of(term.type)
    if not 0 < size <= MAX_BYTES:
        raise Untranslatable(f"a value of {size} bytes")
    if term.node is not None or term.bits is not None:
        node = term.value()
        if c_types.is_float(term.type):
            if c_types.is_bfloat(term.type) or 8 * size != node.type.bits:
                raise Untranslatable(f"a value of type {term.type}")
            node = apply(Op.BITCAST, node, type=INTEGER[node.type.bits])
        return (unsigned(node, I64),)
    return tuple(
        term.part(c_types.UNSIGNED_LONG, 8 * byte, 8 * min(8, size - byte)).value() for byte in range(0, size, 8)
    )


__all__ = [
    "MAX_BYTES", "Compiled", "CompiledValues", "LaneColumn", "LaneCompiler", "Shapes", "compile_alike",
    "compile_column", "compile_condition", "compile_values",
]
