"""Moves between scalar registers that M0 selects. See `valu_movrel` for the selection."""

from __future__ import annotations

from rocdbg.isa.instruction import Operand, OperandKind
from rocdbg.sim.core.builder import Type, Value
from rocdbg.sim.core.layout import VCC_LO
from rocdbg.sim.semantics.access import I32, I64, Access, Unsupported
from rocdbg.sim.semantics.registry import SemanticFunction, semantic

_COUNT = VCC_LO
"""s0 .. s105 can be reached."""


def _base(i: Access, operand: Operand) -> int:
    if operand.kind is not OperandKind.SGPR:
        raise Unsupported(f"{i.insn.text}: only s0 to s105 are chosen by M0")
    return operand.index


def _read(i: Access, base: int, offset: Value, type: Type) -> Value:
    dwords = type.bits // 32
    result = i.b.read_sgpr(0, dwords)
    for number in range(base, _COUNT - dwords + 1, dwords):
        result = offset.eq(number - base).select(i.b.read_sgpr(number, dwords), result)
    return result


def _write(i: Access, base: int, offset: Value, value: Value) -> None:
    dwords = value.type.bits // 32
    for number in range(base, _COUNT - dwords + 1, dwords):
        i.b.write_sgpr(number, offset.eq(number - base).select(value, i.b.read_sgpr(number, dwords)))


def _relative_source(type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        i.dst(0, _read(i, _base(i, i.sources[0]), i.m0, type))

    return run


def _relative_destination(type: Type) -> SemanticFunction:
    def run(i: Access) -> None:
        _write(i, _base(i, i.destinations[0]), i.m0, i.src(0, type))

    return run


for _type in (I32, I64):
    semantic(f"s_movrels_b{_type.bits}")(_relative_source(_type))
    semantic(f"s_movreld_b{_type.bits}")(_relative_destination(_type))


@semantic("s_movrelsd_2_b32")
def _(i: Access) -> None:
    value = _read(i, _base(i, i.sources[0]), i.m0 & 0x3FF, I32)
    _write(i, _base(i, i.destinations[0]), i.m0.lshr(16) & 0x3FF, value)
