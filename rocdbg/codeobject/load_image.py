"""Loading: the memory image of a code object at an address, with relocations applied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from rocdbg.codeobject.elf import PF_R, PF_W, PF_X
from rocdbg.codeobject.elf_symbols import SymbolTable
from rocdbg.codeobject.errors import CodeObjectError
from rocdbg.codeobject.load_layout import Layout, LdsVariable
from rocdbg.codeobject.relocation import Resolver, relocate

if TYPE_CHECKING:
    from rocdbg.codeobject.code_object import CodeObject


class LoadedSegment(Struct, frozen=True):
    """Memory of one segment, relocated."""

    name: str
    address: int
    data: bytearray
    readable: bool
    writable: bool
    executable: bool


class LoadedImage(Struct, frozen=True):
    """A code object loaded at an address."""

    base: int
    """Load bias: the number added to the file's addresses."""
    size: int
    segments: tuple[LoadedSegment, ...]
    lds: Mapping[str, LdsVariable]
    """LDS variables by symbol name; usually empty, because compilers lay out LDS themselves."""
    lds_size: int
    symbols: SymbolTable
    layout: Layout

    def address_of(self, name: str) -> int:
        """The loaded address of a symbol; raises `CodeObjectError` if there is none with this name."""
        symbol = self.symbols.get(name)
        if symbol is None:
            raise CodeObjectError(self.layout.source.name, f'there is no symbol "{name}"', section="symbol table")
        return self.layout.place(self.base, symbol)


def load_image(code_object: CodeObject, base: int, resolve: Resolver | None) -> LoadedImage:
    """See `CodeObject.load`."""
    layout = code_object.layout
    if base % layout.alignment:
        reason = f"cannot be loaded at {base:#x}: the address must be a multiple of {layout.alignment:#x}"
        raise code_object.source.error(reason)
    segments = []
    for part in layout.parts:
        data = bytearray(part.size)
        content = code_object.source.bytes_at(part.file_offset, part.file_size, part.name)
        data[: len(content)] = content
        segments.append(_segment(part.name, base + part.address, data, part.flags))
    if layout.common:
        start = min(layout.common.values())
        segments.append(_segment("common", base + start, bytearray(layout.got_address - start), PF_R | PF_W))
    if layout.got:
        got = bytearray(8 * len(layout.got))
        segments.append(_segment("global offset table", base + layout.got_address, got, PF_R))
    relocate(code_object, base, segments, resolve)
    return LoadedImage(
        base, layout.size, tuple(segments), layout.lds, layout.lds_size, code_object.symbols, layout
    )


def _segment(name: str, address: int, data: bytearray, flags: int) -> LoadedSegment:
    return LoadedSegment(name, address, data, bool(flags & PF_R), bool(flags & PF_W), bool(flags & PF_X))
