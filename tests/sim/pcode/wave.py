"""A wave's registers, and the storage through which the pseudocode reaches them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.sim.pcode.operations import sliced
from tests.sim.pcode.scope import Typed, inserted
from tests.sim.pcode.values import Value
from tests.sim.pcode.words import m0_code, null_code

VCC, EXEC = 106, 126
ALL = (1 << 64) - 1


@dataclass
class Wave:
    """Registers of a wave. ``vgprs[n][lane]``; ``sgprs`` by operand code."""

    target: str
    size: int
    vgprs: list[list[int]]
    sgprs: list[int]
    scc: int
    mode: int
    pc: int
    memory: dict[str, Any] = field(default_factory=dict)

    def sgpr(self, code: int, bits: int = 32) -> int:
        raw = sum(self.sgprs[code + n] << 32 * n for n in range((bits + 31) // 32))
        return raw & (1 << bits) - 1

    def set_sgpr(self, code: int, bits: int, raw: int) -> None:
        null = null_code(self.target)
        if code == null:
            return
        for n in range((bits + 31) // 32):
            self.sgprs[code + n] = raw >> 32 * n & 0xFFFFFFFF

    def vgpr(self, number: int, lane: int, bits: int = 32) -> int:
        raw = sum(self.vgprs[number + n][lane] << 32 * n for n in range((bits + 31) // 32))
        return raw & (1 << bits) - 1

    def set_vgpr(self, number: int, lane: int, bits: int, raw: int) -> None:
        for n in range((bits + 31) // 32):
            self.vgprs[number + n][lane] = raw >> 32 * n & 0xFFFFFFFF

    @property
    def exec(self) -> int:
        return self.sgpr(EXEC, self.size)

    @property
    def m0(self) -> int:
        return self.sgprs[m0_code(self.target)]

    @property
    def rounding(self) -> tuple[int, int]:
        return self.mode & 3, self.mode >> 2 & 3

    def flush_in(self, bits: int) -> bool:
        return not self.mode >> (4 if bits == 32 else 6) & 1

    def flush_out(self, bits: int) -> bool:
        return not self.mode >> (5 if bits == 32 else 7) & 1

    @property
    def clamps_nan(self) -> bool:
        """MODE.DX10_CLAMP; on GFX12 it is always on."""
        return True if self.target.startswith("gfx12") else bool(self.mode >> 8 & 1)

    @property
    def ieee(self) -> int:
        """MODE.IEEE; GFX12 has none."""
        return 0 if self.target.startswith("gfx12") else self.mode >> 9 & 1


class Register(Typed):
    """D0 and similar registers: a fixed number of bits, part of which the text may write; records which bits were
    written as a float.
    """

    def __init__(self, raw: int, bits: int) -> None:
        self.raw, self.bits = raw, bits
        self.written = 0
        self.floats: dict[tuple[int, int], str] = {}

    def load(self) -> Value:
        return Value("b", self.bits, self.raw)

    def store(self, low: int, width: int | None, value: Value) -> None:
        width = width or min(value.bits, self.bits)
        mask = (1 << width) - 1 << low & (1 << self.bits) - 1
        self.raw = self.raw & ~mask | int(value.raw) << low & mask  # type: ignore[call-overload]
        self.written |= mask
        if value.kind in ("f", "bf"):
            self.floats[low, width] = value.kind
        else:
            self.floats.pop((low, width), None)


class LaneMask(Typed):
    """A mask of lanes: reads the wave's old value; writes collect."""

    def __init__(self, old: int) -> None:
        self.old, self.new, self.touched = old, 0, 0

    def load(self) -> Value:
        return Value("b", 64, self.old & ~self.touched | self.new)

    def store(self, low: int, width: int | None, value: Value) -> None:
        mask = (1 << (width or 64)) - 1 << low
        self.new = self.new & ~mask | int(value.raw) << low & mask  # type: ignore[call-overload]
        self.touched |= mask


class Cell(Typed):
    """A register of a register file or bytes of memory, by functions."""

    def __init__(self, read: Callable[[int], int], write: Callable[[int, int], None], bits: int = 32) -> None:
        self.read, self.write, self.bits = read, write, bits

    def sized(self, bits: int) -> Cell:
        return Cell(self.read, self.write, max(bits, self.bits)) if bits > self.bits else self

    def load(self) -> Value:
        return Value("b", self.bits, self.read(self.bits))

    def store(self, low: int, width: int | None, value: Value) -> None:
        if value.kind == "sym":
            raise TypeError(f"a symbol {value!r} stored")
        whole = inserted(self.load(), low, width or min(value.bits, self.bits), value)
        self.write(self.bits, int(whole.raw))  # type: ignore[call-overload]


class MemoryCell(Cell):
    def sized(self, bits: int) -> Cell:
        return MemoryCell(self.read, self.write, bits)


class File:
    """VGPR[lane][n], SGPR[n], MEM[address]."""

    def __init__(self, element: Callable[[int], Any]) -> None:
        self.element = element

    def load(self) -> File:
        return self


class Fields:
    """WAVE_MODE.IEEE and similar fields."""

    def __init__(self, **known: Value) -> None:
        self.known = known

    def attribute(self, word: str) -> Value:
        return self.known[word]

    def place(self, word: str) -> Any:
        return Register(0, 32)


class Inconclusive(Exception):
    """The text does not specify enough to run it."""


class Bit(Typed):
    """D1.u1: this lane's carry out."""

    def __init__(self, mask: LaneMask, lane: int) -> None:
        self.mask, self.lane = mask, lane

    def load(self) -> Value:
        return sliced(self.mask.load(), self.lane, 1)

    def store(self, low: int, width: int | None, value: Value) -> None:
        self.mask.store(self.lane, 1, value)
