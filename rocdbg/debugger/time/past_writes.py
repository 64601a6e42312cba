"""Finds the instruction that wrote a place: the last one before the present position, or the first one of the run."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.base.errors import DebuggerError, MemoryAccessError
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.program.register_uses import may_index
from rocdbg.debugger.target.capabilities.recording import Recording, Write
from rocdbg.debugger.time.executed_instructions import WavePast
from rocdbg.debugger.time.value_parts import MemoryPart, Part, parts_of
from rocdbg.debugger.time.written_registers import Wanted, WaveRegisters, chosen, is_chosen, may_write, source_lane
from rocdbg.debugger.values.value import Value
from rocdbg.isa.decoder import DecodeError, decode
from rocdbg.isa.instruction import Instruction, OperandKind
from rocdbg.isa.result_operands import ignores_exec

_LONGEST = 24


class FoundWrite(Struct, frozen=True):
    """A write in the past.

    ``position`` is just before the write: there, ``thread`` is about to execute ``instruction`` at ``pc``, which
    belongs to ``line`` of ``file`` if these are known. ``lanes`` is the mask of the lanes that wrote the place; 0 for a
    scalar instruction.
    """

    position: int
    thread: int
    lanes: int
    pc: LoadedAddress
    instruction: str
    file: str | None
    line: int | None


class PastWrites(Struct):
    """Searches the past of a target for writes. This moves the target in time."""

    inferior: Inferior
    recording: Recording

    def find(self, value: Value, focus: Focus, first: bool) -> FoundWrite | None:
        """Find the last (``first``: the first) write to any part of a value, by an instruction before the present
        position.

        Returns None if no instruction has written it. Raises `DebuggerError` for a value that is in neither memory nor
        registers, and `AbsentError` for a value that is optimized out.
        """
        parts = parts_of(value, focus, self.inferior.need_target().architecture)
        if not parts:
            raise DebuggerError(
                "Writes of this value cannot be found: the value is neither in memory nor in a register of the wave."
            )
        present, found = self.recording.position, None
        for part in parts:
            self.recording.go_to(present)
            write = self._of_part(part, focus, first)
            if write is not None and (found is None or (write.position < found.position) == first):
                found = write
        if found is None:
            return None
        self.recording.go_to(found.position)
        return self.described(found)

    def _of_part(self, part: Part, focus: Focus, first: bool) -> Write | None:
        if isinstance(part, MemoryPart):
            return self.recording.find_write(
                part.space, part.address, part.size, focus.thread, part.lane, self.recording.position, first
            )
        assert focus.thread is not None
        numbers = range(part.index, part.index + part.dwords)
        return self.of_register(part.kind, numbers, part.lane, focus.thread, first)

    def described(self, write: Write) -> FoundWrite:
        """Describe the instruction of a write; the target must be before it."""
        pc = LoadedAddress(write.pc)
        instruction = self.instruction(pc)
        row = self.inferior.programs.at(pc).line_at(pc)
        known = row is not None and row.line
        return FoundWrite(
            write.position, write.thread, write.lanes, pc, instruction.text if instruction is not None else "??",
            row.file.name if row is not None and known else None, row.line if row is not None and known else None,
        )

    def instruction(self, pc: int) -> Instruction | None:
        """Return the instruction at a PC; None if there is none."""
        target = self.inferior.need_target()
        waves = target.waves()
        for size in (_LONGEST, 8, 4):
            try:
                code = target.read_memory(AddressSpace.GLOBAL, pc, size)
                lanes = waves[0].lane_count if waves else None
                return decode(code, target.architecture, LoadedAddress(pc), wave_size=lanes)
            except (DecodeError, MemoryAccessError):
                continue
        return None

    def of_register(
        self, kind: OperandKind, numbers: range, lane: int | None, thread: int, first: bool
    ) -> Write | None:
        """Find the last (``first``: the first) instruction of a wave, before the present position, that wrote one of
        the registers. For vector registers, only the dword of a lane counts. Moves the target to just before the
        instruction."""
        wanted, after, present = Wanted(kind, numbers, lane), 0, self.recording.position
        size, indexed = self.inferior.wave(thread).lane_count, self._may_index()
        target = self.inferior.need_target().architecture

        def writes(pc: int) -> bool:
            instruction = self.instruction(pc)
            return instruction is not None and may_write(instruction, wanted, size, indexed, target)

        def beside(pc: int) -> int | None:
            instruction = self.instruction(pc)
            assert instruction is not None and lane is not None
            return source_lane(instruction, lane, size, target)

        while True:
            past = WavePast(self.inferior, self.recording, thread)
            found = past.last_of(writes, lane, first, self._ignores_exec, beside, after)
            if found is None:
                return None
            self.recording.go_before(thread, found.count, past.present)
            instruction = self.instruction(found.pc)
            assert instruction is not None
            if not is_chosen(instruction, indexed) or chosen(
                instruction, wanted, WaveRegisters(self.inferior, thread)
            ):
                one_lane = lane is not None and instruction.name == "v_writelane_b32"
                lanes = 0 if lane is None else 1 << lane if one_lane else found.active
                return Write(self.recording.position, thread, lanes, found.pc)
            if first:
                after = found.count + 1
                self.recording.go_to(present)

    def _may_index(self) -> bool:
        """Whether a program may switch on GFX9's index mode."""
        for program in self.inferior.programs:
            section = program.code_object.sections.get(".text")
            if section is not None and may_index(
                program.code_object.read(section.address, section.size), program.code_object.target
            ):
                return True
        return False

    def _ignores_exec(self, pc: int) -> bool:
        instruction = self.instruction(pc)
        return instruction is not None and ignores_exec(instruction)
