"""How values are displayed, and what their text needs from the program besides their bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct, field

from rocdbg.arch.address_spaces import address_space
from rocdbg.debugger.base.engine_settings import PrintSettings
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import Memory, MemoryStorage
from rocdbg.dwarf.info.types import ClassType, Type


class Symbolizer(Protocol):
    """Finds names for addresses."""

    def symbolize(self, address: int, data: bool = True, limit: int = 0, mangled: bool = False) -> str | None:
        """Return ``fn+12`` for an address of code or, with ``data``, also of data; ``None`` if there is no symbol.

        ``limit`` is the largest offset that is shown; 0: no limit. ``mangled``: with the mangled name.
        """

    def source_place(self, address: int) -> str | None:
        """Return ``file.c:12`` for an address of code."""


class Appearance(Struct):
    """The settings, and queries to the program. ``printers`` is called for each value before the built-in rules apply.
    """

    settings: PrintSettings = field(default_factory=PrintSettings)
    symbols: Symbolizer | None = None
    memory: Memory | None = None
    printers: PrettyPrinter | None = None
    complete: Callable[[Type], Type] = lambda type_: type_
    static_member: Callable[[ClassType, str], Value | None] = lambda type_, name: None
    whole: Callable[[Value], Value | None] = lambda value: None
    """Returns a pointer, reference or object with its dynamic type; ``None`` if that is not known."""
    referred: Callable[[Type, int, int], Value] | None = None
    """Returns the value of a type at an address of a space; a dynamic type is resolved for that object."""
    described: Callable[[str, int, int], str | None] = lambda name, space, address: None
    """Describes an opaque object of the language, given the name of its structure; returns ``None`` if not known."""

    def at_address(self, type_: Type, space: int, address: int) -> Value:
        """Return the target of a reference."""
        if self.referred is not None:
            return self.referred(type_, space, address)
        assert self.memory is not None
        return Value(self.complete(type_), MemoryStorage(self.memory, space, address))

    def place(self, space: int, address: int, symbol: bool = True) -> str:
        """Return `address`, with symbols named as by ``x`` and the format letter ``a`` (`PrintSettings.asm_demangle`).
        """
        return self.address(space, address, symbol, not self.settings.asm_demangle)

    def address(self, space: int, address: int, symbol: bool = False, mangled: bool = False) -> str:
        """Return an address as text: ``0x...`` or ``local#0x10``, with ``<symbol+offset>`` if requested."""
        prefix = "" if space == 0 else address_space(space).name + "#"
        text = f"{prefix}{address:#x}"
        if symbol and space in (0, 1) and self.symbols is not None:
            name = self.symbols.symbolize(address, True, self.settings.max_symbolic_offset, mangled)
            if name is not None:
                place = self.symbols.source_place(address) if self.settings.symbol_filename else None
                text += f" <{name} at {place}>" if place is not None else f" <{name}>"
        return text

    def pointer(self, space: int, address: int, symbol: bool) -> str:
        """Return `address`, reduced according to the settings: empty if neither address nor symbol is shown."""
        text = self.address(space, address, symbol)
        if self.settings.address:
            return text
        return text[text.index("<") :] if text.endswith(">") else ""


# Results of pretty-printers.


class Pretty(Struct, frozen=True):
    """The result of a pretty-printer.

    ``text`` is the summary (``None`` if there is none). ``children`` are (name, value) pairs, shown as members, or as
    elements if ``hint`` is ``array``; if it is ``string``, the text is shown in quotes.
    """

    text: str | None = None
    children: Sequence[tuple[str, Value]] = ()
    hint: str = ""


PrettyPrinter = Callable[[Value], "Pretty | str | None"]
"""Returns ``None`` for values that it does not handle."""
