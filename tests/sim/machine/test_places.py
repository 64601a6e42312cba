"""The waves of a launch find no traces of earlier waves in their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocdbg.sim.core.layout import ENGINE, HEADER
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.residency_and_barriers import Residency
from rocdbg.sim.device.workgroup_places import Places, SparePlaces

pytestmark = pytest.mark.llvm

_DIRT = {
    "gfx90a": """
      ds_write_b32 v1, v1 offset:16
      buffer_store_dword v1, off, s[0:3], s5 offset:8
      v_accvgpr_write_b32 a0, v1
      v_accvgpr_write_b32 a3, v1
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3""",
    "gfx1100": """
      ds_store_b32 v1, v1 offset:16
      scratch_store_b32 off, v1, off offset:8
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3""",
}
"""Instructions that leave traces in every kind of memory that belongs to a single wave."""
_DIRECTIVES = {
    "gfx90a": (
        ".amdhsa_user_sgpr_private_segment_buffer 1", ".amdhsa_system_sgpr_private_segment_wavefront_offset 1",
        ".amdhsa_accum_offset 24",
    ),
    "gfx1100": (".amdhsa_enable_private_segment 1",),
}


def kernel(target: str) -> str:
    dirty = [f"v_mov_b32 v{n}, 0x{0x700 + n:x}" for n in range(1, 24)]
    dirty += [f"s_mov_b32 s{n}, 0x{0x900 + n:x}" for n in range(6, 90)]
    dirty += ["s_mov_b64 vcc, 5", "s_mov_b32 m0, 0x1234", "v_mov_b32 v1, 64"]
    return "\n".join([*dirty, _DIRT[target], "s_mov_b64 exec, 1" if target == "gfx90a" else "s_mov_b32 exec_lo, 1"])


def again(dispatch: Dispatch, made: Any) -> Dispatch:
    """Run the same launch again after this one has ended."""
    assert dispatch.run().kind is StopKind.DONE
    dispatch.release()
    return made.machine.dispatch(dispatch.kernel, dispatch.plan.grid, dispatch.plan.workgroup, b"")


def beginnings(dispatch: Dispatch) -> list[Any]:
    """The whole initial state of a dispatch's waves, except their addresses."""
    found: list[Any] = []
    for wave in dispatch.waves:
        header = {name: wave.field(name) for name in HEADER}
        header |= {name: wave.word(name) for name in ENGINE if name != "lds_pointer"}
        end = wave.vgpr_count * wave.wave_size * 4
        vectors = wave.state[1024 : 1024 + end].tobytes()
        accumulators = [wave.agpr(n).tolist() for n in range(wave.agpr_count)]
        found += [header, wave.sgprs.tolist(), vectors, accumulators, wave.lds.tobytes()]
    scratch = dispatch.plan.scratch
    assert scratch is not None
    return [*found, scratch.data.tobytes()]


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_a_launch_begins_as_the_first_did(assembled: Callable[..., Any], target: str) -> None:
    options = {"items": 100, "groups": 70, "vgprs": 32}
    directives = (*_DIRECTIVES[target], ".amdhsa_private_segment_fixed_size 64")
    fresh = assembled(target, kernel(target), directives=directives, **options)
    expected = beginnings(fresh.dispatch)
    made = assembled(target, kernel(target), directives=directives, **options)
    made.dispatch = again(made.dispatch, made)  # the first one showed a wave where it needed code to be translated
    second = made.dispatch._residency.places
    made.dispatch = again(made.dispatch, made)
    assert made.dispatch._residency.places is second, "this is about places that are used again"
    assert beginnings(made.dispatch) == expected
    assert made.dispatch.run().kind is StopKind.DONE


def test_who_has_a_wave_keeps_it(assembled: Callable[..., Any]) -> None:
    code = kernel("gfx90a").replace("v_mov_b32 v1, 64", "v_mov_b32 v1, 64\n.globl here\nhere:")
    directives = (*_DIRECTIVES["gfx90a"], ".amdhsa_private_segment_fixed_size 64")
    made = assembled("gfx90a", code, vgprs=32, directives=directives)
    assert made.dispatch.run(RunOptions(stop_pcs={made.at("here")})).kind is StopKind.BREAKPOINT
    wave = made.wave
    following = again(made.dispatch, made)
    assert wave.ended
    assert wave.vgpr(20).tolist() == [0x714] * 64
    assert following.waves[0].address != wave.address
    assert following.waves[0].vgpr(20).tolist() == [0] * 64


def test_a_dispatch_that_has_gone_still_tells(assembled: Callable[..., Any]) -> None:
    made = assembled("gfx90a", "s_nop 0\n" * 5, groups=3)
    first = made.dispatch
    count = first.run() and first.instructions
    second = again(first, made)
    assert (first.instructions, first.finished, first.waves, first.created) == (count, True, (), 3)
    assert first.progress() == (count, 3, 3)
    first.interrupt()
    assert second.instructions == 0
    assert second.run().kind is StopKind.DONE


@pytest.mark.parametrize(
    ("grid", "group"), [((64, 1, 1), (64, 1, 1)), ((70, 5, 3), (33, 2, 2)), ((9, 1, 1), (3, 1, 1))]
)
def test_native_code_makes_the_same_groups(
    assembled: Callable[..., Any], grid: tuple[int, int, int], group: tuple[int, int, int]
) -> None:
    """`Engine.fill` gives the same result as `Residency.fill`, in the same memory, fresh and used."""
    made = assembled("gfx90a", kernel("gfx90a"), vgprs=32,
                     directives=(*_DIRECTIVES["gfx90a"], ".amdhsa_private_segment_fixed_size 64"))  # fmt: skip
    plan = made.machine.dispatch(made.dispatch.kernel, grid, group, b"").plan
    places = Places(plan.state, plan.grid, plan.workgroup, plan.resident_groups)
    engine = made.machine.engine(64)
    found = []
    for used in (False, True):
        for native in (True, False):
            residency = Residency(plan.state, places, plan.scratch, 5)
            places.used = used
            if used:
                places.states[:, 1024 : 1024 + 24 * 256] = 0xAA
                places.lds[:] = 0xAA
            engine.fill(residency) if native else residency.fill()
            schedule = places.block.copy()
            schedule[places.fields.__class__._varying.offset :] = 0  # what the last wave was made with
            lists = places.flags.tolist(), places.following.tolist(), places.previous.tolist()
            found.append([schedule.tobytes(), *lists, places.states[places.flags != 0].tobytes(), places.lds.tobytes()])
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert found[0] == found[2]


def test_spare_places_are_bounded() -> None:
    class Room(Places):
        def __init__(self, rows: int, size: int) -> None:
            self.rows, self.bytes = rows, size

    spare, kinds = SparePlaces(), [object() for _ in range(4)]
    small = [Room(400, 1000) for _ in range(3)]
    for kind, room in zip(kinds, small, strict=False):
        spare.give(kind, room)
    assert spare.take(kinds[0]) is None, "the oldest made room"
    assert spare.take(kinds[2]) is small[2]
    assert spare.take(kinds[2]) is None
    huge = Room(1, 1 << 30)
    spare.give(kinds[3], huge)
    assert spare.take(kinds[3]) is None
    assert spare.take(kinds[1]) is None, "it had to go for the huge one"
    spare.give(kinds[0], small[0])
    spare.clear()
    assert spare.take(kinds[0]) is None


