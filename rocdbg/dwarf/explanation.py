"""Evaluation step by step: every operation with the stack before and after it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from rocdbg.dwarf.context import Context, Expression, ExpressionLike, LocationList
from rocdbg.dwarf.decoding import Operation
from rocdbg.dwarf.errors import DwarfError
from rocdbg.dwarf.evaluator import as_entry
from rocdbg.dwarf.location import LocationDescription
from rocdbg.dwarf.stack_machine import Budget, Entry, Kind, Machine, Program
from rocdbg.dwarf.typed_values import ImplicitPointerValue, Value

__all__ = ["Explanation", "Step", "explain"]

_MAX_STEPS = 1000
_MAX_SHOWN = 64


class Step(Struct, frozen=True):
    """One executed operation.

    `level` counts the calls and nested expressions around it; the stacks are texts, top last.
    """

    level: int
    operation: Operation
    before: tuple[str, ...]
    after: tuple[str, ...] | None
    """None if the operation failed."""
    load_bias: int = 0
    """The load bias that was added to an address in the operation."""


class Explanation(Struct, frozen=True):
    """The steps of an evaluation (A.2.5.4; the first 1000), and its result or the error that ended it."""

    steps: tuple[Step, ...]
    result: Value | LocationDescription | None
    error: DwarfError | None


def entry_text(entry: Entry) -> str:
    """A stack entry as text."""
    if isinstance(entry, int):
        return f"{entry:#x}"
    if isinstance(entry, LocationDescription):
        return entry.describe()
    if isinstance(entry, ImplicitPointerValue):
        return f"implicit pointer value to the object of DIE {entry.die:#x}{entry.displacement:+d}"
    if isinstance(entry, Value):
        name = entry.type.name if entry.type is not None else "generic"
        value = entry.value
        if isinstance(value, int) and value.bit_length() > 128:
            return f"({name}) {value:#x}"  # converting long numbers to decimal is slow
        return f"({name}) {value}"
    count = len(entry.parts)
    return f"incomplete composite of {entry.size} bits in {count} part{'s' * (count != 1)}"


class _Tracer(Machine):
    """A stack machine that records each step."""

    __slots__ = ("steps", "texts")
    steps: list[Step]
    texts: dict[int, tuple[Entry, str]]
    """Texts of the locations seen, by identity: a location stays on the stack for many steps."""

    def child(self, context: Context, expression: ExpressionLike | None = None) -> Machine:
        machine = super().child(context, expression)
        tracer = _Tracer(context, machine.dialect, None, self.budget, machine.depth)
        tracer.steps = self.steps
        tracer.texts = self.texts
        return tracer

    def stack_text(self) -> tuple[str, ...]:
        """The stack as text, top last; only the top part of a deep stack."""
        hidden = len(self.stack) - _MAX_SHOWN
        texts = tuple(self.entry_text(entry) for entry in self.stack[max(hidden, 0) :])
        return (f"({hidden} more)", *texts) if hidden > 0 else texts

    def entry_text(self, entry: Entry) -> str:
        """`entry_text`, computed only once for each location."""
        if not isinstance(entry, LocationDescription):
            return entry_text(entry)
        known = self.texts.get(id(entry))
        if known is None:
            known = self.texts[id(entry)] = entry, entry_text(entry)
        return known[1]

    def trace(self, program: Program, index: int) -> int | None:
        """Execute one operation and record it."""
        handler, operands = program.steps[index]
        place = len(self.steps)
        if place >= _MAX_STEPS:
            return handler(self, operands)
        step = Step(self.depth, program.operations[index], self.stack_text(), None, self.load_bias)
        # The step is recorded before those of the operations that it calls.
        self.steps.append(step)
        target = handler(self, operands)
        self.steps[place] = replace(step, after=self.stack_text())
        return target

    def run(self, program: Program) -> None:
        traced = Program.__new__(Program)
        traced.operations = program.operations
        traced.meanings = program.meanings
        traced.steps = [
            (lambda machine, operands, index=index: self.trace(program, index), operands)  # type: ignore[misc]
            for index, (_, operands) in enumerate(program.steps)
        ]
        super().run(traced)
        # Rules that examine the last operation compare its handler: give them the real handler, not the tracing one.
        if self.last is not None:
            for wrapped, real in zip(traced.steps, program.steps, strict=True):
                if self.last[0] is wrapped[0]:
                    self.last = real


def explain(
    data: ExpressionLike,
    context: Context,
    kind: Kind = None,
    dialect: str = "amd",
    initial: Iterable[Value | LocationDescription | int] = (),
    load_bias: int | None = None,
) -> Explanation:
    """Evaluate an expression (A.2.5.4) and record every step; the arguments are those of `evaluate`.

    A `load_bias` replaces the context's for the addresses in `data`, which must not be a location list: 0 for an
    expression that contains loaded addresses. An `IllFormed` or `EvaluationError` becomes part of the explanation and
    is not raised; other errors of the context's own methods pass through.
    """
    tracer = _Tracer(context, dialect, context.object, Budget())
    tracer.steps = []
    tracer.texts = {}
    tracer.bias = load_bias
    try:
        if isinstance(data, LocationList):
            result: Value | LocationDescription = tracer.location_list(data, context)
        else:
            if isinstance(data, Expression):
                tracer.dialect = data.dialect
                data = data.data
            tracer.stack.extend(as_entry(item, tracer.mask) for item in initial)
            tracer.run(tracer.compile(data))
            result = tracer.result(kind)
    except DwarfError as error:
        return Explanation(tuple(tracer.steps), None, error)
    return Explanation(tuple(tracer.steps), result, None)
