"""Watched registers: native checks where they may have been written, instead of single-stepping.

The register bytes that an expression's evaluation has read are compared after each instruction that names one of the
registers, and where a variable's place changes. If the bytes differ, the wave stops and the expression is evaluated
again: only that evaluation decides whether the value has changed, and what is read from then on.
"""

from __future__ import annotations

from functools import reduce

from rocdbg.arch.dwarf_registers import RegisterClass, dwarf_register
from rocdbg.debugger.breakpoints.watchpoints import RegisterDword, Watchpoint
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.register_uses import Named, RegisterUses
from rocdbg.isa.instruction import OperandKind
from rocdbg.sim.core.builder import I64, Op
from rocdbg.sim.core.checks import Check, Condition, Counter
from rocdbg.sim.core.lane_expressions import Cell, Node, Scalar, Vector, apply, constant, unsigned
from rocdbg.sim.core.layout import EXEC_LO, MAX_CHECK_ENTRIES, VCC_LO

_MOST_DWORDS = 512
"""The largest number of register dwords in one watched expression; more are not worth checking."""
_MOST_KNOWN = 1_000
_FIRST = constant(1)
_KINDS = {
    RegisterClass.SGPR: OperandKind.SGPR, RegisterClass.VGPR: OperandKind.VGPR, RegisterClass.AGPR: OperandKind.AGPR,
}
_CODES = {RegisterClass.VCC: VCC_LO, RegisterClass.EXEC: EXEC_LO}


class RegisterWatches:
    """Creates the checks of watchpoints on registers; knows where the code of an inferior's programs uses registers."""

    def __init__(self, inferior: Inferior) -> None:
        self._inferior = inferior
        self._uses: dict[Program, tuple[int, RegisterUses]] = {}
        self._differing: dict[tuple[RegisterDword, ...], Node] = {}
        self._after: dict[tuple[frozenset[int], tuple[tuple[Program, int], ...]], set[int] | None] = {}

    def checks(self, watchpoints: list[Watchpoint]) -> dict[int, Check] | None:
        """Return, by loaded address, the check of the registers that watchpoints have read; None if the wave has to be
        single-stepped.
        """
        at: dict[int, list[Condition]] = {}
        for one in watchpoints:
            if one.bounds is None or one.inlined or len(one.registers) > _MOST_DWORDS:
                return None
            if one.in_registers and not one.registers:
                return None
            places = self._places(one)
            if places is None or len(places) + len(one.bounds) > MAX_CHECK_ENTRIES // 4:
                return None
            if one.registers:
                differs = Condition(
                    _FIRST, self._differs(one), Counter(), tuple(one.registers.values()), wave=one.wave
                )
                for place in places - one.bounds:
                    at.setdefault(place, []).append(differs)
            arrives = Condition(_FIRST, None, Counter(), wave=one.wave)
            for place in one.bounds:
                at.setdefault(place, []).append(arrives)
        shared: dict[tuple[int, ...], Check] = {}
        return {
            place: shared.setdefault(tuple(map(id, conditions)), Check(tuple(conditions)))
            for place, conditions in at.items()
        }

    def _differs(self, watchpoint: Watchpoint) -> Node:
        """Return the routine of `_differs` for a watchpoint, as the same object each time: the target caches routines
        by identity.
        """
        key = tuple(watchpoint.registers)
        found = self._differing.get(key)
        if found is None:
            if len(self._differing) > _MOST_KNOWN:
                self._differing.clear()
            found = self._differing[key] = _differs(key)
        return found

    def _places(self, watchpoint: Watchpoint) -> set[int] | None:
        """Return the addresses after instructions that may write the watchpoint's registers; None if they are not
        known.
        """
        key = (
            frozenset(number for number, _ in watchpoint.registers),
            tuple((program, program.text_range()[0]) for program in self._inferior.programs),
        )
        if key not in self._after:
            if len(self._after) > _MOST_KNOWN:
                self._after.clear()
            self._after[key] = self._places_of(watchpoint)
        return self._after[key]

    def _places_of(self, watchpoint: Watchpoint) -> set[int] | None:
        classes = {dwarf_register(number).register_class for number, _ in watchpoint.registers}
        if not classes:
            return set()
        if not classes <= _KINDS.keys() | _CODES.keys():
            return None
        named: set[Named] = set()
        for number, _ in watchpoint.registers:
            register = dwarf_register(number)
            if register.register_class in _KINDS:
                named.add((_KINDS[register.register_class], register.index))
        places: set[int] = set()
        for program in self._inferior.programs:
            uses = self._uses_of(program)
            places |= uses.every if classes & _CODES.keys() else uses.after(named)
        return places

    def _uses_of(self, program: Program) -> RegisterUses:
        start = program.text_range()[0]
        known = self._uses.get(program)
        if known is None or known[0] != start:
            known = self._uses[program] = start, RegisterUses.of(program)
        return known[1]


def _differs(registers: tuple[RegisterDword, ...]) -> Node:
    """Return whether any of the registers differs from its value in the cells."""
    nodes = [apply(Op.NE, unsigned(_dword(dword), I64), Cell(index)) for index, dword in enumerate(registers)]
    while len(nodes) > 1:  # combine in pairs, to limit the depth
        nodes = [reduce(lambda a, b: apply(Op.OR, a, b), nodes[n : n + 2]) for n in range(0, len(nodes), 2)]
    return nodes[0]


def _dword(dword: RegisterDword) -> Node:
    number, index = dword
    register = dwarf_register(number)
    if register.is_vector:
        return Vector(register.index, register.register_class is RegisterClass.AGPR, constant(index))
    return Scalar(_CODES.get(register.register_class, register.index) + index)


__all__ = ["RegisterWatches"]
