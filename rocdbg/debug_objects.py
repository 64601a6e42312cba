"""Finds debug information in files for `rocdbg.dwarf`, which knows no file formats: of GPUs, else of the host."""

from __future__ import annotations

from pathlib import Path

from rocdbg.codeobject import CodeObject, CodeObjectError, open_modules
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.elf import EM_AMDGPU, Elf, is_elf
from rocdbg.dwarf.reader.opening import OpenedObject
from rocdbg.launch.debug_files import DebugFiles
from rocdbg.launch.debug_sections import DebugSections
from rocdbg.regular_file import read_regular

_LARGEST = 1 << 30


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
        return _of_host(str(path), data)  # a host's object, without code for GPUs
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
    eh_frame = elf.sections.get(".eh_frame")
    return OpenedObject(
        name, DebugInfo(sections, architecture=""), sections, "", None,
        None if eh_frame is None else (eh_frame.data, eh_frame.address),
    )
