"""Handlers of the operations that build composite location descriptions (A.2.5.4.4.6): pieces, vectors and overlays."""

from __future__ import annotations

from rocdbg.dwarf.composite_storage import check_part, repeat, select
from rocdbg.dwarf.errors import IllFormed
from rocdbg.dwarf.location import LocationDescription, Place, undefined_location
from rocdbg.dwarf.stack_machine import Incomplete, Machine, Operands, handles
from rocdbg.dwarf.storage import Storage
from rocdbg.dwarf.typed_values import signed


def _append(m: Machine, composite: Incomplete, part: LocationDescription, bits: int) -> None:
    check_part(part, bits)
    composite.size += bits
    if composite.size > m.architecture.largest_storage:
        raise IllFormed(f"a composite location of {composite.size} bits is larger than the largest address space")
    composite.parts.append((part, bits))


def _piece_bits(m: Machine, bits: int, displacement: int | None) -> None:
    stack = m.stack
    top = stack[-1] if stack else None
    if top is None:
        composite = Incomplete()
        _append(m, composite, undefined_location(), bits)
        stack.append(composite)
        return
    if isinstance(top, Incomplete):
        _append(m, top, undefined_location(), bits)
        return
    part = m.pop_location()
    if displacement is not None:
        part = part.offset_by(displacement)
    below = stack[-1] if stack else None
    if isinstance(below, Incomplete):
        _append(m, below, part, bits)
        return
    composite = Incomplete()
    _append(m, composite, part, bits)
    stack.append(composite)


@handles("piece")
def _piece(m: Machine, operands: Operands) -> None:
    size = operands[0]
    assert isinstance(size, int)
    _piece_bits(m, 8 * size, None)


@handles("bit_piece")
def _bit_piece(m: Machine, operands: Operands) -> None:
    bits, displacement = operands
    assert isinstance(bits, int)
    assert isinstance(displacement, int)
    _piece_bits(m, bits, signed(displacement, m.bits))


@handles("piece_end")
def _piece_end(m: Machine, operands: Operands) -> None:
    top = m.stack[-1] if m.stack else None
    if not isinstance(top, Incomplete):
        raise IllFormed("there is no incomplete composite location on the stack to complete")
    m.stack[-1] = top.complete()


def _push_composite(m: Machine, storage: Storage) -> None:
    m.stack.append(m.checked(LocationDescription(Place(storage))))


@handles("extend")
def _extend(m: Machine, operands: Operands) -> None:
    element_bits, count = operands
    assert isinstance(element_bits, int)
    assert isinstance(count, int)
    _push_composite(m, repeat(m.pop_location(), element_bits, count))


@handles("select_bit_piece")
def _select_bit_piece(m: Machine, operands: Operands) -> None:
    element_bits, count = operands
    assert isinstance(element_bits, int)
    assert isinstance(count, int)
    mask, mask_bits = m.pop_integral("a mask")
    one = m.pop_location()
    zero = m.pop_location()
    _push_composite(m, select(zero, one, mask, mask_bits, element_bits, count))


def _overlay_bits(m: Machine, scale: int) -> None:
    size = scale * m.pop_signed("an overlay size")
    start = scale * m.pop_signed("an overlay offset")
    overlay = m.pop_location()
    base = m.pop_location()
    if size < 0 or start < 0:
        raise IllFormed(f"the overlay's size {size // scale} and offset {start // scale} must not be negative")
    remaining = base.remaining
    if remaining < start + size:
        raise IllFormed(f"an overlay of bits {start}..{start + size} exceeds the base's {remaining} bits")
    if not size:
        m.stack.append(base)
        return
    if not start and size == remaining:
        m.stack.append(overlay)
        return
    result = Incomplete()
    if start:
        _append(m, result, base, start)
    _append(m, result, overlay, size)
    rest = remaining - start - size
    if rest:
        _append(m, result, base.offset_by(start + size), rest)
    m.stack.append(result.complete())


@handles("overlay")
def _overlay(m: Machine, operands: Operands) -> None:
    _overlay_bits(m, 8)


@handles("bit_overlay")
def _bit_overlay(m: Machine, operands: Operands) -> None:
    _overlay_bits(m, 1)
