"""Where a variable is to be found by its debug information alone, in GDB's words: no frame is looked at."""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg import dwarf
from rocdbg.arch.dwarf_registers import register_name
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.decoding import Operation
from rocdbg.dwarf.expression_text import format_operation
from rocdbg.dwarf.info import Exprloc, Function, Loclist, Unit, Variable
from rocdbg.dwarf.info.attribute_expressions import as_written
from rocdbg.errors import Error

IN_FRAME = "a variable at frame base reg"
_LANE = ("DW_OP_LLVM_push_lane", "DW_OP_constu", "DW_OP_mul", "DW_OP_LLVM_offset")
"""Behind a vector register: the dword of the lane."""
_LANE_BY_LITERAL = ("DW_OP_LLVM_push_lane", "DW_OP_lit4", "DW_OP_mul", "DW_OP_LLVM_offset")
_POINTED_TO = tuple(
    (*scale, "lit5", "form_aspace_address") for scale in ((), ("lit5", "shr"), ("lit6", "shr"))
)
"""Behind the contents of a stack pointer, which may count bytes of all lanes: the lane's memory there."""


def static_words(program: Program, variable: Variable, function: Function | None) -> str | None:
    """``a variable in $v0``, ``multi-location:`` with a line per range, ...; ``None`` without a location expression."""
    location = variable.location
    if not isinstance(location, Exprloc | Loclist):
        return None
    try:
        what = as_written(location, variable.unit)
        base = _frame_base(program, function)
        if isinstance(what, dwarf.Expression):
            return "\n".join(_words(what.data, variable.unit, base, program))
        lines = ["multi-location:"]
        for low, high, data in what:
            where = "Default"
            if low is not None and high is not None:
                where = f"Range {low + program.base:#x}-{high + program.base:#x}"
            first, *rest = _words(data, variable.unit, base, program)
            lines += [f"  {where}: {first}", *(f"  {line}".rstrip() for line in rest)]
        return "\n".join([*lines, ""])
    except Error as error:
        return f"at a location that cannot be read ({error})"


def _frame_base(program: Program, function: Function | None) -> str | None:
    """The register that a function's frame base is all of."""
    value = function.frame_base if function is not None else None
    if function is None or not isinstance(value, Exprloc):
        return None
    operations = dwarf.decode(value.data, function.unit.dialect)
    scaled = [operation.info.meaning for operation in operations[2:]]
    if not operations:
        return None
    if len(operations) == 1 or (operations[1].info.meaning == "deref_size" and tuple(scaled) in _POINTED_TO):
        return _register(operations[0], program)
    return None


def _words(data: bytes, unit: Unit, frame_base: str | None, program: Program) -> Iterator[str]:
    operations = dwarf.decode(data, unit.dialect)
    if not operations:
        yield "optimized out"
        return
    simple = _simple(operations, unit, frame_base, program)
    if simple is not None:
        yield simple
        return
    yield "a complex DWARF expression:"
    for operation in operations:
        text = format_operation(operation, unit.dialect, load_bias=program.base)
        yield f"  {operation.offset:4x}: {text}"
    yield ""


def _simple(operations: list[Operation], unit: Unit, frame_base: str | None, program: Program) -> str | None:
    """The words for the expressions that compilers write for variables in memory and in registers."""
    body = unit.conventions.without_space(operations)
    names = [operation.name for operation in body]
    first = body[0]
    register = _register(first, program)
    if register is not None and (len(body) == 1 or tuple(names[1:]) in (_LANE, _LANE_BY_LITERAL)):
        return f"a variable in ${register}"
    if len(body) == 3 and names[2] == "DW_OP_LLVM_form_aspace_address":
        address, number = (operation.literal for operation in body[:2])
        space = program.architecture.address_space(number, unit.dialect) if number is not None else None
        if space is not None and address is not None:
            return f"static storage at address {space.name}#{address:#x}"
    if len(body) != 1:
        return None
    if first.name == "DW_OP_fbreg" and frame_base is not None:
        return f"{IN_FRAME} ${frame_base} offset 0+{first.operands[0]!r}"
    if first.name == "DW_OP_bregx":
        name, offset = _name(first.operands[0], program), first.operands[1]
        if len(body) < len(operations) and offset == 0:  # what is in the register is no address
            return f"a variable in ${name}"
        return f"a variable at offset {offset!r} from base reg ${name}"
    pushed = unit.address_pushed(first)
    return f"static storage at address {program.base + pushed:#x}" if pushed is not None else None


def _register(operation: Operation, program: Program) -> str | None:
    """The name of the register that an operation names, ``None`` for other operations."""
    return _name(operation.register, program) if operation.register is not None else None


def _name(number: object, program: Program) -> str:
    assert isinstance(number, int)
    return register_name(number, program.wave_size)
