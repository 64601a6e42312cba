"""Accesses of all lanes at once compared with the simple rule, lane by lane: addresses, sizes, masks, spaces."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from engine_bench import Bench
from numpy.typing import NDArray

from rocdbg.sim.core.layout import PRIVATE_APERTURE, SHARED_APERTURE, Status
from tests.breadth import EVERYTHING

pytestmark = pytest.mark.llvm

BUFFER, LDS, LANE_SCRATCH = 4096 + 3, 2048 + 2, 64
SIZES = {1: ("ubyte", "byte", "u8", "b8"), 2: ("ushort", "short", "u16", "b16"), 4: ("dword", "b32"),
         8: ("dwordx2", "b64"), 12: ("dwordx3", "b96"), 16: ("dwordx4", "b128")}
SPACES = ("global", "flat", "ds", "scratch")


def instruction(target: str, space: str, access: str, size: int) -> str:
    """Address in v0 or v[0:1], data in v4 and on."""
    gfx9, names = target.startswith("gfx9"), SIZES[size]
    old, new = (
        names[0 if access == "load" or size >= 4 else 1],
        names[(2 if access == "load" else 3) if size < 4 else 1],
    )
    data = "v4" if size <= 4 else f"v[4:{3 + size // 4}]"
    if space == "ds":
        verb = {"load": "read", "store": "write"}[access] if gfx9 else access
        text = f"ds_{verb}_{new}"
        return f"{text} {data}, v0" if access == "load" else f"{text} v0, {data}"
    address = {"global": "v[0:1]", "flat": "v[0:1]", "scratch": "v0"}[space]
    off = "" if space == "flat" else ", off"
    text = f"{space}_{access}_{old if gfx9 else new}"
    return f"{text} {data}, {address}{off}" if access == "load" else f"{text} {address}, {data}{off}"


@dataclass
class Machine:
    """All instructions in one program; ``entry[space, access, size]`` is the address of each."""

    bench: Bench
    entry: dict[tuple[str, str, int], int]
    buffers: tuple[int, int]
    scratch: int

    @property
    def wave(self) -> int:
        return self.bench.wave_size

    def memory(self) -> dict[str, bytearray]:
        read = self.bench.memory.read
        first, second = (bytearray(read(address, BUFFER)) for address in self.buffers)
        scratch = bytearray(read(self.scratch, LANE_SCRATCH * self.wave))
        return {"first": first, "second": second, "lds": bytearray(self.bench.lds[:LDS]), "scratch": scratch}

    def place(self, space: str, address: int, lane: int, n: int) -> tuple[str, int] | None:
        """The position of byte n of a lane's access; None if it has none."""
        at = address + n
        if space == "flat" and address >> 32 << 32 == SHARED_APERTURE:
            return self.place("ds", address - SHARED_APERTURE, lane, n)
        if space == "flat" and address >> 32 << 32 == PRIVATE_APERTURE:
            return self.place("scratch", address - PRIVATE_APERTURE, lane, n)
        if space == "ds":
            return ("lds", at) if 0 <= at < LDS else None
        if space == "scratch":
            if not 0 <= at < LANE_SCRATCH:
                return None
            return "scratch", at // 4 * 4 * self.wave + lane * 4 + at % 4
        for name, base in zip(("first", "second"), self.buffers, strict=True):
            if base <= at < base + BUFFER and base <= address:
                return name, at - base
        return None


@pytest.fixture(scope="module", params=[("gfx90a", 64), ("gfx1100", 32), ("gfx1100", 64)], ids=str)
def machine(request: pytest.FixtureRequest) -> Machine:
    target, wave = request.param
    keys = [(space, access, size) for space in SPACES for access in ("load", "store") for size in SIZES]
    lines = "\n".join(instruction(target, *key) + "\ns_endpgm" for key in keys)
    bench = Bench(lines, target, wave, lds=LDS)
    entry, at = {}, 0
    for key in keys:
        entry[key] = at
        size = bench.engine._decode(bench.text.address + at)
        assert size is not None
        at += size.size + 4
    first, second = (bench.buffer(np.zeros(BUFFER, np.uint8), name).address for name in ("first", "second"))
    area = LANE_SCRATCH * wave
    scratch = bench.buffer(np.zeros(3 * area, np.uint8), "scratch").address + area  # between two other waves'
    bench.set("scratch_base", scratch)
    bench.set("scratch_size", area)
    bench.set("flat_scratch", scratch)
    bench.set64(102, scratch)  # where gfx9 has it
    return Machine(bench, entry, (first, second), scratch)


def offsets(pattern: str, wave: int, size: int, end: int, rng: np.random.Generator) -> NDArray[np.int64]:
    lanes = np.arange(wave)
    return {
        "row": lanes * size,
        "row of dwords": lanes * 4,
        "shifted row": 3 + lanes * size,
        "last row": end - (wave - lanes) * size,
        "past the end": end - (wave - lanes) * size + 1,
        "one past": np.where(lanes == 11, end - size + 1, 16),
        "before": lanes * size - size,
        "same": np.full(wave, 40),
        "same, last": np.full(wave, end - size),
        "backwards": (wave - 1 - lanes) * size,
        "strided": lanes * 20 % 60,
        "gap": np.where(lanes < 9, lanes * size, lanes * size + 16),
        "pairs": lanes // 2 * size,
        "overlapping": lanes * 2 + 6,
        "anywhere": rng.integers(0, end - 16, wave),
        "anywhere, aligned": rng.integers(0, (end - 16) // 16, wave) * 16,
    }[pattern].astype(np.int64)


PATTERNS = (
    "row", "row of dwords", "shifted row", "last row", "past the end", "one past", "before", "same", "same, last",
    "backwards", "strided", "gap", "pairs", "overlapping", "anywhere", "anywhere, aligned",
)
KINDS = ("global", "flat", "ds", "scratch", "flat to lds", "flat to scratch", "two buffers", "flat to all")


def addresses(
    machine: Machine, kind: str, pattern: str, size: int, rng: np.random.Generator
) -> NDArray[np.uint64]:
    wave = machine.wave
    end = {"ds": LDS, "scratch": LANE_SCRATCH, "flat to lds": LDS, "flat to scratch": LANE_SCRATCH}.get(
        kind, BUFFER
    )
    offset = offsets(pattern, wave, size, end, rng)
    bases = {
        "flat to lds": [SHARED_APERTURE], "flat to scratch": [PRIVATE_APERTURE], "ds": [0], "scratch": [0],
        "two buffers": list(machine.buffers),
        "flat to all": [machine.buffers[0], SHARED_APERTURE, PRIVATE_APERTURE, machine.buffers[1]],
    }.get(kind, [machine.buffers[0]])
    if kind == "flat to all":
        offset = offset % 60
    return np.array([(bases[n % len(bases)] + int(o)) % (1 << 64) for n, o in enumerate(offset)], np.uint64)


SHARE = 1 if EVERYTHING else 5
"""One of this many accesses is tried; the others on the next machine, with the next size and kind."""


@pytest.mark.truth
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_lanes_at_once_are_lanes_in_turn(machine: Machine, kind: str, size: int) -> None:
    bench, wave = machine.bench, machine.wave
    full = (1 << wave) - 1
    space = kind.split()[0] if kind != "two buffers" else "global"
    rng = np.random.default_rng([size, wave, KINDS.index(kind)])
    masks = (full, full ^ 1, 0xFFF0, 1 << 11, 0x0F0F_0F0F & full, 0)
    first = KINDS.index(kind) + list(SIZES).index(size) + wave // 32 + (bench.target.name == "gfx90a")
    accesses = itertools.product(PATTERNS, ("load", "store"), masks)
    for pattern, access, mask in itertools.islice(accesses, first % SHARE, None, SHARE):
        where = addresses(machine, kind, pattern, size, rng)
        if space in ("ds", "scratch"):
            where &= np.uint64(0xFFFF_FFFF)
        before = fill(machine, rng)
        bench.set("pc", bench.text.address + machine.entry[space, access, size])
        bench.exec = mask
        bench.set_vgpr64(0, where)
        for register in range(4, 8):
            bench.vgpr(register)[:] = rng.integers(0, 1 << 32, wave, np.uint32)
        data = np.stack([bench.vgpr(4 + n) for n in range(4)], axis=1).copy()
        status = bench.run()
        wanted, faulty = apply(machine, space, access, size, mask, where, data, before)
        case = f"{kind}, {pattern}, {access} of {size}, EXEC {mask:#x}"
        assert (status, bench.engine.fault().lanes if faulty else 0) == (
            Status.FAULT if faulty else Status.END,
            faulty,
        ), case
        got = np.stack([bench.vgpr(4 + n) for n in range(4)], axis=1)
        np.testing.assert_array_equal(got, data, case)
        assert machine.memory() == wanted, case


def fill(machine: Machine, rng: np.random.Generator) -> dict[str, bytearray]:
    """Random contents everywhere."""
    bench = machine.bench
    for address in machine.buffers:
        bench.memory.write(address, rng.bytes(BUFFER))
    bench.memory.write(machine.scratch, rng.bytes(LANE_SCRATCH * machine.wave))
    bench.lds[:LDS] = np.frombuffer(rng.bytes(LDS), np.uint8)
    return machine.memory()


def apply(
    machine: Machine, space: str, access: str, size: int, mask: int, where: NDArray[np.uint64],
    data: NDArray[np.uint32], memory: dict[str, bytearray],
) -> tuple[dict[str, bytearray], int]:
    """The rule: changes ``data`` or ``memory``, unless a lane faults; returns the faulting lanes."""
    faulty = 0
    lanes = [lane for lane in range(machine.wave) if mask >> lane & 1]
    for lane in lanes:
        if any(machine.place(space, int(where[lane]), lane, n) is None for n in range(size)):
            faulty |= 1 << lane
    if faulty:
        return memory, faulty
    for lane in lanes:
        places = [machine.place(space, int(where[lane]), lane, n) for n in range(size)]
        raw = bytearray(data[lane].tobytes())
        if access == "load":
            got = bytes(memory[p[0]][p[1]] for p in places if p is not None)
            raw[: max(4, size)] = got.ljust(4, b"\0")
            data[lane] = np.frombuffer(raw, np.uint32)
        else:
            for n, place in enumerate(places):
                assert place is not None
                memory[place[0]][place[1]] = raw[n]
    return memory, 0


PAIRS = {  # instruction of gfx9, of gfx11, bytes of an element, bytes one step of the offset fields counts
    "read2_b32": ("load_2addr_b32", 4, 4), "read2st64_b64": ("load_2addr_stride64_b64", 8, 512),
    "write2_b32": ("store_2addr_b32", 4, 4), "write2_b64": ("store_2addr_b64", 8, 8),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(("target", "wave"), [("gfx90a", 64), ("gfx1100", 32)])
def test_two_elements_of_lds(target: str, wave: int, name: str) -> None:
    newer, size, unit = PAIRS[name]
    words, reads = size // 4, name.startswith("read")
    first, second = 3, 1
    if reads:
        operands = f"v[4:{3 + 2 * words}], v0"
    else:
        operands = "v0, v4, v6" if words == 1 else "v0, v[4:5], v[6:7]"
    mnemonic = f"ds_{name if target == 'gfx90a' else newer}"
    bench = Bench(f"{mnemonic} {operands} offset0:{first} offset1:{second}\ns_endpgm", target, wave, lds=LDS)
    rng = np.random.default_rng([size, wave, unit])
    places = (first * unit, second * unit)
    data_registers = (4, 4 + words) if reads else (4, 6)
    full = (1 << wave) - 1
    for pattern in PATTERNS:
        for mask in (full, 0x0FFF_0F0F & full, 1 << 11, 0):
            for shift in (
                0,
                -places[1],
                1 - max(places),
            ):  # at the end of LDS, and before its beginning: wraps around
                where = offsets(pattern, wave, size, LDS, rng) + shift
                bench.lds[:LDS] = np.frombuffer(rng.bytes(LDS), np.uint8)
                wanted = bytearray(bench.lds[:LDS])
                bench.set("pc", bench.text.address)
                bench.exec = mask
                bench.vgpr(0)[:] = (where & 0xFFFF_FFFF).astype(np.uint32)
                for register in range(4, 8):
                    bench.vgpr(register)[:] = rng.integers(0, 1 << 32, wave, np.uint32)
                held = np.stack([bench.vgpr(4 + n) for n in range(4)]).copy()
                lanes = [lane for lane in range(wave) if mask >> lane & 1]
                at = {(lane, n): (int(where[lane]) + places[n]) % (1 << 32) for lane in lanes for n in (0, 1)}
                case = f"{pattern} {shift:+}, EXEC {mask:#x}"
                status = bench.run()
                if any(place + size > LDS for place in at.values()):
                    assert status is Status.FAULT, case
                else:
                    assert status is Status.END, case
                    for n in (0, 1):
                        for lane in lanes:
                            rows = slice(data_registers[n] - 4, data_registers[n] - 4 + words)
                            place = at[lane, n]
                            if reads:
                                held[rows, lane] = np.frombuffer(wanted[place : place + size], np.uint32)
                            else:
                                wanted[place : place + size] = held[rows, lane].tobytes()
                np.testing.assert_array_equal(np.stack([bench.vgpr(4 + n) for n in range(4)]), held, case)
                assert bytearray(bench.lds[:LDS]) == wanted, case
