"""A kernel with hand-written debug information that has room for other attributes.

Expressions have 40 bytes, padded with DW_OP_nop; attribute codes have three bytes, so that any code can be replaced by
an unknown one. Everything is in one small code object for gfx90a, assembled once.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocdbg.dwarf.operation_assembler import assemble

ROOM = 40
UNKNOWN = 0x3FFF
"""A code that no attribute has."""

_CODE = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.text
.globl k
.p2align 8
.type k,@function
.file 1 "/nowhere" "k.c"
k:
.loc 1 1 0
  v_and_b32 v2, 63, v0
  v_mov_b32 v3, 5
.loc 1 2 0 prologue_end
  v_mov_b32 v4, 4
  v_lshlrev_b32 v5, 2, v2
.loc 1 3 0
  ds_write_b32 v4, v3
  v_mov_b32 v4, 8
  v_mov_b32 v3, 10
  ds_write_b32 v4, v3
  s_waitcnt lgkmcnt(0)
.loc 1 4 0
  v_add_u32 v2, 100, v2
.loc 1 5 0
  s_nop 0
.loc 1 6 0
  s_endpgm
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 64
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 0
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
...
.end_amdgpu_metadata
.section .debug_line,"",@progbits
.Lline:
.section .debug_loclists,"",@progbits
  .long .Llists_end-.Llists
.Llists:
  .short 5
  .byte 8, 0
  .long 0
.Llist:
  .byte 8
  .quad k
  .uleb128 8
  .byte 2, 0x90, 17
  .byte 0
.Ltwice:
  .byte 8
  .quad k
  .uleb128 .Lend-k
  .byte 2, 0x90, 17
  .byte 8
  .quad k
  .uleb128 .Lend-k
  .byte 2, 0x90, 36
  .byte 0
.Ltwo_places:
  .byte 8
  .quad k
  .uleb128 .Lend-k
  .byte 4, 0x34, 0x33, 0xe9, 0x02
  .byte 8
  .quad k
  .uleb128 .Lend-k
  .byte 4, 0x38, 0x33, 0xe9, 0x02
  .byte 0
.Llists_end:
.section .debug_frame,"",@progbits
.Lcie:
  .long .Lcie_end-.Lcie-4, 0xffffffff
  .byte 4
  .asciz "[amd:v0.0]"
  .byte 8, 0, 4, 4, 16
  .byte 7, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
.Lcie_end:
  .long .Lfde_end-.Lfde
.Lfde:
  .long 0
  .quad k, .Lend-k
  .byte 0x0f, 4, 0x30, 0x36, 0xe9, 0x02, 0, 0
.Lfde_end:
"""
FRAME_CODE = bytes((0x0F, 4, 0x30, 0x36, 0xE9, 0x02))
"""The instructions of k's call frame information: the CFA is the beginning of the wave's private memory."""


def code3(number: int) -> bytes:
    """A ULEB128 number in three bytes."""
    return bytes((number & 0x7F | 0x80, number >> 7 & 0x7F | 0x80, number >> 14))


def sized(data: bytes) -> bytes:
    """An exprloc that fills all of the space."""
    assert len(data) <= ROOM
    return bytes((ROOM,)) + data + b"\x96" * (ROOM - len(data))


@dataclass(frozen=True)
class Field:
    """An attribute: its code, its form, and its value (an int, a string, a label, an expression)."""

    code: int
    form: int
    value: object = None


EXPR, DATA1, STRING, REF4, ADDR = 0x18, 0x0B, 0x08, 0x13, 0x01
NAME, TYPE, LOCATION, MEMBER = 0x03, 0x49, 0x02, 0x38
X = assemble(("regx", 2562), "push_lane", "lit4", "mul", "offset")
LDS4 = assemble("lit4", "lit3", "form_aspace_address")


def entries() -> list[tuple[str, int, bool, list[Field]]]:
    """Label, tag, has children, attributes; an empty label ends a list of children."""
    name = lambda text: Field(NAME, STRING, text)  # noqa: E731
    return [
        ("unit", 0x11, True, [name("k.c"), Field(0x25, STRING, "by hand"), Field(0x3E09, STRING, "[amdgpu:v0.0]"),
                              Field(0x11, ADDR, "k"), Field(0x12, 0x06, ".Lend-k"), Field(0x10, 0x17, ".Lline"),
                              Field(0x13, DATA1, 0x0C)]),
        ("int", 0x24, False, [name("int"), Field(0x3E, DATA1, 5), Field(0x0B, DATA1, 4)]),
        ("vector", 0x24, False, [name("vec"), Field(0x3E, DATA1, 5), Field(0x0B, DATA1, 4), Field(0x3E0C, DATA1, 2)]),
        ("base", 0x13, True, [name("B"), Field(0x0B, DATA1, 4)]),
        ("base.z", 0x0D, False, [name("z"), Field(TYPE, REF4, "int"), Field(MEMBER, DATA1, 0)]),
        ("", 0, False, []),
        ("struct", 0x13, True, [name("S"), Field(0x0B, DATA1, 8)]),
        ("struct.base", 0x1C, False, [Field(TYPE, REF4, "base"), Field(MEMBER, EXPR, assemble("lit0", "offset"))]),
        ("struct.a", 0x0D, False, [name("a"), Field(TYPE, REF4, "int"), Field(MEMBER, DATA1, 0)]),
        ("struct.b", 0x0D, False, [name("b"), Field(TYPE, REF4, "int"),
                                   Field(MEMBER, EXPR, assemble("lit4", "offset"))]),
        ("", 0, False, []),
        ("plain", 0x13, True, [name("P"), Field(0x0B, DATA1, 12)]),
        ("plain.a", 0x0D, False, [name("a"), Field(TYPE, REF4, "int"), Field(MEMBER, DATA1, 0)]),
        ("plain.b", 0x0D, False, [name("b"), Field(TYPE, REF4, "int"), Field(MEMBER, DATA1, 4)]),
        ("plain.c", 0x0D, False, [name("c"), Field(TYPE, REF4, "int"), Field(MEMBER, DATA1, 8)]),
        ("", 0, False, []),
        ("pointer", 0x0F, False, [Field(TYPE, REF4, "int"), Field(0x0B, DATA1, 4), Field(0x3E10, DATA1, 3)]),
        ("k", 0x2E, True, [name("k"), Field(0x11, ADDR, "k"), Field(0x12, 0x06, ".Lend-k"), Field(0x3F, 0x0C, 1),
                           Field(0x3E0A, DATA1, 64), Field(0x3E0A, EXPR, assemble("lit4", "stack_value")),
                           Field(UNKNOWN, DATA1, 2), Field(UNKNOWN, EXPR, b""), Field(UNKNOWN, EXPR, b""),
                           Field(0x40, EXPR, assemble("lit0", "lit5", "form_aspace_address")),
                           Field(UNKNOWN, EXPR, b""), Field(UNKNOWN, 0x17, ".Llist-.Llists+4"),
                           Field(UNKNOWN, 0x17, ".Ltwice-.Llists+4"),
                           Field(UNKNOWN, 0x17, ".Ltwo_places-.Llists+4")]),
        ("x", 0x34, False, [name("x"), Field(TYPE, REF4, "int"), Field(LOCATION, EXPR, X)]),
        ("s", 0x34, False, [name("s"), Field(TYPE, REF4, "struct"), Field(LOCATION, EXPR, LDS4)]),
        ("p", 0x34, False, [name("p"), Field(TYPE, REF4, "plain"), Field(LOCATION, EXPR, LDS4)]),
        ("v", 0x34, False, [name("v"), Field(TYPE, REF4, "vector"), Field(LOCATION, EXPR, LDS4)]),
        ("q", 0x34, False, [name("q"), Field(TYPE, REF4, "pointer"),
                            Field(LOCATION, EXPR, assemble("lit4", "stack_value"))]),
        ("", 0, False, []),
        ("", 0, False, []),
    ]


@dataclass
class Described:
    """The object's bytes, and the positions of its attributes: (entry, index of the attribute)."""

    file: bytes
    info: int
    abbreviations: int
    values: dict[tuple[str, int], int]
    codes: dict[tuple[str, int], int]

    def patched(self, *patches: tuple[str, int, int | None, bytes | int | None]) -> bytes:
        """The file with changed attributes: entry, index of the attribute, its new code (None: unchanged), its new
        value.
        """
        file = bytearray(self.file)
        for entry, index, code, value in patches:
            if code is not None:
                at = self.abbreviations + self.codes[entry, index]
                file[at : at + 3] = code3(code)
            at = self.info + self.values[entry, index]
            if isinstance(value, int):
                file[at] = value & 0xFF
            elif value is not None:
                file[at : at + ROOM + 1] = sized(value)
        return bytes(file)


def build(folder: Path) -> Described:
    """Assemble the source."""
    abbreviations, info = bytearray(), []
    size = 12
    values, codes, offsets = {}, {}, {}
    for number, (label, tag, has_children, fields) in enumerate(entries(), 1):
        if not label:
            info.append(".byte 0")
            size += 1
            continue
        offsets[label] = size
        abbreviations += bytes((number, tag, has_children))
        info.append(f".byte {number}")
        size += 1
        for index, field in enumerate(fields):
            codes[label, index] = len(abbreviations)
            abbreviations += code3(field.code) + bytes((field.form,))
            values[label, index] = size
            line, length = _line(field)
            info.append(line)
            size += length
        abbreviations += b"\0\0"
    text = _CODE + '.section .debug_abbrev,"",@progbits\n.Labbrev:\n' + _bytes(bytes(abbreviations) + b"\0")
    text += '\n.section .debug_info,"",@progbits\n.Linfo:\n.long .Linfo_end-.Linfo-4\n.short 5\n.byte 1, 8\n'
    text += ".long .Labbrev\n" + "\n".join(info).format(**offsets) + "\n.Linfo_end:\n"
    source, made = folder / "k.s", folder / "k.co"
    source.write_text(text)
    subprocess.run(
        ["clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-x", "assembler", str(source), "-o", str(made)],
        check=True, timeout=60,
    )
    from rocdbg.codeobject import CodeObject

    file = made.read_bytes()
    sections = CodeObject(file, name="k.co").sections
    return Described(file, sections[".debug_info"].offset, sections[".debug_abbrev"].offset, values, codes)


def _line(field: Field) -> tuple[str, int]:
    value = field.value
    match field.form:
        case 0x08:
            assert isinstance(value, str)
            return f'.asciz "{value}"', len(value) + 1
        case 0x18:
            assert isinstance(value, bytes)
            return _bytes(sized(value)), ROOM + 1
        case 0x01:
            return f".quad {value}", 8
        case 0x13:
            return f".long {{{value}}}", 4
        case 0x06 | 0x17:
            return f".long {value}", 4
        case _:
            return f".byte {value}", 1


def _bytes(data: Sequence[int]) -> str:
    return ".byte " + ", ".join(str(byte) for byte in data)
