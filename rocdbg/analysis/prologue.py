"""Unwinding without call frame information: rows of rules derived from the machine code of a function.

Upstream clang does not emit rules for AMDGPU. Its prologues save the return address and callee-saved scalar registers
in lanes of a vector register, that register with all its lanes on the stack, and the frame pointer wherever there is
room. Data flow follows these saves (``saved_registers``); this module states them as the call frame rows that a
compiler could have written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

from rocdbg.analysis.control_flow import FunctionCode
from rocdbg.analysis.machine_state import (
    AGPR,
    EXEC_LO,
    STACK_POINTER,
    VCC_LO,
    Lanes,
    Saved,
    StackAddress,
    State,
    Vector,
)
from rocdbg.analysis.register_effects import BY_CONVENTION, Clobbers, preserves_scalar, preserves_vector
from rocdbg.analysis.saved_registers import Analysis, Functions
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.dwarf_registers import PC, exec_number, register_number, sgpr_number, vgpr_number
from rocdbg.arch.targets import ScratchKind, Target
from rocdbg.dwarf.cfi_rule_types import (
    CfaExpression,
    CfaRegister,
    CfaRule,
    ExpressionRule,
    RegisterRule,
    Rule,
    UndefinedRule,
)
from rocdbg.dwarf.cfi_unwinding import Row
from rocdbg.dwarf.operation_assembler import Item, assemble

__all__ = ["PrologueRows"]

_DIALECT: Final = "amd"
_SGPRS: Final = 106

Place = tuple[Item, ...]
"""Operations that give the location of a dword; the CFA is on the stack before them and remains there."""


class PrologueRows:
    """Call frame rows for the functions of one object, computed on demand and cached by function.

    ``find(pc)`` returns the function at an address, None if there is none; ``read(address, size)`` returns bytes of
    code. ``wave_size`` is the wave size of the code. All addresses are either the file's or loaded ones; in either
    case, calls can be followed only in position-independent code, such as clang's. ``entered(pc)`` returns operations
    that push the mask of the lanes active at entry; it is used where EXEC is not known to be saved as a whole.
    ``pointer(address)`` reads an address from memory that is never written.
    """

    def __init__(
        self, target: Target, wave_size: int, find: Callable[[int], FunctionCode | None],
        read: Callable[[int, int], bytes], entered: Callable[[int], tuple[Item, ...] | None] = lambda pc: None,
        pointer: Callable[[int], int | None] = lambda address: None,
    ) -> None:
        self._wave_size = wave_size
        self._entered = entered
        # With a buffer descriptor, stack pointers count bytes of the whole wave; otherwise, bytes of one lane.
        self._unswizzled = target.scratch is ScratchKind.BUFFER
        self._functions = Functions(find, read, target.name, wave_size, self._unswizzled, pointer)

    def row(self, pc: int) -> Row | None:
        """The rules at ``pc``; None outside functions, and where the code cannot be followed.

        For the frame of a caller, ``pc`` is inside the call instruction, after its first byte. A kernel's row
        leaves the return address undefined: it is the outermost frame.
        """
        function = self._functions.find(pc)
        if function is not None and function.is_kernel:  # avoids analysing it and all that it calls
            return self._kernel_row(function)
        analysis = self._functions.at(pc)
        if analysis is None:
            return None
        found = analysis.before(pc)
        if found is None:
            return None
        state, instruction = found
        return Row(
            instruction.address, instruction.address + instruction.size, self._cfa(state),
            self._rules(state, pc, analysis.function, pc != instruction.address), PC, _DIALECT,
        )

    def analysis(self, pc: int) -> Analysis | None:
        """The flow analysis of the function at an address; None outside functions."""
        return self._functions.at(pc)

    def clobbers(self, call: int, target: int | None) -> Clobbers:
        """What the call at an address may change; ``target`` is the called function, if known."""
        if target is None:
            analysis = self._functions.at(call)
            target = None if analysis is None else analysis.call_target(call)
        return BY_CONVENTION if target is None else self._functions.clobbers(target)

    def _kernel_row(self, function: FunctionCode) -> Row:
        cfa = _assemble(("lit0",), (f"lit{int(AddressSpace.PRIVATE_WAVE)}",), ("form_aspace_address",))
        return Row(
            function.start, function.end, CfaExpression(cfa), {PC: UndefinedRule()}, PC,
            _DIALECT,
        )

    # The CFA is the address that the stack pointer had at entry, in the unswizzled private memory of the wave.

    def _stack_register(self, state: State) -> tuple[int, int] | None:
        """A register with an address on the stack, and its distance from the CFA in stack pointer units."""
        for register in (STACK_POINTER + 1, STACK_POINTER, *sorted(state.scalars)):
            value = state.scalar(register)
            if isinstance(value, StackAddress) and register < _SGPRS:
                return register, value.offset
        return None

    def _cfa(self, state: State) -> CfaRule | None:
        found = self._stack_register(state)
        if found is None:
            return None
        register, distance = found
        if self._unswizzled:
            return CfaRegister(sgpr_number(register), -distance, int(AddressSpace.PRIVATE_WAVE))
        return CfaExpression(_assemble(
            *_address_in(register, distance), (f"lit{self._wave_size.bit_length() - 1}",), ("shl",),
            (f"lit{int(AddressSpace.PRIVATE_WAVE)}",), ("form_aspace_address",),
        ))

    def _rules(self, state: State, pc: int, function: FunctionCode, in_call: bool) -> dict[int, Rule]:
        places = _Places(
            state, self._wave_size, lambda: self._entered(pc), in_call,
            has_cfa=self._stack_register(state) is not None,
        )
        rules: dict[int, Rule] = {}
        for register in state.scalars:
            if register >= _SGPRS:
                continue
            number = sgpr_number(register)
            if register == STACK_POINTER:
                rules[number] = self._stack_pointer_rule(state)
            else:
                rules[number] = places.scalar_rule(register)
        for register in state.vectors:
            rule = places.vector_rule(register)
            if rule is not None:
                rules[_vector_number(register, self._wave_size)] = rule
        exec_rule = places.exec_rule
        if exec_rule is not None:
            rules[exec_number(self._wave_size)] = exec_rule
        halves = 1 if self._wave_size == 32 else 2
        if any(VCC_LO + half in state.scalars for half in range(halves)):
            rules[register_number("vcc", self._wave_size)] = UndefinedRule()
        rules[PC] = places.composite((function.link, function.link + 1)) or UndefinedRule()
        return rules

    def _stack_pointer_rule(self, state: State) -> Rule:
        for register in (STACK_POINTER + 1, *sorted(state.scalars)):
            if register < _SGPRS and state.scalar(register) == StackAddress(0):
                return RegisterRule(sgpr_number(register))
        found = self._stack_register(state)
        if found is None:
            return UndefinedRule()
        return ExpressionRule(_assemble(*_address_in(*found), ("stack_value",)))


class _Places:
    """Knows the current places of the contents that registers had at entry."""

    def __init__(
        self, state: State, wave_size: int, entered: Callable[[], tuple[Item, ...] | None], in_call: bool, *,
        has_cfa: bool,
    ) -> None:
        self._state = state
        self._entered = entered
        self._in_call = in_call
        self._wave_size = wave_size
        self._slots = state.slots if has_cfa else {}
        self._scalars: dict[int, Place] = {}
        # Of several places, prefer the one that calls are least likely to change: first lanes, then the stack, then
        # preserved registers.
        for register, value in sorted(state.scalars.items(), key=lambda item: preserves_scalar(item[0])):
            if isinstance(value, Saved) and register < _SGPRS:
                self._scalars[value.register] = (("regx", sgpr_number(register)),)
        for offset, slot in self._slots.items():
            for lane, value in slot.lanes:
                if isinstance(value, Saved):
                    at = offset * wave_size + 4 * lane
                    self._scalars[value.register] = (("dup",), *_moved(at))
        for register, vector in state.vectors.items():
            for lane, value in vector.lanes:
                if isinstance(value, Saved):
                    whole = ("regx", _vector_number(register, wave_size))
                    self._scalars[value.register] = (whole, ("offset_uconst", 4 * lane))
        self._vectors = self._vector_places()

    def _vector_places(self) -> tuple[dict[int, Place], dict[int, Place]]:
        """Places of the active and of the inactive parts of vector registers."""
        parts: tuple[dict[int, Place], dict[int, Place]] = ({}, {})
        contents: list[tuple[Place, Vector]] = [
            ((("dup",), *_moved(offset * self._wave_size)), slot) for offset, slot in self._slots.items()
        ]
        contents += [
            ((("regx", _vector_number(register, self._wave_size)),), vector)
            for register, vector in sorted(
                self._state.vectors.items(), key=lambda item: not preserves_vector(item[0])
            )
        ]
        for place, vector in contents:
            for table, part in zip(parts, (vector.active, vector.inactive), strict=True):
                if part is not None:
                    table.setdefault(part, place)
        return parts

    def scalar(self, register: int) -> Place | None:
        """Where the entry contents of a scalar register are.

        A copy is preferred to the register itself, because a call leaves its own return address in that register.
        """
        place = self._scalars.get(register)
        if place is not None or register >= _SGPRS or self._state.scalar(register) != Saved(register):
            return place
        return (("regx", sgpr_number(register)),)

    def scalar_rule(self, register: int) -> Rule:
        """The rule of a scalar register that has been written."""
        place = self.scalar(register)
        if place is None:
            return UndefinedRule()
        if len(place) == 1:
            return RegisterRule(int(place[0][1]))
        return ExpressionRule(_assemble(*place))

    def composite(self, registers: tuple[int, ...]) -> ExpressionRule | None:
        """The rule for a register made of several scalar registers, which gives their locations one after the other;
        None when one of them is lost.
        """
        items: list[Item] = []
        for register in registers:
            place = self.scalar(register)
            if place is None:
                return None
            items += (*place, ("piece", 4))
        return ExpressionRule(_assemble(*items))

    @cached_property
    def exec_rule(self) -> Rule | None:
        """The rule of EXEC; None while it is unchanged since entry."""
        halves = self._exec_halves()
        if all(self._state.scalar(register) == Saved(register) for register in halves):
            return None
        found = self.composite(halves)
        if found is not None and not self._may_be_lost(halves):
            return found
        mask = self._entered()
        if mask is not None:
            return ExpressionRule(_assemble(*mask, ("stack_value",)))
        return found or UndefinedRule()

    def _may_be_lost(self, registers: tuple[int, ...]) -> bool:
        """Whether the function that is being called may have overwritten the place that holds the contents at entry."""
        places = [self.scalar(register) for register in registers]
        return self._in_call and any(
            place is not None and len(place) == 1 and place[0][0] == "regx"
            and not preserves_scalar(int(place[0][1]) - sgpr_number(0)) for place in places
        )

    def _exec_halves(self) -> tuple[int, ...]:
        return (EXEC_LO,) if self._wave_size == 32 else (EXEC_LO, EXEC_LO + 1)

    def _entry_mask(self) -> Place | None:
        """Operations that push the mask of the lanes active at entry. This mask is the value that the rule of EXEC
        finds.
        """
        rule = self.exec_rule
        if rule is None:
            return self._current_mask()
        if isinstance(rule, UndefinedRule):
            return None
        return (("call_frame_entry_reg", exec_number(self._wave_size)), ("deref_size", self._wave_size // 8))

    def _current_mask(self) -> Place:
        return (("regx", exec_number(self._wave_size)), ("deref_size", self._wave_size // 8))

    def vector_rule(self, register: int) -> Rule | None:
        """The rule of a vector register that has been written; None if it has been restored.

        If the mask that separates the active and inactive parts is lost, only the lanes that are active now are known
        to belong to the active part.
        """
        own: Place = (("regx", _vector_number(register, self._wave_size)),)
        vector = self._state.vector(register)
        active = own if vector.active == register else self._vectors[0].get(register)
        inactive = own if vector.inactive == register else self._vectors[1].get(register)
        if active is None and inactive is None:
            return UndefinedRule()
        if active == inactive:
            return self._whole(active, own)
        undefined: Place = (("undefined",),)
        mask = self._entry_mask()
        if mask is None:
            if self._state.lanes(self._wave_size) not in (Lanes.ENTRY, Lanes.SUBSET):
                return UndefinedRule()
            mask = self._current_mask()
            inactive = None
        zero = inactive or undefined
        one = active or undefined
        if one[0] == ("dup",):
            one = (("over",), *one[1:])  # the location for zero bits is on top of the CFA
        return ExpressionRule(_assemble(*zero, *one, *mask, ("select_bit_piece", 32, self._wave_size)))

    def _whole(self, place: Place | None, own: Place) -> Rule | None:
        if place is None:
            return UndefinedRule()
        if place == own:
            return None
        if len(place) == 1:
            return RegisterRule(int(place[0][1]))
        return ExpressionRule(_assemble(*place))


def _address_in(register: int, distance: int) -> Place:
    """Operations that push the contents of a scalar register minus a distance. (DW_OP_bregx cannot be used: it requires
    a register as wide as an address.)
    """
    return (("regx", sgpr_number(register)), ("deref_size", 4), ("consts", -distance), ("plus",))


def _moved(offset: int) -> Place:
    """Operations that move the CFA, which is on top of the stack, by ``offset`` bytes."""
    if offset >= 0:
        return (("offset_uconst", offset),)
    return (("consts", offset), ("offset",))


def _vector_number(register: int, wave_size: int) -> int:
    if register >= AGPR:
        return register_number(f"a{register - AGPR}", wave_size)
    return vgpr_number(register, wave_size)


def _assemble(*items: Item) -> bytes:
    return assemble(*items, dialect=_DIALECT)
