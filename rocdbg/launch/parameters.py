"""Names and element types of a kernel's explicit parameters, from debug information or metadata."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.codeobject import CodeObjectError, Kernel, KernelArg, ValueKind
from rocdbg.dwarf.info import BaseType, DebugInfo, DebugInfoError, Encoding, EnumType, Type, Variable
from rocdbg.launch.elements import ELEMENT_TYPES

# OpenCL C's type names, which are in the metadata of OpenCL kernels, and C's fixed-width types.
_NAMED = {
    "bool": "u8",
    "char": "i8",
    "uchar": "u8",
    "unsigned char": "u8",
    "short": "i16",
    "ushort": "u16",
    "unsigned short": "u16",
    "int": "i32",
    "uint": "u32",
    "unsigned int": "u32",
    "long": "i64",
    "ulong": "u64",
    "unsigned long": "u64",
    "half": "f16",
    "float": "f32",
    "double": "f64",
}
_SIGNED = {Encoding.SIGNED, Encoding.SIGNED_CHAR}
_UNSIGNED = {Encoding.UNSIGNED, Encoding.UNSIGNED_CHAR, Encoding.BOOLEAN, Encoding.UTF}


def parameter_types(kernel: Kernel, debug_info: DebugInfo | None) -> list[str | None]:
    """The element type (``f32``, ``u64``, ...) of each explicit argument; None if it is unknown or not a scalar.

    Damaged debug information counts as none: a launch does not depend on it.
    """
    arguments = _explicit(kernel)
    types = [_NAMED.get(argument.type_name or "") for argument in arguments]
    if any(found is None for found in types):
        declared = _declared(kernel, debug_info)
        if len(declared) == len(types):
            types = [known or element_type(d.type) for known, d in zip(types, declared, strict=True)]
    return [known or _value_type(argument) for known, argument in zip(types, arguments, strict=True)]


def parameter_names(kernel: Kernel, debug_info: DebugInfo | None) -> list[str | None]:
    """The name of each explicit argument; None where neither metadata nor debug information has one."""
    arguments = _explicit(kernel)
    names = [argument.name for argument in arguments]
    if any(name is None for name in names):
        declared = _declared(kernel, debug_info)
        if len(declared) == len(names):
            names = [name or d.name for name, d in zip(names, declared, strict=True)]
    return names


def element_type(type_: Type) -> str | None:
    """The element type that stores values of a source type; None if it is not a scalar."""
    stripped = type_.strip_typedefs()
    if isinstance(stripped, EnumType):
        underlying = stripped.underlying.strip_typedefs()
        if isinstance(underlying, BaseType):
            return element_type(underlying)
        return f"i{stripped.byte_size * 8}" if stripped.byte_size in (1, 2, 4, 8) else None
    if not isinstance(stripped, BaseType) or stripped.byte_size not in (1, 2, 4, 8):
        return None
    bits = stripped.byte_size * 8
    if stripped.encoding == Encoding.FLOAT:
        return "bf16" if stripped.name == "__bf16" else f"f{bits}" if bits >= 16 else None
    if stripped.encoding in _SIGNED:
        return f"i{bits}"
    return f"u{bits}" if stripped.encoding in _UNSIGNED else None


def _value_type(argument: KernelArg) -> str | None:
    """The type that ``.value_type`` (V2 and V3) gives for a scalar. For a vector it is that of the elements, so the
    size must agree.
    """
    element = argument.value_type
    if argument.value_kind is not ValueKind.BY_VALUE or element is None or element not in ELEMENT_TYPES:
        return None
    return element if ELEMENT_TYPES[element].itemsize == argument.size and element != "bytes" else None


def _explicit(kernel: Kernel) -> Sequence[KernelArg]:
    return kernel.metadata.explicit_args if kernel.metadata is not None else ()


def _declared(kernel: Kernel, debug_info: DebugInfo | None) -> Sequence[Variable]:
    """The parameters of the kernel's function in the debug information; empty if it has none (or is damaged)."""
    if debug_info is None:
        return ()
    try:
        for function in debug_info.functions_named(kernel.name):
            if function.parameters:
                return function.parameters
    except (CodeObjectError, DebugInfoError):
        pass
    return ()
