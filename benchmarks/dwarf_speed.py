#!/usr/bin/env python3
"""Speed of the DWARF library, with its goals: lane PCs, variable locations, call frame rows.

    benchmarks/dwarf_speed.py [--megabytes 10]

Prints one line per case: the time, the goal, and whether the goal is met; the exit status is 1 if one is not met. Times
are the minimum over several rounds, because other load only adds time.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from rocdbg import dwarf  # noqa: E402
from rocdbg.dwarf.operation_assembler import assemble  # noqa: E402

EXEC_ON_ENTRY, C1, C2 = 0x00FF_FFFF_FFFF_FF0F, 0x0000_FFFF_FFFF_0F0F, 0x0000_00FF_FF00_0303
UINT64, ACTIVE, DIVERGENT, THEN, NESTED, SAVED, SAVED_NESTED = 0x10, 0x20, 0x21, 0x22, 0x23, 0x30, 0x31


def best(function: Callable[[], object], count: int, rounds: int = 9) -> float:
    """Seconds of one call: the minimum over some rounds of `count` calls."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        for _ in range(count):
            function()
        times.append((time.perf_counter() - started) / count)
    return min(times)


def lane_pc() -> tuple[dwarf.LocationList, dwarf.SimpleContext]:
    """DW_AT_LLVM_lane_pc of the AMDGPU document's nested if/then/else, at `c`: two regions deep."""

    def region(outer: int, label: int, saved: int) -> bytes:
        return assemble(
            ("call_ref", outer), ("addrx", label), "stack_value", ("extend", 64, 64), ("call_ref", saved),
            ("deref_type", 8, UINT64), ("select_bit_piece", 64, 64),
        )

    def saved(register: int) -> dwarf.LocationList:
        return dwarf.LocationList(
            [(0x1000, 0x2000, assemble(("regx", register), ("piece", 4), ("regx", register + 1), ("piece", 4)))]
        )

    active = (("regx", 16), ("extend", 64, 64), ("regval_type", 17, UINT64), ("select_bit_piece", 64, 64))
    dies = {
        UINT64: dwarf.BaseType("__uint64", "DW_ATE_unsigned", 64),
        ACTIVE: assemble(*active),
        DIVERGENT: assemble("undefined", ("extend", 64, 64)),
        THEN: region(DIVERGENT, 0, SAVED),
        NESTED: region(THEN, 1, SAVED_NESTED),
        SAVED: saved(36),
        SAVED_NESTED: saved(38),
    }
    registers = {16: (0x1234).to_bytes(8, "little"), 17: (C1 & C2).to_bytes(8, "little")}
    for first, mask in ((36, EXEC_ON_ENTRY), (38, C1)):
        registers[first] = (mask & 0xFFFF_FFFF).to_bytes(4, "little")
        registers[first + 1] = (mask >> 32).to_bytes(4, "little")
    code = assemble(("call_ref", NESTED), ("call_ref", ACTIVE))
    ctx = dwarf.SimpleContext(lane=0, pc=0x1234, registers=registers, debug_addr=[0x1100, 0x1200], dies=dies)
    return dwarf.LocationList([(0x1000, 0x1100, b""), (0x1200, 0x1300, code)]), ctx


def variables() -> tuple[list[bytes | dwarf.LocationList], dwarf.SimpleContext]:
    """The most frequent locations from compilers: stack slots, registers of a lane, scalars, globals, constants, lists.
    """
    vector = assemble(("regx", 2560), "push_lane", "lit4", "mul", "offset")
    pair = assemble(("regx", 64), ("piece", 4), ("regx", 65), ("piece", 4))
    mix: list[bytes | dwarf.LocationList] = [
        assemble(("fbreg", 16)), assemble(("fbreg", 20)), assemble(("fbreg", 400)), vector, vector,
        assemble(("regx", 64)), assemble(("addr", 0x100)), assemble(("consts", -4), "stack_value"), pair,
        dwarf.LocationList([(0x1000, 0x1200, vector), (0x1200, 0x1300, assemble(("regx", 64)))]),
    ]
    registers = {64: (64).to_bytes(4, "little"), 65: (64).to_bytes(4, "little"), 2560: bytes(256)}
    ctx = dwarf.SimpleContext(
        lane=5, pc=0x1234, registers=registers, frame_base=assemble("lit5", ("aspace_bregx", 65, 0))
    )
    return mix, ctx


def frame_section(size: int) -> tuple[bytes, int]:
    """A .debug_frame of about `size` bytes, for functions with 256 bytes of code; and the end of their addresses."""

    def entry(body: bytes) -> bytes:
        body += bytes(-(4 + len(body)) % 8)
        return len(body).to_bytes(4, "little") + body

    out = bytearray(entry(b"\xff" * 4 + b"\x04[amd:v0.0]\0\x08\0\x04\x04\x10" + b"\x30\x40\x00\x06"))
    rng = random.Random(1)
    address = 0x1000
    while len(out) < size:
        program = bytearray()
        for register in range(rng.randrange(2, 12)):
            program += bytes([0x40 | rng.randrange(1, 5), 0x05, 0x80 | register, 0x14, register + 1])
        out += entry(bytes(4) + address.to_bytes(8, "little") + (256).to_bytes(8, "little") + bytes(program))
        address += 256
    return bytes(out), address


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=10)
    options = parser.parse_args()

    entries, ctx = lane_pc()
    lanes = dwarf.evaluate_location_list(entries, ctx).read_elements(64, 64)
    assert [lanes[lane] for lane in (0, 2, 4, 12)] == [0x1234, 0x1200, None, 0x1100], lanes
    vector = best(lambda: dwarf.evaluate_location_list(entries, ctx).read_elements(64, 64), 200)

    mix, of_variables = variables()

    def locate_all() -> None:
        for item in mix:
            dwarf.evaluate(item, of_variables, "location")

    location = best(locate_all, 300) / len(mix)

    section, end = frame_section(options.megabytes << 20)
    started = time.perf_counter()
    frames = dwarf.parse_frames(section)
    first_row = frames.row(0x1010)
    opening = time.perf_counter() - started
    assert first_row is not None
    rng = random.Random(2)
    addresses = iter([rng.randrange(0x1000, end) for _ in range(20_000)])
    row = best(lambda: frames.row(next(addresses)), 2000)

    cases = [
        ("64-lane lane_pc vector, evaluated and read", 1e6 * vector, 300.0, "us"),
        ("location of a variable", 1e6 * location, 10.0, "us"),
        (f"row in {len(frames.fdes)} functions' call frame information", 1e6 * row, 50.0, "us"),
    ]
    for name, value, goal, unit in cases:
        print(f"{name:58} {value:8.1f} {unit}  goal {goal:.0f} {unit}: {'met' if value < goal else 'NOT MET'}")
    print(f"{f'(opening {options.megabytes} MB of it, with the first row':58} {opening:8.2f} s)")
    print(f"{'(variable locations per second':58} {1 / location:8.0f})")
    return 0 if all(value < goal for _, value, goal, _ in cases) else 1


if __name__ == "__main__":
    raise SystemExit(main())
