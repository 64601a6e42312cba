"""Finds debug information in files for `rocdbg.dwarf`, which does not know file formats. Files are searched for GPU
code first, and otherwise read as host objects.
"""

from __future__ import annotations

import struct
from pathlib import Path

from rocdbg.codeobject import CodeObject, CodeObjectError, open_modules
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.elf import EM_AMDGPU, Elf, is_elf
from rocdbg.dwarf.reader.opening import OpenedObject
from rocdbg.launch.debug_files import DebugFiles
from rocdbg.launch.debug_sections import DebugSections
from rocdbg.regular_file import read_regular

_LARGEST = 1 << 30
_RELOCATABLE, _X86_64 = 1, 62
_RELA, _SYMBOL = 24, 24
_SIZES = {1: 8, 10: 4, 11: 4, 17: 8, 21: 4}
"""The number of bytes that each relocation type fills: R_X86_64_64, 32, 32S, DTPOFF64 and DTPOFF32."""


def open_object(source: str | Path | bytes, target_id: str | None) -> OpenedObject:
    """The debug information of a file or of the bytes of one. Raises `rocdbg.Error`."""
    if isinstance(source, bytes):
        return _of_bytes("<bytes>", source)
    try:
        found = open_modules(source, target_id)[0]
    except CodeObjectError:
        path = Path(source)
        data = read_regular(path, _LARGEST)
        if not is_elf(data) or target_id is not None:
            raise
        return _of_host(str(path), data)  # a host object without code for GPUs
    return _of_code(found)


def _of_bytes(name: str, data: bytes) -> OpenedObject:
    if is_elf(data) and int.from_bytes(data[18:20], "little") == EM_AMDGPU:
        return _of_code(CodeObject(data, name=name))
    return _of_host(name, data)


def _of_code(code: CodeObject) -> OpenedObject:
    files = DebugFiles()
    contents = files.contents(code)
    large = code.target.vgpr_file > 256
    eh_frame = code.sections.get(".eh_frame")
    return OpenedObject(
        code.name, files.info(contents, code), dict(contents.sections), code.target.name,
        "amdgcn_gfx125" if large else "amdgcn",
        None if eh_frame is None else (eh_frame.data, eh_frame.address),
    )


def _of_host(name: str, data: bytes) -> OpenedObject:
    from rocdbg.dwarf.info import DebugInfo

    elf = Elf(Source(name, data))
    sections = dict(DebugSections(elf))
    if int.from_bytes(data[16:18], "little") == _RELOCATABLE:
        _relocate(elf, sections, int.from_bytes(data[18:20], "little"))
    eh_frame = elf.sections.get(".eh_frame")
    linked = eh_frame if int.from_bytes(data[16:18], "little") != _RELOCATABLE else None
    return OpenedObject(
        name, DebugInfo(sections, architecture=""), sections, "", None,
        None if linked is None else (linked.data, linked.address),
    )


def _relocate(elf: Elf, sections: dict[str, bytes], machine: int) -> None:
    """Put addends and symbols' values into the debug sections of an unlinked object for x86-64."""
    if machine != _X86_64:
        raise CodeObjectError(elf.source.name, f"is an unlinked object for machine {machine}: link it first")
    table = elf.sections.get(".symtab")
    symbols = table.data if table is not None else b""
    for name, data in sections.items():
        relocations = elf.sections.get(f".rela{name}")
        if relocations is None or len(relocations.data) % _RELA:
            continue
        patched = bytearray(data)
        for at in range(0, len(relocations.data), _RELA):
            offset, info, addend = struct.unpack_from("<QQq", relocations.data, at)
            size = _SIZES.get(info & 0xFFFFFFFF)
            start = (info >> 32) * _SYMBOL
            if size is None or offset + size > len(patched) or start + _SYMBOL > len(symbols):
                continue
            value = struct.unpack_from("<Q", symbols, start + 8)[0] + addend
            patched[offset : offset + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        sections[name] = bytes(patched)
