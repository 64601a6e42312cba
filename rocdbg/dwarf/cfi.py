"""Call frame information: .debug_frame and .eh_frame, indexed by program location (A.6.4.1).

A CIE with an unknown augmentation is not used, because only a few of its fields could be read. The known augmentations
are the empty one; AMD's vendor strings in any minor version ("[amd:v0.0]", "[amdgpu:v0.0]", and its compilers'
"[llvm:v0.0]"); and, in .eh_frame, those that begin with "z". A CIE without augmentation whose functions have no rules
at all, as upstream LLVM emits for AMDGPU, is not call frame information either: read literally, every caller would be
the function itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import pairwise

from msgspec import Struct

from rocdbg import work
from rocdbg.dwarf.caller_context import CallerContext
from rocdbg.dwarf.cfa_instructions import Interpreter
from rocdbg.dwarf.cfi_rule_types import SameValueRule
from rocdbg.dwarf.cfi_unwinding import Row
from rocdbg.dwarf.context import Context, load_bias
from rocdbg.dwarf.cursor import Cursor
from rocdbg.dwarf.errors import DecodeError, DwarfError, EvaluationError
from rocdbg.dwarf.gcc_conventions import gcc_row
from rocdbg.dwarf.operation_table import DIALECTS

__all__ = ["Cie", "Fde", "FrameTable", "parse_frames"]

_VENDOR = re.compile(rb"\[(?:amd|amdgpu|llvm):v0\.[0-9]+(?::[^\]]*)?\]")
_KEPT = 400_000
"""Limits on the rows and rules that are cached: in total (`_KEPT`) and for one entry (`_KEPT_PER_ENTRY`)."""
_KEPT_PER_ENTRY = 100_000
_FIRSTS = 4096
"""For how many entries a single row may be cached."""
_OMITTED = 0xFF


class Cie(Struct):
    """A common information entry; offsets are relative to the section."""

    offset: int
    version: int
    augmentation: bytes
    address_size: int
    segment_selector_size: int
    code_alignment_factor: int
    data_alignment_factor: int
    return_address_register: int
    instructions: tuple[int, int]
    """Offsets of its first byte and of its end."""
    pointer_encoding: int = 0
    has_augmentation_data: bool = False
    is_signal_frame: bool = False
    interpreter: Interpreter | None = None


class Fde(Struct, frozen=True):
    """A frame description entry: its function's addresses [start, end) and its instructions."""

    offset: int
    start: int
    end: int
    cie: Cie
    instructions: tuple[int, int]


def _segments(fdes: list[Fde]) -> tuple[list[int], list[int]]:
    """The start addresses of segments, and the index, in the sorted entries, of the one that each belongs to (-1:
    none).

    Where entries overlap, the one that begins last owns the addresses, so that a search never has to go back.
    """
    if all(before.end <= after.start for before, after in pairwise(fdes)):
        return [fde.start for fde in fdes], list(range(len(fdes)))
    bounds = sorted({bound for fde in fdes for bound in (fde.start, fde.end)})
    owners: list[int] = []
    open_entries: list[int] = []  # a heap of negated indices; entries that have ended are dropped from its top
    following = 0
    for bound in bounds:
        while following < len(fdes) and fdes[following].start <= bound:
            heappush(open_entries, -following)
            following += 1
        while open_entries and fdes[-open_entries[0]].end <= bound:
            heappop(open_entries)
        owners.append(-open_entries[0] if open_entries else -1)
    return bounds, owners


class FrameTable:
    """All usable entries of a section (A.6.4.1) by address; rows are computed on demand and cached."""

    def __init__(
        self, section: bytes, address_size: int, dialect: str, eh_frame: bool, section_address: int,
        faults: list[DwarfError] | None = None,
    ) -> None:
        self._section = section
        self._faults = faults
        self._address_size = address_size
        self._eh_frame = eh_frame
        self._section_address = section_address
        self.dialect = dialect
        self._cies: dict[int, Cie | None] = {}
        self.fdes = sorted(self._read_entries(), key=lambda fde: (fde.start, fde.end))
        self._starts, self._owners = _segments(self.fdes)
        self._tables: dict[int, tuple[list[int], list[Row]]] = {}
        self._kept = 0
        self._firsts: dict[int, Row] = {}

    # Looking up

    def fde(self, pc: int) -> Fde | None:
        """The entry of the function at `pc` (A.6.4.1), or None; if there are several, the one that begins last."""
        index = self._find(pc)
        return None if index is None else self.fdes[index]

    def _find(self, pc: int) -> int | None:
        at = bisect_right(self._starts, pc) - 1
        if at < 0:
            return None
        index = self._owners[at]
        return index if index >= 0 and pc < self.fdes[index].end else None

    def row(self, pc: int) -> Row | None:
        """The row for a program location (A.6.4.1); None where there is no usable call frame information.

        Raises `IllFormed` or `DecodeError` with the section offset if the instructions break a rule.
        """
        index = self._find(pc)
        if index is None:
            return None
        table = self._tables.get(index)
        if table is None:
            row = self._firsts.get(index)
            if row is not None and row.start <= pc < row.end:
                return row
            if row is None:
                # For many functions only one row is ever requested: compute all rows at the second request.
                row = self._first_row(index, pc)
                if row is not None:
                    return row
            table = self._remember(index)
        starts, rows = table
        if not starts:
            return None
        at = bisect_right(starts, pc) - 1
        row = rows[at] if at >= 0 else None
        if row is None or pc >= row.end:
            return self._compute(self.fdes[index], pc)
        return row

    def _first_row(self, index: int, pc: int) -> Row | None:
        """The row for `pc`, which is cached; None if no instruction up to it sets a rule: then the whole entry must be
        examined.
        """
        fde = self.fdes[index]
        interpreter = self._interpreter(fde)
        cursor = Cursor(self._section, *fde.instructions, what="call frame information")
        following = interpreter.run(cursor, pc)
        if not interpreter.touched:
            return None
        if len(self._firsts) >= _FIRSTS:
            self._firsts.clear()
        row = self._firsts[index] = self._row(interpreter, fde, following)
        return row

    def _remember(self, index: int) -> tuple[list[int], list[Row]]:
        """The rows of one entry, cached; empty if it has no rules.

        The rows end before the first broken instruction, or where they would take too much memory.
        """
        fde = self.fdes[index]
        rows: list[Row] = []
        interpreter = self._interpreter(fde)
        cursor = Cursor(self._section, *fde.instructions, what="call frame information")
        pc: int | None = fde.start
        try:
            while pc is not None and interpreter.copied < _KEPT_PER_ENTRY and len(rows) < _KEPT_PER_ENTRY:
                following = interpreter.run(cursor, pc)
                rows.append(self._row(interpreter, fde, following))
                interpreter.keep_rules()
                if following is not None:
                    interpreter.location = following
                pc = following
        except DwarfError:
            if not rows:
                raise
            pc = fde.start
        if pc is None and not interpreter.touched and not _VENDOR.search(fde.cie.augmentation):
            rows = []
        if self._kept > _KEPT:
            self._tables.clear()
            self._kept = 0
        self._kept += len(rows) + interpreter.copied
        table = self._tables[index] = [row.start for row in rows], rows
        return table

    def _compute(self, fde: Fde, pc: int) -> Row:
        """One row, not cached."""
        interpreter = self._interpreter(fde)
        cursor = Cursor(self._section, *fde.instructions, what="call frame information")
        return self._row(interpreter, fde, interpreter.run(cursor, pc))

    def _row(self, interpreter: Interpreter, fde: Fde, following: int | None) -> Row:
        row = Row(
            interpreter.location,
            fde.end if following is None else following,
            interpreter.cfa,
            interpreter.rules,
            fde.cie.return_address_register,
            self.dialect,
        )
        return row if fde.cie.augmentation else gcc_row(row)

    def _interpreter(self, fde: Fde) -> Interpreter:
        cie = fde.cie
        return Interpreter(
            self.dialect,
            cie.code_alignment_factor,
            cie.data_alignment_factor,
            self._address_reader(cie),
            fde.start,
            self._initial(cie),
        )

    def _initial(self, cie: Cie) -> Interpreter:
        if cie.interpreter is None:
            interpreter = Interpreter(
                self.dialect,
                cie.code_alignment_factor,
                cie.data_alignment_factor,
                self._address_reader(cie),
                0,
                None,
            )
            interpreter.run(Cursor(self._section, *cie.instructions, what="call frame information"), None)
            cie.interpreter = interpreter
        return cie.interpreter

    def _address_reader(self, cie: Cie) -> Callable[[Cursor], int | None]:
        """Return the reader of set_loc's operand, which in .eh_frame has the same encoding as the entries' initial
        locations.
        """
        return lambda cursor: self._pointer(cursor, cie.pointer_encoding, cie.address_size)

    def unwind(self, context: Context) -> CallerContext | None:
        """Return the context of the calling frame, whose registers the rules of this frame's row locate and whose pc is
        the call site.

        The pc is the return address less 1: an address within the call (A.6.4.4). A signal frame (augmentation "S") was
        not called, so there the pc is the return address itself: the address of the interrupted instruction. Returns
        None if there is no usable call frame information, and if the return address is undefined, unchanged or 0: then
        this is the outermost frame. Raises `EvaluationError` if the context has no program location.
        """
        pc = context.pc
        if pc is None:
            raise EvaluationError("unwinding needs a program location, but the context has none")
        pc -= load_bias(context)
        row = self.row(pc)
        if row is None:
            return None
        column = row.return_address_register
        rule = row.rule(column)
        if rule is None or isinstance(rule, SameValueRule):
            return None
        location = row.register_location(column, context)
        if location.is_undefined:
            return None
        size = context.architecture.register_size(column) or self._address_size
        address = location.read(8 * size)
        if not address:
            return None
        fde = self.fde(pc)
        is_signal_frame = fde is not None and fde.cie.is_signal_frame
        return CallerContext(
            context,
            lambda number: row.register_location(number, context),
            address if is_signal_frame else address - 1,
            self,
            row,
        )

    # Reading

    def _read_entries(self) -> list[Fde]:
        fdes: list[Fde] = []
        try:
            self._read_all(fdes)
        except DwarfError as error:  # where the next entry begins is not known
            self._keep_fault(error)
        return fdes

    def _read_all(self, fdes: list[Fde]) -> None:
        section = self._section
        end = len(section)
        position = 0
        while position < end:
            work.unit()
            cursor = Cursor(section, position, what="call frame information")
            start = position
            is_64 = False
            length = cursor.unsigned(4)
            if length == 0xFFFFFFFF:
                is_64 = True
                length = cursor.unsigned(8)
            elif length >= 0xFFFFFFF0:
                raise DecodeError(f"the length {length:#x} of the entry is reserved", offset=start)
            if not length:
                if self._eh_frame:
                    break
                position = cursor.position
                continue
            if cursor.position + length > end:
                raise DecodeError(f"an entry of {length} bytes reaches beyond the section's end", offset=start)
            cursor.end = position = cursor.position + length
            try:
                fde = self._entry(cursor, start, is_64)
            except DwarfError as error:
                self._keep_fault(error)
                continue
            if fde is not None:
                fdes.append(fde)

    def _keep_fault(self, error: DwarfError) -> None:
        if self._faults is None:
            raise error
        self._faults.append(error)

    def _entry(self, cursor: Cursor, start: int, is_64: bool) -> Fde | None:
        """The function's entry that begins at `start`; None for a CIE and for one that cannot be used."""
        identifier_at = cursor.position
        identifier = cursor.unsigned(8 if is_64 and not self._eh_frame else 4)
        if self._is_cie(identifier, is_64):
            return None
        cie = self._cie(identifier_at - identifier if self._eh_frame else identifier, start)
        return None if cie is None else self._fde(cursor, start, cie)

    def _is_cie(self, identifier: int, is_64: bool) -> bool:
        if self._eh_frame:
            return identifier == 0
        return identifier == (0xFFFFFFFFFFFFFFFF if is_64 else 0xFFFFFFFF)

    def _cie(self, offset: int, user: int) -> Cie | None:
        """The CIE at a section offset; None if it cannot be used."""
        if offset in self._cies:
            return self._cies[offset]
        if not 0 <= offset < len(self._section):
            raise DecodeError(f"the entry refers to a CIE at {offset:#x}, outside the section", offset=user)
        cursor = Cursor(self._section, offset, what="CIE")
        is_64 = False
        length = cursor.unsigned(4)
        if length == 0xFFFFFFFF:
            is_64 = True
            length = cursor.unsigned(8)
        if cursor.position + length > len(self._section):
            raise DecodeError(f"a CIE of {length} bytes reaches beyond the section's end", offset=offset)
        cursor.end = cursor.position + length
        identifier = cursor.unsigned(8 if is_64 and not self._eh_frame else 4)
        if not self._is_cie(identifier, is_64):
            raise DecodeError(f"the entry refers to a CIE at {offset:#x}, but there is no CIE", offset=user)
        cie = self._cies[offset] = self._read_cie(cursor, offset)
        return cie

    def _read_cie(self, cursor: Cursor, offset: int) -> Cie | None:
        version = cursor.unsigned(1)
        augmentation = cursor.string()
        if version not in (1, 3, 4) or not self._is_known(augmentation):
            return None
        address_size, selector_size = self._address_size, 0
        if version >= 4:
            address_size = cursor.unsigned(1)
            selector_size = cursor.unsigned(1)
            if address_size not in (1, 2, 4, 8):
                raise DecodeError(f"address size {address_size} is not supported", offset=offset)
        if augmentation == b"eh":
            cursor.take(address_size)
        code_factor = cursor.uleb()
        data_factor = cursor.sleb()
        column = cursor.unsigned(1) if version == 1 else cursor.uleb()
        if max(number.bit_length() for number in (code_factor, data_factor, column)) > 64:
            raise DecodeError("a factor or the return address column of a CIE has more than 64 bits", offset=offset)
        cie = Cie(
            offset,
            version,
            augmentation,
            address_size,
            selector_size,
            code_factor,
            data_factor,
            column,
            (0, 0),
        )
        if augmentation.startswith(b"z") and not self._read_augmentation(cursor, cie):
            return None
        cie.instructions = (cursor.position, cursor.end)
        return cie

    def _is_known(self, augmentation: bytes) -> bool:
        if not augmentation or _VENDOR.fullmatch(augmentation):
            return True
        return self._eh_frame and (augmentation == b"eh" or bool(re.fullmatch(rb"z[RPLSBG]*", augmentation)))

    def _read_augmentation(self, cursor: Cursor, cie: Cie) -> bool:
        """Read the data of a "z" augmentation; returns False if the CIE's entries cannot be read because of it."""
        size = cursor.uleb()
        data = Cursor(cursor.data, cursor.position, cursor.position + size, what="augmentation data")
        cursor.take(size)
        cie.has_augmentation_data = True
        for letter in cie.augmentation[1:]:
            match chr(letter):
                case "R":
                    cie.pointer_encoding = data.unsigned(1)
                case "P":
                    self._pointer(data, data.unsigned(1), cie.address_size)
                case "L":
                    data.unsigned(1)
                case "S":
                    cie.is_signal_frame = True
        return cie.pointer_encoding != _OMITTED

    def _fde(self, cursor: Cursor, offset: int, cie: Cie) -> Fde | None:
        cursor.take(cie.segment_selector_size)
        encoding = cie.pointer_encoding
        start = self._pointer(cursor, encoding, cie.address_size)
        length = self._pointer(cursor, encoding & 0x0F, cie.address_size)
        if start is None or length is None:
            return None
        if cie.has_augmentation_data:
            cursor.take(cursor.uleb())
        length &= (1 << 8 * cie.address_size) - 1
        return Fde(offset, start, start + length, cie, (cursor.position, cursor.end))

    def _pointer(self, cursor: Cursor, encoding: int, address_size: int) -> int | None:
        """An encoded pointer (.eh_frame); None if its value cannot be known from the section alone."""
        at = cursor.position
        base = 0
        application = encoding & 0x70
        if application == 0x50:  # DW_EH_PE_aligned
            cursor.take(-(self._section_address + at) % address_size)
        elif application == 0x10:  # DW_EH_PE_pcrel
            base = self._section_address + at
        match encoding & 0x0F:
            case 0x00:
                value = cursor.unsigned(address_size)
            case 0x01:
                value = cursor.uleb()
            case 0x02:
                value = cursor.unsigned(2)
            case 0x03:
                value = cursor.unsigned(4)
            case 0x04:
                value = cursor.unsigned(8)
            case 0x09:
                value = cursor.sleb()
            case 0x0A:
                value = cursor.signed(2)
            case 0x0B:
                value = cursor.signed(4)
            case 0x0C:
                value = cursor.signed(8)
            case _:
                raise DecodeError(f"unknown pointer encoding {encoding:#x}", offset=at)
        if encoding & 0x80 or application not in (0x00, 0x10, 0x50):
            return None
        return base + value & (1 << 8 * address_size) - 1


def parse_frames(
    section: bytes,
    address_size: int = 8,
    dialect: str = "amd",
    eh_frame: bool = False,
    section_address: int = 0,
    faults: list[DwarfError] | None = None,
) -> FrameTable:
    """The call frame information of a .debug_frame or .eh_frame section (A.6.4).

    `address_size` applies to CIEs before version 4, which do not state it. `section_address` is the load address of the
    section, to which .eh_frame pointers are relative. Headers are read at once, instructions when a row is requested.
    Raises `DecodeError` with the section offset where the structure is broken; if a list of `faults` is given, errors
    are appended to it instead, and the rest of the section can be used.
    """
    if dialect not in DIALECTS:
        raise DwarfError(f"there is no dialect '{dialect}'; there are {', '.join(DIALECTS)}")
    if address_size not in (1, 2, 4, 8):
        raise DwarfError(f"address size {address_size} is not supported")
    return FrameTable(bytes(section), address_size, dialect, eh_frame, section_address, faults)
