"""Creates watchpoints, determines what the target watches for them, and finds those with a new value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from functools import lru_cache
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from rocdbg import isa
from rocdbg.addresses import FileAddress
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.arch.dwarf_registers import FRAME_REGISTERS
from rocdbg.debugger.base.errors import ExpressionError, NoRegistersError, NoSymbolError, TypeNameError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.breakpoints.breakpoint_parts import BreakpointParts
from rocdbg.debugger.breakpoints.register_watches import RegisterWatches
from rocdbg.debugger.breakpoints.watch_location_place import (
    MAX_WATCHED,
    WatchedPlace,
    is_lane_memory,
    need_lane_memory,
    read_watched,
    watched_place,
)
from rocdbg.debugger.breakpoints.watchpoints import RegisterDword, Trigger, Watchpoint
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment
from rocdbg.debugger.expr.evaluator import Evaluator, value_tree
from rocdbg.debugger.expr.parsing import syntax
from rocdbg.debugger.expr.parsing.kept_trees import names_in
from rocdbg.debugger.expr.value_access import follow
from rocdbg.debugger.frames.frame_registers import RegisterFile
from rocdbg.debugger.frames.frames import Frame, physical_place
from rocdbg.debugger.frames.wave_access import ThreadAccess
from rocdbg.debugger.target.capabilities.runnable import TargetStop, WatchedMemory
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.debugger.values.value_storage import AbsentError, Memory
from rocdbg.dwarf.context import LocationList
from rocdbg.dwarf.info.types import FunctionType
from rocdbg.dwarf.reader.prepared import location_expression
from rocdbg.errors import Error
from rocdbg.sim.core.checks import Check, Condition, Counter
from rocdbg.sim.core.lane_expressions import constant


@lru_cache(maxsize=16)
def _kernel_ends(code: bytes, target: str) -> tuple[int, ...]:
    """Return the offsets of the instructions that end a kernel; cached, as each of the kernel's watchpoints needs them.
    """
    return tuple(one.address for one in isa.disassemble(code, target) if one.mnemonic.startswith("s_endpgm"))


class Watcher:
    """Maintains the watchpoints of a session's table."""

    def __init__(self, parts: BreakpointParts) -> None:
        self._parts = parts
        self._register_watches = RegisterWatches(parts.inferior)
        self.stopped: int | None = None
        """The wave that stopped last; None if the target has moved in time since then."""

    def all(self) -> list[Watchpoint]:
        """Return the enabled watchpoints."""
        return [one for one in self._parts.breakpoints.elsewhere if isinstance(one, Watchpoint) and one.enabled]

    def look_for_hardware(self, there: bool) -> None:
        """Decide again whether write watchpoints are reported as hardware watchpoints, because a new run begins."""
        for one in self._parts.breakpoints:
            if isinstance(one, Watchpoint) and one.access == "write":
                one.software = not there

    # -- creating watchpoints

    def make(
        self, text: str, focus: Focus, *, location: bool = False, every_lane: bool = False, mask: int | None = None,
        access: str = "write", software: bool = False,
    ) -> Watchpoint:
        """Create a watchpoint that is not in a table yet. Raises a `rocdbg.Error` for an expression that cannot be
        watched.
        """
        environment = self._parts.data.environment()
        if is_constant_text(text, environment):
            raise ExpressionError(f"Cannot watch constant value `{text}'.")
        made = Watchpoint(0, f"-location {text}" if location else text, watched=WatchedPlace(text))
        running = self._parts.inferior.target is not None and focus.thread is not None
        if location or mask is not None:
            made.watched = watched_place(text, self._parts.data, focus, mask)
            made.masked = mask is not None
        elif running and self._needs_frame(text):
            frame = self._parts.inferior.frame(focus)
            made.scoped, made.place = True, physical_place(frame.context)
            made.function = frame.function.offset if frame.function is not None else None
            made.ends_at = self._ends(frame)
            low = frame.context.function.low_pc if frame.context.function is not None else None
            if made.place is not None and low is not None:
                made.entry = frame.program.to_loaded(low)
        if running:
            made.wave, made.lanes = focus.thread, (focus.lane,)
            if every_lane:
                wave = self._parts.inferior.wave(focus.thread or 0)
                made.lanes = tuple(lane for lane in range(wave.lane_count) if wave.used_lanes >> lane & 1)
        if software and access != "write":
            raise ExpressionError("Can't set read/access watchpoint when hardware watchpoints are disabled.")
        made.access, made.software = access, software
        if made.scoped:
            made.bounds, made.inlined = self._bounds(text, focus), self._parts.inferior.frame(focus).inline is not None
        self._look(made)
        if location and running:
            need_lane_memory(self._parts.inferior.target, made.memory)
        made.is_direct = self._is_direct(made, focus)
        made.is_fixed = running and not made.scoped and self._is_fixed(made, focus)
        if access != "write" and made.in_registers:
            raise ExpressionError("Expression cannot be implemented with read/access watchpoint.")
        return made

    def _is_fixed(self, made: Watchpoint, focus: Focus) -> bool:
        """Whether an evaluated expression refers to the same global memory at every position of a wave."""
        environment = self._parts.data.environment(focus)
        return (
            not made.in_registers and bool(made.memory)
            and all(one.space == AddressSpace.GLOBAL for one in made.memory)
            and not any(is_lane_memory(self._parts.inferior.target, one) for one in made.memory)
            and "$" not in made.expression and not any(names_in(value_tree(made.expression, environment)))
            and self._parts.inferior.frame(focus).program is self._parts.inferior.program
        )

    def _is_direct(self, made: Watchpoint, focus: Focus) -> bool:
        """Whether, on each lane, the value was read from a single piece of memory that has the size of the value and is
        not a bit-field.
        """
        if made.needs_checks or "$" in made.expression or len(made.memory) != len(made.values):
            return False
        if any(v is None or one.size != v.size for v, one in zip(made.values, made.memory, strict=True)):
            return False
        level = self.frame_of(made) if made.scoped else None
        first = focus if level is None else Focus(made.wave, made.lanes[0], level)
        environment = self._parts.data.environment(first)
        value = _evaluated(made, environment)
        place, read = value.address, (made.memory[0].space, made.memory[0].address)
        is_whole = value.bit_size is None and not c_types.is_void(value.type)
        return is_whole and place is not None and (place.space, place.value) == read

    def _needs_frame(self, text: str) -> bool:
        environment = self._parts.data.environment()
        local = {variable.name for variable in environment.local_variables()}
        if not local.isdisjoint(names_in(value_tree(text, environment))):
            return True
        try:
            Evaluator(self._parts.data.environment_of(None)).text(text)
        except NoSymbolError:
            return True
        except Error:
            pass
        return False

    def _bounds(self, text: str, focus: Focus) -> frozenset[int] | None:
        """Return the addresses at which the location of a variable in an expression changes."""
        environment, frame = self._parts.data.environment(focus), self._parts.inferior.frame(focus)
        names, program, found = set(names_in(value_tree(text, environment))), frame.program, set[int]()
        for variable in environment.local_variables():
            known = location_expression(variable.die, frame.context.wave_size) if variable.name in names else None
            if isinstance(known, LocationList):
                for bound in (address for entry in known for address in entry[:2] if address is not None):
                    found.add(program.to_loaded(FileAddress(bound)))
        return frozenset(found)

    def _ends(self, frame: Frame) -> frozenset[int]:
        """Return the addresses at which a frame has ended or is about to: its return address, or the ends of its
        kernel.
        """
        returns_to = frame.context.return_address()
        if returns_to is not None:
            return frozenset({returns_to})
        function, program = frame.context.function, frame.program
        if function is None or function.low_pc is None or function.high_pc is None:
            return frozenset()
        code = program.code_object.read(function.low_pc, function.high_pc - function.low_pc)
        ends = _kernel_ends(code, program.code_object.target.name)
        return frozenset(program.to_loaded(FileAddress(function.low_pc + end)) for end in ends)

    # -- evaluating watchpoints

    def frame_of(self, watchpoint: Watchpoint) -> int | None:
        """Return the number of the frame that a watchpoint belongs to; ``None`` if that frame has ended."""
        thread, target = watchpoint.wave, self._parts.inferior.target
        if thread is None or target is None or not any(wave.number == thread for wave in target.waves()):
            return None
        for frame in self._parts.inferior.chain(Focus(thread, watchpoint.lanes[0])):
            offset = frame.function.offset if frame.function is not None else None
            if offset == watchpoint.function and physical_place(frame.context) == watchpoint.place:
                return frame.level
        return None

    def _environment(self, watchpoint: Watchpoint, lane: int | None) -> ProgramEnvironment | None:
        if not watchpoint.scoped:
            if watchpoint.is_fixed or not self._is_there(watchpoint):
                return self._parts.data.environment_of(None)
            made = self._parts.data.environment(Focus(watchpoint.wave, lane))
            if made.frame is not None:  # registers belong to the wave, not to the frame where an inactive lane waits
                context, access = made.frame.context, made.frame.context.access
                while context.callee is not None:
                    context = context.callee
                return replace(made, given_registers=RegisterFile(access.target, access.thread, context))
            return made
        level = self.frame_of(watchpoint)
        return None if level is None else self._parts.data.environment(Focus(watchpoint.wave, lane, level))

    def _look(self, watchpoint: Watchpoint) -> None:
        """Evaluate a watchpoint, and remember what was read.

        If a name is unknown at this place in its frame, or the compiler has temporarily lost a variable, nothing
        changes. If the expression has never been evaluated before, the error is raised instead.
        """
        if watchpoint.is_direct and None not in watchpoint.values and self._is_there(watchpoint):
            watchpoint.values = [
                self._stored(one, before) for one, before in zip(watchpoint.memory, watchpoint.values, strict=True)
            ]
            return
        known = watchpoint.values, watchpoint.memory, watchpoint.in_registers, watchpoint.registers
        watchpoint.values, watchpoint.memory, watchpoint.in_registers, watchpoint.registers = [], [], False, {}
        watchpoint.looked = self._parts.inferior.running
        try:
            for lane, before in zip_longest(watchpoint.lanes, known[0]):
                watchpoint.values.append(self._value(watchpoint, lane, before))
        except (NoSymbolError, ExpressionError, NoRegistersError):
            if not known[0]:
                raise
            watchpoint.values, watchpoint.memory, watchpoint.in_registers, watchpoint.registers = known

    def _stored(self, memory: WatchedMemory, before: Value | None) -> Value | None:
        """Return the current contents of the memory from which a value was read."""
        target = self._parts.inferior.target
        if target is None or before is None:
            return None
        try:
            data = read_watched(target, memory)
        except Error:
            return None
        return before if data == before.data else Value(before.type, data=data)

    def _value(self, watchpoint: Watchpoint, lane: int | None, before: Value | None) -> Value | None:
        environment = self._environment(watchpoint, lane)
        if environment is None:
            return None
        recorded = RecordedMemory(environment.memory, watchpoint.wave, lane, watchpoint.memory)
        environment = replace(environment, given_memory=recorded)
        with self._recorded(environment, watchpoint):
            try:
                value = _evaluated(watchpoint, environment)
                if value.size > MAX_WATCHED:
                    raise ExpressionError(f"Cannot watch a value of {value.size} bytes: the limit is {MAX_WATCHED}.")
                return value if c_types.is_void(value.type) else Value(value.type, data=value.contents())
            except (NoSymbolError, ExpressionError, NoRegistersError):
                raise
            except AbsentError as error:
                if not error.absence.is_lost:
                    return None
                if before is None:
                    watchpoint.lost |= {lane}
                return before
            except Error:  # the memory does not exist, at least not yet
                return None

    @contextmanager
    def _recorded(self, environment: ProgramEnvironment, watchpoint: Watchpoint) -> Iterator[None]:
        if environment.frame is None:
            yield
            return
        access = environment.frame.context.access  # all frames of the chain and all cached places use this object
        access.reader = RecordedReads(watchpoint.memory, watchpoint.registers)
        try:
            yield
        finally:
            access.reader = None
            watchpoint.in_registers |= bool(watchpoint.registers)

    def prepare(self) -> tuple[WatchedMemory, ...]:
        """Evaluate all enabled watchpoints, and return what the target has to watch for them."""
        wanted: dict[WatchedMemory, None] = {}
        for watchpoint in self.all():
            if watchpoint.is_idle:
                continue
            if not watchpoint.needs_checks or self.stopped in (None, watchpoint.wave):
                self._look(watchpoint)  # otherwise a check that the wave has not reached yet may detect a change
            accesses = watchpoint.access != "write"
            wanted.update(dict.fromkeys(replace(one, accesses=accesses) for one in watchpoint.memory))
        return tuple(wanted)

    def ends(self) -> frozenset[int]:
        """Return the addresses where the frames of watchpoints end."""
        return frozenset().union(*(one.ends_at for one in self.all() if one.scoped))

    def ended(self, stop: TargetStop) -> list[Watchpoint]:
        """Return the watchpoints whose frame has ended at the place where a wave has stopped."""
        return [
            one for one in self.all()
            if one.scoped and (
                (stop.thread == one.wave and one.place is None and stop.pc in one.ends_at)
                or self.frame_of(one) is None
            )
        ]

    def forget(self) -> tuple[int, ...]:
        """Delete the watchpoints that belong to a frame, because the program has ended; return their numbers."""
        gone = tuple(one.number for one in self._parts.breakpoints if isinstance(one, Watchpoint) and one.scoped)
        for number in gone:
            self._parts.breakpoints.delete(number)
        return gone

    def end_check(self) -> Check:
        """Return the check that stops the waves of watchpoints, and no others, where their frames end."""
        waves = {one.wave for one in self.all() if one.scoped}
        return Check(tuple(Condition(constant(1), None, Counter(), wave=wave) for wave in waves))

    def stepped(self, focus: int | None) -> int | None:
        """Return the wave that has to be single-stepped, None if there is none. A wave has to be single-stepped if its
        registers hold a watched value and cannot be checked in another way. The focused wave has to be single-stepped
        if a command has changed a watched value, because the change is reported after the next instruction.
        """
        if any(self._is_stale(one) for one in self.all() if one.is_idle):
            return focus
        if self.checks() is not None:
            return None
        return next((one.wave for one in self.all() if one.needs_checks and self._is_there(one)), None)

    def checks(self) -> dict[int, Check] | None:
        """Return the checks by which the target detects changes of watched registers; None if it cannot detect them."""
        there = [one for one in self.all() if one.needs_checks and self._is_there(one)]
        return self._register_watches.checks(there)

    def add_checks(self, checks: dict[int, Check], stops: Set[int]) -> None:
        """Add the register checks to the target's other checks, except where the target stops anyway."""
        for address, check in (self.checks() or {}).items():
            if address in checks:
                checks[address] = checks[address].plus(*check.conditions)
            elif address not in stops:
                checks[address] = check

    def _is_stale(self, watchpoint: Watchpoint) -> bool:
        """Whether the value of an idle watchpoint has changed since it was last reported."""
        before = watchpoint.values
        self._look(watchpoint)
        now, watchpoint.values = watchpoint.values, before
        return _bytes(now) != _bytes(before)

    def noticed(self, stop: TargetStop) -> bool:
        """Whether a stopped wave has changed watched registers, which checks of memory do not detect."""
        watched = any(one.is_idle or (one.needs_checks and one.wave == stop.thread) for one in self.all())
        return watched and bool(self.changed(stop, keep=True))

    def _is_there(self, watchpoint: Watchpoint) -> bool:
        """Whether the wave and the frame of a watchpoint exist."""
        if watchpoint.scoped:
            return self.frame_of(watchpoint) is not None
        target = self._parts.inferior.target
        return target is not None and any(wave.number == watchpoint.wave for wave in target.waves())

    def changed(
        self, stop: TargetStop, keep: bool = False
    ) -> list[Trigger]:
        """Return the watchpoints whose value has changed since the program resumed, or whose memory was accessed if
        accesses count, once for each lane concerned.

        This concerns only the wave that has stopped: other waves report changes of their registers at their own stops.
        ``keep``: report the same changes again the next time.
        """
        found = []
        for watchpoint in self.all():
            if watchpoint.in_registers and not watchpoint.memory and watchpoint.wave != stop.thread:
                continue
            before, lost = watchpoint.values, watchpoint.lost
            reached = any(replace(one, accesses=True) in stop.touched for one in watchpoint.memory)
            self._look(watchpoint)
            now = watchpoint.values
            still = (lane for lane, value in zip(watchpoint.lanes, now, strict=False) if value is None)
            watchpoint.lost &= frozenset(still)
            if keep:
                watchpoint.values, watchpoint.lost = before, lost
            for lane, old, new in zip(watchpoint.lanes, before, now, strict=False):
                if old is None and lane in lost:
                    continue
                differs = (old.data if old is not None else None) != (new.data if new is not None else None)
                counts = {"read": reached and stop.reads, "access": reached or differs}.get(watchpoint.access, differs)
                if counts:
                    found.append(Trigger(watchpoint, lane, old, new))
        return found


def _evaluated(watchpoint: Watchpoint, environment: Environment) -> Value:
    value = follow(Evaluator(environment).text(watchpoint.expression), environment)
    return watchpoint.watched.value(value)


def _bytes(values: Iterable[Value | None]) -> list[bytes | None]:
    return [value.data if value is not None else None for value in values]


# Recording what the evaluation of a watched expression reads: memory by lane, registers by dword.


class RecordedMemory(Struct):
    """Records the memory and registers that an environment reads."""

    memory: Memory
    thread: int | None
    lane: int | None
    reads: list[WatchedMemory]

    def read(self, space: int, address: int, size: int) -> bytes:
        self.reads.append(WatchedMemory(space, address, size, self.thread, self.lane))
        return self.memory.read(space, address, size)

    def write(self, space: int, address: int, data: bytes) -> None:
        raise ExpressionError("A watched expression cannot contain an assignment.")

    def generic_address(self, space: int, address: int) -> int | None:
        return self.memory.generic_address(space, address)


class RecordedReads(Struct):
    """Records the registers and memory that locations read."""

    memory: list[WatchedMemory]
    registers: dict[RegisterDword, int]

    def read_register(self, access: ThreadAccess, number: int, offset: int, size: int) -> None:
        if number in FRAME_REGISTERS:
            return
        data = access.target.read_register(access.thread, number)
        for index in range(offset // 4, (offset + size + 3) // 4):
            self.registers[number, index] = int.from_bytes(data[4 * index : 4 * index + 4], "little")

    def read_memory(self, access: ThreadAccess, space: int, address: int, size: int, lane: int | None) -> None:
        self.memory.append(WatchedMemory(space, address, size, access.thread, lane))


# Expressions whose form shows that they are constant; GDB refuses to watch these.
_LITERALS = (syntax.Integer, syntax.Float, syntax.Char, syntax.Bool, syntax.TypeExpression, syntax.TypeName)


def is_constant_text(text: str, environment: Environment) -> bool:
    """Whether a text is a constant expression or the name of a type. Raises a `rocdbg.Error` for an unknown name."""
    try:
        return is_constant(value_tree(text, environment), environment)
    except TypeNameError:
        return True


def is_constant(tree: syntax.Expression, environment: Environment) -> bool:
    """Whether a tree contains only literals, names of functions and constants, and operators that read nothing.

    Raises a `rocdbg.Error` for an unknown name.
    """
    waiting: list[syntax.Expression] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _LITERALS):
            continue
        if isinstance(node, syntax.Name):
            if not _is_constant_name(node, environment):
                return False
        elif isinstance(node, syntax.Unary) and node.operator not in ("*", "++", "--"):
            waiting.append(node.operand)
        elif isinstance(node, syntax.Binary) and node.operator != "@":
            waiting += node.left, node.right
        elif isinstance(node, syntax.Conditional):
            waiting += node.condition, node.then, node.otherwise
        elif isinstance(node, syntax.Cast):
            waiting.append(node.operand)
        elif isinstance(node, syntax.SpaceAddress):
            waiting.append(node.address)
        elif isinstance(node, syntax.Sizeof) and isinstance(node.operand, syntax.TypeExpression):
            continue
        else:
            return False
    return True


def _is_constant_name(node: syntax.Name, environment: Environment) -> bool:
    """Whether a name denotes a function, an enumerator, or a variable that has a value but no location."""
    value = environment.global_symbol(node.name, True) if node.global_ else environment.variable(node.name)
    if value is None:
        return False
    return isinstance(value.bare, FunctionType) or (value.storage is None and value.absence is None)
