"""Units of ``.debug_info``: headers, bases, and what the top entry says about the whole unit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from rocdbg import work
from rocdbg.dwarf.conventions import Conventions, conventions_of
from rocdbg.dwarf.decoding import Operation
from rocdbg.dwarf.info.abbrev import Abbreviation
from rocdbg.dwarf.info.attribute_values import Address, Constant, SectionOffset, String
from rocdbg.dwarf.info.code_ranges import ranges_of
from rocdbg.dwarf.info.constants import LANGUAGE_NAMES, At, UnitType
from rocdbg.dwarf.info.dialect import unit_dialect
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.macro_sections import MacroTable, macros_of
from rocdbg.dwarf.info.model import AddressRange, SourceFile
from rocdbg.dwarf.info.split_units import SplitName, SplitSections
from rocdbg.dwarf.info.unit_index import UnitIndex
from rocdbg.errors import remembered

if TYPE_CHECKING:
    from rocdbg.dwarf.info.entries import Entries
    from rocdbg.dwarf.info.lines import LineTable
    from rocdbg.dwarf.info.sections import Sections


class Unit:
    """A unit: its header, and what its top entry says about the whole unit.

    ``offset`` and ``end`` delimit it in ``.debug_info``, ``first`` is where its entries begin. ``version`` is 2 to 5;
    ``address_size`` and ``offset_size`` (4 or 8) are in bytes. ``type_signature`` and ``type_offset`` (relative to the
    unit) are only set in type units. ``sections`` are the sections to which it refers, in its own file if it is split;
    ``skeleton`` is then the unit of the linked object (DWARF 5 section 3.1.2), and ``id`` identifies both. Equality is
    identity.
    """

    skeleton: Unit | None = None
    reference_base = 0
    """Position, in the data of all entries, of the section to which its references to other units are relative."""

    def __init__(
        self, entries: Entries, *, offset: int, end: int, first: int, version: int, unit_type: int,
        address_size: int, offset_size: int, abbrev_offset: int, type_signature: int | None, type_offset: int,
        id: int | None = None, sections: Sections | None = None,
    ) -> None:
        self.entries = entries
        self.id = id
        self.sections = sections if sections is not None else entries.sections
        self.is_split = isinstance(sections, SplitSections)
        self.offset = offset
        self.end = end
        self.first = first
        self.version = version
        self.unit_type = unit_type
        self.address_size = address_size
        self.offset_size = offset_size
        self.abbrev_offset = abbrev_offset
        self.type_signature = type_signature
        self.type_offset = type_offset
        self.subtree_ends: dict[int, int] = {}
        """The known ends of large lists of children, by the start of the list."""

    def __repr__(self) -> str:
        return f"<Unit {self.offset:#x} {self.name!r}>"

    @remembered
    def abbreviations(self) -> dict[int, Abbreviation]:
        """The unit's abbreviation table."""
        return self.entries.abbreviations(self)

    @remembered
    def macros(self) -> MacroTable:
        """The macros; an empty table without any. Raises DebugInfoError for a damaged section."""
        return macros_of(self)

    @cached_property
    def top(self) -> Die:
        """The unit's own entry."""
        return Die(self, self.first)

    @cached_property
    def index(self) -> UnitIndex:
        """The positions of its functions, variables and types."""
        return UnitIndex(self)

    @property
    def is_type_unit(self) -> bool:
        """True for a unit that only describes one type."""
        return self.unit_type in (UnitType.TYPE, UnitType.SPLIT_TYPE)

    # What the top entry says

    def _top_string(self, code: int) -> str:
        value = self.top.attribute(code)
        return value.value if isinstance(value, String) else ""

    @cached_property
    def name(self) -> str:
        """Name of the primary source file, as given to the compiler."""
        return self._top_string(At.NAME)

    @cached_property
    def comp_dir(self) -> str:
        """Directory of the compilation, empty when unknown."""
        return self._top_string(At.COMP_DIR) or (self.skeleton.comp_dir if self.skeleton is not None else "")

    @cached_property
    def split_name(self) -> SplitName | None:
        """If this unit is a skeleton, the unit in another file to which it belongs; else None."""
        name = self._top_string(At.DWO_NAME if self.version >= 5 else At.GNU_DWO_NAME)
        return SplitName(name, self.comp_dir, self._split_id, self.offset) if name else None

    @property
    def _split_id(self) -> int:
        found = self.id if self.id is not None else self.top.raw_attribute(At.GNU_DWO_ID)
        return found if isinstance(found, int) else 0

    @cached_property
    def producer(self) -> str:
        """The compiler's name and version (DW_AT_producer)."""
        return self._top_string(At.PRODUCER)

    @cached_property
    def language(self) -> int | None:
        """DW_LANG_* code; None when not given."""
        value = self.top.attribute(At.LANGUAGE)
        return value.value if isinstance(value, Constant) else None

    @property
    def language_name(self) -> str:
        """Language as ROCgdb writes it: ``c``, ``c++``, ``hip``, ``opencl``, ``asm``, ``fortran``, ``rust``, else
        ``unknown``. Upstream clang labels HIP as C++.
        """
        return "unknown" if self.language is None else LANGUAGE_NAMES.get(self.language, "unknown")

    @cached_property
    def is_cxx(self) -> bool:
        """True for C++ and its relatives: class names need no keyword, names have scopes."""
        return self.language_name in ("c++", "hip", "rust", "unknown")

    @cached_property
    def keeps_tags(self) -> bool:
        """Whether a type's keyword is written before its name: in C, but not in OpenCL C, as in GDB."""
        return not self.is_cxx and self.language_name != "opencl"

    @cached_property
    def augmentation(self) -> str:
        """DW_AT_LLVM_augmentation, such as ``[amdgpu:v0.0]``; empty without one."""
        return self._top_string(At.LLVM_AUGMENTATION)

    @cached_property
    def dialect(self) -> str:
        """Encoding of the heterogeneous extensions in this unit: ``"amd"``, ``"proposal2020"`` or
        ``"llvm22"``."""
        return unit_dialect(self)

    @cached_property
    def conventions(self) -> Conventions:
        """The ways in which the unit's producer departs from the specification."""
        return conventions_of(self.dialect, self.producer)

    @cached_property
    def base_address(self) -> int:
        """Base of the unit's location and range lists: its DW_AT_low_pc, else 0."""
        if self.skeleton is not None:
            return self.skeleton.base_address
        value = self.top.attribute(At.LOW_PC)
        return value.value if isinstance(value, Address) else 0

    @cached_property
    def ranges(self) -> tuple[AddressRange, ...]:
        """The unit's code ranges as its top entry states them; empty if it does not state any."""
        if self.skeleton is not None:
            return self.skeleton.ranges
        return ranges_of(self.top)

    # Bases

    def _base(self, code: int, default: int) -> int:
        raw = self.top.raw_attribute(code)
        return raw if isinstance(raw, int) else default

    @property
    def _table_header(self) -> int:
        """Size of the header of a DWARF 5 contribution to an index section."""
        return 8 if self.offset_size == 4 else 16

    @cached_property
    def str_offsets_base(self) -> int:
        """Position of string index 0 in ``.debug_str_offsets``."""
        return self._base(At.STR_OFFSETS_BASE, self._table_header if self.version >= 5 else 0)

    @cached_property
    def addr_base(self) -> int:
        """Position of address index 0 in ``.debug_addr``."""
        if self.skeleton is not None:
            return self.skeleton.addr_base
        default = self._base(At.GNU_ADDR_BASE, self._table_header if self.version >= 5 else 0)
        return self._base(At.ADDR_BASE, default)

    @cached_property
    def ranges_base(self) -> int:
        """The base of offsets into ``.debug_ranges``, which is 0 except in split units before DWARF 5."""
        return 0 if self.skeleton is None else self.skeleton._base(At.GNU_RANGES_BASE, 0)

    @cached_property
    def rnglists_base(self) -> int:
        """Position of the offset table in ``.debug_rnglists``."""
        return self._base(At.RNGLISTS_BASE, self._table_header + 4)

    @cached_property
    def loclists_base(self) -> int:
        """Position of the offset table in ``.debug_loclists``."""
        return self._base(At.LOCLISTS_BASE, self._table_header + 4)

    def indexed_string(self, index: int) -> str:
        """The string with an index into ``.debug_str_offsets``."""
        sections, size = self.sections, self.offset_size
        offset = sections.number(".debug_str_offsets", self.str_offsets_base + index * size, size)
        return sections.string(".debug_str", offset)

    def indexed_address(self, index: int) -> int:
        """The address with an index into ``.debug_addr``."""
        size = self.address_size
        return self.sections.number(".debug_addr", self.addr_base + index * size, size)

    def address_pushed(self, operation: Operation) -> int | None:
        """The file address that DW_OP_addr, DW_OP_addrx and similar operations push; None for other operations."""
        number = operation.operands[0] if operation.info.meaning in ("addr", "addrx") else None
        if not isinstance(number, int):
            return None
        return number if operation.info.meaning == "addr" else self.indexed_address(number)

    @cached_property
    def debug_addr(self) -> list[int]:
        """The unit's part of ``.debug_addr``: the addresses to which indices in its expressions and lists refer."""
        data, size = self.sections[".debug_addr"], self.address_size
        start, end = self.addr_base, len(data)
        if self.version >= 5 and start >= self._table_header:
            # The contribution's own header states its size.
            header = start - self._table_header
            length_size = 4 if self.offset_size == 4 else 8
            length_at = header if length_size == 4 else header + 4
            length = int.from_bytes(data[length_at:length_at + length_size], "little")
            end = min(end, length_at + length_size + length)
        return [
            int.from_bytes(data[at:at + size], "little") for at in range(start, end - size + 1, size)
        ]

    # Lines

    @cached_property
    def line_table(self) -> LineTable | None:
        """The unit's line table; None without one."""
        if self.skeleton is not None and not self.is_type_unit:
            return self.skeleton.line_table
        value = self.top.attribute(At.STMT_LIST)
        if not isinstance(value, SectionOffset | Constant):
            return None
        offset = value.offset if isinstance(value, SectionOffset) else value.value
        return self.entries.line_table(offset, self)

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """Files of its line table; the first is the primary source file."""
        table = self.line_table
        return table.files if table is not None else ()

    def file(self, number: int) -> SourceFile | None:
        """The file with a number of DW_AT_decl_file or DW_AT_call_file; None for no file."""
        table = self.line_table
        return table.file(number) if table is not None else None

    def die(self, offset: int) -> Die:
        """The entry at ``offset`` *relative to the unit*, as DW_OP_convert and others give it."""
        if not self.first - self.offset <= offset < self.end - self.offset:
            raise self.entries.error(self.offset, f"there is no entry at offset {offset:#x} of this unit")
        return Die(self, self.offset + offset)


def read_unit_headers(
    entries: Entries, data: bytes, base: int, error: Callable[[int, str], DebugInfoError], *, types_section: bool,
    sections: Sections | None = None,
) -> list[Unit]:
    """The units of ``data``, which lies at ``base`` among all entries (``types_section``: ``.debug_types``, which has
    another header). ``error`` creates an error about an offset; ``sections`` are those to which split units refer.

    A damaged header ends the list, and the units before it remain usable. If the first header is damaged, raises
    DebugInfoError.
    """
    units: list[Unit] = []
    pos = 0
    while pos < len(data):
        work.unit()
        try:
            unit = _read_unit_header(entries, data, pos, base, error, types_section, sections)
        except DebugInfoError as damage:
            if not units or entries.passes_over:
                entries.pass_over(damage)
            break
        if unit is None:
            break
        units.append(unit)
        pos = unit.end - base
    return units


def _read_unit_header(
    entries: Entries, data: bytes, start: int, base: int, error: Callable[[int, str], DebugInfoError],
    types_section: bool, sections: Sections | None,
) -> Unit | None:
    pos = start

    def take(size: int) -> int:
        nonlocal pos
        if pos + size > len(data):
            raise error(base + start, "the unit header is truncated")
        pos += size
        return int.from_bytes(data[pos - size:pos], "little")

    length, offset_size = take(4), 4
    if length == 0xFFFFFFFF:
        length, offset_size = take(8), 8
    elif length >= 0xFFFFFFF0:
        raise error(base + start, f"the unit length {length:#x} is reserved")
    if length == 0:
        return None  # padding at the end of the section
    end = pos + length
    if end > len(data):
        raise error(base + start, f"the unit has {length:#x} bytes, which go beyond the section's end")
    version = take(2)
    if not 2 <= version <= 5:
        raise error(base + start, f"unit version {version} is not supported")
    unit_type = UnitType.TYPE if types_section else UnitType.COMPILE
    if version >= 5:
        unit_type, address_size, abbrev_offset = take(1), take(1), take(offset_size)
    else:
        abbrev_offset, address_size = take(offset_size), take(1)
    if address_size not in (2, 4, 8):
        raise error(base + start, f"address size {address_size} is not supported")
    signature, type_offset, id = None, 0, None
    if unit_type in (UnitType.TYPE, UnitType.SPLIT_TYPE):
        signature, type_offset = take(8), take(offset_size)
    elif unit_type in (UnitType.SKELETON, UnitType.SPLIT_COMPILE):
        id = take(8)
    if pos > end:
        raise error(base + start, "the unit is shorter than its header")
    return Unit(
        entries, offset=base + start, end=base + end, first=base + pos, version=version, unit_type=unit_type,
        address_size=address_size, offset_size=offset_size, abbrev_offset=abbrev_offset,
        type_signature=signature, type_offset=type_offset, id=id, sections=sections,
    )
