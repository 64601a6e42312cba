"""Where LDS variables are that carry no location: laid out again as the compiler's backend lays them out.

LLVM places the LDS variables of a kernel in one structure: sorted by alignment and size, largest first,
then by symbol name, after raising the alignment of larger ones. The result is believed only when its size is
what the kernel descriptor asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rocdbg.debugger.program import Program
from rocdbg.dwarf.info import Function, Scope, Variable
from rocdbg.dwarf.info.types import ArrayType, ClassType, Type, VectorType


@dataclass(frozen=True, slots=True)
class _Item:
    name: str
    variable: Variable
    size: int
    alignment: int


def natural_alignment(type_: Type) -> int:
    """Alignment of a type on amdgcn."""
    stripped = type_.strip_typedefs()
    if isinstance(stripped, ArrayType):
        return natural_alignment(stripped.element)
    if isinstance(stripped, ClassType):
        return max([1, *(natural_alignment(m.type) for m in stripped.members)])
    if isinstance(stripped, VectorType):
        size = stripped.byte_size
    else:
        size = stripped.size or 1
    return 1 << max(0, size.bit_length() - 1)


def _raised(size: int, alignment: int) -> int:
    """The alignment after the backend has raised it for wider accesses."""
    for limit, raised in ((8, 16), (4, 8), (2, 4), (1, 2)):
        if size > limit:
            return max(alignment, raised)
    return alignment


def _lds_variables(scope: Scope) -> list[Variable]:
    found = [v for v in scope.variables if not v.is_parameter and v.location is None and not v.declaration]
    for child in scope.children:
        found += _lds_variables(child)
    return found


def place_variables(program: Program, kernel: Function) -> dict[int, int]:
    """The LDS offset of each variable without location in a kernel, by its entry's offset.

    Empty when the layout cannot be told: an object with other LDS variables than these.
    """
    return _place(program, kernel.offset, kernel)


@lru_cache(maxsize=64)
def _place(program: Program, offset: int, kernel: Function) -> dict[int, int]:
    code_kernel = program.code_object.kernels.find(kernel.linkage_name or kernel.name or "")
    if code_kernel is None:
        return {}
    total = code_kernel.descriptor.group_segment_fixed_size
    items: list[_Item] = []
    dynamic: list[Variable] = []
    for variable in _lds_variables(kernel):
        size = variable.type.size
        name = variable.linkage_name or f"{kernel.name}.{variable.name}"
        fixed = program.lds_offset(name)
        if fixed is not None:
            return {variable.offset: fixed}
        if size is None or size == 0:
            dynamic.append(variable)
            continue
        natural = natural_alignment(variable.type)
        items.append(_Item(name, variable, size, _raised(size, natural)))
    items.sort(key=lambda item: (-item.alignment, -item.size, item.name))
    place = 0
    placed: dict[int, int] = {}
    for item in items:
        place = -(-place // item.alignment) * item.alignment
        placed[item.variable.offset] = place
        place += item.size
    if place != total:
        return {}
    for variable in dynamic:
        alignment = natural_alignment(variable.type)
        placed[variable.offset] = -(-total // alignment) * alignment
    return placed


