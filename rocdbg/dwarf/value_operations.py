"""Handlers of stack, control flow and value operations (A.2.5.4.1 to A.2.5.4.3)."""

from __future__ import annotations

import operator
from collections.abc import Callable

from rocdbg.dwarf import typed_values
from rocdbg.dwarf.context import CallSites, Expression, LocationList
from rocdbg.dwarf.errors import EvaluationError, IllFormed, LimitExceeded
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.stack_machine import (
    HANDLERS,
    MAX_NESTING,
    Entry,
    Incomplete,
    Machine,
    Operands,
    const_location,
    handles,
)
from rocdbg.dwarf.storage import ImplicitPointerStorage
from rocdbg.dwarf.typed_values import BaseType, ConstValue, ImplicitPointerValue, Value

# A.2.5.4.1 Stack operations


def _accessible(entry: Entry) -> Entry:
    if type(entry) is Incomplete:
        raise IllFormed("a stack operation cannot access an incomplete composite location")
    return entry


def _at(m: Machine, index: int) -> Entry:
    if index >= len(m.stack):
        raise IllFormed(f"there is no stack entry {index}: the stack has {len(m.stack)}")
    return _accessible(m.stack[-1 - index])


@handles("dup")
def _dup(m: Machine, operands: Operands) -> None:
    m.stack.append(_at(m, 0))


@handles("drop")
def _drop(m: Machine, operands: Operands) -> None:
    _at(m, 0)
    m.stack.pop()


@handles("over")
def _over(m: Machine, operands: Operands) -> None:
    m.stack.append(_at(m, 1))


@handles("pick")
def _pick(m: Machine, operands: Operands) -> None:
    index = operands[0]
    assert isinstance(index, int)
    m.stack.append(_at(m, index))


@handles("swap")
def _swap(m: Machine, operands: Operands) -> None:
    second, first = _at(m, 1), _at(m, 0)
    m.stack[-2:] = [first, second]


@handles("rot")
def _rot(m: Machine, operands: Operands) -> None:
    third, second, first = _at(m, 2), _at(m, 1), _at(m, 0)
    m.stack[-3:] = [first, third, second]


# A.2.5.4.2 Control flow operations


@handles("nop")
def _nop(m: Machine, operands: Operands) -> None:
    pass


@handles("skip")
def _skip(m: Machine, operands: Operands) -> int:
    target = operands[0]
    assert isinstance(target, int)
    return target


@handles("bra")
def _bra(m: Machine, operands: Operands) -> int | None:
    value = m.pop_value()
    if isinstance(value, Value):
        if isinstance(value, ImplicitPointerValue):
            raise EvaluationError("an implicit pointer cannot be compared with 0")
        literal = value.value
        taken = any(literal) if isinstance(literal, tuple) else bool(literal)
    else:
        taken = value != 0
    target = operands[0]
    assert isinstance(target, int)
    return target if taken else None


def _call(m: Machine, offset: int, unit_relative: bool) -> None:
    content, context = m.context.die(offset, unit_relative)
    if isinstance(content, LocationList):
        location = m.nested(content, context, "location")
        assert isinstance(location, LocationDescription)
        m.stack.append(location)
    elif isinstance(content, ConstValue):
        m.stack.append(const_location(content))
    elif isinstance(content, bytes | Expression):
        if m.depth >= MAX_NESTING:
            raise LimitExceeded(f"calls are nested more than {MAX_NESTING} deep")
        # The operations of the called expression run on this stack, in this context except that the unit is that of the
        # called entry.
        saved = m.context, m.dialect, m.entry_register, m.bias
        m.context = context
        m.bias = None
        m.entry_register = context.entry_register_location
        if isinstance(content, Expression):
            m.dialect = content.dialect
            content = content.data
        m.depth += 1
        try:
            m.run(m.compile(content))
        finally:
            m.depth -= 1
            m.context, m.dialect, m.entry_register, m.bias = saved
    # A base type or an entry with neither location nor value: no effect.


@handles("call2", "call4")
def _call_unit(m: Machine, operands: Operands) -> None:
    offset = operands[0]
    assert isinstance(offset, int)
    _call(m, offset, True)


@handles("call_ref")
def _call_ref(m: Machine, operands: Operands) -> None:
    offset = operands[0]
    assert isinstance(offset, int)
    _call(m, offset, False)


# A.2.5.4.3.1 Literal operations


@handles(
    "const1u", "const1s", "const2u", "const2s", "const4u", "const4s", "const8u", "const8s", "constu", "consts"
)
def _const(m: Machine, operands: Operands) -> None:
    m.stack.append(operands[0] & m.mask)  # type: ignore[operator]


@handles("constx")
def _constx(m: Machine, operands: Operands) -> None:
    index = operands[0]
    assert isinstance(index, int)
    m.stack.append(m.context.indexed_address(index) & m.mask)


@handles("const_type")
def _const_type(m: Machine, operands: Operands) -> None:
    offset, block = operands
    assert isinstance(offset, int)
    assert isinstance(block, bytes)
    base = m.base_type(offset)
    _check_size(base, len(block))
    bits = int.from_bytes(block, "little") & (1 << base.size) - 1
    m.stack.append(Value(base, typed_values.from_bits(bits, base)))


def _check_size(base: BaseType, size: int) -> None:
    if base.byte_size != size:
        raise IllFormed(f"the operand has {size} bytes, but base type '{base.name}' has {base.byte_size}")


@handles("push_lane")
def _push_lane(m: Machine, operands: Operands) -> None:
    lane = m.context.lane
    if lane is None:
        raise EvaluationError("there is no current lane")
    if not 0 <= lane < m.context.lanes:
        raise IllFormed(f"the current lane {lane} is not one of the subprogram's {m.context.lanes} lanes")
    m.stack.append(lane)


@handles("push_iteration")
def _push_iteration(m: Machine, operands: Operands) -> None:
    iteration = m.context.iteration
    if iteration is None:
        raise EvaluationError("there is no current iteration")
    count = m.context.iterations
    if not 0 <= iteration < count:
        raise IllFormed(f"the current iteration {iteration} is not one of the subprogram's {count} iterations")
    m.stack.append(iteration)


# A.2.5.4.3.2 Arithmetic and logical operations, and comparisons


def _pop_two(m: Machine) -> tuple[int | Value, int | Value]:
    """The second and the top entry, values of the same type."""
    if len(m.stack) < 2:
        raise IllFormed(f"two stack entries are needed, but the stack has {len(m.stack)}")
    b = m.pop_value()
    a = m.pop_value()
    if isinstance(a, int) and isinstance(b, int):
        return a, b
    for entry in (a, b):
        if isinstance(entry, ImplicitPointerValue):
            raise EvaluationError("arithmetic is not possible with an implicit pointer")
    if isinstance(a, int) or isinstance(b, int):
        typed = b if isinstance(a, int) else a
        assert isinstance(typed, Value)
        assert typed.type is not None
        raise IllFormed(f"the operands have different types: generic and '{typed.type.name}'")
    assert a.type is not None
    assert b.type is not None
    if not a.type.same_as(b.type):
        raise IllFormed(f"the operands have different types: '{a.type.name}' and '{b.type.name}'")
    m.budget.charge(2 * _cost(a.type) if a.type.is_wide else _cost(a.type))
    return a, b


def _binary(name: str) -> None:
    @handles(name)
    def handler(m: Machine, operands: Operands) -> None:
        a, b = _pop_two(m)
        if isinstance(a, int):
            assert isinstance(b, int)
            m.stack.append(typed_values.generic_binary(name, a, b, m.bits))
        else:
            assert isinstance(b, Value)
            m.stack.append(typed_values.typed_binary(name, a, b))


def _fast_binary(name: str, function: Callable[[int, int], int]) -> None:
    """Register a binary operation that has a fast path for the generic type; the function's result may exceed the
    type's range.
    """
    _binary(name)
    general = HANDLERS[name]

    @handles(name)
    def handler(m: Machine, operands: Operands) -> None:
        stack = m.stack
        if len(stack) > 1:
            b, a = stack[-1], stack[-2]
            if type(a) is int and type(b) is int:
                stack.pop()
                stack[-1] = function(a, b) & m.mask
                return
        general(m, operands)


for _name in ("div", "mod", "shl", "shra"):
    _binary(_name)
_fast_binary("plus", operator.add)
_fast_binary("minus", operator.sub)
_fast_binary("mul", operator.mul)
_fast_binary("and", operator.and_)
_fast_binary("or", operator.or_)
_fast_binary("xor", operator.xor)
_fast_binary("shr", operator.rshift)


def _compare(name: str) -> None:
    @handles(name)
    def handler(m: Machine, operands: Operands) -> None:
        a, b = _pop_two(m)
        if isinstance(a, int):
            assert isinstance(b, int)
            m.stack.append(int(typed_values.generic_compare(name, a, b, m.bits)))
        else:
            assert isinstance(b, Value)
            m.stack.append(int(typed_values.typed_compare(name, a, b)))


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _compare(_name)


def _unary(name: str) -> None:
    @handles(name)
    def handler(m: Machine, operands: Operands) -> None:
        a = _pop_number(m)
        if isinstance(a, int):
            m.stack.append(typed_values.generic_unary(name, a, m.bits))
        else:
            m.stack.append(typed_values.typed_unary(name, a))


for _name in ("abs", "neg", "not"):
    _unary(_name)


_WIDE_STEPS = 125
"""The cost in steps of an operand of a wide floating-point type: exact numbers with 15-bit exponents have many digits.
"""


def _cost(base: BaseType) -> int:
    """How many steps an operation on one value of a type counts as."""
    return _WIDE_STEPS * (base.vector_size or 1) if base.is_wide else base.size >> 5


def _pop_number(m: Machine) -> int | Value:
    value = m.pop_value()
    if isinstance(value, Value):
        if isinstance(value, ImplicitPointerValue):
            raise EvaluationError("arithmetic is not possible with an implicit pointer")
        assert value.type is not None
        m.budget.charge(_cost(value.type))
    return value


@handles("plus_uconst")
def _plus_uconst(m: Machine, operands: Operands) -> None:
    addend = operands[0]
    assert isinstance(addend, int)
    a = _pop_number(m)
    if isinstance(a, int):
        m.stack.append((a + addend) & m.mask)
        return
    base = a.type
    assert base is not None
    if not base.is_integral:
        raise IllFormed(f"plus_uconst needs an integral operand, not '{base.name}' ({base.encoding})")
    # The constant has the operand's type: truncate it to that size.
    constant = Value(base, typed_values.from_bits(addend & (1 << base.size) - 1, base))
    m.stack.append(typed_values.typed_binary("plus", a, constant))


# A.2.5.4.3.3 Type conversions


def _target_type(m: Machine, operands: Operands) -> BaseType | None:
    offset = operands[0]
    assert isinstance(offset, int)
    return m.base_type(offset) if offset else None


@handles("convert")
def _convert(m: Machine, operands: Operands) -> None:
    target = _target_type(m, operands)
    a = _pop_number(m)
    if isinstance(a, int):
        result = typed_values.convert(a, None, target, m.bits)
    else:
        result = typed_values.convert(a.value, a.type, target, m.bits)
    m.stack.append(_push_typed(target, result))


def _push_typed(base: BaseType | None, literal: typed_values.Literal) -> int | Value:
    if base is None:
        assert isinstance(literal, int)
        return literal
    return Value(base, literal)


@handles("reinterpret")
def _reinterpret(m: Machine, operands: Operands) -> None:
    target = _target_type(m, operands)
    a = _pop_number(m)
    if isinstance(a, int):
        bits, size = a, m.bits
    else:
        assert a.type is not None
        bits, size = typed_values.to_bits(a.value, a.type), a.type.size
    wanted = m.bits if target is None else target.size
    if size != wanted:
        raise IllFormed(f"a {size}-bit value cannot be reinterpreted in a {wanted}-bit type")
    m.stack.append(bits if target is None else Value(target, typed_values.from_bits(bits, target)))


# A.2.5.4.3.4 Special value operations


def fetch(m: Machine, location: LocationDescription, bits: int) -> int | ImplicitPointerValue:
    """`bits` bits of the location, or the implicit pointer if they are all of its bits (A.2.5.4.4.5)."""
    places = location.places
    if places and places[0].storage.has_implicit_pointer:
        pointer = _fetch_implicit_pointer(m, location, bits)
        if pointer is not None:
            return pointer
    if bits > 64:
        m.budget.charge(bits >> 2)
    m.budget.charge(location.weight)
    return location.read(bits)


def _fetch_implicit_pointer(m: Machine, location: LocationDescription, bits: int) -> ImplicitPointerValue | None:
    m.budget.charge(bits)
    place = location.places[0]
    if place.remaining < bits:
        raise EvaluationError(f"{bits} bits reach beyond the {place.storage.size} bits of {place.describe()}")
    storage: ImplicitPointerStorage | None = None
    position = 0
    others = False
    for fragment in location.fragments(bits):
        if not isinstance(fragment.storage, ImplicitPointerStorage):
            others = True
        elif storage is None:
            storage = fragment.storage
            others = others or fragment.offset != 0
            position = fragment.bits
        elif fragment.storage == storage and fragment.offset == position:
            position += fragment.bits
        else:
            others = True
    if storage is None:
        return None
    if others or position != storage.size:
        raise EvaluationError("an implicit pointer can be read only as a whole and without neighbouring bits")
    base: BaseType | None = None
    if storage.address_space != m.architecture.default_address_space:
        base = BaseType(f"address of space {storage.address_space}", "DW_ATE_unsigned", storage.size)
    return ImplicitPointerValue(
        base, storage.die, storage.displacement, storage.address_space, storage.size
    )


def _deref_typed(m: Machine, location: LocationDescription, base: BaseType) -> None:
    result = fetch(m, location, base.size)
    if isinstance(result, ImplicitPointerValue):
        m.stack.append(result)
    else:
        m.stack.append(Value(base, typed_values.from_bits(result, base)))


def _deref_generic(m: Machine, location: LocationDescription, size: int) -> None:
    bits = min(m.bits, 8 * size)
    m.stack.append(fetch(m, location, bits))


@handles("regval_type")
def _regval_type(m: Machine, operands: Operands) -> None:
    number, offset = operands
    assert isinstance(number, int)
    assert isinstance(offset, int)
    base = m.base_type(offset)
    _deref_typed(m, m.context.register_location(number), base)


@handles("deref")
def _deref(m: Machine, operands: Operands) -> None:
    _deref_generic(m, m.pop_location(), (m.bits + 7) >> 3)


@handles("deref_size")
def _deref_size(m: Machine, operands: Operands) -> None:
    size = operands[0]
    assert isinstance(size, int)
    _deref_generic(m, m.pop_location(), size)


@handles("deref_type")
def _deref_type(m: Machine, operands: Operands) -> None:
    size, offset = operands
    assert isinstance(size, int)
    assert isinstance(offset, int)
    location = m.pop_location()
    base = m.base_type(offset)
    _check_size(base, size)
    _deref_typed(m, location, base)


def _xderef_location(m: Machine) -> LocationDescription:
    HANDLERS["swap"](m, ())
    HANDLERS["form_aspace_address"](m, ())
    return m.pop_location()


@handles("xderef")
def _xderef(m: Machine, operands: Operands) -> None:
    _deref_generic(m, _xderef_location(m), (m.bits + 7) >> 3)


@handles("xderef_size")
def _xderef_size(m: Machine, operands: Operands) -> None:
    size = operands[0]
    assert isinstance(size, int)
    _deref_generic(m, _xderef_location(m), size)


@handles("xderef_type")
def _xderef_type(m: Machine, operands: Operands) -> None:
    size, offset = operands
    assert isinstance(size, int)
    assert isinstance(offset, int)
    location = _xderef_location(m)
    base = m.base_type(offset)
    _check_size(base, size)
    _deref_typed(m, location, base)


@handles("entry_value")
def _entry_value(m: Machine, operands: Operands) -> None:
    data = operands[0]
    assert isinstance(data, bytes)
    machine = m.child(m.context.caller())
    machine.run(machine.compile(data))
    result = machine.result(None)
    if isinstance(result, LocationDescription):
        last = machine.last
        if last is not None and last[0] is HANDLERS["regx"]:
            number = last[1][0]
            assert isinstance(number, int)
            m.stack.append(_register_value(m, number, result))
            return
        if m.dialect != "llvm22":
            raise IllFormed(
                f"the result in the calling frame must be a value or a register, but is {result.describe()}"
            )
        # Plain DWARF 5 keeps its meaning: where it defines the result as a value (`DW_OP_addr`, `DW_OP_breg*`), it is a
        # value.
        m.stack.append(m.as_value(result))
        return
    m.stack.append(result if result.type is not None else _generic(result))


def _generic(value: Value) -> int | Value:
    if isinstance(value, ImplicitPointerValue):
        return value
    assert isinstance(value.value, int)
    return value.value


def _register_value(m: Machine, number: int, location: LocationDescription) -> int | Value:
    """The contents of a register in its architecture's type: the generic type where the size is the same."""
    size = m.architecture.register_size(number)
    bits = 8 * size if size is not None else location.remaining
    elements = m.architecture.register_elements(number)
    result = fetch(m, location, bits)
    if isinstance(result, ImplicitPointerValue) or (bits == m.bits and elements == 1):
        return result
    base = BaseType(
        m.architecture.register_name(number),
        "DW_ATE_unsigned",
        bits // elements,
        elements if elements > 1 else None,
    )
    return Value(base, typed_values.from_bits(result, base))


@handles("variable_value")
def _variable_value(m: Machine, operands: Operands) -> None:
    # GNU: the value of a variable, in the generic type.
    offset = operands[0]
    assert isinstance(offset, int)
    pointer = ImplicitPointerValue(None, offset, 0, m.architecture.default_address_space, m.bits)
    _deref_generic(m, m.dereference(pointer), (m.bits + 7) >> 3)


@handles("parameter_ref")
def _parameter_ref(m: Machine, operands: Operands) -> None:
    # GNU: the value that the call site passed for the parameter whose entry this is, as for DW_AT_call_value (A.3.4.2).
    offset = operands[0]
    assert isinstance(offset, int)
    found = m.context.call_site_value(offset) if isinstance(m.context, CallSites) else None
    if found is None:
        raise EvaluationError(f"the call site does not describe the value of the parameter at {offset:#x}")
    result = m.nested(found, m.context.caller(), "value")
    assert isinstance(result, Value)
    m.stack.append(result if result.type is not None else _generic(result))
