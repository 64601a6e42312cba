"""Compares and bit tests of the scalar unit, which write SCC only."""

from __future__ import annotations

from rocdbg.sim.core.builder import F16, F32, I32, I64, Type
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.registry import SemanticFunction, semantic
from rocdbg.sim.semantics.valu_compare import FLOAT_RELATIONS, SIGNED_RELATIONS, UNSIGNED_RELATIONS, Relation


def _compare(relation: Relation, type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        i.set_scc(relation(i.src(0, type), i.src(1, type)))

    return run


def _compare_constant(relation: Relation, *, signed: bool) -> SemanticFunction:
    """SOPK: the register is the destination field; the constant is extended according to the compare."""

    def run(i: Access) -> None:
        constant = i.simm16 if signed else i.imm() & 0xFFFF
        i.set_scc(relation(i.old(0), i.const(constant)))

    return run


for _letter, _relations in (("i", SIGNED_RELATIONS), ("u", UNSIGNED_RELATIONS)):
    for _stem, _relation in _relations.items():
        if _stem == "ne":  # the scalar unit's name for it is lg
            continue
        semantic(f"s_cmp_{_stem}_{_letter}32")(_compare(_relation, I32))
        semantic(f"s_cmpk_{_stem}_{_letter}32")(_compare_constant(_relation, signed=_letter == "i"))
semantic("s_cmp_eq_u64")(_compare(UNSIGNED_RELATIONS["eq"], I64))
semantic("s_cmp_lg_u64")(_compare(UNSIGNED_RELATIONS["lg"], I64))

for _type in (F16, F32):
    for _stem, _relation in FLOAT_RELATIONS.items():
        semantic(f"s_cmp_{_stem}_{_type.name}", any_rounding=True)(_compare(_relation, _type))


def _test_bit(type: Type, *, wanted: int) -> SemanticFunction:
    def run(i: Access) -> None:
        count = (i.src(1) & (type.bits - 1)).zext(type)
        i.set_scc((i.src(0, type).lshr(count) & 1).eq(wanted))

    return run


for _type in (I32, I64):
    semantic(f"s_bitcmp0_b{_type.bits}")(_test_bit(_type, wanted=0))
    semantic(f"s_bitcmp1_b{_type.bits}")(_test_bit(_type, wanted=1))
