"""Evaluation of operation expressions and location lists (A.2.5.4, A.2.5.5): the entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rocdbg.dwarf import (  # noqa: F401  (they register the handlers)
    composite_operations,
    location_operations,
    value_operations,
)
from rocdbg.dwarf.context import Context, Expression, ExpressionLike, LocationList, LocationListEntry
from rocdbg.dwarf.errors import DwarfError, EvaluationError
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.location_operations import based, frame_base
from rocdbg.dwarf.operation_table import DIALECTS
from rocdbg.dwarf.stack_machine import HANDLERS, Budget, Entry, Kind, Machine, check_allowed
from rocdbg.dwarf.typed_values import ImplicitPointerValue, Value

__all__ = [
    "HANDLERS",
    "as_entry",
    "based_location",
    "dereference",
    "evaluate",
    "evaluate_frame_base",
    "evaluate_location",
    "evaluate_location_list",
    "evaluate_restricted",
]

_KINDS = (None, "value", "location")


def as_entry(item: Value | LocationDescription | int, mask: int) -> Entry:
    """Convert an entry of the initial stack to the machine's representation."""
    if isinstance(item, int):
        return item & mask
    if isinstance(item, Value) and item.type is None and not isinstance(item, ImplicitPointerValue):
        assert isinstance(item.value, int)
        return item.value & mask
    return item


def evaluate(
    data: ExpressionLike,
    context: Context,
    kind: Kind = None,
    dialect: str = "amd",
    initial: Iterable[Value | LocationDescription | int] = (),
) -> Value | LocationDescription:
    """The result of an operation expression in a context (A.2.5.4).

    `kind` is the result kind: "value", "location", or None for either. `initial` holds the entries of the initial
    stack, the last one on top; an int is a value of the generic type. If the stack is empty at the end, the result is
    the undefined location. `data` may also be an `Expression` or a `LocationList`, which has its own dialect; the
    evaluation of each matching entry of a list begins with the initial stack.

    Raises `IllFormed` (also `DecodeError`) if the expression breaks a rule and `EvaluationError` if it cannot be
    evaluated in this context; both name the operation. Errors that the context's own methods raise pass through.
    """
    if dialect not in DIALECTS:
        raise DwarfError(f"there is no dialect '{dialect}'; there are {', '.join(DIALECTS)}")
    if kind not in _KINDS:
        raise DwarfError(f"there is no result kind '{kind}'; use 'value', 'location' or None")
    if isinstance(data, Expression):
        dialect = data.dialect
        data = data.data
    elif isinstance(data, LocationList):
        m = Machine(context, dialect, context.object, Budget())
        return m.location_list(data, context, initial=[as_entry(item, m.mask) for item in initial])
    m = Machine(context, dialect, context.object, Budget())
    if initial:
        m.stack.extend(as_entry(item, m.mask) for item in initial)
    m.run(m.compile(bytes(data)))
    return m.result(kind)


def evaluate_location(
    data: ExpressionLike,
    context: Context,
    dialect: str = "amd",
    initial: Iterable[Value | LocationDescription | int] = (),
) -> LocationDescription:
    """`evaluate` with result kind "location": what attributes such as DW_AT_location give (A.4.1).

    Arguments and errors are those of `evaluate`.
    """
    result = evaluate(data, context, "location", dialect, initial)
    assert isinstance(result, LocationDescription)
    return result


def _machine(context: Context, dialect: str) -> Machine:
    return Machine(context, dialect, None, Budget())


def evaluate_location_list(
    entries: LocationList | Sequence[LocationListEntry], context: Context, dialect: str = "amd"
) -> LocationDescription:
    """The union of the places given by all entries that match the current program location (A.2.5.5).

    The default entry applies where no bounded entry matches; if there is none either, the location is undefined.
    `dialect` applies to `entries` that do not have their own. Raises `EvaluationError` if the context has no program
    location, and the errors of evaluating the matching expressions.
    """
    if not isinstance(entries, LocationList):
        entries = LocationList(entries)
    return _machine(context, entries.dialect or dialect).location_list(entries, context)


def evaluate_frame_base(
    context: Context, dialect: str = "amd", attribute: ExpressionLike | None = None
) -> LocationDescription:
    """The frame base of the context's subprogram: a memory location (A.3.3.5, DW_AT_frame_base).

    `attribute` is the attribute's expression, by default the frame base of the context.

    Raises `IllFormed` if the attribute's expression gives no single location in memory or uses `DW_OP_fbreg`,
    `EvaluationError` if there is no such attribute or it cannot be evaluated.
    """
    return frame_base(_machine(context, dialect), attribute)


def based_location(
    context: Context, dialect: str, space: int | None, register: int, displacement: int
) -> LocationDescription:
    """Memory in `space` (None: the default) at a register's contents plus a displacement: DW_OP_LLVM_aspace_bregx."""
    m = _machine(context, dialect)
    if space is None:
        space = m.architecture.default_address_space
    return based(m, space, register, displacement)


def evaluate_restricted(
    data: bytes,
    context: Context,
    kind: Kind,
    dialect: str,
    initial: Iterable[Value | LocationDescription | int],
    forbidden: frozenset[str],
    where: str,
    entry_register: Callable[[int], LocationDescription],
) -> Value | LocationDescription:
    """Evaluate without a current object; an operation whose meaning is in `forbidden` makes the expression ill-formed.

    `DW_OP_LLVM_call_frame_entry_reg` uses `entry_register` instead of the context.
    """
    m = _machine(context, dialect)
    m.entry_register = entry_register
    m.stack.extend(as_entry(item, m.mask) for item in initial)
    program = m.compile(data)
    check_allowed(program, forbidden, where)
    m.run(program)
    return m.result(kind)


def dereference(pointer: Value, context: Context, dialect: str = "amd") -> LocationDescription:
    """The location of the object that an implicit pointer value points to (A.2.5.4.4.5), in this context.

    Raises `EvaluationError` for any other value and if the entry has neither location nor value, and the errors of
    evaluating the entry's location.
    """
    if not isinstance(pointer, ImplicitPointerValue):
        raise EvaluationError("only an implicit pointer can be dereferenced without its address space")
    return _machine(context, dialect).dereference(pointer)
