"""Settings that the engine reads: how values print, how source is found, how steps behave.

A setting is a field of a record with its documentation; front ends map ``set print elements`` to
`PrintSettings.elements`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace


class PrintSettings(Struct, frozen=True):
    """``set print ...``: how values are formatted. Limits of 0 mean unlimited."""

    address: bool = True
    """Show addresses in backtraces and before symbols."""
    symbol: bool = True
    """Show ``<symbol+offset>`` after a pointer."""
    array: bool = False
    """One element per line."""
    array_indexes: bool = False
    """Show ``[N] =`` before each element."""
    elements: int = 200
    """Elements of an array, characters of a string, that are shown."""
    repeats: int = 10
    """Runs longer than this are folded to ``<repeats N times>``."""
    null_stop: bool = False
    """Stop a char array at its first null."""
    pretty: bool = False
    """Structures over several lines."""
    union: bool = True
    """Show unions inside structures."""
    static_members: bool = True
    """Show static members of classes."""
    max_depth: int = 20
    """Nesting of structures that is shown; -1 for no limit."""
    sevenbit_strings: bool = False
    """Show characters above 127 as octal escapes."""
    frame_arguments: str = "scalars"
    """Arguments in frame lines: all, scalars, none."""
    max_symbolic_offset: int = 0
    """Largest offset shown as ``<symbol+offset>``; 0 for no limit."""
    symbol_filename: bool = False
    """Show file and line after ``<symbol+offset>``."""
    raw_values: bool = False
    """Go past pretty-printers."""
    asm_demangle: bool = False
    """C++ names of code as in the source, not as the linker knows them, in disassembly and places."""

    def with_changes(self, **changes: Any) -> PrintSettings:
        """A copy with some fields changed (``print -pretty -- x``)."""
        return replace(self, **changes)


class Settings(Struct):
    """All settings of a session."""

    print: PrintSettings = field(default_factory=PrintSettings)
    list_size: int = 10
    """Lines that ``list`` shows."""
    step_mode: bool = False
    """Whether ``step`` stops in functions without line information."""
    scheduler_locking: str = "replay"
    """Which other waves run while one steps: off, step, on, replay (as off here)."""
    output_radix: int = 10
    """Default base of integers: 8, 10 or 16."""
    input_radix: int = 10
    """Base of integer literals without a prefix: 8, 10 or 16."""
    backtrace_limit: int = 0
    """Frames that a backtrace shows; 0 for no limit."""
    disassemble_next_line: str = "off"
    directories: list[str] = field(default_factory=lambda: ["$cdir", "$cwd"])
    """Where source files are looked for."""
    substitute_path: list[tuple[str, str]] = field(default_factory=list)
    """Pairs (from, to) applied to source paths, first match wins."""
    pending_breakpoints: str = "auto"
    """Whether to make a breakpoint pending when its location is unknown: on, off, auto (ask)."""
    instruction_budget: int = 0
    """Wave-instructions after which a running command comes back; 0 for no limit."""
