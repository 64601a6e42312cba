"""The real call chain of a wave, from its calls and returns, compared with the debugger's unwinding.

The comparison covers return addresses and the registers that a called function preserves: those of each caller must be
as at its call.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import rocdbg
from rocdbg import isa
from rocdbg.addresses import LoadedAddress
from rocdbg.analysis.register_effects import preserves_scalar
from rocdbg.arch.dwarf_registers import sgpr_number, vgpr_number
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.waiting_lanes import top_context
from rocdbg.debugger.target.capabilities.runnable import Resume, ResumeMode
from rocdbg.dwarf import EvaluationError

RETURNS = ("s_setpc_b64", "s_set_pc_i64")
SCALARS = tuple(register for register in range(32, 100) if preserves_scalar(register))
VECTORS = (*range(40, 48), *range(56, 64))


@dataclass
class Call:
    """A caller: the return address of its call, the lanes for which it was made, and registers at the call."""

    returns_to: int
    lanes: int
    scalars: dict[int, bytes]
    vectors: dict[int, bytes]


@dataclass
class Chains:
    """The comparison: places with the right chain, and with a wrong one; registers that are right, wrong, or reported
    as lost.
    """

    right: int = 0
    wrong: int = 0
    registers: int = 0
    wrong_registers: int = 0
    lost_registers: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, other: Chains) -> None:
        self.right += other.right
        self.wrong += other.wrong
        self.registers += other.registers
        self.wrong_registers += other.wrong_registers
        self.lost_registers += other.lost_registers
        self.examples += other.examples

    def __str__(self) -> str:
        total = max(self.right + self.wrong, 1)
        return (
            f"{total:6} places  right {self.right / total:8.3%}  registers: {self.registers} right, "
            f"{self.wrong_registers} wrong, {self.lost_registers} lost"
        )


def check_chains(launch: Path, arch: str | None = None, *, samples: int = 400, most: int = 30_000) -> Chains:
    """Step the first wave of a launch, and compare at each new address."""
    debugger = rocdbg.Debugger(str(launch), arch=arch) if arch else rocdbg.Debugger(str(launch))
    debugger.execute("start", to_string=True)
    inferior = debugger.session.inferior
    thread = inferior.need_target().waves()[0].number
    target, runnable, program = inferior.need_target(), inferior.need_runnable(), inferior.program_of(thread)
    choice = random.Random(1)
    found = Chains()
    calls: list[Call] = []
    decoded: dict[int, isa.Instruction] = {}
    asked: dict[int, int] = {}
    for _ in range(most):
        wave = inferior.wave(thread)
        count = asked.get(wave.pc, 0)
        if calls and found.right + found.wrong < samples and choice.random() < 1 / (1 + 4 * count):
            asked[wave.pc] = count + 1
            inferior.state_changed()
            _compare(found, inferior, thread, calls)
        instruction = decoded.get(wave.pc)
        if instruction is None:
            code = target.read_memory(0, wave.pc, 12, thread, 0)
            name = program.code_object.target.name
            instruction = decoded[wave.pc] = isa.decode(code, name, address=wave.pc, wave_size=wave.lane_count)
        if instruction.flow is isa.Flow.END:
            break
        call = None
        if instruction.flow is isa.Flow.CALL:
            call = Call(
                wave.pc + instruction.size, wave.exec_mask,
                {
                    number: target.read_register(thread, sgpr_number(number))
                    for number in SCALARS if number < wave.sgprs
                },
                {
                    number: target.read_register(thread, vgpr_number(number, wave.lane_count))
                    for number in VECTORS if number < wave.vgprs
                },
            )
        stop = runnable.resume(Resume(ResumeMode.STEP, thread, only=True))
        if stop.kind.value != "step" or target.finished:
            break
        if call is not None:
            calls.append(call)
        elif instruction.name in RETURNS and calls and inferior.wave(thread).pc == calls[-1].returns_to:
            calls.pop()
    return found


def _compare(found: Chains, inferior: Inferior, thread: int, calls: list[Call]) -> None:
    program, target = inferior.program_of(thread), inferior.need_target()
    wave = inferior.wave(thread)
    where = program.symbolize(wave.pc)
    first = (wave.exec_mask & -wave.exec_mask).bit_length() - 1
    context: FrameContext | None = top_context(
        program, target, Focus(thread, max(first, 0)), inferior.unwinder(program)
    )
    chain: list[FrameContext] = []
    try:
        while context is not None and len(chain) <= len(calls) + 1:
            if context.function is not None and program.is_kernel(context.function):
                break
            context = context.next_frame()
            if context is not None:
                chain.append(context)
    except EvaluationError as error:
        where = f"{where} ({error})"
    wanted = [call.returns_to for call in reversed(calls)]
    got = [LoadedAddress((frame.pc or 0) + 1) for frame in chain]
    if got != wanted:
        found.wrong += 1
        if len(found.examples) < 10:
            found.examples.append(f"at {where}: {[hex(a) for a in got]} instead of {[hex(a) for a in wanted]}")
        return
    found.right += 1
    for frame, call in zip(chain, reversed(calls), strict=True):
        for number, contents in call.scalars.items():
            _register(found, frame, sgpr_number(number), f"s{number} at {where}", contents, None)
        for number, contents in call.vectors.items():
            vector = vgpr_number(number, wave.lane_count)
            lane = call.lanes.bit_length() - 1
            _register(found, frame, vector, f"v{number} at {where}", contents[4 * lane:4 * lane + 4], lane)


def _register(
    found: Chains, frame: FrameContext, number: int, name: str, contents: bytes, lane: int | None
) -> None:
    try:
        value = frame.register_location(number).read(32, 32 * (lane or 0))
    except EvaluationError:
        found.lost_registers += 1
        return
    if value == int.from_bytes(contents, "little"):
        found.registers += 1
    else:
        found.wrong_registers += 1
        if len(found.examples) < 10:
            found.examples.append(f"{name}: {value:#x} instead of {contents[::-1].hex()}")
