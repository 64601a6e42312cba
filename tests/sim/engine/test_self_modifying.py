"""Kernels that store into their own code: which stores take effect when, in every way of running."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from weakref import ref

import pytest
from engine_bench import Bench, assemble

from rocdbg.arch.targets import target_by_name
from rocdbg.isa.decoder import disassemble
from rocdbg.sim.core import layout
from rocdbg.sim.core.layout import Status
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.engine import code_table, native_jit
from rocdbg.sim.engine.instruction_cache import LINE_SIZE
from rocdbg.sim.engine.native import Engine
from rocdbg.sim.engine.native_jit import Generation
from rocdbg.sim.translator.blocks import form_block
from rocdbg.sim.translator.translate import Context, translate
from rocdbg.sim.translator.wave_builder import WaveBuilder
from tests.breadth import some_of

pytestmark = pytest.mark.llvm

TARGETS = {"gfx90a": 64, "gfx1030": 32, "gfx1100": 32, "gfx1201": 64}
STORE = {
    "gfx90a": "global_store_dword v[0:1], v2, off\ns_waitcnt vmcnt(0)",
    "gfx1030": "global_store_dword v[0:1], v2, off\ns_waitcnt_vscnt null, 0",
    "gfx1100": "global_store_b32 v[0:1], v2, off\ns_waitcnt_vscnt null, 0",
    "gfx1201": "global_store_b32 v[0:1], v2, off\ns_wait_storecnt 0",
}
FAR = f".fill {LINE_SIZE // 4 + 64}, 4, 0xbf800000"


@dataclass(frozen=True)
class Case:
    """``patched`` is the code that ``store`` writes over ``first``. s10 is the expected final value."""

    id: str
    text: str
    s10: int
    first: str = "s_movk_i32 s10, 1"
    patched: str = "s_movk_i32 s10, 2"
    offset: int = 0
    """Offset of the dword of ``first`` that is stored."""


CASES = [
    Case("ahead, not invalidated", "{store}\n{first}\ns_endpgm", 1),
    Case("ahead, invalidated", "{store}\ns_icache_inv\n{first}\ns_endpgm", 2),
    Case("invalidated before the store", "s_icache_inv\n{store}\n{first}\ns_endpgm", 1),
    Case("invalidated behind a branch", "{store}\ns_branch a\ns_nop 0\na: s_icache_inv\n{first}\ns_endpgm", 2),
    Case("in another block", "{store}\ns_branch a\ns_nop 0\na: {first}\ns_endpgm", 1),
    Case("line never executed", "{store}\ns_branch far\n" + FAR + "\nfar: {first}\ns_endpgm", 2),
    Case("line executed before", "s_branch far\nback: {store}\ns_movk_i32 s9, 1\ns_branch far\n" + FAR +
         "\nfar: {first}\ns_cmp_eq_u32 s9, 0\ns_cbranch_scc1 back\ns_endpgm", 1),
    Case("line executed before, invalidated", "s_branch far\nback: {store}\ns_movk_i32 s9, 1\ns_icache_inv\n"
         "s_branch far\n" + FAR + "\nfar: {first}\ns_cmp_eq_u32 s9, 0\ns_cbranch_scc1 back\ns_endpgm", 2),
    Case("loop, never invalidated", "l: {first}\n{store}\ns_add_u32 s9, s9, 1\ns_cmp_lt_u32 s9, 3\n"
         "s_cbranch_scc1 l\ns_endpgm", 1),
    Case("loop, invalidated", "l: {first}\n{store}\ns_icache_inv\ns_add_u32 s9, s9, 1\ns_cmp_lt_u32 s9, 3\n"
         "s_cbranch_scc1 l\ns_endpgm", 2),
    Case("a literal", "{store}\ns_icache_inv\n{first}\ns_endpgm", 0x22222222,
         "s_mov_b32 s10, 0x11111111", "s_mov_b32 s10, 0x22222222", offset=4),
    Case("a literal, not invalidated", "{store}\n{first}\ns_endpgm", 0x11111111,
         "s_mov_b32 s10, 0x11111111", "s_mov_b32 s10, 0x22222222", offset=4),
    Case("end of the program", "{store}\ns_icache_inv\ns_movk_i32 s10, 3\n{first}\ns_movk_i32 s10, 2\ns_endpgm", 2,
         "s_endpgm", "s_nop 0"),
]


def bench_of(case: Case, target: str) -> Bench:
    wave_size = TARGETS[target]
    text = case.text.format(store=STORE[target], first=case.first)
    bench = Bench(text, target, wave_size)
    first, patched = (assemble(word, target, wave_size) for word in (case.first, case.patched))
    place = bench.text.address + bench.code.index(first) + case.offset
    bench.vgpr(0)[:], bench.vgpr(1)[:] = place & 0xFFFFFFFF, place >> 32
    bench.vgpr(2)[:] = struct.unpack("<I", patched[case.offset : case.offset + 4])[0]
    return bench


def straight(bench: Bench) -> None:
    assert bench.run() is Status.END


def optimised(bench: Bench) -> None:
    bench.engine.optimise()
    assert bench.run() is Status.END


def stepped(bench: Bench) -> None:
    while bench.step() is Status.BUDGET:
        pass


def sliced(budget: int) -> Callable[[Bench], None]:
    def run(bench: Bench) -> None:
        while bench.run(budget) is Status.BUDGET:
            pass

    return run


def ranged(bench: Bench) -> None:
    while (status := bench.run(range=(bench.get("pc"), bench.get("pc") + 8))) is Status.RANGE:
        pass
    assert status is Status.END


def mixed(bench: Bench) -> None:
    """Blocks first, then steps that use the instructions decoded for blocks."""
    if bench.run(5) is Status.BUDGET:
        stepped(bench)


WAYS = {
    "straight": straight, "optimised": optimised, "stepped": stepped, "by 2": sliced(2), "by 3": sliced(3),
    "ranged": ranged, "mixed": mixed,
}


@pytest.mark.truth
@pytest.mark.parametrize(
    ("case", "target"),
    some_of(
        [(case, target) for case in CASES for target in TARGETS],
        [(case, list(TARGETS)[turn % len(TARGETS)]) for turn, case in enumerate(CASES)],
    ),
    ids=lambda value: value if isinstance(value, str) else value.id,
)
def test_every_way_of_running_executes_the_same_code(case: Case, target: str) -> None:
    ended = {}
    for way, run in WAYS.items():
        bench = bench_of(case, target)
        run(bench)
        ended[way] = int(bench.sgprs[10]), bench.pc, bench.get("instructions")
    assert {s10 for s10, _, _ in ended.values()} == {case.s10}, ended
    assert len(set(ended.values())) == 1, ended


@pytest.mark.parametrize("way", WAYS)
def test_programs_with_the_bytes_stored_are_not_mistaken(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCDBG_CACHE_DIR", str(tmp_path))
    for case in CASES:
        WAYS[way](bench_of(case, "gfx90a"))
    programs = [(case, text) for case in CASES for text in (case.first, case.patched)]
    for case, text in programs:
        for run in (straight, stepped):
            # What is around it in memory is as when the other program was done.
            program = bench_of(case, "gfx90a")
            program.vgpr(2)[:] = struct.unpack("<I", assemble(text, "gfx90a", 64)[case.offset :][:4])[0]
            program.memory.write(int(program.vgpr(0)[0]) | int(program.vgpr(1)[0]) << 32, program.vgpr(2)[:1].tobytes())
            run(program)
            fresh = Bench(case.text.format(store="s_nop 0", first=text), "gfx90a", 64)
            straight(fresh)
            assert program.sgprs[10] == fresh.sgprs[10], (case.id, text)


def test_host_writes_take_effect_at_once() -> None:
    bench = Bench("s_movk_i32 s10, 1\ns_movk_i32 s11, 1\ns_endpgm")
    assert bench.step() is Status.BUDGET
    bench.memory.write(bench.text.address + 4, assemble("s_movk_i32 s11, 7", "gfx90a", 64))
    bench.engine.invalidate(bench.text.address + 4, bench.text.address + 8)
    assert bench.run() is Status.END
    assert (bench.sgprs[10], bench.sgprs[11]) == (1, 7)


def test_host_writes_show_nothing_else_that_was_stored() -> None:
    case = next(case for case in CASES if case.id == "ahead, not invalidated")
    bench = bench_of(case, "gfx90a")
    for _ in range(2):
        assert bench.step() is Status.BUDGET
    end = bench.text.address + len(bench.code) - 4
    bench.engine.invalidate(end, end + 4)
    assert bench.run() is Status.END
    assert bench.sgprs[10] == 1


def test_a_dispatch_begins_with_what_is_in_memory() -> None:
    case = next(case for case in CASES if case.id == "ahead, not invalidated")
    bench = bench_of(case, "gfx90a")
    for expected in (1, 2):
        bench.set("pc", bench.text.address)
        bench.engine.refresh()
        assert bench.run() is Status.END
        assert bench.sgprs[10] == expected


def test_what_was_illegal_for_its_second_dword_is_looked_at_again() -> None:
    good = assemble("v_add_f64 v[0:1], v[2:3], v[4:5]", "gfx90a", 64)
    bench = Bench("v_add_f64 v[0:1], v[2:3], v[4:5]\ns_endpgm")
    place = bench.text.address
    bad = next(
        word for word in (b"\xff\xff\xff\xff", b"\x00\x00\x00\xff", b"\xff\x00\xff\xff")
        if (bench.memory.write(place + 4, word), bench.engine.invalidate(place + 4, place + 8),
            bench.step())[2] is not Status.BUDGET
    )
    assert bad != good[4:]
    bench.memory.write(place + 4, good[4:])
    bench.engine.invalidate(place + 4, place + 8)
    assert bench.run() is Status.END


@pytest.mark.parametrize("size", [0, 4])
def test_code_that_ends_inside_an_instruction(size: int) -> None:
    bench = Bench("s_nop 0\ns_mov_b32 s10, 0x11111111")
    bench.code = bench.code[: 4 + size]
    for run in (bench.run, bench.step):
        bench.set("pc", bench.text.address + 4)
        assert run() is Status.FETCH


PC_USERS = {
    "gfx906": "l: s_getpc_b64 s[0:1]\ns_call_b64 s[2:3], l\ns_cbranch_i_fork s[4:5], l\ns_setpc_b64 s[0:1]\n"
    "s_swappc_b64 s[6:7], s[0:1]\ns_cbranch_scc1 l\ns_cbranch_execz m\ns_branch l\nm: s_trap 2\ns_icache_inv",
    "gfx90a": "l: s_getpc_b64 s[0:1]\ns_call_b64 s[2:3], l\ns_cbranch_g_fork s[4:5], s[0:1]\ns_cbranch_join s3\n"
    "global_load_dword v0, v[2:3], off\nds_read_b32 v1, v0\ns_cbranch_vccnz l\ns_branch l\ns_sleep 1\ns_endpgm",
    "gfx1100": "l: s_getpc_b64 s[0:1]\ns_call_b64 s[2:3], l\ns_swappc_b64 s[6:7], s[0:1]\ns_cbranch_scc1 l\n"
    "s_cbranch_execnz m\ns_branch l\nm: s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)\nscratch_load_b32 v0, v1, off\ns_endpgm",
    "gfx1250": "l: s_get_pc_i64 s[0:1]\ns_call_i64 s[2:3], l\ns_swap_pc_i64 s[6:7], s[0:1]\ns_add_pc_i64 8\n"
    "s_cbranch_scc1 l\ns_set_pc_i64 s[0:1]\ns_barrier_signal -1\ns_barrier_wait -1\ns_endpgm",
}


@pytest.mark.parametrize("exceptions", [False, True])
@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("name", PC_USERS)
def test_translations_do_not_depend_on_their_address(name: str, watched: bool, exceptions: bool) -> None:
    """The key of a translation therefore does not need the address."""
    target = target_by_name(name)
    wave_size = target.default_wave_size
    code = assemble(PC_USERS[name], name, wave_size)
    engine = Engine(target, wave_size, GlobalMemory().page_table_address, lambda address, size: b"")
    texts = set()
    for place in (0x7F00_0000_1000, 0x7F12_3456_789C, 0x7FFF_FFFF_F000):
        instructions = {i.address: i for i in disassemble(code, target, place, wave_size=wave_size)}
        blocks = [form_block(i, instructions.get, lambda address: False) for i in instructions]
        assert not [block for block in blocks if block.blocked]
        builder = WaveBuilder(wave_size, engine.jit.width, engine.jit.masked_stores, engine._helpers)
        builder.watched = watched
        context = Context(target, wave_size, layout.Mode(0xF0), exceptions)
        names = [f"f{n}" for n in range(len(blocks))]
        texts.add(translate(builder, blocks, names, context).text)
    assert len(texts) == 1


# A literal that is another one in each round.
EVER_NEW = """
v_mov_b32 v2, 0
l: s_mov_b32 s10, 0x11111111
s_add_u32 s11, s11, s10
v_add_u32 v2, 1, v2
global_store_dword v[0:1], v2, off
s_icache_inv
s_sub_u32 s9, s9, 1
s_cmp_lg_u32 s9, 0
s_cbranch_scc1 l
s_endpgm
"""


def ever_new(rounds: int) -> Bench:
    bench = Bench(EVER_NEW)
    place = bench.text.address + 8
    bench.vgpr(0)[:], bench.vgpr(1)[:] = place & 0xFFFFFFFF, place >> 32
    bench.sgprs[9] = rounds
    return bench


def test_code_that_keeps_changing_takes_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code linked for old versions is freed: generations of modules are freed as a whole."""
    rounds, made = 100, []
    monkeypatch.setattr(native_jit, "_GENERATION", 1 << 18)
    monkeypatch.setattr(native_jit, "Generation", lambda *host: made.append(ref(new := Generation(*host))) or new)
    bench = ever_new(rounds)
    assert bench.run() is Status.END
    assert bench.sgprs[11] == (0x11111111 + rounds * (rounds - 1) // 2) & 0xFFFFFFFF
    assert len(made) > 4
    assert sum(generation() is not None for generation in made) <= 2


def test_a_program_in_every_mode_takes_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_table, "_MOST_KEYS", 4)
    step = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), {}\ns_add_u32 s10, s10, 1"
    text = "\n".join(step.format(mode) for mode in range(16))
    for run in (straight, stepped):
        bench = Bench(text + "\ns_endpgm")
        bench.engine.set_stops(frozenset([bench.text.address + 12 * 9]))
        assert bench.run() is Status.BREAK
        assert bench.run(ignore_stop=True, budget=1) is Status.BUDGET
        run(bench)
        assert bench.sgprs[10] == 16
        assert len(bench.engine._blocks._directories) <= 6
