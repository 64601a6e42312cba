"""The element types of a kernel's explicit parameters, from debug information or metadata."""

from __future__ import annotations

from rocdbg.codeobject import Kernel
from rocdbg.dwarf.info import BaseType, DebugInfo, DebugInfoError, Encoding, EnumType, Type

# OpenCL C's type names, as the metadata of OpenCL kernels gives them, and C's fixed-width ones.
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
    """One element type (``f32``, ``u64``, ...) per explicit argument; None where it is unknown or no scalar.

    Damaged debug information counts as none: a launch does not depend on it.
    """
    if kernel.metadata is None:
        return []
    arguments = kernel.metadata.explicit_args
    types = [_NAMED.get(argument.type_name or "") for argument in arguments]
    if debug_info is not None and any(found is None for found in types):
        try:
            declared = _declared_types(kernel, debug_info)
        except DebugInfoError:
            declared = []
        if len(declared) == len(types):
            types = [known or element_type(type_) for known, type_ in zip(types, declared, strict=True)]
    return types


def element_type(type_: Type) -> str | None:
    """The element type that stores values of a source type; None if it is no scalar."""
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


def _declared_types(kernel: Kernel, debug_info: DebugInfo) -> list[Type]:
    for function in debug_info.functions_named(kernel.name):
        if function.parameters:
            return [parameter.type for parameter in function.parameters]
    return []
