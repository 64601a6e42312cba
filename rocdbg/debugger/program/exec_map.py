"""Where machine code changes EXEC, and where it does so only for its own housekeeping.

Spill code activates all lanes for a few instructions (``s_or_saveexec_b64 s[40:41], -1`` ... ``s_mov_b64 exec,
s[40:41]``). The additional lanes are not active in the sense of the source: in such a window, the saved mask has the
active lanes.
"""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct, field

from rocdbg import isa
from rocdbg.addresses import FileAddress
from rocdbg.debugger.program.program import Program
from rocdbg.errors import Error

_EXEC = (126, 127)


class FunctionExec(Struct, frozen=True):
    """One function: the file addresses where EXEC may change or control may leave, and its housekeeping windows.

    Attributes: events: ends of the instructions that may change EXEC or leave the function, ascending. windows: for the
    address of each instruction in a window, the first SGPR of the saved mask. settled: ends of instructions that write
    EXEC, ascending, with whether they may turn on lanes that are not in the function (only a write of a constant other
    than 0 can). joins: addresses of branch targets, ascending. leaves: addresses of instructions after which control
    may be outside the function.
    """

    low: int
    high: int
    events: tuple[int, ...]
    windows: dict[int, int]
    settled: tuple[tuple[int, bool], ...] = ()
    joins: tuple[int, ...] = ()
    leaves: frozenset[int] = frozenset()

    def wakes_lanes(self, address: int) -> bool:
        """Whether EXEC may contain lanes other than the active ones at an address, because the straight-line code
        before the address does not exclude it.
        """
        if not any(wakes for _, wakes in self.settled):
            return False
        index = bisect_right(self.settled, (address, True))
        end, wakes = self.settled[index - 1] if index else (self.low, False)
        join = bisect_right(self.joins, address)
        return wakes or bool(join and self.joins[join - 1] >= end)

    def next_event(self, address: FileAddress) -> FileAddress:
        """Return the end of the straight-line code that begins at ``address`` and in which only the last instruction
        can change EXEC.
        """
        index = bisect_right(self.events, address)
        return FileAddress(self.events[index] if index < len(self.events) else self.high)


class ExecMap(Struct):
    """The maps of functions, created on first use and kept as long as the program exists."""

    program: Program
    functions: dict[tuple[int, int], FunctionExec] = field(default_factory=dict)
    """By first address and wave size: a code object may have kernels of both sizes, and functions that both call."""

    def function_at(self, address: int, wave_size: int) -> FunctionExec | None:
        """Return the map of the function at a file address; ``None`` outside known code."""
        function = self.program.functions.at(address)
        if function is None:
            return None
        low = FileAddress(function.start)
        found = self.functions.get((low, wave_size))
        if found is None:
            found = self._scan(low, FileAddress(function.end), wave_size)
            self.functions[low, wave_size] = found
        return found

    def wakes_lanes(self, address: int, wave_size: int) -> bool:
        """Check quickly whether EXEC may contain lanes other than the active ones at an address."""
        function = self.function_at(address, wave_size)
        return function is None or function.wakes_lanes(address)

    def saved_mask(self, address: int, wave_size: int) -> int | None:
        """Return the first SGPR of the saved mask in a housekeeping window, otherwise ``None``."""
        function = self.function_at(address, wave_size)
        return function.windows.get(address) if function is not None else None

    def _scan(self, low: int, high: int, wave_size: int) -> FunctionExec:
        try:
            code = self.program.code_object.read(low, high - low)
        except Error:
            return FunctionExec(low, high, (), {}, ((low, True),))
        events: list[int] = []
        windows: dict[int, int] = {}
        saved: int | None = None
        settled: list[tuple[int, bool]] = []
        joins: set[int] = set()
        leaving: set[int] = set()
        target = self.program.code_object.target.name
        for instruction in isa.disassemble(code, target, address=low, wave_size=wave_size):
            if saved is not None:
                windows[instruction.address] = saved
            leaves = instruction.flow is not isa.Flow.NEXT
            writes = _writes_exec(instruction)
            end = instruction.address + instruction.size
            target_pc = instruction.branch_target
            if instruction.flow in (isa.Flow.CALL, isa.Flow.INDIRECT) or (
                target_pc is not None and not low <= target_pc < high
            ):
                leaving.add(instruction.address)
            if writes:
                settled.append((end, any(operand.value for operand in instruction.operands)))
            if instruction.branch_target is not None:
                joins.add(instruction.branch_target)
            if instruction.flow not in (isa.Flow.NEXT, isa.Flow.CALL, isa.Flow.COND_BRANCH, isa.Flow.TRAP):
                joins.add(end)  # straight-line code does not lead there
            if leaves or writes:
                events.append(end)
                saved = None if leaves else _all_lanes_on(instruction)
        return FunctionExec(low, high, tuple(events), windows, tuple(settled), tuple(sorted(joins)), frozenset(leaving))


def _writes_exec(instruction: isa.Instruction) -> bool:
    name = instruction.name
    if "saveexec" in name or "wrexec" in name or name.startswith(("v_cmpx", "v_cmpsx")):
        return True
    return any(
        operand.name in ("sdst", "vdst")
        and operand.kind is isa.OperandKind.SPECIAL
        and operand.index in _EXEC
        for operand in instruction.operands
    )


def _all_lanes_on(instruction: isa.Instruction) -> int | None:
    """Return the destination SGPR of an instruction that saves EXEC and activates lanes for housekeeping (OR or XOR
    with -1).
    """
    if instruction.name not in (
        "s_or_saveexec_b64", "s_or_saveexec_b32", "s_xor_saveexec_b64", "s_xor_saveexec_b32",
    ):
        return None
    target, source = instruction.operands[0], instruction.operands[-1]
    if source.kind is not isa.OperandKind.CONSTANT or source.value is None or target.index is None:
        return None
    bits = 64 if instruction.name.endswith("64") else 32
    if source.value & ((1 << bits) - 1) != (1 << bits) - 1 or target.kind is not isa.OperandKind.SGPR:
        return None
    return target.index
