"""The options of ``Dispatch.run``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import Struct, field

from rocdbg.errors import Error
from rocdbg.sim.core.checks import Check
from rocdbg.sim.core.stop_plan import StopPlan
from rocdbg.sim.core.watched_words import WatchedBytes


class RunOptions(Struct, frozen=True):
    """How to continue.

    * ``stop_pcs``: any wave that is about to execute an instruction at one of these PCs stops with BREAKPOINT. A wave
      that is already at such a PC when ``run`` is called first executes that instruction.
    * ``wave``: the number of the focused wave, for ``step``, ``range`` and ``only``.
    * ``step``: execute one instruction of that wave (STEP), or ``steps`` instructions unless it reaches a stop or
      begins to wait first.
    * ``range``: ``(low, high)``: execute that wave until its PC leaves low <= pc < high (RANGE).
    * ``only``: the other waves do not run, except while the focused one waits at a barrier for them.
    * ``alone``: with ``only``, the waves of other dispatches do not run either.
    * ``plan``: with ``range``: where to continue when that wave leaves the range.
    * ``most``: with ``range`` and ``only``: that wave stops (STEP) when it has executed so many instructions, or begins
      to wait.
    * ``budget``: wave-instructions that this call may execute in all (BUDGET when they are used up); None: no limit.
    * ``checks``: PCs that are not in ``stop_pcs``; a wave stops there in the same way if a check says so.
    * ``watches``: memory whose changes stop with WATCH.
    """

    stop_pcs: AbstractSet[int] = frozenset()
    wave: int | None = None
    step: bool = False
    range: tuple[int, int] | None = None
    only: bool = False
    alone: bool = False
    budget: int | None = None
    checks: Mapping[int, Check] = field(default_factory=dict)
    watches: Sequence[WatchedBytes] = ()
    plan: StopPlan | None = None
    steps: int = 1
    most: int | None = None

    def __post_init__(self) -> None:
        if self.wave is None and (self.step or self.range is not None or self.only):
            raise RunRequestError("stepping, range stepping and `only` need the number of a wave")
        if self.step and self.range is not None:
            raise RunRequestError("a run can step one instruction or a range, but not both")


class Stops(Struct, frozen=True):
    """The stop conditions that apply to repeated runs: ``pcs``, ``checks`` and ``watches`` as in `RunOptions`."""

    pcs: AbstractSet[int] = frozenset()
    checks: Mapping[int, Check] = field(default_factory=dict)
    watches: Sequence[WatchedBytes] = ()


NO_STOPS = Stops()


NEVER: Final = (1 << 64) - 1


class Followed(Struct, frozen=True):
    """A wave that is followed while the scheduler gives it its usual turns.

    It stops (STEP) when its turn comes and it has executed ``end`` instructions in all. With ``range``, it stops when
    its PC leaves low <= pc < high, and with ``plan``, where the plan ends. ``traced``: it leaves a trace
    (`Engine.trace_into`).
    """

    wave: int
    end: int = NEVER
    range: tuple[int, int] | None = None
    traced: bool = False
    plan: StopPlan | None = None


class RunRequestError(Error):
    """A request to run that makes no sense: a wave that does not exist, a released dispatch, contradictory options."""
