"""Every way to damage one item in the debug information of a code object, as bytes to overwrite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rocdbg.codeobject import CodeObject
from rocdbg.dwarf.info import DebugInfo, Die
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.forms import FORMS, Kind, raw_reader, read_indirect
from rocdbg.errors import Error
from rocdbg.launch.debug_sections import DebugSections


@dataclass(frozen=True)
class Damage:
    """Bytes to be written into the file; ``entry`` and ``code`` identify the damaged attribute."""

    what: str
    position: int
    data: bytes
    entry: int | None = None
    code: int = 0

    def applied(self, file: bytes) -> bytes:
        return file[: self.position] + self.data + file[self.position + len(self.data) :]


def damages(file: bytes) -> list[Damage]:
    """All damages for one code object with uncompressed debug information."""
    code = CodeObject(file, name="damaged")
    start = {name: section.offset for name, section in code.sections.items() if name.startswith(".debug_")}
    size = {name: len(section.data) for name, section in code.sections.items() if name.startswith(".debug_")}
    info = DebugInfo(DebugSections(code))
    found = list(_attributes(info, start[".debug_info"]))
    for name in (".debug_line", ".debug_loclists", ".debug_loc", ".debug_rnglists", ".debug_ranges", ".debug_addr",
                 ".debug_frame", ".debug_str_offsets", ".debug_abbrev", ".debug_str", ".debug_line_str"):
        if name in start:
            found += _places(name, start[name], size[name])
    return found


def _attributes(info: DebugInfo, section: int) -> Iterator[Damage]:
    for unit in info.units:
        todo = [unit.top]
        while todo:
            die = todo.pop()
            todo += reversed(list(die.children))
            for code, kind, begin, end in _extents(die):
                label = f"attribute {code:#x} of the entry at {die.offset:#x}"
                for name, data in _contents(kind, unit.entries.data[begin:end]):
                    yield Damage(f"{label}: {name}", section + begin, data, die.offset, code)


def _extents(die: Die) -> Iterator[tuple[int, Kind, int, int]]:
    """Code, kind, begin and end of each attribute."""
    abbreviation, position = die._start
    unit = die.unit
    data = unit.entries.data
    for spec in abbreviation.attributes:
        form, begin = spec.form, position
        if spec.reader is not None:
            _, position = spec.reader(data, position)
        elif spec.implicit is None:
            form, position = read_indirect(data, position)
            _, position = raw_reader(form, unit.version, unit.address_size, unit.offset_size)(data, position)
        if position > begin:
            yield spec.code, FORMS[form][2], begin, position


def _contents(kind: Kind, data: bytes) -> Iterator[tuple[str, bytes]]:
    if kind in (Kind.EXPRLOC, Kind.BLOCK):
        if len(data) > 1:
            yield "no operations", data[:1] + b"\xff" * (len(data) - 1)
            yield "an empty stack", data[:1] + b"\x22" * (len(data) - 1)
            yield "a register", data[:1] + b"\x96" * (len(data) - 2) + b"\x50"
        return
    if kind is Kind.STRING:
        yield "another name", bytes(byte ^ 1 if byte > 1 else byte for byte in data)
        return
    yield "ones", b"\xff" * (len(data) - 1) + b"\x7f"
    yield "zeros", bytes(len(data))


def _places(name: str, start: int, size: int) -> Iterator[Damage]:
    """Positions, one dword apart: everywhere in a small section, at 200 places in others."""
    step = max(4, size // 200)
    for at in range(0, size, step):
        yield Damage(f"{name}+{at:#x}: ones", start + at, b"\xff" * min(4, size - at))
        yield Damage(f"{name}+{at:#x}: zeros", start + at, bytes(min(4, size - at)))


__all__ = ["At", "Damage", "Error", "damages"]
