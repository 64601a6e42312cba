"""The texts a unit was compiled from, as far as they can be had: files by their checksums, and what they define.

LLVM writes no checksum at all if one file of a unit has none, as the headers of GCC's C++ library that every HIP
program includes. Then a file counts as the one that was compiled if it is not newer than the code.

A header that only has macros is not in the line table. Where a known file includes it in quotes it is taken as it is
now.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Final

from msgspec import Struct

from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source import SourceError, SourceFiles, checksum, modified
from rocdbg.debugger.program.source_tokens import Macro, definitions_of
from rocdbg.debugger.program.unknown_macros import UnknownMacros
from rocdbg.dwarf.info import SourceFile, Unit
from rocdbg.regular_file import FileAccessError, read_regular

_MOST_BYTES: Final = 1 << 22
_MOST_FILES: Final = 256
_REFERENCE_TYPE = re.compile(r"\b(?:using\s+\w+\s*=|typedef\b)[^;]*&[^;]*")
_SYSTEM = re.compile(r"^/(?:usr|opt)/|/lib/clang/|/include/(?:hip|c\+\+)/")
"""Paths of headers that define the macros of languages, of the C library and of HIP, and none for a program's names."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_NO_NAMES: Final = frozenset({
    "using", "typedef", "typename", "const", "volatile", "unsigned", "signed", "int", "char", "short", "long", "float",
    "double", "bool", "void", "auto", "struct", "class", "operator", "return", "template", "noexcept", "inline",
    "static", "constexpr",
})
"""Words that name no type of a program's own."""


class UnitTexts(Struct, dict=True):
    """What is known of a unit's texts.

    ``macros`` have one certain definition; ``bodies`` is the text of all definitions by name. ``is_closed``: nothing
    else was included. ``unread`` has what programs' own files include that is not known (whether in quotes, the name);
    None: some of these files are not known. ``has_all_macros``: there are no others, for debug information has them.
    """

    texts: dict[str, str]
    macros: dict[str, Macro]
    bodies: dict[str, str]
    is_closed: bool
    unread: list[tuple[bool, str]] | None
    has_all_macros: bool = False

    def unknown_macros(self, is_cxx: bool, declared: Collection[str]) -> UnknownMacros:
        """What is not known of macros; ``declared`` are names that are none."""
        return UnknownMacros(self.texts, self.bodies, self.unread, is_cxx, frozenset(declared))

    def definitions(self, name: str) -> list[tuple[str, int]]:
        """The texts, and places in them, that look like a definition of a function of a name."""
        pattern = re.compile(rf"\b{re.escape(name)}\s*\([^;{{}}]*\)[\s\w]*\{{")
        return [(text, match.start()) for text in self.texts.values() for match in pattern.finditer(text)]

    def may_take_references(self, name: str) -> bool:
        """Whether anything in the texts that looks like a declaration of a function has a reference in its list."""
        pattern = re.compile(rf"\b{re.escape(name)}\s*\(([^;{{}}]*)")
        return any(
            "&" in match[1] or not self.reference_words.isdisjoint(_WORD.findall(match[1]))
            for text in self.texts.values() for match in pattern.finditer(text)
        )

    @cached_property
    def reference_words(self) -> frozenset[str]:
        """The words of declarations that may give references names."""
        return frozenset(
            word for text in self.texts.values() for match in _REFERENCE_TYPE.finditer(text)
            for word in _WORD.findall(match[0]) if word not in _NO_NAMES
        )


class SourceTexts:
    """Reads them, each once."""

    def __init__(self, sources: SourceFiles) -> None:
        self._sources = sources
        self._texts: dict[tuple[str, bytes | int | None], tuple[str, Path | None] | None] = {}
        self._units: dict[int, tuple[Unit, UnitTexts | None]] = {}

    def text(self, file: SourceFile, program: Program) -> str | None:
        """The text of a program's file as it was compiled; None when that is not to be had."""
        found = self._text(file, program)
        return found[0] if found is not None else None

    def of(self, unit: Unit, program: Program) -> UnitTexts | None:
        """The texts of a unit of ``program``; None if it has too many files."""
        kept = self._units.get(id(unit))
        if kept is None:
            kept = self._units[id(unit)] = unit, self._of(unit, program)
        return kept[1]

    def _of(self, unit: Unit, program: Program) -> UnitTexts | None:
        files = unit.files
        if len(files) > _MOST_FILES:
            return None
        found = UnitTexts({}, {}, {}, True, [])
        pending: list[tuple[str, str, Path | None]] = []
        paths: set[Path] = set()
        changed: set[str] = set()
        for file in files:
            text = self._text(file, program)
            if text is None:
                found.is_closed = False
                found.unread = found.unread if _SYSTEM.search(file.path) else None
                changed.add(file.basename)
            elif file.path not in found.texts:
                pending.append((file.path, *text))
                found.texts[file.path] = text[0]
                paths |= {text[1].resolve()} if text[1] is not None else set()
        uncertain: set[str] = set()
        while pending:
            own, text_, place = pending.pop()
            definitions = definitions_of(text_)
            for name, body in definitions.bodies.items():
                if name in found.bodies or name not in definitions.certain:
                    uncertain.add(name)
                found.bodies[name] = f"{found.bodies.get(name, '')} {body}"
            found.macros |= definitions.certain
            for is_quoted, name in definitions.includes:
                path = self._included(place, name) if is_quoted else None
                if path is not None and path in paths:
                    continue
                known = path is not None and path.name not in changed and len(paths) < _MOST_FILES
                more = self._header(path) if path is not None and known else None
                if path is None or more is None:
                    found.is_closed = False
                    is_known = any(path_.endswith(f"/{name}") for path_ in found.texts)
                    if found.unread is not None and not is_known and not _SYSTEM.search(own):
                        found.unread.append((is_quoted, name))
                    continue
                paths.add(path)
                found.texts[str(path)] = more
                pending.append((str(path), more, path))
        for name in uncertain:
            found.macros.pop(name, None)
        return found

    def _text(self, file: SourceFile, program: Program) -> tuple[str, Path | None] | None:
        key = file.path, program.built if file.md5 is None else file.md5
        if key not in self._texts:
            self._texts[key] = self._read(file, program.built)
        return self._texts[key]

    def _read(self, file: SourceFile, built: int | None) -> tuple[str, Path | None] | None:
        if file.source is not None:
            return file.source, None
        try:
            path = self._sources.text(file).path
            data = read_regular(path, _MOST_BYTES) if path is not None else b""
        except (SourceError, FileAccessError, OSError, ValueError):
            return None
        if path is None:
            return None
        if file.md5 is not None:
            same = checksum(data) == file.md5
        else:
            changed = modified(path)
            same = built is not None and changed is not None and changed <= built
        return (data.decode("utf-8", "replace"), path) if same else None

    @staticmethod
    def _included(place: Path | None, name: str) -> Path | None:
        if place is None:
            return None
        try:
            return (place.parent / name).resolve()
        except (OSError, ValueError, RuntimeError):
            return None

    @staticmethod
    def _header(path: Path) -> str | None:
        try:
            return read_regular(path, _MOST_BYTES).decode("utf-8", "replace")
        except (FileAccessError, OSError, ValueError):
            return None
