"""Compiles forms in both tiers, runs them, and compares their accesses with their operands.

    python -m tests.sim.forms.compiling [TARGET...] [--every N] [--mode HEX] [--exceptions]

LLVM aborts the process if it cannot translate something, so each batch runs in a separate process. A batch with a
problem is halved until one form remains.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import llvmlite.binding as llvm
import numpy as np

from rocdbg.arch.targets import target_by_name
from rocdbg.isa.instruction import Instruction
from rocdbg.sim.core import layout
from rocdbg.sim.core.layout import EXEC_LO, Mode, mode_key
from rocdbg.sim.core.wave import StateBlock, block_of_size
from rocdbg.sim.engine.native_jit import Jit
from rocdbg.sim.semantics.access import Context
from tests.sim.forms.listing import TARGETS, forms
from tests.sim.forms.touched import Recorder, excess

_SPECIAL = np.array(
    (0, 1, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7F800001, 0x7FC00000,
     0x400, 0x3C003C00, 0x7C00FC00, 0x7C01FE00, 0x18001, 0x7FF00000, 0x3FF00000, 31, 33), np.uint32
)
_STATES = 37
"""A cache, because making states takes as long as the comparison."""
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True)
class Trouble:
    """A form with a problem, and the problem."""

    form: str
    what: str


def random_state(wave_size: int, rng: np.random.Generator) -> StateBlock:
    """A wave's state block with numbers of all kinds in its registers."""
    block = block_of_size(layout.state_size(wave_size, False, 1024))
    state = block.state
    words = state[layout.SGPRS :].view(np.uint32)
    noise = rng.integers(0, 1 << 32, len(words), np.uint32)
    small = (rng.standard_normal(len(words)) * 100).astype(np.float32).view(np.uint32)
    words[:] = np.choose(rng.integers(0, 3, len(words)), [noise, rng.choice(_SPECIAL, len(words)), small])
    words[EXEC_LO : EXEC_LO + 2] = rng.integers(0, 1 << 32, 2, np.uint32)
    block.cell("limit")[0], block.cell("vgpr_limit")[0] = 1 << 40, 256
    block.cell("scc")[0] = rng.integers(0, 2)
    return block


@functools.cache
def random_states(wave_size: int) -> list[StateBlock]:
    """Initial states, which must not be changed."""
    rng = np.random.default_rng(wave_size)
    return [random_state(wave_size, rng) for _ in range(_STATES)]


def _copy(block: StateBlock) -> StateBlock:
    made = block_of_size(block.state.size)
    made.state[:], made.engine[:] = block
    return made


def _link(jit: Jit, text: str, optimised: bool) -> Callable[[str, StateBlock], int]:
    """Compile a module in one tier; return a function that runs one of its functions on a state and returns the status.
    """
    prefix = f"tier{int(optimised)}_"
    data = jit.compile(text.replace("define i32 @f", f"define i32 @{prefix}f"), optimised)
    generation = jit.generation()
    generation.link(prefix, b"", data)

    def run(name: str, block: StateBlock) -> int:
        env = np.zeros(layout.ENV_SIZE, np.uint8)
        return int(_FUNCTION(generation.address(prefix + name))(block.state.ctypes.data, env.ctypes.data))

    return run


def examine(jit: Jit, instructions: Sequence[Instruction], context: Context) -> None:
    """Translate, compile and run; raises the problem. Instructions that call routines are only compiled."""
    recorder = Recorder(context.wave_size, jit.width, jit.masked_stores)
    names: list[str] = []
    plain: list[tuple[str, str]] = []
    for instruction in instructions:
        recorder.called.clear()
        name = f"f{len(names)}"
        if what := excess(recorder, instruction, context, name):
            raise AssertionError(f"touches {what}")
        if len(recorder.functions) > len(names):
            names.append(name)
            if not recorder.called:
                plain.append((name, instruction.text))
    text = recorder.module()
    llvm.parse_assembly(text).verify()
    quick, good = (_link(jit, text, optimised) for optimised in (False, True))
    for number, (name, _) in enumerate(plain):
        begin = random_states(context.wave_size)[(len(text) + number) % _STATES]
        one, other = _copy(begin), _copy(begin)
        if quick(name, one) != good(name, other) or not np.array_equal(one.state, other.state):
            raise AssertionError("the tiers differ")


def _said(jit: Jit, instructions: Sequence[Instruction], context: Context) -> str:
    """Examine in a child process; return the problem, if there is one."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            examine(jit, instructions, context)
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}"[:2000].encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return said or (f"died of signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "")


def troubles(jit: Jit, instructions: Sequence[Instruction], context: Context) -> Iterator[Trouble]:
    """The forms with a problem."""
    said = _said(jit, instructions, context)
    if not said:
        return
    if len(instructions) == 1:
        yield Trouble(f"{context.target.name} wave{context.wave_size} {instructions[0].text}", said)
        return
    half = len(instructions) // 2
    yield from troubles(jit, instructions[:half], context)
    yield from troubles(jit, instructions[half:], context)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=TARGETS)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take one of N forms")
    parser.add_argument("--batch", type=int, default=200, metavar="N", help="forms in one module")
    parser.add_argument("--mode", type=lambda text: int(text, 16), default=0x3F0, help="MODE, hexadecimal")
    parser.add_argument("--exceptions", action="store_true", help="watch arithmetic exceptions")
    arguments = parser.parse_args()
    jit, bad = Jit(None), 0
    for name in arguments.targets or TARGETS:
        target = target_by_name(name)
        for wave_size in target.wave_sizes:
            start, total = time.monotonic(), 0
            context = Context(target, wave_size, Mode(mode_key(arguments.mode)), arguments.exceptions)
            stream = itertools.islice(forms(name, wave_size), 0, None, arguments.every)
            while batch := list(itertools.islice(stream, arguments.batch)):
                total += len(batch)
                for trouble in troubles(jit, batch, context):
                    bad += 1
                    print(f"{trouble.form}: {trouble.what}", flush=True)
            print(f"{name} wave{wave_size}: {total} forms, {time.monotonic() - start:.0f} s", flush=True)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
