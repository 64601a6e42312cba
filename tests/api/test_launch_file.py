"""Launch files, and the same descriptions from commands: their meaning, and the messages about invalid ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocdbg.launch.contents import Contents
from rocdbg.launch.elements import ArrayType, decode, encode, encode_bf16
from rocdbg.launch.errors import LaunchError
from rocdbg.launch.expectation import compare
from rocdbg.launch.launch_file import parse_launch, read_launch_file
from rocdbg.launch.npy_file import read_npy
from rocdbg.launch.spec import ArgumentSpec, LaunchSpec, check_dimensions, parse_dimensions
from rocdbg.launch.value_arguments import value_bytes

HEAD = '[launch]\nfile = "k.co"\ngrid = [8]\n'

FULL = """
[launch]
file = "saxpy.{arch}.co"
arch = "gfx90a"
kernel = "saxpy"
grid = [1024, 2]
workgroup = 64
dynamic_lds = 128

[[arg]]
value = 2.0
[[arg]]
name = "x"
buffer = "f32[4]"
init = "arange"
expect = [0, 1, 2.5, 3]
rtol = 0.25
[[arg]]
buffer = "bytes[16]"
[[arg]]
local = 256
[[arg]]
type = "f32[3]"
value = [1, 2, 3]
[[arg]]
type = "bytes[3]"
value = "01 02 ff"
[[arg]]
type = "u8"
value = 200
"""


def test_a_full_file() -> None:
    spec = parse_launch(FULL, Path("dir/saxpy.toml"))
    assert (spec.grid, spec.workgroup, spec.dynamic_lds) == ((1024, 2, 1), (64, 1, 1), 128)
    assert (spec.kernel, spec.arch) == ("saxpy", "gfx90a")
    assert spec.expand_file() == Path("dir/saxpy.gfx90a.co")
    assert spec.expand_file("gfx1100:xnack-") == Path("dir/saxpy.gfx1100.co")
    scalar, buffer, raw, local, vector, struct, byte = (a for a in spec.arguments if a is not None)
    assert (scalar.value, scalar.type, scalar.buffer) == (2.0, None, None)
    assert (buffer.name, str(buffer.buffer), buffer.rtol) == ("x", "f32[4]", 0.25)
    assert buffer.buffer is not None and buffer.init is not None and buffer.expect is not None
    assert buffer.init.make(buffer.buffer).tolist() == [0, 1, 2, 3]
    assert buffer.expect.make(buffer.buffer).tolist() == [0, 1, 2.5, 3]
    assert raw.buffer == ArrayType("bytes", 16) and raw.init is not None
    assert raw.init.make(raw.buffer).tobytes() == bytes(16)
    assert local.local_size == 256
    assert vector.value == np.array([1, 2, 3], np.float32).tobytes()
    assert struct.value == b"\x01\x02\xff"
    assert (byte.value, byte.type) == (200, "u8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grid = 8", "k.toml: the file: unknown key `grid`; the keys are launch, arg"),
        ("[launch]\ngrid = 8", "k.toml: [launch] file: missing; name the code object to load"),
        (
            '[launch]\nfile = "k.co"',
            "k.toml: [launch] grid: missing; give the number of work-items, for example grid = ",
        ),
        ("[launch]\nfile = 7\ngrid = 1", "k.toml: [launch] file: expected text in quotes, found 7"),
        (HEAD + "gird = 1", "k.toml: [launch]: unknown key `gird`; the keys are file, arch, kernel, grid, "),
        (
            HEAD + "workgroup = [1, 2, 3, 4]",
            "k.toml: [launch] workgroup: expected one to three numbers, found 4",
        ),
        (HEAD + "workgroup = 0", "k.toml: [launch] workgroup: a size must be from 1 to 4294967295, not 0"),
        (HEAD + "workgroup = 1.5", "k.toml: [launch] workgroup: 1.5 is not a whole number"),
        (HEAD + "dynamic_lds = -1", "k.toml: [launch] dynamic_lds: expected a number of bytes, found -1"),
        (HEAD + "[[arg]]", "k.toml: arg 0: needs exactly one of `buffer`, `value`, `local`, `image` and `sampler`, f"),
        (HEAD + '[[arg]]\nvalue = 1\nbuffer = "f32[1]"', "k.toml: arg 0: needs exactly one of `buffer`, "),
        (
            HEAD + '[[arg]]\nbuffer = "f31[8]"',
            "k.toml: arg 0 buffer: unknown element type `f31`; use one of i8, ",
        ),
        (HEAD + '[[arg]]\nbuffer = "f32"', "k.toml: arg 0 buffer: write a buffer's type as ELEMENT[COUNT], "),
        (HEAD + '[[arg]]\nbuffer = "f32[x]"', "k.toml: arg 0 buffer: `x` is not a number of elements"),
        (
            HEAD + '[[arg]]\nbuffer = "f32[8]"\ninit = "twos"',
            "k.toml: arg 0 init: unknown contents `twos`; use zeros, ones, ",
        ),
        (
            HEAD + '[[arg]]\nbuffer = "f32[8]"\ninit = "random:x"',
            "k.toml: arg 0 init: the seed `x` is not a number",
        ),
        (
            HEAD + '[[arg]]\nbuffer = "f32[8]"\ninit = ["a"]',
            "k.toml: arg 0 init: element 0 ('a') is not a number",
        ),
        (
            HEAD + "[[arg]]\nvalue = 1\n[[arg]]\nvalue = [1]",
            "k.toml: arg 1 type: for a list, give the type, for ",
        ),
        (HEAD + '[[arg]]\nvalue = 1\ninit = "ones"', "k.toml: arg 0 init: only a `buffer` or an `image` can have this "
        "key"),
        (HEAD + '[[arg]]\nvalue = "x"', "k.toml: arg 0 value: 'x' is not a number"),
        (HEAD + "[[arg]]\nvalue = ", "k.toml: TOML: Invalid value (at "),
    ],
)
def test_errors_name_file_key_and_remedy(text: str, message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        parse_launch(text, Path("k.toml"))
    assert str(caught.value).startswith(message)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"none.toml: the file: cannot be read: No such file or directory"):
        read_launch_file(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(LaunchError, match=r"is not UTF-8 text \(byte 0\)"):
        read_launch_file(tmp_path / "bad.toml")


@pytest.mark.parametrize(
    ("init", "array", "wanted"),
    [
        ("zeros", "i16[3]", [0, 0, 0]),
        ("ones", "f16[2]", [1.0, 1.0]),
        ("arange", "u8[258]", [*range(256), 0, 1]),
        ("arange", "bf16[3]", [0.0, 1.0, 2.0]),
        ([1, -2], "i8[2]", [1, -2]),
        ("[0.5, 1]", "f64[2]", [0.5, 1.0]),
        ([18446744073709551615, 0], "u64[2]", [18446744073709551615, 0]),
    ],
)
def test_contents(init: object, array: str, wanted: list[float]) -> None:
    type_ = ArrayType.parse(array)
    assert decode(Contents.parse(init, "i").make(type_), type_.element).tolist() == wanted


def test_random_contents_depend_on_the_seed_alone() -> None:
    floats = Contents.parse("random:7", "i").make(ArrayType.parse("f32[100]"))
    assert floats.tolist() == Contents.parse("random:7", "i").make(ArrayType.parse("f32[100]")).tolist()
    assert floats.tolist() != Contents.parse("random:8", "i").make(ArrayType.parse("f32[100]")).tolist()
    assert floats.min() >= 0 and floats.max() < 1
    assert len(set(Contents.parse("random:7", "i").make(ArrayType.parse("i16[1000]")).tolist())) > 900


@pytest.mark.parametrize(
    ("array", "dtype", "values", "wanted"),
    [
        ("f32[3]", np.float64, [0.1, 2, 3], np.array([0.1, 2, 3], np.float32)),
        ("i32[4]", np.int64, [[1, 2], [3, -4]], np.array([1, 2, 3, -4], np.int32)),
        ("bytes[8]", np.float64, [1.5], np.array([1.5]).view(np.uint8)),
        ("bf16[2]", np.uint16, [0x3F80, 0x4000], np.array([0x3F80, 0x4000], np.uint16)),
    ],
)
def test_contents_from_a_file(tmp_path: Path, array: str, dtype: Any, values: Any, wanted: Any) -> None:
    np.save(tmp_path / "d.npy", np.array(values, dtype))
    made = Contents.parse("file:d.npy", "i", tmp_path).make(ArrayType.parse(array))
    assert made.dtype == wanted.dtype and made.tolist() == wanted.tolist()


@pytest.mark.parametrize("shape", [(6,), (2, 3), (3, 2), (2, 3, 4), (1, 5), (0, 3), ()])
def test_arrays_of_files_are_in_the_order_of_c(tmp_path: Path, shape: tuple[int, ...]) -> None:
    values = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    for order in (values, np.asfortranarray(values)):
        np.save(tmp_path / "d.npy", order)
        assert read_npy(tmp_path / "d.npy", 1000).tolist() == values.reshape(-1).tolist()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ("i32[3]", "holds 2 elements, but the buffer is i32[3]"),
        ("u8[2]", "element 1 (300) cannot be represented as u8"),
        ("bytes[3]", "holds 16 bytes, but the buffer is bytes[3]"),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, array: str, message: str) -> None:
    np.save(tmp_path / "d.npy", np.array([1, 300]))
    with pytest.raises(LaunchError) as caught:
        Contents.parse("file:d.npy", "i", tmp_path).make(ArrayType.parse(array))
    assert message in str(caught.value)


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("values", "element", "bad"),
    [
        ([-128.0, 127.0], "i8", None),
        ([127.0, 128.0], "i8", 1),
        ([0.0, -1.0], "u64", 1),
        ([-(2.0**63), 2.0**63 - 1024], "i64", None),
        ([2.0**63], "i64", 0),
        ([2.0**64 - 2048], "u64", None),
        ([2.0**64], "u64", 0),
        ([1.0, 1.5], "i32", 1),
        ([0.0, NAN], "i32", 1),
        ([INFINITE], "u32", 0),
        ([-INFINITE], "i64", 0),
    ],
)
def test_floats_as_integers(values: list[float], element: str, bad: int | None) -> None:
    if bad is None:
        assert encode(np.array(values), element, "i").tolist() == [int(value) for value in values]
        return
    with pytest.raises(LaunchError) as caught:
        encode(np.array(values), element, "i")
    assert str(caught.value) == f"i: element {bad} ({np.float64(values[bad])}) cannot be represented as {element}"


@pytest.mark.filterwarnings("error")
def test_floats_too_large_become_infinite() -> None:
    assert [encode(np.array([1e300]), element, "i").item() for element in ("f32", "bf16")] == [INFINITE, 0x7F80]


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x01\0", b"PK\x03\x04", b"nonsense", b"\x80\x04N."])
def test_files_that_are_no_arrays(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "d.npy").write_bytes(content)
    with pytest.raises(LaunchError, match=r"arg 1 init: .*d\.npy"):
        Contents.parse("file:d.npy", "arg 1 init", tmp_path).make(ArrayType.parse("u8[1]"))


@pytest.mark.parametrize(
    ("value", "bits"),
    [(1.0, 0x3F80), (1 + 2**-8, 0x3F80), (1 + 3 * 2**-8, 0x3F82), (-2.5, 0xC020), (3.4e38, 0x7F80), (0.0, 0)],
)
def test_bf16_rounds_to_nearest_even(value: float, bits: int) -> None:
    assert encode_bf16(np.array([value], np.float32)).tolist() == [bits]


def test_bf16_keeps_nan() -> None:
    nan = np.array([0x7F800001], np.uint32).view(np.float32)
    assert np.isnan(decode(encode_bf16(nan), "bf16")).all()


@pytest.mark.parametrize(
    ("value", "size", "element", "wanted"),
    [
        (2, 4, None, "02000000"),
        (2, 4, "f32", "00000040"),
        (2.0, 4, None, "00000040"),
        (2.0, 8, None, "0000000000000040"),
        (2.0, 4, "i32", "02000000"),
        (-1, 2, None, "ffff"),
        (0xFFFFFFFF, 4, "i32", "ffffffff"),
        (True, 1, None, "01"),
        (1.0, 2, "bf16", "803f"),
        (np.float32(1), 4, None, "0000803f"),
        (np.int16(-2), 2, "i16", "feff"),
        (b"abc", 3, None, "616263"),
        (np.array([1, 2], np.uint8), 2, None, "0102"),
    ],
)
def test_values(value: Any, size: int, element: str | None, wanted: str) -> None:
    assert value_bytes(value, size, element, "arg 0").hex() == wanted


@pytest.mark.parametrize(
    ("value", "size", "element", "message"),
    [
        (1 << 32, 4, None, "arg 0: 4294967296 does not fit into 4 bytes"),
        (1.5, 4, "i32", "arg 0: 1.5 is not a whole number, but the parameter is an integer of 4 bytes"),
        (np.float64(1), 4, "f32", "arg 0: a NumPy float64 of 8 bytes is given, but the kernel expects 4 bytes"),
        (b"abc", 4, None, "arg 0: bytes of 3 bytes is given, but the kernel expects 4 bytes"),
        ("abc", 4, None, "arg 0: a str cannot be passed; use a number, NumPy value or bytes"),
    ],
)
def test_values_that_do_not_fit(value: Any, size: int, element: str | None, message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        value_bytes(value, size, element, "arg 0")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1024", (1024, 1, 1)),
        ("64 32", (64, 32, 1)),
        ("64,32,2", (64, 32, 2)),
        ("[8, 4, 2]", (8, 4, 2)),
        ("0x10", (16, 1, 1)),
    ],
)
def test_dimensions(text: str, wanted: tuple[int, int, int]) -> None:
    assert parse_dimensions(text, "grid") == wanted


@pytest.mark.parametrize("value", [np.int32(5), 5, [5], (5, 1)])
def test_dimensions_of_values(value: object) -> None:
    assert check_dimensions(value, "grid") == (5, 1, 1)


def test_a_launch_built_by_commands() -> None:
    spec = LaunchSpec()
    spec.set_grid("128")
    spec.set_argument(1, "f32[128]:arange")
    with pytest.raises(LaunchError, match="arg 0: the argument has no value; use `set arg 0 VALUE`"):
        spec.complete()
    spec.set_argument(0, "2.0")
    grid, workgroup, (scalar, buffer) = spec.complete()
    assert (grid, workgroup, scalar.value) == ((128, 1, 1), (64, 1, 1), 2.0)
    assert str(buffer.buffer) == "f32[128]"


@pytest.mark.parametrize(
    ("text", "field", "wanted"),
    [
        ("2.5f", "value", 2.5),
        ("0x10", "value", 16),
        ("true", "value", True),
        ("-inf", "value", float("-inf")),
        ("f32:2", "type", "f32"),
        ("i32[4]", "buffer", ArrayType("i32", 4)),
        ("local[0x100]", "local_size", 256),
        ("value u8[3]:[1, 2, 3]", "value", b"\1\2\3"),
    ],
)
def test_arguments_of_commands(text: str, field: str, wanted: object) -> None:
    assert getattr(ArgumentSpec.parse(text, "arg 0"), field) == wanted


@pytest.mark.parametrize("text", ["", "abc", "f32[", "f32[4]:", "f31:2", "local", "local[x]"])
def test_bad_arguments_of_commands(text: str) -> None:
    with pytest.raises(LaunchError):
        ArgumentSpec.parse(text, "arg 0")


@pytest.mark.parametrize(
    ("got", "wanted", "rtol", "atol", "message"),
    [
        ([1, 2, 3], [1, 2, 3], 0, 0, None),
        ([1, float("nan"), -0.0], [1, float("nan"), 0.0], 0, 0, None),
        ([1, 2.5, 4], [1, 2, 3], 0, 0, "buffer 'y': element 1 is 2.5, expected 2.0 (2 of 3 elements differ)"),
        (
            [1, 2.5, 4],
            [1, 2, 3],
            0,
            0.5,
            "buffer 'y': element 2 is 4.0, expected 3.0 (1 of 3 elements differ)",
        ),
        ([1, 2.5, 4], [1, 2, 3], 0.5, 0, None),
    ],
)
def test_comparison(
    got: list[float], wanted: list[float], rtol: float, atol: float, message: str | None
) -> None:
    result = compare("y", np.array(got, np.float32), np.array(wanted, np.float32), "f32", rtol, atol)
    assert (result.text if result else None) == message
