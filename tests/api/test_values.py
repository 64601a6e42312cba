"""Values that kernels get, at the edges of their types, and buffers that are compared with what is expected."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from rocdbg.launch import expectation
from rocdbg.launch.errors import LaunchError
from rocdbg.launch.expectation import compare
from rocdbg.launch.value_arguments import value_bytes

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 16])
def test_integers_of_a_size(size: int) -> None:
    """Signed and unsigned ones."""
    least, most = -(1 << 8 * size - 1), (1 << 8 * size) - 1
    for value in (least, -1, 0, 1, most):
        expected = (value & most).to_bytes(size, "little")
        assert value_bytes(value, size, None, "x") == expected
    for value in (least - 1, most + 1):
        with pytest.raises(LaunchError, match=f"does not fit into {size} bytes"):
            value_bytes(value, size, None, "x")


FLOATS = [
    # value, size, the parameter's type, its bytes
    (1.5, 2, None, struct.pack("<e", 1.5)), (1.5, 4, None, struct.pack("<f", 1.5)),
    (1.5, 8, None, struct.pack("<d", 1.5)),
    (3, 4, "f32", struct.pack("<f", 3)), (3, 8, "f64", struct.pack("<d", 3)), (3.0, 4, "i32", struct.pack("<i", 3)),
    (3.0, 1, None, b"\3"), (1.5, 2, "bf16", b"\xc0\x3f"), (3, 2, "bf16", b"\x40\x40"),
    (1.5, 8, "f32", struct.pack("<d", 1.5)),  # a type of another size is not the parameter's
]


@pytest.mark.parametrize(("value", "size", "element", "data"), FLOATS)
def test_floats(value: float, size: int, element: str | None, data: bytes) -> None:
    assert value_bytes(value, size, element, "x") == data


COMPARED: list[tuple[list[Any], list[Any], str, float, float, tuple[int, int] | None]] = [
    # got, wanted, type, relative and absolute tolerance; the first that differs and how many do
    ([1, 2, 3], [1, 2, 3], "i32", 0, 0, None),
    ([9, 2, 3], [1, 2, 3], "i32", 0, 0, (0, 1)),
    ([1, 2, 9], [1, 2, 3], "i32", 0, 0, (2, 1)),
    ([1, 9, 3, 9, 9, 9, 7, 9, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9], "i32", 0, 0, (1, 5)),
    ([1, 2, 3, 4, 5, 6, 9], [1, 2, 3, 4, 5, 6, 7], "u8", 0, 0, (6, 1)),
    ([NAN, 0.0, INF, -INF], [NAN, -0.0, INF, -INF], "f32", 0, 0, None),
    ([NAN, 1.0, INF], [1.0, NAN, -INF], "f32", 0, 0, (0, 3)),
    # with tolerances: at their ends, and of what is wanted
    ([1.0, 2.0], [1.5, 1.5], "f32", 0, 0.5, None),
    ([1.0, 2.0], [1.5078125, 1.4921875], "f32", 0, 0.5, (0, 2)),
    ([4.0], [5.0], "f32", 0.2, 0, None),
    ([5.0], [4.0], "f32", 0.2, 0, (0, 1)),
    ([5.0], [4.0], "f32", 0.125, 0.5, None),
    ([-4.0], [-5.0], "f64", 0.25, 0, None),
    ([10], [12], "u8", 0, 2, None),
    ([12], [10], "u8", 0, 2, None),
    ([10], [13], "u8", 0, 2, (0, 1)),
    ([NAN, INF], [NAN, INF], "f32", 0.5, 0.5, None),
    ([INF, 1.0, NAN, 1.0, INF], [1.0, INF, 1.0, NAN, -INF], "f32", 0.5, 0.5, (0, 5)),
]


@pytest.mark.parametrize("piece", [1 << 20, 3])
@pytest.mark.parametrize(("got", "wanted", "element", "rtol", "atol", "differing"), COMPARED)
def test_compared(
    got: list[Any], wanted: list[Any], element: str, rtol: float, atol: float, differing: tuple[int, int] | None,
    piece: int, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expectation, "_PIECE", piece)
    kind = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "u8": "|u1"}[element]
    found = compare("y", np.array(got, kind), np.array(wanted, kind), element, rtol, atol)
    assert (found and (found.index, found.differing)) == differing
    if found is not None:
        named = (str(np.array(values, kind)[found.index]) for values in (got, wanted))
        assert (str(found.got), str(found.wanted)) == tuple(named)
        assert found.count == len(got)
