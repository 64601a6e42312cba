"""A short run of `benchmarks/fuzz_kernels.py`: random code, run straight, in single steps, and optimised."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rocdbg.sim.core.layout import ENGINE_SIZE, VGPRS
from tests.breadth import EVERYTHING

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(scope="module")
def programs() -> ModuleType:
    for name in ("random_images", "random_kernels"):  # the second imports the first
        spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("batch", [3, 8, 10, 15], ids=["gfx90a", "gfx1030", "gfx1100", "gfx1201"])
def test_three_ways_agree(programs: ModuleType, batch: int) -> None:
    rig, mode = programs.Rig(*programs.VARIANTS[batch]), programs.mode_of(batch)
    numbers = range(batch * programs.BATCH, (batch + 1) * programs.BATCH)
    starts = rig.load(programs.make_code(number, rig.target.name) for number in numbers)
    rig.translate(starts, mode)
    found = {n: programs.run_program(rig, n, s, mode) for n, s in zip(numbers, starts, strict=True)}
    assert {n: bad for n, bad in found.items() if bad} == {}
    assert rig.executed > 30  # the programs do something


@pytest.mark.parametrize("batch", [2, 4, 12], ids=["gfx803", "gfx900", "gfx1030"])
def test_images_three_ways(programs: ModuleType, batch: int) -> None:
    """Most descriptors of the instructions are meaningful, with some bits changed at random."""
    rig, images = programs.Rig(*programs.VARIANTS[batch]), programs.random_images
    generator, codes = random.Random(batch), []
    while len(codes) < 16:
        layout, opcode = generator.choice(images.opcodes(rig.target.name))
        data = images.word(generator, layout, opcode).to_bytes(4 * layout.dwords + 20, "little")
        found = programs.decode(data, rig.target, 0, wave_size=rig.wave_size)
        if not found.illegal:
            codes.append(data[: found.size])
    starts = rig.load(codes)
    rig.translate(starts, 0x3F0)
    found = {n: programs.run_program(rig, n, start, 0x3F0) for n, start in enumerate(starts)}
    assert {n: bad for n, bad in found.items() if bad} == {}
    done = set()
    for number in range(8):
        for start in starts:
            rig.prepare(number, start, 0x3F0)
            done.add(rig.straight(rig.plain).status.split()[0])
    assert {"END", "FAULT"} <= done, done


SHARED = {
    "GDS": (9, "0044bad9fd48025c"),  # gfx1030: ds_wrxchg2_rtn_b64 v[92:95], v253, v[72:73], v[2:3] offset1:68 gds
    "GWS": (0, "000035d900000000"),  # gfx900: ds_gws_sema_v gds
    "a jump to the next program": (3, "7f0082bf"),  # gfx90a: s_branch 127
}


@pytest.mark.parametrize(("variant", "code"), SHARED.values(), ids=SHARED)
def test_runs_begin_alike(programs: ModuleType, variant: int, code: str) -> None:
    """Device state left by one run must not reach the next, nor may a neighbour's actions count as a program's own."""
    rig = programs.Rig(*programs.VARIANTS[variant])
    start, _ = rig.load([bytes.fromhex(code), bytes.fromhex("8102107e")])  # v_mov_b32 v8, 1
    assert programs.run_program(rig, 1, start, 0x3F0) == ""


def test_a_difference_is_found(programs: ModuleType) -> None:
    """The comparison covers everything: one bit of a register, one byte of memory, the end of the run."""
    state, memory = bytes(200_000), bytes(5000)
    changed = bytearray(state)
    changed[ENGINE_SIZE + VGPRS + 256 * 7 + 4 * 5] ^= 1
    same = programs.Outcome("END", state, memory)
    others = [("END", bytes(changed), memory), ("END", state, b"\1" + memory[1:]), ("BUDGET", state, memory)]
    said = [programs.describe(same, programs.Outcome(*other), 64) for other in others]
    assert programs.describe(same, same, 64) == ""
    assert said == ["END: state differs at v7 lane 5", "END: memory differs at byte 0", "END / BUDGET"]


MATRIX = ("v_mfma", "v_smfmac", "v_wmma", "v_swmmac")


@pytest.mark.truth
@pytest.mark.parametrize(("name", "wave_size"), [("gfx908", 64), ("gfx950", 64), ("gfx1100", 32), ("gfx1201", 64)])
def test_matrix_instructions_touch_what_they_name(programs: ModuleType, name: str, wave_size: int) -> None:
    """Their routines access places in the state: registers next to those of the operands must have no effect and stay
    unchanged.
    """
    rig, decoder, seen, tried = programs.Rig(name, wave_size), programs.decoder_for(name, wave_size), set(), set()
    generator = random.Random(name)
    for layout, opcode in programs._opcodes(name):
        for _ in range(40):
            data = programs._word(generator, layout, opcode).to_bytes(4 * layout.dwords + 20, "little")
            try:
                found = decoder.decode(data)
            except programs.DecodeError:
                continue
            if found.illegal:
                continue
            if not found.name.startswith(MATRIX):
                break
            seen.add(found.name)
            if not EVERYTHING and len(seen) % 4 != 1:
                break  # one in four, of all shapes; `make truth` tries each
            (start,) = rig.load([data[: found.size]])
            assert programs.footprint(rig, rig.plain, len(tried), start, 0x3F0) == ""
            tried.add(found.name)
            break
    assert len(seen) >= 6, seen
    assert len(tried) >= len(seen) / 4, tried
