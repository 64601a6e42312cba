"""Breakpoints whose conditions the target evaluates by itself: a condition is compiled when a wave has reached it.

The evaluator handles the first arrival at a breakpoint. The facts about the place (scopes, types, variable locations)
are then used to compile the condition, and from then on the target decides which waves stop. If the compiled code
cannot decide, the target stops and the evaluator decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from rocdbg import work
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.breakpoint_parts import BreakpointParts
from rocdbg.debugger.breakpoints.breakpoint_table import Breakpoint, Hit
from rocdbg.debugger.breakpoints.catchpoints import Catchpoint
from rocdbg.debugger.breakpoints.condition_tables import FEW, TableMaker
from rocdbg.debugger.breakpoints.dynamic_printf import Columns, DynamicPrintf, Passed
from rocdbg.debugger.breakpoints.tracepoints.tracepoint_table import Action, Tracepoint
from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment
from rocdbg.debugger.target.capabilities.condition_deciding import deciding_of
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.errors import Error
from rocdbg.sim.core.builder import Op
from rocdbg.sim.core.checks import ANY_WAVE, MAX_CONDITIONS, RECORD_HEAD, Check, Condition, Counter, Log
from rocdbg.sim.core.lane_expressions import Choose, Field, Node, apply, both, constant, unsigned

if TYPE_CHECKING:  # the condition compiler is loaded when a wave first reaches a condition
    from rocdbg.debugger.breakpoints.tracepoints.trace_experiments import Tracing
    from rocdbg.debugger.breakpoints.tracepoints.trace_layout import Layout
    from rocdbg.debugger.expr.lanes.lane_compiler import Compiled, CompiledValues, Shapes


class Place(Struct):
    """What is known about one address: an expression for its active lanes, compiled conditions by text, and the reasons
    why others could not be compiled.

    ``waves``: the waves of the dispatch for which this holds, if there may be several (`WaveInfo.dispatch_waves`).
    """

    active: Node | None
    waves: tuple[int, int] | None = None
    conditions: dict[tuple[str, int], Compiled | str] = field(default_factory=dict)
    shapes: dict[object, Compiled | None] = field(default_factory=dict)
    values: dict[tuple[tuple[str, ...], int], CompiledValues | None] = field(default_factory=dict)
    layouts: dict[tuple[tuple[Action, ...], int], Layout | None] = field(default_factory=dict)


class NativeConditions:
    """Compiles conditions, and counts the hits that the target has let pass."""

    def __init__(self, parts: BreakpointParts, tracing: Callable[[], Tracing]) -> None:
        self.tracing = tracing
        self._parts = parts
        self._target: Target | None = None
        self._places: dict[int, Place] = {}
        self._with_numbers: dict[object, tuple[Node, Node]] = {}
        """Expressions of tables with some cells replaced by numbers (`TableMaker`)."""
        self._counters: list[tuple[Breakpoint, Counter]] = []
        self._log = Log()
        self._logged: list[tuple[DynamicPrintf, CompiledValues] | Layout] = []
        """The owners of log records, by tag."""
        self._tags: dict[tuple[int, int], int] = {}
        self._at: dict[int, list[Breakpoint]] = {}
        self._known_for: object = None
        self._lasting: dict[int, Check] = {}
        """Checks that stay valid until `_known_for` changes, or until more is known about their places."""
        self._open: set[int] = set()
        """Addresses for which checks have to be created again."""

    def forget(self) -> None:
        """Discard everything, because the program has changed."""
        self._places.clear()
        self._known_for = None

    def arrived(self, breakpoints: Iterable[Breakpoint], thread: int, pc: int) -> None:
        """Compile the conditions of breakpoints at an address that a wave has reached."""
        if self._parts.settings.condition_evaluation == "host":
            return
        self._renew()
        here = tuple(breakpoints)
        wanted = [b.condition for b in here if b.condition is not None]
        printed = {b.arguments for b in here if isinstance(b, DynamicPrintf) and b.arguments is not None}
        traced = {self.tracing().actions_of(b): b for b in here if isinstance(b, Tracepoint)}
        if not wanted and not printed and not traced and all(
            b.thread is None and b.lane is None and not b.ignore_count for b in here
        ):
            return  # they stop every wave that arrives
        place = self._places.get(pc)
        waves = self._parts.inferior.wave(thread).dispatch_waves
        if place is not None and place.waves != waves:  # what holds in one dispatch is undecided in another
            place = None
        radix = self._parts.settings.input_radix
        if place is not None and all((text, radix) in place.conditions for text in wanted) and all(
            (texts, radix) in place.values for texts in printed
        ) and all((actions, radix) in place.layouts for actions in traced):
            return
        lanes = self._parts.inferior.active_lanes(thread)
        if not lanes:
            return
        self._reopen((pc,))
        if place is None:
            from rocdbg.debugger.frames.active_lanes_compiled import lanes_there

            place = self._places[pc] = Place(
                self._tried(lambda: lanes_there(self._parts.inferior, thread)), waves
            )
        environment = self._parts.data.environment(Focus(thread, (lanes & -lanes).bit_length() - 1))
        fresh = [text for text in dict.fromkeys(wanted) if (text, radix) not in place.conditions]
        many = len(place.conditions) + len(fresh) > FEW or len(self._places) > FEW
        for text in fresh:
            work.unit()
            place.conditions[text, radix] = self._compiled(text, environment, place.shapes if many else None)
        for texts in printed:
            place.values[texts, radix] = self._values(texts, environment)
        for actions, made in traced.items():
            place.layouts[actions, radix] = self.tracing().compiled(made, pc, environment)

    @staticmethod
    def _values(texts: tuple[str, ...], environment: ProgramEnvironment) -> CompiledValues | None:
        from rocdbg.debugger.expr.lanes.lane_compiler import compile_values
        from rocdbg.debugger.frames.compiled_places import Untranslatable

        try:
            compiled = compile_values(texts, environment)
        except (Untranslatable, Error):
            return None
        return compiled if not compiled.parameters else None

    @staticmethod
    def _tried(make: Callable[[], Node]) -> Node | None:
        from rocdbg.debugger.frames.compiled_places import Untranslatable

        try:
            return make()
        except (Untranslatable, Error):
            return None

    @staticmethod
    def _compiled(text: str, environment: ProgramEnvironment, shapes: Shapes | None) -> Compiled | str:
        from rocdbg.debugger.expr.lanes.lane_compiler import compile_alike, compile_condition
        from rocdbg.debugger.frames.compiled_places import Untranslatable

        try:
            if shapes is not None:
                return compile_alike(text, environment, shapes)
            return compile_condition(text, environment)
        except (Untranslatable, Error) as error:
            return str(error)

    def _renew(self) -> None:
        """Discard code that was compiled for another target: it contains addresses and sizes of that target's launch.
        """
        if self._target is not self._parts.inferior.target:
            self._target = self._parts.inferior.target
            self._places.clear()
            self._known_for = None

    def evaluated_by(self, breakpoint_: Breakpoint) -> str:
        """``target`` or ``host``: which of them evaluates a condition; "" until a wave has reached it."""
        if breakpoint_.condition is None:
            return ""
        if self._parts.settings.condition_evaluation == "host":
            return "host"
        key = breakpoint_.condition, self._parts.settings.input_radix
        places = [self._places[address] for address in breakpoint_.addresses() if address in self._places]
        answers = [
            place.conditions[key] if place.active is not None else "" for place in places if key in place.conditions
        ]
        if not answers:
            return ""
        return "target" if all(not isinstance(answer, str) for answer in answers) else "host"

    @property
    def translated(self) -> int:
        """How many conditions the target evaluates, at all places together."""
        return sum(not isinstance(way, str) for at in self._places.values() for way in at.conditions.values())

    # -- for one resume

    def checks(self, always: frozenset[int], again: frozenset[int] = frozenset()) -> Mapping[int, Check]:
        """Return the checks for the target, by address; ``always`` lists addresses where it stops without a check.

        At addresses in ``again`` the target does not decide, because a wave may arrive there again after it was already
        counted and printed.
        """
        self._counters = []
        elsewhere = self._parts.breakpoints.elsewhere
        if not elsewhere and (self._parts.settings.condition_evaluation == "host" or not self._places):
            return {}
        self._renew()
        self._group()
        moving: dict[int, list[Breakpoint]] = {}
        for one in elsewhere:
            if one.enabled:
                for place in one.addresses():
                    moving.setdefault(place, []).append(one)
        counters: dict[int, tuple[Breakpoint, Counter]] = {}
        checks = self._lasting | self._renewed(counters)
        for address in always.union(again):
            checks.pop(address, None)
        for address, there in moving.items():
            checks.pop(address, None)
            if address in always:
                continue
            every = sorted((*self._at.get(address, ()), *there), key=lambda one: one.number)
            check = self._check(address, every, counters) if address not in again else None
            if check is not None:
                checks[address] = check
            elif any(isinstance(one, Catchpoint) for one in there):
                # A plain stop may coincide with the last instruction of a turn; other stops end before the next turn.
                checks[address] = Check((Condition(constant(1), None, Counter()),))
        self._counters = list(counters.values())
        return checks

    def _group(self) -> None:
        """Group the breakpoints with places by address, unless nothing has changed since the last time."""
        settings = self._parts.settings
        known_for = self._parts.breakpoints.version, settings.condition_evaluation, settings.input_radix
        if known_for == self._known_for:
            return
        self._known_for = known_for
        self._at.clear()
        for one in self._parts.breakpoints:
            if one.at_places and one.enabled:
                for address in one.addresses():
                    self._at.setdefault(address, []).append(one)
        self._lasting.clear()
        self._open = set(self._at)

    def _renewed(self, counters: dict[int, tuple[Breakpoint, Counter]]) -> dict[int, Check]:
        """Return new checks for those that are no longer valid, without catchpoints; keep valid ones for later."""
        renewed: dict[int, Check] = {}
        for address in tuple(self._open):
            there = self._at[address]
            check = self._check(address, there, counters)
            if check is not None:
                renewed[address] = check
            place = self._places.get(address)
            if place is None or all(self._lasts(place, one) for one in there):
                self._open.discard(address)
                if check is not None:
                    self._lasting[address] = check
        return renewed

    def _reopen(self, addresses: Iterable[int]) -> None:
        """Mark the checks at addresses to be created again, because more is known about these places."""
        for address in addresses:
            self._lasting.pop(address, None)
            if address in self._at:
                self._open.add(address)

    def _lasts(self, place: Place, made: Breakpoint) -> bool:
        """Whether the check for a breakpoint stays the same until one of the breakpoint's fields changes."""
        if type(made) is not Breakpoint or made.ignore_count:
            return False  # its hits are counted
        if made.condition is None:
            return True
        compiled = place.conditions.get((made.condition, self._parts.settings.input_radix), "")
        return isinstance(compiled, str) or not compiled.parameters

    def asked(
        self, stops: Iterable[int], counters: dict[int, tuple[Breakpoint, Counter]] | None = None
    ) -> dict[int, Check]:
        """Return checks for addresses where only the breakpoints that stop the program matter.

        Nothing is printed or collected there. For breakpoints with an ignore count, ``counters`` receives, by number,
        how many hits the target has counted and let pass; the breakpoints themselves are not updated.
        """
        counters = {} if counters is None else counters
        if self._parts.settings.condition_evaluation == "host" or not self._places:
            return {}
        self._renew()
        checks = {}
        for address in self._places.keys() & set(stops):
            there = [one for one in self._parts.breakpoints.at(address) if one.stops_program]
            check = self._check(address, there, counters) if there else None
            if check is not None:
                checks[address] = check
        return checks

    def _check(
        self, address: int, breakpoints: list[Breakpoint], counters: dict[int, tuple[Breakpoint, Counter]]
    ) -> Check | None:
        place = self._places.get(address) if self._parts.settings.condition_evaluation != "host" else None

        def counted(made: Breakpoint) -> Counter:
            return counters.setdefault(made.number, (made, Counter(skips=made.ignore_count)))[1]

        conditions: list[Condition] = []
        rows = TableMaker(self._with_numbers)
        asked: set[tuple[int, tuple[int, ...], int | None, int | None]] = set()
        many = sum(one.condition is not None for one in breakpoints) > FEW or (place is not None and bool(place.shapes))
        for breakpoint_ in breakpoints:
            if isinstance(breakpoint_, Catchpoint):
                caught = self._catch(place, breakpoint_, address)
                if caught is None:
                    return None
                conditions.append(caught)
                continue
            if place is None or place.active is None:
                return None
            node: Node | None = None
            cells: tuple[int, ...] = ()
            if breakpoint_.condition is not None:
                found = self._condition(place, breakpoint_.condition)
                if found is None:
                    return None
                node, cells = found
            elif breakpoint_.stops_program and (
                breakpoint_.thread is None and breakpoint_.lane is None and not breakpoint_.ignore_count
            ):
                return None
            printed: dict[str, Any] = {}
            if isinstance(breakpoint_, DynamicPrintf):
                values = place.values.get((breakpoint_.arguments or (), self._parts.settings.input_radix))
                if values is None or breakpoint_.arguments is None:
                    return None
                printed = {
                    "values": values.nodes, "log": self._log, "tag": self._tag((breakpoint_, values)),
                    "first_only": breakpoint_.once_per_wave,
                }
            elif isinstance(breakpoint_, Tracepoint):
                actions = self.tracing().actions_of(breakpoint_)
                layout = place.layouts.get((actions, self._parts.settings.input_radix))
                if layout is None:
                    return None
                printed = {
                    "values": layout.nodes, "shared": layout.shared, "log": self._log, "tag": self._tag(layout),
                }
            if node is not None and many and not printed:
                counter = counted(breakpoint_) if breakpoint_.ignore_count else None
                rows.add(node, cells, breakpoint_.lane, breakpoint_.thread, counter)
                continue
            if not printed and not breakpoint_.ignore_count:  # no need to count: wherever it holds, the wave stops
                same = id(node), cells, breakpoint_.lane, breakpoint_.thread
                if same in asked:
                    continue
                asked.add(same)
            conditions.append(Condition(
                place.active, node, counted(breakpoint_), cells,
                (1 << 64) - 1 if breakpoint_.lane is None else 1 << breakpoint_.lane & (1 << 64) - 1,
                breakpoint_.thread, **printed,
            ))
        if max(len(conditions), len(rows)) > MAX_CONDITIONS:
            return None
        if not rows:
            return Check(tuple(conditions))
        assert place is not None
        return Check(tuple(conditions), rows.tables(), place.active)

    def _condition(self, place: Place, text: str) -> tuple[Node, tuple[int, ...]] | None:
        """Return the expression of a condition at a place, and the current values of its cells; ``None`` if impossible.
        """
        key = text, self._parts.settings.input_radix
        compiled = place.conditions.get(key, "")
        if isinstance(compiled, str):
            return None
        if not compiled.parameters:
            return compiled.node, compiled.literals
        from rocdbg.debugger.expr.lanes.lane_parameters import current

        cells = current(compiled.parameters, self._parts.data.environment_of(None))
        if cells is None:  # its type has changed: compile it again at the next arrival
            del place.conditions[key]
            return None
        return compiled.node, compiled.literals + cells

    def answers(self, asked: Iterable[tuple[str, int]], thread: int, pc: int) -> dict[tuple[str, int], int]:
        """Evaluate compiled conditions. Each condition is given with the lanes in which it is to be evaluated; return,
        for each, the lanes in which it holds.

        Conditions that are not compiled, or that compiled code does not decide, are left out. Raises `work.Stopped`.
        """
        place, deciding = self._places.get(pc), deciding_of(self._parts.inferior.target)
        if place is None or deciding is None or self._parts.settings.condition_evaluation == "host":
            return {}
        rows, every = TableMaker(self._with_numbers), 0
        by_node: dict[int, list[tuple[str, int]]] = {}
        for text, lanes in dict.fromkeys(asked):
            found = self._condition(place, text)
            if found is not None:
                node, cells = found
                rows.add_for(node, cells, lanes, ANY_WAVE, Counter())
                by_node.setdefault(id(node), []).append((text, lanes))
                every |= lanes
        if not rows or len(rows) > MAX_CONDITIONS:
            return {}
        answers = deciding.decide(thread, rows.tables(), every)
        if answers is None:
            return {}
        result: dict[tuple[str, int], int] = {}
        for keys, answer in zip(by_node.values(), answers, strict=True):
            rest = zip(keys, answer.lanes.tolist(), answer.undecided.tolist(), strict=True)
            result.update((key, held) for key, held, undecided in rest if not undecided)
        return result

    def answers_well(self, count: int, pc: int) -> bool:
        """Whether `answers` for a number of conditions is faster than the evaluator."""
        place = self._places.get(pc)
        return count > FEW or (place is not None and bool(place.shapes))

    def is_compiled(self, text: str, pc: int) -> bool:
        """Whether there is compiled code for a condition at an address."""
        place = self._places.get(pc)
        if place is None:
            return False
        return not isinstance(place.conditions.get((text, self._parts.settings.input_radix), ""), str)

    def _catch(self, place: Place | None, made: Catchpoint, address: int) -> Condition | None:
        """Return the check that lets waves pass where a catchpoint's event cannot happen; where a wave stops, the
        debugger examines and counts the event.
        """
        guard = made.guard(made, address)
        if place is not None and place.active is not None and made.condition is not None:
            found = self._condition(place, made.condition)
            if found is not None:
                node, cells = found
                none = apply(Op.EQ, place.active, constant(0, place.active.type))
                lanes = Choose(none, unsigned(Field("used_lanes"), place.active.type), place.active)
                return Condition(lanes, both(guard, node) if guard is not None else node, Counter(), cells)
        return Condition(constant(1), guard, Counter()) if guard is not None else None

    def take_hits(self, hits: list[Hit], thread: int, pc: int) -> list[Hit]:
        """Let the evaluator collect data for the tracepoints at which a wave has stopped; return the other hits."""
        if any(isinstance(hit.breakpoint, Tracepoint) for hit in hits):
            return self.tracing().take_hits(hits, thread, pc)
        return hits

    def collect(self) -> list[Passed]:
        """Add the target's counts to the breakpoints; return the lanes that it has let pass, in order."""
        for breakpoint_, counter in self._counters:
            breakpoint_.hit_count += counter.hits
            breakpoint_.ignore_count = counter.skips
        self._counters = []
        found, rows = list[Passed](), self._log.words
        self._log.words = []
        for row in rows:
            found += self._passed(row)
        return found

    def _passed(self, row: NDArray[np.uint64]) -> Iterator[Passed]:
        """Yield the entries of a `Log` row whose lanes are to be printed; pass data of tracepoints to the experiment.
        """
        if self._logged and not any(isinstance(owner, tuple) for owner in self._logged):
            self.tracing().collected(row)
            return
        at = traced = 0
        while at < row.size:
            tag, thread, _, mask = (int(word) for word in row[at : at + RECORD_HEAD])
            owner, begin, count = self._logged[tag], at + RECORD_HEAD, mask.bit_count()
            if not isinstance(owner, tuple):
                at += owner.record_words(count, RECORD_HEAD)
                continue
            if traced < at:
                self.tracing().collected(row[traced:at])
            made, values = owner
            traced = at = begin + len(values.nodes) * count
            bits = row[begin:at].reshape(len(values.nodes), count)
            yield Passed(made, thread, lane_list(mask), Columns(bits, values.types))
        if traced < at:
            self.tracing().collected(row[traced:at])

    def _tag(self, owner: tuple[DynamicPrintf, CompiledValues] | Layout) -> int:
        """Return the tag of an owner's records."""
        key = (owner[0].number, id(owner[1])) if isinstance(owner, tuple) else (id(owner), 0)
        if key not in self._tags:
            self._tags[key] = len(self._logged)
            self._logged.append(owner)
        if not isinstance(owner, tuple):
            self.tracing().know(self._tags[key], owner)
        return self._tags[key]
