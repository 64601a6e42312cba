"""Pretty-printers for the vector, half and bfloat16 types of HIP and OpenCL."""

from __future__ import annotations

import re

from rocdbg.plugin import ClassType, PluginApi, Type, Value, VectorType, ctypes

# HIP's headers: struct HIP_vector_type<float, 4u>, and typedefs such as float4 of it
HIP_VECTOR = re.compile(r"HIP_vector_(?:type|base)<\s*(?P<element>[\w ]+),\s*(?P<count>\d+)[uU]?\s*>$")
HALF = ("__half", "__half_raw")
HALF2 = ("__half2", "__half2_raw")
BFLOAT = ("hip_bfloat16", "__hip_bfloat16", "__hip_bfloat16_raw")
BFLOAT2 = ("__hip_bfloat162", "__hip_bfloat162_raw")
ELEMENTS: dict[str, Type] = {
    "char": ctypes.CHAR,
    "signed char": ctypes.SIGNED_CHAR,
    "unsigned char": ctypes.UNSIGNED_CHAR,
    "short": ctypes.SHORT,
    "unsigned short": ctypes.UNSIGNED_SHORT,
    "int": ctypes.INT,
    "unsigned int": ctypes.UNSIGNED_INT,
    "long": ctypes.LONG,
    "unsigned long": ctypes.UNSIGNED_LONG,
    "long long": ctypes.LONG,
    "unsigned long long": ctypes.UNSIGNED_LONG,
    "float": ctypes.FLOAT,
    "double": ctypes.DOUBLE,
    "_Float16": ctypes.HALF,
}


def number(value: Value) -> str:
    """An element as a plain number; small integers are numbers here, not characters."""
    if ctypes.is_float(value.type):
        return shortest(value.as_float(), value.size, ctypes.is_bfloat(value.type))
    return str(value.as_int())


def shortest(number_: float, size: int, bfloat: bool = False) -> str:
    """The digits that GDB's %g would show: 9 for float, 17 for double, 5 for half, 4 for bfloat16."""
    digits = 4 if bfloat else {2: 5, 4: 9, 8: 17}.get(size, 9)
    return f"{number_:.{digits}g}"


def elements(value: Value, element: Type, count: int) -> str:
    """``(1, 2, 3, 4)``."""
    size = element.size or 1
    return "(" + ", ".join(number(value.part(element, index * size)) for index in range(count)) + ")"


def print_vector(value: Value) -> str | None:
    """Compiler vectors (OpenCL's float4, int2 ..., ext_vector_type) and HIP's vector structs."""
    bare = value.bare
    if isinstance(bare, VectorType):
        return elements(value, bare.element, bare.count)
    if not isinstance(bare, ClassType):
        return None
    match = HIP_VECTOR.match(bare.name or "")
    if match is None:
        return None
    element = ELEMENTS.get(match["element"].strip())
    count = int(match["count"])
    if element is None or value.size < count * (element.size or 1):
        return None
    return elements(value, element, count)


def print_half(value: Value) -> str | None:
    """HIP's half and bfloat16 structs, and pairs of them."""
    bare = value.bare
    if not isinstance(bare, ClassType):
        return None
    name = bare.name or ""
    for names, element, count in (
        (HALF, ctypes.HALF, 1),
        (HALF2, ctypes.HALF, 2),
        (BFLOAT, ctypes.BFLOAT16, 1),
        (BFLOAT2, ctypes.BFLOAT16, 2),
    ):
        if name in names and value.size == 2 * count:
            return elements(value, element, count) if count > 1 else number(value.part(element, 0))
    return None


def register(api: PluginApi) -> None:
    """Called by rocdbg when the plug-in is loaded."""
    api.pretty_printer(print_vector)
    api.pretty_printer(print_half)
