"""Random machine code and its results: for `fuzz_kernels`.

A *program* is a few instructions for one target, made from its number alone: words that look valid (an opcode with
likely and unlikely operands), or part of a demo kernel with some bits changed. It begins with registers full of
pointers to the edges of everything: buffers, LDS, private memory, code, apertures.

A program is run three ways: straight, in single steps, and by optimised code. A program is bad if the three runs
differ, if one stops with an internal error or an exception, or if a byte changes that no program can reach. A single
instruction is also run with other contents in all vector registers that it does not name: they must neither affect the
result nor change.
"""

from __future__ import annotations

import ctypes
import functools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import random_images
from numpy.typing import NDArray

from rocdbg.arch.targets import ScratchKind, Target, target_by_name
from rocdbg.codeobject import open_file
from rocdbg.errors import Error
from rocdbg.isa.decoder import DecodeError, decode, decoder_for
from rocdbg.isa.encoding_layouts import Layout, family_of, insert, layouts, width
from rocdbg.isa.generate.sample_words import CODES, LITERALS
from rocdbg.isa.instruction import Flow, OperandKind
from rocdbg.sim.core import layout
from rocdbg.sim.core.global_share import GlobalShare
from rocdbg.sim.core.guarded import ALIGN, guarded
from rocdbg.sim.core.layout import WORDS, PageFlags, Status
from rocdbg.sim.core.memory import AllocationKind, GlobalMemory
from rocdbg.sim.core.register_bounds import bounds
from rocdbg.sim.core.vgpr_banks import in_banks
from rocdbg.sim.core.wave import Wave, m0_code, state_block
from rocdbg.sim.engine.native import Engine
from rocdbg.sim.images.fields import IMAGE_DWORDS, SAMPLER_DWORDS, rules_of
from rocdbg.sim.translator.blocks import Block, form_block
from rocdbg.sim.translator.routine_names import helper_names

DEMOS = Path(__file__).resolve().parent.parent / "demo_kernels"

VARIANTS = (
    ("gfx600", 64), ("gfx700", 64), ("gfx803", 64), ("gfx810", 64),
    ("gfx900", 64), ("gfx906", 64), ("gfx908", 64), ("gfx90a", 64), ("gfx942", 64), ("gfx950", 64), ("gfx1010", 32),
    ("gfx1010", 64), ("gfx1030", 32), ("gfx1030", 64), ("gfx1100", 32), ("gfx1100", 64), ("gfx1150", 32),
    ("gfx1151", 64), ("gfx1200", 32), ("gfx1201", 64), ("gfx1250", 32),
)
"""Targets and wave sizes, including those with separate tables."""

BUDGET = 300
"""Instructions that a program may execute."""
SLOT = 512
"""Bytes from one program to the next."""
BATCH = 32
"""Programs translated together: they share target, wave size and MODE."""

_IMAGES = 0.12
"""The number of instructions with meaningful descriptors."""

_MODES = (0xF0, 0x3F0, 0x3C0, 0x300, 0x2F5, 0x80_03F0, 0x3FA, 0x3F0 | 0x7F << 12)
"""Denormals kept, the ABI's, flushed, without IEEE, rounding, FP16_OVFL, all arithmetic exceptions."""


# -- making programs ---------------------------------------------------------------------------------------------


@functools.cache
def _opcodes(target: str) -> list[tuple[Layout, int]]:
    return [
        (found, opcode)
        for found in layouts(family_of(target))
        for opcode in found.opcodes or range(1 << width(found.opcode))
    ]


@functools.cache
def _memory(target: str) -> list[tuple[Layout, int]]:
    return [(found, opcode) for found, opcode in _opcodes(target) if found.encoding in _MEMORY]


@functools.cache
def _demo_code(target: str) -> list[bytes]:
    """Code of the demo kernels for a target, or for one of its generation."""
    generation = target_by_name(target).generation
    out = []
    for path in sorted(DEMOS.glob("*/*.co")):
        name = path.name.split(".")[-2]
        try:
            same = target_by_name(name).generation is generation
        except Error:
            continue
        if same:
            image = open_file(path).load(layout.WINDOW_BASE)
            out += [bytes(s.data) for s in image.segments if s.executable and len(s.data) >= 64]
    return out


def make_code(number: int, target: str) -> bytes:
    """The machine code of a program."""
    generator = random.Random(number)
    demos = _demo_code(target)
    if demos and generator.random() < 0.15:
        code = _mutated(generator, demos)
    else:
        code = b"".join(_words(generator, target))
    return code[: SLOT - 64]


def _mutated(generator: random.Random, demos: list[bytes]) -> bytes:
    whole = generator.choice(demos)
    start = generator.randrange(0, len(whole) - 32) & ~3
    code = bytearray(whole[start : start + 4 * generator.randint(4, 40)])
    for _ in range(generator.randint(0, 6)):
        at = generator.randrange(len(code))
        code[at] ^= 1 << generator.randrange(8)
    return bytes(code)


def _words(generator: random.Random, target: str) -> Iterator[bytes]:
    decoder = decoder_for(target)
    for _ in range(generator.choice((1, 1, 1, 2, 2, 3, 4, 8))):
        for _ in range(5):  # most operands fit most opcodes, but not all; an illegal instruction ends a program
            images = random_images.opcodes(target) if generator.random() < _IMAGES else ()
            found, opcode = generator.choice(
                images or (_memory(target) if generator.random() < 0.35 else _opcodes(target))
            )
            word = (random_images.word if images else _word)(generator, found, opcode)
            if not images and generator.random() < 0.5:
                word = _edges(generator, found, word)
            data = word.to_bytes(4 * found.dwords + 20, "little")
            try:
                instruction = decoder.decode(data)
            except DecodeError:
                continue
            if not instruction.illegal and instruction.flow is not Flow.END:
                yield data[: instruction.size]
                break


def _word(generator: random.Random, found: Layout, opcode: int) -> int:
    """An instruction of one opcode followed by a literal."""
    word = found.value | insert(found.opcode, opcode)
    kind = generator.choice((0, 0, 0, 1, 2, 2))  # vector registers, scalar ones, anything
    for bits in found.operands.values():
        size = width(bits)
        if kind == 0:
            code = generator.randrange(0, 120, 2) | (256 if size >= 9 else 0)
        elif kind == 1:
            code = generator.randrange(0, 100, 4) >> (2 if size < 7 else 0)
        else:
            code = generator.choice(CODES)
        word |= insert(bits, code & (1 << size) - 1)
    for bits in (*found.modifiers.values(), *found.immediates.values()):
        if generator.random() < 0.2:
            word |= insert(bits, generator.getrandbits(width(bits)))
    for selector in found.selectors:
        case = generator.choice((selector.other, *selector.codes))
        word = word & ~insert(selector.bits, -1) | insert(selector.bits, case)
    if found.src0:
        at = 32 * found.src0_dword
        word = word & ~(0x1FF << at) | generator.choice(found.src0) << at
    return word | generator.choice(LITERALS) << 32 * found.dwords


_MEMORY = frozenset(("DS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF", "SMEM"))


def _edges(generator: random.Random, found: Layout, word: int) -> int:
    """An operand at the end of the register file, or among the registers that hold pointers."""
    if not found.operands:
        return word
    for bits in generator.sample(list(found.operands.values()), generator.randint(1, min(3, len(found.operands)))):
        size = width(bits)
        if size >= 8:
            code = generator.choice((255, 254, 253, 252, 0, 2, 4, 6, 8)) | (256 if size >= 9 else 0)
        else:
            code = generator.choice((0, 1, 2, 3, 4, 6, 8, (1 << size) - 1, generator.getrandbits(size)))
        word = word & ~insert(bits, -1) | insert(bits, code & (1 << size) - 1)
    return word


# -- running them ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a run. ``state`` is the wave's; ``memory`` holds the bytes of all buffers, LDS, GDS and GWS."""

    status: str
    state: bytes
    memory: bytes


class Rig:
    """One wave of a target, with memory around it, on which programs run."""

    def __init__(self, target: str, wave_size: int) -> None:
        self.target: Target = target_by_name(target)
        self.wave_size = wave_size
        self.memory = GlobalMemory()
        exec_ = PageFlags.READ | PageFlags.EXECUTE
        self.code = self.memory.allocate(SLOT * BATCH, name="code", kind=AllocationKind.CODE, protection=exec_)
        self.large = self.memory.allocate(4096, name="large")
        self.small = self.memory.allocate(100, name="small")
        self.constant = self.memory.allocate(256, name="constant", protection=PageFlags.READ)
        self.lane_scratch = 80
        self.scratch = self.memory.allocate(
            2 * self.lane_scratch * wave_size, name="scratch", kind=AllocationKind.SCRATCH
        )
        self.lds_size = 516
        self.lds = guarded(self.lds_size)
        self.block = state_block(self.target, wave_size)
        self.state = self.block.state
        self.share = GlobalShare(self.target)
        page_table = self.memory.page_table_address
        self.plain, self.fast = (
            Engine(self.target, wave_size, page_table, self._fetch, share=self.share) for _ in range(2)
        )
        self.fast.optimise()
        self.end = 0xBFB00000 if self.target.generation >= 11 else 0xBF810000
        """s_endpgm."""
        self.executed = 0
        """Instructions that all programs have executed, in straight runs."""
        self.buffers = (self.large, self.small, self.constant, self.scratch)

    def link_all(self) -> None:
        """Link all routines, so that only programs are compiled afterwards."""
        for engine in (self.plain, self.fast):
            engine._link_helpers(helper_names())

    def _fetch(self, address: int, size: int) -> bytes:
        if not self.code.address <= address < self.code.end:
            return b""
        return self.memory.read(address, min(size, self.code.end - address))

    @property
    def registers(self) -> NDArray[np.uint32]:
        """The vector registers, uint32[number, lane]; AGPRs follow the VGPRs."""
        return self.state[layout.VGPRS :].view(np.uint32).reshape(-1, self.wave_size)

    def load(self, programs: Iterable[bytes]) -> list[int]:
        """Replace the code with programs; return the address of each. The code after a program ends it."""
        end = self.end.to_bytes(4, "little")
        starts = []
        self.memory.write(self.code.address, end * (SLOT * BATCH // 4))
        for n, code in enumerate(programs):
            starts.append(self.code.address + n * SLOT)
            self.memory.write(starts[-1], code)
        for engine in (self.plain, self.fast):
            engine.invalidate(self.code.address, self.code.end)
        return starts

    def translate(self, starts: list[int], mode: int) -> None:
        """Translate the beginnings of all programs at once: three modules instead of hundreds."""
        key = layout.mode_key(mode, 0 if self.target.generation <= 9 else None, self.target.is_gfx125)
        for engine, table in ((self.plain, "blocks"), (self.plain, "steps"), (self.fast, "blocks")):
            decode = engine._decoding(key)
            engine._code.fill(self.code.address)
            engine._begin_again_if_full()
            blocks = [form_block(start, decode, lambda _: False) for start in starts]
            blocks = [block for block in blocks if block.instructions]
            if table == "steps":
                seen = {i.address: i for block in blocks for i in block.instructions}
                blocks = [Block(address, (i,)) for address, i in seen.items()]
            optimise = engine is self.fast
            for block, (done, function) in zip(blocks, engine._compile(blocks, key, optimise), strict=True):
                if not done.instructions:
                    continue
                if table == "steps":
                    engine._single[key, block.start] = function
                    engine._steps.set(key, block.start, function)
                else:
                    engine._compiled[key, block.start, done.end] = function
                    engine._installed[key, block.start] = done.end
                    engine._blocks.set(key, block.start, function)

    # -- one program --------------------

    def prepare(self, number: int, start: int, mode: int) -> None:
        """Registers and memory of a program."""
        values = np.random.default_rng(number)
        state = self.state
        state[:] = 0
        self.block.engine[:] = 0
        wave = Wave(self.block, self.target, self.wave_size, 1, (0, 0, 0), 0, (self.wave_size, 1, 1), self.lds)
        wave.pc, wave.mode = start, mode
        full = (1 << self.wave_size) - 1
        wave.exec = full if number % 3 else int(values.integers(0, 1 << 63)) & full
        scratch = self.lane_scratch * self.wave_size
        few = (256, 256, 256, 128, 40)[number % 5]
        vgprs = min(few * (4 if self.target.is_gfx125 and few == 256 else 1), self.target.vgpr_file)
        agprs = 256 if self.target.has_agprs else 0
        fields = {
            "lds_pointer": self.lds.ctypes.data, "lds_size": self.lds_size, "scratch_base": self.scratch.address,
            "scratch_size": scratch, "used_lanes": full, "number": 1, "vgpr_limit": vgprs,
            "register_bounds": bounds(self.target, self.wave_size, vgprs, agprs, 104),
        }
        for name, value in fields.items():
            wave.set_word(name, int(value))
        wave.set_field("flat_scratch", self.scratch.address if self.target.scratch is ScratchKind.ARCHITECTED else 0)
        wave.set_field("trap_ctrl", mode >> 12 & 0x7F)
        interesting = self._interesting(values)
        words = state[layout.SGPRS : layout.SGPRS + 4 * 106].view(np.uint32)
        words[:] = values.integers(0, 1 << 32, 106, dtype=np.uint32)
        picks = values.integers(0, len(interesting), 40)
        for n, pick in enumerate(picks):
            wave.set_sgpr64(2 * n, interesting[pick])
        for n in range(4, 40, 4):  # resources: a base, little or much, flags
            if n % 3 == 0:
                high = int(values.choice((0, 4 << 16, 0x80040000, 0xC0100000)))
                wave.set_sgpr(n + 1, wave.sgpr(n + 1) & 0xFFFF | high)
                wave.set_sgpr(n + 2, int(values.choice((0, 1, 64, 100, 4096, 0xFFFFFFFF))))
                wave.set_sgpr(n + 3, int(values.integers(0, 1 << 32)))
        if self.target.flat_scratch_is_offset:
            code = self.target.flat_scratch_code
            wave.set_field("flat_scratch", self.scratch.address)
            wave.set_sgpr(code, self.lane_scratch)
            wave.set_sgpr(code + 1, int(values.choice((0, 0, 0, 1, 16, 1 << 24, 0xFFFFFFFF))))
        elif self.target.generation == 9 and self.target.scratch is not ScratchKind.ARCHITECTED:
            wave.set_sgpr64(102, self.scratch.address + int(values.choice((0, 0, 0, 1, 3, 64, 4096))))
        wave.set_sgpr(m0_code(self.target), int(values.choice((0, 1, 255, 0x10001, 0xFFFFFFFF, 300))))
        wave.set_sgpr64(106, int(values.integers(0, 1 << 63)))
        lanes = self.wave_size
        registers = self.registers
        registers[:] = values.integers(0, 1 << 32, lanes, dtype=np.uint32)
        registers ^= (np.arange(len(registers), dtype=np.uint32) * np.uint32(0x9E3779B9))[:, None]
        rules, base = rules_of(self.target), self.large.address
        for first in random_images.IMAGES:
            words[first : first + IMAGE_DWORDS] = random_images.image(values, rules, base)
        for first in random_images.SAMPLERS:
            words[first : first + SAMPLER_DWORDS] = random_images.sampler(values, rules)
        registers[random_images.ADDRESSES] = random_images.addresses(values, lanes)
        table = np.array(interesting, np.uint64)
        for pair in (0, 2, 4, 6, 8, 126, 252, 254):
            per_lane = table[values.integers(0, len(table), lanes)]
            if pair % 4:  # neighbours
                per_lane = per_lane[:1] + np.arange(lanes, dtype=np.uint64) * np.uint64(4)
            registers[pair], registers[pair + 1] = per_lane & np.uint64(0xFFFFFFFF), per_lane >> np.uint64(32)
        offsets = np.array((0, 1, 2, 4, 60, 508, 512, 513, 516, 76, 80, 4096), np.uint32)
        for register in (10, 11, 12, 13):
            registers[register] = values.choice(offsets, lanes)
        for buffer in self.buffers:
            buffer.data[:] = values.integers(0, 256, buffer.size, dtype=np.uint8)
        self.lds[:] = values.integers(0, 256, self.lds_size, dtype=np.uint8)
        self.share.gds[:] = values.integers(0, 256, self.share.gds.size, dtype=np.uint8)
        self.share.gws[:] = 0

    def _interesting(self, values: np.random.Generator) -> list[int]:
        """Addresses at the edges of all memory."""
        near = int(values.integers(-20, 20))
        out = []
        for allocation in (*self.buffers, self.code):
            out += [allocation.address, allocation.address + allocation.size // 2, allocation.end + near]
        for aperture in (layout.SHARED_APERTURE, layout.PRIVATE_APERTURE):
            out += [aperture + at for at in (0, self.lds_size + near, self.lane_scratch + near, 0xFFFFFFFF)]
        out += [self.large.address] * 3 + [self.scratch.address, 0, -1, near]
        return [n & (1 << 64) - 1 for n in out]

    def straight(self, engine: Engine) -> Outcome:
        """Run from the prepared state, without interruption."""
        outcome = self._outcome(engine, engine.run(self._address, budget=BUDGET))
        self.executed += int(self.block.cell("instructions")[0])
        return outcome

    def stepped(self) -> Outcome:
        """Run the same, one instruction at a time."""
        status = Status.BUDGET
        for _ in range(BUDGET):
            status = self.plain.run(self._address, budget=1, step=True)
            if status is not Status.BUDGET:
                break
        return self._outcome(self.plain, status)

    @property
    def _address(self) -> int:
        return int(self.state.ctypes.data)

    def _outcome(self, engine: Engine, status: Status) -> Outcome:
        text = status.name
        if status is Status.FAULT:
            text += f" {engine.fault()}"
        if status is Status.CRASH:
            text += f" {engine.crash().text}"
        shared = (self.lds, self.share.gds, self.share.gws)
        memory = b"".join(data.tobytes() for data in (*(b.data for b in self.buffers), *shared))
        return Outcome(text, self.block.engine.tobytes() + self.state.tobytes(), memory)

    def check_slack(self) -> str:
        """Check that the bytes between the end of each block and the next guard page were not written; return the
        problem, if any.
        """
        for name, data in [("LDS", self.lds), ("GDS", self.share.gds), *((b.name, b.data) for b in self.buffers)]:
            beyond = -data.size % ALIGN
            start = int(data.ctypes.data) + data.size
            if beyond and any(ctypes.string_at(start, beyond)):
                return f"bytes behind {name} were written"
        return ""


CHOOSES_AT_RUN_TIME = ("movrel", "swaprel")
"""Instructions that access vector registers other than those they name."""


IMAGE_ADDRESSES = 13
"""The most registers of an image instruction's address: up to GFX9, neither its encoding nor its text gives their
number.
"""


def footprint(rig: Rig, engine: Engine, number: int, start: int, mode: int) -> str:
    """Whether a program of one instruction depends on, or changes, vector registers that the instruction does not name:
    it is run twice, with different contents in all of those."""
    found = decode(rig.memory.read(start, 24), rig.target, start, wave_size=rig.wave_size)
    if rig.target.is_gfx125:
        found = in_banks(found, mode >> layout.VGPR_MSB & 0xFF)
    following = int.from_bytes(rig.memory.read(start + max(found.size, 4), 4), "little")
    jumps = found.flow is not Flow.NEXT  # to the programs next to it, perhaps
    if found.illegal or jumps or following != rig.end or any(word in found.name for word in CHOOSES_AT_RUN_TIME):
        return ""
    named = np.zeros(len(rig.registers), bool)
    for operand in found.operands:
        if operand.kind in (OperandKind.VGPR, OperandKind.AGPR):
            first = operand.index + (rig.target.vgpr_file if operand.kind is OperandKind.AGPR else 0)
            named[first : first + max(1, operand.dwords)] = True
            if rig.target.generation < 10 and found.name.startswith("image_"):
                named[first : first + IMAGE_ADDRESSES] = True
    results = []
    for junk in (0, 0x5A5A5A5A):
        rig.prepare(number, start, mode)
        rig.registers[~named] ^= np.uint32(junk)
        before = rig.registers[~named].copy()
        outcome = rig.straight(engine)
        if not np.array_equal(rig.registers[~named], before):
            return f"{found.text}: registers are changed that it does not name"
        scalars = outcome.state[: layout.ENGINE_SIZE + layout.VGPRS]
        results.append((outcome.status, outcome.memory, scalars, rig.registers[named].tobytes()))
    return "" if results[0] == results[1] else f"{found.text}: depends on registers that it does not name"


def describe(outcome: Outcome, other: Outcome, wave_size: int) -> str:
    """Describe the differences between two outcomes."""
    if outcome.status != other.status:
        return f"{outcome.status} / {other.status}"
    if outcome.state != other.state:
        a, b = (np.frombuffer(o.state, np.uint8) for o in (outcome, other))
        at = int(np.flatnonzero(a != b)[0])
        return f"{outcome.status}: state differs at {_name(at, wave_size)}"
    if outcome.memory != other.memory:
        a, b = (np.frombuffer(o.memory, np.uint8) for o in (outcome, other))
        return f"{outcome.status}: memory differs at byte {int(np.flatnonzero(a != b)[0])}"
    return ""


def _name(offset: int, wave_size: int) -> str:
    offset -= layout.ENGINE_SIZE
    if offset < 0:
        offset += layout.ENGINE_SIZE + layout.ENGINE_OFFSET
    if offset >= layout.VGPRS:
        number, lane = divmod((offset - layout.VGPRS) // 4, wave_size)
        return f"v{number} lane {lane}"
    if offset >= layout.SGPRS:
        return f"scalar register {(offset - layout.SGPRS) // 4}"
    return next((n for n, f in WORDS.items() if f.offset <= offset < f.offset + f.size), f"byte {offset}")


def mode_of(batch: int) -> int:
    """MODE for the programs of a batch."""
    return _MODES[batch // len(VARIANTS) % len(_MODES)]


def run_program(rig: Rig, number: int, start: int, mode: int) -> str:
    """Run a translated program in all three ways; return the problem, "" if there is none."""
    outcomes = []
    for run in (lambda: rig.straight(rig.plain), rig.stepped, lambda: rig.straight(rig.fast)):
        rig.prepare(number, start, mode)
        outcomes.append(run())
        if outcomes[-1].status.startswith("CRASH"):
            return outcomes[-1].status
        if slack := rig.check_slack():
            return slack
    for name, other in zip(("stepped", "optimised"), outcomes[1:], strict=True):
        if difference := describe(outcomes[0], other, rig.wave_size):
            return f"straight / {name}: {difference}"
    for engine in (rig.plain, rig.fast):
        if bad := footprint(rig, engine, number, start, mode):
            return bad
    return ""

