"""Casts and comparisons of pointers into different address spaces, compiled for any lane by the rules of
`rocdbg.debugger.expr.casting`.
"""

from __future__ import annotations

from rocdbg.arch.address_spaces import AddressSpace, null_address
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.lanes.lane_terms import Term, convert, integer
from rocdbg.debugger.frames.compiled_places import Untranslatable
from rocdbg.debugger.values import c_types
from rocdbg.dwarf.info.types import PointerType, Type
from rocdbg.sim.core.builder import I64, Op
from rocdbg.sim.core.lane_expressions import Node, Require, apply, constant

_FLAT = frozenset({int(AddressSpace.GLOBAL), int(AddressSpace.GENERIC)})


def in_one_space(left: Term, right: Term, environment: Environment) -> tuple[Term, Term]:
    """Return two operands; pointers into different address spaces become generic ones. Raises `Untranslatable`."""
    a, b = left.bare, right.bare
    if not (isinstance(a, PointerType) and isinstance(b, PointerType)):
        return left, right
    spaces = {a.address_class or 0, b.address_class or 0}
    if len(spaces) == 1 or spaces <= _FLAT:
        return left, right
    return _generic(left, a, environment), _generic(right, b, environment)


def pointer_cast(type_: Type, term: Term, environment: Environment) -> Term:
    """Convert a scalar explicitly, to or from a pointer. Raises `Untranslatable`."""
    target, source = type_.bare, term.bare
    if not isinstance(source, PointerType):
        if isinstance(target, PointerType) and c_types.null_number(target):
            raise Untranslatable("a number that becomes a pointer into an address space")
        return convert(term, type_)
    space = source.address_class or 0
    if isinstance(target, PointerType):
        if target.address_class is None and space:
            kept = PointerType(target.target, target.kind, source.byte_size, space)
            return Term(kept, node=_not_null(term, kept))
        wanted = target.address_class or 0
        if space != wanted and not {space, wanted} <= _FLAT:
            raise Untranslatable("a pointer from one address space to another")
    elif c_types.is_integral(type_) and type_.size == 8 and environment.memory.generic_address(space, 0) is not None:
        return Term(type_, node=_generic_number(term, space, environment))
    return convert(term, type_)


def _not_null(term: Term, type_: PointerType) -> Node:
    """Return a pointer's number. Null pointers, which lose their address space, are left to the evaluator."""
    value = term.value()
    null = c_types.null_number(type_)
    return Require(apply(Op.NE, value, constant(null, value.type)), value) if null else value


def _generic(term: Term, type_: PointerType, environment: Environment) -> Term:
    number = _generic_number(term, type_.address_class or 0, environment)
    return Term(c_types.pointer_to(type_.target, AddressSpace.GENERIC), node=number)


def _generic_number(term: Term, space: int, environment: Environment) -> Node:
    """Return the generic address (I64) of the target of a pointer into a space; 0 for a null pointer."""
    number = integer(term, I64)
    if space in _FLAT:
        return number
    aperture = environment.memory.generic_address(space, 0)
    if aperture is None:
        raise Untranslatable("a pointer into a space that is not part of the generic one")
    is_null = apply(Op.EQ, number, constant(null_address(space)))
    return apply(Op.SELECT, is_null, constant(0), apply(Op.OR, number, constant(aperture)), type=I64)


__all__ = ["in_one_space", "pointer_cast"]
