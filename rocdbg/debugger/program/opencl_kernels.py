"""How clang compiles an OpenCL kernel: as a wrapper with the kernel's name, and a separate function with its body."""

from __future__ import annotations

from typing import Final

from rocdbg.debugger.program.program import Program
from rocdbg.dwarf.info import Function

KERNEL_BODY = "__clang_ocl_kern_imp_"
"""The prefix of the name of a kernel's body."""


def is_kernel_body(function: Function) -> bool:
    """Whether a function is the body of an OpenCL kernel; the kernel itself only calls it."""
    return (function.linkage_name or function.name or "").startswith(KERNEL_BODY)


def is_kernel_wrapper(program: Program, function: Function) -> bool:
    """Whether a function is an OpenCL kernel whose body is a separate function."""
    if function.unit.language_name != "opencl" or is_kernel_body(function):
        return False
    name = function.linkage_name or function.name or ""
    return bool(program.info.functions_named(KERNEL_BODY + name))


def is_library_function(name: str) -> bool:
    """Whether a name is that of a function in the library of OpenCL C."""
    return name in _FUNCTIONS or name.startswith(_PREFIXES)


_PREFIXES: Final = (
    "get_", "convert_", "as_", "vload", "vstore", "atomic_", "atom_", "native_", "half_", "sub_group_", "work_group_",
    "read_image", "write_image", "async_work_group_",
)
_FUNCTIONS: Final = frozenset({
    "abs", "abs_diff", "acos", "add_sat", "all", "any", "asin", "atan", "atan2", "bitselect", "cbrt", "ceil",
    "clamp", "clz", "copysign", "cos", "cosh", "cross", "ctz", "degrees", "distance", "dot", "erf", "erfc", "exp",
    "exp10", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hadd", "hypot", "ilogb",
    "isequal", "isfinite", "isgreater", "isgreaterequal", "isinf", "isless", "islessequal", "islessgreater",
    "isnan", "isnormal", "isnotequal", "isordered", "isunordered", "ldexp", "length", "lgamma", "log", "log10",
    "log1p", "log2", "logb", "mad", "mad24", "mad_hi", "mad_sat", "max", "min", "mix", "mul24", "mul_hi",
    "nextafter", "normalize", "popcount", "pow", "pown", "powr", "printf", "radians", "remainder", "rhadd",
    "rint", "rootn", "rotate", "round", "rsqrt", "select", "shuffle", "shuffle2", "sign", "signbit", "sin",
    "sinh", "smoothstep", "sqrt", "step", "sub_sat", "tan", "tanh", "tgamma", "trunc", "upsample",
})
