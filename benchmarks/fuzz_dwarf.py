#!/usr/bin/env python3
"""Fuzz the DWARF library: random and mutated expressions, call frame information, location lists.

    benchmarks/fuzz_dwarf.py [--seconds 60] [--seed N] [TARGET ...]      targets: see TARGETS; all by default
    benchmarks/fuzz_dwarf.py --replay TARGET HEX

Every input must give a result or an error of the library within 100 ms of processor time, and memory must not grow. An
input that does not is printed with the command that replays it, and the exit status is 1.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import argparse
import random
import resource
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from rocdbg import Error, dwarf  # noqa: E402
from rocdbg.dwarf.cfa_instructions import CFA_INSTRUCTIONS, CfaOperand  # noqa: E402
from rocdbg.dwarf.operation_assembler import assemble, encode_operation, sleb128, uleb128  # noqa: E402
from rocdbg.dwarf.operation_table import DIALECTS, Operand, OperationInfo  # noqa: E402

SLOW = 0.1
"""Seconds of processor time that one input may take."""
GROWTH = 48 << 20
"""Bytes of memory by which the process may grow once caches are full."""

DIES: dict[int, object] = {
    0x10: dwarf.BaseType("u8", "DW_ATE_unsigned", 8), 0x11: dwarf.BaseType("s64", "DW_ATE_signed", 64),
    0x12: dwarf.BaseType("f32", "DW_ATE_float", 32), 0x13: dwarf.BaseType("v4", "DW_ATE_signed", 16, 4),
    0x14: dwarf.BaseType("f80", "DW_ATE_float", 80), 0x15: dwarf.BaseType("f128", "DW_ATE_float", 128),
    0x16: dwarf.BaseType("cf32", "DW_ATE_complex_float", 64), 0x17: dwarf.BaseType("wave", "DW_ATE_unsigned", 32, 64),
    0x18: dwarf.BaseType("huge", "DW_ATE_unsigned", 1 << 40), 0x19: dwarf.BaseType("u3", "DW_ATE_unsigned", 3),
    0x1A: dwarf.BaseType("big", "DW_ATE_unsigned", 1 << 15), 0x1B: dwarf.BaseType("be", "DW_ATE_signed", 32, None, "big"),
    0x20: assemble(("addr", 0x1000)), 0x21: dwarf.ConstValue(b"abcd"), 0x22: assemble(("call4", 0x22)), 0x23: None,
    0x24: dwarf.LocationList([(0, 0x2000, assemble(("regx", 40))), (0, 0x2000, assemble(("call4", 0x24)))]),
    0x25: assemble(("implicit_pointer", 0x25, 1), "deref"), 0x26: assemble(("regx", 40), ("piece", 4)),
    0x27: dwarf.LocationList([(0, 0x2000, assemble(("regx", 2560))), (None, None, b"")]),
    0x28: assemble("plus"), 0x29: assemble(("implicit_pointer", 0x20, 0)), 0x2A: assemble("dup", ("extend", 32, 4)),
}
REGISTERS = [16, 17, 40, 41, 2560, 2561, 5, 1 << 40]


def context() -> dwarf.SimpleContext:
    ctx = dwarf.SimpleContext(
        lane=2, iteration=0, pc=0x1010, debug_addr=[0, 0x1000], dies=DIES,  # type: ignore[arg-type]
        registers={16: bytes(8), 17: b"\xaa" * 8, 40: b"\1\2\3\4", 41: bytes(4), 2560: bytes(range(256)), 2561: bytes(256)},
        memory={0: {0: bytes(0x2000)}, 3: {0: bytes(64)}, 6: {0: bytes(4096)}},
        entry_registers={40: b"\5\6\7\x08", 16: (0x1004).to_bytes(8, "little")},
        frame_base=assemble("lit5", ("aspace_bregx", 41, 0)), call_site_values={0x23: assemble("lit5")},
    )
    location = dwarf.evaluate(assemble(("addr", 0x1000)), ctx, "location")
    assert isinstance(location, dwarf.LocationDescription)
    ctx.cfa = ctx.object = location
    return ctx


# Making inputs

ROWS: dict[str, list[OperationInfo]] = {d: [row for row in dwarf.OPERATIONS if d in row.dialects] for d in DIALECTS}


def number(rng: random.Random) -> int:
    """Mostly small, sometimes at a power of two, rarely enormous."""
    kind = rng.random()
    if kind < 0.6:
        return rng.randrange(70)
    if kind < 0.97:
        return max(0, (1 << rng.randrange(68)) + rng.randrange(-2, 3))
    return rng.getrandbits(rng.choice((70, 200, 3000, 20_000)))


def operand(rng: random.Random, kind: Operand, dialect: str, depth: int) -> int | bytes:
    match kind:
        case Operand.REGISTER:
            return rng.choice(REGISTERS)
        case Operand.BASE_TYPE:
            return rng.choice([0, *range(0x10, 0x1C), 0x20])
        case Operand.UNIT_DIE2 | Operand.UNIT_DIE4 | Operand.SECTION_DIE:
            return rng.randrange(0x10, 0x2C)
        case Operand.BLOCK | Operand.BLOCK1:
            return rng.randbytes(rng.choice((0, 1, 2, 4, 8, 10, 16, 40)))
        case Operand.EXPRESSION:
            return expression(rng, dialect, depth + 1) if depth < 3 else b""
        case Operand.BRANCH:
            return rng.randrange(-25, 25)
        case Operand.SLEB:
            return number(rng) * rng.choice((-1, 1))
        case Operand.ULEB:
            return number(rng)
        case Operand.U1 | Operand.S1:
            return rng.choice((0, 1, 2, 3, 4, 8, 16, 100))
        case _:
            return rng.randrange(1 << 15)


def expression(rng: random.Random, dialect: str, depth: int = 0) -> bytes:
    out = bytearray()
    rows = ROWS[dialect]
    for _ in range(rng.choice((1, 2, 3, 5, 8, 13, 30))):
        if rng.random() < 0.35:  # something to work on
            out += assemble(*rng.choice(SEEDS), dialect=dialect)
            continue
        row = rng.choice(rows)
        out += encode_operation(row, tuple(operand(rng, kind, dialect, depth) for kind in row.operands))
    return bytes(out)


SEEDS: list[tuple] = [  # type: ignore[type-arg]
    (("regx", 40),), (("regx", 2560),), (("addr", 0x1000),), ("lit3", "lit5", "form_aspace_address"), ("undefined",),
    (("regx", 40), ("piece", 4)), ("lit1",), ("lit8",), (("const_type", 0x11, b"\xff" * 8),), (("implicit_pointer", 0x20, 1),),
    (("regx", 2560), ("regx", 2561), ("const2u", 0x5555), ("select_bit_piece", 32, 64)), (("consts", -1), "stack_value"),
    (("regx", 40), ("extend", 32, 64)), ("push_lane", "lit4", "mul"), (("addr", 0), ("regx", 40), "lit4", "lit4", "overlay"),
    (("const_type", 0x15, bytes(14) + b"\xff\x3f"),), ("dup", "dup", "overlay"), (("regx", 41), ("deref_type", 4, 0x12)),
]


def mutated(rng: random.Random, data: bytes, corpus: list[bytes]) -> bytes:
    """Some bytes changed, cut, repeated, or put together with another input."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(6):
            case 0 if out:
                out[at % len(out)] = rng.randrange(256)
            case 1 if out:
                out[at % len(out)] ^= 1 << rng.randrange(8)
            case 2:
                del out[at : at + rng.randrange(1, 9)]
            case 3:
                out[at:at] = rng.randbytes(rng.randrange(1, 5))
            case 4:
                out[at:at] = out[at : at + rng.randrange(1, 40)] * rng.choice((1, 2, 8))
            case _:
                out[at:] = rng.choice(corpus)
    return bytes(out[:8000])


def cfa_program(rng: random.Random, dialect: str) -> bytes:
    out = bytearray()
    rows = [row for row in CFA_INSTRUCTIONS if dialect in row.dialects]
    for _ in range(rng.choice((1, 3, 6, 12, 40))):
        row = rng.choice(rows)
        code, rest = row.code, bytearray()
        for kind in row.operands:
            match kind:
                case CfaOperand.LOW6:
                    code |= rng.choice((1, 2, 16, 17, 40, 41, 63))
                case CfaOperand.ULEB:
                    rest += uleb128(rng.choice([*REGISTERS, number(rng)]))
                case CfaOperand.SLEB:
                    rest += sleb128(number(rng) - 30)
                case CfaOperand.BLOCK:
                    block = expression(rng, dialect)
                    rest += uleb128(len(block)) + block
                case CfaOperand.ADDRESS:
                    rest += rng.choice((0x1000, 0x1010, 0x1080)).to_bytes(8, "little")
                case _:
                    rest += rng.randbytes({CfaOperand.U1: 1, CfaOperand.U2: 2, CfaOperand.U4: 4, CfaOperand.U8: 8}[kind])
        out += bytes([code]) + rest
    return bytes(out)


def frame_section(rng: random.Random) -> bytes:
    dialect = rng.choice(DIALECTS)
    header = rng.choice((
        b"\x04[amd:v0.0]\0\x08\0\x04\x04\x10", b"\x04\0\x08\0\x04\x7c\x10", b"\x01\0\x04\x04\x10", b"\x03[amd:v0.0]\0\x04\x04\x10",
        b"\x01zR\0\x04\x04\x10\x01\x1b", b"\x01zPLR\0\x04\x04\x10\x07\x00" + bytes(8) + b"\x1b\x1b",
    ))
    eh_frame = b"z" in header
    body = (bytes(4) if eh_frame else b"\xff" * 4) + header + cfa_program(rng, dialect)
    section = len(body).to_bytes(4, "little") + body
    for start in (0x1000, 0x1080)[: rng.choice((1, 2))]:
        address = start - len(section) - 8 if eh_frame else start
        size = 4 if eh_frame else 8
        body = (len(section) + 4 if eh_frame else 0).to_bytes(4, "little") + (address & (1 << 8 * size) - 1).to_bytes(size, "little")
        body += (0x80).to_bytes(size, "little") + (b"\0" if eh_frame else b"") + cfa_program(rng, dialect)
        section += len(body).to_bytes(4, "little") + body
    return section


def location_list(rng: random.Random) -> bytes:
    out = bytearray()
    for _ in range(rng.randrange(6)):
        code = expression(rng, "amd")
        kind = rng.randrange(10)
        out.append(kind)
        out += uleb128(number(rng)) + uleb128(number(rng)) if kind < 5 else rng.randbytes(8)
        out += uleb128(len(code)) + code
    return bytes(out) + rng.choice((b"\0", b"", bytes(16)))


# What is done with them. The first byte of an input chooses among variants.


def evaluate(data: bytes) -> None:
    choice, data = data[0] if data else 0, data[1:]
    kind = (None, "value", "location")[choice % 3]
    dialect = DIALECTS[choice // 3 % 3]
    result = dwarf.evaluate(data, context(), kind, dialect)  # type: ignore[arg-type]
    if isinstance(result, dwarf.LocationDescription):
        result.describe()
        size = min(result.remaining, 4096)
        result.read_known(size)
        result.write(choice, min(size, 64))


def explain(data: bytes) -> None:
    dwarf.explain(data[1:], context(), dialect=DIALECTS[(data or b"\0")[0] % 3])


def decode(data: bytes) -> None:
    dialect = DIALECTS[(data or b"\0")[0] % 3]
    dwarf.format_expression(data, dialect=dialect)
    dwarf.decode(data, dialect=dialect)


def normalise(data: bytes) -> None:
    dwarf.decode(dwarf.normalise(data, target=("gfx90a", "gfx1100")[(data or b"\0")[0] % 2]))


def frames(data: bytes) -> None:
    choice, data = data[0] if data else 0, data[1:]
    table = dwarf.parse_frames(data, dialect=DIALECTS[choice % 3], eh_frame=bool(choice & 64))
    ctx = context()
    for pc in (0x1000, 0x1010, 0x10F0):
        ctx.pc = pc
        row = table.row(pc)
        if row is None:
            continue
        for number_ in list(row.rules)[:8]:
            try:
                row.register_location(number_, ctx).describe()
            except Error:
                continue
        table.unwind(ctx)


def lists(data: bytes) -> None:
    choice, data = data[0] if data else 0, data[1:]
    entries = dwarf.parse_location_list(data, 0, version=4 + (choice & 1), debug_addr=[0, 0x1000, 0x2000])
    dwarf.evaluate_location_list(entries, context())


def some_expression(rng: random.Random) -> bytes:
    choice = rng.randrange(256)
    return bytes([choice]) + expression(rng, DIALECTS[choice // 3 % 3])


TARGETS: dict[str, tuple[Callable[[random.Random], bytes], Callable[[bytes], None]]] = {
    "evaluate": (some_expression, evaluate),
    "decode": (some_expression, decode),
    "explain": (some_expression, explain),
    "normalise": (lambda rng: expression(rng, "llvm22"), normalise),
    "frames": (lambda rng: bytes([rng.randrange(256)]) + frame_section(rng), frames),
    "lists": (lambda rng: bytes([rng.randrange(256)]) + location_list(rng), lists),
}


def problem(check: Callable[[bytes], None], data: bytes) -> str | None:
    """The problem with how an input ends, or None."""
    started = time.process_time()
    try:
        check(data)
    except Error as error:
        if not str(error):
            return "an error without words"
    except Exception:  # any other exception is a bug: reported with its traceback
        return traceback.format_exc()
    elapsed = time.process_time() - started
    return f"took {1000 * elapsed:.0f} ms" if elapsed > SLOW else None


def memory() -> int:
    """The current number of resident bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def fuzz(name: str, seconds: float, rng: random.Random) -> bool:
    """Run one target for some time; return whether there was no problem."""
    make, check = TARGETS[name]
    corpus = [make(rng) for _ in range(200)]
    count = 0
    settled = 0
    started = time.monotonic()
    while (elapsed := time.monotonic() - started) < seconds:
        for _ in range(50):
            fresh = rng.random()
            if fresh < 0.4:
                data = make(rng)
            elif fresh < 0.5:
                data = rng.randbytes(rng.randrange(60))
            else:
                data = mutated(rng, rng.choice(corpus), corpus)
            count += 1
            wrong = problem(check, data)
            # Time is measured again: something else may have held the processor.
            if wrong is not None and problem(check, data) is not None:
                print(f"{name}: {wrong}\n  replay: benchmarks/fuzz_dwarf.py --replay {name} {data.hex() or '00'}")
                return False
            if fresh < 0.02:
                corpus[rng.randrange(len(corpus))] = data
        if not settled and elapsed > seconds / 2:
            settled = memory()
    growth = memory() - settled if settled else 0
    print(f"{name:10} {count:8} inputs in {elapsed:.0f} s, memory {growth / 1e6:+.1f} MB in the second half")
    if growth > GROWTH:
        print(f"{name}: memory grows")
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--replay", action="store_true", help="run one input: TARGET HEX")
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    if options.replay:
        name, text = options.targets
        TARGETS[name][1](bytes.fromhex(text))
        return 0
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    names = options.targets or list(TARGETS)
    results = [fuzz(name, options.seconds / len(names), random.Random(f"{seed} {name}")) for name in names]
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
