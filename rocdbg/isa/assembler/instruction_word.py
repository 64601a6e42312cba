"""An instruction word under construction, and the address of the instruction."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.targets import Target
from rocdbg.isa.assembler.errors import Mismatch
from rocdbg.isa.operand_expressions import Lookup, Value


class Place(Struct, frozen=True):
    """The address of the instruction, and the meaning of ``symbols`` there."""

    target: Target
    wave_size: int
    address: int
    symbols: Lookup

    def lookup(self, name: str) -> int | Value | None:
        """The meaning of a name; ``.`` is the address of the instruction itself."""
        return self.address if name == "." else self.symbols(name)


class Relative(Struct, frozen=True):
    """A literal that holds the distance from the literal's own place to an address, from bit ``low`` of the distance
    on.
    """

    low: int
    bits: int


class Word:
    """An instruction word under construction: ``known`` are the bits that are already set.

    ``half`` says that a register was typed as a half; ``plain`` that a register was not typed as a half, but could have
    been.
    """

    __slots__ = ("half", "known", "literal", "literal_size", "place", "plain", "relative", "value", "whole")

    def __init__(self, value: int, known: int, place: Place) -> None:
        self.value, self.known, self.place = value, known, place
        self.literal: int | None = None
        self.literal_size = 0
        self.relative: Relative | None = None
        self.whole = False
        self.plain = self.half = ""

    def agrees(self, mask: int, value: int) -> bool:
        return not (self.value ^ value) & mask & self.known

    def put(self, mask: int, value: int) -> None:
        """Set bits; raises Mismatch if they are already set differently."""
        if not self.agrees(mask, value):
            raise Mismatch("its operands and modifiers contradict each other")
        self.value = self.value & ~mask | value
        self.known |= mask

    def put_literal(self, value: int, size: int, relative: Relative | None = None) -> None:
        """Set the literal; raises Mismatch if there is a different one."""
        if self.literal is not None and (self.literal, self.literal_size, self.relative) != (value, size, relative):
            raise Mismatch("an instruction has only one literal")
        self.literal, self.literal_size, self.relative = value, size, relative
