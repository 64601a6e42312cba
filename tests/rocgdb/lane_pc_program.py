"""The program of ROCgdb's dw2-lane-pc test, rewritten: code by the compiler, debug information by hand.

The debug information equals that of the test: no language, and no ranges of the unit. The lane PCs of most functions
come from one procedure (undefined for lanes that were not active on entry). Those of ``part_ways`` come from a location
list around three ifs, whose waiting lanes are at the first line of the other branch or past the end; those of
``by_index`` are "somewhere". `Variant` selects one of the encodings that a producer may use.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.rocgdb.debug_information import Assembly, Entry, Expression, Operation

SOURCE = Path(__file__).parent / "sources" / "lane_pc.hip"
PC, EXEC, S16, S30, S33, V0, V5 = 16, 17, 48, 62, 65, 2560, 2565
UNSIGNED, SIGNED, SIGNED_CHAR = 7, 5, 6  # DW_ATE_*
C_PLUS_PLUS_14 = 0x21


@dataclass(frozen=True)
class Variant:
    """The encoding of the debug information."""

    version: int = 5
    dialect: str = "amd"
    lanes: int | None = None
    """DW_AT_LLVM_lanes of every function."""
    augmentation: str = ""
    """DW_AT_LLVM_augmentation of the unit."""
    indexed: bool = False
    """Addresses through .debug_addr (DW_FORM_addrx, DW_OP_addrx)."""
    lists: bool = False
    """Lane PCs of all functions as location lists."""
    list_index: bool = False
    """Location lists by number (DW_FORM_loclistx) where the test has offsets."""
    unit_range: bool = False
    """The unit has an address range and a language."""
    own_lines: bool = False
    """The line table is hand-made too."""
    keep_unit: bool = False
    """The compiler's unit, which has only lines, comes first."""
    frame_base: bool = False
    """Functions have a DW_AT_frame_base, as at -O0."""


@dataclass
class Code:
    """The compiler's assembly text, split into code and its own debug information."""

    text: str
    functions: dict[str, tuple[str, str]]
    """By source name: labels of start and end."""
    lines: dict[int, str]
    """By line: the label of its first address."""

    def at(self, mark: str) -> str:
        """The label of the first address of the line that ends in a mark."""
        for number, text in enumerate(SOURCE.read_text().splitlines(), 1):
            if text.endswith(f"// {mark}") and number in self.lines:
                return self.lines[number]
        raise LookupError(mark)


NAMES = ("inner", "outer", "part_ways", "position", "by_index", "kernel")
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)\s+\d+(.*)")


def compile_(version: int, own_lines: bool, keep_unit: bool) -> Code:
    """clang's assembly with a label in front of every row of the line table."""
    done = subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a",
         f"-gdwarf-{version}", "-gline-tables-only", "-O0", "-S", SOURCE.name, "-o", "-"],
        cwd=SOURCE.parent, check=True, timeout=120, capture_output=True, text=True,
    )
    kept: list[str] = []
    lines: dict[int, str] = {}
    rows: list[tuple[str, int, bool]] = []
    functions: dict[str, tuple[str, str]] = {}
    wanted = statement = True
    for line in done.stdout.splitlines():
        section = re.match(r'\s*\.section\s+"?([.\w-]+)', line)
        if section:
            name = section.group(1)
            wanted = not name.startswith(".debug") or keep_unit or (name == ".debug_line" and not own_lines)
        if re.match(r"\s*\.(ident|addrsig|amdgpu_metadata)", line):
            wanted = True
        if not wanted:
            continue
        row = _LOC.match(line)
        if row:
            label = f".Lrow{len(rows)}"
            if "is_stmt" in row.group(2):
                statement = "is_stmt 1" in row.group(2)  # it holds until it is changed
            rows.append((label, int(row.group(1)), statement))
            lines.setdefault(int(row.group(1)), label)
            kept.append(f"{label}:")
        size = re.match(r"\s*\.size\s+(_Z(?:L?)\d+(\w+?)), (\.Lfunc_end\d+)", line)
        if size:
            name = next((n for n in NAMES if size.group(2).startswith(n)), None)
            if name is not None:
                functions[name] = size.group(1), size.group(3)
                rows.append((size.group(3), 0, False))
        if not (own_lines and re.match(r"\s*\.(loc|file)\s", line)):
            kept.append(line)
    text = "\n".join(kept) + "\n"
    if own_lines:
        text += _line_table(rows)
    return Code(text, functions, lines)


def _line_table(rows: list[tuple[str, int, bool]]) -> str:
    """.debug_line of version 4: each row sets its address; a row of line 0 after a function ends a sequence."""
    out = ['\t.section .debug_line,"",@progbits', ".Lline_table_start0:", "\t.4byte .Lown_lines_end-.Lown_lines_start",
           ".Lown_lines_start:", "\t.2byte 4", "\t.4byte .Lown_program-.Lown_header", ".Lown_header:",
           "\t.byte 4, 1, 1, -5, 14, 13", "\t.byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1",
           "\t.byte 0", f'\t.asciz "{SOURCE.name}"', "\t.byte 0, 0, 0", "\t.byte 0", ".Lown_program:"]
    current, statement = 1, True
    for label, line, is_statement in rows:
        out.append(f"\t.byte 0, 9, 2\n\t.8byte {label}")  # DW_LNE_set_address
        if label.startswith(".Lfunc_end"):
            out.append("\t.byte 0, 1, 1")  # DW_LNE_end_sequence
            current, statement = 1, True
            continue
        out.append(f"\t.byte 3\n\t.sleb128 {line - current}")  # DW_LNS_advance_line
        if statement != is_statement:
            out.append("\t.byte 6")  # DW_LNS_negate_stmt
        out.append("\t.byte 1")  # DW_LNS_copy
        current, statement = line, is_statement
    return "\n".join([*out, ".Lown_lines_end:", ""])


def build(folder: Path, variant: Variant) -> Path:
    """Compile, describe, assemble and link; return the path of the code object."""
    code = compile_(variant.version, variant.own_lines, variant.keep_unit)
    folder.mkdir(parents=True, exist_ok=True)
    text, plain, done = folder / "lane_pc.s", folder / "lane_pc.o", folder / "lane_pc.co"
    text.write_text(code.text + "\n".join(describe(code, variant).lines) + "\n")
    target = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a"]
    subprocess.run(["clang-22", *target, "-c", str(text), "-o", str(plain)], check=True, timeout=60)
    subprocess.run(["ld.lld-22", "-shared", str(plain), "-o", str(done)], check=True, timeout=60)
    return done


def compile_plainly(folder: Path, target: str = "gfx90a") -> Path:
    """The program with the compiler's own debug information, which does not describe lanes; returns its path."""
    done = folder / "lane_pc.co"
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", f"--offload-arch={target}",
         "-g", "-O0", "--no-gpu-bundle-output", SOURCE.name, "-o", str(done)],
        cwd=SOURCE.parent, check=True, timeout=120,
    )
    return done


def describe(code: Code, variant: Variant) -> Assembly:
    """The debug information of a variant."""
    out = Assembly(variant.dialect, variant.version)
    lists: dict[str, list[tuple[str, str, Expression]]] = {}
    address = "addrx" if variant.indexed else "addr"
    unit = Entry("compile_unit", [("name", "string", SOURCE.name), ("stmt_list", "sec_offset", ".Lline_table_start0")])
    if variant.version >= 5:
        unit.attributes.append(("loclists_base", "sec_offset", ".Lown_lists"))
    if variant.indexed:
        unit.attributes.append(("addr_base", "sec_offset", ".Lown_addresses"))
    if variant.augmentation:
        unit.attributes.append(("augmentation", "string", variant.augmentation))
    if variant.unit_range:
        low, high = code.functions["inner"][0], code.functions["kernel"][1]
        unit.attributes += [("language", "data2", C_PLUS_PLUS_14), ("low_pc", address, low)]
        unit.attributes.append(("high_pc", "data4", f"{high}-{low}"))

    def base_type(name: str, size: int, encoding: int) -> Entry:
        shape = ("byte_size", "sdata", size), ("encoding", "sdata", encoding)
        return unit.add("base_type", *shape, ("name", "string", name))

    unsigned, size = base_type("unsigned", 4, UNSIGNED), base_type("__ARRAY_SIZE_TYPE__", 8, UNSIGNED)
    int_, char = base_type("int", 4, SIGNED), base_type("char", 1, SIGNED_CHAR)
    array = unit.add("array_type", ("type", "ref4", int_))
    array.add("subrange_type", ("type", "ref4", size), ("lower_bound", "data1", 0), ("upper_bound", "data1", 31))
    wide_array = unit.add("array_type", ("type", "ref4", size))
    wide_array.add("subrange_type", ("type", "ref4", size), ("lower_bound", "data1", 0), ("upper_bound", "data1", 63))
    open_array = unit.add("array_type", ("type", "ref4", int_))
    result = unit.add("structure_type", ("name", "string", "Result"), ("byte_size", "sdata", 136))
    for name, type_, offset in (("total", int_, 0), ("mark", char, 4), ("each", array, 8)):
        place = ("data_member_location", "udata", offset)
        result.add("member", ("name", "string", name), ("type", "ref4", type_), place)

    def procedure(*operations: Operation) -> Entry:
        return unit.add("dwarf_procedure", ("location", "exprloc", operations))

    on_entry = procedure(
        "undefined", ("extend", 64, 64), ("regx", PC), ("extend", 64, 64),
        ("call_frame_entry_reg", EXEC), ("deref_size", 8), ("select_bit_piece", 64, 64),
    )
    of_kernel = procedure(
        "undefined", ("extend", 64, 64), ("regx", PC), ("extend", 64, 64),
        ("regx", EXEC), ("deref_size", 8), ("select_bit_piece", 64, 64),
    )
    # where the others wait is on the stack; the upper half of the wave is said to be nowhere
    half = (
        ("extend", 64, 32), ("regx", PC), ("extend", 64, 32), ("regx", EXEC), ("deref_size", 8),
        ("select_bit_piece", 64, 32), ("piece", 256), "undefined", ("piece", 256),
    )
    of_if = procedure("stack_value", *half)

    def variable(parent: Entry, tag: str, name: str, type_: Entry, *operations: Operation) -> None:
        parent.add(tag, ("name", "string", name), ("type", "ref4", type_), ("location", "exprloc", operations))

    variable(
        unit, "variable", "origin", result,
        ("regx", S16), ("piece", 4), "undefined", ("piece", 4), ("regx", V5), ("piece", 128), "piece_end",
    )
    variable(unit, "variable", "weights", array, ("regx", -1))
    in_v0 = (("regx", V0), "push_lane", ("constu", 4), "mul", "offset")
    of_list = {".Lown_foo_1": 0x123456, ".Lown_foo_2": 0x654321}
    everywhere = {name: f".Lown_pcs_{name}" for name in NAMES} if variant.lists else {
        "part_ways": ".Lown_pcs_part_ways", "by_index": ".Lown_pcs_by_index"}
    where: dict[str, list[tuple[str, str, Expression]]] = {}
    for name in NAMES:
        low, high = code.functions[name]
        where[name] = [(low, high, (("call4", of_kernel if name == "kernel" else on_entry),))]
    where["part_ways"] = _around_ifs(code, on_entry, of_if, address)
    where["by_index"] = [(*code.functions["by_index"], (
        # s[30:31] has some saved PC: say that the others are there
        ("regx", S30), ("piece", 4), ("regx", S30 + 1), ("piece", 4), "piece_end", *half,
    ))]
    for name, label in (("part_ways", ".Lown_foo_1"), ("by_index", ".Lown_foo_2")):
        low, high = code.functions[name]
        lists[label] = [(low, high, (("constu", of_list[label]), "stack_value"))]
        lists[everywhere[name]] = where[name]
    lists.update({label: where[name] for name, label in everywhere.items()})

    def list_attribute(attribute: str, label: str, by_index: bool) -> tuple[str, str, object]:
        if by_index and variant.version >= 5:
            return attribute, "loclistx", list(lists).index(label)
        return attribute, "sec_offset", label

    for name in NAMES:
        low, high = code.functions[name]
        function = unit.add("subprogram", ("name", "string", name), ("low_pc", address, low))
        end = ("high_pc", "data4", f"{high}-{low}") if variant.indexed else ("high_pc", "addr", high)
        function.attributes.append(end)
        if variant.lanes is not None:
            function.attributes.append(("lanes", "data1", variant.lanes))
        if variant.frame_base:
            function.attributes.append(("frame_base", "exprloc", (("regx", S33),)))
        if name in everywhere:
            by_index = variant.list_index or name == "by_index"
            function.attributes.append(list_attribute("lane_pc", everywhere[name], by_index))
        else:
            function.attributes.append(("lane_pc", "exprloc", where[name][0][2]))
        if name in ("inner", "outer"):
            variable(function, "formal_parameter", "val", int_, *in_v0)
        if name == "part_ways":
            variable(function, "formal_parameter", "gid", unsigned, *in_v0)  # there at the function's entry only
        if name in ("part_ways", "by_index"):
            variable(function, "formal_parameter", "in", open_array, ("constu", 0))
            variable(function, "formal_parameter", "out", result, ("constu", 0))
            label = ".Lown_foo_1" if name == "part_ways" else ".Lown_foo_2"
            foo = list_attribute("location", label, variant.list_index or name == "by_index")
            function.add("variable", ("name", "string", "foo"), foo, ("type", "ref4", int_))
            # the lane PCs as a variable, as ROCgdb's lane-pc-vega20 test has them
            pcs = list_attribute("location", everywhere[name], True)
            function.add("variable", ("name", "string", "_lane_pc"), pcs, ("type", "ref4", wide_array))
    out.location_lists(lists)
    out.unit(unit)
    return out


def _around_ifs(code: Code, on_entry: Entry, of_if: Entry, address: str) -> list[tuple[str, str, Expression]]:
    """While one branch runs, the lanes of the other wait; the code of the else branch comes later and runs first."""
    low, high = code.functions["part_ways"]
    ranges: list[tuple[str, str, Expression]] = []
    here = low
    for number, end in ((1, code.at("if_2_cond")), (2, code.at("if_3_cond")), (3, code.at("add"))):
        then, other = code.at(f"if_{number}_then"), code.at(f"if_{number}_else")
        ranges += [
            (here, then, (("call4", on_entry),)),
            (then, other, ((address, end), ("call4", of_if))),
            (other, f"{end}-4", ((address, then), ("call4", of_if))),  # the last instruction turns EXEC back on
        ]
        here = end
    return [*ranges, (here, high, (("call4", on_entry),))]
