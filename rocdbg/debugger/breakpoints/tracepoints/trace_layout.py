"""What a tracepoint collects at one place: names, types, and where values are in a record.

A *record* holds the data of one arrival of a wave as 64-bit words (`rocdbg.sim.core.checks.Log`): its head, the words
that all lanes share, and then, word by word, those of each lane.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment
from rocdbg.debugger.expr.evaluator import Evaluator
from rocdbg.debugger.expr.lanes.lane_compiler import MAX_BYTES, compile_column
from rocdbg.debugger.frames.compiled_places import Untranslatable
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value_storage import AbsentError
from rocdbg.dwarf.info.types import Type
from rocdbg.errors import Error
from rocdbg.sim.core.lane_expressions import Node

MAX_WORDS = 1 << 18
"""The largest number of words in one record."""
_VECTOR = re.compile(r"\$([va])(\d+)")


class Column(Struct, frozen=True):
    """One value: its name, its expression in each lane, and its type.

    ``absent`` says why it has no value here (``<optimized out>``). ``shared``: it is the same for all lanes. ``first``
    is the index of its first word among those of the lane, or among the shared ones; ``words`` is their number.
    """

    name: str
    text: str
    type: Type
    absent: str = ""
    shared: bool = False
    first: int = 0
    words: int = 0


class Layout(Struct, frozen=True, eq=False):
    """What a tracepoint collects at ``pc``: ``lane_words`` words for each lane, and ``shared_words`` for all lanes.

    ``nodes`` and ``shared`` compute the words. Without them (``by_host``) the evaluator collects, and the last
    ``marks`` words of a lane have a bit for each column that had no value.
    """

    tracepoint: int
    pc: int
    columns: tuple[Column, ...]
    lane_words: int
    shared_words: int
    nodes: tuple[Node, ...] = ()
    shared: tuple[Node, ...] = ()
    by_host: bool = False
    marks: int = 0

    def record_words(self, lanes: int, head: int) -> int:
        """Words of a record with this number of lanes."""
        return head + self.shared_words + self.lane_words * lanes


def expanded(items: Sequence[str], environment: ProgramEnvironment) -> Iterator[tuple[str, str]]:
    """Yield the name and the expression of everything to collect, with ``$args``, ``$locals``, ``$regs`` expanded."""
    for item in items:
        vector = _VECTOR.fullmatch(item)
        if item == "$regs":
            yield from _registers(environment)
        elif item in ("$args", "$locals"):
            yield from ((name, name) for name in _variables(environment, item == "$args"))
        elif vector is not None:
            yield item, f"{item}[$_lane]"
        else:
            yield item, item


def _variables(environment: ProgramEnvironment, parameters: bool) -> Iterator[str]:
    """Yield the variables of the frame's function, except those hidden by an inner variable of the same name."""
    frame = environment.frame
    scopes = frame.scopes if frame is not None else ()
    seen: set[str] = set()
    for scope in scopes:
        for variable in scope.variables:
            name = variable.name
            if name and not variable.artificial and name not in seen:
                seen.add(name)
                if variable.is_parameter == parameters:
                    yield name


def _registers(environment: ProgramEnvironment) -> Iterator[tuple[str, str]]:
    """Yield all registers of the wave that native code can read."""
    frame, target = environment.frame, environment.target
    assert frame is not None and target is not None and frame.scope.thread is not None
    wave = target.wave(frame.scope.thread)
    for name in ("pc", "exec", "vcc", "m0", "scc", "mode"):
        if environment.register(name) is not None:
            yield f"${name}", f"${name}"
    yield from ((f"$s{n}", f"$s{n}") for n in range(wave.sgprs) if environment.register(f"s{n}") is not None)
    for file, count in (("v", wave.vgprs), ("a", wave.agprs)):
        yield from ((f"${file}{n}", f"${file}{n}[$_lane]") for n in range(count))


def make_layout(
    tracepoint: int, pc: int, items: Sequence[str], environment: ProgramEnvironment, native: bool
) -> Layout:
    """Determine what is collected at a wave's position, by native code if ``native`` and if that is possible.

    Raises a `rocdbg.Error` for an expression that is invalid there.
    """
    wanted: dict[str, str] = {}
    for name, text in expanded(items, environment):
        wanted.setdefault(name, text)
    columns, shared, nodes = list[Column](), list[Node](), list[Node]()
    for name, text in wanted.items():
        made, words = _column(name, text, environment, native)
        if words is None:
            return _by_host(tracepoint, pc, wanted, environment)
        into = shared if made.shared else nodes
        columns.append(Column(name, text, made.type, made.absent, made.shared, len(into), len(words)))
        into += words
    _check_size(len(shared) + 64 * len(nodes))
    return Layout(tracepoint, pc, tuple(columns), len(nodes), len(shared), tuple(nodes), tuple(shared))


def _column(
    name: str, text: str, environment: ProgramEnvironment, native: bool
) -> tuple[Column, tuple[Node, ...] | None]:
    """Return a column and the nodes that compute its words; ``None`` if native code cannot collect it."""
    if native:
        try:
            compiled = compile_column(text, environment)
            return Column(name, text, compiled.type, shared=compiled.shared), compiled.words
        except (Untranslatable, Error):
            pass
    type_: Type = c_types.VOID
    absent = ""
    try:
        type_ = Evaluator(environment, only_type=True).text(text).type
        value = Evaluator(environment).text(text)
        absent = value.absence.value if value.absence is not None else ""
    except AbsentError as error:
        absent = error.absence.value
    except Error:  # there is no value in this lane; other lanes may have one
        if type_ is c_types.VOID:
            raise
    return Column(name, text, type_, absent), () if absent else None


def _by_host(tracepoint: int, pc: int, wanted: dict[str, str], environment: ProgramEnvironment) -> Layout:
    columns, first = list[Column](), 0
    for name, text in wanted.items():
        made, words = _column(name, text, environment, False)
        if words is not None:
            columns.append(made)
            continue
        type_ = made.type
        size = c_types.size_of(type_)
        if not 0 < size <= MAX_BYTES:
            raise ExpressionError(f"{name} has {size} bytes; only values of 1 to {MAX_BYTES} bytes can be collected.")
        columns.append(Column(name, text, type_, first=first, words=-(-size // 8)))
        first += -(-size // 8)
    marks = -(-len(columns) // 64)
    _check_size(64 * (first + marks))
    return Layout(tracepoint, pc, tuple(columns), first + marks, 0, by_host=True, marks=marks)


def _check_size(words: int) -> None:
    if words > MAX_WORDS:
        raise ExpressionError(
            f"A tracepoint can collect at most {8 * MAX_WORDS} bytes per wave; these actions collect {8 * words}."
        )


__all__ = ["Column", "Layout", "expanded", "make_layout"]
