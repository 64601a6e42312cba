"""Who wrote a place: the last instruction before now that stored there, or the first since the beginning."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from rocdbg.addresses import LoadedAddress
from rocdbg.arch.address_spaces import AddressSpace
from rocdbg.debugger.errors import DebuggerError, MemoryAccessError
from rocdbg.debugger.focus import Focus
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.running.lane_past import WavePast
from rocdbg.debugger.target.recording import Recording, Write
from rocdbg.debugger.values.value import Value
from rocdbg.isa.decoder import DecodeError, decode
from rocdbg.isa.instruction import Instruction, OperandKind
from rocdbg.isa.results import results

_REGISTER = re.compile(r"\$?([vsa])(\d+)")
_KINDS = {"v": OperandKind.VGPR, "s": OperandKind.SGPR, "a": OperandKind.AGPR}
_LONGEST = 24


def register_of(text: str, value: Value) -> tuple[OperandKind, int] | None:
    """The register that an expression names, or in which its value is; None if that is elsewhere."""
    register = _REGISTER.fullmatch(text.strip()) or (
        _REGISTER.fullmatch(value.storage.register or "") if value.storage is not None else None
    )
    return (_KINDS[register[1]], int(register[2])) if register is not None else None


class FoundWrite(Struct, frozen=True):
    """A write in the past.

    ``position``: before it; there ``thread`` is about to execute ``instruction`` at ``pc``, which is at ``line`` of
    ``file`` where that is known. ``lanes``: the mask of those that wrote the place; 0 for a scalar instruction.
    """

    position: int
    thread: int
    lanes: int
    pc: LoadedAddress
    instruction: str
    file: str | None
    line: int | None


class PastWrites(Struct):
    """Searches the past of a target. The target is elsewhere in time afterwards."""

    inferior: Inferior
    recording: Recording

    def find(self, text: str, value: Value, focus: Focus, first: bool) -> FoundWrite | None:
        """The last (``first``: the first) write to what an expression names, by an instruction before now.

        None if no instruction has written it. Raises `DebuggerError` for what is in neither memory nor registers.
        """
        register = register_of(text, value)
        if register is not None:
            return self._of_register(*register, value, focus, first)
        address = value.address
        if address is None:
            raise DebuggerError("Its writes cannot be found: it is in neither memory nor a register of the wave.")
        write = self.recording.find_write(
            address.space, address.value, max(value.size, 1), focus.thread, focus.lane, self.recording.position, first
        )
        if write is None:
            return None
        return self.told(write)

    def told(self, write: Write) -> FoundWrite:
        """The instruction of a write, which the target stands before."""
        pc = LoadedAddress(write.pc)
        instruction = self.instruction(pc)
        row = self.inferior.programs.at(pc).line_at(pc)
        known = row is not None and row.line
        return FoundWrite(
            write.position, write.thread, write.lanes, pc, instruction.text if instruction is not None else "??",
            row.file.name if row is not None and known else None, row.line if row is not None and known else None,
        )

    def instruction(self, pc: int) -> Instruction | None:
        """The instruction at a PC; None if there is none."""
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

    def _of_register(
        self, kind: OperandKind, number: int, value: Value, focus: Focus, first: bool
    ) -> FoundWrite | None:
        assert focus.thread is not None
        dwords = 1 if kind is not OperandKind.SGPR else max(1, value.size // 4)
        numbers = range(number, number + dwords)
        past = WavePast(self.inferior, self.recording, focus.thread)
        found = past.last_of(self._writes(kind, numbers), focus.lane if kind is not OperandKind.SGPR else None, first)
        if found is None:
            return None
        self.recording.go_before(focus.thread, found.count, past.present)
        lanes = 0 if kind is OperandKind.SGPR else found.active
        return self.told(Write(self.recording.position, focus.thread, lanes, found.pc))

    def _writes(self, kind: OperandKind, numbers: range) -> Callable[[int], bool]:
        """Whether the instruction at a PC writes one of the registers."""

        def writes(pc: int) -> bool:
            instruction = self.instruction(pc)
            return instruction is not None and any(
                operand.kind is kind
                and operand.index < numbers.stop and numbers.start < operand.index + operand.dwords
                for operand in results(instruction)
            )

        return writes
