"""Values of attributes of entries, each evaluated in its own context and checked by its own rules (A.3, A.4, A.5).

Every function takes the entry, and a context if the value depends on a thread's state. All raise `IllFormed` where the
attribute breaks a rule of the specification and `EvaluationError` where it cannot be evaluated in the context; both
name the attribute and the entry (`DwarfError.attribute`, `.entry`). Offsets and sizes are in bits.
"""

from __future__ import annotations

from collections.abc import Iterable

from rocdbg.dwarf.attribute_names import attribute_name
from rocdbg.dwarf.cfi import FrameTable
from rocdbg.dwarf.context import Context, ExpressionLike, LocationList
from rocdbg.dwarf.errors import EvaluationError, IllFormed
from rocdbg.dwarf.evaluator import dereference, evaluate, evaluate_frame_base, evaluate_location
from rocdbg.dwarf.expression_text import format_expression
from rocdbg.dwarf.info.attribute_expressions import as_written, member_expression, property_expression
from rocdbg.dwarf.info.attribute_values import Constant, Exprloc, Loclist, Reference
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.whereabouts import concerning
from rocdbg.dwarf.location import LocationDescription, implicit_location, undefined_location
from rocdbg.dwarf.operation_assembler import assemble
from rocdbg.dwarf.reader.content import constant_content
from rocdbg.dwarf.reader.numbers import tag_name
from rocdbg.dwarf.reader.prepared import (
    ACTIVE_LANE,
    CALL_VALUE,
    first_expression,
    frame_base_expression,
    location_expression,
    needed_expression,
    values_of,
)
from rocdbg.dwarf.reader.unit_context import in_unit, wave_size_of
from rocdbg.dwarf.stack_machine import const_location
from rocdbg.dwarf.storage import StorageKind
from rocdbg.dwarf.typed_values import ImplicitPointerValue, Value

__all__ = [
    "active_lane", "address_space", "call_data_location", "call_data_value", "call_target", "call_value",
    "data_location", "frame_base", "has_iterations", "iterations", "lane_pc", "lanes", "located", "location",
    "location_ranges", "member_location", "memory_space", "pointed_to", "pointee", "property_value", "return_addr",
    "static_link", "string_length", "use_location", "vector_size", "vtable_elem_location",
]

LANE_PC = (At.LLVM_LANE_PC, At.LLVM22_LANE_PC)
VECTOR_SIZE = (At.LLVM_VECTOR_SIZE, At.LLVM22_VECTOR_SIZE)
MEMORY_SPACE = (At.LLVM22_MEMORY_SPACE, At.AMD_MEMORY_SPACE)


# -- lanes and iterations (A.3.3.5 (4) to (7))


def _lane_counts(entry: Die) -> tuple[Constant | None, Constant | Exprloc | Loclist | None]:
    """The values of lanes and of iterations.

    The specification lists both with the same code. An expression can only be iterations. A first constant is lanes, a
    second one iterations; if lanes has upstream's code, an attribute with the shared code is iterations.
    """
    own = next((value for value in values_of(entry, At.LLVM22_LANES) if isinstance(value, Constant)), None)
    shared = values_of(entry, At.LLVM_LANES)
    constants = [value for value in shared if isinstance(value, Constant)]
    lanes = own if own is not None else constants.pop(0) if constants else None
    expressions = (value for value in shared if isinstance(value, Exprloc | Loclist))
    return lanes, next(expressions, constants[0] if constants else None)


def lanes(entry: Die, default: int = 1) -> int:
    """DW_AT_LLVM_lanes: source language threads per target thread (A.3.3.5 (4)); `default` without it.

    `IllFormed` if the value is not positive.
    """
    with concerning("DW_AT_LLVM_lanes", entry):
        value, _ = _lane_counts(entry)
        return default if value is None else _positive(value.value)


def has_iterations(entry: Die) -> bool:
    """Whether an entry states the number of iterations. Raises `rocdbg.Error` for damaged entries."""
    return _lane_counts(entry)[1] is not None


def iterations(entry: Die, context: Context, frames: FrameTable | None = None) -> int:
    """DW_AT_LLVM_iterations: iterations executed concurrently at the program location (A.3.3.5 (7)); 1 without it.

    `IllFormed` if the value is not positive, or is not one implicit location description.
    """
    with concerning("DW_AT_LLVM_iterations", entry):
        _, value = _lane_counts(entry)
        if value is None:
            return 1
        if isinstance(value, Constant):
            return _positive(value.value)
        there = in_unit(context, entry, frames=frames)
        place = _single(evaluate_location(as_written(value, entry.unit), there))
        if place.places[0].kind is not StorageKind.IMPLICIT:
            raise IllFormed(f"the result must be an implicit location description, but is {place.describe()}")
        bits = there.architecture.address_bits
        if place.remaining < bits:
            raise IllFormed(f"the result has only {place.remaining} bits, fewer than the {bits} of the generic type")
        number = place.read(bits)
        return _positive(number - (1 << bits) if number >> (bits - 1) else number)


def lane_pc(entry: Die, context: Context, frames: FrameTable | None = None) -> list[int | None] | None:
    """DW_AT_LLVM_lane_pc: where each lane is, as loaded addresses (A.3.3.5 (5)); None without the attribute.

    An element is None for a lane that was not active when the subprogram was called. There are DW_AT_LLVM_lanes
    elements; without that attribute, as many as the context has lanes, or as the vector has elements if that is less.
    `IllFormed` if the result is not one single location description, or smaller than the lanes.
    """
    value = first_expression(entry, LANE_PC)
    if value is None:
        return None
    with concerning("DW_AT_LLVM_lane_pc", entry):
        there = in_unit(context, entry, frames=frames)
        place = _single(_location_or_value(value, entry, there))
        bits = there.architecture.address_bits
        count = lanes(entry, 0)
        if not count:
            count = min(context.lanes, place.remaining // bits)
        elif place.remaining < bits * count:
            raise IllFormed(
                f"the result has only {place.remaining} bits: too few for {count} lanes of {bits} bits each"
            )
        return place.read_elements(bits, min(count, context.lanes))


def active_lane(entry: Die, context: Context, frames: FrameTable | None = None) -> int | None:
    """DW_AT_LLVM_active_lane: the mask of active lanes, lane 0 lowest (A.3.3.5 (6)); None without the attribute.

    It has as many bits as the context has lanes. `IllFormed` if the result is not one single location description, or
    smaller than DW_AT_LLVM_lanes.
    """
    value = first_expression(entry, ACTIVE_LANE)
    if value is None:
        return None
    with concerning("DW_AT_LLVM_active_lane", entry):
        place = _single(_location_or_value(value, entry, in_unit(context, entry, frames=frames)))
        count = lanes(entry, 0)
        if place.remaining < count:
            raise IllFormed(f"the result has only {place.remaining} bits, fewer than one for each of {count} lanes")
        return place.read(context.lanes)


def _location_or_value(value: Exprloc | Loclist, entry: Die, context: Context) -> LocationDescription:
    """The location that an expression gives; in the 2020 proposal, expressions for masks and PCs give values, which are
    converted.
    """
    what = as_written(value, entry.unit)
    if entry.unit.dialect != "proposal2020" or isinstance(value, Loclist):
        return evaluate_location(what, context)
    result = evaluate(what, context)
    if isinstance(result, Value):
        if not isinstance(result.value, int):
            raise IllFormed("the result is not an integer")
        bits = context.architecture.address_bits if result.type is None else result.type.size
        return implicit_location(result.value, bits)
    return result


# -- frames (A.3.3.5 (1) to (3))


def return_addr(
    entry: Die, context: Context, frames: FrameTable | None = None, strict: bool = True
) -> LocationDescription | None:
    """DW_AT_return_addr: where the return address is stored (A.3.3.5 (1)); None without it.

    Raises `IllFormed` if that is not one location in memory. With `strict` False, registers are accepted too, because
    calls on AMD's GPUs leave the return address in registers.
    """
    with concerning("DW_AT_return_addr", entry):
        value = needed_expression(entry, At.RETURN_ADDR)
        if value is None:
            return None
        found = _located(value, entry, in_unit(context, entry, frames=frames))
        return _in_memory(found) if strict else found


def static_link(entry: Die, context: Context, frames: FrameTable | None = None) -> LocationDescription | None:
    """DW_AT_static_link: the CFA of the frame of the subprogram that encloses a nested one (A.3.3.5 (3)); None without
    it.

    `IllFormed` if that is not one location in memory.
    """
    with concerning("DW_AT_static_link", entry):
        value = needed_expression(entry, At.STATIC_LINK)
        return None if value is None else _in_memory(_located(value, entry, in_unit(context, entry, frames=frames)))


def frame_base(entry: Die, context: Context, frames: FrameTable | None = None) -> LocationDescription | None:
    """DW_AT_frame_base: a memory location (A.3.3.5 (2)); None without the attribute.

    `IllFormed` if the expression uses `DW_OP_fbreg` or does not give one location in memory or a register.
    """
    with concerning("DW_AT_frame_base", entry):
        there = in_unit(context, entry, frames=frames)
        what = frame_base_expression(entry, wave_size_of(there))
        return None if what is None else evaluate_frame_base(there, entry.unit.conventions.dialect, what)


# -- objects (A.4)


def location(entry: Die, context: Context, frames: FrameTable | None = None) -> LocationDescription:
    """DW_AT_location, else DW_AT_const_value as an implicit location, of an object or a common block (A.4.1, A.4.2).

    Undefined if the entry has neither: the object was optimized out.
    """
    with concerning("DW_AT_location", entry):
        if values_of(entry, At.LOCATION):
            there, size = in_unit(context, entry, frames=frames), _size_of(entry)
            what = location_expression(entry, wave_size_of(there), size or None)
            assert what is not None
            return located(entry, what, there, size)
    with concerning("DW_AT_const_value", entry):
        content = next((constant_content(value) for value in values_of(entry, At.CONST_VALUE)), None)
        return undefined_location() if content is None else const_location(content)


def location_ranges(entry: Die, context: Context) -> list[tuple[int | None, int | None, str]]:
    """Where DW_AT_location states a place, and the expression that does (A.2.5.5): first address, end, text.

    Both addresses are None for the default entry, which applies where no other does.
    """
    with concerning("DW_AT_location", entry):
        what = location_expression(entry, wave_size_of(context), _size_of(entry) or None)
        if what is None:
            return []
        parts = list(what) if isinstance(what, LocationList) else [(None, None, what.data)]
        dialect = what.dialect or entry.unit.dialect
        return [(low, high, format_expression(data, dialect)) for low, high, data in parts]


def located(entry: Die, what: ExpressionLike, context: Context, size: int = 0) -> LocationDescription:
    """Where an object of `size` bytes is, given its prepared location and its unit's context (A.4.1)."""
    with concerning("DW_AT_location", entry):
        return entry.unit.conventions.extent(evaluate_location(what, context), size)


def _size_of(entry: Die) -> int:
    """Size of an object in bytes, 0 if not known."""
    for die in entry.origins():
        if die.has(At.TYPE):
            return entry.unit.entries.types.type_of(die).size or 0
    return 0


def memory_space(entry: Die) -> int:
    """DW_AT_LLVM_memory_space of an object, pointer or reference (A.4.1 (3), A.5.3); 0 without it."""
    with concerning("DW_AT_LLVM_memory_space", entry):
        return _constant(entry, MEMORY_SPACE) or 0


def address_space(entry: Die) -> int:
    """The DWARF address space of a pointer, reference or address type (A.5.1 (2), A.5.3); 0 without one.

    A DW_AT_address_class means the space that its producer means by it.
    """
    with concerning("DW_AT_LLVM_address_space", entry):
        number = _constant(entry, (At.LLVM22_ADDRESS_SPACE,))
    if number is not None:
        return number
    with concerning("DW_AT_address_class", entry):
        number = _constant(entry, (At.ADDRESS_CLASS,))
        return 0 if number is None else entry.unit.conventions.address_space(number)


def _constant(entry: Die, codes: Iterable[int]) -> int | None:
    for code in codes:
        for value in values_of(entry, code):
            if isinstance(value, Constant):
                return value.value
    return None


# -- types (A.5)


def vector_size(entry: Die) -> int | None:
    """DW_AT_LLVM_vector_size: elements of a vector base type (A.5.1 (1)); None for other types.

    `IllFormed` if it is not positive.
    """
    with concerning("DW_AT_LLVM_vector_size", entry):
        number = _constant(entry, VECTOR_SIZE)
        return None if number is None else _positive(number)


def member_location(
    entry: Die, context: Context, containing: LocationDescription, frames: FrameTable | None = None
) -> LocationDescription:
    """Where a member or base class of the entity at `containing` is (A.5.7.3), from whichever attribute gives it.

    DW_AT_data_member_location as a constant or an expression, plus DW_AT_data_bit_offset; without both it is at the
    beginning. The location may be of any kind, in any storage.
    """
    with concerning("DW_AT_data_member_location", entry):
        value = entry.attribute(At.DATA_MEMBER_LOCATION)
        start = containing
        if isinstance(value, Constant):
            start = containing.offset_by(8 * value.value)
        elif isinstance(value, Exprloc | Loclist):
            there = in_unit(context, entry, frames=frames)
            start = evaluate_location(member_expression(value, entry.unit), there, initial=(containing,))
        elif value is not None:
            raise IllFormed(
                f"the attribute must be a constant or an expression, but is of class {type(value).__name__}"
            )
        bits = _constant(entry, (At.DATA_BIT_OFFSET,))
        return start.offset_by(bits) if bits else start


def vtable_elem_location(
    entry: Die, context: Context, containing: LocationDescription, frames: FrameTable | None = None
) -> LocationDescription | None:
    """Where the slot of a virtual function is, for the object at `containing` (A.5.7.8); None without the attribute."""
    with concerning("DW_AT_vtable_elem_location", entry):
        value = needed_expression(entry, At.VTABLE_ELEM_LOCATION)
        return None if value is None else _of_entry(value, entry, context, frames, (containing,))


def use_location(
    entry: Die, context: Context, pointer: Value | int, containing: LocationDescription,
    frames: FrameTable | None = None,
) -> LocationDescription | None:
    """The location, in the object at `containing`, of the member that a pointer to member with this type and value
    selects (A.5.14); None without DW_AT_use_location.
    """
    with concerning("DW_AT_use_location", entry):
        value = needed_expression(entry, At.USE_LOCATION)
        return None if value is None else _of_entry(value, entry, context, frames, (pointer, containing))


def data_location(
    entry: Die, context: Context, about: LocationDescription, frames: FrameTable | None = None
) -> LocationDescription:
    """The location of the data of the object whose descriptor is at `about` (A.5.18.1); `about` without the attribute.
    """
    with concerning("DW_AT_data_location", entry):
        value = needed_expression(entry, At.DATA_LOCATION)
        if value is None:
            return about
        what = property_expression(value, entry.unit, is_location=True)
        return evaluate_location(what, in_unit(context, entry, about, frames))


def property_value(
    entry: Die, code: int, context: Context, about: LocationDescription, initial: Iterable[int] = (),
    frames: FrameTable | None = None,
) -> int | Die | None:
    """A number that an attribute of a type gives for the object at `about`: a bound, a rank, DW_AT_allocated (A.5.18).

    Returns the number, whether the attribute is a constant or an expression (evaluated with `initial` on its stack), or
    the entry of the variable that holds the number; None without the attribute.
    """
    with concerning(attribute_name(code, tag_name(entry.tag)) or f"attribute {code:#x}", entry):
        value = entry.attribute(code)
        if value is None:
            return None
        if isinstance(value, Constant):
            return value.signed_value()
        if isinstance(value, Reference):
            return entry.unit.entries.die(value.offset)
        if not isinstance(value, Exprloc | Loclist):
            raise IllFormed(f"the attribute must give a number, but is of class {type(value).__name__}")
        there = in_unit(context, entry, about, frames)
        what = property_expression(value, entry.unit, is_location=False)
        if isinstance(what, LocationList):
            bits = evaluate_location(what, there).read(64)
            return bits - (1 << 64) if bits >> 63 else bits
        result = evaluate(what, there, "value", initial=initial)
        if not isinstance(result, Value) or not isinstance(result.value, int):
            raise IllFormed("the result is not an integer")
        wraps = result.type is None and result.value >> 63
        return result.value - (1 << 64) if wraps else result.value


def string_length(
    entry: Die, context: Context, about: LocationDescription, frames: FrameTable | None = None
) -> int | Die | None:
    """DW_AT_string_length: the length in characters of the string at `about` (A.5.11), read from the location that the
    attribute gives; None without it.
    """
    with concerning("DW_AT_string_length", entry):
        value = entry.attribute(At.STRING_LENGTH)
        if not isinstance(value, Exprloc | Loclist):
            return property_value(entry, At.STRING_LENGTH, context, about, (), frames)
        # up to DWARF 4, DW_AT_byte_size was the size of the length
        size = entry.number(At.STRING_LENGTH_BYTE_SIZE) or entry.number(At.BYTE_SIZE) or entry.unit.address_size
        bits = entry.number(At.STRING_LENGTH_BIT_SIZE) or 8 * size
        if not 0 < bits <= 64:
            raise EvaluationError(f"a string length that is stored in {bits} bits is not supported")
        what = property_expression(value, entry.unit, is_location=True)
        return evaluate_location(what, in_unit(context, entry, about, frames)).read(bits)


def pointee(
    entry: Die, context: Context, pointer: LocationDescription, frames: FrameTable | None = None
) -> LocationDescription:
    """The object to which a pointer or reference points that has this type and is stored at `pointer` (A.5.3).

    The size of the pointer is that of addresses in its address space. Raises `EvaluationError` if an implicit pointer
    does not point into the space of its type, and for a space that the architecture does not have.
    """
    number = address_space(entry)
    with concerning("DW_AT_LLVM_address_space", entry):
        return pointed_to(in_unit(context, entry, frames=frames), pointer, number)


def pointed_to(
    context: Context, pointer: LocationDescription, number: int, size: int | None = None, strict: bool = True
) -> LocationDescription:
    """The object to which the pointer at a location points, whose type points into address space `number` (A.5.3).

    `size` is the pointer's in bytes, by default that of the space's addresses. Raises `EvaluationError` as `pointee`
    does; unless `strict`, an implicit pointer that does not name an address space may point into any.
    """
    space = context.architecture.address_spaces.get(number)
    if space is None:
        raise EvaluationError(f"{context.architecture.name} has no address space {number:#x}")
    bits = 8 * size if size else space.address_bits
    if not strict and pointer.places and pointer.places[0].kind is StorageKind.IMPLICIT_POINTER:
        bits = pointer.remaining  # a pointer by DW_OP_implicit_pointer has the size of the default address space
    value = evaluate(assemble(("deref_size", bits // 8)), context, "value", initial=(pointer,))
    assert isinstance(value, Value)
    if isinstance(value, ImplicitPointerValue):
        own = value.address_space
        if own != number and (own or strict):  # without DW_OP_LLVM_aspace_implicit_pointer there is no named space
            raise EvaluationError(
                f"the implicit pointer to the object of DIE {value.die:#x} points into "
                f"{_space_words(context, own)}, but pointers of its type point into {_space_words(context, number)}"
            )
        return dereference(value, context)
    return evaluate_location(assemble(("constu", number), "form_aspace_address"), context, initial=(value,))


def _space_words(context: Context, number: int) -> str:
    space = context.architecture.address_spaces.get(number)
    return f"address space {number:#x}" + (f" ({space.name})" if space is not None else "")


# -- calls (A.3.4.2)


def call_value(entry: Die, context: Context, frames: FrameTable | None = None) -> Value | None:
    """DW_AT_call_value of a call site parameter, in the context of the caller (A.3.4.2); None without it."""
    return _value(entry, CALL_VALUE, "DW_AT_call_value", context, frames)


def call_data_value(entry: Die, context: Context, frames: FrameTable | None = None) -> Value | None:
    """DW_AT_call_data_value: the value that a parameter passed by reference refers to (A.3.4.2); None without it."""
    return _value(entry, (At.CALL_DATA_VALUE, At.GNU_CALL_SITE_DATA_VALUE), "DW_AT_call_data_value", context, frames)


def call_data_location(entry: Die, context: Context, frames: FrameTable | None = None) -> LocationDescription | None:
    """DW_AT_call_data_location: where the referenced parameter lives during the call (A.3.4.2); None without it."""
    with concerning("DW_AT_call_data_location", entry):
        value = needed_expression(entry, At.CALL_DATA_LOCATION)
        return None if value is None else _of_entry(value, entry, context, frames, ())


def call_target(entry: Die, context: Context, frames: FrameTable | None = None) -> int | None:
    """DW_AT_call_target (or DW_AT_call_target_clobbered) of a call site: the address called (DWARF 5, 3.4.1).

    None without either. If the attribute gives the register or memory that contains the address, the address is read
    from there.
    """
    with concerning("DW_AT_call_target", entry):
        value = first_expression(entry, (At.CALL_TARGET, At.CALL_TARGET_CLOBBERED, At.GNU_CALL_SITE_TARGET))
        if value is None:
            return None
        there = in_unit(context, entry, frames=frames)
        result = evaluate(as_written(value, entry.unit), there)
        if isinstance(result, Value):
            if isinstance(result.value, int) and not isinstance(result, ImplicitPointerValue):
                return result.value
            raise IllFormed("the result is not an address")
        place = result.memory
        if place is not None and place.address is not None:
            return place.address
        return result.read(there.architecture.address_bits)


def _value(
    entry: Die, codes: Iterable[int], name: str, context: Context, frames: FrameTable | None
) -> Value | None:
    with concerning(name, entry):
        value = first_expression(entry, codes)
        if value is None:
            return None
        result = evaluate(as_written(value, entry.unit), in_unit(context, entry, frames=frames), "value")
        if not isinstance(result, Value):
            raise IllFormed("the attribute must give a value, but is a location list")
        return result


# -- kinds of results


def _located(value: Exprloc | Loclist, entry: Die, context: Context) -> LocationDescription:
    what = entry.unit.entries.expressions.location(value, entry.unit, wave_size_of(context))
    return evaluate_location(what, context)


def _of_entry(
    value: Exprloc | Loclist, entry: Die, context: Context, frames: FrameTable | None,
    initial: Iterable[Value | LocationDescription | int],
) -> LocationDescription:
    return evaluate_location(as_written(value, entry.unit), in_unit(context, entry, frames=frames), initial=initial)


def _single(found: LocationDescription) -> LocationDescription:
    if len(found.places) != 1:
        raise IllFormed(f"the result must be a single location, but is {found.describe()}")
    return found


def _in_memory(found: LocationDescription) -> LocationDescription:
    if _single(found).places[0].kind is not StorageKind.MEMORY:
        raise IllFormed(f"the result must be a location in memory, but is {found.describe()}")
    return found


def _positive(number: int) -> int:
    if number <= 0:
        raise IllFormed(f"the value is {number}, but must be greater than 0")
    return number
