"""The context of a calling frame, derived from the callee's context and from the locations where the callee saved
registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rocdbg.dwarf.architecture import Architecture
from rocdbg.dwarf.caller_registers import CallerRegisters, default_location
from rocdbg.dwarf.context import Context, DieContent, ExpressionLike, load_bias
from rocdbg.dwarf.errors import EvaluationError
from rocdbg.dwarf.location import LocationDescription

if TYPE_CHECKING:
    from rocdbg.dwarf.cfi import FrameTable
    from rocdbg.dwarf.cfi_unwinding import Row

__all__ = ["CallerContext"]


class CallerContext:
    """The frame that called the frame of `callee` (A.6.4); implements `Context`.

    `locate(number)` returns the location of a register of the caller; it is called once for each register. `pc` is an
    address within the call instruction, or None if unknown. Thread, lane, iteration and memory are the callee's. Frame
    base and object are not specified until they are set. With `frames` the CFA and the registers on entry come from
    call frame information; without it the CFA is unknown and the architecture's default rules hold. `row` is the
    callee's row of the call frame table, if `locate` follows one: registers that it leaves unmodified can then be found
    across any number of frames.
    """

    def __init__(
        self,
        callee: Context,
        locate: Callable[[int], LocationDescription],
        pc: int | None,
        frames: FrameTable | None = None,
        row: Row | None = None,
    ) -> None:
        self.callee = callee
        # Memory and unit are those of the innermost frame: ask it directly, not through every frame in between.
        self._first: Context = callee._first if isinstance(callee, CallerContext) else callee
        self.architecture: Architecture = callee.architecture
        self.offset_size: int = callee.offset_size
        self.lane: int | None = callee.lane
        self.lanes: int = callee.lanes
        self.iteration: int | None = callee.iteration
        self.iterations: int = callee.iterations
        self.pc = pc
        self.load_bias = load_bias(callee)
        self.frames = frames
        self.object: LocationDescription | None = None
        self.frame_base: ExpressionLike | LocationDescription | None = None
        below = callee.registers if isinstance(callee, CallerContext) else None
        self.registers: CallerRegisters = CallerRegisters(callee, locate, row, below)
        self._cfa: LocationDescription | None = None

    @property
    def cfa(self) -> LocationDescription | None:
        """The frame's CFA (A.6.4.2.2): as set, or from the call frame information at `pc`; None if unknown.

        Raises what `Row.cfa_location` raises.
        """
        if self._cfa is None:
            row = self._row()
            if row is not None and row.cfa is not None:
                self._cfa = row.cfa_location(self)
        return self._cfa

    @cfa.setter
    def cfa(self, location: LocationDescription | None) -> None:
        self._cfa = location

    def _row(self) -> Row | None:
        if self.frames is None or self.pc is None:
            return None
        return self.frames.row(self.pc - self.load_bias)

    def register_location(self, number: int) -> LocationDescription:
        """Where the register of this frame is (A.2.5.4.4.4); raises what the callee's rule for it raises."""
        return self.registers.location(number, self.architecture)

    def entry_register_location(self, number: int) -> LocationDescription:
        """Where the register of the next outer frame is (A.6.4.1), by this frame's row or the default rule.

        Raises what `Row.register_location` raises.
        """
        row = self._row()
        if row is not None:
            return row.register_location(number, self)
        return default_location(self, number, self.architecture)

    def caller(self) -> Context:
        """The next outer frame (A.6.4); `EvaluationError` if there is none or no call frame information."""
        caller = self.frames.unwind(self) if self.frames is not None else None
        if caller is None:
            raise EvaluationError("the calling frame cannot be found")
        return caller

    def read_memory(self, space: int, address: int, size: int, lane: int | None) -> bytes:
        """`size` bytes of the thread's memory (A.2.5.4.4.3); raises what the first frame's context raises."""
        return self._first.read_memory(space, address, size, lane)

    def write_memory(self, space: int, address: int, data: bytes, lane: int | None) -> None:
        """Replace bytes of the thread's memory (A.2.5.4.4.3); raises what the first frame's context raises."""
        self._first.write_memory(space, address, data, lane)

    def indexed_address(self, index: int) -> int:
        """Entry `index` of .debug_addr (A.2.5.4.3.1), from the first frame's unit; raises what the first frame's
        context raises.
        """
        return self._first.indexed_address(index)

    def die(self, offset: int, unit_relative: bool) -> tuple[DieContent, Context]:
        """What an entry of the first frame's unit offers (A.2.5.4.2), with this frame as its context; raises what the
        first frame's context raises.
        """
        content, context = self._first.die(offset, unit_relative)
        return content, self if context is self._first else context

    def tls_location(self, address: int) -> LocationDescription:
        """Where the thread has its thread-local storage (A.2.5.4.4.3); raises what the first frame's context raises."""
        return self._first.tls_location(address)
