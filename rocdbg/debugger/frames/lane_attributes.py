"""What debug information says of the lanes of a function: DW_AT_LLVM_lanes, lane_pc, active_lane, iterations.

The attributes sit on subprograms and on inlined calls. Which one a code means follows from the tag it is on and the
class of its form, whatever the unit calls itself: debug information with extensions but without an augmentation
string is read too.
"""

from __future__ import annotations

from rocdbg.dwarf.info import Constant, Exprloc, Function, Loclist
from rocdbg.dwarf.info import Scope as CodeScope
from rocdbg.dwarf.info.constants import At

LANES = (At.LLVM22_LANES, At.LLVM_LANES)
LANE_PC = (At.LLVM_LANE_PC, At.LLVM22_LANE_PC)
ACTIVE_LANE = (At.LLVM_ACTIVE_LANE,)
ITERATIONS = (At.LLVM_LANES,)
"""The document gives iterations the code of lanes: a constant is a number of lanes, an expression one of iterations."""


def lane_count(entry: CodeScope) -> int | None:
    """DW_AT_LLVM_lanes of an entry, ``None`` without it."""
    for code in LANES:
        value = _of(entry, code)
        if isinstance(value, Constant) and value.value > 0:
            return value.value
    return None


def expression_of(entry: CodeScope, codes: tuple[int, ...]) -> Exprloc | Loclist | None:
    """The first of the codes that an entry has as an expression or a location list."""
    for code in codes:
        value = _of(entry, code)
        if isinstance(value, Exprloc | Loclist):
            return value
    return None


def _of(entry: CodeScope, code: int) -> object:
    # an inlined call's abstract origin is a description of the function on its own, not of this code
    return entry.attribute(code) if isinstance(entry, Function) else entry.die.attribute(code)
