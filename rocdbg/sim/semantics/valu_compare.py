"""Compares of the vector unit: v_cmp writes a bit per lane to VCC or an SGPR pair, v_cmpx (also) to EXEC."""

from __future__ import annotations

from collections.abc import Callable

from rocdbg.arch.targets import Generation
from rocdbg.sim.core.builder import F16, F32, F64, I16, I32, I64, Type, Value
from rocdbg.sim.core.layout import EXEC_LO
from rocdbg.sim.semantics import floats
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import SemanticFunction, semantic

Relation = Callable[[Value, Value], Value]

FLOAT_RELATIONS: dict[str, Relation] = {
    "lt": lambda a, b: a.flt(b),
    "eq": lambda a, b: a.eq(b),
    "le": lambda a, b: a.fle(b),
    "gt": lambda a, b: a.fgt(b),
    "lg": lambda a, b: a.flt(b) | a.fgt(b),
    "ge": lambda a, b: a.fge(b),
    "o": lambda a, b: ~a.unordered(b),
    "u": lambda a, b: a.unordered(b),
    "nge": lambda a, b: ~a.fge(b),
    "nlg": lambda a, b: ~(a.flt(b) | a.fgt(b)),
    "ngt": lambda a, b: ~a.fgt(b),
    "nle": lambda a, b: ~a.fle(b),
    "neq": lambda a, b: a.ne(b),
    "nlt": lambda a, b: ~a.flt(b),
}
"""Float relations of VOPC and SOPC; the negated ones are true for NaNs. ``f`` and ``tru`` are constants."""

SIGNED_RELATIONS: dict[str, Relation] = {
    "lt": lambda a, b: a.slt(b),
    "eq": lambda a, b: a.eq(b),
    "le": lambda a, b: a.sle(b),
    "gt": lambda a, b: a.sgt(b),
    "ne": lambda a, b: a.ne(b),
    "lg": lambda a, b: a.ne(b),
    "ge": lambda a, b: a.sge(b),
}
UNSIGNED_RELATIONS: dict[str, Relation] = {
    "lt": lambda a, b: a.ult(b),
    "eq": lambda a, b: a.eq(b),
    "le": lambda a, b: a.ule(b),
    "gt": lambda a, b: a.ugt(b),
    "ne": lambda a, b: a.ne(b),
    "lg": lambda a, b: a.ne(b),
    "ge": lambda a, b: a.uge(b),
}


def _write(i: Access, bit: Value, *, exec_too: bool) -> None:
    """Write the result of a compare: to the mask operand, and for v_cmpx to EXEC (on gfx10+ to EXEC alone)."""
    if not exec_too or i.generation <= Generation.GFX9:
        i.dst_mask(0, bit)
    if exec_too:
        # Lanes that a DPP form disables get 0, as in any mask.
        kept = bit if i.write_mask is None else bit & i.b.lane_bit(i.write_mask)
        i.b.write_lane_mask(EXEC_LO, kept)


def _compare(relation: Relation, type: Type, *, exec_too: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        _write(i, relation(i.src(0, type), i.src(1, type)), exec_too=exec_too)

    return run


def _constant(truth: bool, *, exec_too: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        lane = i.lane
        _write(i, lane.eq(lane) if truth else lane.ne(lane), exec_too=exec_too)

    return run


def _class(type: Type, *, exec_too: bool) -> SemanticFunction:
    def run(i: Access) -> None:
        # The class is that of the number before flushing, regardless of MODE.
        classes = i.src(1, I16).zext(I32) if type is F16 else i.src(1, I32)
        _write(i, floats.in_class(i.src(0, type, flush=False), classes), exec_too=exec_too)

    return run


def _signaling(compare: SemanticFunction) -> SemanticFunction:
    """v_cmps and v_cmpsx (GFX6, GFX7): a quiet NaN is also an invalid operation."""

    def run(i: Access) -> None:
        compare(i)
        if i.watch is not None:
            i.watch.refuse_nans()

    return run


for _prefix, _exec in (("v_cmps", False), ("v_cmpsx", True)):
    for _type in (F32, F64):
        for _stem, _relation in FLOAT_RELATIONS.items():
            semantic(f"{_prefix}_{_stem}_{_type.name}", any_rounding=True)(
                _signaling(_compare(_relation, _type, exec_too=_exec))
            )
        for _stem in ("f", "tru"):
            semantic(f"{_prefix}_{_stem}_{_type.name}", any_rounding=True)(_constant(_stem == "tru", exec_too=_exec))

for _prefix, _exec in (("v_cmp", False), ("v_cmpx", True)):
    for _type in (F16, F32, F64):
        for _stem, _relation in FLOAT_RELATIONS.items():
            semantic(f"{_prefix}_{_stem}_{_type.name}", any_rounding=True)(
                _compare(_relation, _type, exec_too=_exec)
            )
        semantic(f"{_prefix}_f_{_type.name}", any_rounding=True)(_constant(False, exec_too=_exec))
        for _true in ("tru", "t"):
            semantic(f"{_prefix}_{_true}_{_type.name}", any_rounding=True)(_constant(True, exec_too=_exec))
        semantic(f"{_prefix}_class_{_type.name}", any_rounding=True)(_class(_type, exec_too=_exec))
    for _letter, _relations in (("i", SIGNED_RELATIONS), ("u", UNSIGNED_RELATIONS)):
        for _type in (I16, I32, I64):
            for _stem, _relation in _relations.items():
                if _stem != "lg":  # the vector unit's name for it is ne
                    semantic(f"{_prefix}_{_stem}_{_letter}{_type.bits}")(
                        _compare(_relation, _type, exec_too=_exec)
                    )
            semantic(f"{_prefix}_f_{_letter}{_type.bits}")(_constant(False, exec_too=_exec))
            semantic(f"{_prefix}_t_{_letter}{_type.bits}")(_constant(True, exec_too=_exec))
