"""The architectural state: everything has a name, a name reaches only its own place, and images can be restored."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from rocdbg.api import launch_file
from rocdbg.launch.argument_binding import BoundLaunch
from rocdbg.sim.architecture import image
from rocdbg.sim.architecture.places import (
    SPECIAL_BITS,
    Lds,
    Memory,
    Place,
    Register,
    Special,
    Sync,
    scalar_codes,
    specials,
)
from rocdbg.sim.architecture.state import ArchitecturalState, ArchitectureError, Extent
from rocdbg.sim.core import layout
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.device.schedule import SCHEDULE

DEMOS = Path(__file__).resolve().parents[3] / "demo_kernels"


def started(target: str, position: int) -> BoundLaunch:
    bound = launch_file(DEMOS / "reduce" / "reduce.toml", arch=target).launch
    bound.dispatch.run(RunOptions(budget=position))
    return bound


def state_of(bound: BoundLaunch) -> ArchitecturalState:
    return ArchitecturalState(bound.dispatch, bound.machine.memory, bound.machine.share)


def captured(bound: BoundLaunch) -> image.RunImage:
    return image.capture(bound.dispatch, bound.machine.share, bound.machine.memory.allocations)


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_each_name_is_written_and_read_alone(target: str) -> None:
    bound = started(target, 300)
    state, wave = state_of(bound), bound.dispatch.waves[1]
    engine = wave.engine.tobytes()
    number = wave.number
    places: list[tuple[Place, bytes]] = [(Register(number, name), b"\1\2\3\4") for name in scalar_codes(wave.target)]
    places += [(Special(number, name), b"\1" * max(1, SPECIAL_BITS[name] // 8)) for name in specials(wave.target)]
    places += [(Register(number, "v3", wave.wave_size - 2), bytes(range(8))), (Register(number, "v255", 0), b"abcd")]
    places += [(Register(number, "a7", 5), b"wxyz")] if wave.target.has_agprs else []
    for place, data in places:
        before = wave.state.copy()
        state.write(place, bytes(len(data)))
        state.write(place, data)
        assert state.read(place, len(data)) == data
        assert [found for found, _ in state.changes(wave, before)] in ([place], [])
    assert wave.engine.tobytes() == engine
    share: list[tuple[Place, bytes]] = [
        (Lds(number, 8), b"12345"), (Sync(63), b"\1" + bytes(3) + b"\1" + bytes(11)),
        (Memory(bound.buffers[0].allocation.address + 4), b"67"),
    ]
    for place, data in share:
        state.write(place, data)
        assert state.read(place, len(data)) == data
    bound.release()


def test_the_engine_has_no_names() -> None:
    bound = started("gfx1100", 100)
    state = state_of(bound)
    for name in (*layout.ENGINE, *SCHEDULE, *layout.ENV):
        if name in layout.HEADER:
            continue
        for size in (1, 4, 8):
            for place in (Register(1, name), Special(1, name)):
                with pytest.raises(ArchitectureError, match=f"has no register {name}"):
                    state.write(place, bytes(size))
    bound.release()


def test_waves_exist_when_they_can() -> None:
    extent = Extent(first_wave=1, waves=10, at_once=4)
    for number, position in ((1, 0), (4, 0), (5, 1), (10, 6), (10, 100)):
        extent.check_wave(number, position)
    for number, position in ((0, 0), (5, 0), (10, 5), (11, 100)):
        with pytest.raises(ArchitectureError):
            extent.check_wave(number, position)


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_an_image_comes_back(target: str) -> None:
    bound = started(target, 500)
    saved = msgspec.msgpack.decode(msgspec.msgpack.encode(captured(bound)), type=image.RunImage)
    bound.dispatch.run()
    ends = [buffer.contents.tobytes() for buffer in bound.buffers]
    other = started(target, 500)
    assert captured(other) == saved
    state, wave = state_of(other), other.dispatch.waves[0]
    memory = Memory(other.buffers[0].allocation.address)
    for place, data in ((Register(wave.number, "v0"), b"\xff" * 64), (Register(wave.number, "exec_lo"), bytes(4)),
                        (Lds(wave.number, 0), b"\xff" * 64), (memory, b"\xff" * 64)):
        state.write(place, data)
    assert captured(other) != saved
    image.restore(saved, other.dispatch, other.machine.share, other.machine.memory.allocations)
    assert captured(other) == saved
    other.dispatch.run()
    assert [buffer.contents.tobytes() for buffer in other.buffers] == ends
    bound.release()
    other.release()


def test_an_image_of_another_run_is_refused() -> None:
    bound, later = started("gfx1100", 500), started("gfx1100", 900)
    saved, others = captured(bound), captured(later)
    wave = saved.waves[0]
    replace = msgspec.structs.replace
    bad = [
        others, replace(saved, target="gfx90a"), replace(saved, waves=saved.waves[1:]), replace(saved, gds=b""),
        replace(saved, memory=saved.memory[1:]), replace(saved, sync=[(1 << 32, 0, 0, 0)] * 64),
        replace(saved, waves=[replace(wave, vectors=b""), *saved.waves[1:]]),
        replace(saved, waves=[replace(wave, special={**wave.special, "limit": 0}), *saved.waves[1:]]),
        replace(saved, waves=[replace(wave, special={**wave.special, "scc": 2}), *saved.waves[1:]]),
        replace(saved, waves=[replace(wave, scalar={**wave.scalar, "s0": -1}), *saved.waves[1:]]),
        replace(saved, waves=[replace(wave, barrier=("resident",)), *saved.waves[1:]]),
    ]
    for each in bad:
        with pytest.raises(ArchitectureError):
            image.restore(each, bound.dispatch, bound.machine.share, bound.machine.memory.allocations)
        assert captured(bound) == saved
    bound.release()
    later.release()
