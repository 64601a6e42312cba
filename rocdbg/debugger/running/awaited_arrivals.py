"""Arrivals that a command waits for: those of one lane in one frame.

In a loop or in recursion, a wave may reach the address many times before the awaited arrival. The debugger examines
only the first wrong arrival. It then gives the target a check for what made that arrival wrong (the wave, the lane or
the frame), and the target rejects later ones by itself.
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
    """The requirements on an arrival: the wave of ``scope``, its lane active (if ``lane_matters``), and the frame that
    ``frame`` gives for an address (None: any frame)."""

    inferior: Inferior
    scope: Focus
    lane_matters: bool
    frame: Callable[[int], FramePlace | None]
    checks: dict[int, Check] = field(default_factory=dict)
    """The checks that the target makes, by address."""

    def wrong(self, thread: int | None, pc: int) -> None:
        """Record that a wave's arrival at an address was not the awaited one, and add a check for the requirement that
        it did not meet.
        """
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
        """The condition that the wave is in the awaited frame, and the value of the frame register there. None if any
        frame is accepted, or if one register does not identify the frame."""
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
