"""The stack machine that evaluates operation expressions (A.2.5.4).

A stack entry is an `int` (a value of the generic type, unsigned), a `Value` of a base type or an implicit pointer, a
`LocationDescription`, or an `Incomplete` composite location under construction. Handlers are functions of the machine
and the decoded operands, registered for each meaning in the operation table; a handler that jumps returns the index of
the next operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

from rocdbg import work
from rocdbg.dwarf.architecture import AddressSpace
from rocdbg.dwarf.composite_storage import CompositeStorage
from rocdbg.dwarf.context import Context, Expression, ExpressionLike, LocationList, load_bias
from rocdbg.dwarf.decoding import Operation, decode_prefix
from rocdbg.dwarf.errors import DwarfError, EvaluationError, IllFormed, LimitExceeded
from rocdbg.dwarf.location import (
    LocationDescription,
    Place,
    implicit_location,
    undefined_location,
)
from rocdbg.dwarf.operation_table import Operand
from rocdbg.dwarf.storage import MemoryStorage
from rocdbg.dwarf.typed_values import BaseType, ConstValue, ImplicitPointerValue, Value

__all__ = ["Budget", "Entry", "Incomplete", "Kind", "Machine", "Program", "handles"]

Kind = Literal["value", "location"] | None
"""The current result kind (A.2.5.1): None where it is not specified."""

MAX_STEPS = 40_000
"""Limit on operations, including nested ones and work on large values: at most about 100 ms."""
MAX_STACK = 1_000
MAX_NESTING = 48
MAX_TYPE_BITS = 1 << 16
MAX_NUMBER_BITS = 4096
"""Largest size in bits of an operand or a displacement; constants of any length have already been truncated to the
generic type.
"""
_CUT = frozenset({"constu", "consts", "plus_uconst"})


class Incomplete:
    """An incomplete composite location description: the parts so far (A.2.5.4.4.6)."""

    __slots__ = ("parts", "size")

    def __init__(self) -> None:
        self.parts: list[tuple[LocationDescription, int]] = []
        self.size = 0

    def complete(self) -> LocationDescription:
        """The complete composite location description with the same parts."""
        return LocationDescription(Place(CompositeStorage(self.parts)))


Entry = int | Value | LocationDescription | Incomplete
Operands = tuple[int | bytes, ...]
Handler = Callable[["Machine", Operands], int | None]

HANDLERS: dict[str, Handler] = {}


def handles(*meanings: str) -> Callable[[Handler], Handler]:
    """Register the handler of the operations with these meanings (`OperationInfo.meaning`)."""

    def register(handler: Handler) -> Handler:
        for meaning in meanings:
            HANDLERS[meaning] = handler
        return handler

    return register


class Budget:
    """The remaining steps of one evaluation, including nested ones."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MAX_STEPS

    def charge(self, steps: int) -> None:
        """Use up `steps`; raises `LimitExceeded` if fewer remain."""
        self.left -= steps
        if self.left < 0:
            raise LimitExceeded(f"the evaluation takes more than {MAX_STEPS} steps")


class Program:
    """A decoded expression, each operation with its handler; branches hold the index of their target."""

    __slots__ = ("meanings", "operations", "steps")

    def __init__(self, operations: list[Operation]) -> None:
        self.operations = operations
        self.meanings = frozenset(operation.info.meaning for operation in operations)
        index = {operation.offset: i for i, operation in enumerate(operations)}
        if operations:
            index[operations[-1].offset + operations[-1].size] = len(operations)
        self.steps = [_step(operation, index) for operation in operations]


def _step(operation: Operation, index: dict[int, int]) -> tuple[Handler, Operands]:
    info = operation.info
    meaning = info.meaning
    operands = operation.operands
    stem = meaning.rstrip("0123456789")
    if stem in ("lit", "reg", "breg") and stem != meaning:
        number = int(meaning[len(stem) :])
        meaning = {"lit": "constu", "reg": "regx", "breg": "bregx"}[stem]
        operands = (number, *operands)
    elif info.operands == (Operand.BRANCH,):
        distance = operands[0]
        assert isinstance(distance, int)
        operands = (index.get(operation.offset + operation.size + distance, -1), distance)
    if meaning not in _CUT:
        for operand in operands:
            if isinstance(operand, int) and operand.bit_length() > MAX_NUMBER_BITS:
                raise LimitExceeded(
                    f"an operand has {operand.bit_length()} bits, more than {MAX_NUMBER_BITS}",
                    operation=operation.name,
                    offset=operation.offset,
                )
    return HANDLERS[meaning], operands


def _program(data: bytes, dialect: str, address_size: int, offset_size: int) -> Program:
    operations, error = decode_prefix(data, dialect, address_size, offset_size, limit=MAX_STEPS)
    if error is not None:
        raise error
    if len(operations) > MAX_STEPS:
        raise LimitExceeded(f"the expression has more than {MAX_STEPS} operations")
    return Program(operations)


_CACHED_LENGTH = 512
_cached_program = lru_cache(maxsize=2048)(_program)


def decoded_program(data: bytes, dialect: str, address_size: int, offset_size: int) -> Program:
    """The program of an expression; `DecodeError` if it cannot be decoded. Short ones are cached by content."""
    program = _cached_program if len(data) <= _CACHED_LENGTH else _program
    return program(data, dialect, address_size, offset_size)


class Machine:
    """One evaluation: the stack and everything that the handlers need."""

    __slots__ = (
        "architecture",
        "bias",
        "bits",
        "budget",
        "context",
        "depth",
        "dialect",
        "entry_register",
        "last",
        "mask",
        "object",
        "stack",
    )

    def __init__(
        self,
        context: Context,
        dialect: str,
        object: LocationDescription | None,
        budget: Budget,
        depth: int = 0,
    ) -> None:
        self.context = context
        self.dialect = dialect
        self.object = object
        self.budget = budget
        self.depth = depth
        self.architecture = architecture = context.architecture
        self.bits = architecture.address_bits
        self.mask = (1 << self.bits) - 1
        self.bias: int | None = None
        self.stack: list[Entry] = []
        self.entry_register: Callable[[int], LocationDescription] = context.entry_register_location
        self.last: tuple[Handler, Operands] | None = None

    @property
    def load_bias(self) -> int:
        """What is added to addresses in the expression: the context's load bias, unless this evaluation has its own."""
        return load_bias(self.context) if self.bias is None else self.bias

    # Running

    def compile(self, data: bytes) -> Program:
        """The program of an expression of this machine's dialect; `DecodeError` if it cannot be decoded."""
        return decoded_program(data, self.dialect, (self.bits + 7) >> 3, self.context.offset_size)

    def run(self, program: Program) -> None:
        """Execute the operations of `program` on the stack."""
        work.unit()
        steps = program.steps
        count = len(steps)
        # Without a loop there are at most as many steps as operations, so only jumps are charged as they happen.
        budget = self.budget
        if budget.left < count:
            budget.charge(count)
        budget.left -= count
        handler: Handler | None = None
        operands: Operands = ()
        at = 0
        i = 0
        try:
            while i < count:
                handler, operands = steps[i]
                at = i
                i += 1
                target = handler(self, operands)
                if target is not None:
                    if target < 0:
                        raise IllFormed(
                            f"the branch distance {operands[1]!r} does not lead to the beginning of an operation"
                        )
                    i = target
                    work.unit()
                    self.budget.charge(count - target + 1)
                    if len(self.stack) > MAX_STACK:
                        raise LimitExceeded(f"the stack has more than {MAX_STACK} entries")
        except DwarfError as error:
            operation = program.operations[at]
            error.locate(operation.name, operation.offset)
            raise
        if handler is not None and (handler is not HANDLERS["call2"] or self.last is None):
            self.last = handler, operands

    def result(self, kind: Kind) -> LocationDescription | Value:
        """The result of the evaluation (A.2.5.4, "The result of the evaluation is")."""
        if not self.stack:
            if kind == "value":
                raise IllFormed("a value is required, but the stack is empty at the end of the expression")
            return undefined_location()
        top = self.stack[-1]
        if type(top) is Incomplete:
            top = self.stack[-1] = self.checked(top.complete())
        if kind == "location":
            return top if type(top) is LocationDescription else self.as_location(top)
        if kind == "value":
            top = self.as_value(top)
        if isinstance(top, int):
            return Value(None, top)
        assert not isinstance(top, Incomplete)
        return top

    def nested(
        self,
        expression: ExpressionLike,
        context: Context,
        kind: Kind,
        *,
        forbidden: frozenset[str] = frozenset(),
        where: str = "",
        initial: Sequence[Entry] = (),
    ) -> LocationDescription | Value:
        """Evaluate another expression with a stack of its own and without an object, within this evaluation's budget.
        """
        if not isinstance(expression, Expression | bytes):  # in this order: isinstance of a LocationList is slow
            return self.location_list(expression, context, forbidden=forbidden, where=where, initial=initial)
        machine = self.child(context, expression)
        machine.stack.extend(initial)
        program = machine.compile(expression.data if isinstance(expression, Expression) else expression)
        if forbidden:
            check_allowed(program, forbidden, where)
        machine.run(program)
        return machine.result(kind)

    def child(self, context: Context, expression: ExpressionLike | None = None) -> Machine:
        """A machine for a nested evaluation: its own stack, no object, the same budget."""
        if self.depth >= MAX_NESTING:
            raise LimitExceeded(f"expressions are nested more than {MAX_NESTING} deep")
        dialect = self.dialect
        if isinstance(expression, Expression):
            dialect = expression.dialect
        return Machine(context, dialect, None, self.budget, self.depth + 1)

    def matching(self, entries: LocationList, context: Context) -> list[bytes]:
        """The expressions of the entries that match the program location, else those of default entries (A.2.5.5)."""
        pc = context.pc
        if pc is None:
            raise EvaluationError("a location list needs a program location, but the context has none")
        self.budget.charge(1 + (len(entries.entries) >> 6))
        return entries.matching(pc - load_bias(context))

    def location_list(
        self,
        entries: LocationList,
        context: Context,
        *,
        forbidden: frozenset[str] = frozenset(),
        where: str = "",
        initial: Sequence[Entry] = (),
    ) -> LocationDescription:
        """The union of the places of all matching entries (A.2.5.5), each evaluated with the initial stack."""
        places: list[Place] = []
        dialect = entries.dialect or self.dialect
        matching = self.matching(entries, context)
        for data in matching:
            location = self.nested(
                Expression(data, dialect), context, "location", forbidden=forbidden, where=where, initial=initial
            )
            assert isinstance(location, LocationDescription)
            if len(matching) == 1:
                return location
            places.extend(place for place in location.places if place not in places)
        return LocationDescription(*places) if places else undefined_location()

    # The stack

    def pop(self) -> Entry:
        """Pop the top entry; the stack must not be empty."""
        if not self.stack:
            raise IllFormed("the stack is empty")
        return self.stack.pop()

    def pop_value(self) -> int | Value:
        """Pop the top entry as a value."""
        entry = self.pop()
        return entry if type(entry) is int else self.as_value(entry)

    def pop_location(self) -> LocationDescription:
        """Pop the top entry as a location description."""
        entry = self.pop()
        return entry if type(entry) is LocationDescription else self.as_location(entry)

    def pop_integral(self, what: str) -> tuple[int, int]:
        """Pop the top entry, an integral value: its bits (unsigned) and its size in bits."""
        entry = self.pop()
        value = entry if type(entry) is int else self.as_value(entry)
        if isinstance(value, int):
            return value, self.bits
        return self.integral_bits(value, what)

    def pop_signed(self, what: str) -> int:
        """Pop the top entry, an integral value; the generic type counts as signed."""
        entry = self.pop()
        value = entry if type(entry) is int else self.as_value(entry)
        if isinstance(value, int):
            return value - self.mask - 1 if value >> (self.bits - 1) else value
        self.integral_bits(value, what)
        assert isinstance(value.value, int)
        if value.value.bit_length() > MAX_NUMBER_BITS:
            raise LimitExceeded(f"{what} has {value.value.bit_length()} bits, more than {MAX_NUMBER_BITS}")
        return value.value

    @staticmethod
    def integral_bits(value: Value, what: str) -> tuple[int, int]:
        """Bits and size of a typed integral value."""
        if isinstance(value, ImplicitPointerValue):
            raise EvaluationError(f"an implicit pointer cannot be used as {what}")
        base = value.type
        assert base is not None
        if not base.is_integral:
            raise IllFormed(f"{what} must be an integral value, not '{base.name}' ({base.encoding})")
        assert isinstance(value.value, int)
        return value.value & (1 << base.bit_size) - 1, base.bit_size

    # Conversions (A.2.5.4.4.3)

    def as_value(self, entry: Entry) -> int | Value:
        """Convert `entry` to a value, which is possible for an address of the default address space."""
        if isinstance(entry, int | Value):
            return entry
        if isinstance(entry, LocationDescription):
            place = entry.memory
            if place is not None and place.address_space == self.architecture.default_address_space:
                address = place.address
                assert address is not None
                return address & self.mask
            raise IllFormed(f"a value is required, but the stack holds a location: {entry.describe()}")
        raise IllFormed("a value is required, but the stack holds an incomplete composite location")

    def as_location(self, entry: Entry) -> LocationDescription:
        """Convert `entry` to a location description, which is possible for generic values and implicit pointers."""
        if isinstance(entry, LocationDescription):
            return entry
        if isinstance(entry, int):
            return self.memory(self.default_space(), entry)
        if isinstance(entry, ImplicitPointerValue):
            if entry.address_space == self.architecture.default_address_space:
                return self.dereference(entry)
            raise EvaluationError(
                f"an implicit pointer into address space {entry.address_space:#x} cannot be used "
                "as an address in the default address space"
            )
        if isinstance(entry, Value):
            name = entry.type.name if entry.type else "generic"
            raise IllFormed(f"a location is required, but the stack holds a value of type '{name}'")
        raise IllFormed("a location is required, but the stack holds an incomplete composite location")

    # Helpers of the handlers

    def checked(self, location: LocationDescription) -> LocationDescription:
        """Return a new composite location; raises `IllFormed` if it is larger than any address space."""
        size = location.places[0].storage.size
        if size > self.architecture.largest_storage:
            raise IllFormed(f"a composite location of {size} bits is larger than the largest address space")
        return location

    def default_space(self) -> AddressSpace:
        """The target's default address space."""
        return self.space(self.architecture.default_address_space)

    def space(self, number: int) -> AddressSpace:
        """The address space called `number` in this dialect; ill-formed if there is none."""
        space = self.architecture.address_space(number, self.dialect)
        if space is None:
            raise IllFormed(f"{number:#x} is not an address space of {self.architecture.name}")
        return space

    def memory(self, space: AddressSpace, address: int) -> LocationDescription:
        """The location at byte `address` of `space`, for the current lane where the space has lanes."""
        lane = space.lane
        if space.sees_lane and lane is None:
            lane = self.context.lane
            if lane is None and space.per_lane:
                raise EvaluationError(
                    f"address space {space.name} can be accessed only with a current lane, and there is none"
                )
        return LocationDescription(Place(MemoryStorage(self.context, space, lane), address << 3))

    def base_type(self, offset: int) -> BaseType:
        """The base type entry at `offset` of the unit; ill-formed if there is none."""
        content, _ = self.context.die(offset, True)
        if not isinstance(content, BaseType):
            raise IllFormed(f"there is no base type entry at {offset:#x} of the compilation unit")
        if content.vector_size is not None and content.vector_size <= 0:
            raise IllFormed(f"the vector size of '{content.name}' is {content.vector_size}, but must be greater than 0")
        if content.bit_size <= 0:
            raise IllFormed(f"the size of base type '{content.name}' is {content.bit_size} bits")
        if content.size > MAX_TYPE_BITS:
            raise LimitExceeded(f"base type '{content.name}' has {content.size} bits, more than {MAX_TYPE_BITS}")
        return content

    def dereference(self, pointer: ImplicitPointerValue) -> LocationDescription:
        """The location of the object to which an implicit pointer points, evaluated in the current context
        (A.2.5.4.4.5).
        """
        content, context = self.context.die(pointer.die, False)
        if isinstance(content, ConstValue):
            location = const_location(content)
        elif isinstance(content, bytes | Expression | LocationList):
            result = self.nested(content, context, "location")
            assert isinstance(result, LocationDescription)
            location = result
        else:
            raise EvaluationError(
                f"the entry at {pointer.die:#x} that an implicit pointer points to has neither location nor value"
            )
        return location.offset_by(8 * pointer.displacement) if pointer.displacement else location


def const_location(content: ConstValue) -> LocationDescription:
    """The implicit location of a DW_AT_const_value."""
    return implicit_location(int.from_bytes(content.data, "little"), 8 * len(content.data))


def check_allowed(program: Program, forbidden: frozenset[str], where: str) -> None:
    """Ill-formed if the program has an operation whose meaning is `forbidden` in expressions of this kind."""
    if program.meanings.isdisjoint(forbidden):
        return
    for operation in program.operations:
        if operation.info.meaning in forbidden:
            raise IllFormed(f"not allowed in {where}", operation=operation.name, offset=operation.offset)
