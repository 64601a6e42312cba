"""DWARF inspection as lines of text: expressions step by step, typed-in expressions, rows of call frame information."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from rocdbg import dwarf
from rocdbg.addresses import LoadedAddress
from rocdbg.debugger.base.errors import DebuggerError, NoSymbolError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.frames.variable_places import variable_expression
from rocdbg.debugger.reports.location_descriptions import IN_FRAME, place_words, static_words, words_by_lane
from rocdbg.debugger.reports.symbol_queries import Symbols
from rocdbg.debugger.reports.variable_coverage import CoverageRow, coverage_rows
from rocdbg.debugger.values.located_values import has_fixed_address
from rocdbg.dwarf.architecture import Architecture
from rocdbg.dwarf.cfi_rule_types import (
    CfaExpression,
    ExpressionRule,
    OffsetRule,
    RegisterRule,
    Rule,
    SameValueRule,
    UndefinedRule,
    ValOffsetRule,
)
from rocdbg.dwarf.cfi_unwinding import Row
from rocdbg.dwarf.expression_text import format_operation
from rocdbg.dwarf.info import Variable
from rocdbg.errors import Error

DIALECTS = tuple(dwarf.DIALECTS)
"""The possible encodings of the extensions."""


class DwarfInspection:
    """``maint dwarf`` and ``info address``, at the focus."""

    def __init__(self, inferior: Inferior, focus: Selection, data: Data, symbols: Symbols) -> None:
        self._inferior = inferior
        self._focus = focus
        self._data = data
        self._symbols = symbols

    def _find(self, name: str) -> Variable:
        """Return a variable of the selected scope, otherwise a global one. Raises `NoSymbolError`."""
        for variable in self._data.environment().local_variables():
            if variable.name == name:
                return variable
        program = self._inferior.need_program()
        if program.has_debug_info:
            for variable in program.info.variables_named(name):
                return variable
        raise NoSymbolError(name)

    def coverage(self, name: str) -> list[CoverageRow]:
        """``maint dwarf coverage``. Raises `NoSymbolError` if no function with code has this name."""
        return coverage_rows(self._inferior, self._data.recovery, self._focus, name)

    def explain_variable(self, name: str) -> Iterator[str]:
        """``maint dwarf explain VAR``: the expression, its steps with the stack before and after, the result."""
        variable = self._find(name)
        context = self._data.environment().context_of(variable)
        what = variable_expression(variable, context)
        if what is None:
            yield f'"{name}" has no location expression: it is {self._symbols.where(variable)}.'
            return
        yield f'DW_AT_location of "{name}" (DIE {variable.offset:#x}, dialect {variable.unit.dialect}):'
        if isinstance(what, dwarf.LocationList):
            yield from _list_lines(what, variable.unit.conventions.dialect, context)
        else:
            yield f"  {_text(what.data, what.dialect, context.load_bias)}"
        explanation = dwarf.explain(what, context, kind="location")
        yield from _step_lines(explanation)
        bits = variable.type.size * 8 if variable.type.size else None
        if explanation.error is not None:
            yield f"Error: {explanation.error}"
            return
        assert isinstance(explanation.result, dwarf.LocationDescription)
        yield f"Result: {explanation.result.describe()}"
        yield from (f"  {line}" for line in place_words(explanation.result, bits))
        scope = self._focus.current
        if scope.thread is not None:
            yield "By lane:"
            wave = self._inferior.wave(scope.thread)
            lines = words_by_lane(
                wave.used_lanes, lambda lane: self.variable_words(variable, scope.with_lane(lane))
            )
            yield from (f"  {line}" for line in lines)

    def variable_words(self, variable: Variable, scope: Focus) -> list[str]:
        """Return where a variable is in a scope, as text."""
        environment = self._data.environment(scope)
        location = environment.location_of(variable)
        if location is None:
            return [self._symbols.where(variable, environment.context_of(variable).function)]
        return place_words(location, variable.type.size * 8 if variable.type.size else None)

    def evaluate_hex(
        self, words: Sequence[str], kind: Literal["value", "location"] | None, dialect: str
    ) -> Iterator[str]:
        """``maint dwarf eval [-v|-l] [-dialect D] HEX``: evaluate an expression in the selected frame and lane.

        ``words`` are its bytes in hexadecimal, with or without blanks between them.
        """
        if dialect not in DIALECTS:
            raise DebuggerError(f"Unknown dialect {dialect}: use one of {', '.join(DIALECTS)}.")
        try:
            data = bytes.fromhex("".join(word.removeprefix("0x") for word in words))
        except ValueError:
            raise DebuggerError(f"Invalid bytes (hexadecimal digits expected): {' '.join(words)}") from None
        if not data:
            raise DebuggerError("Argument required (the bytes of a DWARF expression, in hexadecimal).")
        context = self._data.environment().context
        if context is None:
            self._inferior.need_program()
            raise DebuggerError("The program has no frame in which the expression could be evaluated.")
        yield dwarf.format_expression(data, dialect=dialect)
        # addresses that the user enters are loaded addresses
        explanation = dwarf.explain(data, context, kind=kind, dialect=dialect, load_bias=0)
        yield from _step_lines(explanation)
        if explanation.error is not None:
            raise explanation.error
        result = explanation.result
        if isinstance(result, dwarf.LocationDescription):
            yield f"Location: {result.describe()}"
        else:
            assert isinstance(result, dwarf.Value)
            yield f"Value: {_value_text(result)}"

    def describe_row(self, pc: int) -> Iterator[str]:
        """``maint dwarf cfi PC``: the row of unwind rules in force at a loaded address."""
        program = self._inferior.need_program()
        found = self._inferior.unwind_row(LoadedAddress(pc), self._focus.current)
        if found is None:
            yield f"No call frame information for {pc:#x}."
            return
        row = found.row
        symbol = program.symbolize(pc, data=False)
        yield f"Rules at {pc:#x}{f' <{symbol}>' if symbol else ''}, from {found.source}:"
        if not isinstance(row, Row):
            return
        architecture = program.architecture
        yield f"  range: [{row.start + program.base:#x}, {row.end + program.base:#x})"
        yield f"  CFA: {_cfa_text(row, architecture, program.base)}"
        yield f"  return address: {architecture.register_name(row.return_address_register)}"
        for number, rule in sorted(row.rules.items()):
            yield f"  {architecture.register_name(number)}: {_rule_text(rule, row, architecture, program.base)}"

    def _is_in_frame(self, variable: Variable) -> bool:
        """Whether a variable is at the same place in the frames of all lanes. If so, this place is described, as
        `info scope` describes it.
        """
        frame, program = self._data.environment().frame, self._inferior.program
        if frame is None or program is None:
            return False
        words = static_words(program, variable, frame.context.function)
        return words is not None and words.startswith(IN_FRAME)

    def describe_variable(self, name: str) -> list[str] | None:
        """Return the lines of ``info address NAME`` for a variable of the selected frame; ``None`` for other names."""
        if self._inferior.target is None or self._focus.current.thread is None:
            return None
        variable = next((v for v in self._data.environment().local_variables() if v.name == name), None)
        if variable is None or has_fixed_address(variable) or self._is_in_frame(variable):
            return None
        try:
            if self._data.environment().location_of(variable) is None:
                return None
            first, *rest = self.variable_words(variable, self._focus.current)
        except Error as error:
            return [f'Symbol "{name}" is a variable whose location is not known: {error}']
        if not rest:
            return [f'Symbol "{name}" is {first}.']
        return [f'Symbol "{name}" is {first}', *rest]


def _list_lines(entries: dwarf.LocationList, dialect: str, context: FrameContext) -> Iterator[str]:
    pc, load_bias = context.pc, context.load_bias
    for low, high, data in entries:
        text = _text(data, dialect, load_bias)
        if low is None or high is None:
            yield f"    default: {text}"
        else:
            low, high = low + load_bias, high + load_bias
            here = "=>" if pc is not None and low <= pc < high else "  "
            yield f" {here} [{low:#x}, {high:#x}): {text}"


def _text(data: bytes, dialect: str, load_bias: int) -> str:
    return dwarf.format_expression(data, dialect=dialect, load_bias=load_bias) or "<empty>"


def _step_lines(explanation: dwarf.Explanation) -> Iterator[str]:
    for step in explanation.steps:
        indent = "  " * (step.level + 1)
        operation = step.operation
        yield f"{indent}{operation.offset:04x}: {format_operation(operation, load_bias=step.load_bias)}"
        yield f"{indent}      before: {_stack(step.before)}"
        yield f"{indent}      after:  {_stack(step.after) if step.after is not None else '<failed>'}"


def _stack(entries: tuple[str, ...]) -> str:
    return " | ".join(entries) if entries else "<empty>"


DIALECTS = tuple(dwarf.DIALECTS)
"""The possible encodings of the extensions."""
def _value_text(value: dwarf.Value) -> str:
    name = value.type.name if value.type is not None else "generic"
    number = f"{value.value} ({value.value:#x})" if isinstance(value.value, int) else str(value.value)
    return f"({name}) {number}"


def _cfa_text(row: Row, architecture: Architecture, load_bias: int) -> str:
    rule = row.cfa
    if rule is None:
        return "none"
    if isinstance(rule, CfaExpression):
        return f"expression({_text(rule.expression, row.dialect, load_bias)})"
    space = "" if rule.address_space is None else f" in address space {_space(rule.address_space, architecture)}"
    return f"{architecture.register_name(rule.register)}{rule.displacement:+d}{space}"


def _space(number: int, architecture: Architecture) -> str:
    space = architecture.address_space(number, "amd")
    return space.name if space is not None else str(number)


def _rule_text(rule: Rule, row: Row, architecture: Architecture, load_bias: int) -> str:
    if isinstance(rule, UndefinedRule):
        return "undefined"
    if isinstance(rule, SameValueRule):
        return "same value"
    if isinstance(rule, OffsetRule):
        return f"[CFA{rule.offset:+d}]"
    if isinstance(rule, ValOffsetRule):
        return f"CFA{rule.offset:+d}"
    if isinstance(rule, RegisterRule):
        return f"in {architecture.register_name(rule.register)}"
    kind = "expression" if isinstance(rule, ExpressionRule) else "val_expression"
    return f"{kind}({_text(rule.expression, row.dialect, load_bias)})"
