"""The debug information of one code object."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.model import CodeLocation, LineRow, SourceFile
from rocdbg.dwarf.info.scopes import Function, InlinedSubroutine, Scope, Variable
from rocdbg.dwarf.info.types import Type
from rocdbg.dwarf.info.unit import Unit


class DebugInfo:
    """Debug information of one code object, read lazily.

    ``sections`` maps section names (``".debug_info"``) to their bytes, relocated and uncompressed; missing sections are
    empty. Opening reads nothing; the first question about a name or an address makes a quick pass over the
    entries of the units it concerns. Addresses are those of the file: subtract the load base first.

    All methods raise ``DebugInfoError`` for debug information that is damaged where they have to read it.

    Names are matched as in GDB. A name may be plain (``add``), partly or wholly qualified (``S<float, 3>::get``,
    ``ns::add``; ``::add`` only at global scope), a linkage name, and may leave out template arguments (``kern`` finds ``kern<2>``
    and ``kern<3>``) or give parameter types (``add(int, int)``). White space does not matter.
    """

    def __init__(self, sections: Mapping[str, bytes]) -> None:
        raise NotImplementedError

    # Units and entries

    @property
    def units(self) -> tuple[Unit, ...]:
        """All compile units, in order."""
        raise NotImplementedError

    def unit_at(self, pc: int) -> Unit | None:
        """The unit with code at ``pc``."""
        raise NotImplementedError

    def die(self, offset: int) -> Die:
        """The entry at ``offset`` of ``.debug_info``."""
        raise NotImplementedError

    # Functions

    def functions_named(self, name: str) -> list[Function]:
        """All functions ``name`` stands for, those that were only inlined included; empty when there are none."""
        raise NotImplementedError

    def functions_matching(self, pattern: str | re.Pattern[str] = "") -> list[Function]:
        """Functions whose ``qualified_name`` the regular expression is found in, sorted by it."""
        raise NotImplementedError

    def function_at(self, pc: int) -> Function | None:
        """The (not inlined) function with code at ``pc``."""
        raise NotImplementedError

    def inlined_instances(self, function: Function) -> list[InlinedSubroutine]:
        """Every place where ``function`` was inlined, in order of address."""
        raise NotImplementedError

    # Scopes

    def scopes_at(self, pc: int) -> tuple[Scope, ...]:
        """The scopes around ``pc``, innermost first; the last is the ``Function``. Empty outside all functions."""
        raise NotImplementedError

    def inline_frames_at(self, pc: int) -> tuple[InlinedSubroutine, ...]:
        """The inlined calls around ``pc``, innermost first.

        The innermost virtual frame is at ``line_at(pc)``; frame k+1 at ``call_file``:``call_line`` of element k.
        """
        raise NotImplementedError

    # Variables

    def variables_named(self, name: str) -> list[Variable]:
        """Global variables and static class members called ``name``, definitions before declarations."""
        raise NotImplementedError

    def global_variables_matching(self, pattern: str | re.Pattern[str] = "") -> list[Variable]:
        """Global variables whose qualified name the regular expression is found in, sorted by it."""
        raise NotImplementedError

    # Types

    def types_named(self, name: str) -> list[Type]:
        """Types called ``name``, without keyword (``S``, ``ns::S<float, 3>``, ``unsigned int``); definitions first."""
        raise NotImplementedError

    def types_matching(self, pattern: str | re.Pattern[str] = "") -> list[Type]:
        """Named types whose qualified name the regular expression is found in, sorted by it."""
        raise NotImplementedError

    def type_at(self, offset: int) -> Type:
        """The type whose entry is at ``offset`` of ``.debug_info``."""
        raise NotImplementedError

    def complete_type(self, type: Type) -> Type:
        """The definition of a class or enumeration that was only declared; ``type`` itself when there is none."""
        raise NotImplementedError

    # Lines

    @property
    def source_files(self) -> list[SourceFile]:
        """All files of all line tables, each once, sorted by path."""
        raise NotImplementedError

    def files_named(self, name: str) -> list[SourceFile]:
        """The files ``name`` stands for (see ``SourceFile.matches``)."""
        raise NotImplementedError

    def line_at(self, pc: int) -> LineRow | None:
        """The row whose addresses hold ``pc``; its ``line`` may be 0."""
        raise NotImplementedError

    def lines_of(self, function: Scope) -> list[LineRow]:
        """The rows of a function's (or any scope's) code, in order of address, clipped to its ranges."""
        raise NotImplementedError

    def rows_of_line(self, file: str | SourceFile, line: int) -> list[LineRow]:
        """All rows of exactly that line, statement starts or not, by address (``info line``)."""
        raise NotImplementedError

    def lines_with_code(self, file: str | SourceFile) -> list[int]:
        """The lines of a file that have code, ascending."""
        raise NotImplementedError

    # Breakpoints

    def addresses_of(self, file: str | SourceFile, line: int) -> list[CodeLocation]:
        """Where GDB puts the breakpoints for ``file:line``, by address; empty when there is no code there or below.

        Statement starts of that line, else of the next line that has any, but not of another function
        further down. One location per function or inlined instance (its lowest address); at the
        start of a function it is moved behind the prologue.
        """
        raise NotImplementedError

    def breakpoint_address(self, function: Function) -> int | None:
        """Where GDB puts a breakpoint on a function: behind the prologue. None without code.

        The first row marked ``prologue_end``; else the address of the function's second line; else its entry.
        """
        raise NotImplementedError

    def breakpoint_locations(self, function: Function) -> list[CodeLocation]:
        """``breakpoint_address`` of the function, and the entry of every inlined instance of it."""
        raise NotImplementedError
