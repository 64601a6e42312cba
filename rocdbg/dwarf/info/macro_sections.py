"""Preprocessor macros: ``.debug_macro`` of DWARF 5 and GNU, ``.debug_macinfo`` before (DWARF 5, section 6.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg import work
from rocdbg.dwarf.info.attribute_values import Constant, SectionOffset
from rocdbg.dwarf.info.constants import At
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.forms import uleb
from rocdbg.dwarf.info.model import SourceFile
from rocdbg.dwarf.info.sections import Sections
from rocdbg.text import decode_text

if TYPE_CHECKING:
    from rocdbg.dwarf.info.unit import Unit

_DEFINE, _UNDEF, _START, _END, _DEFINE_STRP, _UNDEF_STRP, _IMPORT = range(1, 8)
_DEFINE_SUP, _UNDEF_SUP, _IMPORT_SUP, _DEFINE_STRX, _UNDEF_STRX = range(8, 13)
_VENDOR = 0xFF
_DEFINES = (_DEFINE, _DEFINE_STRP, _DEFINE_SUP, _DEFINE_STRX)
_SECTIONS = ((At.MACROS, ".debug_macro"), (At.GNU_MACROS, ".debug_macro"), (At.MACRO_INFO, ".debug_macinfo"))
_MOST_ENTRIES = 1 << 20
_DEEPEST = 200
_HEAD = re.compile(r"([^\s(]+)(?:\(([^)]*)\))? ?(.*)", re.DOTALL)


class Place(Struct, frozen=True):
    """A line of a file, which was included at ``parent``."""

    file: SourceFile | None
    line: int
    parent: Place | None = None


class Macro(Struct, frozen=True):
    """A definition. ``parameters`` is None for a macro that is not function-like; ``place`` is None if the user defined
    it.
    """

    name: str
    parameters: tuple[str, ...] | None
    replacement: str
    place: Place | None = None

    @property
    def variadic(self) -> bool:
        """Whether its last parameter takes all remaining arguments."""
        return bool(self.parameters) and (self.parameters or ("",))[-1].endswith("...")


class Change(Struct, frozen=True):
    """The definition of a name, or the end of its definition (``#undef``), at a place."""

    place: Place
    name: str
    macro: Macro | None


def definition(text: str, place: Place | None = None) -> Macro:
    """Parse the definition ``NAME(PARAMETERS) REPLACEMENT`` of a macro."""
    match = _HEAD.match(text)
    name, parameters, replacement = (match[1], match[2], match[3]) if match else (text, None, "")
    listed = None
    if parameters is not None:
        listed = tuple(part.strip() for part in parameters.split(",")) if parameters.strip() else ()
    return Macro(name, listed, replacement, place)


class MacroTable:
    """The macros of a unit: every change of a definition, in the order of the preprocessor."""

    def __init__(self, changes: list[Change]) -> None:
        self.changes = changes
        self._known: dict[tuple[SourceFile | None, int], Mapping[str, Macro]] = {}

    def at(self, file: SourceFile, line: int) -> Mapping[str, Macro]:
        """The definitions in force at a line of a file (at its first inclusion), by name."""
        key = file, line
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._at(file, line)
        return found

    def _at(self, file: SourceFile, line: int) -> dict[str, Macro]:
        # Macros of the command line and of the compiler itself are not in any file.
        macros = {c.name: c.macro for c in self.changes if c.place.file is None and c.macro is not None}
        first: Place | None = None
        inside = False
        for change in self.changes:
            if change.place.file is None:
                continue
            place: Place | None = change.place
            chain = []
            while place is not None:
                chain.append(place)
                place = place.parent
            here = next((at for at in chain if _same(at.file, file)), None)
            if here is not None and first is None:
                first = here.parent
                inside = True
            if inside and (here is None or here.parent is not first or here.line > line):
                break
            if change.macro is None:
                macros.pop(change.name, None)
            else:
                macros[change.name] = change.macro
        return macros if inside else {}


def _same(one: SourceFile | None, other: SourceFile) -> bool:
    return one is not None and one.path == other.path


def macros_of(unit: Unit) -> MacroTable:
    """The macros of a unit; an empty table without any. Raises DebugInfoError for a damaged section."""
    for code, section in _SECTIONS:
        value = unit.top.attribute(code)
        if isinstance(value, SectionOffset | Constant):
            offset = value.offset if isinstance(value, SectionOffset) else value.value
            return MacroTable(list(_Reader(unit, section, unit.sections).changes(offset)))
    return MacroTable([])


class _Reader:
    """Reads one unit's part of a section, and the parts that it imports."""

    def __init__(self, unit: Unit, section: str, sections: Sections) -> None:
        self._unit, self._section, self._sections = unit, section, sections
        self._data = sections[section]
        self._stack: list[Place] = []
        self._files: dict[int, SourceFile | None] = {}
        self._file = unit.file if unit.skeleton is None else self._own_lines(0)
        self._left = [_MOST_ENTRIES]

    def _own_lines(self, offset: int) -> Callable[[int], SourceFile | None]:
        """Return a function that looks up files by number in the line table at an offset. The line table is in the
        unit's own sections: split units share other sections with the linked object, but have a line table of their own
        for macros (DWARF 5, section 7.3.2.2).
        """
        if offset >= len(self._unit.sections[".debug_line"]):
            return self._unit.file
        return self._unit.entries.line_table(offset, self._unit).file

    def _error(self, offset: int, what: str) -> DebugInfoError:
        return DebugInfoError(self._section, offset, what)

    def changes(self, offset: int, imported: tuple[int, ...] = ()) -> Iterator[Change]:
        """Yield the changes in the part of the section that begins at ``offset``."""
        if offset in imported or len(imported) > _DEEPEST:
            raise self._error(offset, "the macro unit imports itself, or imports are nested too deeply")
        size, pos = 4, offset
        old = self._section == ".debug_macinfo"
        if not old:
            size, pos = self._header(offset)
        while True:
            work.unit()
            start = pos
            code = self._byte(pos)
            pos += 1
            if code == 0:
                return
            self._left[0] -= 1
            if self._left[0] < 0:
                raise self._error(start, f"there are more than {_MOST_ENTRIES} macro entries")
            if code == _END:
                if not self._stack:
                    raise self._error(start, "an included file ends, but none has begun")
                self._stack.pop()
                continue
            if code == _IMPORT and not old:
                at = self._number(pos, size)
                pos += size
                yield from self.changes(at, (*imported, offset))
                continue
            if code == _IMPORT_SUP and not old:
                at = self._number(pos, size)
                pos += size
                if self._sections.supplement is not None:
                    yield from self._elsewhere(self._sections.supplement).changes(at)
                continue
            line, pos = self._uleb(pos)
            if code == _START:
                number, pos = self._uleb(pos)
                self._start(start, line, number)
                continue
            if old and code == _VENDOR:
                _, pos = self._text(pos)
                continue
            text, pos = self._named(start, code, pos, size, old)
            if text is None:
                continue
            parent = self._stack[-1] if self._stack else Place(None, 0)
            place = Place(parent.file, line, parent.parent)
            if code in _DEFINES:
                macro = definition(text, place)
                yield Change(place, macro.name, macro)
            else:
                yield Change(place, text.strip(), None)

    def _elsewhere(self, sections: Sections) -> _Reader:
        """A reader of the supplementary file's macros, positioned where this one is."""
        reader = _Reader(self._unit, self._section, sections)
        reader._stack, reader._left = [*self._stack], self._left
        return reader

    def _start(self, start: int, line: int, number: int) -> None:
        if len(self._stack) >= _DEEPEST:
            raise self._error(start, f"included files are nested more than {_DEEPEST} deep")
        if number not in self._files:
            self._files[number] = self._file(number)
        includer = self._stack[-1] if self._stack else None
        parent = None if includer is None else Place(includer.file, line, includer.parent)
        self._stack.append(Place(self._files[number], 0, parent))

    def _header(self, offset: int) -> tuple[int, int]:
        """Size of an offset, and where the entries begin."""
        version, flags = self._number(offset, 2), self._byte(offset + 2)
        if version not in (4, 5):
            raise self._error(offset, f"version {version} of macro information is not supported")
        if flags & 4:
            raise self._error(offset, "vendor-defined macro entries are not supported")
        size = 8 if flags & 1 else 4
        if flags & 2 and self._unit.skeleton is not None and not self._stack:
            self._file = self._own_lines(self._number(offset + 3, size))
        return size, offset + 3 + (size if flags & 2 else 0)

    def _named(self, start: int, code: int, pos: int, size: int, old: bool) -> tuple[str | None, int]:
        """The text of a definition, or the name that is undefined."""
        if code in (_DEFINE, _UNDEF):
            return self._text(pos)
        if old or code > _UNDEF_STRX:
            raise self._error(start, f"unknown type of macro entry {code:#x}")
        if code in (_DEFINE_STRX, _UNDEF_STRX):
            index, pos = self._uleb(pos)
            return self._unit.indexed_string(index), pos
        offset = self._number(pos, size)
        if code in (_DEFINE_STRP, _UNDEF_STRP):
            return self._sections.string(".debug_str", offset), pos + size
        supplement = self._sections.supplement
        return None if supplement is None else supplement.string(".debug_str", offset), pos + size

    def _text(self, pos: int) -> tuple[str, int]:
        end = self._data.find(b"\0", pos)
        if end < 0:
            raise self._error(pos, "there is no string at this offset")
        return decode_text(self._data[pos:end]), end + 1

    def _byte(self, pos: int) -> int:
        if pos >= len(self._data):
            raise self._error(pos, "entry is truncated")
        return self._data[pos]

    def _number(self, pos: int, size: int) -> int:
        if pos + size > len(self._data):
            raise self._error(pos, "entry is truncated")
        return int.from_bytes(self._data[pos : pos + size], "little")

    def _uleb(self, pos: int) -> tuple[int, int]:
        try:
            return uleb(self._data, pos)
        except IndexError:
            raise self._error(pos, "entry is truncated") from None


__all__ = ["Change", "Macro", "MacroTable", "Place", "definition", "macros_of"]
