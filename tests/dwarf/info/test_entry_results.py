"""The attributes of one object that has all of A.3 to A.5, as the public reader returns them in one context."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from rocdbg import dwarf

pytestmark = pytest.mark.llvm
SOURCE = Path(__file__).parents[2] / "damage/rules/sound.s"
LANE, LANES = 3, 64
CONTEXT = dwarf.SimpleContext(
    lane=LANE, wave_size=LANES, pc=0x1010,
    registers={
        17: (0xFF).to_bytes(8, "little"), 36: b"\1\2\3\4", 37: b"\5\6\7\x08", 62: (0x1080).to_bytes(4, "little"),
        2562: bytes(range(256)),
    },
    memory={0: {0x1000: bytes(range(64))}, 3: {0: bytes(range(64))}},
)  # fmt: skip
OBJECT = dwarf.evaluate_location(dwarf.Expression(dwarf.assemble(("addr", 0x1000)), "amd"), CONTEXT)

# entry, method, what it gives (locations as they describe themselves)
RESULTS: list[tuple[str, str, Any]] = [
    ("k", "lanes", 64),
    ("k", "iterations", 4),
    ("k", "lane_pc", [0] * LANES),
    ("k", "active_lane", 0xFF),
    ("k", "frame_base", "memory at private_lane#0x0 of lane 3"),
    ("k", "static_link", "memory at private_wave#0x8"),
    ("k", "return_addr", "memory at private_wave#0x8"),
    ("n", "location", "undefined"),
    ("x", "location", "register v2, bit 96"),
    ("y", "location", "register s5"),
    ("z", "location", "implicit value 0x4030201 of 4 bytes"),
    ("c", "location", "implicit value 0x7 of 8 bytes"),
    ("shared", "location", "memory at local#0x8"),
    ("indexed", "location", "memory at 0x2000"),
    ("calls", "location", "memory at local#0x8"),
    ("y", "location_ranges", [(0x1000, 0x1040, "DW_OP_regx 0x25"),
                              (0x1040, 0x1080, "DW_OP_lit1, DW_OP_stack_value"), (None, None, "<empty>")]),
    ("n", "location_ranges", []),
    ("DW_TAG_call_site", "call_target", "64 bits from bit 0 reach beyond the 32 bits of register s30"),
    ("DW_TAG_call_site_parameter", "location", "register s4"),
    ("DW_TAG_call_site_parameter", "call_value", 7),
    ("DW_TAG_call_site_parameter", "call_data_location", "memory at local#0x8"),
    ("DW_TAG_call_site_parameter", "call_data_value", 9),
    ("vec", "vector_size", 2),
    ("int", "vector_size", None),
    ("DW_TAG_pointer_type", "address_space", 3),
    ("DW_TAG_pointer_type", "memory_space", 3),
    ("where", "address_space", 5),
    ("int", "memory_space", 0),
    ("int", "address_space", 0),
    ("a", "member_location", "memory at 0x1004"),
    ("f", "vtable_elem_location", "memory at 0x1008"),
    ("a", "vtable_elem_location", None),
    ("DW_TAG_ptr_to_member_type", "use_location", "memory at 0x1008"),
    ("DW_TAG_array_type", "data_location", "memory at 0x706050403020100"),
    ("S", "data_location", "memory at 0x1000"),
    ("DW_TAG_pointer_type", "pointee", "memory at local#0x3020100"),
    ("where", "pointee", "memory at private_lane#0x3020100 of lane 3"),
]  # fmt: skip
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "lanes": (), "vector_size": (), "memory_space": (), "address_space": (), "use_location": (CONTEXT, 8, OBJECT),
    **dict.fromkeys(("member_location", "vtable_elem_location", "data_location", "pointee"), (CONTEXT, OBJECT)),
}  # fmt: skip


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dwarf.Entry]:
    """Entries by name; entries without a name by tag."""
    path = tmp_path_factory.mktemp("entries") / "sound.o"
    command = ["clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-c", str(SOURCE), "-o", str(path)]
    subprocess.run(command, check=True, timeout=60)
    [unit] = dwarf.open(path).units
    return {entry.name or entry.tag: entry for entry in unit.entries}


@pytest.mark.parametrize(("name", "method", "expected"), RESULTS)
def test_result(name: str, method: str, expected: Any, entries: dict[str, dwarf.Entry]) -> None:
    try:
        result = getattr(entries[name], method)(*ARGUMENTS.get(method, (CONTEXT,)))
    except dwarf.DwarfError as error:
        assert str(error).endswith(expected) and method in str(error), error
        return
    if isinstance(result, dwarf.LocationDescription):
        result = result.describe()
    assert (result.value if isinstance(result, dwarf.Value) else result) == expected


def test_entries_say_what_they_are(entries: dict[str, dwarf.Entry]) -> None:
    member, function, y = entries["a"], entries["k"], entries["y"]
    assert repr(member) == f"<Entry DW_TAG_member a at {member.offset:#x}>"
    assert member.parent == entries["S"] and hash(member.parent) == hash(entries["S"])
    assert member.qualified_name == "S::a" and member.size == 4 and str(member.type) == "int"
    assert function.line == 1 and [(each.low, each.high) for each in function.ranges] == [(0x1000, 0x1100)]
    assert y in function.variables and y.unit == function.unit and y.place == f".debug_info+{y.offset:#x}"
    assert set(entries["x"].attributes) == {"DW_AT_name", "DW_AT_type", "DW_AT_location"}
