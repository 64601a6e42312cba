"""Evaluates one expression in many places (all lanes of a wave, all waves or workgroups), and finds outliers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from rocdbg import work
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment
from rocdbg.debugger.expr.evaluator import Evaluator, value_tree
from rocdbg.debugger.expr.parsing.kept_trees import nesting_limited
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.expr.value_access import decay, follow
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.selection import Selection
from rocdbg.debugger.reports.session_tables import first_lane
from rocdbg.debugger.target.capabilities.target_state import Triple, WaveInfo
from rocdbg.debugger.target.rocgdb_ids import position
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.errors import Error

Show = Callable[[Value, ProgramEnvironment | None], str]
"""Formats a value; the environment is the place to which the value belongs."""

ODD_SHARE = 8
"""Outliers are at most one in this many places, and more than half of all places must have the same value."""


class Sample(Struct, frozen=True):
    """The value of an expression in one place: a lane or a wave.

    ``number`` is the number of the lane or wave, ``label`` its name. ``text`` is the displayed value or, in angle
    brackets, the reason why there is none (``failed``). ``order`` is the key for comparisons, ``None`` for values that
    are not numbers.
    """

    number: int
    label: str
    text: str
    order: float | int | None
    active: bool = True
    failed: Error | None = None


class Run(Struct, frozen=True):
    """Neighbours with the same value: the places from ``first`` to ``last``."""

    first: Sample
    last: Sample

    @property
    def places(self) -> str:
        """The places as text: ``5`` or ``0-31``."""
        return self.first.label if self.first is self.last else f"{self.first.label}-{self.last.label}"


class Spread(Struct, frozen=True):
    """A summary of all places: the number of values, the minimum, the maximum, the outliers."""

    count: int
    values: int
    least: Sample | None
    greatest: Sample | None
    odd: tuple[Sample, ...]


def runs(samples: Iterable[Sample]) -> Iterator[Run]:
    """Fold consecutive samples with equal values."""
    current: Run | None = None
    for sample in samples:
        if current is not None and (
            (sample.number - 1, sample.text, sample.active)
            == (current.last.number, current.last.text, current.last.active)
        ):
            current = Run(current.first, sample)
            continue
        if current is not None:
            yield current
        current = Run(sample, sample)
    if current is not None:
        yield current


def spread(samples: Sequence[Sample]) -> Spread:
    """Return minimum, maximum and outliers of samples. Outliers are few values that differ where most others agree."""
    numbers = [sample for sample in samples if sample.order is not None and sample.order == sample.order]
    counts = Counter(sample.text for sample in samples)
    odd: tuple[Sample, ...] = ()
    if counts:
        common, many = counts.most_common(1)[0]
        rest = tuple(sample for sample in samples if sample.text != common)
        if 2 * many > len(samples) and len(rest) * ODD_SHARE <= len(samples):
            odd = rest
    return Spread(
        len(samples), len(counts), min(numbers, key=_order, default=None), max(numbers, key=_order, default=None), odd
    )


def _order(sample: Sample) -> float | int:
    assert sample.order is not None
    return sample.order


class Across:
    """Evaluates an expression in many places. ``focus`` is the selection; its frame level applies to all places."""

    def __init__(self, inferior: Inferior, focus: Selection, data: Data) -> None:
        self._inferior = inferior
        self._focus = focus
        self._data = data

    # -- samples

    def lanes(self, text: str, show: Show, thread: int | None = None) -> list[Sample]:
        """Return the value on every lane of a wave (by default the focused one) that has a work-item.

        ``show`` formats the value. Lanes in which it cannot be evaluated give the reason. Raises `rocdbg.Error` for a
        text that is not an expression.
        """
        focus = self._focus.need_running()
        thread = focus.thread if thread is None else thread
        assert thread is not None
        inferior = self._inferior
        active = inferior.active_lanes(thread)
        used = inferior.wave(thread).used_lanes & (1 << inferior.lane_count(thread)) - 1
        level = focus.frame if thread == focus.thread else 0
        samples = []
        with nesting_limited(text):
            for lane, value, place in self._values(text, thread, lane_list(used), active, level):
                samples.append(_sample(lane, str(lane), value, show, place, bool(active >> lane & 1)))
        return samples

    def waves(self, text: str, show: Show, per_group: bool = False) -> Iterator[Sample]:
        """Yield the value in every resident wave, on its first active lane.

        ``per_group``: only in the first wave of each workgroup; the samples are labelled with the workgroup's position.
        """
        inferior = self._inferior
        self._focus.need_running()
        groups: set[Triple] = set()
        with nesting_limited(text):
            for wave in inferior.need_target().waves():
                work.unit()
                if per_group and wave.workgroup in groups:
                    continue
                groups.add(wave.workgroup)
                lane = first_lane(inferior.active_lanes(wave.number) & wave.used_lanes)
                [(_, value, place)] = self._values(text, wave.number, [lane], 1 << lane, 0)
                if per_group:
                    yield _sample(len(groups), position(wave.workgroup), value, show, place, True)
                else:
                    yield _sample(wave.number, str(wave.number), value, show, place, True)

    def lanes_where(self, text: str, thread: int) -> int:
        """Return the active lanes of a wave for which an expression is true, as a mask; lanes without a value do not
        count.

        Raises `rocdbg.Error` if no lane has a value.
        """
        inferior = self._inferior
        lanes = inferior.active_lanes(thread) & inferior.wave(thread).used_lanes
        found, failed, good = 0, None, False
        with nesting_limited(text):
            for lane, value, _ in self._values(text, thread, lane_list(lanes), lanes, 0):
                if isinstance(value, Error):
                    failed = value
                    continue
                try:
                    found |= decay(value).is_true() << lane
                    good = True
                except Error as error:
                    failed = error
        if failed is not None and not good:
            raise failed
        return found

    def _values(
        self, text: str, thread: int, lanes: Sequence[int], active: int, level: int
    ) -> Iterator[tuple[int, Value | Error, ProgramEnvironment | None]]:
        """Yield for each lane the value (with references followed), or why there is none, and the value's place.

        Facts that are the same for all active lanes in their innermost frame are computed once.
        """
        known: ProgramEnvironment | None = None
        for lane in lanes:
            work.unit()
            environment: ProgramEnvironment | None = None
            try:
                shares = not level and active >> lane & 1
                if shares and known is not None:
                    environment = known.at_lane(lane)
                else:
                    environment = self._data.environment(Focus(thread, lane, level))
                evaluator = Evaluator(environment)
                value: Value | Error = follow(evaluator.value(value_tree(text, environment)), environment)
                if evaluator.has_stored:
                    self._inferior.state_changed()
                    known = None
                elif shares:
                    known = environment
            except Error as error:
                value = error
            yield lane, value, environment

    # -- places

    def wave_of_group(self, group: Triple) -> WaveInfo | None:
        """Return the first resident wave of a workgroup; ``None`` if there is none."""
        return next((wave for wave in self._inferior.need_target().waves() if wave.workgroup == group), None)

    def place_of_item(self, group: Triple, item: Triple) -> Focus | None:
        """Return the lane of a work-item, given its position in a workgroup; ``None`` if it is not resident."""
        x, y, z = item
        for wave in self._inferior.need_target().waves():
            if wave.workgroup != group:
                continue
            width, height, depth = wave.workgroup_size
            if not (x < width and y < height and z < depth):
                return None
            index, lane = divmod(x + width * (y + height * z), wave.lane_count)
            if index == wave.index:
                return Focus(wave.number, lane)
        return None

    def differing(self, one: int, other: int, show: Show) -> list[tuple[str, str, str]]:
        """Return the arguments and locals of the selected frame whose values differ between two lanes: the name of
        each, and its text in each lane.

        A variable that one of the lanes does not have, because it is in another block, is shown as ``<not in scope>``.
        """
        focus = self._focus.need_running()
        columns = [self._variables(focus.with_lane(lane), show) for lane in (one, other)]
        names = list(dict.fromkeys([*columns[0], *columns[1]]))
        missing = "<not in scope>"
        rows = [(name, *(column.get(name, missing) for column in columns)) for name in names]
        return [(name, left, right) for name, left, right in rows if left != right]

    def _variables(self, focus: Focus, show: Show) -> dict[str, str]:
        frame = self._inferior.frame(focus)
        place = self._data.environment_of(frame)
        found: dict[str, str] = {}
        for block in self._data.locals(frame):
            for name, value in block.variables:
                found.setdefault(name, _text(value, show, place))
        for name, value in self._data.arguments(frame):
            found.setdefault(name, _text(value, show, place))
        return found


def _text(value: Value, show: Show, place: ProgramEnvironment | None) -> str:
    try:
        return show(value, place)
    except Error as error:
        return f"<error: {error}>"


def _sample(
    number: int, label: str, value: Value | Error, show: Show, place: ProgramEnvironment | None, active: bool
) -> Sample:
    order: float | int | None = None
    if isinstance(value, Error):
        return Sample(number, label, f"<error: {value}>", None, active, value)
    with suppress(Error):
        if c_types.is_float(value.type):
            order = value.as_float()
        elif c_types.is_scalar(value.type) and not c_types.is_bool(value.type):
            order = value.as_int()
    return Sample(number, label, _text(value, show, place), order, active)
