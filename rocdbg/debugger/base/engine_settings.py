"""Settings that the engine reads: how values print, how source is found, how steps behave.

A setting is a documented field of a record; front ends map ``set print elements`` to `PrintSettings.elements`.
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
    """Show one element per line."""
    array_indexes: bool = False
    """Show ``[N] =`` before each element."""
    elements: int = 200
    """How many elements of an array, or characters of a string, are shown."""
    repeats: int = 10
    """Fold runs longer than this to ``<repeats N times>``."""
    null_stop: bool = False
    """End a char array at its first null."""
    pretty: bool = False
    """Show structures over several lines."""
    union: bool = True
    """Show unions inside structures."""
    static_members: bool = True
    """Show static members of classes."""
    max_depth: int = 20
    """How deeply nested structures are shown; -1 for no limit."""
    sevenbit_strings: bool = False
    """Show characters above 127 as octal escapes."""
    frame_arguments: str = "scalars"
    """Which arguments frame lines show: all, scalars, none (``x=...``), presence (``...``)."""
    frame_info: str = "auto"
    """What is shown of a frame: auto (the command decides), source-line, location, source-and-location,
    location-and-address, short-location."""
    entry_values: str = "default"
    """Whether and how to show arguments' values on entry: no, only, preferred, if-needed, both, compact, default."""
    recovered: bool = True
    """Show variables without a location if their values can be recovered from machine code, marked ``<recovered>``."""
    raw_frame_arguments: bool = False
    """Bypass pretty-printers in frame lines."""
    max_symbolic_offset: int = 0
    """Largest offset shown as ``<symbol+offset>``; 0 for no limit."""
    symbol_filename: bool = False
    """Show file and line after ``<symbol+offset>``."""
    nibbles: bool = False
    """Show binary numbers in groups of four digits."""
    object: bool = False
    """Show objects of polymorphic classes with their actual type."""
    vtbl: bool = False
    """Show C++ virtual function tables."""
    raw_values: bool = False
    """Bypass pretty-printers."""
    asm_demangle: bool = False
    """Show C++ names of code as in the source, not mangled, in disassembly and locations."""

    asm_operands: bool = False
    """Show the values of the operands after the instruction at the PC, in disassembly."""

    type_methods: bool = True
    """Show the methods of classes in ``ptype``."""
    type_typedefs: bool = True
    """Show the typedefs of classes in ``ptype``."""
    type_nested: int = 0
    """How many levels of nested classes and enumerations ``ptype`` shows; -1 for all."""
    type_hex: bool = False
    """Show offsets and sizes of ``ptype/o`` in hexadecimal."""

    def with_changes(self, **changes: Any) -> PrintSettings:
        """Return a copy with some fields changed (``print -pretty -- x``)."""
        return replace(self, **changes)


class Settings(Struct):
    """All settings of a session."""

    print: PrintSettings = field(default_factory=PrintSettings)
    host: str = "run"
    """What a program's host code does while its GPUs are stopped: run or stop."""
    host_debugger: str = "gdb"
    """The name or path of the GDB that debugs host code of programs; "off" for none."""
    skip_runtime_kernels: bool = True
    """Hide kernels that runtimes launch for their own purposes (copies, fills, constructors)."""
    list_size: int = 10
    """How many lines ``list`` shows."""
    step_mode: bool = False
    """Whether ``step`` stops in functions without line information."""
    scheduler_locking: str = "replay"
    """Whether other waves are stopped while one wave runs: off, step, on, replay (like off here)."""
    exec_direction: str = "forward"
    """Direction of commands that run the program: forward or reverse."""
    output_radix: int = 10
    """Default base of integers: 8, 10 or 16."""
    input_radix: int = 10
    """Base of integer literals without a prefix: 8, 10 or 16."""
    debug_file_directory: str = "/usr/lib/debug"
    """Directories, separated by colons, that are searched for separate debug files."""
    language: str = "auto"
    """The language of expressions; auto and local are the selected frame's."""
    max_value_size: int = 65536
    """The size in bytes of the largest value that is shown; -1 for no limit."""
    backtrace_limit: int = 0
    """How many frames a backtrace shows; 0 for no limit."""
    disassemble_next_line: str = "off"
    operands: bool = False
    """Whether stops show what the next instruction reads and writes."""
    register_changes: bool = False
    """Whether registers are saved at each stop, so that those that change before the next stop can be marked."""
    unwind_on_signal: bool = False
    """Whether the frames of a called function are dropped when a signal is received in it."""
    directories: list[str] = field(default_factory=lambda: ["$cdir", "$cwd"])
    """Directories that are searched for source files."""
    substitute_path: list[tuple[str, str]] = field(default_factory=list)
    """Pairs (from, to) that are applied to source paths; the first match is used."""
    pending_breakpoints: str = "auto"
    """Whether to make a breakpoint pending if its location is unknown: on, off, auto (ask)."""
    condition_evaluation: str = "auto"
    """Which side evaluates conditions of breakpoints: auto or target (where the target can), or host."""
    hardware_watchpoints: int = 1
    """Whether watchpoints are reported as hardware watchpoints, as GDB does if it may use hardware for them."""
    instruction_budget: int = 0
    """The number of wave-instructions after which a running command returns; 0 for no limit."""
