"""Handlers of the location description operations (A.2.5.4.4), except those of composites (`composite_operations`)."""

from __future__ import annotations

from rocdbg.dwarf.context import Expression, ExpressionLike
from rocdbg.dwarf.errors import EvaluationError, IllFormed
from rocdbg.dwarf.location import (
    LocationDescription,
    Place,
    implicit_location,
    undefined_location,
)
from rocdbg.dwarf.stack_machine import Machine, Operands, check_allowed, handles
from rocdbg.dwarf.storage import ImplicitPointerStorage, RegisterStorage, StorageKind
from rocdbg.dwarf.typed_values import ImplicitPointerValue, Value, signed, to_bits

# A.2.5.4.4.1 General


@handles("offset")
def _offset(m: Machine, operands: Operands) -> None:
    displacement = m.pop_signed("a byte displacement")
    m.stack.append(m.pop_location().offset_by(8 * displacement))


@handles("offset_uconst")
def _offset_uconst(m: Machine, operands: Operands) -> None:
    displacement = operands[0]
    assert isinstance(displacement, int)
    m.stack.append(m.pop_location().offset_by(8 * signed(displacement, m.bits)))


@handles("bit_offset")
def _bit_offset(m: Machine, operands: Operands) -> None:
    displacement = m.pop_signed("a bit displacement")
    m.stack.append(m.pop_location().offset_by(displacement))


@handles("push_object_address")
def _push_object_address(m: Machine, operands: Operands) -> None:
    if m.object is None:
        raise EvaluationError("there is no current object")
    m.stack.append(m.object)


@handles("call_frame_entry_reg")
def _call_frame_entry_reg(m: Machine, operands: Operands) -> None:
    number = operands[0]
    assert isinstance(number, int)
    m.stack.append(m.entry_register(number))


# A.2.5.4.4.2 Undefined


@handles("undefined")
def _undefined(m: Machine, operands: Operands) -> None:
    m.stack.append(undefined_location())


# A.2.5.4.4.3 Memory


@handles("addr")
def _addr(m: Machine, operands: Operands) -> None:
    address = operands[0]
    assert isinstance(address, int)
    m.stack.append(m.memory(m.default_space(), address + m.load_bias & m.mask))


@handles("addrx")
def _addrx(m: Machine, operands: Operands) -> None:
    index = operands[0]
    assert isinstance(index, int)
    m.stack.append(m.memory(m.default_space(), m.context.indexed_address(index) & m.mask))


@handles("form_aspace_address")
def _form_aspace_address(m: Machine, operands: Operands) -> None:
    number, _ = m.pop_integral("an address space")
    address = m.pop_value()
    space = m.space(number)
    if isinstance(address, ImplicitPointerValue):
        if address.address_space != number:
            raise EvaluationError(
                f"an implicit pointer into address space {address.address_space:#x} cannot be used "
                f"as an address in address space {number:#x}"
            )
        m.stack.append(m.dereference(address))
        return
    bits = address if isinstance(address, int) else m.integral_bits(address, "an address")[0]
    m.stack.append(m.memory(space, bits & (1 << space.address_bits) - 1))


@handles("form_tls_address")
def _form_tls_address(m: Machine, operands: Operands) -> None:
    address, _ = m.pop_integral("a thread-local storage address")
    m.stack.append(m.context.tls_location(address))


@handles("call_frame_cfa")
def _call_frame_cfa(m: Machine, operands: Operands) -> None:
    cfa = m.context.cfa
    if cfa is None:
        raise EvaluationError("the canonical frame address is not known")
    m.stack.append(cfa)


@handles("fbreg")
def _fbreg(m: Machine, operands: Operands) -> None:
    displacement = operands[0]
    assert isinstance(displacement, int)
    m.stack.append(frame_base(m).offset_by(8 * signed(displacement, m.bits)))


_NO_FBREG = frozenset({"fbreg"})


def frame_base(m: Machine, attribute: ExpressionLike | None = None) -> LocationDescription:
    """The frame base of a subprogram (A.3.3.5): of the current one, or from another attribute's expression."""
    content = m.context.frame_base if attribute is None else attribute
    if content is None:
        raise EvaluationError("the current subprogram has no frame base")
    if not isinstance(content, Expression | LocationDescription | bytes):
        matching = m.matching(content, m.context)
        if len(matching) == 1:
            content = Expression(matching[0], content.dialect or m.dialect)
    result: LocationDescription | Value
    if isinstance(content, LocationDescription):
        result = content
    elif not isinstance(content, Expression | bytes):
        result = m.nested(content, m.context, "location", forbidden=_NO_FBREG, where="DW_AT_frame_base")
    else:
        machine = m.child(m.context, content)
        program = machine.compile(content.data if isinstance(content, Expression) else content)
        check_allowed(program, _NO_FBREG, "DW_AT_frame_base")
        if len(program.steps) == 1 and program.steps[0][0] is _regx:
            # In a frame other than the top one, the location of the register may be in memory: use the location of R
            # itself.
            number = program.steps[0][1][0]
            assert isinstance(number, int)
            return based(m, m.architecture.default_address_space, number, 0)
        machine.run(program)
        result = machine.result("location")
    assert isinstance(result, LocationDescription)
    location = result
    if len(location.places) != 1:
        raise IllFormed(f"the frame base must be a single location, but is {location.describe()}")
    storage = location.places[0].storage
    if isinstance(storage, RegisterStorage):
        return based(m, m.architecture.default_address_space, storage.number, 0)
    if storage.kind is not StorageKind.MEMORY:
        raise IllFormed(f"the frame base must be in memory, but is {location.describe()}")
    return location


def based(m: Machine, space_number: int, register: int, displacement: int) -> LocationDescription:
    """Memory at the contents of a register plus a displacement (`DW_OP_breg*` and its relatives)."""
    space = m.space(space_number)
    contents = m.context.register_location(register).read(space.address_bits)
    return m.memory(space, contents + displacement & (1 << space.address_bits) - 1)


@handles("bregx")
def _bregx(m: Machine, operands: Operands) -> None:
    register, displacement = operands
    assert isinstance(register, int)
    assert isinstance(displacement, int)
    m.stack.append(based(m, m.architecture.default_address_space, register, displacement))


@handles("aspace_bregx")
def _aspace_bregx(m: Machine, operands: Operands) -> None:
    register, displacement = operands
    assert isinstance(register, int)
    assert isinstance(displacement, int)
    number, _ = m.pop_integral("an address space")
    m.stack.append(based(m, number, register, displacement))


# A.2.5.4.4.4 Registers


@handles("regx")
def _regx(m: Machine, operands: Operands) -> None:
    m.stack.append(m.context.register_location(operands[0]))  # type: ignore[arg-type]


# A.2.5.4.4.5 Implicit


@handles("implicit_value")
def _implicit_value(m: Machine, operands: Operands) -> None:
    block = operands[0]
    assert isinstance(block, bytes)
    m.stack.append(implicit_location(int.from_bytes(block, "little"), 8 * len(block)))


@handles("stack_value")
def _stack_value(m: Machine, operands: Operands) -> None:
    value = m.pop_value()
    if isinstance(value, int):
        m.stack.append(implicit_location(value, m.bits))
    elif isinstance(value, ImplicitPointerValue):
        m.stack.append(
            _implicit_pointer(value.die, value.displacement, value.address_space, value.size)
        )
    else:
        m.stack.append(value_location(value))


def value_location(value: Value) -> LocationDescription:
    """The implicit location that holds a typed value."""
    assert value.type is not None
    return implicit_location(to_bits(value.value, value.type), value.type.size)


def _implicit_pointer(die: int, displacement: int, space: int, size: int) -> LocationDescription:
    return LocationDescription(Place(ImplicitPointerStorage(die, displacement, space, size)))


@handles("implicit_pointer")
def _implicit_pointer_default(m: Machine, operands: Operands) -> None:
    die, displacement = operands
    assert isinstance(die, int)
    assert isinstance(displacement, int)
    space = m.default_space()
    m.stack.append(_implicit_pointer(die, displacement, space.number, space.address_bits))


@handles("aspace_implicit_pointer")
def _aspace_implicit_pointer(m: Machine, operands: Operands) -> None:
    die, displacement = operands
    assert isinstance(die, int)
    assert isinstance(displacement, int)
    number, _ = m.pop_integral("an address space")
    space = m.space(number)
    m.stack.append(_implicit_pointer(die, displacement, number, space.address_bits))
