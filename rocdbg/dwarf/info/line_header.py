"""Headers of line number programs (``.debug_line``, DWARF 2 to 5): parameters, directories, files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.forms import FORMS, Kind, Raw, raw_reader, uleb
from rocdbg.dwarf.info.model import SourceFile
from rocdbg.dwarf.info.sections import Sections
from rocdbg.text import decode_lines, decode_text

SECTION: Final = ".debug_line"
_MOST_FILES: Final = 1_000_000
_LONGEST_PATHS: Final = 64 << 20
"""Limit on the total characters of a table's paths: each contains its directory's path, which may be long."""
_SHORTEST_LIMIT: Final = 1 << 20
_LONGEST_BY_SIZE: Final = 128
"""The same limit for a small table: characters for each of its bytes. There may be many such tables."""


_TEXTS: Final = (Kind.STRING, Kind.STRING_OFFSET, Kind.LINE_STRING_OFFSET, Kind.SUPPLEMENTARY_STRING, Kind.STRING_INDEX)
_UDATA: Final = 0x0F
_DATA16: Final = 0x1E


class Content:
    """DW_LNCT_*: what a column of the directory or file table holds."""

    PATH: Final = 0x1
    DIRECTORY_INDEX: Final = 0x2
    TIMESTAMP: Final = 0x3
    SIZE: Final = 0x4
    MD5: Final = 0x5
    LLVM_SOURCE: Final = 0x2001
    LLVM_IS_MD5: Final = 0x2002


class LineHeader(Struct, frozen=True):
    """Parameters of a line number program; the program is ``[program, end)`` of the section.

    ``files[0]`` has number ``first_file``: 0 in DWARF 5, 1 before.
    """

    version: int
    address_size: int
    min_instruction: int
    max_operations: int
    default_is_stmt: bool
    line_base: int
    line_range: int
    opcode_base: int
    operand_counts: tuple[int, ...]
    files: tuple[SourceFile, ...]
    first_file: int
    program: int
    end: int
    problems: tuple[str, ...] = ()
    """Messages about rules that the tables break although they can be read."""


NO_LINES: Final = LineHeader(5, 8, 1, 1, True, 0, 1, 1, (), (), 0, 0, 0)
"""The header of a table without files and rows."""


class _Cursor:
    """Reads the header, never beyond ``end``."""

    def __init__(self, data: bytes, pos: int, end: int) -> None:
        self.data, self.pos, self.end = data, pos, end
        self.start = pos

    def number(self, size: int) -> int:
        self.pos += size
        self.check()
        return int.from_bytes(self.data[self.pos - size:self.pos], "little")

    def uleb(self) -> int:
        value, self.pos = uleb(self.data, self.pos)
        self.check()
        return value

    def string(self) -> str:
        stop = self.data.find(b"\0", self.pos, self.end)
        if stop < 0:
            self.pos = self.end
            raise IndexError
        text = self.data[self.pos:stop]
        self.pos = stop + 1
        return decode_text(text)

    def check(self) -> None:
        if self.pos > self.end:
            raise IndexError


def read_line_header(
    sections: Sections, offset: int, address_size: int, comp_dir: str,
    note_read: Callable[[int], object] = lambda size: None,
) -> LineHeader:
    """Read the header at ``offset``. ``address_size`` and ``comp_dir`` are the unit's, for tables that do not state
    their own.

    Raises DebugInfoError for a damaged header. ``note_read`` gets the number of bytes that were read before the damage,
    or else the size of the table.
    """
    cursor = _Cursor(sections[SECTION], offset, len(sections[SECTION]))
    try:
        header = _read_header(sections, cursor, address_size, comp_dir)
    except DebugInfoError:
        note_read(min(cursor.pos, cursor.end) - offset)
        raise
    note_read(header.end - offset)
    return header


def _read_header(sections: Sections, cursor: _Cursor, address_size: int, comp_dir: str) -> LineHeader:
    data, offset = cursor.data, cursor.pos
    problems: list[str] = []
    try:
        length, offset_size = cursor.number(4), 4
        if length == 0xFFFFFFFF:
            length, offset_size = cursor.number(8), 8
        end = cursor.pos + length
        if end > len(data):
            raise DebugInfoError(
                SECTION, offset, f"the line table has {length:#x} bytes, which go beyond the section's end"
            )
        cursor.end = end
        version = cursor.number(2)
        if not 2 <= version <= 5:
            raise DebugInfoError(SECTION, offset, f"line table version {version} is not supported")
        if version >= 5:
            address_size = cursor.number(1)
            cursor.number(1)  # segment selector size
        header_length = cursor.number(offset_size)
        program = cursor.pos + header_length
        min_instruction = cursor.number(1)
        max_operations = cursor.number(1) if version >= 4 else 1
        default_is_stmt = cursor.number(1) != 0
        line_base = cursor.number(1)
        line_range = cursor.number(1)
        opcode_base = cursor.number(1)
        if line_range == 0 or max_operations == 0 or opcode_base == 0 or address_size not in (2, 4, 8):
            raise DebugInfoError(SECTION, offset, "a parameter of the line table header is 0 or impossible")
        if not cursor.pos <= program <= end:
            raise DebugInfoError(
                SECTION, offset, f"the header would have {header_length:#x} bytes, which do not fit into the line table"
            )
        counts = tuple(cursor.number(1) for _ in range(opcode_base - 1))
        cursor.end = program
        if version >= 5:
            files = _read_tables(sections, cursor, offset_size, address_size, comp_dir, problems)
        else:
            files = _read_old_tables(cursor, comp_dir, problems)
    except IndexError:
        raise DebugInfoError(SECTION, offset, "the line table header is truncated") from None
    return LineHeader(
        version, address_size, min_instruction, max_operations, default_is_stmt,
        line_base - 256 if line_base >= 128 else line_base, line_range, opcode_base, counts, files,
        0 if version >= 5 else 1, program, end, tuple(problems),
    )


class _Paths:
    """Joins names and directories, and limits the total number of characters."""

    def __init__(self, offset: int, size: int) -> None:
        self._offset = offset
        self._total = 0
        self._limit = min(_LONGEST_PATHS, _SHORTEST_LIMIT + _LONGEST_BY_SIZE * size)

    def join(self, comp_dir: str, directory: str, name: str, *, in_comp_dir: bool) -> tuple[str, str]:
        """Return the name as GDB shows it, which includes the directory unless it is that of the compilation, and the
        path.
        """
        self._total += len(comp_dir) + 2 * len(directory) + 2 * len(name)
        if self._total > self._limit:
            raise DebugInfoError(
                SECTION, self._offset, f"the paths of the files have more than {self._limit} characters in total"
            )
        shown = name if in_comp_dir else posixpath.join(directory, name)
        return shown, posixpath.normpath(posixpath.join(comp_dir, directory, name))


def _directory(index: int, directories: list[str], otherwise: str, name: str, problems: list[str]) -> str:
    """Return the directory with the given index. If there is none, add a message to ``problems`` and return the value
    of ``otherwise``.
    """
    if index < len(directories):
        return directories[index]
    problems.append(f"file '{name}' is in directory {index}, but there are only {len(directories)} directories")
    return otherwise


def _read_old_tables(cursor: _Cursor, comp_dir: str, problems: list[str]) -> tuple[SourceFile, ...]:
    """Tables of DWARF 2 to 4: null-terminated sequences; directory 0 is that of the compilation."""
    directories = [comp_dir]
    while directory := cursor.string():
        directories.append(directory)
    files = []
    paths = _Paths(cursor.pos, cursor.end - cursor.start)
    while name := cursor.string():
        index, modified, length = cursor.uleb(), cursor.uleb(), cursor.uleb()
        directory = _directory(index, directories, comp_dir, name, problems)
        shown, path = paths.join(comp_dir, directory, name, in_comp_dir=index == 0)
        files.append(SourceFile(shown, directory, path, modified=modified or None, length=length or None))
    return tuple(files)


def _read_tables(
    sections: Sections, cursor: _Cursor, offset_size: int, address_size: int, comp_dir: str, problems: list[str]
) -> tuple[SourceFile, ...]:
    """Tables of DWARF 5: self-describing; directory 0 is that of the compilation, file 0 the primary
    source."""

    def text(form: int, raw: Raw | None, *, lines: bool = False) -> str:
        if isinstance(raw, bytes):
            return decode_lines(raw) if lines else decode_text(raw)
        if raw is None:
            return ""
        kind = FORMS[form][2]
        string = sections.lines if lines else sections.string
        if kind is Kind.LINE_STRING_OFFSET:
            return string(".debug_line_str", raw)
        if kind is Kind.STRING_OFFSET:
            return string(".debug_str", raw)
        if kind is Kind.SUPPLEMENTARY_STRING and sections.supplement is not None:
            return (sections.supplement.lines if lines else sections.supplement.string)(".debug_str", raw)
        raise DebugInfoError(SECTION, cursor.pos, f"DW_FORM_{FORMS[form][0]} is not supported as the form of a path")

    def table() -> list[dict[int, tuple[int, Raw]]]:
        columns = [(cursor.uleb(), cursor.uleb()) for _ in range(cursor.number(1))]
        problems.extend(_column_problems(columns))
        readers = []
        for content, form in columns:
            if form not in FORMS:
                raise DebugInfoError(SECTION, cursor.pos, f"content {content:#x} has the unknown form {form:#x}")
            try:
                readers.append((content, form, raw_reader(form, 5, address_size, offset_size)))
            except KeyError:
                raise DebugInfoError(
                    SECTION, cursor.pos, "DW_FORM_indirect and DW_FORM_implicit_const are not supported in a line "
                    "table header"
                ) from None
        count = cursor.uleb()
        if count > _MOST_FILES or (count and not columns):
            reason = f"the table has an impossible number of files or directories: {count}"
            raise DebugInfoError(SECTION, cursor.pos, reason)
        rows = []
        for _ in range(count):
            row = {}
            for content, form, reader in readers:
                raw, cursor.pos = reader(cursor.data, cursor.pos)
                row[content] = (form, raw)
            cursor.check()
            rows.append(row)
        return rows

    absent: tuple[int, None] = (0, None)
    directories = [text(*row.get(Content.PATH, absent)) for row in table()]
    root = posixpath.join(comp_dir, directories[0]) if directories else comp_dir
    files = []
    paths = _Paths(cursor.pos, cursor.end - cursor.start)
    for row in table():
        name = text(*row.get(Content.PATH, absent))
        index = _number(row, Content.DIRECTORY_INDEX) or 0
        directory = _directory(index, directories, root, name, problems)
        shown, path = paths.join(root, directory, name, in_comp_dir=index == 0)
        md5 = row.get(Content.MD5, absent)[1]
        valid = _number(row, Content.LLVM_IS_MD5)
        source = text(*row[Content.LLVM_SOURCE], lines=True) if Content.LLVM_SOURCE in row else ""
        if valid not in (None, 0, 1):
            problems.append(f"DW_LNCT_LLVM_is_MD5 of file '{name}' is {valid}, neither 0 nor 1")
        if "\r" in source:
            problems.append(f"the lines of the embedded source of file '{name}' do not all end with a plain newline")
        files.append(SourceFile(
            shown, directory, path,
            md5=md5.to_bytes(16, "little") if isinstance(md5, int) and valid != 0 else None,
            source=_embedded(source),
            modified=_number(row, Content.TIMESTAMP), length=_number(row, Content.SIZE),
        ))
    return tuple(files)


def _column_problems(columns: list[tuple[int, int]]) -> Iterator[str]:
    """Yield a message for each column whose form is not allowed for its content (DWARF 5, 6.2.4.1; for LLVM's contents
    A.6.2.4.1).
    """
    for content, form in columns:
        if content in (Content.PATH, Content.LLVM_SOURCE) and form in FORMS and FORMS[form][2] not in _TEXTS:
            yield f"content {content:#x} must be a string, but has form DW_FORM_{FORMS[form][0]}"
        elif content == Content.LLVM_IS_MD5 and form != _UDATA:
            yield f"DW_LNCT_LLVM_is_MD5 has form {form:#x}, not DW_FORM_udata"
        elif content == Content.MD5 and form != _DATA16:
            yield f"DW_LNCT_MD5 has form {form:#x}, not DW_FORM_data16"


def _number(row: dict[int, tuple[int, Raw]], content: int) -> int | None:
    raw = row.get(content, (0, None))[1]
    return raw if isinstance(raw, int) else None


def _embedded(text: str) -> str | None:
    """Embedded source: an empty string means that there is none, a single newline that the file is empty."""
    return None if not text else "" if text == "\n" else text
