"""GFX9's branches that execute both paths: s_cbranch_g_fork, s_cbranch_i_fork, s_cbranch_join.

If lanes disagree, the path with fewer lanes is executed first. PC and EXEC of the other path are pushed on a stack with
four SGPRs per entry, which begins at s0 and whose height is MODE.CSP (bits 31:29); the corresponding join pops them.
"""

from __future__ import annotations

from rocdbg.sim.core.builder import I32, I64, Value
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import Ends, semantic

_CSP = 29
_ENTRIES = 8


def _height(i: Access) -> Value:
    return i.b.read_field("mode").lshr(_CSP)


def _set_height(i: Access, height: Value) -> None:
    mode = i.b.read_field("mode") & (1 << _CSP) - 1
    i.b.write_field("mode", mode | (height & 7).shl(_CSP))


def _fork(i: Access, target: Value) -> None:
    b, active = i.b, i.exec.zext(I64)
    taken = i.raw_operand(i.sources[0] if i.sources else i.destinations[0], 64) & active
    left = active & ~taken
    everyone, nobody = left.eq(0), taken.eq(0)
    # Otherwise both paths have been executed.
    left_first = left.ctpop().ult(taken.ctpop())
    both = ~(everyone | nobody)
    height, following = _height(i), i.next_pc
    waiting_pc = left_first.select(target, following)
    waiting_mask = left_first.select(taken, left)
    for entry in range(_ENTRIES):
        here = both & height.eq(entry)
        for part, value in ((0, waiting_pc), (2, waiting_mask)):
            code = 4 * entry + part
            b.write_sgpr(code, here.select(value, b.read_sgpr(code, 2)))
    _set_height(i, height + both.zext(I32))
    mask = both.select(left_first.select(left, taken), active)
    i.set_exec(mask if i.wave_size == 64 else mask.trunc(I32))
    b.jump((everyone | (both & ~left_first)).select(target, following))


@semantic("s_cbranch_g_fork", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    _fork(i, i.src(1, I64))


@semantic("s_cbranch_i_fork", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    label = i.insn.operand("simm16")
    assert label is not None
    distance = label.value - i.insn.address
    _fork(i, i.pc + distance)


@semantic("s_cbranch_join", ends=Ends.ALWAYS)
def _(i: Access) -> None:
    b, height = i.b, _height(i)
    done = height.eq(i.src(0))
    top = height - 1 & 7
    pc, mask = i.next_pc, i.exec.zext(I64)
    for entry in range(_ENTRIES):
        here = ~done & top.eq(entry)
        pc = here.select(b.read_sgpr(4 * entry, 2), pc)
        mask = here.select(b.read_sgpr(4 * entry + 2, 2), mask)
    _set_height(i, done.select(height, top))
    i.set_exec(mask if i.wave_size == 64 else mask.trunc(I32))
    b.jump(pc)
