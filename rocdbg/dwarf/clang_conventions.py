"""Rewrites upstream clang's location expressions for AMDGPU into the form of the specification.

Up to LLVM 22, upstream clang describes GPU variables with DWARF 5 operations only, by conventions of its own:

* an expression (or a piece of one) ends in `DW_OP_lit<AS>, DW_OP_swap, DW_OP_xderef`, which is not a load but names the
  address space of the location;
* `DW_OP_fbreg N` means the private memory of the focused lane at frame base + N, regardless of AS (HIP: 1);
  * `DW_OP_bregx R+0` and a bare `DW_OP_regx R` mean that the variable is *in* R; for a vector register, which holds a
    dword per lane, the focused lane's dword is meant. A 16-bit mask after it means the lower half of R; a right shift
    by 16 before the mask means the upper half. `DW_OP_bit_piece` after a bare R selects from all bits of R if upstream
    itself would not write this piece in this way: if the piece consists of whole bytes from bit 0, or of bits of
    another lane;
* without a named space (flang), `DW_OP_fbreg N` and `DW_OP_bregx s32/s33+N` are the focused lane's private memory
  too, and a pointer loaded from there is generic;
* without a named space `DW_OP_bregx R+0, DW_OP_piece 4, DW_OP_bregx R+1+0, DW_OP_piece 4` is the place to which the
  pair points;
* up to clang 18 `DW_OP_regx R, DW_OP_piece 4, DW_OP_regx R+1, DW_OP_piece 4, ...` with three or more vector registers
  may be an array that was promoted to a vector; only the first register can be relied on;
* for a structured binding, operations after the address space lead from the object to its part;
* with `DW_OP_stack_value` after the address space, the operations before it compute the value;
* `DW_AT_frame_base` is the frame or stack pointer, s33 or s32. Where scratch is accessed through a buffer descriptor,
  it holds an offset into the wave's memory: the lane's offset in bytes, times the wavefront size. Where scratch is
  flat, it holds the lane's own offset.

Code after this step need not know these conventions: the result follows the specification, in dialect "amd".
Expressions that already do so are returned unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rocdbg.dwarf.architecture import architecture_by_name
from rocdbg.dwarf.decoding import Operation, decode
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.lane_values import (
    ARCHITECTURE,
    LANE_BITS,
    based_register,
    computed_value,
    is_vector,
    is_wide,
    plus,
    read_register,
    reads_register,
    register_location,
)
from rocdbg.dwarf.operation_assembler import Item, assemble, encode_operation
from rocdbg.dwarf.operation_table import LLVM_USER

__all__ = ["in_focused_lane", "normalise"]

_STACK_POINTERS = (64, 65)
"""s32 and s33: stack and frame pointer of the calling convention."""
_PRIVATE_LANE = 5
_LOCAL, _OLD_LOCAL = 3, 2
_GENERIC = 1
_FEWEST_LANES = 32
"""The fewest lanes that a wave has."""
_FEWEST_IN_TUPLE = 3
"""Tuples have at least three registers here: LLVM also describes the halves of a small class by a pair, and does so
correctly.
"""
_PIECES = frozenset({"piece", "bit_piece"})
_FROM_OBJECT = frozenset({"plus_uconst", "deref", "deref_size"})
_PART_OPERATIONS = _FROM_OBJECT | {"constu", "shl", "shr", "shra"}
"""The operations that upstream writes after an object's address space in the location of a structured binding: first
one of `_FROM_OBJECT`, finally those that extract a bit-field.
"""
_UNKNOWN = assemble("undefined")
"""The expression for an object whose location in the lane cannot be known."""


def normalise(
    data: bytes, target: str, *, wave_size: int | None = None, frame_base: bool | None = None,
    size: int | None = None, aggregate: bool = False, split_tuples: bool = False, old_spaces: bool = False
) -> bytes:
    """An upstream clang location expression for AMDGPU, rewritten into standard "amd" form (A.2.5.4.4).

    `target` is the processor ("gfx90a"; target features after ":" are ignored). `wave_size` (32 or 64) is the wavefront
    size of the code, by default the processor's usual one. `frame_base` says whether the expression is a
    DW_AT_frame_base; by default an expression that is just s32 or s33 counts as one. `size` is the object's in bytes;
    if it is not given, the object is assumed to fit where the expression puts it. `aggregate` means that the object is
    a class, union or array. If such an object is not in pieces and an address space follows a register, the object is
    where the register points: LLVM keeps such objects in memory, which may be LDS, and describes all others by their
    values. `split_tuples` means that of an aggregate in a tuple of three or more vector registers, only the first
    register can be relied on. `old_spaces` means that space 2 is local memory, as in clang up to version 21. Raises
    `DecodeError` for bytes that are not an expression and `DwarfError` for a target that is not an AMDGPU processor.
    """
    bits = 8 * size if size else None
    data = bytes(data)
    if old_spaces:
        data = _renumbered(data)
    return _normalised(data, target, wave_size, frame_base, bits, aggregate, aggregate and split_tuples)


@lru_cache(maxsize=4096)
def _renumbered(data: bytes) -> bytes:
    """Return an expression in which local memory has the specification's number. Private memory had number 1, which
    means generic addresses today; what the expression addresses distinguishes the two.
    """
    operations = decode(data, "llvm22")
    meanings = [operation.info.meaning for operation in operations]
    places = [i for i in range(len(operations) - 2) if meanings[i + 1 : i + 3] == ["swap", "xderef"]]
    if not any(operations[i].literal == _OLD_LOCAL for i in places):
        return data
    return b"".join(
        assemble(f"lit{_LOCAL}") if i in places and operation.literal == _OLD_LOCAL else _raw(operation)
        for i, operation in enumerate(operations)
    )


@lru_cache(maxsize=4096)
def _normalised(
    data: bytes, target: str, wave_size: int | None, frame_base: bool | None, size: int | None, aggregate: bool,
    split_tuple: bool,
) -> bytes:
    operations = decode(data, "llvm22")
    if frame_base is not False and len(operations) == 1:
        register = operations[0].register
        displaced = (register, 0) if register is not None else based_register(operations[0])
        in_vector = bool(frame_base) and displaced is not None and is_vector(displaced[0])
        if displaced is not None and (in_vector or register in _STACK_POINTERS):
            return _frame_pointer(*displaced, target, wave_size)
    pointer = _pointer_in_pieces(operations)
    if pointer is not None:
        return pointer
    if split_tuple and (pieces := _tuple_pieces(operations)):
        return _part(operations[:1], LANE_BITS, target, wave_size) + assemble(("piece", 4), ("piece", 4 * (pieces - 1)))
    # Pieces are described one by one.
    out: list[bytes] = []
    start = 0
    for i, operation in enumerate(operations):
        if operation.info.meaning in _PIECES:
            body = operations[start:i]
            if _is_of_all_lanes(body, operation):
                out += [_raw(body[0]), _piece(operation, body)]
            else:
                bits = operation.piece_bits
                out += [_part(body, bits, target, wave_size), _register_piece(operation, body, bits)]
            start = i + 1
    out.append(_part(operations[start:], size, target, wave_size, aggregate))
    return b"".join(out)


def _tuple_pieces(operations: Sequence[Operation]) -> int:
    """Return the number of dwords if the pieces form a tuple of three or more vector registers, otherwise 0.

    LLVM promotes small arrays to vectors. Where clang 14 and 15 keep each element in a register of its own, they
    describe the tuple that begins at the first element's register, although the registers after it have other contents.
    """
    registers, pieces = operations[::2], operations[1::2]
    count = len(pieces)
    first = registers[0].register if registers else None
    if count < _FEWEST_IN_TUPLE or len(registers) != count or first is None or not is_vector(first):
        return 0
    consecutive = [operation.register for operation in registers] == list(range(first, first + count))
    whole = all(piece.info.meaning == "piece" and piece.operands[0] == LANE_BITS // 8 for piece in pieces)
    return count if consecutive and whole else 0


def _register_piece(piece: Operation, body: Sequence[Operation], bits: int) -> bytes:
    """Return the operations of a piece. For a vector register, only the lane's dword is available, because the next
    dword belongs to another lane.
    """
    if bits > LANE_BITS and piece.info.meaning == "piece" and _vector_of(body) is not None:
        return assemble(("bit_piece", LANE_BITS, 0), ("bit_piece", bits - LANE_BITS, 0))
    return _piece(piece, body)


def _vector_of(body: Sequence[Operation]) -> int | None:
    """The vector register that contains a piece."""
    meanings = [operation.info.meaning for operation in body[1:]]
    if not body or (meanings and (len(meanings) != 3 or meanings[1:] != ["swap", "xderef"])):
        return None
    based = based_register(body[0]) if meanings else None
    number = body[0].register if not meanings else based[0] if based is not None and not based[1] else None
    return number if number is not None and is_vector(number) else None


@lru_cache(maxsize=4096)
def in_focused_lane(data: bytes, dialect: str) -> bytes:
    """Return a location with the focused lane's dword wherever the location, or a piece of it, is a whole vector
    register.

    According to the specification, a whole vector register means lane 0's dword; AMD's compilers mean each lane's own.
    Raises `DecodeError`.
    """
    operations = decode(data, dialect)
    if any(operation.code == LLVM_USER for operation in operations):
        return data  # unchanged unless its operations were lost
    out: list[bytes] = []
    for before, operation, behind in zip((None, *operations), operations, (*operations[1:], None), strict=False):
        alone = all(other is None or other.info.meaning in _PIECES for other in (before, behind))
        if alone and behind:
            alone = behind.piece_bits <= LANE_BITS and not _is_of_all_lanes((operation,), behind)
        register = operation.register if alone else None
        if register is not None and is_vector(register):
            out.append(assemble(*register_location(register), dialect=dialect))
        else:
            out.append(_raw(operation))
    return b"".join(out)


def _raw(operation: Operation) -> bytes:
    return encode_operation(operation.info, operation.operands)


def _is_of_all_lanes(body: Sequence[Operation], piece: Operation) -> bool:
    """Whether a piece is taken from all bits of a register, not from the focused lane's dword. A mask saved in a vector
    register occupies specific lanes, and so does an array with as many elements as a wave has lanes.
    """
    if len(body) != 1 or body[0].register is None:
        return False
    if piece.info.meaning == "piece":
        return piece.piece_bits >= LANE_BITS * _FEWEST_LANES
    size, offset = piece.operands
    assert isinstance(size, int)
    assert isinstance(offset, int)
    return (size % 8 == 0 and offset == 0) or size + offset > LANE_BITS


def _piece(piece: Operation, body: Sequence[Operation]) -> bytes:
    """Return the operation that makes a piece of the location that `body` gives.

    For the upper half of a register, upstream states the offset twice, in the body and in the piece.
    """
    half = _half_register(body[:-3]) if body and body[-1].info.meaning == "xderef" else None
    if half is not None and piece.info.meaning == "bit_piece" and piece.operands[1] == half[1]:
        return assemble(("bit_piece", piece.operands[0], 0))
    return _raw(piece)


def _part(
    operations: Sequence[Operation], size: int | None, target: str, wave_size: int | None, aggregate: bool = False
) -> bytes:
    """Rewrites one expression, or the part before one piece, for `size` bits (None: not known)."""
    unchanged = b"".join(_raw(operation) for operation in operations)
    if any(operation.code == LLVM_USER for operation in operations):
        return unchanged
    meanings = [operation.info.meaning for operation in operations]
    is_value = bool(meanings) and meanings[-1] == "stack_value"
    end = len(operations) - is_value
    behind = meanings.index("xderef") + 1 if "xderef" in meanings else end
    is_part = 3 < behind < end and meanings[behind - 2] == "swap" and meanings[behind] in _FROM_OBJECT
    if is_part and _PART_OPERATIONS.issuperset(meanings[behind:end]):
        return _part(operations[:behind], None, target, wave_size) + _part_of_object(operations[behind:])
    body, space = operations[:end], None
    if end > 3 and meanings[end - 2 : end] == ["swap", "xderef"]:
        space = operations[end - 3].literal
        body = body[: end - 3] if space is not None else body
    on_stack = bool(body) and (meanings[0] == "fbreg" or _stack_slot(body[0]) is not None)
    if space is None and on_stack and _PART_OPERATIONS.issuperset(meanings[1:end]):
        return _without_space(operations, target, wave_size)
    if is_value and any(map(reads_register, body)):
        return computed_value(body, size) or _UNKNOWN
    if is_value:
        return b"".join(map(_raw, body)) + _raw(operations[-1])
    if space is not None:
        return _location(body, space, size, target, wave_size, aggregate)
    register = body[0].register if len(body) == 1 else None
    if register is not None:
        return assemble(*register_location(register)) if is_vector(register) else unchanged
    if any(map(_is_address, body)):
        return _UNKNOWN  # the address is in a register, and its space is not stated
    return unchanged


def _is_address(operation: Operation) -> bool:
    """Whether an operation pushes the contents of a 32-bit register, outside a computed value."""
    based = based_register(operation)
    register = operation.register if based is None else based[0]
    if register is None:
        return operation.info.meaning in ("regval_type", "entry_value")
    return not is_wide(register) and (based is not None or is_vector(register))


def _pointer_in_pieces(operations: Sequence[Operation]) -> bytes | None:
    """A place to which a pair of registers, each written as a piece, points: from a compiler that does not name spaces.

    If only one register of the pair is described, the location of the object is not known.
    """
    if len(operations) not in (2, 4):
        return None
    bases = [based_register(operation) for operation in operations[::2]]
    pieces = [(operation.info.meaning, operation.operands) for operation in operations[1::2]]
    if any(piece != ("piece", (4,)) for piece in pieces):
        return None
    registers = [base[0] for base in bases if base is not None and not base[1] and base[0] not in _STACK_POINTERS]
    if len(registers) < len(bases):
        return None
    if len(registers) == 1:
        return _UNKNOWN
    low, high = registers
    if high != low + 1:
        return None
    halves: list[Item] = [*read_register(high), ("const1u", 32), "shl", *read_register(low), "plus"]
    return assemble(*halves, f"lit{_GENERIC}", "form_aspace_address")


def _stack_slot(operation: Operation) -> tuple[int, int] | None:
    """Stack or frame pointer, and the offset from it."""
    based = based_register(operation)
    return based if based is not None and based[0] in _STACK_POINTERS else None


def _without_space(operations: Sequence[Operation], target: str, wave_size: int | None) -> bytes:
    """Rewrite a place on the stack, and operations that continue from there, as written by a compiler that does not
    name address spaces (flang).
    """
    first = _raw(operations[0])
    slot = _stack_slot(operations[0])
    if slot is not None:
        pointer = _lane_offset(slot[0], target, wave_size)
        first = assemble(*pointer, *plus(slot[1]), f"lit{_PRIVATE_LANE}", "form_aspace_address")
    return first + _part_of_object(operations[1:])


def _part_of_object(operations: Sequence[Operation]) -> bytes:
    """Rewrite the operations after an object's location, which lead to the part that a structured binding names.

    If the binding refers to the object, they first load a generic pointer to it.
    """
    generic = assemble(f"lit{_GENERIC}", "form_aspace_address")
    out: list[bytes] = []
    is_location = True
    for operation in operations:
        meaning = operation.info.meaning
        if meaning == "plus_uconst" and is_location:
            out.append(assemble(("offset_uconst", *operation.operands)))
        elif meaning in ("deref", "deref_size"):
            out += [_raw(operation)] if is_location else [generic, _raw(operation)]
            is_location = False
        else:
            out.append(_raw(operation))
    if not is_location and operations and operations[-1].info.meaning != "stack_value":
        out.append(generic)
    return b"".join(out)


def _location(
    body: Sequence[Operation], space: int, size: int | None, target: str, wave_size: int | None, aggregate: bool
) -> bytes:
    first = body[0]
    meaning = first.info.meaning
    based = based_register(first)
    if meaning in ("addr", "addrx") and space in (0, 1) and len(body) == 1:
        return _raw(first)  # a generic pointer to a global is a global address
    if meaning == "fbreg":
        return _stack_location(_raw(first), body[1:])
    half = _half_register(body)
    if half is not None:
        register, first_bit = half
        offset: list[Item] = [f"lit{first_bit}", "bit_offset"] if first_bit else []
        return assemble(*register_location(register), *offset)
    if based is not None and len(body) == 1 and not based[1]:
        if aggregate or (size is not None and size > LANE_BITS and not is_wide(based[0])):
            return _UNKNOWN  # the object's address, or a part of it, is in the register
        return assemble(*register_location(based[0]))
    if based is not None and based[0] in _STACK_POINTERS:
        pointer = [*_lane_offset(based[0], target, wave_size), *plus(based[1])]
        return _stack_location(assemble(*pointer, f"lit{_PRIVATE_LANE}", "form_aspace_address"), body[1:])
    if any(map(reads_register, body)):
        return _UNKNOWN  # private memory, or LDS to which a private array was moved
    if space == 1:
        # In HIP upstream marks everything as generic; addresses of code object symbols are global.
        space = 0 if any(op.info.meaning in ("addr", "addrx") for op in body) else _PRIVATE_LANE
    address = b"".join(map(_raw, body))
    return address + assemble(("constu", space) if space > 31 else f"lit{space}", "form_aspace_address")


def _half_register(body: Sequence[Operation]) -> tuple[int, int] | None:
    """The register and first bit of a variable in 16 bits of a register, which is written as the register, shifted and
    masked; None for other expressions.
    """
    based = based_register(body[0]) if len(body) >= 3 else None
    if based is None or based[1]:
        return None
    meanings = [operation.info.meaning for operation in body]
    if meanings[-1] != "and" or body[-2].literal != 0xFFFF:
        return None
    if len(body) == 3:
        return based[0], 0
    if len(body) == 5 and meanings[2] == "shr" and body[1].literal == 16:
        return based[0], 16
    return None


def _stack_location(base: bytes, operations: Sequence[Operation]) -> bytes:
    """A location on the stack, and a computation from it.

    `base` gives a location in private memory: it is moved with an offset operation, and a pointer loaded from it is a
    4-byte private pointer.
    """
    out = [base]
    is_location = True
    i = 0
    while i < len(operations):
        operation = operations[i]
        meaning = operation.info.meaning
        following = operations[i + 1].info.meaning if i + 1 < len(operations) else ""
        i += 1
        if reads_register(operation):
            return _UNKNOWN
        if not is_location:
            out.append(_raw(operation))
        elif meaning == "plus_uconst":
            out.append(assemble(("offset_uconst", *operation.operands)))
        elif meaning == "deref":
            out.append(assemble(("deref_size", 4)))
            is_location = False
        elif operation.literal is not None and following in ("plus", "minus"):
            out.append(_raw(operation))
            out.append(assemble("offset") if following == "plus" else assemble("neg", "offset"))
            i += 1
        else:
            out.append(_raw(operation))
            is_location = is_location and meaning not in ("deref_size", "deref_type")
    if not is_location:
        out.append(assemble(f"lit{_PRIVATE_LANE}", "form_aspace_address"))
    return b"".join(out)


def _frame_pointer(register: int, displacement: int, target: str, wave_size: int | None) -> bytes:
    """The frame base as a location in the focused lane's private memory."""
    pointer = read_register(register) if is_vector(register) else _lane_offset(register, target, wave_size)
    return assemble(*pointer, *plus(displacement), f"lit{_PRIVATE_LANE}", "form_aspace_address")


def _lane_offset(register: int, target: str, wave_size: int | None) -> list[Item]:
    """Push the lane's own offset, which a stack or frame pointer represents."""
    processor = architecture_by_name(ARCHITECTURE).processor(target.partition(":")[0])
    if processor is None:
        raise DwarfError(f"'{target}' is not an AMDGPU processor")
    items: list[Item] = [("regx", register), ("deref_size", 4)]
    if processor.swizzled_stack:
        size = wave_size or processor.wave_size
        items += [f"lit{size.bit_length() - 1}", "shr"]
    return items
