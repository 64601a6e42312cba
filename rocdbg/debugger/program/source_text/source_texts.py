"""The available source texts of a unit: files, verified by their checksums, and what they define.

LLVM omits all checksums of a unit if one file has none, such as the headers of GCC's C++ library that every HIP program
includes. A file then counts as the one that was compiled if it is not newer than the code, and has tokens at the lines
and columns of the line table.

A header that contains only macros is not in the line table. If a known file includes it with quotes, its current text
is used, provided that it is not newer than the code.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source_files import SourceError, SourceFiles, checksum, modified, split_lines
from rocdbg.debugger.program.source_text.known_names import KnownNames, KnownText
from rocdbg.debugger.program.source_text.source_tokens import Macro, definitions_of, tokens_of
from rocdbg.debugger.program.source_text.unknown_macros import UnknownMacros
from rocdbg.dwarf.info import DebugInfo, Function, SourceFile, Unit
from rocdbg.regular_file import FileAccessError, read_regular

_MOST_BYTES: Final = 1 << 22
_MOST_FILES: Final = 256
_REFERENCE_TYPE = re.compile(r"\b(?:using\s+\w+\s*=|typedef\b)[^;]*&[^;]*")
_SYSTEM = re.compile(r"^/(?:usr|opt)/|/lib/clang/|/include/(?:hip|c\+\+)/")
"""Paths of headers that define only macros of languages, of the C library and of HIP, and no names of a program."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_NO_NAMES: Final = frozenset({
    "using", "typedef", "typename", "const", "volatile", "unsigned", "signed", "int", "char", "short", "long", "float",
    "double", "bool", "void", "auto", "struct", "class", "operator", "return", "template", "noexcept", "inline",
    "static", "constexpr",
})
"""Words that cannot be names of a program's own types."""


class UnitTexts(Struct, dict=True):
    """What is known about a unit's texts.

    Attributes:
        macros: macros that have one certain definition.
        bodies: the text of all definitions, by name.
        is_closed: nothing else was included.
        unread: the unknown files that the program's own files include (whether with quotes, the name); None if some of
            the program's own files are not known.
        has_all_macros: debug information lists all macros.
        settled: the file and line from which on a macro is defined, regardless of conditions.
        given: the macros of the command line, None if it is not recorded.
        system: whether headers of the language were included.
    """

    texts: dict[str, str]
    macros: dict[str, Macro]
    bodies: dict[str, str]
    is_closed: bool
    unread: list[tuple[bool, str]] | None
    has_all_macros: bool = False
    settled: dict[str, tuple[str, int]] = field(default_factory=dict)
    given: dict[str, Macro] | None = None
    system: bool = False

    def unknown_macros(
        self, is_cxx: bool, declared: Collection[str], place: tuple[str, int], info: DebugInfo
    ) -> UnknownMacros:
        """Return what is not known about macros. ``declared`` holds names that are not macros; ``place`` is the file
        and line of the function.
        """
        defined = {
            name: self.bodies[name] for name, (path, line) in self.settled.items()
            if name in self.bodies and (path != place[0] or line <= place[1])
        } | {name: self.bodies[name] for name in self.given or {}}
        names = self._names.get(is_cxx)
        if names is None:
            names = self._names[is_cxx] = KnownNames(
                self._known_texts, is_cxx, self.system or not self.is_closed,
                lambda name: bool(info.functions_named(name) or info.types_named(name) or info.variables_named(name)),
                lambda name: bool(info.types_named(name)),
            )
        return UnknownMacros(
            self._known_texts, defined, self.unread, names, frozenset(declared), is_cxx=is_cxx,
            has_command_line=self.given is not None,
        )

    @cached_property
    def _names(self) -> dict[bool, KnownNames]:
        return {}

    @cached_property
    def _known_texts(self) -> dict[str, KnownText]:
        return {path: KnownText(text) for path, text in self.texts.items()}

    def definitions(self, name: str) -> list[tuple[str, int]]:
        """Return the texts, and the positions in them, that look like a definition of a function with this name."""
        pattern = re.compile(rf"\b{re.escape(name)}\s*\([^;{{}}]*\)[\s\w]*\{{")
        return [(text, match.start()) for text in self.texts.values() for match in pattern.finditer(text)]

    def may_take_references(self, name: str) -> bool:
        """Whether anything that looks like a declaration of the function has a reference parameter."""
        pattern = re.compile(rf"\b{re.escape(name)}\s*\(([^;{{}}]*)")
        return any(
            "&" in match[1] or not self.reference_words.isdisjoint(_WORD.findall(match[1]))
            for text in self.texts.values() for match in pattern.finditer(text)
        )

    @cached_property
    def reference_words(self) -> frozenset[str]:
        """The words in declarations that may name reference types."""
        return frozenset(
            word for text in self.texts.values() for match in _REFERENCE_TYPE.finditer(text)
            for word in _WORD.findall(match[0]) if word not in _NO_NAMES
        )


def _begins_token(line: str, column: int) -> bool:
    """Whether a token may begin at a column of a line (in bytes, from 1); column 0 does not exist."""
    data = line.encode()
    if not column or data.lstrip()[:1] == b"#":
        return True
    if column > len(data) or data[column - 1 : column].isspace():
        return False
    return column == 1 or not (_is_of_word(data[column - 1]) and _is_of_word(data[column - 2]))


def _is_of_word(byte: int) -> bool:
    return byte >= 0x80 or chr(byte).isalnum() or byte == ord("_")


class SourceTexts:
    """Reads source texts, each of them once."""

    def __init__(self, sources: SourceFiles) -> None:
        self._sources = sources
        self._texts: dict[tuple[str, bytes | int | None], tuple[str, Path | None] | None] = {}
        self._units: dict[int, tuple[Unit, UnitTexts | None]] = {}
        self._fits: dict[tuple[int, int], tuple[Program, bool]] = {}

    def text(self, file: SourceFile, program: Program) -> str | None:
        """Return the text of a program's file as it was compiled; None if that is not available."""
        found = self._text(file, program)
        return found[0] if found is not None else None

    def fit(self, program: Program, function: Function) -> bool:
        """Whether each text without a checksum has a token at every line table position of a function's code."""
        key = id(program), function.offset
        kept = self._fits.get(key)
        if kept is None:
            kept = self._fits[key] = program, self._fit(program, function)
        return kept[1]

    def _fit(self, program: Program, function: Function) -> bool:
        places: dict[SourceFile, set[tuple[int, int]]] = {}
        for row in program.info.lines_of(function):
            if row.line and row.file.md5 is None:
                places.setdefault(row.file, set()).add((row.line, row.column))
        for file, wanted in places.items():
            text = self.text(file, program)
            if text is not None:
                lines = split_lines(text)
                if not all(line <= len(lines) and _begins_token(lines[line - 1], column) for line, column in wanted):
                    return False
        return True

    def of(self, unit: Unit, program: Program) -> UnitTexts | None:
        """Return the texts of a unit of ``program``; None if it has too many files."""
        kept = self._units.get(id(unit))
        if kept is None:
            kept = self._units[id(unit)] = unit, self._of(unit, program)
        return kept[1]

    def _of(self, unit: Unit, program: Program) -> UnitTexts | None:
        files = unit.files
        if len(files) > _MOST_FILES:
            return None
        found = UnitTexts({}, {}, {}, True, [], given=given_macros(unit.producer))
        pending: list[tuple[str, str, Path | None]] = []
        paths: set[Path] = set()
        changed: set[str] = set()
        for file in files:
            found.system = found.system or _SYSTEM.search(file.path) is not None
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
            found.settled |= {name: (own, line) for name, line in definitions.settled.items()}
            for is_quoted, name in definitions.includes:
                path = self._included(place, name) if is_quoted else None
                if path is not None and path in paths:
                    continue
                known = path is not None and path.name not in changed and len(paths) < _MOST_FILES
                more = self._header(path, program.built) if path is not None and known else None
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
        for name, macro in (found.given or {}).items():
            if name in found.bodies:
                found.macros.pop(name, None)
            else:
                found.macros[name] = macro
            body = " ".join(token.text for token in macro.body)
            found.bodies[name] = f"{found.bodies.get(name, '')} {body}"
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
    def _header(path: Path, built: int | None) -> str | None:
        changed = modified(path)
        if built is None or changed is None or changed > built:
            return None
        try:
            return read_regular(path, _MOST_BYTES).decode("utf-8", "replace")
        except (FileAccessError, OSError, ValueError):
            return None


# The macros on a compiler's command line, if that is recorded (``-grecord-command-line``).
_RECORDED: Final = ("-grecord-command-line", "-grecord-gcc-switches")
_HIDDEN = re.compile(r"-include.*|--include.*|-imacros.*|--imacros.*|-Wp,.*|-X.*|@.*|-fmodule.*|--config.*")
"""Options that may define macros which the command line does not show."""
_DEFINITION = re.compile(r"([A-Za-z_]\w*)(?:\(([\w\s,]*)\))?(?:=(.*))?", re.S)
_LONG: Final = {"--define-macro": "-D", "--undefine-macro": "-U"}


def given_macros(producer: str) -> dict[str, Macro] | None:
    """Return the macros that the command line in a unit's DW_AT_producer defines; None if they are not known."""
    if not any(option in producer for option in _RECORDED):
        return None
    try:
        words = shlex.split(producer)
    except ValueError:
        return None
    if not any(option in words for option in _RECORDED):
        return None
    found: dict[str, Macro] = {}
    index = 0
    while index < len(words):
        name, _, value = words[index].partition("=")
        word = _LONG[name] + value if name in _LONG else words[index]
        index += 1
        if _HIDDEN.fullmatch(word) is not None:
            return None
        if word[:2] not in ("-D", "-U"):
            continue
        text = word[2:]
        if not text:
            text = words[index] if index < len(words) else ""
            index += 1
        definition = _DEFINITION.fullmatch(text)
        if definition is None:
            return None
        if word[:2] == "-U":
            found.pop(definition[1], None)
            continue
        parameters = None if definition[2] is None else tuple(
            part.strip() for part in definition[2].split(",") if part.strip()
        )
        body = tuple(tokens_of("1" if definition[3] is None else definition[3]))
        if any(token.text in ("#", "##") for token in body):
            return None
        found[definition[1]] = Macro(parameters, body, 0)
    return found
