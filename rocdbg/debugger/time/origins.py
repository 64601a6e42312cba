"""The origin of a value: its last write, the last write of that write's source, and so on through moves, loads and
stores, back to the arithmetic that computed the value or to the launch that initialised it.
"""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.target.capabilities.recording import HostAccess, Recording, Spans, Write
from rocdbg.debugger.time.past_writes import FoundWrite, PastWrites
from rocdbg.debugger.time.value_parts import RegisterPart, of_lane, parts_of
from rocdbg.debugger.time.value_sources import (
    End,
    Loaded,
    Source,
    is_two_addresses,
    second_distance,
    source_of,
)
from rocdbg.debugger.time.written_registers import VECTORS, WaveRegisters, resolved
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info.types import Type
from rocdbg.isa.instruction import Instruction, Operand, OperandKind
from rocdbg.isa.operands import FILE_NAMES
from rocdbg.isa.result_operands import results

MAX_STEPS = 200
"""The maximum number of writes that are followed."""


class OriginStep(Struct, frozen=True):
    """A write of the value: the instruction, the lane (``None`` for a scalar one), and what it wrote.

    ``value`` has the value's type, or is a dword if only a dword of the value was moved.
    """

    write: FoundWrite
    lane: int | None
    value: Value


class Origin(Struct, frozen=True):
    """The writes of a value, latest first, and a short description of its origin. If the origin is an arithmetic
    instruction, ``operands`` are the texts and values of its operands. ``cut`` is true if there were more than
    `MAX_STEPS` writes.
    """

    steps: tuple[OriginStep, ...]
    end: str
    operands: tuple[tuple[str, Value], ...] = ()
    cut: bool = False


class _Register(Struct, frozen=True):
    """A dword of a register of a wave; of a vector register, in one lane."""

    kind: OperandKind
    index: int
    lane: int | None
    thread: int


class _Memory(Struct, frozen=True):
    """Bytes on the host. ``own``: they belong to the wave or its workgroup. ``whole``: all bytes of the value, if they
    are contiguous.
    """

    spans: Spans
    own: bool
    thread: int | None
    whole: Spans = ()


_Place = _Register | _Memory


class Origins(Struct):
    """Searches the past of a target for origins of values. This moves the target in time."""

    inferior: Inferior
    recording: Recording

    def find(self, value: Value, focus: Focus) -> Origin:
        """Return the origin of an expression's value. Raises `DebuggerError` for values that cannot be followed."""
        value, size = of_lane(value, focus)
        if size not in (1, 2, 4, 8) or not c_types.is_scalar(value.type) or value.bit_size is not None:
            raise DebuggerError("Only the origin of a number or pointer can be found: name a part of this value.")
        target = self.inferior.need_target()
        if target.architecture.vgpr_file > 256:
            raise DebuggerError(
                f"Origins are not available on {target.architecture.name}, where MODE is part of a register's number."
            )
        # Of an eight-byte value, one dword is followed; for a floating-point value, the more significant one.
        tracked = 1 if size == 8 and c_types.is_float(value.type) else 0
        place = self._place(value, focus, 4 * tracked)
        known = value.contents()
        steps: list[OriginStep] = []
        while True:
            write = self._write(place)
            if write is None:
                return Origin(tuple(steps), self._unwritten(place))
            if len(steps) == MAX_STEPS:
                return Origin(tuple(steps), "", cut=True)
            step, following = self._step(place, write, value.type, tracked, known)
            steps.append(step)
            if isinstance(following, End):
                operands = self._operands(write, place, step.lane, value.type) if following.why == "arithmetic" else ()
                return Origin(tuple(steps), following.why, operands)
            place = following

    def _place(self, value: Value, focus: Focus, offset: int) -> _Place:
        """Return the place of the dword at an offset of a value."""
        for part in parts_of(value, focus, self.inferior.need_target().architecture):
            at = offset - part.offset
            if isinstance(part, RegisterPart):
                if 0 <= at < 4 * part.dwords and part.kind is not OperandKind.SPECIAL:
                    assert focus.thread is not None
                    return _Register(part.kind, part.index + at // 4, part.lane, focus.thread)
            elif 0 <= at < part.size:
                thread, size = focus.thread, min(part.size - at, 4)
                spans = self.recording.spans(part.space, part.address + at, size, thread, part.lane)
                whole = self.recording.spans(part.space, part.address, part.size, thread, part.lane)
                return _Memory(
                    spans, self.recording.is_own(spans, thread), thread, whole if part.size == value.size else ()
                )
        raise DebuggerError(
            "The origin of this value cannot be found: the value is neither in memory nor in a register of the wave."
        )

    # -- one write

    def _write(self, place: _Place) -> Write | None:
        """Return the last write of a place before the target's position; move the target to before that write."""
        recording = self.recording
        if isinstance(place, _Memory):
            return recording.find_store(place.spans, place.thread if place.own else None, recording.position)
        writes = PastWrites(self.inferior, recording)
        return writes.of_register(place.kind, range(place.index, place.index + 1), place.lane, place.thread, False)

    @staticmethod
    def _result(instruction: Instruction | None, place: _Register) -> Operand | None:
        """Return the result operand of an instruction that contains a register."""
        for operand in results(instruction) if instruction is not None else ():
            if operand.kind is place.kind and operand.index <= place.index < operand.index + operand.dwords:
                return operand
        return None

    def _step(
        self, place: _Place, write: Write, type_: Type, tracked: int, known: bytes
    ) -> tuple[OriginStep, _Place | End]:
        """Return the row of a write, and the source of its value. ``known``: the value. The target must be before the
        write, and is before it again afterwards.
        """
        writes = PastWrites(self.inferior, self.recording)
        instruction, state = writes.instruction(write.pc), WaveRegisters(self.inferior, write.thread)
        described = writes.described(write)
        if instruction is None:
            raise DebuggerError(f"The instruction at {write.pc:#x} cannot be read.")
        lane: int | None = None
        following: _Place | End
        access: HostAccess | None = None
        if isinstance(place, _Register):
            instruction = resolved(instruction, state)
            result = self._result(instruction, place)
            assert result is not None
            lane = place.lane
            low = place.index - tracked
            whole = result.index <= low and low + c_types.size_of(type_) // 4 <= result.index + result.dwords
            source = source_of(instruction, result, place.index - result.index, lane, state.wave_size, state)
            if isinstance(source, Source):
                following = _Register(
                    source.operand.kind, source.operand.index + source.dword, source.lane, write.thread
                )
            elif isinstance(source, End):
                following = source
            else:
                access = self.recording.access(write.position)
                following = self._loaded(instruction, source, access, lane, write.thread, type_, tracked)
        else:
            access = self.recording.access(write.position)
            whole = access is not None and access.size >= c_types.size_of(type_) and not is_two_addresses(instruction)
            lane, following = self._stored(instruction, access, place, write.thread)
        self.recording.go_to(write.position + 1)
        value = self._value(place, type_, tracked, whole, known)
        self.recording.go_to(write.position)
        return OriginStep(described, lane, value), following

    def _loaded(
        self, instruction: Instruction, source: Loaded, access: HostAccess | None, lane: int | None, thread: int,
        type_: Type, tracked: int,
    ) -> _Memory | End:
        """Return the memory from which a dword was loaded; the target must be after the load."""
        if access is None:
            return End("a load")
        size = c_types.size_of(type_)
        first = 4 * source.dword + (second_distance(instruction) if source.second else 0)
        each = access.size if not is_two_addresses(instruction) else 8
        spans = access.spans(lane or 0, first, min(size, each, 4))
        if not spans:
            return End("a load from an address without memory, which returns 0")
        begin = first - 4 * tracked
        whole = access.spans(lane or 0, begin, size) if begin >= 0 and begin + size <= each else ()
        return _Memory(spans, self.recording.is_own(spans, thread), thread, whole)

    def _stored(
        self, instruction: Instruction, access: HostAccess | None, place: _Memory, thread: int
    ) -> tuple[int | None, _Register | End]:
        """Return the lane that last stored to a place, and the register that held the value; the target must be after
        the store.
        """
        name = instruction.name
        if access is None or ("_store" not in name and "ds_write" not in name) or "format" in name:
            return None, End("an atomic operation" if "atomic" in name or name.startswith("ds_") else "a store")
        second = is_two_addresses(instruction)
        distance, width = second_distance(instruction) if second else 0, access.size
        begin = place.spans[0][0]
        for lane in range(63, -1, -1):
            if not access.lanes >> lane & 1:
                continue
            for number in (1, 0) if second else (0,):
                for byte in range(0, width, 4):
                    for low, high in access.spans(lane, byte + number * distance, min(4, width - byte)):
                        if low <= begin < high:
                            data = instruction.operand(("data0", "data1")[number]) or instruction.operand("vdata")
                            data = data or instruction.operand("sdata")
                            if data is None or data.kind not in FILE_NAMES:
                                return lane, End("a store")
                            if name.endswith("_hi") or "_d16_hi" in name:
                                return lane, End("the upper half of a register")
                            vector = data.kind in VECTORS
                            return lane if vector else None, _Register(
                                data.kind, data.index + byte // 4, lane if vector else None, thread
                            )
        return None, End("a store")

    # -- values

    def _value(self, place: _Place, type_: Type, tracked: int, whole: bool, known: bytes) -> Value:
        """Return the contents of a place at the target's position. ``whole``: include the rest of the value if it is
        available, since it may have been written together with the place.
        """
        size = c_types.size_of(type_)
        if isinstance(place, _Memory):
            part = self.recording.contents(place.spans)
            data = self.recording.contents(place.whole) if whole and place.whole else part
        else:
            state = WaveRegisters(self.inferior, place.thread)

            def dword(number: int) -> bytes:
                return state.dword(Operand("", place.kind, number), 0, place.lane or 0).to_bytes(4, "little")

            first, part = place.index - tracked, dword(place.index)
            data = b"".join(map(dword, range(first, first + max(1, size // 4)))) if whole else part
        if size <= 4 or data[:size] == known:
            return Value(type_, data=data[:size].ljust(size, b"\0"))
        return Value(c_types.UNSIGNED_INT, data=part)

    def _operands(
        self, write: Write, place: _Place, lane: int | None, type_: Type
    ) -> tuple[tuple[str, Value], ...]:
        """Return the operands of the arithmetic instruction before which the target is, as numbers of the value's type
        if they have the same width. If the instruction consists of two operations, return the operands of the one that
        wrote the place.
        """
        instruction = PastWrites(self.inferior, self.recording).instruction(write.pc)
        state, found = WaveRegisters(self.inferior, write.thread), dict[str, Value]()
        shown = type_ if c_types.size_of(type_) == 4 else c_types.UNSIGNED_INT
        written = [operand.name for operand in results(instruction)] if instruction is not None else []
        half = ""
        if instruction is not None and instruction.encoding.startswith("VOPD") and isinstance(place, _Register):
            result = self._result(instruction, place)
            half = result.name.removeprefix("vdst") if result is not None else ""
        for operand in instruction.operands if instruction is not None else ():
            if operand.kind in VECTORS or operand.kind is OperandKind.SGPR:
                if operand.name in written or operand.dwords > 2 or not operand.name.endswith(half):
                    continue
                for offset in range(operand.dwords):
                    name = f"{FILE_NAMES[operand.kind]}{operand.index + offset}"
                    number = state.dword(operand, offset, lane or 0)
                    found[name] = Value(shown, data=number.to_bytes(4, "little"))
        return tuple(found.items())

    def _unwritten(self, place: _Place) -> str:
        """Explain why no instruction has written a place."""
        if isinstance(place, _Memory):
            return self.recording.home_of(place.spans, place.thread)
        name = f"{FILE_NAMES.get(place.kind, 'register ')}{place.index}"
        return f"{name}, as the launch initialised it"


__all__ = ["MAX_STEPS", "Origin", "OriginStep", "Origins"]
