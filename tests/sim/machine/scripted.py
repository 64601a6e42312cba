"""A dispatch whose kernel is a list of words, run by an engine that knows only these words, to test the scheduler
alone.

Each word is one instruction of four bytes: ``nop``, ``barrier``, ``signal``, ``first`` (signals; SCC shows whether it
was the first), ``join`` (waits for the signalled barrier), ``sleep``, ``end``, ``trap2``, ``trap3``, ``illegal``,
``missing`` (unsupported), ``back:N`` (jump to instruction N), ``wait:N`` (stay here until wave N ended).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from rocdbg.arch.targets import target_by_name
from rocdbg.codeobject.bounded_reader import Source
from rocdbg.codeobject.kernel_descriptor import decode_descriptor
from rocdbg.sim.core import layout
from rocdbg.sim.core.global_share import GlobalShare
from rocdbg.sim.core.initial_state import DispatchState
from rocdbg.sim.core.layout import Status
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.core.stop_plan import StopPlan
from rocdbg.sim.core.wave import Dim3, StateBlock, Wave, state_block
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.dispatch_plan import DispatchPlan

BASE = 0x7F00_0010_0000
TARGET = target_by_name("gfx90a")


class ScriptedEngine:
    """Implements the engine's interface in docs/engine.md."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.share = GlobalShare(target_by_name("gfx90a"))
        self.stops: frozenset[int] = frozenset()
        self.trace: list[tuple[int, str]] = []
        self.ended: set[int] = set()
        self.on_run: Callable[[], None] = lambda: None

    def set_stops(self, stops: frozenset[int], checks: object = None) -> None:
        self.stops = stops

    def set_watches(self, watched: object) -> None:
        """Scripted waves change no memory."""

    def set_cuts(self, cuts: frozenset[int]) -> None:
        """There are no blocks."""

    def followed_routine(self, range: object, traced: bool, plan: StopPlan | None) -> int:
        """Leaves all turns to the dispatch."""
        return 0

    def collect(self) -> None:
        """There are no checks."""

    def run(
        self,
        state: int,
        *,
        budget: int,
        step: bool = False,
        range: tuple[int, int] | None = None,
        ignore_stop: bool = False,
        traced: bool = False,
        plan: StopPlan | None = None,
    ) -> Status:
        self.on_run()
        range = plan.range if plan is not None else range
        size = layout.state_size(64, TARGET.has_agprs)
        block: Any = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(state))
        words: Any = np.ctypeslib.as_array(
            (ctypes.c_uint8 * layout.ENGINE_SIZE).from_address(state + layout.ENGINE_OFFSET)
        )
        wave = Wave(StateBlock(block, words), TARGET, 64, 0, (0, 0, 0), 0, (64, 1, 1), np.zeros(0, np.uint8))
        number = wave.word("number")
        first = True
        while True:
            if wave.pc in self.stops and not (first and (ignore_stop or step)):
                return Status.BREAK
            if range is not None and not range[0] <= wave.pc < range[1]:
                return Status.RANGE
            if budget == 0:
                return Status.BUDGET
            word = self.words[(wave.pc - BASE) // 4]
            if word in ("trap2", "trap3"):
                wave.set_word("trap_id", int(word[-1]))
                return Status.TRAP
            if word in ("illegal", "missing"):
                return Status.ILLEGAL if word == "illegal" else Status.UNSUPPORTED
            first = False
            self.trace.append((number, word))
            wave.set_word("instructions", wave.instructions + 1)
            budget -= 1
            if word == "end":
                self.ended.add(number)
                return Status.END
            jump = word.partition(":")
            if jump[0] == "back":
                wave.pc = BASE + int(jump[2]) * 4
            elif jump[0] != "wait" or int(jump[2]) in self.ended:
                wave.pc += 4
            if word == "barrier":
                return Status.BARRIER
            if word == "sleep":
                return Status.SLEEP
            if word in ("signal", "first", "join"):
                return {"signal": Status.SIGNAL, "first": Status.SIGNAL_FIRST, "join": Status.WAIT}[word]

    def fill(self, residency: Any) -> None:
        residency.fill()

    def schedule(self, places: Any, budget: int) -> Status:
        """Leaves all turns to the dispatch."""
        return Status.CONTINUE

    def fault(self) -> Any:
        raise AssertionError("scripts do not fault")

    def invalidate(self, low: int, high: int) -> None:
        pass


def scripted(
    words: str, groups: Dim3 = (1, 1, 1), group_waves: int = 1, resident_groups: int = 4
) -> tuple[Dispatch, ScriptedEngine]:
    """A dispatch of ``groups`` workgroups of ``group_waves`` waves that run the words."""
    engine = ScriptedEngine(words.split())
    memory = GlobalMemory()
    descriptor = decode_descriptor(Source("scripted", bytes(64)), 0, TARGET)
    state = DispatchState(TARGET, 64, descriptor, BASE, groups, 0, 0, 0, b"", 0, 0, (0, 0, 0, 0), 0, 0, 0)
    workgroup = (64 * group_waves, 1, 1)
    grid = (64 * group_waves * groups[0], groups[1], groups[2])
    kernel: Any = SimpleNamespace(descriptor=descriptor, metadata=None)
    plan = DispatchPlan(kernel, 1, state, grid, workgroup, 0, resident_groups, None, 0)
    any_engine: Any = engine
    return Dispatch(plan, any_engine, memory), engine


__all__ = ["BASE", "TARGET", "ScriptedEngine", "scripted", "state_block"]
