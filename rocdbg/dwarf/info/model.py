"""Small values in which debug information is returned: files, line rows, ranges, code locations."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from rocdbg.addresses import FileAddress

if TYPE_CHECKING:
    from rocdbg.dwarf.info.scopes import Function


class AddressRange(NamedTuple):
    """Addresses from ``low`` up to, but not including, ``high``. They are those of the code object's file, not of
    loaded code.
    """

    low: FileAddress
    high: FileAddress

    def __contains__(self, address: object) -> bool:
        return isinstance(address, int) and self.low <= address < self.high


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file of a line table.

    ``name`` is the name in the table (which GDB shows), ``directory`` the directory that it is relative to, ``path``
    both joined (absolute when DW_AT_comp_dir was). ``source`` is the embedded text (DW_LNCT_LLVM_source), None when
    there is none; ``md5`` the checksum of the contents. Files are equal when name and path are.
    """

    name: str
    directory: str
    path: str
    md5: bytes | None = field(default=None, compare=False)
    source: str | None = field(default=None, compare=False, repr=False)
    modified: int | None = field(default=None, compare=False, repr=False)
    length: int | None = field(default=None, compare=False, repr=False)

    @property
    def basename(self) -> str:
        """The last component of the path."""
        return PurePosixPath(self.path).name

    def matches(self, wanted: str) -> bool:
        """True when ``wanted`` names this file as GDB sees it: its path, or whole trailing components of
        it."""
        mine, asked = _parts(self.path), _parts(wanted)
        return bool(asked) and (mine[-len(asked):] == asked or self.name == wanted)


@lru_cache(maxsize=1024)
def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path).parts


class LineRow(Struct, frozen=True):
    """A row of a line table with the addresses to which it applies: ``address`` up to ``end_address``.

    ``line`` 0 means that the code belongs to no source line. ``end_address`` equals ``address`` when another row starts
    at the same address; of such rows, only the last covers code.
    """

    address: FileAddress
    end_address: FileAddress
    file: SourceFile
    line: int
    column: int = 0
    is_stmt: bool = True
    basic_block: bool = False
    prologue_end: bool = False
    epilogue_begin: bool = False
    isa: int = 0
    discriminator: int = 0


@dataclass(frozen=True, slots=True)
class CodeLocation:
    """A place to put a breakpoint: an address, its line, and the function whose code it is in.

    ``function`` is the innermost one, so an inlined function where its code was inlined; None without one.
    ``line`` is the line that has code, which may differ from the one requested.
    """

    address: FileAddress
    file: SourceFile | None
    line: int
    function: Function | None = field(compare=False)
