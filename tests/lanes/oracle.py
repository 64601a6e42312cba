"""The lanes' real next instructions, from single steps of a wave, compared with the debugger's positions of the lanes.

A wave is stepped through its kernel while every instruction's address, EXEC and calls are noted. At some of the stops,
the debugger reports the position of each inactive lane. Afterwards, the notes show the right position: the innermost
frame at whose beginning the lane was active, and the next instruction with a source line that it executed in that
frame.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import rocdbg
from rocdbg import isa
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.program.opencl_kernels import KERNEL_BODY
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.target.capabilities.runnable import Resume, ResumeMode

CALLS = isa.Flow.CALL
RETURNS = ("s_setpc_b64", "s_set_pc_i64")
ALL_ON = ("s_or_saveexec", "s_xor_saveexec")


@dataclass
class Activation:
    """One frame that really existed."""

    number: int
    lanes: int
    """The lanes that were active when it began."""


@dataclass
class Note:
    """A wave-instruction about to be executed."""

    pc: int
    lanes: int
    """The lanes that are active in the source: in whole-wave code, a saved mask and not EXEC."""
    frames: tuple[Activation, ...]
    """The frames, outermost first."""
    must_count: bool = False
    """A call: the lane is at it, regardless of its line."""


@dataclass
class Answer:
    """The debugger's answer about an inactive lane: physical level and address, and the source of the information."""

    note: int
    lane: int
    level: int | None
    pc: int | None
    synthesised: bool


@dataclass
class Score:
    """The comparison: right and wrong lines (or frames), unknown places, and the first wrong results."""

    right: int = 0
    wrong: int = 0
    unknown: int = 0
    exact: int = 0
    """Right results with the exact address."""
    untold: int = 0
    """Stops of lanes whose next instruction is beyond the recorded ones."""
    examples: list[str] = field(default_factory=list)
    unknowns: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.right + self.wrong + self.unknown

    def add(self, other: Score) -> None:
        self.right += other.right
        self.wrong += other.wrong
        self.unknown += other.unknown
        self.exact += other.exact
        self.untold += other.untold
        self.examples += other.examples
        self.unknowns += other.unknowns

    def __str__(self) -> str:
        total = max(self.total, 1)
        return (
            f"{self.total:7} pairs  right {self.right / total:8.3%}  wrong {self.wrong / total:8.3%}  "
            f"unknown {self.unknown / total:8.3%}  same address {self.exact / max(self.right, 1):8.3%}"
        )


def check_launch(
    launch: Path, arch: str | None = None, *, samples: int = 400, waves: int = 2, most: int = 30_000, seed: int = 1
) -> Score:
    """Step waves of a launch file's kernel, and compare."""
    debugger = rocdbg.Debugger(str(launch), arch=arch) if arch else rocdbg.Debugger(str(launch))
    debugger.execute("start", to_string=True)
    return check_session(debugger, samples=samples, waves=waves, most=most, seed=seed)


def check_session(debugger: rocdbg.Debugger, *, samples: int, waves: int, most: int, seed: int = 1) -> Score:
    """As `check_launch`, for a session whose kernel has just begun."""
    inferior = debugger.session.inferior
    score = Score()
    for _ in range(waves):
        target = inferior.target
        fresh = [] if target is None or target.finished else [
            wave for wave in target.waves() if _is_at_start(inferior, wave.number)
        ]
        if not fresh:
            break
        score.add(_check_wave(inferior, fresh[0].number, samples, most, random.Random(seed)))
    return score


def _is_at_start(inferior: Inferior, thread: int) -> bool:
    program = inferior.program_of(thread)
    wave = inferior.wave(thread)
    function = program.symbol_at(wave.pc)
    # the debugger has run the first waves after their prologues: kernels begin with all their lanes
    return function is not None and wave.exec_mask == wave.used_lanes and _is_kernel(program, wave.pc)


def _is_kernel(program: Program, pc: int) -> bool:
    symbol = program.symbol_at(pc)
    # without optimisation the body of an OpenCL kernel is a function that the kernel calls
    return symbol is not None and program.code_object.kernels.find(symbol.name.removeprefix(KERNEL_BODY)) is not None


def _check_wave(inferior: Inferior, thread: int, samples: int, most: int, choice: random.Random) -> Score:
    notes, answers, complete = _follow(inferior, thread, samples, most, choice)
    program = inferior.programs.first
    assert program is not None
    return _compare(notes, answers, program, complete)


def _follow(
    inferior: Inferior, thread: int, samples: int, most: int, choice: random.Random
) -> tuple[list[Note], list[Answer], bool]:
    target = inferior.need_target()
    runnable = inferior.need_runnable()
    program = inferior.program_of(thread)
    arch = program.code_object.target.name
    notes: list[Note] = []
    answers: list[Answer] = []
    complete = False
    decoded: dict[int, isa.Instruction] = {}
    used = inferior.wave(thread).used_lanes
    frames = (Activation(0, inferior.wave(thread).exec_mask),)
    activations = 1
    window: tuple[int, int] | None = None  # register saved to, and the mask
    # stops at which something is new come first: each address early, then fewer and fewer
    asked: Counter[int] = Counter()
    while len(notes) < most:
        wave = inferior.wave(thread)
        lanes = wave.exec_mask if window is None else window[1]
        notes.append(Note(wave.pc, lanes, frames))
        waiting = used & ~lanes
        count = asked[wave.pc]
        if waiting and (samples > len(answers) // 16) and choice.random() < 1 / (1 + count * count / 4):
            asked[wave.pc] += 1
            inferior.state_changed()
            for lane in range(wave.lane_count):
                if waiting >> lane & 1:
                    entered = inferior.entered(thread, lane)
                    if entered is None:
                        answers.append(Answer(len(notes) - 1, lane, None, None, False))
                    else:
                        answers.append(
                            Answer(len(notes) - 1, lane, entered.level, entered.pc, entered.synthesised)
                        )
        instruction = decoded.get(wave.pc)
        if instruction is None:
            code = target.read_memory(0, wave.pc, 12, thread, 0)
            instruction = decoded[wave.pc] = isa.decode(code, arch, address=wave.pc, wave_size=wave.lane_count)
        notes[-1].must_count = instruction.flow in (CALLS, isa.Flow.INDIRECT)
        if instruction.flow is isa.Flow.END:
            complete = True
            break
        stop = runnable.resume(Resume(ResumeMode.STEP, thread, only=True))
        if stop.kind.value not in ("step",) or target.finished:
            break
        if instruction.flow is CALLS:
            after = inferior.wave(thread)
            frames = (*frames, Activation(activations, after.exec_mask))
            activations += 1
        elif instruction.name in RETURNS:
            symbol = program.symbol_at(wave.pc)
            there = program.symbol_at(inferior.wave(thread).pc)
            if symbol is not None and there is not None and symbol.name == there.name and (
                _returns_to(notes, inferior.wave(thread).pc) is None
            ):
                pass  # a long branch
            elif _returns_to(notes, inferior.wave(thread).pc) is not None:
                frames = frames[:-1]
            else:
                frames = (*frames[:-1], Activation(activations, inferior.wave(thread).exec_mask))
                activations += 1
        window = _window_after(window, instruction, lanes, wave.exec_mask)
    inferior.state_changed()
    return notes, answers, complete


def _returns_to(notes: list[Note], pc: int) -> int | None:
    """The depth of the frame whose call the address follows."""
    depth = len(notes[-1].frames)
    for note in reversed(notes):
        if len(note.frames) == depth - 1:
            return depth - 1 if 0 < pc - note.pc <= 8 else None
    return None


def _window_after(
    window: tuple[int, int] | None, instruction: isa.Instruction, lanes: int, exec_mask: int
) -> tuple[int, int] | None:
    name = instruction.name
    if name.startswith(ALL_ON) and instruction.operands[-1].kind is isa.OperandKind.CONSTANT:
        return (instruction.operands[0].index, exec_mask) if window is None else window
    if window is not None and instruction.operands and instruction.operands[0].text.startswith("exec"):
        source = instruction.operands[-1]
        if source.kind is isa.OperandKind.SGPR and source.index == window[0]:
            return None
    return window


def _compare(notes: list[Note], answers: list[Answer], program: Program, complete: bool) -> Score:
    score = Score()
    # the next instruction of each lane in each frame, from the end
    following: dict[tuple[int, int], int] = {}
    due = {(answer.note, answer.lane): answer for answer in answers}
    by_note: dict[int, list[Answer]] = {}
    for answer in due.values():
        by_note.setdefault(answer.note, []).append(answer)
    end = notes[-1].pc
    for index in range(len(notes) - 1, -1, -1):
        note = notes[index]
        for answer in by_note.get(index, ()):
            depth = max(
                (number for number, frame in enumerate(note.frames) if frame.lanes >> answer.lane & 1), default=None
            )
            if depth is None:
                continue  # not in the kernel at all
            true_pc = following.get((note.frames[depth].number, answer.lane))
            if true_pc is None:
                if not complete or depth:
                    score.untold += 1
                    continue
                true_pc = end  # it is done, and waits for the others at the end
            level = len(note.frames) - 1 - depth
            _judge(score, answer, note, level, true_pc, program)
        frame = note.frames[-1].number
        lanes = note.lanes
        row = program.line_at(note.pc)
        if row is not None and not row.line and not note.must_count:
            lanes = 0  # of no source line: the lane is on its way to one
        while lanes:
            lane = (lanes & -lanes).bit_length() - 1
            lanes &= lanes - 1
            following[frame, lane] = note.pc
    return score


def _judge(score: Score, answer: Answer, note: Note, level: int, true_pc: int, program: Program) -> None:
    if answer.level is None or (answer.pc is None):
        score.unknown += 1
        score.unknowns[f"{_place(program, note.pc)}"] += 1
        return
    if answer.level == level and _line(program, answer.pc) == _line(program, true_pc):
        score.right += 1
        score.exact += answer.pc == true_pc
        return
    score.wrong += 1
    if len(score.examples) < 12:
        score.examples.append(
            f"wave at {_place(program, note.pc)}, lane {answer.lane}: said level {answer.level} "
            f"{_place(program, answer.pc)}, is at level {level} {_place(program, true_pc)}"
        )


def _line(program: Program, pc: int) -> object:
    row = program.line_at(program.to_loaded(program.to_file(pc)))  # type: ignore[arg-type]
    return None if row is None else (row.file.path, row.line)


def _place(program: Program, pc: int) -> str:
    row = program.line_at(program.to_loaded(program.to_file(pc)))  # type: ignore[arg-type]
    return f"{program.symbolize(pc)}={program.to_file(pc):#x}:{row.line if row is not None else '?'}"  # type: ignore[arg-type]
