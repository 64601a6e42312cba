"""Compare the engine with the pseudocode: ``python -m tests.sim.pcode.compare TARGET [REGEX] [options]``.

For every instruction whose name matches (lower case, all by default) and every encoding it has, random words are run on
random and special values under several MODEs, with some lanes off. The output lists the instructions that differ, with
one example each, and the number of (instruction, encoding) pairs that were compared.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rocdbg.arch.targets import target_by_name
from rocdbg.isa import decode
from rocdbg.isa.instruction import Instruction
from rocdbg.sim.core import layout
from rocdbg.sim.core.layout import Status
from rocdbg.sim.core.memory import GlobalMemory
from rocdbg.sim.core.wave import block_of_size
from rocdbg.sim.engine import native, translations
from rocdbg.sim.semantics.registry import lookup
from tests.sim.pcode import deviations, state, words
from tests.sim.pcode.language import PcodeError
from tests.sim.pcode.oracle import Executor
from tests.sim.pcode.wave import Inconclusive, Wave
from tests.sim.pcode.words import Entry, Maker, Word

MODES = (0x3F0, 0x3F0, 0x300, 0x0F0, 0x1C0, 0x230, 0x3F5, 0x3FA, 0x3FF, 0x305)
"""Usual; everything flushed; neither IEEE nor DX10_CLAMP; mixed; rounding up, down, to zero; rounding up and flushing.
"""


@dataclass
class Case:
    word: Word
    instruction: Instruction
    mode: int
    seed: int


class Rig:
    """An engine over one piece of code memory."""

    def __init__(self, target: str, wave_size: int, cache: Path) -> None:
        self.target, self.wave_size = target_by_name(target), wave_size
        self.memory = GlobalMemory()
        self.text = self.memory.allocate(1 << 20, name="code", protection=layout.PageFlags(7))
        self.code = bytearray()
        self.engine = native.Engine(self.target, wave_size, self.memory.page_table_address, self.fetch, cache)
        self.block = block_of_size(layout.state_size(wave_size, self.target.has_agprs))
        self.state = self.block.state
        self.lds = np.zeros(1 << 12, np.uint8)

    def fetch(self, address: int, size: int) -> bytes:
        at = address - self.text.address
        return bytes(self.code[at : at + size]) if 0 <= at < len(self.code) else b""

    def run(self, case: Case, before: Wave, address: int) -> tuple[Status, Wave]:
        state.store(self.state, before)
        self.set("pc", address)
        self.set("mode", case.mode)
        self.set("lds_pointer", self.lds.ctypes.data)
        self.set("lds_size", len(self.lds))
        self.set("vgpr_limit", 64)
        status = self.engine.run(int(self.state.ctypes.data), budget=1, step=True)
        after = state.load(self.state, before)
        after.pc = int(self.block.cell("pc")[0])
        return status, after

    def set(self, name: str, value: int) -> None:
        self.block.cell(name)[0] = value


class Comparison:
    """All cases of one target and wave size."""

    def __init__(
        self, target: str, wave_size: int, pattern: str, variants: int, seed: int, verbose: bool
    ) -> None:
        self.target, self.wave_size, self.pattern = target, wave_size, re.compile(pattern)
        self.variants, self.verbose = variants, verbose
        self.rng = random.Random(seed)
        self.maker = Maker(target, self.rng, wave_size)
        self.compared: Counter[tuple[str, str]] = Counter()
        self.different: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.skipped: dict[str, str] = {}
        self.unsupported: Counter[tuple[str, str]] = Counter()

    def cases(self) -> list[Case]:
        found: list[Case] = []
        for entry in words.entries(self.target):
            if not self.pattern.fullmatch(entry.name.lower()) or entry.group in (
                "MIMG",
                "VIMAGE",
                "VSAMPLE",
                "EXP",
            ):
                continue
            for form in words.forms(entry, self.target):
                if why := deviations.not_compared(entry.name, form):
                    self.skipped[f"{entry.group} {entry.name}"] = why
                    continue
                found += self.cases_of(entry, form)
        return found

    def cases_of(self, entry: Entry, form: str) -> list[Case]:
        found: list[Case] = []
        for _ in range(self.variants * 6):
            word = self.maker.make(entry, form)
            if word is None:
                break
            instruction = decode(word.code + bytes(16), self.target, 0, wave_size=self.wave_size)
            if self.target in words.RELATED and instruction.name != entry.name.lower():
                continue
            if not self.maker.halves and word.fields.get("opsel") and "op_sel" not in instruction.modifiers:
                continue  # before GFX11 some VOP3 instructions only have op_sel
            if (
                form.endswith("SDWA")
                and deviations.APPROXIMATE.fullmatch(entry.name)
                and word.fields["dst_sel"] < 4
            ):
                continue  # a byte says nothing of the distance
            if "CLASS_F16" in entry.name and word.fields.get("opsel", 0) & 2 and self.maker.gfx12:
                continue  # not known to LLVM for GFX12
            if (
                instruction.illegal
                or instruction.size != len(word.code)
                or "/*" in instruction.text
                or "_INVALID_" in instruction.text
            ):
                continue
            if lookup(instruction.name) is None:
                self.skipped[f"{entry.group} {entry.name}"] = f"no semantics ({instruction.name})"
                break
            mode = self.rng.choice(MODES)
            found.append(Case(word, instruction, mode, self.rng.getrandbits(32)))
            if len(found) == self.variants:
                break
        return found

    def run(self, cache: Path) -> None:
        cases = sorted(self.cases(), key=lambda c: c.mode)
        translations._STEP_AHEAD = 100
        rig = Rig(self.target, self.wave_size, cache)
        for start in range(0, len(cases), 4000):
            part = cases[start : start + 4000]
            rig.code[:] = b""
            rig.engine.invalidate(rig.text.address, rig.text.address + rig.text.size)
            addresses = []
            for case in part:
                addresses.append(rig.text.address + len(rig.code))
                rig.code += case.word.code
            rig.code += bytes.fromhex("000080bf") * 8
            for case, address in zip(part, addresses, strict=True):
                self.compare(rig, case, address)

    def compare(self, rig: Rig, case: Case, address: int) -> None:
        entry = case.word.entry
        key = (f"{entry.group} {entry.name}", case.word.form)
        before = state.fill(self.target, self.wave_size, case.seed, case.mode)
        state.prepare(before, case.word, random.Random(case.seed))
        status, got = rig.run(case, before, address)
        if status is not Status.BUDGET:
            self.unsupported[key[0], f"{case.word.form} {status.name}"] += 1
            return
        want = before.copy() if hasattr(before, "copy") else state.copied(before)
        want.pc = address
        try:
            Executor(want, case.word).run()
        except (PcodeError, Inconclusive) as error:
            self.skipped[key[0]] = str(error)
            return
        if not entry.group.startswith("SOP"):
            want.pc = got.pc
        self.compared[key] += 1
        difference = state.difference(before, want, got, entry, case.word)
        if difference:
            self.different[key].append(
                f"{case.instruction.text}   mode {case.mode:#x} exec {before.exec:#x}\n    {difference}"
            )

    def report(self) -> None:
        for key, examples in sorted(self.different.items()):
            print(f"{key[0]} [{key[1]}] {len(examples)} of {self.compared[key]}")
            for example in examples[: 3 if self.verbose else 1]:
                print(f"  {example}")
        for name, why in sorted(self.skipped.items()):
            print(f"not compared: {name}: {why.strip().splitlines()[-1] if not self.verbose else why}")
        for (name, form), count in sorted(self.unsupported.items()):
            print(f"did not run: {name} [{form}] {count}")
        print(
            f"{self.target} wave{self.wave_size}: {len(self.compared)} pairs compared "
            f"({sum(self.compared.values())} words), "
            f"{len(self.different)} differ"
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sim.pcode.compare", description=__doc__)
    parser.add_argument("target", choices=sorted(words.FAMILIES))
    parser.add_argument("pattern", nargs="?", default=".*", help="instruction names, lower case")
    parser.add_argument("-n", "--variants", type=int, default=6, help="words per instruction and encoding")
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("-w", "--wave-size", type=int, choices=(32, 64))
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args(arguments)
    sizes = [options.wave_size] if options.wave_size else list(target_by_name(options.target).wave_sizes)
    failed = 0
    for size in sizes:
        comparison = Comparison(
            options.target, size, options.pattern, options.variants, options.seed, options.verbose
        )
        with tempfile.TemporaryDirectory() as cache:
            comparison.run(Path(cache))
        comparison.report()
        failed |= bool(comparison.different)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))


__all__ = ["Comparison", "deviations", "main"]
