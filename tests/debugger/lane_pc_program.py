"""A code object by clang with hand-made debug information: only the line tables are the compiler's.

The unit has no augmentation string and does not state the number of lanes; lane PCs come from procedures called with
DW_OP_call4: lanes not active on entry are undefined, and waiting lanes are at the first line of the other branch or
past the end. (ROCgdb's own test of lane PCs describes the same for another program.)
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from rocdbg.codeobject import open_file
from rocdbg.dwarf.info import DebugInfo
from rocdbg.dwarf.operation_assembler import assemble

SOURCE = Path(__file__).parent / "sources" / "parting.hip"
PC, EXEC, V0 = 16, 17, 2560
LANE_PC = 0x3E0B

ABBREVIATIONS = {
    1: (0x11, True, [(0x03, 0x08), (0x10, 0x17)]),  # unit: name, stmt_list
    2: (0x24, False, [(0x03, 0x08), (0x3E, 0x0B), (0x0B, 0x0B)]),  # base type: name, encoding, size
    3: (0x36, False, [(0x02, 0x18)]),  # procedure: location
    4: (0x2E, True, [(0x03, 0x08), (0x11, 0x01), (0x12, 0x06), (0x3F, 0x19), (LANE_PC, 0x18)]),
    5: (0x2E, True, [(0x03, 0x08), (0x11, 0x01), (0x12, 0x06), (0x3F, 0x19), (LANE_PC, 0x17)]),
    6: (0x05, False, [(0x03, 0x08), (0x49, 0x13), (0x02, 0x18)]),  # parameter: name, type, location
    7: (0x34, False, [(0x03, 0x08), (0x49, 0x13), (0x3F, 0x19), (0x02, 0x18)]),  # variable
    8: (0x13, True, [(0x03, 0x08), (0x0B, 0x0F)]),  # structure: name, size
    9: (0x0D, False, [(0x03, 0x08), (0x49, 0x13), (0x38, 0x0F)]),  # member: name, type, offset
    10: (0x01, True, [(0x49, 0x13)]),  # array of
    11: (0x21, False, [(0x49, 0x13), (0x2F, 0x0B)]),  # subrange: type, upper bound
    12: (0x21, False, [(0x37, 0x18)]),  # subrange: count by expression
    13: (0x21, False, [(0x22, 0x0B), (0x2F, 0x13)]),  # subrange: lower bound, upper bound in a variable
    14: (0x01, True, [(0x49, 0x13), (0x50, 0x18), (0x4F, 0x18)]),  # array: data location, associated
    15: (0x01, True, [(0x49, 0x13), (0x4E, 0x18)]),  # array: allocated
    16: (0x01, True, [(0x49, 0x13), (0x71, 0x0B)]),  # array: rank
    17: (0x45, False, [(0x2F, 0x18)]),  # generic subrange: upper bound by expression
    18: (0x0D, False, [(0x03, 0x08), (0x49, 0x13), (0x38, 0x18)]),  # member at an expression
    19: (0x34, False, [(0x03, 0x08), (0x49, 0x13), (0x1C, 0x0B)]),  # variable with a constant value
    20: (0x48, True, [(0x7D, 0x01)]),  # call site: return address
    21: (0x49, False, [(0x02, 0x18), (0x7E, 0x18)]),  # call site parameter: location, value
    22: (0x49, False, [(0x80, 0x13), (0x7E, 0x18)]),  # call site parameter: which, value
    23: (0x34, False, [(0x03, 0x08), (0x49, 0x13), (0x02, 0x18)]),  # local variable
    24: (0x2E, True, [(0x03, 0x08), (0x11, 0x01), (0x12, 0x06), (0x3F, 0x19), (LANE_PC, 0x18), (0x48, 0x18),
                      (0x2A, 0x18)]),  # function with static link and return address
    25: (0x1F, False, [(0x49, 0x13), (0x1D, 0x13), (0x0B, 0x0B), (0x4A, 0x18)]),  # pointer to member: use_location
}
_UNIT_HEADER = 12


def uleb(value: int) -> bytes:
    data = bytearray()
    while True:
        byte = value & 0x7F
        value >>= 7
        data.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(data)


def u(value: int, size: int) -> bytes:
    return value.to_bytes(size, "little")


def exprloc(expression: bytes) -> bytes:
    return uleb(len(expression)) + expression


@dataclass
class Entries:
    """The bytes of a unit while it grows; an entry is identified by its offset in the unit."""

    data: bytearray = field(default_factory=bytearray)

    def add(self, code: int, *parts: bytes | str) -> int:
        offset = _UNIT_HEADER + len(self.data)
        self.data += uleb(code)
        for part in parts:
            self.data += part.encode() + b"\0" if isinstance(part, str) else part
        return offset

    def end(self) -> None:
        self.data += b"\0"


def line(mark: str) -> int:
    """The number of the line that ends in a mark."""
    for number, text in enumerate(SOURCE.read_text().splitlines(), 1):
        if text.endswith(f"// {mark}"):
            return number
    raise LookupError(mark)


def build(folder: Path, keep_unit: bool = False) -> Path:
    """Compile and describe; return the path of the code object. ``keep_unit`` puts the compiler's empty unit first."""
    plain, done = folder / "plain.co", folder / "parting.co"
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a",
         "-gdwarf-5", "-gline-tables-only", "-O0", "--no-gpu-bundle-output", SOURCE.name, "-o", str(plain)],
        cwd=SOURCE.parent, check=True, timeout=120,
    )
    code = open_file(plain)
    info = DebugInfo({name: s.data for name, s in code.sections.items() if name.startswith(".debug")})

    def bounds(name: str) -> tuple[int, int]:
        symbol = code.symbols.get(name)
        assert symbol is not None
        low = code.address_of(symbol)
        return low, low + symbol.size

    table = info.units[0].line_table
    assert table is not None
    rows = [table.line_row(sequence, index) for sequence, index, _ in table.rows()]

    def address(mark: str) -> int:
        wanted = line(mark)
        return min(row.address for row in rows if row.line == wanted)

    def returns_to(mark: str) -> int:
        """The first address after the call in a line: the contents of s[30:31] during the call."""
        wanted = line(mark)
        lines = [row for row in rows if row.line == wanted]
        from rocdbg import isa

        low = lines[0].address
        for instruction in isa.disassemble(code.read(low, lines[-1].end_address - low), "gfx90a", address=low):
            if instruction.mnemonic == "s_swappc_b64":
                return instruction.address + instruction.size
        raise LookupError(mark)

    sections = describe(bounds, address, returns_to)
    if keep_unit:
        kept = {name: code.sections[name].data for name in (".debug_info", ".debug_abbrev")}
        ours = sections[".debug_info"]
        place = u(len(kept[".debug_abbrev"]), 4)  # of our abbreviations, after the compiler's
        sections[".debug_info"] = kept[".debug_info"] + ours[:8] + place + ours[12:]
        sections[".debug_abbrev"] = kept[".debug_abbrev"] + sections[".debug_abbrev"]
    command = ["llvm-objcopy-22"]
    for name, data in sections.items():
        path = folder / name[1:]
        path.write_bytes(data)
        command += [f"--remove-section={name}", f"--add-section={name}={path}"]
    if not keep_unit:
        command += [f"--remove-section={name}" for name in (".debug_addr", ".debug_str_offsets")]
    subprocess.run([*command, str(plain), str(done)], check=True, timeout=60)
    return done


def describe(bounds, address, returns_to) -> dict[str, bytes]:  # type: ignore[no-untyped-def]
    """The sections; ``bounds(name)`` gives a function's range, ``address(mark)`` a line's first address and that after
    its call.
    """
    table, _ = bounds("_ZL5table")
    entries = Entries()
    entries.add(1, "parting.hip", u(0, 4))
    int_ = entries.add(2, "int", b"\x05\x04")
    char = entries.add(2, "char", b"\x06\x01")
    array = entries.add(10, u(int_, 4))
    entries.add(11, u(int_, 4), b"\x1f")
    entries.end()
    structure = entries.add(8, "Totals", uleb(136))
    for name, type_, offset in (("sum", int_, 0), ("letter", char, 4), ("each", array, 8)):
        entries.add(9, name, u(type_, 4), uleb(offset))
    entries.end()
    # undefined where the lane was not active on entry, else the PC of the wave
    on_entry = entries.add(3, exprloc(assemble(
        "undefined", ("extend", 64, 64), ("regx", PC), ("extend", 64, 64),
        ("call_frame_entry_reg", EXEC), ("deref_size", 8), ("select_bit_piece", 64, 64),
    )))
    of_kernel = entries.add(3, exprloc(assemble(
        "undefined", ("extend", 64, 64), ("regx", PC), ("extend", 64, 64),
        ("regx", EXEC), ("deref_size", 8), ("select_bit_piece", 64, 64),
    )))
    # the address on the stack is where the others wait; the upper half of the wave is nowhere
    of_if = entries.add(3, exprloc(assemble(
        "stack_value", ("extend", 64, 32), ("regx", PC), ("extend", 64, 32),
        ("regx", EXEC), ("deref_size", 8), ("select_bit_piece", 64, 32), ("piece", 256),
        "undefined", ("piece", 256),
    )))
    entries.add(7, "mixed", u(structure, 4), exprloc(assemble(
        ("regx", 48), ("piece", 4), "undefined", ("piece", 4), ("regx", V0 + 5), ("piece", 128), "piece_end",
    )))
    entries.add(7, "nowhere", u(array, 4), exprloc(b"\x90" + uleb((1 << 64) - 1)))
    # counts in elements of four bytes, as no ABI does
    scaled = entries.add(25, u(int_, 4), u(structure, 4), b"\x08", exprloc(assemble("swap", "lit4", "mul", "offset")))
    entries.add(7, "scaled", u(scaled, 4), exprloc(assemble("lit4", "stack_value")))
    _dynamic_types(entries, int_, exprloc(assemble(("addr", table))))
    in_v0 = assemble(("regx", V0), "push_lane", ("constu", 4), "mul", "offset")
    for name, parameter in (("innermost", "val"), ("called", "val"), ("parting", "gid"), ("kernel", "")):
        low, high = bounds(name)
        place = u(low, 8) + u(high - low, 4)
        if name == "parting":
            entries.add(5, name, place, u(12, 4))  # the only list follows the section's header
        else:
            procedure = exprloc(assemble(("call4", of_kernel if name == "kernel" else on_entry)))
            if name == "innermost":
                link = exprloc(assemble(("constu", 64), "lit6", "form_aspace_address"))
                returns = exprloc(assemble(("regx", 32 + 30), ("piece", 4), ("regx", 32 + 31), ("piece", 4)))
                entries.add(24, name, place, procedure, link, returns)
            else:
                entries.add(4, name, place, procedure)
        if parameter:
            own = entries.add(6, parameter, u(int_, 4), exprloc(in_v0))
        if name == "innermost":
            passed = own
            for variable, of in (("passed", passed), ("untold", int_)):
                entries.add(23, variable, u(int_, 4), exprloc(b"\xfa" + u(of, 4) + assemble("stack_value")))
            given = assemble(("entry_value", assemble(("regx", 32 + 20))), "stack_value")
            entries.add(6, "given", u(int_, 4), exprloc(given))
        if name == "called":
            # what nobody can check here: that the caller had 0x55 for the callee's s20
            entries.add(20, u(returns_to("called_body"), 8))
            entries.add(21, exprloc(assemble(("regx", 32 + 20))), exprloc(assemble(("constu", 0x55))))
            # that of the caller's frame: s32 as it has it, with three bits set
            entries.add(22, u(passed, 4), exprloc(assemble(("regx", 32 + 32), ("deref_size", 4), "lit7", "or")))
            entries.end()
        entries.end()
    entries.end()
    header = u(5, 2) + b"\x01\x08" + u(0, 4)
    return {
        ".debug_info": u(len(header) + len(entries.data), 4) + header + bytes(entries.data),
        ".debug_abbrev": _abbreviations(),
        ".debug_loclists": _lane_pc_list(bounds("parting"), address, on_entry, of_if),
    }


def _dynamic_types(entries: Entries, int_: int, at_table: bytes) -> None:
    """Variables over ``table``, whose types can be determined only for the object."""
    limit = entries.add(19, "limit", u(int_, 4), b"\x04")
    counted = entries.add(10, u(int_, 4))
    entries.add(12, exprloc(assemble("lit3")))
    entries.end()
    # the variable is a descriptor 8 bytes in front of the data
    described = entries.add(14, u(int_, 4), exprloc(assemble("push_object_address", ("offset_uconst", 8))),
                            exprloc(assemble("lit1")))
    entries.add(13, b"\x02", u(limit, 4))
    entries.end()
    free = entries.add(15, u(int_, 4), exprloc(assemble("lit0")))
    entries.add(11, u(int_, 4), b"\x05")
    entries.end()
    ranked = entries.add(16, u(int_, 4), b"\x02")
    entries.add(17, exprloc(assemble("lit1", "plus")))  # dimension 0 ends at 1, dimension 1 at 2
    entries.end()
    displaced = entries.add(8, "Displaced", uleb(20))
    entries.add(18, "fifth", u(int_, 4), exprloc(assemble(("offset_uconst", 16))))
    entries.end()
    for name, type_ in (("counted", counted), ("described", described), ("free_array", free), ("ranked", ranked),
                        ("displaced", displaced)):
        entries.add(7, name, u(type_, 4), at_table)


def _lane_pc_list(bounds: tuple[int, int], address, on_entry: int, of_if: int) -> bytes:  # type: ignore[no-untyped-def]
    """For each if: while one branch runs, the lanes of the other wait; the else branch runs first."""
    body = bytearray()

    def entry(low: int, high: int, expression: bytes) -> None:
        body.extend(b"\x07" + u(low, 8) + u(high, 8) + exprloc(expression))  # DW_LLE_start_end

    here = bounds[0]
    ends = {1: address("if_2"), 2: address("if_3"), 3: address("add")}
    for number, end in ends.items():
        then, other = address(f"then_{number}"), address(f"else_{number}")
        entry(here, then, assemble(("call4", on_entry)))
        entry(then, other, assemble(("addr", end), ("call4", of_if)))
        entry(other, end - 4, assemble(("addr", then), ("call4", of_if)))  # s_or_b64 exec comes last
        here = end
    entry(here, bounds[1], assemble(("call4", on_entry)))
    body.append(0)
    rest = u(5, 2) + b"\x08\x00" + u(0, 4) + bytes(body)
    return u(len(rest), 4) + rest


def _abbreviations() -> bytes:
    data = bytearray()
    for code, (tag, children, attributes) in ABBREVIATIONS.items():
        data += uleb(code) + uleb(tag) + bytes([children])
        for attribute, form in attributes:
            data += uleb(attribute) + uleb(form)
        data += b"\0\0"
    return bytes(data) + b"\0"
