"""Stops, budgets, ranges, single steps: exact to the instruction, with the same state however it was reached."""

from __future__ import annotations

import numpy as np
import pytest
from engine_bench import Bench

from rocdbg import work
from rocdbg.sim.core import layout
from rocdbg.sim.core.layout import Status

pytestmark = pytest.mark.llvm

LOOP = """
s_mov_b32 s0, 10
v_mov_b32 v1, 0
loop:
v_add_u32 v1, v1, v0
v_cmp_gt_u32 vcc, 20, v1
v_cndmask_b32 v2, v1, v0, vcc
s_sub_u32 s0, s0, 1
s_cmp_lg_u32 s0, 0
s_cbranch_scc1 loop
v_readfirstlane_b32 s5, v1
s_endpgm
"""
TOTAL = 2 + 6 * 10 + 2


def fresh(text: str = LOOP, **options: object) -> Bench:
    bench = Bench(text, **options)  # type: ignore[arg-type]
    bench.vgpr(0)[:] = np.arange(bench.wave_size)
    return bench


def test_straight_run() -> None:
    bench = fresh()
    assert bench.run() is Status.END
    assert bench.get("instructions") == TOTAL
    np.testing.assert_array_equal(bench.vgpr(1), np.arange(64) * 10)
    np.testing.assert_array_equal(
        bench.vgpr(2), np.where(np.arange(64) < 2, np.arange(64), np.arange(64) * 10)
    )
    assert bench.sgprs[5] == 0


def test_every_budget_gives_the_state_of_that_many_steps() -> None:
    stepped = fresh()
    for done in range(1, TOTAL):
        assert stepped.step() is Status.BUDGET
        assert stepped.get("instructions") == done
        budgeted = fresh()
        assert budgeted.run(done) is Status.BUDGET
        # Code is at the same address in every bench, LDS does not.
        budgeted.set("lds_pointer", stepped.get("lds_pointer"))
        np.testing.assert_array_equal(budgeted.state, stepped.state)
    assert stepped.step() is Status.END


@pytest.mark.parametrize("quantum", [1, 2, 5, 6, 7, 13])
def test_quanta_add_up(quantum: int) -> None:
    straight, pieces = fresh(), fresh()
    straight.run()
    status = Status.BUDGET
    while status is Status.BUDGET:
        status = pieces.run(quantum)
    assert status is Status.END
    pieces.set("lds_pointer", straight.get("lds_pointer"))
    np.testing.assert_array_equal(pieces.state, straight.state)


def test_stop_in_a_loop_hits_every_time_before_execution() -> None:
    bench = fresh()
    stop = bench.text.address + 8 + 8  # v_cndmask
    bench.engine.set_stops(frozenset((stop,)))
    for hit in range(10):
        assert bench.run(ignore_stop=hit > 0) is Status.BREAK
        assert bench.get("pc") == stop
        assert bench.get("instructions") == 2 + 6 * hit + 2
    assert bench.run(ignore_stop=True) is Status.END
    assert bench.get("instructions") == TOTAL


def test_stop_set_in_translated_code_and_removed() -> None:
    bench = fresh()
    assert bench.run(20) is Status.BUDGET  # the loop is translated now
    stop = bench.text.address + 8 + 12
    bench.engine.set_stops(frozenset((stop,)))
    assert bench.run() is Status.BREAK
    assert bench.get("pc") == stop
    bench.engine.set_stops(frozenset())
    assert bench.run() is Status.END
    assert bench.get("instructions") == TOTAL


def test_stop_at_the_first_instruction() -> None:
    bench = fresh()
    bench.engine.set_stops(frozenset((bench.text.address,)))
    assert bench.run() is Status.BREAK
    assert bench.get("instructions") == 0
    assert bench.step() is Status.BUDGET  # a step goes over it
    assert bench.run() is Status.END


def test_range_stepping() -> None:
    bench = fresh()
    base = bench.text.address
    assert bench.run(range=(base, base + 8)) is Status.RANGE
    assert (bench.pc, bench.get("instructions")) == (8, 2)
    assert bench.run(range=(base + 8, base + 32)) is Status.RANGE  # the whole loop
    assert (bench.pc, bench.get("instructions")) == (32, 62)
    assert bench.run(range=(base, base + 100)) is Status.END


def test_range_stepping_respects_budget_and_stops() -> None:
    bench = fresh()
    base = bench.text.address
    assert bench.run(7, range=(base, base + 32)) is Status.BUDGET
    assert bench.get("instructions") == 7
    bench.engine.set_stops(frozenset((base + 20,)))
    assert bench.run(range=(base, base + 32)) is Status.BREAK
    assert bench.pc == 20


STATUSES = [
    ("s_barrier\ns_endpgm", Status.BARRIER, 4, 1),
    ("s_endpgm", Status.END, 0, 1),
    ("s_nop 0\ns_trap 2", Status.TRAP, 4, 1),
    ("s_sleep 3\ns_endpgm", Status.SLEEP, 4, 1),
    (".long 0xffffffff", Status.ILLEGAL, 0, 0),
    ("s_nop 0\n.long 0xffffffff", Status.ILLEGAL, 4, 1),
    ("s_nop 0", Status.FETCH, 4, 1),
    ("s_mov_b64 s[0:1], 0\ns_setpc_b64 s[0:1]", Status.FETCH, None, 2),
]


@pytest.mark.parametrize(("text", "status", "pc", "count"), STATUSES)
@pytest.mark.parametrize("stepping", [False, True])
def test_statuses(text: str, status: Status, pc: int | None, count: int, stepping: bool) -> None:
    bench = Bench(text)
    got = bench.run(1, step=True) if stepping else bench.run()
    while stepping and got is Status.BUDGET:
        got = bench.run(1, step=True)
    assert got is status
    assert bench.get("instructions") == count
    assert pc is None or bench.pc == pc
    if status is Status.TRAP:
        assert bench.get("trap_id") == 2


def test_single_instruction_loop_respects_stops_and_budget() -> None:
    bench = Bench("here:\ns_branch here")
    assert bench.run(1000) is Status.BUDGET
    assert bench.get("instructions") == 1000
    bench.engine.set_stops(frozenset((bench.text.address,)))
    assert bench.run(ignore_stop=True) is Status.BREAK
    assert bench.get("instructions") == 1001


def test_mode_change_takes_effect_on_the_next_instruction() -> None:
    # FP_DENORM of f32 off, then a subnormal sum, then on again.
    bench = Bench(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\nv_add_f32 v1, v0, v0\n"
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3\nv_add_f32 v2, v0, v0\n"
        "s_getreg_b32 s1, hwreg(HW_REG_MODE, 4, 4)\ns_endpgm"
    )
    bench.vgpr(0)[:] = 5
    assert bench.run() is Status.END
    assert set(bench.vgpr(1)) == {0} and set(bench.vgpr(2)) == {10}
    assert bench.sgprs[1] == 0xF


def test_call_and_return() -> None:
    bench = Bench(
        "s_getpc_b64 s[0:1]\nafter:\ns_add_u32 s0, s0, function-after\ns_addc_u32 s1, s1, 0\n"
        "s_swappc_b64 s[30:31], s[0:1]\ns_endpgm\nfunction:\ns_mov_b32 s9, 42\ns_setpc_b64 s[30:31]"
    )
    assert bench.run() is Status.END
    assert bench.sgprs[9] == 42


def test_changed_code_is_translated_again() -> None:
    bench = Bench("v_mov_b32 v0, 1\ns_endpgm")
    assert bench.run() is Status.END
    bench.memory.write(bench.text.address, bytes.fromhex("8202007e"))  # v_mov_b32 v0, 2
    bench.engine.invalidate(bench.text.address, bench.text.address + 4)
    bench.set("pc", bench.text.address)
    assert bench.run() is Status.END
    assert set(bench.vgpr(0)) == {2}


@pytest.mark.parametrize(("target", "wave_size"), [("gfx1030", 32), ("gfx1030", 64), ("gfx1100", 32)])
def test_wave_sizes(target: str, wave_size: int) -> None:
    text = LOOP.replace("v_add_u32", "v_add_nc_u32")
    if wave_size == 32:
        text = text.replace("vcc", "vcc_lo")
    bench = fresh(text, target=target, wave_size=wave_size)
    assert bench.run() is Status.END
    np.testing.assert_array_equal(bench.vgpr(1), np.arange(wave_size) * 10)
    assert bench.get("instructions") == TOTAL


LANE_OPERATIONS = [
    # text, expected v1 of lane numbers + 100 in v0; EXEC all
    ("v_mov_b32_dpp v1, v0 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf", lambda n: n ^ 3),
    ("v_mov_b32_dpp v1, v0 row_mirror row_mask:0xf bank_mask:0xf", lambda n: n ^ 15),
    ("v_mov_b32_dpp v1, v0 row_half_mirror row_mask:0xf bank_mask:0xf", lambda n: n ^ 7),
    ("v_mov_b32_dpp v1, v0 row_ror:3 row_mask:0xf bank_mask:0xf", lambda n: n & 48 | (n - 3) & 15),
    ("v_mov_b32_dpp v1, v0 row_shl:2 row_mask:0xf bank_mask:0xf", lambda n: n + 2 if n % 16 < 14 else None),
    ("v_mov_b32_dpp v1, v0 row_shr:2 row_mask:0xf bank_mask:0xf", lambda n: n - 2 if n % 16 >= 2 else None),
    ("v_mov_b32_dpp v1, v0 wave_shr:1 row_mask:0xf bank_mask:0xf", lambda n: n - 1 if n else None),
    ("v_mov_b32_dpp v1, v0 wave_rol:1 row_mask:0xf bank_mask:0xf", lambda n: (n + 1) % 64),
    (
        "v_mov_b32_dpp v1, v0 row_bcast:15 row_mask:0xa bank_mask:0xf",
        lambda n: (n & 48) - 1 if n & 16 else None,
    ),
    ("v_mov_b32_dpp v1, v0 row_bcast:31 row_mask:0xc bank_mask:0xf", lambda n: 31 if n >= 32 else None),
    (
        "v_mov_b32_dpp v1, v0 row_mirror row_mask:0xf bank_mask:0x5",
        lambda n: n ^ 15 if n // 4 % 2 == 0 else None,
    ),
    ("ds_swizzle_b32 v1, v0 offset:swizzle(QUAD_PERM,1,0,3,2)", lambda n: n ^ 1),
    ("ds_swizzle_b32 v1, v0 offset:swizzle(SWAP,16)", lambda n: n ^ 16),
    ("ds_swizzle_b32 v1, v0 offset:swizzle(BROADCAST,8,3)", lambda n: n & 56 | 3),
    ("ds_swizzle_b32 v1, v0 offset:swizzle(REVERSE,8)", lambda n: n ^ 7),
]


@pytest.mark.parametrize(("text", "source"), LANE_OPERATIONS, ids=[t[:48] for t, _ in LANE_OPERATIONS])
def test_lane_operations(text: str, source) -> None:
    bench = Bench(text + "\ns_endpgm")
    bench.vgpr(0)[:] = np.arange(64) + 100
    bench.vgpr(1)[:] = 7
    assert bench.run() is Status.END
    want = [7 if source(n) is None else source(n) + 100 for n in range(64)]
    assert bench.vgpr(1).tolist() == want


def test_dpp_from_inactive_lanes() -> None:
    bench = Bench(
        "v_mov_b32_dpp v1, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n"
        "v_mov_b32_dpp v2, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:0\ns_endpgm"
    )
    bench.vgpr(0)[:] = np.arange(64) + 100
    bench.vgpr(1)[:] = bench.vgpr(2)[:] = 7
    bench.exec = 0b0111
    assert bench.run() is Status.END
    assert bench.vgpr(1)[:5].tolist() == [101, 100, 7, 7, 7]
    assert bench.vgpr(2)[:5].tolist() == [101, 100, 0, 7, 7]


def test_permutes() -> None:
    bench = Bench("ds_bpermute_b32 v1, v0, v2\nds_permute_b32 v3, v0, v2\ns_endpgm")
    order = np.random.default_rng(3).permutation(64)
    bench.vgpr(0)[:] = order * 4 + 256 * 3 + 2  # high and low bits are ignored
    bench.vgpr(2)[:] = np.arange(64) + 1
    bench.exec = (1 << 64) - 1 & ~(1 << 5)
    assert bench.run() is Status.END
    active = np.arange(64) != 5
    np.testing.assert_array_equal(bench.vgpr(1)[active], np.where(order == 5, 0, order + 1)[active])
    pushed = np.zeros(64, np.uint32)
    pushed[order[active]] = np.arange(64)[active] + 1
    np.testing.assert_array_equal(bench.vgpr(3)[active], pushed[active])
    assert bench.vgpr(1)[5] == bench.vgpr(3)[5] == 0


def test_read_and_write_lane() -> None:
    bench = Bench(
        "v_readlane_b32 s1, v0, 63\nv_readlane_b32 s2, v0, s0\nv_writelane_b32 v1, s2, 5\nv_readfirstlane_b32 s3, v0\n"
        "s_mov_b64 exec, 0\nv_writelane_b32 v1, 9, 6\nv_readfirstlane_b32 s4, v0\ns_endpgm"
    )
    bench.vgpr(0)[:] = np.arange(64) + 100
    bench.sgprs[0] = 64 + 7  # modulo the wave size
    bench.exec = 0xFF00
    assert bench.run() is Status.END
    assert bench.sgprs[1:5].tolist() == [163, 107, 108, 100]
    assert bench.vgpr(1)[4:8].tolist() == [0, 107, 9, 0]


def test_state_layout_does_not_overlap() -> None:
    last = max(layout.HEADER.values(), key=lambda field: field.offset)
    assert last.offset + last.size <= layout.SGPRS
    words = layout.ENGINE.values()
    assert min(word.offset for word in words) == layout.ENGINE_OFFSET
    assert max(word.offset + word.size for word in words) <= layout.ENGINE_OFFSET + layout.ENGINE_SIZE
    assert layout.sgpr_offset(layout.SGPR_COUNT) <= layout.VGPRS
    assert max(f.offset + f.size for f in layout.ENV.values()) <= layout.ENV_HELPERS


def test_a_stop_outside_simulated_memory_is_never_reached() -> None:
    """A damaged object may place its symbols anywhere; the engine ignores a breakpoint there."""
    bench = fresh()
    bench.engine.set_stops(frozenset((bench.text.address + (1 << 63), -8)))
    assert bench.run() is Status.END


@pytest.mark.parametrize("odd", [1, 2, 3])
def test_no_instruction_begins_between_dwords(odd: int) -> None:
    bench = Bench("s_mov_b32 s0, 1\ns_mov_b32 s1, 2\ns_endpgm")
    for way in (bench.run, bench.step):
        bench.set("pc", bench.text.address + odd)
        assert way() is Status.FETCH and bench.pc == odd and not bench.sgprs[:2].any()


@pytest.mark.parametrize(
    ("target", "halves"), [("gfx90a", False), ("gfx1030", True), ("gfx1100", True), ("gfx1200", False)]
)
def test_lanes_that_ds_permutes_reach_in_wave64(target: str, halves: bool) -> None:
    """RDNA4's document and LLVM (supportsWaveWideBPermute) specify all 64 lanes from GFX12 on, as before GFX10."""
    bench = Bench("ds_bpermute_b32 v2, v0, v1\nds_permute_b32 v3, v0, v1\ns_endpgm", target, 64, lds=64)
    lanes = np.arange(64)
    bench.vgpr(0)[:], bench.vgpr(1)[:] = (63 - lanes) * 4, lanes + 100
    assert bench.run() is Status.END
    expected = (63 - lanes) % 32 + lanes // 32 * 32 if halves else 63 - lanes
    assert bench.vgpr(2).tolist() == bench.vgpr(3).tolist() == (expected + 100).tolist()


def test_a_range_beyond_all_addresses_is_left_at_once() -> None:
    bench = Bench("s_mov_b32 s0, 1\ns_mov_b32 s1, 2\ns_endpgm")
    assert bench.run(range=(1 << 64, 1 << 65)) is Status.RANGE
    assert bench.pc <= 4


def test_recording_ends_between_two_instructions() -> None:
    """An interrupted recording of a block has no effect, and is repeated."""
    bench = Bench("\n".join(f"v_add_u32 v1, {n % 60}, v1" for n in range(100)) + "\ns_endpgm")
    bench.engine.jit.cache = None
    looks = 0

    def asked() -> bool:
        nonlocal looks
        looks += 1
        return looks == 50

    with work.asking(asked):
        assert bench.run() is Status.MISS
        assert bench.pc == 0 and bench.get("instructions") == 0 and looks == 50
        assert bench.run() is Status.END
    assert (bench.vgpr(1) == sum(n % 60 for n in range(100))).all() and looks > 150
