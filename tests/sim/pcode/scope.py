"""The meanings of names in a text while it runs: values, and storage that can be assigned to."""

from __future__ import annotations

from typing import Any, Protocol

from tests.sim.pcode.values import Value


class PcodeError(Exception):
    """Text that the interpreter does not understand."""


class Storage(Protocol):
    """Something that holds bits."""

    def load(self) -> Value: ...
    def store(self, low: int, width: int | None, value: Value) -> None: ...


class Scope:
    """Names while a text runs. ``names``: values, storage, lists and functions."""

    def __init__(self, names: dict[str, Any], rounding: tuple[int, int] = (0, 0)) -> None:
        self.names = names
        self.round32, self.round16_64 = rounding

    def rounding(self, bits: int) -> int:
        chosen = self.names.get("ROUND_MODE")
        if isinstance(chosen, Value) and chosen.raw in _ROUNDING:
            return _ROUNDING[str(chosen.raw)]
        return self.round32 if bits == 32 else self.round16_64


_ROUNDING = {"ROUND_NEAREST_EVEN": 0, "ROUND_TOWARD_ZERO": 3}


class Variable:
    """A local variable; its type is that of the last assignment to all of it."""

    __slots__ = ("name", "names")

    def __init__(self, names: dict[str, Any], name: str) -> None:
        self.names, self.name = names, name

    def load(self) -> Value:
        return self.names[self.name]  # type: ignore[no-any-return]

    def store(self, low: int, width: int | None, value: Value) -> None:
        old = self.names.get(self.name)
        if width is None or not isinstance(old, Value):
            if low:
                value = Value("b", low + value.bits, int(value.raw) << low)  # type: ignore[call-overload]
            self.names[self.name] = value
            return
        self.names[self.name] = inserted(old, low, width, value)


class Element:
    """An element of an array."""

    __slots__ = ("index", "items")

    def __init__(self, items: list[Value], index: int) -> None:
        self.items, self.index = items, index

    def load(self) -> Value:
        return self.items[self.index]

    def store(self, low: int, width: int | None, value: Value) -> None:
        old = self.items[self.index]
        self.items[self.index] = value if width is None else inserted(old, low, width, value)


def inserted(old: Value, low: int, width: int, value: Value) -> Value:
    """``old`` with ``width`` bits replaced."""
    mask = (1 << width) - 1 << low
    raw: int = old.raw & ~mask | int(value.raw) << low & mask  # type: ignore[operator,call-overload]
    return Value(old.kind if old.kind in "ui" else "b", max(old.bits, low + width), raw)


Place = tuple[Any, int, int | None, tuple[str, int] | None]
"""(storage, first bit, width or None for all, type or None)."""


class Typed:
    """Base of storage with a fixed size: assigning a narrower type changes only its bits."""
