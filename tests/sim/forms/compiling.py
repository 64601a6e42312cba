"""Compiles forms in both tiers: a crash of LLVM's is laid to the form that causes it.

    python -m tests.sim.forms.compiling [TARGET...] [--every N] [--key HEX] [--exceptions]

LLVM aborts the process if it meets what it cannot translate, so batches are compiled in processes of their own; a batch
whose process dies is halved until one form is left.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import llvmlite.binding as llvm

from rocdbg.arch.targets import target_by_name
from rocdbg.isa.instruction import Instruction
from rocdbg.sim.layout import Mode, mode_key
from rocdbg.sim.native_jit import Jit
from rocdbg.sim.semantics.access import Context
from rocdbg.sim.translator.blocks import Block
from rocdbg.sim.translator.helpers import helper_names
from rocdbg.sim.translator.translate import translate
from rocdbg.sim.translator.wave_builder import WaveBuilder
from tests.sim.forms.listing import TARGETS, forms

HELPERS = {name: slot for slot, name in enumerate(helper_names())}


@dataclass(frozen=True)
class Trouble:
    """A form that could not be compiled: its text, the tier (0 or 1, or "translation") and what happened."""

    form: str
    tier: str
    what: str


def module_text(jit: Jit, instructions: Sequence[Instruction], context: Context) -> str:
    """IR of one function ``f0``, ``f1``, ... for each instruction that is not refused."""
    builder = WaveBuilder(context.wave_size, jit.width, jit.masked_stores, HELPERS)
    blocks = [Block(i.address, (i,)) for i in instructions]
    return translate(builder, blocks, [f"f{n}" for n in range(len(blocks))], context).text


def compile_both(jit: Jit, text: str) -> None:
    for optimised in (False, True):
        module = llvm.parse_assembly(text)
        module.verify()
        jit.machines[optimised].emit_object(module)


def _survives(jit: Jit, instructions: Sequence[Instruction], context: Context) -> str:
    """Compile in a child process; returns what went wrong, if anything."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            compile_both(jit, module_text(jit, instructions, context))
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
    """The forms that cannot be compiled."""
    said = _survives(jit, instructions, context)
    if not said:
        return
    if len(instructions) == 1:
        (instruction,) = instructions
        yield Trouble(f"{context.target.name} {instruction.text}", "", said)
        return
    half = len(instructions) // 2
    yield from troubles(jit, instructions[:half], context)
    yield from troubles(jit, instructions[half:], context)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=TARGETS)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="compile one of N forms")
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
