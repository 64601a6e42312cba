"""Memory instructions against the pseudocode: ``python -m tests.sim.pcode.memory TARGET [REGEX]``.

Words are made by assembling text (llvm-mc-22), because each generation has different microcode formats. Every active
lane has a different address, so that the order of lanes does not matter. Registers and all memory are compared.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rocdbg.arch.targets import target_by_name
from rocdbg.isa import decode
from rocdbg.sim.core.layout import Status
from rocdbg.sim.engine import translations
from rocdbg.sim.semantics.registry import lookup
from tests.sim.pcode import functions, state, words
from tests.sim.pcode import values as v
from tests.sim.pcode.compare import Case, Rig
from tests.sim.pcode.language import PcodeError, Scope, compile_text
from tests.sim.pcode.values import Value
from tests.sim.pcode.wave import File, MemoryCell, Register, Wave
from tests.sim.pcode.words import Entry, Word, is_rdna

GROUPS = ("DS", "FLAT", "GLOBAL", "MUBUF", "SMEM")
STRIDE = 64
SIZE = 64 * STRIDE + 1024
ADDRESS, OFFSETS = 42, 40  # v[42:43]: 64-bit addresses; v40: byte offsets
BASE, RESOURCE, SOFFSET = 40, 44, 48  # s[40:41], s[44:47], s48
DATA, SECOND, RESULT = 32, 36, 24


@dataclass
class Access:
    """An instruction: its text for the assembler, and its operands."""

    entry: Entry
    text: str
    result: int | None  # bits of the result register
    result_at: int
    data_bits: int
    second_bits: int
    offset: int
    offset1: int
    place: str  # how the address is formed: lds, vaddr, saddr, buffer, scalar


def accesses(entry: Entry, target: str, rng: random.Random) -> list[Access]:
    """Forms of one instruction."""
    maker = {"DS": _ds, "GLOBAL": _global, "FLAT": _flat, "MUBUF": _buffer, "SMEM": _scalar}[entry.group]
    return maker(entry, target, rng)


def _register(prefix: str, number: int, bits: int) -> str:
    count = max(1, bits // 32)
    return f"{prefix}{number}" if count == 1 else f"{prefix}[{number}:{number + count - 1}]"


def _bits(entry: Entry, name: str) -> int:
    row = entry.operands.get(name)
    return row.bits if row else 0


def _ds(e: Entry, target: str, rng: random.Random) -> list[Access]:
    if re.search(r"SWIZZLE|PERMUTE|GWS|GS_REG|APPEND|CONSUME|ORDERED|BVH|NOP|CONDXCHG|ADDTID|TR\d*_", e.name):
        return []
    returns = bool(re.search(r"_RTN_|READ|LOAD", e.name))
    two = "2ADDR" in e.name or re.search(r"(READ2|WRITE2|WRXCHG2)", e.name)
    found = []
    for _ in range(2):
        offset, offset1 = (rng.randrange(4), rng.randrange(4, 7)) if two else (rng.randrange(0, 8) * 16, 0)
        if two and "64" in e.name.replace("B64", ""):
            offset, offset1 = 0, 1
        data, second = _bits(e, "data0"), _bits(e, "data1")
        parts = []
        if returns:
            parts.append(_register("v", RESULT, max(32, _bits(e, "vdst"))))
        parts.append(f"v{OFFSETS}")
        if data:
            parts.append(_register("v", DATA, max(32, data)))
        if second:
            parts.append(_register("v", SECOND, max(32, second)))
        tail = f" offset0:{offset} offset1:{offset1}" if two else f" offset:{offset}"
        text = f"{e.name.lower()} {', '.join(parts)}{tail}"
        found.append(
            Access(
                e,
                text,
                max(32, _bits(e, "vdst")) if returns else None,
                RESULT,
                data,
                second,
                offset,
                offset1,
                "lds",
            )
        )
    return found


def _vector(e: Entry) -> tuple[bool, bool, int]:
    """(is an atomic, is a store, bits of the data register)."""
    data = max(
        _bits(e, "data"), _bits(e, "vdata"), _bits(e, "vsrc"), _bits(e, "vdst") if "LOAD" in e.name else 0
    )
    return "ATOMIC" in e.name, "STORE" in e.name, max(32, data)


def _cache_return(target: str) -> str:
    return "th:TH_ATOMIC_RETURN" if target.startswith("gfx12") else "glc" if is_rdna(target) else "sc0"


def _result_bits(e: Entry, bits: int) -> int:
    return bits // 2 if "CMPSWAP" in e.name or "CMPSTORE" in e.name else bits


def _addressed(
    e: Entry, target: str, rng: random.Random, forms: list[tuple[str, str, str]], last: int
) -> list[Access]:
    atomic, store, bits = _vector(e)
    if re.search(r"_LDS_|ADDTID|INV|WB|TR_|BLOCK|ORDERED|PREFETCH", e.name):
        return []
    found = []
    for place, address, tail in forms:
        offset = rng.choice((0, 16, last))
        name = e.name.lower()
        data = _register("v", DATA, bits)
        where = f"{tail} offset:{offset}" if offset else tail
        if atomic:
            found.append(Access(e, f"{name} {address}, {data}{where}", None, 0, bits, 0, offset, 0, place))
            result = _result_bits(e, bits)
            text = (
                f"{name} {_register('v', RESULT, result)}, {address}, {data}{where} {_cache_return(target)}"
            )
            found.append(Access(e, text, result, RESULT, bits, 0, offset, 0, place))
        elif store:
            found.append(Access(e, f"{name} {address}, {data}{where}", None, 0, bits, 0, offset, 0, place))
        else:
            text = f"{name} {_register('v', RESULT, bits)}, {address}{where}"
            found.append(Access(e, text, bits, RESULT, 0, 0, offset, 0, place))
    return found


def _global(e: Entry, target: str, rng: random.Random) -> list[Access]:
    forms = [
        ("vaddr", f"v[{ADDRESS}:{ADDRESS + 1}]", ", off"),
        ("saddr", f"v{OFFSETS}", f", s[{BASE}:{BASE + 1}]"),
    ]
    return _addressed(e, target, rng, forms, -16)


def _flat(e: Entry, target: str, rng: random.Random) -> list[Access]:
    return _addressed(e, target, rng, [("vaddr", f"v[{ADDRESS}:{ADDRESS + 1}]", "")], 32)


def _buffer(e: Entry, target: str, rng: random.Random) -> list[Access]:
    if "FORMAT" in e.name or re.search(r"_LDS|GL\d|INV|WB", e.name):
        return []
    atomic, store, bits = _vector(e)
    offset = rng.choice((0, 16, 48))
    name = e.name.lower()
    data = _register("v", DATA if atomic or store else RESULT, bits)
    text = f"{name} {data}, v{OFFSETS}, s[{RESOURCE}:{RESOURCE + 3}], s{SOFFSET} offen"
    text += f" offset:{offset}" if offset else ""
    if atomic:
        result = _result_bits(e, bits)
        return [
            Access(e, text, None, 0, bits, 0, offset, 0, "buffer"),
            Access(e, f"{text} {_cache_return(target)}", result, DATA, bits, 0, offset, 0, "buffer"),
        ]
    if store:
        return [Access(e, text, None, 0, bits, 0, offset, 0, "buffer")]
    return [Access(e, text, bits, RESULT, 0, 0, offset, 0, "buffer")]


def _scalar(e: Entry, target: str, rng: random.Random) -> list[Access]:
    match = re.fullmatch(r"S_(BUFFER_)?LOAD_(B|U|I|DWORD)(?:X)?(\d*)", e.name)
    if match is None:
        return []
    bits = max(32, _bits(e, "sdata"))
    base = f"s[{RESOURCE}:{RESOURCE + 3}]" if match[1] else f"s[{BASE}:{BASE + 1}]"
    found = []
    for place, tail in (("scalar", "0x20"), ("scalar_soffset", f"s{SOFFSET}")):
        offset = 0x20 if place == "scalar" else 0
        found.append(
            Access(
                e,
                f"{e.name.lower()} {_register('s', 64, bits)}, {base}, {tail}",
                bits,
                64,
                0,
                0,
                offset,
                0,
                place,
            )
        )
    return found


class Memory:
    """Bytes at an address."""

    def __init__(self, base: int, data: bytearray) -> None:
        self.base, self.data = base, data

    def cell(self, address: int) -> MemoryCell:
        at = (address & (1 << 64) - 1) - self.base
        if not 0 <= at < len(self.data):
            raise IndexError(f"{address:#x} is not in memory")

        def read(bits: int) -> int:
            return int.from_bytes(self.data[at : at + bits // 8], "little")

        def write(bits: int, raw: int) -> None:
            self.data[at : at + bits // 8] = raw.to_bytes(bits // 8, "little")

        return MemoryCell(read, write, 32)


def run_text(access: Access, wave: Wave, memory: Memory) -> None:
    """The instruction on all active lanes (or once, for scalar loads)."""
    text = access.entry.text
    # As compilers rely on: a number wins over a NaN, -0 is below +0.
    text = re.sub(r"src ([<>]) tmp \? src : tmp(?=;\s*(?:RETURN_DATA|VDATA)\.f)", r"chosen\1(src, tmp)", text)
    text = text.replace("chosen<", "smaller").replace("chosen>", "larger")
    start = "addr_base" if _explicit(access.entry) else "addr_now"
    text = text.replace("MEM[ADDR +", f"MEM[{start} +").replace("MEM[ADDR]", "MEM[addr_now]")
    text = re.sub(r"\bADDR_BASE\.u32\b", "addr_base", text)
    text = re.sub(r"Calc\w+Addr\((\w+)[^)]*\)", lambda m: _calculated(m.group(0)), text)
    text = re.sub(r"\bMEM\[ADDR\.", "MEM[addr_now.", text)
    lanes = [0] if access.place.startswith("scalar") else [n for n in range(wave.size) if wave.exec >> n & 1]
    updates = []
    for lane in lanes:
        base = _base_address(access, wave, lane)
        now = base + (access.offset if access.place != "lds" or not _explicit(access.entry) else 0)
        names: dict[str, Any] = dict(functions.NAMES, smaller=_smaller, larger=_larger)
        old = 0
        if access.result is not None:
            old = (
                wave.sgpr(access.result_at, access.result)
                if access.place.startswith("scalar")
                else wave.vgpr(access.result_at, lane, access.result)
            )
        result = Register(old, access.result or 128)
        data = Value("b", max(32, access.data_bits), wave.vgpr(DATA, lane, max(32, access.data_bits)))
        names.update(
            MEM=File(memory.cell), LDS=File(memory.cell),
            addr_now=Value("u", 64, now & (1 << 64) - 1), addr_base=Value("u", 64, base & (1 << 64) - 1),
            OFFSET=Value("u", 32, access.offset & 0xFFFFFFFF), OFFSET0=Value("u", 8, access.offset & 255),
            OFFSET1=Value("u", 8, access.offset1), DATA=data, DATA0=data,
            DATA2=Value("b", max(32, access.second_bits), wave.vgpr(SECOND, lane, max(32, access.second_bits))),
            RETURN_DATA=result, SDATA=result,
            VDATA=data if access.data_bits and "LOAD" not in access.entry.name else result,
            __given__=frozenset(("OFFSET", "OFFSET0", "OFFSET1", "DATA0", "VDST", "RETURN_DATA")),
        )
        names["WAVE_MODE"] = None
        compile_text(text)(Scope(names))
        if access.result is not None:
            updates.append((lane, result.raw))
    for lane, raw in updates:
        assert access.result is not None
        if access.place.startswith("scalar"):
            wave.set_sgpr(access.result_at, access.result, raw)
        else:
            wave.set_vgpr(access.result_at, lane, access.result, raw)


def _smaller(a: Value, b: Value) -> Value:
    if v.is_nan(a) or v.is_nan(b):
        return b if v.is_nan(a) else a
    x, y = v.to_float(a), v.to_float(b)
    return a if x < y or (x == y and math.copysign(1, x) < math.copysign(1, y)) else b


def _larger(a: Value, b: Value) -> Value:
    if v.is_nan(a) or v.is_nan(b):
        return b if v.is_nan(a) else a
    return a if _smaller(a, b) is b else b


def _calculated(call: str) -> str:
    return "addr_base" if "0x0" in call and "Ds" in call else "addr_now"


def _explicit(entry: Entry) -> bool:
    """Whether the text itself adds OFFSET."""
    return bool(re.search(r"OFFSET[01]?\.u32", entry.text))


def _base_address(access: Access, wave: Wave, lane: int) -> int:
    place = access.place
    if place == "lds":
        return wave.vgpr(OFFSETS, lane)
    if place == "vaddr":
        return wave.vgpr(ADDRESS, lane, 64)
    base = wave.sgpr(BASE, 64)
    if place == "saddr":
        return base + wave.vgpr(OFFSETS, lane)
    if place == "buffer":
        return base + wave.vgpr(OFFSETS, lane) + wave.sgpr(SOFFSET)
    return base + (wave.sgpr(SOFFSET) if place == "scalar_soffset" else 0)


def assemble(texts: list[str], target: str, wave_size: int) -> dict[str, bytes]:
    """Machine code by text; texts that the assembler rejects are omitted."""
    features = [f"-mattr=+wavefrontsize{wave_size}"] if is_rdna(target) else []
    done = subprocess.run(
        ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}", *features, "-show-encoding"],
        input="\n".join(f"{t}\n;#{n}" for n, t in enumerate(texts)).encode(), capture_output=True, check=False,
    )
    refused = {int(line.split(":")[1]) for line in done.stderr.decode().splitlines() if ": error:" in line}
    codes = re.findall(r"encoding: \[([^\]]*)\]", done.stdout.decode())
    kept = [t for n, t in enumerate(texts) if 2 * n + 1 not in refused]
    assert len(kept) == len(codes), (len(kept), len(codes))
    return {t: bytes(int(b, 16) for b in c.split(",")) for t, c in zip(kept, codes, strict=True)}


def prepare(wave: Wave, rng: random.Random, place: str, base: int, size: int) -> None:
    """Addresses: one slot of 64 bytes per lane, in random order."""
    slots = list(range(wave.size))
    rng.shuffle(slots)
    for lane in range(wave.size):
        offset = 64 + slots[lane] * STRIDE
        wave.vgprs[OFFSETS][lane] = offset
        wave.set_vgpr(ADDRESS, lane, 64, base + offset)
    wave.set_sgpr(BASE, 64, base)
    flags = 0x31004000 if is_rdna(wave.target) else 0x00027000
    wave.set_sgpr(RESOURCE, 128, base & (1 << 48) - 1 | size << 64 | flags << 96)
    wave.sgprs[SOFFSET] = 16
    wave.sgprs[words.m0_code(wave.target)] = 0xFFFFFFFF


def contents(rng: random.Random, size: int) -> bytearray:
    pick = (state._single, state._integer, state._integer)
    return bytearray(b"".join(rng.choice(pick)(rng).to_bytes(4, "little") for _ in range(size // 4)))


FLOATS = re.compile(r"_(B?F16|F32|F64|FCMPSWAP\w*)$")
"""Float atomics run on numbers that are not subnormal: the text does not say which of them flush where."""


def numbers(rng: random.Random, name: str, count: int) -> list[int]:
    """``count`` dwords of floats of the kind that the name indicates."""
    out: list[int] = []
    while len(out) < count:
        if name.endswith("F64"):
            value = rng.choice(
                (
                    0,
                    1 << 63,
                    0x3FF << 52,
                    0x7FF << 52,
                    0xFFF << 52,
                    0x7FF8 << 48,
                    rng.randrange(0x3F0 << 52, 0x410 << 52),
                )
            )
            out += [value & 0xFFFFFFFF, value >> 32]
        elif name.endswith("BF16"):
            halves = [
                rng.choice((0, 0x8000, 0x3F80, 0x7F80, 0xFF80, rng.randrange(0x3D00, 0x4300)))
                for _ in range(2)
            ]
            out.append(halves[0] | halves[1] << 16)
        elif name.endswith("F16"):
            halves = [
                rng.choice((0, 0x8000, 0x3C00, 0x7C00, 0xFC00, 0x7E00, rng.randrange(0x3000, 0x4C00)))
                for _ in range(2)
            ]
            out.append(halves[0] | halves[1] << 16)
        else:
            out.append(
                rng.choice(
                    (
                        0,
                        1 << 31,
                        0x3F800000,
                        0x7F800000,
                        0xFF800000,
                        0x7FC00000,
                        rng.randrange(0x3D000000, 0x43000000),
                    )
                )
            )
    return out[:count]


MODES = (0x3F0, 0x3F0, 0x300, 0xF0)


def compare(target: str, wave_size: int, pattern: str, seed: int, cache: Path) -> bool:
    rng = random.Random(seed)
    found = [
        a
        for e in words.entries(target)
        if e.group in GROUPS and re.fullmatch(pattern, e.name.lower())
        for a in accesses(e, target, rng)
    ]
    codes = assemble([a.text for a in found], target, wave_size)
    refused = sorted(
        {f"{a.entry.group} {a.entry.name}" for a in found}
        - {f"{a.entry.group} {a.entry.name}" for a in found if a.text in codes}
    )
    rig = Rig(target, wave_size, cache)
    translations._STEP_AHEAD = 60
    buffer = rig.memory.allocate(SIZE, name="data")
    compared: Counter[tuple[str, str]] = Counter()
    different: dict[tuple[str, str], list[str]] = defaultdict(list)
    skipped: dict[str, str] = {}
    placed = []
    for access in found:
        if access.text not in codes:
            continue
        instruction = decode(codes[access.text] + bytes(16), target, 0, wave_size=wave_size)
        if lookup(instruction.name) is None:
            skipped[f"{access.entry.group} {access.entry.name}"] = f"no semantics ({instruction.name})"
            continue
        for mode in MODES[1:]:
            placed.append((access, instruction, mode, rig.text.address + len(rig.code)))
        rig.code += codes[access.text]
    rig.code += bytes.fromhex("000080bf") * 8
    for access, instruction, mode, address in placed:
        case_seed = rng.getrandbits(32)
        before = state.fill(target, wave_size, case_seed, mode)
        lds = access.place == "lds"
        prepare(before, random.Random(case_seed), access.place, buffer.address, SIZE)
        data = contents(random.Random(case_seed), SIZE)
        if FLOATS.search(access.entry.name):
            values = random.Random(case_seed)
            data = bytearray(
                b"".join(x.to_bytes(4, "little") for x in numbers(values, access.entry.name, SIZE // 4))
            )
            for lane in range(wave_size):
                for start in (DATA, DATA + 2, SECOND):
                    low, high = numbers(values, access.entry.name, 2)
                    before.vgprs[start][lane], before.vgprs[start + 1][lane] = low, high
        if re.search(r"STRIDE64|ST64", access.entry.name):  # lanes would meet
            before.sgprs[126], before.sgprs[127] = 4, 0
        if lds:
            rig.lds = np.frombuffer(bytes(data), np.uint8).copy()
        else:
            rig.memory.write(buffer.address, bytes(data))
        word = Word(access.entry, "", {"vdst": access.result_at}, b"")
        status, got = rig.run(Case(word, instruction, mode, case_seed), before, address)
        key = (
            f"{access.entry.group} {access.entry.name}",
            access.place + ("+return" if access.result and "ATOMIC" in access.entry.name else ""),
        )
        if status is not Status.BUDGET:
            skipped[key[0]] = f"{status.name}: {instruction.text}"
            continue
        want = state.copied(before)
        memory = Memory(0 if lds else buffer.address, bytearray(data))
        try:
            run_text(access, want, memory)
        except (PcodeError, IndexError, KeyError, AttributeError, AssertionError, TypeError) as error:
            skipped[key[0]] = f"{type(error).__name__} {error}"
            continue
        compared[key] += 1
        after = rig.lds.tobytes() if lds else rig.memory.read(buffer.address, SIZE)
        want.pc = got.pc
        difference = state.difference(before, want, got, access.entry, word)
        if not difference and bytes(memory.data) != after:
            at = next(n for n in range(SIZE) if memory.data[n] != after[n]) & ~3
            difference = (
                f"memory at {at:#x}: was {data[at : at + 8][::-1].hex()} want {memory.data[at : at + 8][::-1].hex()} "
                f"got {after[at : at + 8][::-1].hex()}"
            )
            lane = next((n for n in range(wave_size) if before.vgprs[OFFSETS][n] == at // 64 * 64), None)
            if lane is not None:
                difference += (
                    f" data {before.vgpr(DATA, lane, 64):#x} second {before.vgpr(SECOND, lane, 64):#x}"
                )
        if difference:
            different[key].append(f"{instruction.text}   mode {mode:#x}\n    {difference}")
    for key, examples in sorted(different.items()):
        print(f"{key[0]} [{key[1]}] {len(examples)} of {compared[key]}\n  {examples[0]}")
    for name, why in sorted(skipped.items()):
        print(f"not compared: {name}: {why}")
    print(f"the assembler refuses: {', '.join(refused)}")
    print(
        f"{target} wave{wave_size}: {len(compared)} pairs compared ({sum(compared.values())} runs), "
        f"{len(different)} differ"
    )
    return bool(different)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sim.pcode.memory", description=__doc__)
    parser.add_argument("target", choices=sorted(words.FAMILIES))
    parser.add_argument("pattern", nargs="?", default=".*", help="instruction names, lower case")
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("-w", "--wave-size", type=int, choices=(32, 64))
    options = parser.parse_args(arguments)
    size = options.wave_size or target_by_name(options.target).wave_sizes[0]
    with tempfile.TemporaryDirectory() as cache:
        return int(compare(options.target, size, options.pattern, options.seed, Path(cache)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
