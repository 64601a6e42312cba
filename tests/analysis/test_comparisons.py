"""Comparisons in DWARF operations, compared with NumPy's."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
import pytest

from rocdbg import dwarf
from rocdbg.analysis.comparisons import compared
from rocdbg.dwarf import SimpleContext
from rocdbg.dwarf.operation_assembler import assemble

BITS = (
    0, 1, 5, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x40800000, 0x7F800000, 0xFF800000,
    0x7FC00000, 0xFFC00001, 0x7F800001,
)
TYPES = {"i32": np.int32, "u32": np.uint32, "f32": np.float32}
RELATIONS: dict[str, Callable[[object, object], object]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq,
    "lg": lambda a, b: a < b or a > b,  # type: ignore[operator]
}
OF_FLOATS: dict[str, Callable[[object, object], object]] = {
    "o": lambda a, b: a == a and b == b,
    "u": lambda a, b: a != a or b != b,
    **{f"n{name}": (lambda a, b, name=name: not RELATIONS[name](a, b)) for name in ("lt", "le", "gt", "ge", "lg")},
    "neq": lambda a, b: a != b,
}
CASES = [(type_, name) for type_ in TYPES for name in RELATIONS] + [("f32", name) for name in OF_FLOATS]


@pytest.mark.parametrize(("type_", "relation"), CASES)
def test_relations(type_: str, relation: str) -> None:
    holds = {**RELATIONS, **OF_FLOATS}[relation]
    for left in BITS:
        for right in BITS:
            code = assemble(*compared(relation, type_, [("constu", left)], [("constu", right)]), dialect="amd")
            found = dwarf.evaluate(dwarf.Expression(code, "amd"), SimpleContext(), kind="value")
            a, b = (np.array([bits], np.uint32).view(TYPES[type_])[0] for bits in (left, right))
            assert found.value == int(bool(holds(a, b))), (hex(left), hex(right))
