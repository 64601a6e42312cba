"""Every operation, attribute and call frame instruction of the extensions occurs in one of the hand-made programs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocdbg import codeobject, dwarf
from rocdbg.dwarf.info import DebugInfo, Die, Exprloc, Loclist

OBJECTS = sorted((Path(__file__).resolve().parents[2] / "demo_kernels" / "extensions").glob("*/*.gfx90a.co"))
ATTRIBUTES = {
    "LLVM_active_lane", "LLVM_augmentation", "LLVM_lane_pc", "LLVM_lanes", "LLVM_iterations", "LLVM_vector_size",
    "LLVM_address_space", "LLVM_memory_space", "location", "const_value", "frame_base", "return_addr",
    "call_value", "call_data_location", "call_data_value", "call_parameter", "data_member_location", "use_location",
    "data_location", "allocated", "associated", "rank",
}
"""The attributes of the document, except `static_link` and `vtable_elem_location`: no HIP program has such functions.
"""
NOT_ON_AMDGPU = {"def_cfa", "def_cfa_sf"}
"""The CFA is never in the default address space, because no stack is."""


def _entries(die: Die) -> Iterator[Die]:
    yield die
    for child in die.children:
        yield from _entries(child)


def _names(data: bytes, dialect: str) -> Iterator[str]:
    for operation in dwarf.decode(data, dialect):
        yield operation.info.meaning
        if operation.info.meaning == "entry_value":
            block = operation.operands[0]
            assert isinstance(block, bytes)
            yield from _names(block, dialect)


@pytest.fixture(scope="module")
def found() -> tuple[set[str], set[str]]:
    """Operations and attributes, without their prefixes."""
    operations: set[str] = set()
    attributes: set[str] = set()
    for path in OBJECTS:
        file = codeobject.open_file(str(path))
        info = DebugInfo({name: section.data for name, section in file.sections.items()})
        for unit in info.units:
            for die in _entries(unit.top):
                for code, value in die.attributes.items():
                    form_class = "loclist" if isinstance(value, Loclist | Exprloc) else None
                    name = dwarf.attribute_name(code, None, form_class, unit.dialect)
                    attributes.add(str(name).removeprefix("DW_AT_"))
                    if isinstance(value, Exprloc):
                        operations |= set(_names(value.data, unit.dialect))
                    elif isinstance(value, Loclist):
                        entries = dwarf.parse_location_list(value.section, value.offset, debug_addr=unit.debug_addr)
                        operations |= {name for *_, data in entries for name in _names(data, unit.dialect)}
    return operations, attributes


def test_operations(found: tuple[set[str], set[str]]) -> None:
    extensions = {row.meaning for row in dwarf.OPERATIONS if row.name.startswith("DW_OP_LLVM_")} - {"nop"}
    in_call_frame_information = {"call_frame_entry_reg"}
    assert len(extensions) == 15
    assert extensions - found[0] == in_call_frame_information
    assert {"entry_value", "fbreg", "call_frame_cfa", "call4", "call_ref", "push_object_address", "stack_value",
            "implicit_value", "implicit_pointer", "piece", "bit_piece", "addrx", "deref_type", "const_type", "convert",
            "regval_type"} <= found[0]


def test_attributes(found: tuple[set[str], set[str]]) -> None:
    assert found[1] >= ATTRIBUTES


@pytest.mark.llvm
def test_call_frame_instructions() -> None:
    """The demos use the instructions of A.6.4.2 that define rules."""
    seen: set[str] = set()
    for path in OBJECTS:
        run = subprocess.run(
            ["llvm-dwarfdump-22", "--debug-frame", str(path)], capture_output=True, text=True, check=True, timeout=60
        )
        seen |= set(re.findall(r"DW_CFA_(\w+):", run.stdout))
        assert "DW_OP_LLVM_call_frame_entry_reg" in run.stdout or path.parent.name != "unwinding"
    assert seen >= {
        "def_cfa_register", "def_cfa_offset", "def_cfa_offset_sf", "def_cfa_expression", "LLVM_def_aspace_cfa",
        "LLVM_def_aspace_cfa_sf", "undefined", "same_value", "offset", "offset_extended", "offset_extended_sf",
        "val_offset", "val_offset_sf", "register", "expression", "val_expression", "restore", "restore_extended",
        "remember_state", "restore_state",
    }
    assert not seen & NOT_ON_AMDGPU
