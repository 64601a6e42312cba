"""``return``: leaves a frame without running the rest of it, for all lanes in it, with an optional value."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.arch.dwarf_registers import PC, dwarf_register, exec_number, vgpr_number
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger.base.errors import DebuggerError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.expr.casting import aggregate_cast, cast
from rocdbg.debugger.expr.program_data import Data
from rocdbg.debugger.expr.value_access import decay
from rocdbg.debugger.frames.calling_convention import Parts, is_gccs
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.frames.frames import Frame, FrameKind
from rocdbg.debugger.frames.returned_values import returned_parts, returns_by_reference
from rocdbg.debugger.running.runner import Runner, thread_of
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value
from rocdbg.dwarf.info import Function
from rocdbg.dwarf.info.types import ClassType, Type
from rocdbg.errors import Error

Registers = dict[int, bytes]
"""Contents of registers by DWARF number."""


def _parts(function: Function) -> Parts | None:
    """Return the parts of a function's result in vector registers; None if the result is elsewhere."""
    if is_gccs(function):
        return None
    return returned_parts(function.return_type, returns_by_reference(function))


class Return(Struct):
    """A return from a frame: first confirmed by the user, then carried out.

    ``function`` is the function that returns, ``None`` if the frame has no known function; ``stores_value``: whether
    the given value is passed to the caller.
    """

    runner: Runner
    data: Data
    frame: Frame
    focus: Focus
    function: Function | None
    text: str
    stores_value: bool

    @classmethod
    def of(cls, runner: Runner, data: Data, focus: Focus, text: str) -> Return:
        """Prepare a return from the selected frame; ``text`` is the value, "" for none. Raises `DebuggerError` if the
        frame cannot return.
        """
        frame = runner.parts.inferior.frame(focus)
        if frame.kind is FrameKind.INLINE:
            raise DebuggerError("Can not force return from an inlined function.")
        stores = True
        if text and frame.kind is not FrameKind.DUMMY:
            if frame.function is None:
                raise DebuggerError(
                    "Return value type not available for selected stack frame.\n"
                    "Please use an explicit cast of the value to return."
                )
            type_ = frame.function.return_type
            stores = c_types.is_void(type_) or _parts(frame.function) is not None
        return cls(runner, data, frame, focus, frame.function, text, stores)

    def carry_out(self) -> Focus:
        """Carry out the return, and focus the caller. If it raises a `rocdbg.Error`, nothing has changed."""
        runner, thread = self.runner, thread_of(self.focus)
        chain = runner.parts.inferior.chain(self.focus)
        inside = [frame for level in range(self.frame.level + 1) if (frame := chain.get(level)) is not None]
        dummies = sum(frame.kind is FrameKind.DUMMY for frame in inside)
        outer = self._caller(chain.get(self.frame.level + 1))
        if self.frame.kind is FrameKind.DUMMY or outer.kind is FrameKind.DUMMY:
            extra = outer.kind is FrameKind.DUMMY and self.frame.kind is not FrameKind.DUMMY
            for _ in range(dummies + extra):
                runner.end_call(thread)
            return runner.parts.focus.move(self.focus.with_frame(0))
        registers = self._registers_of(outer.context)
        lanes = runner.target.wave(thread).lane_count
        mask = int.from_bytes(
            registers.get(exec_number(lanes), runner.target.read_register(thread, exec_number(lanes))), "little"
        )
        values = self._values(mask)
        for _ in range(dummies):
            runner.end_call(thread)
        for number, contents in registers.items():
            runner.target.write_register(thread, number, contents)
        runner.target.write_register(thread, PC, outer.pc.to_bytes(8, "little"))
        for lane, words in values.items():
            for index, word in enumerate(words):
                runner.target.write_register(thread, vgpr_number(index, lanes), word, 4 * lane)
        runner.parts.inferior.behind_traps.pop(thread, None)
        runner.parts.inferior.inline_entered.pop(thread, None)
        runner.parts.state.pending_signal = ""
        runner.parts.inferior.state_changed()
        return runner.parts.focus.move(self.focus.with_frame(0))

    def _caller(self, outer: Frame | None) -> Frame:
        if outer is None:
            raise DebuggerError("Can not unwind to previous frame.")
        return outer

    def _registers_of(self, caller: FrameContext) -> Registers:
        """Return the registers of a calling frame that differ from the wave's current ones. Raises `DebuggerError`.

        Unknown registers and lanes of vector registers are left unchanged.
        """
        target, thread = self.runner.target, thread_of(self.focus)
        lanes = target.wave(thread).lane_count
        changed: set[int] = set()
        context: FrameContext | None = caller.callee
        while context is not None:
            if context.found_row is not None:
                changed |= set(getattr(context.found_row.row, "rules", ()))
            context = context.callee
        found: Registers = {}
        for number in sorted(changed - {PC}):
            now = bytearray(target.read_register(thread, number))
            location = caller.register_location(number)
            if location.is_undefined:
                if number == exec_number(lanes):
                    raise DebuggerError("Cannot return: it is not known here which lanes called the function.")
                continue
            step = 4 if dwarf_register(number).is_vector else len(now)
            for at in range(0, len(now), step):
                try:
                    now[at : at + step] = location.offset_by(8 * at).read(8 * step).to_bytes(step, "little")
                except Error:
                    continue
            found[number] = bytes(now)
        return found

    def _values(self, mask: int) -> dict[int, list[bytes]]:
        """Return the dwords of the returned value by lane, as each lane evaluates it; lanes that cannot are left out.
        """
        if not self.text or self.function is None or c_types.is_void(self.function.return_type):
            self._evaluated(self.focus) if self.text else None
            return {}
        parts = _parts(self.function)
        if parts is None:
            return {}
        found = {}
        for lane in {*lane_list(mask), self.focus.lane or 0}:
            try:
                data = self._converted(self._evaluated(self.focus.with_lane(lane)), self.function.return_type)
            except Error:
                if lane == self.focus.lane:
                    raise
                continue
            found[lane] = [
                data[offset + at : offset + min(size, at + 4)].ljust(4, b"\0")
                for offset, size in parts for at in range(0, size, 4)
            ]
        return found

    def _evaluated(self, focus: Focus) -> Value:
        return self.data.evaluate(self.text, focus)

    def _converted(self, value: Value, type_: Type) -> bytes:
        if isinstance(type_.bare, ClassType):
            return aggregate_cast(type_, value).contents()
        return cast(type_, decay(value), self.data.environment(self.focus), implicit=True).contents()
