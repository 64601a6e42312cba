"""Writes to a place, compared with a full log of writes made by single steps.

Before each step, the value of the place is changed: if the original run's value is there after the step, the
instruction has written it. This needs no knowledge of instructions. The demos have one wave, so that a step is the next
instruction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec import Struct
from numpy.typing import NDArray

from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.session import Session
from rocdbg.debugger.target.reversible_target import RecordedTarget
from rocdbg.isa import decode
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.wave import Wave
from tests.breadth import some_of

DEMOS = Path(__file__).resolve().parents[2] / "demo_kernels"
Memory = NDArray[np.uint8]


class Place(Struct):
    """A place that may be written: the expressions that name it, and its position on the host, in pieces."""

    text: str
    lane: int
    pieces: list[Memory]

    def contents(self) -> bytes:
        return b"".join(piece.tobytes() for piece in self.pieces)

    def spoil(self, byte: int) -> None:
        """Change all bytes of the place, or set them to zero: an operand of a maximum has to be small."""
        for piece in self.pieces:
            piece[:] = (piece ^ byte) if byte else 0

    @property
    def key(self) -> tuple[str, int]:
        return self.text, self.lane


def started(file: str, arch: str) -> tuple[Session, RecordedTarget, Wave]:
    """One wave that is about to execute its first instruction."""
    session = Session()
    session.load(DEMOS / file, arch)
    lanes = "64" if arch == "gfx90a" else "32"
    session.launch.set_grid(lanes)
    session.launch.set_workgroup(lanes)
    session.start_at_entry()
    target = session.inferior.target
    assert isinstance(target, RecordedTarget)
    (wave,) = target.dispatch.waves
    return session, target, wave


def places(target: RecordedTarget, wave: Wave, scratch: Sequence[int], lds: Sequence[int]) -> list[Place]:
    """Words of buffers, private memory of a lane, LDS, scalar and vector registers."""
    found = []
    for bound in target.bound.buffers:
        data = bound.allocation.data
        for at in (0, 12):
            if at + 4 <= data.size:
                found.append(Place(f"*(int *) {bound.allocation.address + at:#x}", 0, [data[at : at + 4]]))
    for lane in (0, 5):
        for offset in scratch:
            pieces = [
                target.machine.memory.view(wave.scratch_address(lane, offset + byte), 1) for byte in range(4)
            ]
            found.append(Place(f"*(int *) private_lane#{offset:#x}", lane, pieces))
    found += [Place(f"*(int *) local#{at:#x}", 0, [wave.lds[at : at + 4]]) for at in lds]
    for number in (0, 4):
        found.append(Place(f"$s{number}", 0, [wave.sgprs[number : number + 1].view(np.uint8)]))
    for number in (0, 5, 7):  # clang -O0 spills scalar registers into lanes of the last two
        if number < wave.vgpr_count:
            for lane in (13, 26):
                found.append(Place(f"$v{number}", lane, [wave.vgpr(number)[lane : lane + 1].view(np.uint8)]))
    return found


def step(target: RecordedTarget, wave: Wave) -> None:
    target.dispatch.run(RunOptions(wave=wave.number, step=True))


def log_of_writes(target: RecordedTarget, wave: Wave, watched: Sequence[Place], steps: int) -> list[list[int]]:
    """The positions at which instructions have written each place."""
    allocations = [each.data for each in target.machine.memory.allocations if each.name != "code"]
    memory = [wave.state, wave.engine, wave.lds, *allocations]
    log: list[list[int]] = [[] for _ in watched]
    probed = [[place] for place in watched if place.text.startswith("$")]
    probed.append([place for place in watched if not place.text.startswith("$")])
    for position in range(steps):
        kept = {place.key for place in watched if may_keep(text_at(target, wave), place, wave.exec)}
        before, were = [each.copy() for each in memory], [place.contents() for place in watched]
        step(target, wave)
        ends = [each.copy() for each in memory]
        written = kept | {place.key for place, was in zip(watched, were, strict=True) if place.contents() != was}
        for together in probed:  # one at a time where it may be an address
            for byte in (0xFF, 0) if together is probed[-1] else (0xFF,):
                restore(memory, before)
                for place in together:
                    place.spoil(byte)
                spoilt = [place.contents() for place in together]
                step(target, wave)
                written.update(p.key for p, was in zip(together, spoilt, strict=True) if p.contents() != was)
        restore(memory, ends)
        for place, positions in zip(watched, log, strict=True):
            if place.key in written:
                positions.append(position)
    return log


def text_at(target: RecordedTarget, wave: Wave) -> str:
    code = target.machine.memory.view(wave.pc, 12)
    return decode(code.tobytes(), target.architecture, wave.pc, wave_size=wave.wave_size).text


def may_keep(instruction: str, place: Place, active: int) -> bool:
    """Whether an instruction computes a register from itself and other operands, so that the value may stay the same.
    """
    name, _, rest = instruction.partition(" ")
    result, *sources = rest.split(",")
    executes = place.text[1] == "s" or bool(active >> place.lane & 1)
    return executes and "store" not in name and "write" not in name and all(
        any(
            place.text[1:] == f"{kind}{number}"
            for kind, low, high in re.findall(r"\b([sv])\[?(\d+)(?::(\d+))?", words)
            for number in range(int(low), int(high or low) + 1)
        )
        for words in (result, " ".join(sources))
    )


def restore(memory: Sequence[Memory], kept: Sequence[Memory]) -> None:
    for each, data in zip(memory, kept, strict=True):
        each[:] = data


LOGGED: list[tuple[str, str, int, tuple[int, ...], tuple[int, ...]]] = [
    ("calls/calls.toml", "gfx90a", 300, (8, 24), ()),
    ("reduce/reduce.toml", "gfx1100", 250, (16, 32), (0, 64)),
    ("histogram/histogram.O2.toml", "gfx90a", 250, (), (0, 12)),
]


@pytest.mark.truth
@pytest.mark.parametrize("file, arch, steps, scratch, lds", some_of(LOGGED, LOGGED[1:]))
def test_last_and_first_writes_are_those_of_a_log(
    file: str, arch: str, steps: int, scratch: Sequence[int], lds: Sequence[int]
) -> None:
    """In this test, the first probe is in a run that is not recorded."""
    session, target, wave = started(file, arch)
    target.stop_recording()
    watched = places(target, wave, scratch, lds)
    log = log_of_writes(target, wave, watched, steps)
    assert target.dispatch.instructions == steps
    session, target, wave = started(file, arch)
    session.running.stepi(steps)
    assert session.time.position == steps
    for present in (steps, steps * 2 // 3, steps // 3):
        session.time.go_to(present)
        for place, positions in zip(watched, log, strict=True):
            vector = place.text.startswith("$v")
            text = f"{place.text}[{place.lane}]" if vector and present == steps else place.text
            session.focus.move(Focus(wave.number, place.lane if text == place.text else 0))
            value = session.data.evaluate(text)
            found = [session.time.find_write(value, first) for first in (True, False)]
            known = [position for position in positions if position < present]
            got = [write.position for write in found if write is not None]
            assert not vector or all(write.lanes >> place.lane & 1 for write in found if write is not None)
            assert got == (known[:1] + known[-1:]), (place.text, place.lane, present)
