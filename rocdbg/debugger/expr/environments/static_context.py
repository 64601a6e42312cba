"""What expressions are evaluated in while nothing runs."""

from __future__ import annotations

from functools import cached_property

from rocdbg.debugger.base.errors import NoRegistersError
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.frames.unwind_rules import FoundRow
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.values.value_storage import Memory
from rocdbg.dwarf.info import Function
from rocdbg.dwarf.location import LocationDescription


class StaticContext(FrameContext):
    """The context of a program that is not running: its file's memory, and nothing else."""

    def __init__(self, program: Program, memory: Memory) -> None:
        self.program = program
        self.memory = memory
        self.pc = None
        self.wave_pc = None
        self.lane = None
        self.callee = None
        self.object = None
        self.iteration = None
        self._call_sites = None
        self.unwound = None

    @cached_property
    def function(self) -> Function | None:
        """There is no current function."""
        return None

    @cached_property
    def iterations(self) -> int:
        """There are no loops under way."""
        return 1

    @cached_property
    def wave_size(self) -> int:
        """That of the target's usual waves."""
        return self.program.code_object.target.default_wave_size

    @cached_property
    def found_row(self) -> FoundRow | None:
        """There are no frames."""
        return None

    def register_location(self, number: int) -> LocationDescription:
        """There are no registers."""
        raise NoRegistersError

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """Bytes of the file."""
        return self.memory.read(space, address, size)

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """Refused: the file is not changed."""
        self.memory.write(space, address, data)
