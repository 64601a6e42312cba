"""Locates LDS variables that have no location, by repeating the layout of the compiler's backend.

LLVM places the LDS variables of a kernel in one structure, after raising the alignment of larger ones. They are sorted
by alignment and size, largest first, then by symbol name; gaps are filled with variables that fit without padding. The
result is trusted only if its size equals that in the kernel descriptor.
"""

from __future__ import annotations

import re
from itertools import combinations

from msgspec import Struct

from rocdbg import dwarf, isa
from rocdbg.debugger.program.opencl_kernels import KERNEL_BODY, is_kernel_body
from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import Exprloc, Function, Scope, Variable
from rocdbg.dwarf.info.types import ArrayType, ClassType, Type, VectorType

_IN_SPACE = re.compile(rb"([\x30-\x4f])\x16\x18\Z", re.DOTALL)
"""DW_OP_lit<N>, DW_OP_swap, DW_OP_xderef: the preceding value is an address in the space with the producer's number N.
"""
_MOST_SUBSETS = 10
"""The maximum number of variables of which all combinations are tried."""
_LIT0 = 0x30
_LDS = 3


class _Item(Struct, frozen=True):
    name: str
    variable: Variable
    size: int
    alignment: int


def natural_alignment(type_: Type) -> int:
    """Return the alignment of a type on amdgcn."""
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
    """Return the alignment after the backend has raised it for wider accesses."""
    for limit, raised in ((8, 16), (4, 8), (2, 4), (1, 2)):
        if size > limit:
            return max(alignment, raised)
    return alignment


def is_unplaced(variable: Variable) -> bool:
    """Whether a variable in LDS has no usable location: none at all, or one with a symbol that is not defined.

    In the location, upstream clang refers to a symbol that its backend then replaces, so that address 0 remains.
    """
    location = variable.location
    if location is None:
        return not variable.is_parameter and not variable.declaration
    space = _IN_SPACE.search(location.data) if isinstance(location, Exprloc) else None
    if not isinstance(location, Exprloc) or space is None:
        return False
    if variable.unit.conventions.address_space(space[1][0] - _LIT0) != _LDS:
        return False
    operations = dwarf.decode(location.data, variable.unit.dialect)
    if len(operations) != 4:
        return False
    if operations[0].info.meaning == "addrx":
        index = operations[0].operands[0]
        addresses = variable.unit.debug_addr
        return isinstance(index, int) and index < len(addresses) and addresses[index] == 0
    return operations[0].info.meaning == "addr" and operations[0].operands[0] == 0


def body_variables(program: Program, function: Function) -> list[Variable]:
    """Return the LDS variables of an OpenCL kernel's body; only its out-of-line copy describes them."""
    if not is_kernel_body(function):
        return []
    copies = program.info.functions_named(function.linkage_name or function.name or "")
    return next((_lds_variables(copy) for copy in copies if copy.low_pc is not None), [])


def _symbol_name(kernel: Function, variable: Variable) -> str:
    """Return the compiler's internal name of an LDS variable: that of a C++ static local, or ``kernel.variable``."""
    if variable.linkage_name is not None:
        return variable.linkage_name
    name, function = variable.name or "", kernel.linkage_name or kernel.name or ""
    if kernel.unit.language_name in ("c++", "hip"):
        encoding = function[2:] if function.startswith("_Z") else f"{len(function)}{function}"
        return f"_ZZ{encoding}E{len(name)}{name}"
    return f"{kernel.name}.{name}"


def _lds_variables(function: Function) -> list[Variable]:
    """Return the LDS variables of a function: those without a location, except locals that the optimiser has removed.

    The compiler describes static variables of a function before its parameters, and all others after them.
    """
    parameters = [v.offset for v in function.variables if v.is_parameter and v.offset > function.offset]
    first = min(parameters, default=function.offset)
    statics = [v for v in function.variables if is_unplaced(v) and function.offset < v.offset < first]
    return statics or _unplaced(function)


def _unplaced(scope: Scope) -> list[Variable]:
    found = [v for v in scope.variables if is_unplaced(v)]
    for child in scope.children:
        found += _unplaced(child)
    return found


def place_variables(program: Program, kernel: Function) -> dict[int, int]:
    """Return the LDS offset of each variable without a location in a kernel, by the offset of its entry.

    Return nothing if the layout is not known, because the code object has other LDS variables too.
    """
    if kernel.offset not in program.lds_places:
        program.lds_places[kernel.offset] = _place(program, kernel)
    return program.lds_places[kernel.offset]


def _place(program: Program, kernel: Function) -> dict[int, int]:
    code_kernel = program.code_object.kernels.find(
        (kernel.linkage_name or kernel.name or "").removeprefix(KERNEL_BODY)
    )
    if code_kernel is None:
        return {}
    total = code_kernel.descriptor.group_segment_fixed_size
    for variables in (_lds_variables(kernel), _unplaced(kernel)):
        placed = _lay_out(program, [(_symbol_name(kernel, v), v) for v in variables], total)
        if placed:
            return placed
    return place_shared(program) or _place_some(program, kernel, total)


def _place_some(program: Program, kernel: Function, total: int) -> dict[int, int]:
    """Place variables in a kernel that does not use all of the program's variables.

    LLVM allocates in each kernel only the variables that it uses. A selection of variables is trusted if no other
    selection gives the kernel's LDS size, and if only kernels can use LDS: variables that other functions use have the
    same place in all kernels.
    """
    own = {variable.offset for variable in _unplaced(kernel)}
    others = {
        variable.offset
        for one in program.info.functions_matching("")
        if one.low_pc is not None and one.offset != kernel.offset and program.is_kernel(one)
        for variable in _unplaced(one)
    }
    variables = [
        (_symbol_name(kernel, variable) if variable.offset in own else name, variable)
        for name, variable in _program_variables(program)
        if variable.offset in own or variable.offset not in others
    ]
    if not total or not 0 < len(variables) <= _MOST_SUBSETS or _functions_use_lds(program):
        return {}
    found: dict[int, int] = {}
    for count in range(1, len(variables) + 1):
        for some in combinations(variables, count):
            placed = _lay_out(program, list(some), total)
            if placed and found:
                return {}
            found = placed or found
    return found


def _functions_use_lds(program: Program) -> bool:
    """Whether functions other than kernels may access LDS, by LDS instructions or generic addresses."""
    target = program.code_object.target.name
    for function in program.info.functions_matching(""):
        low, high = function.low_pc, function.high_pc
        if low is None or high is None or program.is_kernel(function):
            continue
        code = program.code_object.read(low, high - low)
        for instruction in isa.disassemble(code, target, wave_size=program.wave_size):
            text = instruction.text
            is_exchange = instruction.mnemonic.startswith(("ds_bpermute", "ds_permute", "ds_swizzle"))
            if "src_shared_base" in text or (instruction.mnemonic.startswith("ds_") and not is_exchange):
                return True
    return False


def place_shared(program: Program) -> dict[int, int]:
    """Return the LDS offset of each variable of called functions and namespaces if it is the same in all kernels.

    If there are several kernels, the result is trusted if each of them has room for exactly these variables: then none
    of them belongs to a single kernel.
    """
    if None not in program.lds_places:
        program.lds_places[None] = _place_shared(program)
    return program.lds_places[None]


def _place_shared(program: Program) -> dict[int, int]:
    totals = {kernel.descriptor.group_segment_fixed_size for kernel in program.code_object.kernels.values()}
    if len(totals) != 1:
        return {}
    variables = _program_variables(program)
    if len(program.code_object.kernels) > 1:
        # if a variable is smaller than the alignment of others, padding could hide that it is missing
        sizes = [variable.type.size or 0 for _, variable in variables]
        whole = max((natural_alignment(variable.type) for _, variable in variables), default=1)
        if any(size == 0 or size % whole for size in sizes):
            return {}
    return _lay_out(program, variables, totals.pop())


def sole_kernel(program: Program) -> Function | None:
    """Return the kernel of a program that has only one: it owns all LDS variables, including those that other functions
    declare.
    """
    if len(program.code_object.kernels) != 1:
        return None
    name = next(iter(program.code_object.kernels))
    return next((f for f in program.info.functions_named(name) if f.low_pc is not None), None)


def _program_variables(program: Program) -> list[tuple[str, Variable]]:
    """Return the LDS variables of all functions and of namespaces, with the names of their symbols."""
    found = [
        (_symbol_name(function, variable), variable)
        for function in program.info.functions_matching("")
        if function.low_pc is not None
        for variable in _lds_variables(function)
    ]
    names = {variable.offset for _, variable in found}
    for variable in program.info.global_variables_matching(""):
        if is_unplaced(variable) and variable.offset not in names:
            found.append((variable.linkage_name or variable.name or "", variable))
    return found


def _lay_out(program: Program, variables: list[tuple[str, Variable]], total: int) -> dict[int, int]:
    """Return the offsets of variables if exactly these make up the kernel's LDS, otherwise nothing."""
    items: list[_Item] = []
    dynamic: list[Variable] = []
    for name, variable in variables:
        size = variable.type.size
        fixed = program.lds_offset(name)
        if fixed is not None:
            return {variable.offset: fixed}
        if size is None or size == 0:
            dynamic.append(variable)
            continue
        natural = natural_alignment(variable.type)
        items.append(_Item(name, variable, size, _raised(size, natural)))
    items.sort(key=lambda item: (-item.alignment, -item.size, item.name))
    placed: dict[int, int] = {}
    place = 0
    remaining = items
    while remaining:
        # prefer a variable that needs no padding here, widest alignment first; otherwise the least padding
        item = next((i for i in remaining if place % i.alignment == 0), None)
        if item is None:
            least = min(i.alignment for i in remaining)
            item = next(i for i in remaining if i.alignment == least)
        place = -(-place // item.alignment) * item.alignment
        placed[item.variable.offset] = place
        place += item.size
        remaining = [i for i in remaining if i is not item]
    whole = max((natural_alignment(item.variable.type) for item in items), default=1)
    if -(-place // whole) * whole != total:
        return {}
    for variable in dynamic:
        alignment = natural_alignment(variable.type)
        placed[variable.offset] = -(-total // alignment) * alignment
    return placed


