"""Rewrites, into the form of the specification, expressions that use an object's location as if it were a number.

`DW_OP_push_object_address, DW_OP_plus_uconst 24, DW_OP_deref` adds to an address. According to the specification, an
address is a value only in the default address space; in another space, such as that of a GPU's stack, the object's
location has to be moved instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from rocdbg.dwarf.decoding import Operation, decode
from rocdbg.dwarf.operation_assembler import assemble, encode_operation

__all__ = ["about_object"]

_GENERIC = 1
_PUSHES = frozenset({
    "addr", "addrx", "constx", "const1u", "const1s", "const2u", "const2s", "const4u", "const4s", "const8u", "const8s",
    "constu", "consts", "push_lane",
})
_UNARY = frozenset({"abs", "neg", "not", "nop"})
_BINARY = frozenset({
    "and", "or", "xor", "mul", "div", "mod", "shl", "shr", "shra", "eq", "ne", "lt", "le", "gt", "ge",
})
_LOADS = frozenset({"deref", "deref_size"})


class _OtherError(Exception):
    """The expression cannot be rewritten, because the contents of the stack are not known."""


@lru_cache(maxsize=1024)
def about_object(data: bytes, dialect: str, is_location: bool) -> bytes:
    """The expression, rewritten to move a location where it adds to one, and to treat loads and (with ``is_location``)
    results as generic pointers. Other expressions are returned unchanged. Raises `DecodeError`.
    """
    operations = decode(data, dialect)
    if not any(operation.info.meaning == "push_object_address" for operation in operations):
        return data
    stack: list[bool] = []  # for each entry, whether it is a location; entries below these are values
    out: list[bytes] = []
    try:
        for operation in operations:
            out += _step(operation, stack, dialect)
    except _OtherError:
        return data
    if is_location and not (stack and stack[-1]):
        out.append(_generic(dialect))
    return b"".join(out)


def _generic(dialect: str) -> bytes:
    return assemble(f"lit{_GENERIC}", "form_aspace_address", dialect=dialect)


def _pop(stack: list[bool]) -> bool:
    return stack.pop() if stack else False


def _step(operation: Operation, stack: list[bool], dialect: str) -> Iterator[bytes]:
    """Return the operations that replace one operation; updates the stack."""
    meaning = operation.info.meaning
    raw = encode_operation(operation.info, operation.operands)
    if meaning == "push_object_address":
        stack.append(True)
    elif meaning in _PUSHES or operation.literal is not None:
        stack.append(False)
    elif meaning in ("dup", "over"):
        top = _pop(stack)
        below = _pop(stack) if meaning == "over" else top
        stack += [below, top, below] if meaning == "over" else [top, top]
    elif meaning == "swap":
        top, below = _pop(stack), _pop(stack)
        stack += [top, below]
    elif meaning == "drop":
        _pop(stack)
    elif meaning == "plus_uconst":
        if stack and stack[-1]:
            raw = assemble(("offset_uconst", *operation.operands), dialect=dialect)
        else:
            _pop(stack)
            stack.append(False)
    elif meaning in ("plus", "minus"):
        top, below = _pop(stack), _pop(stack)
        if top and below:
            raise _OtherError
        if below:
            raw = assemble(*(["neg"] if meaning == "minus" else []), "offset", dialect=dialect)
        elif top and meaning == "minus":
            raise _OtherError
        elif top:
            raw = assemble("swap", "offset", dialect=dialect)
        stack.append(top or below)
    elif meaning in _LOADS:
        if not _pop(stack):
            yield _generic(dialect)
        stack.append(False)
    elif meaning in _UNARY or meaning in _BINARY:
        count = 0 if meaning == "nop" else 2 if meaning in _BINARY else 1
        operands = [_pop(stack) for _ in range(count)]
        if any(operands):
            raise _OtherError
        stack += [False] * bool(count)
    else:
        raise _OtherError
    yield raw
