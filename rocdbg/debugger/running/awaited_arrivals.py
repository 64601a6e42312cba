"""Arrivals that a command waits for, of one lane in one frame: what the target decides on once one was not the right.

A wave comes to the address, in a loop or in recursion, perhaps very often before it is the awaited arrival. The first
that is not is looked at here; from then on the target compares what made it wrong by itself.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from rocdbg.arch.dwarf_registers import FRAME_REGISTERS, dwarf_register
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frames import physical_place
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.running.masks_and_frames import frame_register_here, mask_here, tells_frame
from rocdbg.errors import Error
from rocdbg.sim.core.builder import I64, Op
from rocdbg.sim.core.checks import Check, Condition, Counter
from rocdbg.sim.core.lane_expressions import Cell, Field, Node, Scalar, apply, both, constant, unsigned

FramePlace = tuple[int | None, int | None]


class Awaited(Struct):
    """What an arrival has to be: the lane's wave, the lane active (``lane_matters``), and in the frame that ``frame``
    gives for an address; ``None``: in any."""

    inferior: Inferior
    scope: Focus
    lane_matters: bool
    frame: Callable[[int], FramePlace | None]
    checks: dict[int, Check] = field(default_factory=dict)
    """What the target decides on, by address."""

    def wrong(self, thread: int | None, pc: int) -> None:
        """An arrival at an address, of some wave, was not the awaited one."""
        scope = self.scope
        assert scope.thread is not None
        cells: list[int] = [scope.thread]
        holds = apply(Op.EQ, Field("number"), Cell(0))
        if thread == scope.thread and scope.lane is not None:
            lane_on = self._lane_on(scope.thread, scope.lane, len(cells)) if self.lane_matters else None
            if lane_on is not None:
                holds = both(holds, lane_on)
                cells.append(scope.lane % 32)
            found = self._in_frame(scope.thread, pc, len(cells))
            if found is not None:
                holds = both(holds, found[0])
                cells.append(found[1])
        elif pc in self.checks:
            return
        self.checks[pc] = Check((Condition(constant(1), holds, Counter(), tuple(cells)),))

    def _lane_on(self, thread: int, lane: int, cell: int) -> Node | None:
        mask = mask_here(self.inferior, thread, lane)
        if mask is None:
            return None
        word = unsigned(Scalar(mask + lane // 32), I64)
        bit = apply(Op.AND, apply(Op.LSHR, word, Cell(cell)), constant(1))
        return apply(Op.NE, bit, constant(0))

    def _in_frame(self, thread: int, pc: int, cell: int) -> tuple[Node, int] | None:
        """Whether the wave is in the frame, and what that has in the register that tells. ``None``: any will do, or it
        takes more than a register."""
        wanted = self.frame(pc)
        register = frame_register_here(self.inferior, thread, self.scope.lane) if wanted is not None else None
        if wanted is None or register is None:
            return None
        try:
            frame = next(f for f in self.inferior.chain(self.scope) if physical_place(f.context) == wanted)
            number = next(each for each in FRAME_REGISTERS if dwarf_register(each).index == register)
            value = frame.context.register_location(number).read(32)
        except (Error, StopIteration):
            return None
        if not tells_frame(self.inferior, thread, self.scope.lane, register, value, wanted[0]):
            return None
        return apply(Op.EQ, unsigned(Scalar(register), I64), Cell(cell)), value


__all__ = ["Awaited"]
