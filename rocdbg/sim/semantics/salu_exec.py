"""The scalar unit's operations on EXEC: s_*_saveexec and s_*_wrexec."""

from __future__ import annotations

from rocdbg.sim.core.builder import I32, I64, Type
from rocdbg.sim.core.layout import EXEC_LO
from rocdbg.sim.semantics.access import Access
from rocdbg.sim.semantics.integers import LOGIC, Two
from rocdbg.sim.semantics.registry import SemanticFunction, semantic

_WREXEC = ("andn1", "andn2", "and_not0", "and_not1")


def _combine(combine: Two, type: Type, *, save: bool) -> SemanticFunction:
    """Compute the new EXEC; the destination gets the old EXEC (saveexec) or the new one (wrexec).

    SCC becomes whether the new EXEC is not 0.
    """

    def run(i: Access) -> None:
        old = i.b.read_sgpr(EXEC_LO, type.bits // 32)
        new = combine(i.src(0, type), old)
        i.dst(0, old if save else new)
        i.b.write_sgpr(EXEC_LO, new)
        i.set_scc(new.ne(0))

    return run


for _type in (I32, I64):
    for _name, _function in LOGIC.items():
        semantic(f"s_{_name}_saveexec_b{_type.bits}")(_combine(_function, _type, save=True))
        if _name in _WREXEC:
            semantic(f"s_{_name}_wrexec_b{_type.bits}")(_combine(_function, _type, save=False))
