"""The native routine that compares watched words (`rocdbg.sim.core.watched_words`)."""

from __future__ import annotations

from rocdbg.sim.core.builder import I64, Value
from rocdbg.sim.core.layout import ENV_KIND, ENV_POINTER
from rocdbg.sim.core.watched_words import FIRST_WAVE, LAST_WAVE, MASK, ROW_WORDS, TOUCH_WORDS, VALUE, WORD
from rocdbg.sim.translator.routine import Routine


def changed(r: Routine) -> None:
    """``i32 watch_changed(ptr state, ptr env)``: returns 1 if a watched word that the wave can change has changed."""
    table = r.pointer(r.env("watches"))
    wave = r.state("number")

    def look(n: Value) -> None:
        row = r.gep(table, n * (8 * ROW_WORDS) + 8)
        at, mask, value, first, last = (
            r.load(r.gep(row, 8 * word), I64) for word in (WORD, MASK, VALUE, FIRST_WAVE, LAST_WAVE)
        )
        differs = (r.load(r.pointer(at), I64) & mask).ne(value) & first.ule(wave) & wave.ule(last)
        r.when(differs, lambda: r.leave(1))

    r.for_range(r.load(table, I64), look)
    r.lines.append("ret i32 0")


def touched(r: Routine) -> None:
    """``i32 watch_touched(ptr state, ptr env, i64 mask, i64 size)``: returns 1 if an access reaches bytes of which
    every access is reported.

    The environment must contain where the lanes' accesses go, see `Runtime`: a host pointer, and the distance of one
    dword from the next.
    """
    table, size, wave = r.pointer(r.env("touches")), r.value("%size"), r.state("number")
    rows = r.load(table, I64)

    def lane(lane: Value) -> None:
        pointer, stride = (r.load(r.slot(base, lane, 8), I64) for base in (ENV_POINTER, ENV_KIND))
        apart = stride.ugt(4)
        pieces = apart.select((size + 3).lshr(2), stride.ne(0).zext(I64))

        def piece(n: Value) -> None:
            start = pointer + n * stride
            end = start + apart.select(size.umin(4), size)

            def row(k: Value) -> None:
                at = r.gep(table, k * (8 * TOUCH_WORDS) + 8)
                low, high, first, last = (r.load(r.gep(at, 8 * word), I64) for word in range(TOUCH_WORDS))
                mine = first.ule(wave) & wave.ule(last)
                r.when(mine & start.ult(high) & low.ult(end), lambda: r.leave(1))

            r.for_range(rows, row)

        r.for_range(pieces, piece)

    r.for_lanes(r.value("%mask"), lane)
    r.lines.append("ret i32 0")


__all__ = ["changed", "touched"]
