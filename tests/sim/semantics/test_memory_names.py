"""Memory instructions do what their names say: the operation and width of atomics, the elements of loads and stores."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from rocdbg.arch.targets import TARGETS
from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.sim.core import layout
from rocdbg.sim.core.reference_builder import ReferenceBuilder
from rocdbg.sim.core.wave import block_of_size
from rocdbg.sim.semantics import registry
from rocdbg.sim.semantics.access import Access, Context

WAVE = 64
# what an atomic's name says beside its type, and the operation; OF_TYPES has the operations that depend on the type
OPERATIONS = {
    "swap": "swap", "wrxchg": "swap", "storexchg": "swap", "condxchg32": "condxchg", "mskor": "mskor", "wrap": "wrap",
    "cmpswap": "cmpswap", "cmpst": "cmpswap", "cmpstore": "cmpswap", "fcmpswap": "fcmpswap",
    "add": "add", "sub": "sub", "rsub": "rsub", "and": "and", "or": "or", "xor": "xor", "inc": "inc", "dec": "dec",
    "smin": "smin", "smax": "smax", "umin": "umin", "umax": "umax", "fmin": "fmin", "fmax": "fmax", "fadd": "fadd",
    "min": "min", "max": "max", "min_num": "min", "max_num": "max", "cond_sub": "cond_sub",
    "csub": "sub_clamp", "sub_clamp": "sub_clamp", "pk_add": "pk_add", "ordered_add": "add",
}
OF_TYPES = {
    "min_f": "fmin", "max_f": "fmax", "add_f": "fadd", "cmpswap_f": "fcmpswap",
    "min_i": "smin", "max_i": "smax", "min_u": "umin", "max_u": "umax",
}
TYPES = {"int": "i32", "uint": "u32", "flt": "f32", "x2": "b64"}
ATOMIC = re.compile(r"(?:buffer|flat|global|image|s|s_buffer)_atomic_(.*)|ds_(.*)")
ELEMENT = re.compile(r"(?:(d16(?:_hi)?)_)?(ubyte|sbyte|byte|ushort|sshort|short|dword(?:x\d)?|[uib]\d+)(_d16(?:_hi)?)?")
ACCESS = re.compile(
    r"(?:global|flat|scratch|buffer|ds)_(load|read|store|write)(2st64|2|_2addr_stride64|_2addr)?_(.*)"
)


def routine_of(name: str) -> str:
    """The routine of the atomic with a name; empty if it is not an atomic's."""
    match = ATOMIC.fullmatch(name)
    words = [word for word in (match[1] or match[2]).split("_") if word not in ("rtn", "src2")] if match else []
    type = TYPES.get(words[-1], words[-1]) if words else ""
    if re.fullmatch(r"(?:[fiub]|bf)\d\d", type):
        words.pop()
    else:
        type = "b32"
    operation = OPERATIONS.get("_".join(words), "")
    if operation == "pk_add":
        return f"pk_add_{type}"
    return operation and f"{OF_TYPES.get(f'{operation}_{type[0]}', operation)}_{type[-2:]}"


class Memory:
    """Bytes at 0 and up, and the atomics that were called."""

    def __init__(self) -> None:
        self.bytes = np.random.default_rng(0).integers(0, 256, 1 << 16, np.uint8)
        self.atomics: list[str] = []
        self.builder: ReferenceBuilder

    def __call__(self, name: str, arguments: Sequence[int]) -> bool:
        kind, _, rest = name.partition("_")
        if kind == "atomic":
            self.atomics.append(rest.rpartition("_")[0])
        for lane, address in enumerate(self.builder.addresses):
            place = self.bytes[int(address) % (1 << 16) :][: arguments[1]]
            for n in range(-(-len(place) // 4)):
                part = place[4 * n : 4 * n + 4]
                if kind == "load":
                    self.builder.data[n][lane] = int.from_bytes(part.tobytes(), "little")
                elif kind == "store":
                    part[:] = list(int(self.builder.data[n][lane]).to_bytes(4, "little"))[: len(part)]
        return False


def executed(
    name: str, operands: Sequence[Operand], modifiers: dict[str, int], before: np.ndarray, target: str = "gfx90a"
) -> tuple[Memory, np.ndarray]:
    """The memory, and all vector registers, after an instruction. Lane L's address is 64 * L."""
    context = Context(TARGETS[target], WAVE, layout.Mode(0))
    block = block_of_size(layout.state_size(WAVE, False))
    block.state[layout.sgpr_offset(layout.EXEC_LO) :][:8] = 255
    block.state[layout.sgpr_offset(context.m0) :][:4] = 255
    at = layout.vgpr_offset(0, WAVE)
    registers = block.state[at : at + 16 * 4 * WAVE].view(np.uint32).reshape(16, WAVE)
    registers[:] = before
    memory = Memory()
    builder = memory.builder = ReferenceBuilder(block, WAVE, memory)
    builder.instruction(0, 8)
    semantic = registry.lookup(name)
    assert semantic is not None
    instruction = Instruction(0, 8, "FLAT", name, name, tuple(operands), modifiers, name)
    semantic.function(Access(builder, instruction, context))
    return memory, registers


def vector(name: str, number: int, dwords: int) -> Operand:
    return Operand(name, OperandKind.VGPR, number, dwords)


def scalar(name: str, number: int, dwords: int) -> Operand:
    return Operand(name, OperandKind.SGPR, number, dwords)


BEFORE = np.random.default_rng(1).integers(0, 1 << 32, (16, WAVE), np.uint32)
BEFORE[0], BEFORE[1] = 64 * np.arange(WAVE), 0
ATOMICS = [(name, wanted) for name in registry.names() if (wanted := routine_of(name))]


@pytest.mark.parametrize("unit", ["buffer", "flat", "global", "image", "s", "ds"])
def test_atomics(unit: str) -> None:
    rows = [row for row in ATOMICS if row[0].split("_")[0] == unit]
    assert len(rows) > 25
    for name, wanted in rows:
        size = int(wanted[-2:]) // 32 or 1
        operands = {
            "s": [scalar("sdata", 20, 2 * size), scalar("sbase", 4, 4 if "buffer" in name else 2)],
            "ds": [vector("addr", 0, 1), vector("data0", 4, size)],
            "buffer": [vector("vdata", 4, 2 * size), scalar("srsrc", 4, 4), scalar("soffset", 30, 1)],
        }.get(unit, [vector("vaddr", 0, 2), vector("vdata", 4, 2 * size), scalar("srsrc", 8, 8)])
        dwords = size * (2 if "cmp" in name else 1)
        memory, _ = executed(name, operands, {"dmask": (1 << dwords) - 1, "dim": 0}, BEFORE)
        assert memory.atomics == [wanted], name


def accesses() -> list[tuple[str, str, int, int, bool, str]]:
    """Names, "load" or "store", the elements' distance (0 for one element), size and sign, and the half of a register.
    """
    found = []
    for name in registry.names():
        match = ACCESS.fullmatch(name)
        element = match and ELEMENT.fullmatch(match[3])
        if match is None or element is None:
            continue
        text = element[2]
        words = {"byte": 1, "ubyte": 1, "sbyte": 1, "short": 2, "ushort": 2, "sshort": 2, "dword": 4}
        size = words.get(text) or (4 * int(text[6:]) if text.startswith("dword") else int(text[1:]) // 8)
        distance = 0 if match[2] is None else size * (64 if "64" in match[2] else 1)
        kind = "load" if match[1] in ("load", "read") else "store"
        found.append((name, kind, distance, size, text[0] in "si" and text != "short", element[1] or element[3] or ""))
    return found


def test_loads_and_stores() -> None:
    rows = accesses()
    assert len(rows) > 150
    for name, kind, distance, size, is_signed, part in rows:
        words = max(1, size // 4) * (2 if distance else 1)
        unit = name.split("_")[0]
        modifiers = {"offset0": 3, "offset1": 1} if distance else {"offset": 12}
        if unit == "ds":
            data = [vector("vdst", 4, words)] if kind == "load" else [vector("data0", 4, 4), vector("data1", 8, 4)]
            operands = [vector("addr", 0, 1), *data]
        elif unit == "buffer":
            operands = [vector("vdata", 4, words), vector("vaddr", 0, 1), scalar("srsrc", 4, 4),
                        scalar("soffset", 30, 1)]
            modifiers["offen"] = 1
        else:
            operands = [vector("vaddr", 0, 2), vector("vdst" if kind == "load" else "vdata", 4, words)]
        memory, registers = executed(name, operands, modifiers, BEFORE, "gfx803" if unit == "ds" else "gfx90a")
        old, new = Memory().bytes, memory.bytes
        places = [3 * distance, distance] if distance else [12]
        expected, wanted = BEFORE.copy(), old.copy()
        for lane in range(WAVE):
            for k, place in enumerate(places):
                start = 64 * lane + place
                if kind == "store":
                    source = BEFORE[4 + 4 * k : 8 + 4 * k, lane].tobytes()[2 if part.endswith("hi") else 0 :][:size]
                    wanted[start : start + size] = list(source)
                    continue
                value = int.from_bytes(old[start : start + size].tobytes(), "little", signed=is_signed)
                first = 4 + k * max(1, size // 4)
                if part:
                    kept, half = int(BEFORE[first, lane]), value & 0xFFFF
                    value = kept & 0xFFFF | half << 16 if part.endswith("hi") else kept & 0xFFFF0000 | half
                for n in range(max(1, size // 4)):
                    expected[first + n, lane] = value >> 32 * n & 0xFFFFFFFF
        if kind == "load":
            assert np.array_equal(registers[1:], expected[1:]), name
        assert np.array_equal(new, wanted), name
