"""Location descriptions as text, part by part, for ``info address`` and ``maint dwarf``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rocdbg import dwarf
from rocdbg.arch.dwarf_registers import register_name
from rocdbg.arch.lane_sets import lane_list, lane_ranges
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.decoding import Operation
from rocdbg.dwarf.expression_text import format_operation
from rocdbg.dwarf.info import Function, Unit, Variable
from rocdbg.dwarf.location import LocationDescription, Place
from rocdbg.dwarf.reader.prepared import written_frame_base, written_location
from rocdbg.dwarf.storage import (
    Fragment,
    ImplicitStorage,
    MemoryStorage,
    RegisterStorage,
    StorageKind,
    UndefinedStorage,
)
from rocdbg.errors import Error

LANE_BITS = 32
"""The number of bits of a vector register in each lane."""
MAX_PARTS = 256


def place_words(location: LocationDescription, bits: int | None) -> list[str]:
    """Describe the location of an object of ``bits`` bits: a phrase, or for a composite a line for each piece."""
    if location.is_undefined or not location.places:
        return ["optimized out"]
    if len(location.places) == 1:
        return _place(location.places[0], bits)
    lines = [f"a variable in {len(location.places)} places that hold the same value:"]
    for place in location.places:
        first, *rest = _place(place, bits)
        lines.append(f"  {first}")
        lines += [f"  {line}" for line in rest]
    return lines


def _place(place: Place, bits: int | None) -> list[str]:
    if place.kind is not StorageKind.COMPOSITE:
        size = min(bits or 0, place.remaining)
        return [_leaf(Fragment(place.storage, place.offset, size), whole=True)]
    size = place.remaining if bits is None else min(bits, place.remaining)
    parts = list(joined(place.storage.fragments(place.offset, size)))
    if len(parts) == 1:
        return [_leaf(parts[0], whole=True)]
    lines = [f"a variable in {len(parts)} pieces:"]
    at = 0
    for index, part in enumerate(parts):
        if index == MAX_PARTS:
            lines.append(f"  and {len(parts) - index} more")
            break
        lines.append(f"  {_extent(at, part.bits)}: {_leaf(part, whole=False)}")
        at += part.bits
    return lines


def joined(fragments: Iterable[Fragment]) -> Iterable[Fragment]:
    """Merge fragments that are adjacent in the same storage."""
    current: Fragment | None = None
    for fragment in fragments:
        if not fragment.bits:
            continue
        if (
            current is not None
            and current.storage == fragment.storage
            and not isinstance(fragment.storage, ImplicitStorage)
            and (current.offset + current.bits == fragment.offset or isinstance(fragment.storage, UndefinedStorage))
            and _lane(current) == _lane(fragment)
        ):
            current = Fragment(current.storage, current.offset, current.bits + fragment.bits)
            continue
        if current is not None:
            yield current
        current = fragment
    if current is not None:
        yield current


def leaf_words(fragment: Fragment) -> str:
    """Describe the location of a part that is not a composite: ``in $s33``, ``at private_wave#0x100``, ``is 0x200``."""
    text = _leaf(fragment, whole=False)
    return text.replace("at address ", "at ", 1).replace("constant ", "is ", 1)


def _lane(fragment: Fragment) -> int | None:
    """Return the lane to which a fragment of a vector register belongs; ``None`` for any other fragment."""
    storage = fragment.storage
    if isinstance(storage, RegisterStorage) and storage.size > 2 * LANE_BITS:
        lane, start = divmod(fragment.offset, LANE_BITS)
        if start + fragment.bits <= LANE_BITS:
            return lane
    return None


def _extent(at: int, bits: int) -> str:
    if at % 8 == 0 and bits % 8 == 0:
        last = (at + bits) // 8 - 1
        return f"byte {last}" if bits == 8 else f"bytes {at // 8}-{last}"
    return f"bit {at}" if bits == 1 else f"bits {at}-{at + bits - 1}"


def _leaf(fragment: Fragment, whole: bool) -> str:
    """Describe a primitive storage; ``whole`` if it holds the whole object."""
    storage, offset, bits = fragment.storage, fragment.offset, fragment.bits
    variable = "a variable " if whole else ""
    if isinstance(storage, UndefinedStorage):
        return "optimized out"
    if isinstance(storage, RegisterStorage):
        lane = _lane(fragment)
        if lane is not None:
            start = offset % LANE_BITS
            bit = f" from bit {start}" if start else ""
            return f"{variable}in ${storage.name}, lane {lane}{bit}"
        bit = f" from bit {offset}" if offset else ""
        return f"{variable}in ${storage.name}{bit}"
    if isinstance(storage, MemoryStorage):
        prefix = "" if storage.space.number == 0 else f"{storage.space.name}#"
        bit = f" bit {offset & 7}" if offset & 7 else ""
        lane_text = f" of lane {storage.lane}" if storage.lane is not None and storage.space.number == 5 else ""
        return f"{variable}at address {prefix}{offset >> 3:#x}{bit}{lane_text}"
    if isinstance(storage, ImplicitStorage):
        value = storage.value >> offset & (1 << bits) - 1 if bits else storage.value
        return f"constant {value:#x}" if not whole else f"constant, of value {value:#x}"
    return f"{'an ' if whole else ''}{storage.words(offset)}"


def words_by_lane(lanes: int, words: Callable[[int], list[str]]) -> list[str]:
    """Return ``words(lane)`` for all lanes of a mask; texts that differ only in the lane number are merged."""
    said: list[tuple[int, list[str]]] = []
    for lane in lane_list(lanes):
        try:
            lines = words(lane)
        except Error as error:
            lines = [f"<{error}>"]
        general = [line.replace(f"lane {lane}", "that lane") for line in lines]
        if said and said[-1][1] == general:
            said[-1] = (said[-1][0] | 1 << lane, general)
        else:
            said.append((1 << lane, general))
    result = []
    for mask, (first, *rest) in said:
        several = mask & (mask - 1)
        result.append(f"{'lanes' if several else 'lane'} {lane_ranges(mask)}: {first}")
        result += [f"  {line}" for line in rest]
    return result


# Where a variable is according to debug information alone, without a frame, in GDB's words.
IN_FRAME = "a variable at frame base reg"
_LANE = ("DW_OP_LLVM_push_lane", "DW_OP_constu", "DW_OP_mul", "DW_OP_LLVM_offset")
"""Operations that follow a vector register to select the lane's dword."""
_LANE_BY_LITERAL = ("DW_OP_LLVM_push_lane", "DW_OP_lit4", "DW_OP_mul", "DW_OP_LLVM_offset")
_POINTED_TO = tuple(
    (*scale, "lit5", "form_aspace_address") for scale in ((), ("lit5", "shr"), ("lit6", "shr"))
)
"""Operations that follow the contents of a stack pointer, which may count the bytes of all lanes: they select the
lane's memory there.
"""


def static_words(program: Program, variable: Variable, function: Function | None) -> str | None:
    """``a variable in $v0``, ``multi-location:`` with a line per range, ...; ``None`` without a location expression."""
    try:
        what = written_location(variable.die)
        if what is None:
            return None
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
    """Return the register that is a function's frame base; ``None`` if the frame base is anything else."""
    value = written_frame_base(function.die) if function is not None else None
    if not isinstance(value, dwarf.Expression):
        return None
    operations = dwarf.decode(value.data, value.dialect)
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
    """Describe expressions of the kinds that compilers write for variables in memory and in registers."""
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
        if len(body) < len(operations) and offset == 0:  # the register holds the object, not an address
            return f"a variable in ${name}"
        return f"a variable at offset {offset!r} from base reg ${name}"
    pushed = unit.address_pushed(first)
    return f"static storage at address {program.base + pushed:#x}" if pushed is not None else None


def _register(operation: Operation, program: Program) -> str | None:
    """Return the name of the register that an operation names, ``None`` for other operations."""
    return _name(operation.register, program) if operation.register is not None else None


def _name(number: object, program: Program) -> str:
    assert isinstance(number, int)
    return register_name(number, program.wave_size)
