"""The one table of the operations of LLVM debug information expressions.

In the specification, the definition of an operation begins with a signature in the syntax of figure 1. Each row is such
a signature: parameters with their kinds, the stack entries that are popped (the top one first), and the entries that
are pushed. Reader, printer, checker, evaluator and lowering all dispatch on `OPERATIONS`.

The rows marked `today` are for operations that AMD's compilers write, but that are not in the specification.
"""

from __future__ import annotations

import re
from functools import cached_property

from msgspec import Struct

__all__ = ["OPERATIONS", "SPELLINGS", "OperationInfo", "Parameter"]


class Parameter(Struct, frozen=True):
    """A parameter: `kind` is "type", "unsigned", "literal" or "addrspace" (figure 1)."""

    name: str
    kind: str


class OperationInfo(Struct, frozen=True, dict=True):
    """One row."""

    specification: str
    effect: str
    """A short description of the result."""
    today: bool = False

    @cached_property
    def name(self) -> str:
        """`DIOpAdd`."""
        return self.specification.partition("(")[0]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in order."""
        inside = self.specification[self.specification.index("(") + 1 : self.specification.index(")")]
        return tuple(Parameter(*part.split(":")) for part in re.findall(r"[\w']+:\w+", inside))

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The types of the popped entries, as named in the specification, the top entry first."""
        inside = self.specification[self.specification.index("{") + 1 : -1]
        return tuple(re.findall(r"\([\w']+:((?:[^()]|\(\w+\))*)\)", inside.split("->")[0]))

    @property
    def takes_count(self) -> bool:
        """Whether the first parameter gives the number of popped entries."""
        return self.name == "DIOpComposite"


_ROWS: tuple[tuple[str, str], ...] = (
    ("DIOpReferrer(T:type) { -> (L:T) }", "the referrer of the bounded lifetime segment"),
    ("DIOpArg(N:unsigned, T:type) { -> (L:T) }", "the Nth of argObjects"),
    ("DIOpTypeObject(T:type) { -> (L:T) }", "the object whose type property is evaluated"),
    ("DIOpConstant(T:type V:literal) { -> (L:T) }", "the implicit value V; undef: nowhere"),
    ("DIOpConvert(T':type) { (L:T) -> (L':T') }", "the value, converted"),
    ("DIOpReinterpret(T':type) { (L:T) -> (L:T') }", "the same location with another type"),
    ("DIOpBitOffset(T':type) { (B:I) (L:T) -> (L':T') }", "L, B bits further"),
    ("DIOpByteOffset(T':type) { (B:I) (L:T) -> (L':T') }", "L, B bytes further"),
    ("DIOpComposite(N:unsigned, T:type) { (L1:T1) -> (L:T) }", "N locations in a row, the top one last"),
    ("DIOpExtend(N:unsigned) { (L:T) -> (L':<N x T>) }", "N times L in a row"),
    (
        "DIOpSelect() { (LM:TM) (L1:<N x T>) (L0:<N x T>) -> (L:<N x T>) }",
        "element I of L1 where bit I of LM is set, else of L0",
    ),
    ("DIOpAddrOf(N:addrspace) { (L:T) -> (L':ptr addrspace(N)) }", "an implicit address of L"),
    ("DIOpDeref(T:type) { (L:ptr addrspace(N)) -> (L':T) }", "what the pointer points to"),
    ("DIOpRead() { (L:T) -> (L':T) }", "the value, which cannot be written"),
    ("DIOpAdd() { (L1:T) (L2:T) -> (L:T) }", "the value L1 + L2"),
    ("DIOpSub() { (L1:T) (L2:T) -> (L:T) }", "the value L2 - L1"),
    ("DIOpMul() { (L1:T) (L2:T) -> (L:T) }", "the value L2 * L1"),
    ("DIOpDiv() { (L1:T) (L2:T) -> (L:T) }", "the value L2 / L1"),
    ("DIOpShr() { (L1:T) (L2:T) -> (L:T) }", "the value L2 >> L1, filled with the sign of L2"),
    ("DIOpShl() { (L1:T) (L2:T) -> (L:T) }", "the value L2 << L1"),
    ("DIOpPushLane(T:type) { -> (L:T) }", "the lane's number"),
)
_TODAY: tuple[tuple[str, str], ...] = (
    ("DIOpSExt(T':type) { (L:T) -> (L':T') }", "the value, filled up with its sign"),
    ("DIOpZExt(T':type) { (L:T) -> (L':T') }", "the value, filled up with zeros"),
    ("DIOpAShr() { (L1:T) (L2:T) -> (L:T) }", "the value L2 >> L1, filled with the sign of L2"),
    ("DIOpLShr() { (L1:T) (L2:T) -> (L:T) }", "the value L2 >> L1, filled with zeros"),
    ("DIOpMod() { (L1:T) (L2:T) -> (L:T) }", "the value L2 modulo L1"),
    ("DIOpAnd() { (L1:T) (L2:T) -> (L:T) }", "the value L2 & L1"),
    ("DIOpOr() { (L1:T) (L2:T) -> (L:T) }", "the value L2 | L1"),
    ("DIOpXor() { (L1:T) (L2:T) -> (L:T) }", "the value L2 ^ L1"),
    ("DIOpFragment(O:unsigned, S:unsigned) { -> }", "says that S bits from bit O of the variable are meant"),
)

OPERATIONS: dict[str, OperationInfo] = {
    info.name: info
    for info in (
        *(OperationInfo(*row) for row in _ROWS),
        *(OperationInfo(*row, today=True) for row in _TODAY),
    )
}
"""Every operation by name, in the order of the specification."""

SPELLINGS = {"DIDeref": "DIOpDeref"}
"""Names that occur in the specification's listings, and the names that its definitions use for them."""
