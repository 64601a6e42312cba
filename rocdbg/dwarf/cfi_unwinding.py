"""Rows of the call frame table, and what their rules mean in a context (A.6.4.1)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rocdbg.dwarf.architecture import Architecture, DefaultRule
from rocdbg.dwarf.caller_registers import default_location
from rocdbg.dwarf.cfi_rule_types import (
    CfaExpression,
    CfaRule,
    ExpressionRule,
    OffsetRule,
    RegisterRule,
    Rule,
    SameValueRule,
    UndefinedRule,
    ValOffsetRule,
)
from rocdbg.dwarf.context import Context
from rocdbg.dwarf.errors import EvaluationError, IllFormed, LimitExceeded
from rocdbg.dwarf.evaluator import based_location, evaluate_restricted
from rocdbg.dwarf.location import LocationDescription, implicit_location, undefined_location
from rocdbg.dwarf.location_operations import value_location
from rocdbg.dwarf.typed_values import ImplicitPointerValue, Value

__all__ = ["FORBIDDEN", "Row"]

FORBIDDEN = frozenset(
    {
        # The following depend on other debug sections ...
        "addrx",
        "call2",
        "call4",
        "call_ref",
        "const_type",
        "constx",
        "convert",
        "deref_type",
        "fbreg",
        "implicit_pointer",
        "aspace_implicit_pointer",
        "regval_type",
        "reinterpret",
        "xderef_type",
        "parameter_ref",
        "variable_value",
        # ... on an object, on a lane or an iteration ...
        "push_object_address",
        "push_lane",
        "push_iteration",
        # ... or on themselves.
        "call_frame_cfa",
        "entry_value",
    }
)
"""Meanings of the operations that are not allowed in call frame expressions (A.6.4.2)."""

_WHERE = "call frame information"
_MAX_CHAIN = 32

_CFA = -1
"""Represents the CFA among the register numbers of a chain of rules."""


class Row(Struct, frozen=True):
    """One row (A.6.4.1): the rules in force for program locations `start` to `end` (exclusive).

    `cfa` is the CFA's rule or None. `rules` holds the rules of registers by DWARF number; the architecture's default
    rule applies to all other registers. `return_address_register` is the column of the return address.
    """

    start: int
    end: int
    cfa: CfaRule | None
    rules: Mapping[int, Rule]
    return_address_register: int
    dialect: str = "amd"

    @property
    def is_empty(self) -> bool:
        """Whether there is no rule at all: `.cfi_startproc` and `.cfi_endproc` with nothing between them (A.6.4.1)."""
        return self.cfa is None and not self.rules

    def cfa_location(self, context: Context) -> LocationDescription:
        """The canonical frame address of the context's frame: a memory byte address location (A.6.4.2.2).

        Raises `IllFormed` if the rule gives no such location, `EvaluationError` if there is no rule or its evaluation
        fails.
        """
        return self._cfa(context, ())

    def register_location(self, number: int, context: Context) -> LocationDescription:
        """The location of the value that register `number` has in the calling frame (A.6.4.1).

        `context` is the frame this row belongs to. Raises `IllFormed` if a rule breaks the specification's conditions
        or the rules depend on each other in a circle, `EvaluationError` if it cannot be evaluated.
        """
        return self._locate(number, context, ())

    def rule(self, number: int) -> Rule | None:
        """The register's rule (A.6.4.1), or None where the architecture's default rule holds."""
        return self.rules.get(number)

    def keeps(self, number: int, architecture: Architecture) -> bool:
        """Whether the frame has not modified the register: the "same value" rule (A.6.4.1), stated or by default."""
        rule = self.rules.get(number)
        if rule is None:
            return architecture.default_rule is DefaultRule.SAME_VALUE
        return isinstance(rule, SameValueRule)

    # In the functions below, `active` holds the columns whose rules are being followed, with `_CFA` for the CFA.

    def _cfa(self, context: Context, active: tuple[int, ...]) -> LocationDescription:
        rule = self.cfa
        if rule is None:
            raise EvaluationError("there is no rule for the canonical frame address")
        if isinstance(rule, CfaExpression):
            active = self._enter(_CFA, active)
            result = self._evaluate(rule.expression, context, "location", (), active)
            assert isinstance(result, LocationDescription)
            if result.memory is None:
                raise IllFormed(f"the canonical frame address is not a memory address: {result.describe()}")
            return result
        return based_location(context, self.dialect, rule.address_space, rule.register, rule.displacement)

    def _locate(self, number: int, context: Context, active: tuple[int, ...]) -> LocationDescription:
        rule = self.rules.get(number)
        if rule is None:
            return default_location(context, number, context.architecture)
        if isinstance(rule, SameValueRule):
            return context.register_location(number)
        if isinstance(rule, UndefinedRule):
            return undefined_location()
        active = self._enter(number, active)
        if isinstance(rule, RegisterRule):
            return self._other_register(number, rule, context)
        cfa = self._cfa(context, active) if self.cfa is not None else None
        if isinstance(rule, OffsetRule):
            return self._at_cfa(cfa).offset_by(8 * rule.offset)
        if isinstance(rule, ValOffsetRule):
            return self._value_offset(number, self._at_cfa(cfa), rule.offset, context)
        initial = () if cfa is None else (cfa,)
        if isinstance(rule, ExpressionRule):
            result = self._evaluate(rule.expression, context, "location", initial, active)
            assert isinstance(result, LocationDescription)
            return result
        value = self._evaluate(rule.expression, context, "value", initial, active)
        assert isinstance(value, Value)
        return self._value(number, value, context)

    def _enter(self, column: int, active: tuple[int, ...]) -> tuple[int, ...]:
        if column in active:
            what = "the canonical frame address" if column == _CFA else f"register {column}"
            raise IllFormed(f"the rule for {what} depends on itself")
        if len(active) >= _MAX_CHAIN:
            raise LimitExceeded(f"call frame rules depend on each other more than {_MAX_CHAIN} deep")
        return (*active, column)

    def _evaluate(
        self,
        expression: bytes,
        context: Context,
        kind: str,
        initial: tuple[LocationDescription, ...],
        active: tuple[int, ...],
    ) -> Value | LocationDescription:
        return evaluate_restricted(
            expression,
            context,
            "value" if kind == "value" else "location",
            self.dialect,
            initial,
            FORBIDDEN,
            _WHERE,
            lambda number: self._locate(number, context, active),
        )

    @staticmethod
    def _at_cfa(cfa: LocationDescription | None) -> LocationDescription:
        if cfa is None:
            raise IllFormed("a register rule needs the canonical frame address, for which there is no rule")
        return cfa

    def _other_register(self, number: int, rule: RegisterRule, context: Context) -> LocationDescription:
        # The value is in register R of this frame. A circle of such rules is ill-formed.
        seen = {number}
        other: Rule | None = rule
        while isinstance(other, RegisterRule):
            if other.register in seen:
                raise IllFormed(f"the rules for registers {number} and {other.register} depend on each other")
            seen.add(other.register)
            other = self.rules.get(other.register)
        wanted, found = _register_bits(context, number), _register_bits(context, rule.register)
        if wanted != found:
            raise IllFormed(
                f"{wanted}-bit register {number} cannot be saved in {found}-bit register {rule.register}"
            )
        return context.register_location(rule.register)

    def _value_offset(
        self, number: int, cfa: LocationDescription, offset: int, context: Context
    ) -> LocationDescription:
        moved = cfa.offset_by(8 * offset)
        place = moved.memory
        space = None if place is None else context.architecture.address_space(place.address_space or 0, self.dialect)
        if place is None or space is None:
            raise IllFormed(f"the canonical frame address is not a memory address: {cfa.describe()}")
        bits = _register_bits(context, number)
        if bits != space.address_bits:
            raise IllFormed(
                f"{bits}-bit register {number} cannot hold a {space.address_bits}-bit address"
            )
        return implicit_location(place.address or 0, bits)

    def _value(self, number: int, value: Value, context: Context) -> LocationDescription:
        if isinstance(value, ImplicitPointerValue):
            raise IllFormed(f"the rule for register {number} gives an implicit pointer, which no register can hold")
        bits = _register_bits(context, number)
        size = context.architecture.address_bits if value.type is None else value.type.size
        if size != bits:
            raise IllFormed(f"the rule for register {number}, which has {bits} bits, gives a {size}-bit value")
        if value.type is None:
            assert isinstance(value.value, int)
            return implicit_location(value.value, bits)
        return value_location(value)


def _register_bits(context: Context, number: int) -> int:
    size = context.architecture.register_size(number)
    if size is not None:
        return 8 * size
    return context.register_location(number).remaining
