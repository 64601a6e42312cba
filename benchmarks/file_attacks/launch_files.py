"""Hostile launch files and .npy files."""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import random

from .elf_files import BASE
from .numbers import NAMES, number

VALUES = (
    "0", "1", "-1", "1.5", "nan", "inf", "-inf", "1e400", "true", '""', '"x"', "[]", "[1]", "[[1]]", "{}", "{a=1}",
    "9" * 30, "9" * 5000, "0x" + "f" * 5000, "0b" + "1" * 9000, "1979-05-27", "1979-05-27T07:32:00Z", "07:32:00",
    '"""\na"""', "'''x'''", '"\\u0000"', '"\\u001b[2J"', '"a\\nb"', "[1, 2.5, true]", '["a"]', "[nan, inf]",
    "[" * 60 + "]" * 60, "[" * 3000 + "]" * 3000, "{a=" * 2000 + "1" + "}" * 2000, "[" + "1," * 3000 + "]",
    "18446744073709551615", "18446744073709551616", "-9223372036854775809", "4294967296", "0.1", "1_000",
)
BUFFERS = (
    "f32[64]", "f32[0]", "f16[0]", "f32[-1]", "f32[4611686018427387904]", "u8[9223372036854775807]", "f32[1e3]", "f32[]", "f32",
    "[64]", "q8[4]", "bytes[4294967296]", "f32[0x40]", "bf16[64]", "i8[300]", "f64[33554432]", "f32[" + "9" * 5000 + "]",
    "f32[64][2]", "f32[64", " f32 [ 64 ] ", "u64[64]", "bytes[16]", "f32[\u0664]",
)
CONTENTS = (
    "zeros", "ones", "arange", "random:1", "random:-1", "random:" + "9" * 5000, "random:0x" + "f" * 400, "random:", "random",
    "file:data.npy", "file:", "file:.", "file:missing.npy", "file:~nobody-there/x.npy", "file:/dev/zero", "file:fifo", "file:\x00",
    "file:" + "a" * 5000, "file:launch.toml", "file:" + "../" * 200 + "etc/passwd", "[1, 2]", "[" * 3000, "[1", "[]", "[nan]", "[1e999]",
    "[" + "9" * 400 + "]", "[" + "9" * 5000 + "]", "[0x" + "f" * 5000 + ", 1.5]", "[" + "1," * 63 + "1]", "[(1)]", "[-" + "-" * 300 + "1]", "[1+1]",
)
PATHS = (
    "saxpy.co", "launch.toml", ".", "", "missing", "fifo", "/dev/zero", "/dev/tty", "\x00", "a" * 5000, "{arch}", "{arch}.co",
    "data.npy", "saxpy.{arch}.{arch}.{arch}", "file:///dev/zero", "file://saxpy.co#offset=0&size=99999999999", "memory://1#offset=0&size=9",
)


def quoted(text: str) -> str:
    out = "".join(c if c.isprintable() and c not in '"\\' and ord(c) < 0xD800 else f"\\U{ord(c):08x}" for c in text)
    return f'"{out}"'


def _argument(rng: random.Random) -> list[str]:
    kind = rng.random()
    lines = ["[[arg]]"]
    if rng.random() < 0.4:
        lines.append(f"name = {quoted(rng.choice(NAMES))}")
    if kind < 0.6:
        lines.append(f"buffer = {quoted(rng.choice(BUFFERS)) if rng.random() < 0.7 else quoted('f32[64]')}")
        if rng.random() < 0.7:
            lines.append(f"init = {quoted(rng.choice(CONTENTS)) if rng.random() < 0.8 else rng.choice(VALUES)}")
        if rng.random() < 0.4:
            lines.append(f"expect = {quoted(rng.choice(CONTENTS)) if rng.random() < 0.8 else rng.choice(VALUES)}")
        for key in ("rtol", "atol"):
            if rng.random() < 0.1:
                lines.append(f"{key} = {rng.choice(VALUES)}")
    elif kind < 0.9:
        lines.append(f"value = {rng.choice(VALUES)}")
        if rng.random() < 0.5:
            lines.append(f"type = {quoted(rng.choice((*BUFFERS, 'f32', 'i32', 'u64', 'bf16', 'bytes', 'f16', 'i8')))}")
    else:
        lines.append(f"local = {rng.choice(VALUES)}")
    if rng.random() < 0.05:
        lines.append(f"{rng.choice(('value', 'local', 'buffer', 'odd', 'a.b.c'))} = {rng.choice(VALUES)}")
    return lines


GOOD = ["[[arg]]", "value = 2.0", "[[arg]]", 'buffer = "f32[64]"', "[[arg]]", 'buffer = "f32[64]"', "[[arg]]", "value = 64"]


def toml(rng: random.Random) -> bytes:
    kind = rng.random()
    if kind < 0.06:
        big = rng.choice((
            "a." * rng.choice((60, 300, 20_000)) + "a = 1\n", "[" + "a." * 5000 + "a]\n", '"a".' * 3000 + "a=1\n",
            "x = " + "[" * 50_000, "[[arg]]\n" * 3000, "".join(f"k{i} = 1\n" for i in range(5000)), "[a]\n" * 100,
            "x = '''" + "a\n" * 30_000, 'x = "' + "\\u0041" * 20_000 + '"\n', "#" * 100_000, "a . " * 3000 + "a=1",
        ))
        return big.encode()
    lines = ["[launch]", f"file = {quoted(rng.choice(PATHS)) if rng.random() < 0.25 else quoted('saxpy.co')}"]
    for key, usual in (("grid", "64"), ("workgroup", "64"), ("kernel", '"saxpy"'), ("arch", '"gfx90a"'), ("dynamic_lds", "0")):
        if key == "grid" or rng.random() < 0.4:
            odd = rng.choice(VALUES) if key in ("grid", "workgroup", "dynamic_lds") or rng.random() < 0.5 else quoted(rng.choice(NAMES))
            lines.append(f"{key} = {usual if rng.random() < 0.75 else odd}")
    if rng.random() < 0.3:
        lines += GOOD[: rng.choice((2, 4, 8))]
    for _ in range(rng.choice((0, 1, 4, 4))):
        lines += _argument(rng)
    if rng.random() < 0.1:
        rng.shuffle(lines)
    data = "\n".join(lines).encode("utf-8", "replace")
    if rng.random() < 0.1:
        at = rng.randrange(len(data))
        data = data[:at] + rng.choice((b"\xff", b"\xef\xbb\xbf", b"\0", b"\r", b"=", b"[", b"\xe2\x80\xa8")) + data[at:]
    if rng.random() < 0.03:
        data = rng.choice((b"\xef\xbb\xbf", b"\xff\xfe")) + data
    return data


def npy(rng: random.Random) -> bytes:
    """An .npy file whose header and size do not match, or that requests evaluation."""
    dtype = rng.choice(("<f4", "<f4", "<f8", ">f4", "<i8", "|u1", "|O", "<U9", "<M8[s]", "|V4", "<f2", "<c8", "|S0", "<f3", "V99999999999", "<f16", "?"))
    shape = rng.choice(("(64,)", "(64,)", "(64,)", "(8, 8)", "()", "(0,)", "(-1,)", "(4611686018427387904,)", "(1,)" * 40, "(64", "(True,)",
                        "(" + "1, " * 60 + ")", "(4294967296, 4294967296)", "(" + "9" * 5000 + ",)", "(64L,)"))
    descr = repr(dtype) if rng.random() < 0.9 else "[('a', '<f4'), ('b', '|O')]"
    header = f"{{'descr': {descr}, 'fortran_order': {rng.choice(('False', 'False', 'True', '1', 'None'))}, 'shape': {shape}, }}"
    if rng.random() < 0.1:
        header = rng.choice(("(" * 3000, "-" * 4000 + "1", "{" * 100, "__import__('os').abort()", "", "{'descr': 1}", "[" * 9000, "1+" * 3000 + "1"))
    raw = header.encode().ljust(rng.choice((0, 118)), b" ") + b"\n"
    version = rng.choice((1, 1, 1, 2, 3, 0, 255))
    size = len(raw) if rng.random() < 0.9 else number(rng, 16)
    width = 2 if version == 1 else 4
    content = rng.randbytes(rng.choice((256, 256, 512, 64, 0, 4)))
    return b"\x93NUMPY" + bytes((version, 0)) + (size & ((1 << 8 * width) - 1)).to_bytes(width, "little") + raw + content


def files(rng: random.Random) -> dict[str, bytes]:
    """A launch file, and the files that it names."""
    return {"launch.toml": toml(rng), "data.npy": npy(rng), "saxpy.co": BASE.read_bytes()}


def npy_files(rng: random.Random) -> dict[str, bytes]:
    """A sound launch file that reads a hostile .npy file."""
    element = rng.choice(("f32[64]", "f32[64]", "bytes[256]", "bf16[64]", "i8[64]", "u64[8]"))
    lines = [
        "[launch]", 'file = "saxpy.co"', "grid = 64", "workgroup = 64", "[[arg]]", "value = 2.0", "[[arg]]",
        f'buffer = "{element}"', 'init = "file:data.npy"', "[[arg]]", f'buffer = "{element}"',
        'expect = "file:data.npy"', "[[arg]]", "value = 64",
    ]
    return {"launch.toml": "\n".join(lines).encode(), "data.npy": npy(rng), "saxpy.co": BASE.read_bytes()}

