"""NumPy's files of all types, orders and versions, and what is no such file."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from rocdbg.launch.npy_file import NpyError, NpyTooLargeError, read_npy

TYPES = ("|u1", "|i1", "|b1", "<u2", "<i4", "<f2", "<f4", "<f8", "<i8", "<c8", ">i4", ">f8")
SHAPES: tuple[tuple[int, ...], ...] = ((), (7,), (2, 3), (3, 2, 4), (0, 5), (1,) * 32)


def written(array: np.ndarray, version: tuple[int, int]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version, allow_pickle=False)
    return file.getvalue()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("order", "CF")
def test_what_numpy_writes(version: tuple[int, int], order: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    for kind in TYPES:
        for shape in SHAPES:
            array = np.arange(int(np.prod(shape)), dtype=np.uint8).astype(kind).reshape(shape, order="C")
            path.write_bytes(written(np.asarray(array, order=order), version))  # type: ignore[call-overload]
            found = read_npy(path, array.nbytes)
            assert found.dtype == array.dtype, kind
            assert found.tolist() == array.reshape(-1).tolist(), (kind, shape)


def by_hand(header: str, data: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


NUMBERS = written(np.arange(6, dtype="<i4"), (1, 0))
BAD = [
    # what the file has, the words
    (b"", "is not a NumPy .npy file"),
    (NUMBERS[:40], "is not a .npy file of plain numbers"),
    (NUMBERS[:-1], "by its header it has 24 bytes of numbers, but there are 23"),
    (NUMBERS + b"x", "by its header it has 24 bytes of numbers, but there are 25"),
    (NUMBERS.replace(b"<i4", b"|O8"), "holds Python objects"),
    (NUMBERS.replace(b"'<i4'", b"'<V0'"), "is not a .npy file of plain numbers"),
    (NUMBERS.replace(b"'<i4'", b"'<f7'"), "its type <f7 is unknown"),
    (NUMBERS[:8] + b"\x01\x10" + NUMBERS[10:], "its header would have 4097 bytes"),
    (by_hand(f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({'1, ' * 33}), }}", bytes(4)), "has 33 dimensions"),
]


@pytest.mark.parametrize(("data", "words"), BAD, ids=[words for _, words in BAD])
def test_what_is_refused(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(data)
    with pytest.raises(NpyError, match=words):
        read_npy(path, 1000)


def test_what_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(NUMBERS)
    assert len(read_npy(path, 24)) == 6
    with pytest.raises(NpyTooLargeError, match="holds 6 elements, 24 bytes"):
        read_npy(path, 23)
