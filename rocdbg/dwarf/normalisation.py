"""Upstream clang's location expressions for AMDGPU, put into the form the text gives them.

Up to LLVM 22, upstream clang describes GPU variables with DWARF 5 operations only, by conventions of its own:

* an expression (or a piece of one) ends in `DW_OP_lit<AS>, DW_OP_swap, DW_OP_xderef`, which is no
  load but names the address space of the location;
* `DW_OP_fbreg N` means the private memory of the focused lane at frame base + N, whatever AS says (HIP: 1);
* `DW_OP_bregx R+0` and a bare `DW_OP_regx R` mean that the variable is *in* R; a vector register holds a dword
  per lane, and that of the focused lane is meant; a mask of 16 bits behind it, and before that a shift by 16,
  mean a half of R. `DW_OP_bit_piece` behind a bare R chooses among all of its bits where it is none that upstream
  would write: whole bytes from bit 0, or bits of another lane;
* without a named space (flang), `DW_OP_fbreg N` and `DW_OP_bregx s32/s33+N` are the focused lane's private memory
  too, and what is loaded from there is a generic pointer;
* without a named space `DW_OP_bregx R+0, DW_OP_piece 4, DW_OP_bregx R+1+0, DW_OP_piece 4` is a place that the pair
  points to;
* a structured binding goes on behind the address space, from the object to its part;
* with `DW_OP_stack_value` behind the address space, what comes before computes the value;
* `DW_AT_frame_base` is the frame or stack pointer, s33 or s32. Where scratch is accessed through a buffer
  descriptor it holds an offset into the wave's memory, bytes times the wavefront size; where scratch
  is flat, the lane's own.

Nothing after this step needs to know of these conventions: the result follows the text, in dialect "amd".
Expressions that already do are returned as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rocdbg.dwarf.architecture import architecture_by_name
from rocdbg.dwarf.decoding import Operation, decode
from rocdbg.dwarf.encoding import Item, assemble, encode_operation
from rocdbg.dwarf.errors import DwarfError

__all__ = ["based_register", "in_focused_lane", "normalise"]

_STACK_POINTERS = (64, 65)
"""s32 and s33: stack and frame pointer of the calling convention."""
_PRIVATE_LANE = 5
_LANE_BITS = 32
_GENERIC = 1
_ARCHITECTURE = "amdgcn_gfx125"
"""The one with all registers: those of others mean the same."""
_PIECES = frozenset({"piece", "bit_piece"})
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_FROM_OBJECT = frozenset({"plus_uconst", "deref", "deref_size"})
_PART_OPERATIONS = _FROM_OBJECT | {"constu", "shl", "shr", "shra"}
"""What upstream writes behind an object's address space in the location of a structured binding; first one of the
three, last those that take a bit-field from its bytes."""


def normalise(
    data: bytes, target: str, *, wave_size: int | None = None, frame_base: bool | None = None
) -> bytes:
    """An upstream clang location expression for AMDGPU in clean "amd" form (A.2.5.4.4).

    `target` is the processor ("gfx90a"; target features after ":" are ignored). `wave_size` (32 or 64) is the
    code's, by default the processor's usual one. `frame_base` says whether the expression is a
    DW_AT_frame_base; by default one that is just s32 or s33 is taken for one. Raises `DecodeError` for
    bytes that are no expression and `DwarfError` for a target that is no AMDGPU processor.
    """
    return _normalised(bytes(data), target, wave_size, frame_base)


@lru_cache(maxsize=4096)
def _normalised(data: bytes, target: str, wave_size: int | None, frame_base: bool | None) -> bytes:
    operations = decode(data, "llvm22")
    if frame_base is None:
        frame_base = len(operations) == 1
    register = operations[0].register if frame_base and len(operations) == 1 else None
    if register in _STACK_POINTERS:
        return _frame_pointer(register, target, wave_size)
    pointer = _pointer_in_pieces(operations)
    if pointer is not None:
        return pointer
    # Pieces are described one by one.
    out: list[bytes] = []
    start = 0
    for i, operation in enumerate(operations):
        if operation.info.meaning in ("piece", "bit_piece"):
            body = operations[start:i]
            out.append(_raw(body[0]) if _is_of_all_lanes(body, operation) else _part(body, target, wave_size))
            out.append(_piece(operation, body))
            start = i + 1
    out.append(_part(operations[start:], target, wave_size))
    return b"".join(out)


@lru_cache(maxsize=4096)
def in_focused_lane(data: bytes, dialect: str) -> bytes:
    """A location with the focused lane's dword wherever it, or a piece of it, is a whole vector register.

    By the text that is lane 0's dword; AMD's compilers mean every lane's own. Raises `DecodeError`.
    """
    operations = decode(data, dialect)
    out: list[bytes] = []
    for before, operation, behind in zip((None, *operations), operations, (*operations[1:], None), strict=False):
        alone = all(other is None or other.info.meaning in _PIECES for other in (before, behind))
        alone = alone and not (behind and _is_of_all_lanes((operation,), behind))
        register = operation.register if alone else None
        if register is not None and _is_vector(register):
            out.append(assemble(*_register_location(register), dialect=dialect))
        else:
            out.append(_raw(operation))
    return b"".join(out)


def _raw(operation: Operation) -> bytes:
    return encode_operation(operation.info, operation.operands)


def _is_of_all_lanes(body: Sequence[Operation], piece: Operation) -> bool:
    """Whether a piece is of a register as a whole: a saved mask in a vector register is in lanes of their own."""
    if len(body) != 1 or body[0].register is None or piece.info.meaning != "bit_piece":
        return False
    size, offset = piece.operands
    assert isinstance(size, int)
    assert isinstance(offset, int)
    return (size % 8 == 0 and offset == 0) or size + offset > _LANE_BITS


def _piece(piece: Operation, body: Sequence[Operation]) -> bytes:
    """The operation that makes a piece of what a body says.

    For an upper half of a register upstream gives the half's offset twice, in the body and in the piece.
    """
    half = _half_register(body[:-3]) if body and body[-1].info.meaning == "xderef" else None
    if half is not None and piece.info.meaning == "bit_piece" and piece.operands[1] == half[1]:
        return assemble(("bit_piece", piece.operands[0], 0))
    return _raw(piece)


def based_register(operation: Operation) -> tuple[int, int] | None:
    """Register and displacement of a `DW_OP_breg*`."""
    meaning = operation.info.meaning
    if meaning == "bregx":
        number, displacement = operation.operands
    elif re.fullmatch(r"breg[0-9]+", meaning):
        number, displacement = int(meaning[4:]), operation.operands[0]
    else:
        return None
    assert isinstance(number, int)
    assert isinstance(displacement, int)
    return number, displacement


def _is_vector(register: int) -> bool:
    """Whether a DWARF register is a VGPR or AGPR of either wavefront size."""
    return register >= 0 and architecture_by_name(_ARCHITECTURE).register_elements(register) > 1


def _part(operations: Sequence[Operation], target: str, wave_size: int | None) -> bytes:
    """One expression, or what stands before one piece."""
    unchanged = b"".join(_raw(operation) for operation in operations)
    meanings = [operation.info.meaning for operation in operations]
    is_value = bool(meanings) and meanings[-1] == "stack_value"
    end = len(operations) - is_value
    behind = meanings.index("xderef") + 1 if "xderef" in meanings else end
    is_part = 3 < behind < end and meanings[behind - 2] == "swap" and meanings[behind] in _FROM_OBJECT
    if is_part and _PART_OPERATIONS.issuperset(meanings[behind:end]):
        return _part(operations[:behind], target, wave_size) + _part_of_object(operations[behind:])
    if end < 3 or meanings[end - 2 : end] != ["swap", "xderef"]:
        on_stack = bool(operations) and (meanings[0] == "fbreg" or _stack_slot(operations[0]) is not None)
        if on_stack and _PART_OPERATIONS.issuperset(meanings[1:end]):
            return _without_space(operations, target, wave_size)
        register = operations[0].register if len(operations) == 1 else None
        return unchanged if register is None or not _is_vector(register) else assemble(*_register_location(register))
    space = operations[end - 3].literal
    body = operations[: end - 3]
    if space is None or not body:
        return unchanged
    if is_value:
        return _computed(body) + _raw(operations[-1])
    return _location(body, space, target, wave_size)


def _pointer_in_pieces(operations: Sequence[Operation]) -> bytes | None:
    """A place that a pair of registers points to, of which each is a piece: by a compiler that names no spaces.

    With one of the two it is not known where the object is.
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
        return assemble("undefined")
    low, high = registers
    if high != low + 1:
        return None
    halves: list[Item] = [*_read_register(high), ("const1u", 32), "shl", *_read_register(low), "plus"]
    return assemble(*halves, f"lit{_GENERIC}", "form_aspace_address")


def _stack_slot(operation: Operation) -> tuple[int, int] | None:
    """Stack or frame pointer, and the distance from it."""
    based = based_register(operation)
    return based if based is not None and based[0] in _STACK_POINTERS else None


def _without_space(operations: Sequence[Operation], target: str, wave_size: int | None) -> bytes:
    """A place on the stack, and the way from there, by a compiler that names no address spaces (flang)."""
    first = _raw(operations[0])
    slot = _stack_slot(operations[0])
    if slot is not None:
        pointer = _lane_offset(slot[0], target, wave_size)
        first = assemble(*pointer, *_plus(slot[1]), f"lit{_PRIVATE_LANE}", "form_aspace_address")
    return first + _part_of_object(operations[1:])


def _part_of_object(operations: Sequence[Operation]) -> bytes:
    """What follows the object's location in that of a structured binding: the way to its part.

    Where the binding refers to the object, a generic pointer to it is loaded first. Of nothing it is nothing.
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


def _read_register(register: int) -> list[Item]:
    """Push the register's contents: of a vector register the focused lane's dword."""
    if not _is_vector(register) and architecture_by_name(_ARCHITECTURE).register_size(register) == 8:
        return [("regx", register), "deref"]
    return [*_register_location(register), ("deref_size", 4)]


def _register_location(register: int) -> list[Item]:
    if _is_vector(register):
        return [("regx", register), "push_lane", "lit4", "mul", "offset"]
    return [("regx", register)]


def _plus(displacement: int) -> list[Item]:
    if displacement > 0:
        return [("plus_uconst", displacement)]
    return [("consts", displacement), "plus"] if displacement else []


def _computed(operations: Sequence[Operation]) -> bytes:
    """A computed value. Behind a conversion upstream goes on with untyped constants: they take its type."""
    out: list[bytes] = []
    type_: bytes | None = None
    for operation in operations:
        out.append(_value(operation))
        if operation.info.meaning == "convert":
            type_ = _raw(operation) if operation.operands != (0,) else None
        elif based_register(operation) is not None or operation.info.meaning in _COMPARISONS:
            type_ = None
        elif type_ is not None and operation.literal is not None:
            out.append(type_)
    return b"".join(out)


def _value(operation: Operation) -> bytes:
    """An operation of a computed value: a based register there means its contents."""
    based = based_register(operation)
    if based is None:
        return _raw(operation)
    register, displacement = based
    return assemble(*_read_register(register), *_plus(displacement))


def _location(body: Sequence[Operation], space: int, target: str, wave_size: int | None) -> bytes:
    first = body[0]
    meaning = first.info.meaning
    based = based_register(first)
    if meaning in ("addr", "addrx") and space in (0, 1) and len(body) == 1:
        return _raw(first)  # a generic pointer to a global is a global address
    if meaning == "fbreg":
        return _frame_location(body)
    half = _half_register(body)
    if half is not None:
        register, first_bit = half
        offset: list[Item] = [f"lit{first_bit}", "bit_offset"] if first_bit else []
        return assemble(*_register_location(register), *offset)
    if based is not None and len(body) == 1:
        register, displacement = based
        if not displacement:
            return assemble(*_register_location(register))
        if register in _STACK_POINTERS:
            pointer = _lane_offset(register, target, wave_size)
        else:
            pointer = _read_register(register)
        return assemble(*pointer, *_plus(displacement), f"lit{_PRIVATE_LANE}", "form_aspace_address")
    if space == 1:
        # Upstream calls everything generic in HIP; addresses of code object symbols are global.
        space = 0 if any(op.info.meaning in ("addr", "addrx") for op in body) else _PRIVATE_LANE
    address = b"".join(_value(operation) for operation in body)
    return address + assemble(("constu", space) if space > 31 else f"lit{space}", "form_aspace_address")


def _half_register(body: Sequence[Operation]) -> tuple[int, int] | None:
    """The register and first bit of a variable in 16 bits of a register: the register, shifted and masked."""
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


def _frame_location(body: Sequence[Operation]) -> bytes:
    """A location at the frame base, and what is computed from it.

    The frame base is a location in private memory: moving it is an offset operation, and a pointer that is
    loaded from it is a private one of 4 bytes.
    """
    out = [_raw(body[0])]
    is_location = True
    i = 1
    while i < len(body):
        operation = body[i]
        meaning = operation.info.meaning
        following = body[i + 1].info.meaning if i + 1 < len(body) else ""
        i += 1
        if not is_location:
            out.append(_value(operation))
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
            out.append(_value(operation))
            is_location = is_location and meaning not in ("deref_size", "deref_type")
    if not is_location:
        out.append(assemble(f"lit{_PRIVATE_LANE}", "form_aspace_address"))
    return b"".join(out)


def _frame_pointer(register: int, target: str, wave_size: int | None) -> bytes:
    """The frame base as a location in the focused lane's private memory."""
    pointer = _lane_offset(register, target, wave_size)
    return assemble(*pointer, f"lit{_PRIVATE_LANE}", "form_aspace_address")


def _lane_offset(register: int, target: str, wave_size: int | None) -> list[Item]:
    """Push the lane's own offset that a stack or frame pointer stands for."""
    processor = architecture_by_name(_ARCHITECTURE).processor(target.partition(":")[0])
    if processor is None:
        raise DwarfError(f"'{target}' is not an AMDGPU processor")
    items: list[Item] = [("regx", register), ("deref_size", 4)]
    if processor.swizzled_stack:
        size = wave_size or processor.wave_size
        items += [f"lit{size.bit_length() - 1}", "shr"]
    return items
