"""Hostile metadata: MsgPack of code object V3 and after, YAML of V2."""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import random
import struct

import msgpack

from .elf_files import BASE, Elf, with_note
from .numbers import damaged, name, number

KEYS = (
    ".name", ".symbol", ".args", ".kernarg_segment_size", ".kernarg_segment_align", ".group_segment_fixed_size",
    ".private_segment_fixed_size", ".wavefront_size", ".sgpr_count", ".vgpr_count", ".agpr_count", ".language",
    ".language_version", ".reqd_workgroup_size", ".workgroup_size_hint", ".max_flat_workgroup_size", ".kind",
    ".uses_dynamic_stack", ".workgroup_processor_mode", ".vec_type_hint", ".device_enqueue_symbol", ".sgpr_spill_count",
)
ARG_KEYS = (
    ".name", ".type_name", ".size", ".offset", ".value_kind", ".address_space", ".access", ".actual_access",
    ".pointee_align", ".is_const", ".is_restrict", ".align",
)


def _real() -> dict[str, object]:
    section = Elf.read(BASE).sections[0].data
    size = struct.unpack_from("<III", section)[1]
    return msgpack.unpackb(section[20 : 20 + size])  # type: ignore[no-any-return]


def value(rng: random.Random, depth: int = 0) -> object:
    """Any value, mostly of the wrong type for its place."""
    match rng.randrange(11):
        case 0 | 1:
            return number(rng)
        case 2:
            return -number(rng, 62)
        case 3:
            return rng.choice((None, True, False, float("nan"), float("inf"), 1e308, b"\xff\xfe"))
        case 4 | 5:
            return name(rng).decode("utf-8", "replace")
        case 6 if depth < 5:
            return [value(rng, depth + 1) for _ in range(rng.choice((0, 1, 3, 30)))]
        case 7 if depth < 5:
            return {name(rng).decode("utf-8", "replace"): value(rng, depth + 1) for _ in range(rng.randrange(4))}
        case 8:
            return rng.choice(("by_value", "global_buffer", "hidden_none", "dynamic_shared_pointer", "image", "hidden_x"))
        case 9:
            return [number(rng) for _ in range(3)]
    return rng.choice((0, 8, 64, 1 << 63, (1 << 64) - 1))


def tree(rng: random.Random) -> dict[str, object]:
    """The metadata of a real kernel with hostile values in it."""
    root = _real()
    kernels = root["amdhsa.kernels"]
    assert isinstance(kernels, list)
    kernel = kernels[0]
    for _ in range(rng.choice((1, 1, 2, 4))):
        match rng.randrange(7):
            case 0:
                root[rng.choice(("amdhsa.version", "amdhsa.target", "amdhsa.kernels", "amdhsa.printf"))] = value(rng)
            case 1 | 2:
                kernel[rng.choice(KEYS)] = value(rng)
            case 3 | 4 if isinstance(kernel.get(".args"), list) and kernel[".args"]:
                argument = rng.choice(kernel[".args"])
                if isinstance(argument, dict):
                    argument[rng.choice(ARG_KEYS)] = value(rng)
            case 5 if isinstance(kernel.get(".args"), list):
                kernel[".args"] = kernel[".args"] * rng.choice((0, 2, 40))
            case _:
                kernels += [dict(kernel, **{".name": name(rng).decode("utf-8", "replace")}) for _ in range(rng.choice((1, 30)))]
    return root


def _nested(rng: random.Random) -> bytes:
    """Nested arrays and maps that state more elements than they contain."""
    head = rng.choice((
        b"\xdd\0\0\xff\xff", b"\xdd\xff\xff\xff\xff", b"\xdc\xff\xff", b"\x91", b"\x81\xa1a", b"\xdf\xff\xff\xff\xff\xa1a",
        b"\x9f", b"\x81\x91", b"\xde\0\1\xa1a",
    ))
    return head * rng.choice((1, 20, 33, 511, 512, 1024, 5000)) + rng.randbytes(number(rng, 5))


def msgpack_note(rng: random.Random) -> bytes:
    kind = rng.random()
    if kind < 0.12:
        data = _nested(rng)
    elif kind < 0.2:
        data = b"\x81\xaeamdhsa.kernels" + _nested(rng)
    else:
        data = msgpack.packb(tree(rng), unicode_errors="surrogatepass")
        if kind < 0.5:
            data = damaged(rng, data)
    return with_note(data)


YAML = """---
Version: [ 1, 0 ]
Kernels:
  - Name: saxpy
    SymbolName: 'saxpy@kd'
    Language: OpenCL C
    LanguageVersion: [ 2, 0 ]
    Args:
      - {Name: a, TypeName: float, Size: 4, Align: 4, ValueKind: ByValue, ValueType: F32}
      - Name: x
        TypeName: 'float*'
        Size: 8
        Align: 8
        ValueKind: GlobalBuffer
        AddrSpaceQual: Global
    CodeProps:
      KernargSegmentSize: 24
      GroupSegmentFixedSize: 0
      PrivateSegmentFixedSize: 0
      KernargSegmentAlign: 8
      WavefrontSize: 64
      NumSGPRs: 16
      NumVGPRs: 8
      MaxFlatWorkGroupSize: 256
...
"""
_BITS = (
    "[", "{", "- ", "? ", ": ", "&a ", "*a", "!!python/object:os.system ", "!!binary ", "<<: *a", "|\n", ">-\n", "'", '"',
    "%YAML 9.9\n", "---\n", "...\n", "\t", "#", "\x85", "\u2028", "0x" + "f" * 40, "9" * 5000, "[[[[]]]]", "{a: b, ",
    "? [a, b] : c\n", "[1,\n", "}", "]", "~", "null", "-1", "1e400", "&a [*a, *a]",
)


def yaml_note(rng: random.Random) -> bytes:
    kind = rng.random()
    if kind < 0.15:
        text = rng.choice(("[", "{a: ", "- ", "? ", "[[", "{? ", "&a [", "- - ", "? - ")) * rng.choice((3, 40, 3000, 100_000))
    elif kind < 0.25:
        levels = "".join(f"k{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}]\n" for i in range(1, rng.choice((3, 10, 40))))
        text = "k0: &a0 [x, x]\n" + levels + YAML[4:]
    else:
        lines = YAML.split("\n")
        for _ in range(rng.choice((1, 1, 3))):
            at = rng.randrange(len(lines))
            match rng.randrange(5):
                case 0:
                    lines[at] += rng.choice(_BITS) * rng.choice((1, 1, 20))
                case 1:
                    lines.insert(at, rng.choice(_BITS))
                case 2:
                    head, colon, _ = lines[at].partition(":")
                    lines[at] = head + colon + " " + rng.choice((*_BITS, str(number(rng)), name(rng).decode("utf-8", "replace")))
                case 3:
                    lines[at] = " " * rng.randrange(9) + lines[at].lstrip()
                case _:
                    lines[at:at] = lines[at : at + 5] * rng.choice((1, 20))
        text = "\n".join(lines)
    data = text.encode("utf-8", "replace")
    if rng.random() < 0.15:
        data = damaged(rng, data)
    return with_note(data, v2=True)
