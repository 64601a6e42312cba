"""Debug information as a tree of entries, written as assembly text for LLVM's assembler.

The assembler and the linker resolve labels and symbols, so its addresses are those of the code with which it is linked.
Abbreviations are made as needed. Nothing here comes from rocdbg itself: codes are from the DWARF 5 standard and from
the tables of the two AMDGPU documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

TAG = {
    "array_type": 0x01, "formal_parameter": 0x05, "member": 0x0D, "compile_unit": 0x11, "structure_type": 0x13,
    "subrange_type": 0x21, "base_type": 0x24, "subprogram": 0x2E, "variable": 0x34, "dwarf_procedure": 0x36,
}

AT = {
    "location": 0x02, "name": 0x03, "byte_size": 0x0B, "stmt_list": 0x10, "low_pc": 0x11, "high_pc": 0x12,
    "language": 0x13, "lower_bound": 0x22, "upper_bound": 0x2F, "data_member_location": 0x38, "encoding": 0x3E,
    "external": 0x3F, "frame_base": 0x40, "type": 0x49, "addr_base": 0x73, "loclists_base": 0x8C,
    "augmentation": 0x3E09, "lanes": 0x3E0A, "lane_pc": 0x3E0B,
}
UPSTREAM_AT = {**AT, "lanes": 0x3E11, "lane_pc": 0x3E12}

FORM = {
    "addr": 0x01, "data2": 0x05, "data4": 0x06, "string": 0x08, "data1": 0x0B, "sdata": 0x0D, "udata": 0x0F,
    "ref4": 0x13, "sec_offset": 0x17, "exprloc": 0x18, "flag_present": 0x19, "addrx": 0x1B, "loclistx": 0x22,
}

# name: code and operands: u, s LEB128, 1/2/4/8 bytes, a an address, x ULEB128 index of an address, r an entry's offset
STANDARD = {
    "addr": (0x03, "a"), "constu": (0x10, "u"), "div": (0x1B, ""), "mul": (0x1E, ""), "lit5": (0x35, ""),
    "regx": (0x90, "u"), "bregx": (0x92, "us"), "piece": (0x93, "u"), "deref_size": (0x94, "1"),
    "call4": (0x99, "r"), "stack_value": (0x9F, ""), "addrx": (0xA1, "x"),
}
EXTENSIONS = {  # operation: code after DW_OP_LLVM_user, code of the 2020 proposal
    "form_aspace_address": (0x02, 0xE1, ""), "push_lane": (0x03, 0xE2, ""), "offset": (0x04, 0xE3, ""),
    "offset_uconst": (0x05, 0xE4, "u"), "call_frame_entry_reg": (0x07, 0xE6, "u"), "undefined": (0x08, 0xE7, ""),
    "piece_end": (0x0A, 0xEA, ""), "extend": (0x0B, 0xEB, "uu"), "select_bit_piece": (0x0C, 0xEC, "uu"),
}
LLVM_USER = 0xE9

Operation = tuple[object, ...] | str
"""A name, or a name with operands: integers, symbols, entries."""
Expression = Sequence[Operation]


@dataclass(eq=False)
class Entry:
    """A debugging information entry: (attribute, form, value) and children.

    Values are integers, assembler text for addresses and offsets, strings, `Entry` for ref4, expressions for exprloc.
    """

    tag: str
    attributes: list[tuple[str, str, object]] = field(default_factory=list)
    children: list[Entry] = field(default_factory=list)

    def add(self, tag: str, *attributes: tuple[str, str, object]) -> Entry:
        """A new child."""
        child = Entry(tag, list(attributes))
        self.children.append(child)
        return child


@dataclass
class Assembly:
    """Writes sections; ``dialect`` is amd, proposal2020 or llvm22, ``version`` 4 or 5."""

    dialect: str
    version: int
    lines: list[str] = field(default_factory=list)
    _labels: int = 0
    _abbreviations: dict[tuple[int, bool, tuple[tuple[int, int], ...]], int] = field(default_factory=dict)
    _entry_labels: dict[int, str] = field(default_factory=dict)
    _addresses: list[str] = field(default_factory=list)

    def label(self) -> str:
        """An unused label."""
        self._labels += 1
        return f".Lown{self._labels}"

    def line(self, text: str) -> None:
        """One line of assembly."""
        self.lines.append("\t" + text)

    def put(self, label: str) -> None:
        """Define a label here."""
        self.lines.append(label + ":")

    def section(self, name: str) -> None:
        """Continue in a debug section."""
        self.line(f'.section {name},"",@progbits')

    def address_index(self, symbol: str) -> int:
        """The index in .debug_addr of a symbol's address."""
        if symbol not in self._addresses:
            self._addresses.append(symbol)
        return self._addresses.index(symbol)

    # -- expressions

    def expression(self, operations: Expression, length: str = "uleb128") -> None:
        """A length (``uleb128`` or ``2byte``) and the operations."""
        start, end = self.label(), self.label()
        self.line(f".{length} {end}-{start}")
        self.put(start)
        for operation in operations:
            name, *operands = (operation,) if isinstance(operation, str) else operation
            kinds = self._operation(str(name))
            for kind, operand in zip(kinds, operands, strict=True):
                self._operand(kind, operand)
        self.put(end)

    def _operation(self, name: str) -> str:
        if name in STANDARD:
            code, kinds = STANDARD[name]
            self.line(f".byte {code:#x} ; DW_OP_{name}")
            return kinds
        user, direct, kinds = EXTENSIONS[name]
        if self.dialect == "proposal2020":
            self.line(f".byte {direct:#x} ; DW_OP_LLVM_{name}")
        else:
            self.line(f".byte {LLVM_USER:#x}, {user:#x} ; DW_OP_LLVM_user DW_OP_LLVM_{name}")
        return kinds

    def _operand(self, kind: str, operand: object) -> None:
        if kind == "r":
            assert isinstance(operand, Entry)
            self.line(f".4byte {self.entry_label(operand)}-.Lown_unit")
        elif kind == "x":
            self.line(f".uleb128 {self.address_index(str(operand))}")
        else:
            directive = {"u": "uleb128", "s": "sleb128", "a": "8byte", "1": "byte"}[kind]
            self.line(f".{directive} {operand}")

    # -- sections

    def entry_label(self, entry: Entry) -> str:
        """The label in front of an entry."""
        return self._entry_labels.setdefault(id(entry), self.label())

    def unit(self, root: Entry) -> None:
        """.debug_info, .debug_abbrev and the required parts of .debug_addr."""
        self.section(".debug_info")
        self.put(".Lown_unit")
        self.line(".4byte .Lown_unit_end-.Lown_unit_start")
        self.put(".Lown_unit_start")
        self.line(f".2byte {self.version}")
        self.line(".byte 1, 8" if self.version >= 5 else ".4byte .Lown_abbreviations")
        self.line(".4byte .Lown_abbreviations" if self.version >= 5 else ".byte 8")
        self._entry(root)
        self.put(".Lown_unit_end")
        self.section(".debug_abbrev")
        self.put(".Lown_abbreviations")
        for (tag, has_children, attributes), number in self._abbreviations.items():
            self.line(f".uleb128 {number}, {tag}")
            self.line(f".byte {int(has_children)}")
            for attribute, form in attributes:
                self.line(f".uleb128 {attribute}, {form}")
            self.line(".byte 0, 0")
        self.line(".byte 0")
        self.section(".debug_addr")
        self.line(f".4byte {4 + 8 * len(self._addresses)}, 0x80005")  # version 5, addresses of 8 bytes
        self.put(".Lown_addresses")
        for symbol in self._addresses:
            self.line(f".8byte {symbol}")

    def _entry(self, entry: Entry) -> None:
        codes = UPSTREAM_AT if self.dialect == "llvm22" else AT
        shape = tuple((codes[attribute], FORM[form]) for attribute, form, _ in entry.attributes)
        key = TAG[entry.tag], bool(entry.children), shape
        number = self._abbreviations.setdefault(key, len(self._abbreviations) + 1)
        self.put(self.entry_label(entry))
        self.line(f".uleb128 {number} ; DW_TAG_{entry.tag}")
        for _, form, value in entry.attributes:
            self._value(form, value)
        for child in entry.children:
            self._entry(child)
        if entry.children:
            self.line(".byte 0")

    def _value(self, form: str, value: object) -> None:
        if form == "string":
            self.line(f'.asciz "{value}"')
        elif form == "exprloc":
            self.expression(value)  # type: ignore[arg-type]
        elif form == "ref4":
            assert isinstance(value, Entry)
            self.line(f".4byte {self.entry_label(value)}-.Lown_unit")
        elif form == "addrx":
            self.line(f".uleb128 {self.address_index(str(value))}")
        elif form != "flag_present":
            directive = {"addr": "8byte", "data1": "byte", "data2": "2byte", "data4": "4byte", "sec_offset": "4byte",
                         "sdata": "sleb128", "udata": "uleb128", "loclistx": "uleb128"}[form]
            self.line(f".{directive} {value}")

    def location_lists(self, lists: dict[str, list[tuple[str, str, Expression]]]) -> None:
        """.debug_loclists (version 5, with a table of offsets) or .debug_loc; labels and their ranges."""
        if self.version < 5:
            self.section(".debug_loc")
            for label, ranges in lists.items():
                self.put(label)
                self.line(".8byte -1, 0")  # addresses are as they are
                for low, high, operations in ranges:
                    self.line(f".8byte {low}, {high}")
                    self.expression(operations, "2byte")
                self.line(".8byte 0, 0")
            return
        self.section(".debug_loclists")
        self.line(".4byte .Lown_lists_end-.Lown_lists_start")
        self.put(".Lown_lists_start")
        self.line(".2byte 5")
        self.line(".byte 8, 0")
        self.line(f".4byte {len(lists)}")
        self.put(".Lown_lists")
        for label in lists:
            self.line(f".4byte {label}-.Lown_lists")
        for label, ranges in lists.items():
            self.put(label)
            for low, high, operations in ranges:
                self.line(".byte 7")  # DW_LLE_start_end
                self.line(f".8byte {low}, {high}")
                self.expression(operations)
            self.line(".byte 0")
        self.put(".Lown_lists_end")
