"""Positions of inactive lanes: small pieces of code with obvious answers, and code that makes no sense."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from rocdbg.analysis.control_flow import FunctionCode
from rocdbg.analysis.diagrams import TooLargeError
from rocdbg.analysis.lane_positions import LanePositions
from rocdbg.analysis.lane_table import LaneTable, from_bytes, table_of, to_bytes
from rocdbg.analysis.unknown_places import UNKNOWN
from rocdbg.dwarf import Expression, SimpleContext, evaluate_location
from rocdbg.isa import assemble

pytestmark = pytest.mark.llvm


def table(
    source: str, folder: Path, *, arch: str = "gfx1100", is_kernel: bool = True,
    silent: tuple[tuple[int, int], ...] = (), wave_size: int = 32,
) -> LaneTable:
    """The table of assembled code at address 0; ``silent`` are addresses of no source line."""
    (folder / "code.s").write_text(source)
    subprocess.run(
        ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-filetype=obj", "code.s", "-o", "code.o"],
        check=True, cwd=folder,
    )
    with (folder / "code.o").open("rb") as file:
        code = ELFFile(file).get_section_by_name(".text").data()
    return table_of(LanePositions(FunctionCode(0, len(code), is_kernel), code, arch, wave_size, silent=silent), False)


def positions(found: LaneTable, pc: int, **masks: int) -> list[int | None]:
    """The vector of lane PCs; ``masks`` are scalar registers, and contents of a vector register in all lanes."""
    registers = {1: masks.pop("exec").to_bytes(4, "little")}
    for name, value in masks.items():
        if name[0] == "s":
            registers[32 + int(name[1:])] = value.to_bytes(4, "little")
        else:
            registers[1536 + int(name[1:])] = value.to_bytes(4, "little") * 32
    code = found.lane_pc(pc)
    assert code is not None
    context = SimpleContext(wave_size=32, lane=0, pc=pc, registers=registers | {16: pc.to_bytes(8, "little")})
    return evaluate_location(Expression(code, "amd"), context).read_elements(64, 32)


IF_ELSE = """
s_and_saveexec_b32 s0, vcc_lo      // 0
s_xor_b32 s0, exec_lo, s0          // 4
v_mov_b32 v0, 1                    // 8
s_and_not1_saveexec_b32 s0, s0     // 12
v_mov_b32 v0, 2                    // 16
s_or_b32 exec_lo, exec_lo, s0      // 20
s_nop 0                            // 24
s_endpgm                           // 28
"""


def test_if_else(tmp_path: Path) -> None:
    found = table(IF_ELSE, tmp_path)
    assert positions(found, 8, exec=0b0011, s0=0b1100)[:5] == [8, 8, 16, 16, 28]
    assert positions(found, 16, exec=0b1100, s0=0b0011)[:5] == [24, 24, 16, 16, 28]


def test_a_comparison_whose_destination_is_a_constant(tmp_path: Path) -> None:
    """Damaged code: only EXEC loses lanes."""
    word = int.from_bytes(assemble("v_cmpx_gt_u32_e64 s[4:5], v0, v1", "gfx90a"), "little") & ~0xFF | 0x81
    code = f"s_mov_b64 s[0:1], exec\n.long {word & 0xFFFFFFFF:#x}, {word >> 32:#x}\ns_nop 0\ns_endpgm\n"
    found = table(code, tmp_path, arch="gfx90a", wave_size=64)
    assert found.lane_pc(12) is not None


def test_function_of_others(tmp_path: Path) -> None:
    found = table(IF_ELSE.replace("s_endpgm", "s_setpc_b64 s[30:31]"), tmp_path, is_kernel=False)
    assert positions(found, 8, exec=0b0011, s0=0b1100)[:5] == [8, 8, 16, 16, None]


def test_all_lanes_for_a_while(tmp_path: Path) -> None:
    found = table(
        "s_and_saveexec_b32 s0, vcc_lo\ns_or_saveexec_b32 s34, -1\nv_mov_b32 v1, v2\ns_mov_b32 exec_lo, s34\n"
        "s_or_b32 exec_lo, exec_lo, s0\ns_endpgm\n", tmp_path,
    )
    assert positions(found, 8, exec=0xFFFFFFFF, s34=0b0001, s0=0b0010)[:3] == [8, 20, 20]
    assert found.active_lanes(8) is not None
    assert found.active_lanes(16) is None


TWO_WAYS = """
s_and_saveexec_b32 s0, vcc_lo      // 0
{0}                                // 4
s_cbranch_scc1 2                   // 8
s_or_b32 exec_lo, exec_lo, s0      // 12
s_nop 1                            // 16
s_or_b32 exec_lo, exec_lo, s0      // 20
s_nop 2                            // 24
s_endpgm                           // 28
"""


def test_numbers_of_the_wave_tell_its_way(tmp_path: Path) -> None:
    found = table(TWO_WAYS.format("s_cmp_gt_i32 s4, s5"), tmp_path)
    for left, right, there in ((3, 2, 24), (2, 3, 16), (1, 0xFFFFFFFF, 24), (0xFFFFFFFF, 1, 16)):
        assert positions(found, 4, exec=0b01, s0=0b10, s4=left, s5=right)[:3] == [4, there, 28]


WHOLE_WAVE = """
s_and_saveexec_b32 s0, s2          // 0
{0}                                // 4
s_cbranch_vccz 2                   // 8
s_or_b32 exec_lo, exec_lo, s0      // 12
s_nop 1                            // 16
s_or_b32 exec_lo, exec_lo, s0      // 20
s_nop 2                            // 24
s_endpgm                           // 28
"""


@pytest.mark.parametrize(("condition", "mask", "there"), [
    # a mask that is 0 for all lanes is 0 for all active ones; where it is not, no lane need be active
    ("s_and_b32 vcc_lo, exec_lo, s4", 0, {24}),
    ("s_and_b32 vcc_lo, s4, exec_lo", 0xFFFFFFFF, {16, 24}),
    ("s_and_not1_b32 vcc_lo, exec_lo, s4", 0xFFFFFFFF, {24}),
    ("s_and_not1_b32 vcc_lo, exec_lo, s4", 0, {16, 24}),
    ("s_mov_b32 vcc_lo, s4", 0xFFFFFFFF, {16}),
    ("s_not_b32 vcc_lo, s4", 0xFFFFFFFF, {24}),
])
def test_a_mask_that_is_the_same_for_all_lanes_tells_the_way(
    condition: str, mask: int, there: set[int], tmp_path: Path
) -> None:
    for before, is_uniform in (("s_cselect_b32 s4, -1, 0", True), ("s_or_b32 s4, s5, s6", False)):
        found = table(f"{before}\ns_nop 0{WHOLE_WAVE.format(condition)}", tmp_path)
        element = positions(found, 12, exec=0b01, s0=0b10, s4=mask)[1]
        assert element is not None
        places = found.candidates(element) if element >= UNKNOWN else [element]
        assert {place - 8 for place in places} == (there if is_uniform or (mask and "mov" in condition) else {16, 24})


def test_the_mask_of_the_other_half_says_nothing(tmp_path: Path) -> None:
    """In wave64, a lane's bit is in one register of a pair. Lane 1 is inactive; bit 33 determines whether it stays
    inactive.
    """
    found = table(
        "s_nop 0\ns_and_saveexec_b64 s[0:1], vcc\ns_mov_b32 s0, s1\ns_or_b64 exec, exec, s[0:1]\ns_nop 1\ns_endpgm\n",
        tmp_path, arch="gfx90a", wave_size=64,
    )
    code = found.lane_pc(0)
    assert code is not None
    registers = {16: bytes(8), 17: (1).to_bytes(8, "little"), 32: bytes(4), 33: bytes(4)}
    context = SimpleContext(wave_size=64, lane=0, pc=0, registers=registers)
    there = evaluate_location(Expression(code, "amd"), context).read_elements(64, 64)
    assert there[0] == 0 and there[1] is not None and set(found.candidates(there[1])) == {16, 20}


def test_what_depends_on_the_future_is_unknown(tmp_path: Path) -> None:
    found = table(TWO_WAYS.format("s_bitcmp1_b32 s4, 0"), tmp_path)
    here = positions(found, 4, exec=0b01, s0=0b10)
    assert here[0] == 4
    assert here[1] is not None
    assert here[1] >= UNKNOWN
    assert found.candidates(here[1]) == [16, 24]


PARITY = "".join(f"s_xor_b32 s0, s0, s{number}\n" for number in range(1, 20)) + """
s_or_b32 exec_lo, exec_lo, s0      // 76
s_nop 0                            // 80
s_or_b32 exec_lo, exec_lo, s20     // 84
s_endpgm                           // 88
"""


def test_many_paths_to_few_places(tmp_path: Path) -> None:
    # a lane of an odd number of the masks is on at 80: a million paths through a diagram of 39 nodes
    found = table(PARITY, tmp_path)
    masks = {f"s{number}": 0b011 << 2 * (number % 3) for number in range(20)}  # 0, 3, 6, ... have lanes 0 and 1
    lanes = [sum(mask >> lane & 1 for mask in masks.values()) % 2 for lane in range(8)]
    assert lanes == [1, 1, 1, 1, 0, 0, 0, 0]  # 7, 7 and 6 masks
    assert positions(found, 0, exec=0x80, s20=0x30, **masks)[:8] == [80, 80, 80, 80, 88, 88, 88, 0]


TELLS_ITSELF = """
s_and_saveexec_b32 s0, vcc_lo                    // 0
v_mov_b32 v9, 7                                  // 4
s_or_b32 exec_lo, exec_lo, s0                    // 8
v_dual_mov_b32 v2, 5 :: v_dual_mov_b32 v9, v3    // 12
v_cmpx_eq_u32_e32 1, v9                          // 20
s_nop 1                                          // 24
s_endpgm                                         // 28
"""


def test_dual_moves_are_followed(tmp_path: Path) -> None:
    # a lane that becomes active at 12 copies v3 to v9; the query is in code without a line
    found = table(TELLS_ITSELF, tmp_path, silent=((12, 24),))
    assert positions(found, 4, exec=0b01, s0=0b10, v3=1, v9=0)[:3] == [4, 24, 28]
    assert positions(found, 4, exec=0b01, s0=0b10, v3=0, v9=1)[:3] == [4, 28, 28]


def test_sums_with_carry_change_what_is_compared(tmp_path: Path) -> None:
    found = table(
        TELLS_ITSELF.replace("v_dual_mov_b32 v2, 5 :: v_dual_mov_b32 v9, v3", "v_add_co_u32 v9, s1, v9, v9"),
        tmp_path, silent=((12, 24),),
    )
    here = positions(found, 4, exec=0b01, s0=0b10, v9=1)[1]
    assert here is not None
    assert here >= UNKNOWN
    assert found.candidates(here) == [24, 28]


def test_a_table_is_the_same_when_kept(tmp_path: Path) -> None:
    found = table(IF_ELSE, tmp_path)
    assert from_bytes(to_bytes(found)) == found
    assert from_bytes(b"\x90") is None


@pytest.mark.parametrize("arch", ["gfx90a", "gfx1100", "gfx1201"])
@pytest.mark.parametrize("seed", range(8))
def test_any_bytes(seed: int, arch: str) -> None:
    choice = random.Random(seed)
    words = [
        choice.choice((choice.getrandbits(32), 0xBF840000 | choice.getrandbits(6), 0x87FE007E | choice.getrandbits(4)))
        for _ in range(300)
    ]
    code = b"".join(word.to_bytes(4, "little") for word in words)
    for wave_size in (32, 64):
        try:
            found = table_of(LanePositions(FunctionCode(64, 64 + len(code)), code, arch, wave_size), True)
        except TooLargeError:
            continue
        for pc in range(64, 64 + len(code), 44):
            found.lane_pc(pc)
            found.entered(pc)
            found.active_lanes(pc)
