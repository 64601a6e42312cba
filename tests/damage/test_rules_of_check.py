"""Debug information that breaks one rule each, as assembly: `dwarf.check` names that rule, and nothing else.

Every case is `rules/sound.s` with one text replaced: the first ``old`` after ``after``. Numbers that are out of range
are the first ones out of range.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rocdbg import dwarf
from rocdbg.dwarf.checker.findings import Finding
from rocdbg.dwarf.checker.rule_table import RULES

pytestmark = pytest.mark.llvm
SOUND = Path(__file__).parent / "rules/sound.s"

# rule, after, old, new, a part of the message
CASES = [
    # A.7: units, abbreviations, references
    ("readable", ".Linfo:", ".short 5", ".short 6", ""),
    ("readable", ".Linfo:", ".long .Linfo_end-.Linfo-4", ".long .Linfo_end-.Linfo+400", ""),
    ("readable", ".Lunit:", ".uleb128 1", ".uleb128 77", ""),
    ("reference", ".Lx:", ".long .Lint-.Linfo", ".long .Lint-.Linfo+1", "where no entry begins"),
    ("reference", ".Lx:", ".long .Lint-.Linfo", ".long .Lfunction-.Linfo", "which is a DW_TAG_subprogram"),
    ("reference", ".Lmember:", ".long .Lint-.Linfo", ".long .Lx-.Linfo", "which is a DW_TAG_variable"),
    # A.3.1.1: augmentation strings
    ("augmentation-format", ".Lunit:", "[amdgpu:v0.0]", "[amdgpu v0.0]", "'[amdgpu v0.0]'"),
    ("augmentation-format", ".Lunit:", "[amdgpu:v0.0]", "[amdgpu:v0.0", ""),
    ("augmentation-format", ".Lunit:", "[amdgpu:v0.0]", "[amdgpu:v00.0]", "'[amdgpu:v00.0]'"),
    ("augmentation-format", ".Lcie:", "[amd:v0.0]", "[amd:v0,0]", "'[amd:v0,0]'"),
    # A.7.5.4: codes of attributes
    ("attribute-class", "// function", ".uleb128 0x3e08 ", ".uleb128 0x3e09 ", "0x3e09"),
    ("attribute-class", "// vector base type", ".uleb128 0x3e0c", ".uleb128 0x3e08", "0x3e08"),
    ("attribute-class", "// pointer: type", ".uleb128 0x3e10", ".uleb128 0x3e0b", "0x3e0b"),
    ("attribute-tag", "// variable: name", ".uleb128 0x02", ".uleb128 0x40", "DW_TAG_variable must not have "
    "DW_AT_frame_base"),
    # A.3.3.5: functions
    ("lanes", ".Lfunction:", ".byte 64 ", ".byte 0 ", "must be greater than 0"),
    ("iterations", "// iterations: lit4", "0x34, 0x9f", "0x30, 0x9f", "the value is 0"),
    ("iterations", "// iterations: lit4", "0x34, 0x9f", "0x34, 0x96", "implicit location"),
    ("iterations", "// iterations: lit4", "0x34, 0x9f", "0x4f, 0x1f", ""),
    ("lane-pc", "// lane_pc: lit0", "64, 64, 0x96", "64, 32, 0x96", "too few for 64 lanes"),
    ("lane-pc", "// lane_pc: lit0", "0x30, 0x9f, 0xe9", "0x13, 0x9f, 0xe9", "DW_OP_drop"),
    ("active-lane", "// active_lane", "0x90, 17", "0x13, 0x96", "DW_OP_drop"),
    ("active-lane", "// active_lane", "0x90, 17", "0x90, 1", "the result has only 32 bits"),
    ("frame-base", "// frame_base", "0x30, 0x35, 0xe9, 0x02", "0x91, 0x00, 0x96, 0x96", "DW_OP_fbreg"),
    ("frame-base", "// frame_base", "0x30, 0x35, 0xe9, 0x02", "0x31, 0x9f, 0x96, 0x96", "in memory"),
    ("return-addr", "// return_addr", "0x38, 0x36, 0xe9, 0x02", "0x90, 36, 0x96, 0x96", "but is register s4"),
    ("static-link", "// static link", "0x38, 0x36, 0xe9, 0x02", "0x90, 36, 0x96, 0x96", "but is register s4"),
    ("static-link", "// static link", "0x38, 0x36, 0xe9, 0x02", "0x38, 0x9f, 0x96, 0x96", "implicit"),
    ("static-link", "// outer function", ".uleb128 0x2e", ".uleb128 0x39", "DW_TAG_subprogram is not nested"),
    ("source-file", ".Lfunction:", ".byte 0, 1", ".byte 1, 1", "there is no file 1: the line table has 1"),
    ("range-list", ".Lfunction:", ".quad 0x1100", ".quad 0x0f00", "ends at 0xf00"),
    # A.3.4.2: calls
    ("call-site", "// value: lit7", ".byte 0x37", ".byte 0x22", "DW_OP_plus"),
    ("call-site", "// data value: lit9", ".byte 0x39", ".byte 0x13", "DW_OP_drop"),
    ("call-site", "// data location", "0x38, 0x33, 0xe9, 0x02", "0x13, 0x33, 0x38, 0x17", "DW_OP_drop"),
    ("call-parameter", "// its parameter", ".uleb128 0x02", ".uleb128 0x3fff", "no DW_AT_location"),
    ("call-parameter", "// location: regx s4", "0x90, 36", "0x13, 0x96", "DW_OP_drop"),
    ("call-parameter", "// data value: lit9", ".long .Lparameter-.Linfo", ".long .Lx-.Linfo", "not a formal parameter"),
    ("call-parameter", "// call site", ".uleb128 0x48", ".uleb128 0x0b", "is in a DW_TAG_lexical_block"),
    ("call-target", "// target: regx s30", "0x90, 62, 0x96", "0x13, 0x96, 0x96", "DW_OP_drop"),
    # A.2.5.4: expressions and their operands
    ("expression", "// regx v2", "0x34, 0x1e, 0xe9, 0x04", "0x34, 0x1e, 0xe9, 0x7f", "unknown extension operation"),
    ("expression", "// regx v2", "0x34, 0x1e, 0xe9, 0x04", "0x34, 0x1e, 0xe9, 0xff", ""),
    ("expression", "// regx v2", "0x90, 0x82, 0x14", "0xff, 0x82, 0x14", "unknown operation code 0xff"),
    ("location", "// regx v2", "0x34, 0x1e, 0xe9, 0x04", "0x34, 0x1e, 0x1e, 0x1e", ""),
    ("location", "// regx v2", "0x90, 0x82, 0x14", "0x90, 0xff, 0x7f", "no DWARF register"),
    ("operand", ".Lz:", "4, .Lint-.Linfo", "4, .Llong-.Linfo", "the operand has 4 bytes, but base type 'long' has 8"),
    ("operand", ".Lz:", "4, .Lint-.Linfo", "4, .Lint-.Linfo+1", "there is no entry"),
    ("operand", ".Lz:", "4, .Lint-.Linfo", "4, .Lpointer-.Linfo", "is not a base type"),
    ("operand", ".Lc:", ".Llong-.Linfo, 8\n", ".Lint-.Linfo, 8\n", "the operand has 8 bytes, but base type 'int' has "
    "4"),
    ("operand", "// addrx 0", "0xa1, 0", "0xa1, 1", "there is no address 1 in .debug_addr"),
    ("operand", "// call4 shared", ".long .Lshared-.Linfo", ".long .Lshared-.Linfo+1", "there is no entry"),
    ("operand", "// lane_pc: lit0", "0x0b, 64, 64", "0x0b, 64, 0", "neither the size nor the count may be 0"),
    ("operand", "// regx v2", "0x34, 0x1e, 0xe9, 0x04", "0x2f, 0xfc, 0xff, 0x96", "it leads to 0x4, where no operation "
    "begins"),
    ("object", "// regx v2", "0x34, 0x1e, 0xe9, 0x04", "0x97, 0x13, 0x96, 0x96", "there is no object"),
    ("address-size", ".section .debug_addr", ".byte 8, 0", ".byte 4, 0", "addresses of 4 bytes"),
    ("address-size", ".section .debug_loclists", ".byte 8, 0", ".byte 2, 0", "addresses of 2 bytes"),
    # A.2.5.5 and A.2.17: lists
    ("location-list", ".Llist:\n", ".byte 7\n\t.quad 0x1000", ".byte 0x0a\n\t.quad 0x1000", "0xa"),
    ("location-list", ".Llist:\n", ".quad 0x1000\n\t.quad 0x1040", ".quad 0x1040\n\t.quad 0x1000", "ends at 0x1000"),
    ("expression", ".Llist:\n", ".byte 0x31, 0x9f", ".byte 0x31, 0xff", "0xff"),
    ("location", ".Llist:\n", ".byte 0x31, 0x9f", ".byte 0x13, 0x9f", "DW_OP_drop"),
    ("location-list", "// variable: location list", ".Llist-.Lloclists+12", ".Llist-.Lloclists+999", ""),
    ("range-list", ".Lranges:", ".byte 6", ".byte 8", "unknown kind of range"),
    ("range-list", ".Lranges:", ".quad 0x1100", ".quad 0x0100", "ends at 0x100"),
    # A.2.13, A.2.14, A.5: types
    ("base-type", ".Lint:", ".byte 5, 4", ".byte 0, 4", "unknown base type encoding 0x0"),
    ("base-type", "// vector base type", ".uleb128 0x0b\n\t.uleb128 0x0b\n\t.uleb128 0x3e0c",
     ".uleb128 0x88\n\t.uleb128 0x0b\n\t.uleb128 0x3e0c", "neither DW_AT_byte_size"),
    ("vector-size", ".Lvector:", ".byte 5, 4, 2", ".byte 5, 4, 0", "must be greater than 0"),
    ("address-space", ".Lpointer:", ".byte 4, 3, 3", ".byte 4, 0x44, 3", "no address space 0x44"),
    ("address-space", ".Laddress:", ".byte 1, 4, 5", ".byte 5, 4, 5", "can have an address space"),
    ("memory-space", ".Lpointer:", ".byte 4, 3, 3", ".byte 4, 3, 5", "no memory space 0x5"),
    ("member-location", "// lit4, offset", "0x34, 0xe9, 0x04", "0x13, 0x13, 0x96", "DW_OP_drop"),
    ("vtable-elem", "// lit8, offset", "0x38, 0xe9, 0x04", "0x13, 0x13, 0x96", "DW_OP_drop"),
    ("use-location", "// swap, offset", "0x16, 0xe9, 0x04", "0x22, 0x22, 0x96", "DW_OP_plus"),
    ("data-location", "// push_object_address", "0x97, 0x94, 0x08, 0x30", "0x13, 0x94, 0x08, 0x30", "DW_OP_drop"),
    # A.6.1: name indexes
    ("name-index", ".Lnames:", ".short 5", ".short 6", ""),
    ("name-index", ".Lentry_k:", ".long .Lfunction-.Linfo", ".long .Lfunction-.Linfo+1", "where no entry begins"),
    ("name-index", ".Lentry_k:", ".long .Lfunction-.Linfo", ".long .Lx-.Linfo",
     "the tag DW_TAG_subprogram, but its tag is DW_TAG_variable"),
    ("name-index", ".Lnames:", 'LLVM0700\\0\\0\\0\\0', "[abc:v1]\\0\\0\\0\\0", "does not have the form"),
    ("name-index-variable", ".Lentry_shared:", ".long .Lshared-.Linfo", ".long .Lindexed-.Linfo", "not list 'shared'"),
    # A.6.2: line number programs
    ("line-table", ".Lline:", ".short 5", ".short 6", "version 6"),
    ("line-table", ".Lheader:", "14, 10\n", "0, 10\n", "is 0 or impossible"),
    ("line-content", "// files: path", "\t.uleb128 0x2002\n\t.byte 0x0f", "\t.uleb128 0x2002\n\t.byte 0x0b",
     "DW_LNCT_LLVM_is_MD5"),
    ("line-content", ".Lheader:", '.byte 0\n\t.asciz "int', '.byte 1\n\t.asciz "int', "is in directory 1"),
    ("line-content", ".Lheader:", '"int x\\n"', '"int x\\r\\n"', "do not all end with a plain newline"),
    ("line-content", ".Lheader:", '\\n"\n\t.byte 0', '\\n"\n\t.byte 2', "is 2, neither 0 nor 1"),
    # A.6.4: call frames
    ("call-frame", ".Lcie:", ".byte 8, 0, 4, 4, 16", ".byte 4, 0, 4, 4, 16", "addresses of 4 bytes"),
    ("frame-size", ".Lfde:", ".byte 0, 0\n", ".byte 0\n", "not a multiple of 8"),
    ("call-frame", ".Lcie:", ".byte 4\n", ".byte 3\n", ""),
    ("call-frame", ".Lcie:", ".byte 0x30, 32, 0, 6", ".byte 0x30, 32, 0, 0x4f", "0x4f"),
    ("call-frame", ".Lcie:", ".byte 0x10, 16, 2, 0x90, 48", ".byte 0x10, 16, 2, 0x97, 0x96", "push_object_address"),
    ("call-frame", ".Lcie:", ".byte 0x10, 16, 2, 0x90, 48", ".byte 0x09, 16, 32, 0, 0", ""),
    ("call-frame", ".Lcie:", ".byte 0x10, 16, 2, 0x90, 48", ".byte 0x16, 16, 2, 0x90, 17", ""),
    ("call-frame", ".Lfde:", ".byte 0x0b ", ".byte 0x3f ", ""),
    ("call-frame", ".Lfde:", ".byte 0x0a ", ".byte 0x00 ", ""),
    ("call-frame", ".Lfde:", ".long .Lcie-.Lcie", ".long .Lcie-.Lcie+3", ""),
]


def damaged(after: str, old: str, new: str) -> str:
    text = SOUND.read_text()
    before, mark, behind = text.partition(after)
    assert mark, after
    assert old in behind, (after, old)
    return before + mark + behind.replace(old, new, 1)


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Finding]]:
    """The findings in each case; -1 means that no rule is broken. One call of the assembler makes all objects."""
    folder = tmp_path_factory.mktemp("rules")
    shutil.copy(SOUND, folder / "c-1.s")
    for number, (_, after, old, new, _) in enumerate(CASES):
        (folder / f"c{number}.s").write_text(damaged(after, old, new))
    sources = sorted(path.name for path in folder.glob("*.s"))
    subprocess.run(
        ["clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-c", *sources],
        cwd=folder, check=True, timeout=120,
    )
    return {number: dwarf.check(dwarf.open(folder / f"c{number}.o")) for number in range(-1, len(CASES))}


def test_nothing_is_found_in_what_is_sound(findings: dict[int, list[Finding]]) -> None:
    assert findings[-1] == []


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)])
def test_the_rule_that_is_broken_is_named(number: int, findings: dict[int, list[Finding]]) -> None:
    rule, after, _, _, words = CASES[number]
    assert {found.rule.id for found in findings[number]} == {rule}, after
    assert any(words in found.message for found in findings[number]), [found.message for found in findings[number]]


def test_every_rule_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(RULES)
