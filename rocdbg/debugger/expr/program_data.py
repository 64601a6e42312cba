"""The program's data: variables, expressions, their types and text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from rocdbg import work
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.base.engine_settings import PrintSettings, Settings
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.class_members import static_value
from rocdbg.debugger.expr.dynamic_types import whole
from rocdbg.debugger.expr.environments.names_here import NamesHere
from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment
from rocdbg.debugger.expr.evaluator import Evaluator, evaluate, evaluate_type, value_tree
from rocdbg.debugger.expr.names.convenience_variables import Convenience
from rocdbg.debugger.expr.overload_resolution import FunctionCaller
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.parsing.kept_trees import names_in, nesting_limited, parse_in
from rocdbg.debugger.expr.string_contents import StringReader
from rocdbg.debugger.expr.value_access import decay, follow
from rocdbg.debugger.frames.described_lanes import DescribedLanes
from rocdbg.debugger.frames.frames import Frame
from rocdbg.debugger.frames.inferior import Inferior, is_used, outwards
from rocdbg.debugger.frames.kernel_arguments import entry_value, is_absent
from rocdbg.debugger.frames.recovered_values import Recovery
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.frames.value_analyses import ValueAnalyses
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.values.appearance import PrettyPrinter
from rocdbg.debugger.values.format_letters import PLAIN, Format
from rocdbg.debugger.values.value import MAX_VALUE_SIZE, Value
from rocdbg.debugger.values.value_history import ValueHistory
from rocdbg.debugger.values.value_storage import FaultyStorage, MemoryStorage
from rocdbg.debugger.values.value_text import Formatter
from rocdbg.dwarf.info import Type, Variable
from rocdbg.dwarf.info.macro_sections import Macro
from rocdbg.dwarf.info.types import ClassType
from rocdbg.errors import Error


class ScopeVariables(Struct, frozen=True):
    """The variables of one block."""

    variables: tuple[tuple[str, Value], ...]


class Data:
    """Reads and writes the values of the program's names and expressions at a focus.

    ``remains`` returns a target that has ended but whose memory can still be read; ``printer`` returns the printers of
    plug-ins.
    """

    def __init__(
        self,
        inferior: Inferior,
        focus: Selection,
        settings: Settings,
        history: ValueHistory,
        convenience: Convenience,
        remains: Callable[[], Target | None],
        printer: Callable[[], PrettyPrinter | None],
        analyses: ValueAnalyses,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._inferior = inferior
        self._focus = focus
        self._settings = settings
        self._history = history
        self._convenience = convenience
        self._remains = remains
        self._printer = printer
        self._warn = warn
        self.described: DescribedLanes | None = analyses.described
        """Finds locations that hold only for other lanes; without it, every location is used."""
        self.recovery: Recovery = analyses.recovery
        self.caller: FunctionCaller | None = None
        """Runs functions that expressions call; set once the program can run."""

    # -- the place

    def environment(self, focus: Focus | None = None) -> ProgramEnvironment:
        """Return the environment of expressions at a focus (by default the current one)."""
        if focus is None:
            focus = self._focus.current
        running = self._inferior.target is not None and focus.thread is not None and is_used(self._inferior, focus)
        made = self.environment_of(self._inferior.frame(focus) if running else None)
        if focus.thread is not None and not running:
            made.unused = focus
        return made

    @property
    def user_macros(self) -> dict[str, Macro]:
        """The macros of ``macro define``, by name."""
        return self._convenience.macros

    def environment_of(self, frame: Frame | None) -> ProgramEnvironment:
        """Return the `environment` of a frame; with ``None``, that of the whole program."""
        inferior = self._inferior
        target = inferior.target
        if target is None and inferior.program is not None:
            target = self._remains()
        program = frame.program if frame is not None else inferior.program
        return ProgramEnvironment(
            program, target, frame, self._settings, self._history, self._convenience, NamesHere(program, frame),
            self.caller, self.recovery if self._settings.print.recovered else None, partial(outwards, inferior),
            described=self.described,
        )

    # -- variables

    def arguments(self, frame: Frame) -> Sequence[tuple[str, Value]]:
        """``info args`` and frame lines: return the parameters of the frame's function.

        The value passed for a kernel's parameter is returned, as ``NAME@entry``, if the parameter has no location; and
        also if it is in memory and the frame is at its first instruction, as nothing has been stored there yet.
        """
        environment = self.environment_of(frame)
        scope = frame.scopes[-1] if frame.scopes else None
        if scope is None:
            return []
        return [self.argument(environment, frame, variable) for variable in scope.parameters if variable.name]

    def argument(self, environment: ProgramEnvironment, frame: Frame, variable: Variable) -> tuple[str, Value]:
        """Return one parameter as `arguments` does; it must have a name."""
        name, value = variable.name or "", self._safe_value(environment, variable)
        unset = before_prologue(frame) and isinstance(value.storage, MemoryStorage)
        if self._inferior.target is not None and (unset or is_absent(value)):
            passed = entry_value(frame, variable, self._inferior.target, environment.memory)
            if passed is not None:
                return f"{name}@entry", passed
        return name, value

    def blocks(self) -> list[object]:
        """Return the blocks around the selected frame's position, innermost first; blocks can be compared later."""
        if self._inferior.target is None or self._focus.current.thread is None:
            return []
        frame = self._focus.frame()
        return [(id(frame.program), scope.offset) for scope in frame.scopes]

    def innermost_block(self, text: str) -> object:
        """Return the innermost of the `blocks` to which a name in an expression belongs; ``None`` if it needs no block.

        Raises `ExpressionError`.
        """
        names = set(names_in(parse_in(text, self.environment(), names_first=True)))
        if self._inferior.target is None or self._focus.current.thread is None:
            return None
        frame = self._focus.frame()
        for scope, block in zip(frame.scopes, self.blocks(), strict=True):
            if any(variable.name in names for variable in scope.variables):
                return block
        return None

    def locals(self, frame: Frame) -> Sequence[ScopeVariables]:
        """``info locals``, innermost block first."""
        environment = self.environment_of(frame)
        blocks = []
        for scope in frame.scopes:
            named = [v for v in scope.variables if not v.is_parameter and v.name]
            blocks.append(ScopeVariables(tuple((v.name or "", self._safe_value(environment, v)) for v in named)))
        return blocks

    def common_blocks(self, frame: Frame) -> Sequence[tuple[str, ScopeVariables]]:
        """``info common``: the common blocks that are visible in a frame, by name, innermost scope first."""
        environment = self.environment_of(frame)
        return [
            (block.name, ScopeVariables(tuple(
                (variable.name or "", self._safe_value(environment, variable)) for variable in block.variables
            )))
            for scope in frame.scopes for block in scope.common_blocks
        ]

    @staticmethod
    def _safe_value(environment: ProgramEnvironment, variable: Variable) -> Value:
        """Return a variable's value; if its location is not known, reading the returned value raises the reason."""
        try:
            return environment.value_of(variable)
        except Error as error:
            return Value(variable.type, FaultyStorage(error))

    # -- values

    def evaluate(self, text: str, focus: Focus | None = None) -> Value:
        """Return the value of a C expression, and carry out assignments in it."""
        evaluator = Evaluator(self.environment(focus))
        try:
            value = evaluator.text(text)
            for warning in evaluator.warnings:
                self._warn(warning)
            return value.fetched() if evaluator.has_stored else value
        finally:
            if evaluator.has_stored:  # registers or memory have changed: frames have to be unwound again
                self._inferior.state_changed()

    def has_effect(self, text: str) -> bool:
        """Whether an expression assigns anything; it is not evaluated."""
        tree = value_tree(text, self.environment())
        if isinstance(tree, syntax.Unary | syntax.Binary):
            return tree.operator in ("++", "--", ",")
        return isinstance(tree, syntax.Assign | syntax.Postfix)

    def truth(self, text: str) -> bool:
        """Whether an expression is non-zero (``if``, ``while`` of scripts)."""
        evaluator = Evaluator(self.environment())
        try:
            return decay(follow(evaluator.text(text), evaluator.environment)).is_true()
        finally:
            if evaluator.has_stored:
                self._inferior.state_changed()

    def lanes_where(self, text: str, thread: int, lanes: int, level: int = 0) -> int:
        """Return the mask of those ``lanes`` for which an expression is non-zero, evaluated in the lane's frame at a
        given level. The tree, the names, the scopes and the unwind rules are the same for all lanes of a wave, and are
        computed only once.
        """
        held = 0
        environment: ProgramEnvironment | None = None
        with nesting_limited(text):
            for lane in lane_list(lanes):
                work.unit()
                if environment is None:
                    environment = self.environment(Focus(thread, lane, level))
                    tree = value_tree(text, environment)
                else:
                    environment = environment.at_lane(lane)
                evaluator = Evaluator(environment)
                try:
                    value = evaluator.value(tree)
                    if value.type.integer is None:
                        value = decay(follow(value, environment))
                    held |= value.is_true() << lane
                finally:
                    if evaluator.has_stored:
                        self._inferior.state_changed()
                        environment = None
        return held

    def latest(self) -> Value:
        """Return the last value in the history. Raises `ExpressionError` if there is none."""
        return self._history.latest()

    def integer(self, text: str) -> int:
        """Return the value of an integer expression (counts, line numbers, exit status)."""
        value = evaluate(text, self.environment())
        return decay(value).as_int()

    def read_string(self, value: Value) -> bytes:
        """Return the characters of an array, or those at a pointer, up to the first null."""
        return StringReader(self.environment()).read_string(value)

    def real_type(self, text: str) -> Type | None:
        """Return the dynamic type of a variable's object, if `set print object` is on and a virtual table identifies
        it.

        Other expressions have none, because, as in GDB, they are not evaluated for this purpose.
        """
        if not self._settings.print.object:
            return None
        try:
            environment = self.environment()
            if not isinstance(parse_in(text, environment), syntax.Name | syntax.Dollar):
                return None
            found = whole(evaluate(text, environment), environment)
        except Error:
            return None
        return found.type if found is not None else None

    def expression_type(self, text: str) -> tuple[Type, bool]:
        """Return the type of an expression or type name, and whether it was a type name; no side effects."""
        return evaluate_type(text, self.environment())

    def formatter(
        self, settings: PrintSettings | None = None, environment: ProgramEnvironment | None = None
    ) -> Formatter:
        """Return the formatter for values of a place (by default the current one); strings and references use its
        memory.
        """
        if environment is None:
            environment = self._environment_or_static(None)
        return Formatter(
            settings or self._settings.print,
            self._inferior.programs,
            environment.memory,
            self._printer(),
            environment.complete_type,
            lambda type_, name: _static_member(environment, type_, name),
            lambda value: whole(value, environment),
            environment.at_address,
            lambda name, space, address: self._described(environment, name, space, address),
        )

    def _described(self, environment: ProgramEnvironment, name: str, space: int, address: int) -> str | None:
        """Describe an object that is opaque in the language, such as an image."""
        from rocdbg.debugger.values.image_object_text import opaque_text  # imported late: few programs have images

        program, memory = self._inferior.program, environment.memory
        if program is None or memory is None:
            return None
        return opaque_text(name, memory, space, address, program.code_object.target)

    @property
    def language_name(self) -> str:
        """The language of the selected frame or, without a frame, of the program."""
        return self._environment_or_static(None).language_name

    def _environment_or_static(self, focus: Focus | None) -> ProgramEnvironment:
        try:
            return self.environment(focus)
        except Error:
            return self.environment_of(None)

    def format(
        self, value: Value, fmt: Format | None = None, settings: PrintSettings | None = None
    ) -> str:
        """Return the text of a value as ``print`` shows it, without ``$1 = ``."""
        self.need_size(value)
        return self.formatter(settings).format(value, self._radix(fmt))

    def format_nested(
        self, value: Value, fmt: Format | None = None, settings: PrintSettings | None = None,
        environment: ProgramEnvironment | None = None,
    ) -> str:
        """Return the text of a value as an argument or member: pointers without their type. ``environment`` is that
        of the value, by default the current one.
        """
        self.need_size(value)
        return self.formatter(settings, environment).format_nested(value, self._radix(fmt))

    def format_in(self, value: Value, environment: ProgramEnvironment | None) -> str:
        """Return the `format_nested` text of a value at a place."""
        return self.format_nested(value, environment=environment)

    @property
    def largest_value(self) -> int:
        """The size in bytes of the largest value that is shown (`Settings.max_value_size`)."""
        most = self._settings.max_value_size
        return most if most >= 0 else MAX_VALUE_SIZE

    def need_size(self, value: Value) -> None:
        """Raise `DebuggerError` for a value in the program that is larger than `Settings.max_value_size`."""
        size, most = value.bare.size or 0, self._settings.max_value_size
        if value.storage is None or value.data is not None or value.bit_size is not None or not 0 <= most < size:
            return
        named = value.type.strip_qualifiers()
        name = getattr(named, "qualified_name", None) or getattr(named, "name", None)
        of_type = f" of type `{name}'" if name else ""
        raise DebuggerError(f"value{of_type} requires {size} bytes, which is more than max-value-size")

    def _radix(self, fmt: Format | None) -> Format:
        """Return a format, by default that of ``set output-radix``."""
        if fmt is not None and fmt.letter:
            return fmt
        radix = {16: "x", 8: "o"}.get(self._settings.output_radix, "")
        return replace(fmt or PLAIN, radix=radix)


def _static_member(environment: ProgramEnvironment, type_: ClassType, name: str) -> Value | None:
    """Return a static member, wherever it is defined; ``None`` if there is none."""
    try:
        found = environment.global_symbol(f"{type_.qualified_name or type_.name}::{name}", True)
        if found is not None and found.absence is None:
            return found
        return next((static_value(type_, one, environment) for one in type_.static_members if one.name == name), found)
    except Error:
        return None


def before_prologue(frame: Frame) -> bool:
    """Whether a frame is at its function's first instruction, so that nothing is on the stack yet."""
    low = frame.function.low_pc if frame.function is not None else None
    return low is not None and frame.pc == frame.program.to_loaded(low)
