"""The session's values: variables, registers, expressions, their types and text, memory examined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rocdbg.debugger.expr.evaluator import Evaluator, evaluate, evaluate_type
from rocdbg.debugger.expr.program_environment import ProgramEnvironment
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.kernel_arguments import entry_value, is_absent
from rocdbg.debugger.plugins import PluginHost
from rocdbg.debugger.reports import tables
from rocdbg.debugger.reports.examine import ExamineLine, effective, examine
from rocdbg.debugger.reports.offsets import offset_lines
from rocdbg.debugger.reports.rows import RegisterRow, ScopeVariables
from rocdbg.debugger.reports.symbols import Symbols
from rocdbg.debugger.session_focus import SessionFocus
from rocdbg.debugger.settings import PrintSettings
from rocdbg.debugger.values import ctypes
from rocdbg.debugger.values.formatting import PLAIN, Format, Formatter
from rocdbg.debugger.values.storage import FaultyStorage, MemoryStorage
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import Type, Variable
from rocdbg.dwarf.info.types import ClassType, TypedefType
from rocdbg.errors import Error


class SessionValues(SessionFocus):
    """The part of a `Session` that reads and writes the program's data."""

    plugins: PluginHost
    symbols: Symbols
    _last_examine: Format

    # -- variables and registers

    def arguments(self, frame: Frame) -> Sequence[tuple[str, Value]]:
        """``info args`` and frame lines: the parameters of the frame's function.

        A kernel's parameter that the compiler has lost is given as ``NAME@entry``: what was passed; so is one
        in memory before the first instruction, when nothing has been stored there.
        """
        environment = self._environment(frame)
        scope = frame.scopes[-1] if frame.scopes else None
        if scope is None:
            return []
        rows = []
        low = frame.function.low_pc if frame.function is not None else None
        before_prologue = low is not None and frame.pc == frame.program.to_loaded(low)
        for variable in scope.variables:
            if not variable.is_parameter or not variable.name:
                continue
            name, value = variable.name, self._safe_value(environment, variable)
            unset = before_prologue and isinstance(value.storage, MemoryStorage)
            if self.target is not None and (unset or is_absent(value)):
                passed = entry_value(frame, variable, self.target, environment.memory)
                if passed is not None:
                    name, value = f"{name}@entry", passed
            rows.append((name, value))
        return rows

    def locals(self, frame: Frame) -> Sequence[ScopeVariables]:
        """``info locals``, innermost block first."""
        environment = self._environment(frame)
        blocks = []
        for scope in frame.scopes:
            named = [v for v in scope.variables if not v.is_parameter and v.name and not v.artificial]
            blocks.append(ScopeVariables(tuple((v.name or "", self._safe_value(environment, v)) for v in named)))
        return blocks

    @staticmethod
    def _safe_value(environment: ProgramEnvironment, variable: Variable) -> Value:
        """A variable's value; where its location cannot be told, a value that says why when it is read."""
        try:
            return environment.value_of(variable)
        except Error as error:
            return Value(variable.type, FaultyStorage(error))

    def registers(self, names: Sequence[str] = (), scope: Focus | None = None) -> Sequence[RegisterRow]:
        """``info registers``; without names the ones the wave has. Raises `NoRegistersError`, `Error`."""
        return tables.registers(self, names, scope or self.scope)

    # -- values

    def evaluate(self, text: str, scope: Focus | None = None) -> Value:
        """The value of a C expression; assignments in it are carried out."""
        evaluator = Evaluator(self.environment(scope))
        try:
            value = evaluator.text(text)
            return value.fetched() if evaluator.has_stored else value
        finally:
            if evaluator.has_stored:  # registers or memory have changed: frames have to be unwound anew
                self.state_changed()

    def truth(self, text: str) -> bool:
        """Whether an expression is non-zero (``if``, ``while`` of scripts)."""
        return self._truth(text, None)

    def _truth(self, text: str, scope: Focus | None) -> bool:
        evaluator = Evaluator(self.environment(scope))
        try:
            return evaluator.decay(evaluator.follow(evaluator.text(text))).is_true()
        finally:
            if evaluator.has_stored:
                self.state_changed()

    def integer(self, text: str) -> int:
        """The value of an integer expression (counts, line numbers, exit status)."""
        value = evaluate(text, self.environment())
        return Evaluator(self.environment()).decay(value).as_int()

    def read_string(self, value: Value) -> bytes:
        """The characters of an array or behind a pointer, up to the first null."""
        return Evaluator(self.environment()).read_string(value)

    def expression_type(self, text: str) -> tuple[Type, bool]:
        """The type of an expression or type name, and whether it was a type name; no side effects."""
        return evaluate_type(text, self.environment())

    def whatis(self, text: str) -> str:
        """``whatis``: the type's name; one level of typedef is unrolled for a type name."""
        type_, is_type_name = self.expression_type(text)
        if is_type_name and isinstance(type_, TypedefType):
            type_ = type_.target
        return str(type_)

    def ptype(self, text: str, letters: str = "") -> list[str]:
        """The lines of ``ptype``: ``type = struct S {`` and so on; with the letter ``o`` offsets and sizes too."""
        type_, _ = self.expression_type(text)
        if "o" in letters:
            return offset_lines(self.program.complete_type(type_) if self.program is not None else type_)
        lines = self.symbols.describe_type(type_)
        return [f"type = {lines[0]}", *lines[1:]] if lines else []

    def formatter(self, settings: PrintSettings | None = None, scope: Focus | None = None) -> Formatter:
        """What formats values for the current place."""
        environment = self._environment_or_static(scope)
        program = self.program
        return Formatter(
            settings or self.settings.print,
            program,
            environment.memory,
            self.plugins.pretty if self.plugins.has_printers else None,
            environment.complete_type,
            lambda type_, name: _static_member(environment, type_, name),
        )

    def _environment_or_static(self, scope: Focus | None) -> ProgramEnvironment:
        try:
            return self.environment(scope)
        except Error:
            return self._environment(None)

    def format(
        self, value: Value, fmt: Format | None = None, settings: PrintSettings | None = None
    ) -> str:
        """Text of a value as ``print`` shows it, without ``$1 = ``."""
        return self.formatter(settings).format(value, self._radix(fmt))

    def format_nested(
        self, value: Value, fmt: Format | None = None, settings: PrintSettings | None = None
    ) -> str:
        """Text of a value as an argument or member: pointers without their type."""
        return self.formatter(settings).format_nested(value, self._radix(fmt))

    def _radix(self, fmt: Format | None) -> Format:
        """A format, by default what ``set output-radix`` says."""
        if fmt is not None and fmt.letter:
            return fmt
        letter = {16: "x", 8: "o"}.get(self.settings.output_radix, "")
        return replace(fmt or PLAIN, letter=letter)

    def examine(self, address: Value, fmt: Format, count: int | None = None) -> Sequence[ExamineLine]:
        """``x/FMT``; ``$_`` and ``$__`` are set to the last address and value."""
        evaluator = Evaluator(self.environment())
        fmt = effective(fmt if count is None else replace(fmt, count=count), self._last_examine)
        self._last_examine = replace(fmt, count=1)
        followed = evaluator.follow(address)
        place = followed.address
        if fmt.letter in ("s", "i") or place is None or ctypes.is_pointer(followed.type):
            place = None
        pointer = evaluator.decay(followed)
        if ctypes.is_aggregate(pointer.type) and followed.address is not None:
            space, start = followed.address.space, followed.address.value
        else:
            space, start = ctypes.pointer_space(pointer.type), pointer.as_int()
        pc = wave_size = None
        if self.target is not None and self.scope.thread is not None:
            wave = self.wave(self.scope.thread)
            pc, wave_size = self.frame().pc, wave.lane_count
        shown = examine(
            evaluator.environment.memory, self.formatter(), self.program, space, start, fmt, pc, wave_size
        )
        last_type = shown.last.type if shown.last is not None else ctypes.INT
        self.convenience.set("_", Value.of_int(ctypes.pointer_to(last_type, space), shown.last_address))
        if shown.last is not None:
            self.convenience.set("__", shown.last)
        return shown.lines


def _static_member(environment: ProgramEnvironment, type_: ClassType, name: str) -> Value | None:
    try:
        return environment.global_symbol(f"{type_.qualified_name or type_.name}::{name}")
    except Error:
        return None
