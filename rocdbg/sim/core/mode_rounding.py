"""Rounding by MODE: each primitive whose result may be inexact rounds as the wave's MODE register says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocdbg.sim.core.builder import Op, Type, Value


class ModeRounding(ABC):
    """Applies primitives with the instruction's rounding."""

    rounding: tuple[int, int] = (0, 0)
    """MODE's rounding that `rounded` applies: of f32 results, then of f16 and f64 results."""
    on_rounding: Callable[[Op, Type, Sequence[Value], Value], None] | None = None
    """Called with each primitive that `rounded` applies, with its result (arithmetic exceptions)."""

    def rounding_of(self, type: Type) -> int:
        """0 nearest even, 1 +inf, 2 -inf, 3 zero."""
        return self.rounding[0 if type.bits == 32 else 1] if type.is_float else 0

    def rounded(self, op: Op, type: Type, args: Sequence[Value]) -> Value:
        """Apply a primitive of `builder.ROUNDING`, rounding as the instruction's MODE says."""
        mode, observer = self.rounding_of(type), self.on_rounding
        if not mode and observer is None:
            return self.emit(op, type, args)
        with self.nearest():
            result = self.emit_directed(op, type, args, mode) if mode else self.emit(op, type, args)
            if observer is not None:
                observer(op, type, args, result)
            return result

    @contextmanager
    def nearest(self) -> Iterator[None]:
        """Make the primitives inside round to nearest regardless of MODE: for exact steps, and those whose error is
        corrected later.
        """
        saved, self.rounding = self.rounding, (0, 0)
        try:
            yield
        finally:
            self.rounding = saved

    @abstractmethod
    def emit_directed(self, op: Op, type: Type, args: Sequence[Value], mode: int) -> Value:
        """Apply a primitive of `builder.ROUNDING` other than FDIV and SQRT, rounding toward +inf (1), -inf (2) or zero
        (3).
        """

    @abstractmethod
    def emit(self, op: Op, type: Type, args: Sequence[Value]) -> Value:
        """Apply a primitive; the result is uniform if all arguments are."""
