"""LLVM's AMDGPU assembler as a function: the only tool that knows the encodings of GFX6 and GFX7.

LLVM's disassembler rejects these targets, so the text of an encoding is determined in reverse: a text is right if it
assembles to the encoding.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence

from rocdbg.isa.generate.llvm_disassembler import fold

_TOOL = os.environ.get("LLVM_MC", "llvm-mc-22")
_LINE = re.compile(r"^\s+(\S.*?)\s*; encoding: \[([0-9a-fx,]*)\]$")
_LABEL = re.compile(r"^Lrocdbg(\d+):$")
_ERROR = re.compile(r"^<stdin>:(\d+):\d+: error: (.*)$")
_BATCH = 200_000

Assembled = tuple[int, int, str]
"""Instruction word, size in bytes, and the text as the assembler prints it (without comments, single spaces)."""


class Assembler:
    """Assembles single instructions for one processor."""

    def __init__(self, cpu: str) -> None:
        self.cpu = cpu
        self.errors: dict[str, str] = {}
        """Why texts of the last `ask` were rejected."""

    def ask(self, texts: Sequence[str]) -> list[Assembled | None]:
        """The encoding of each text; None if it is an error, or not exactly one instruction with known bits."""
        self.errors = {}
        results: list[Assembled | None] = []
        for start in range(0, len(texts), _BATCH):
            results += self._batch(texts[start : start + _BATCH])
        return results

    def one(self, text: str) -> Assembled | None:
        return self.ask([text])[0]

    def _batch(self, texts: Sequence[str]) -> list[Assembled | None]:
        source = "".join(f"Lrocdbg{n}:\n {text}\n" for n, text in enumerate(texts))
        done = subprocess.run(
            [_TOOL, "-triple", "amdgcn-amd-amdhsa", f"-mcpu={self.cpu}", "-show-encoding"],
            input=source, capture_output=True, text=True, check=False,
        )
        if done.returncode < 0 and len(texts) > 1:  # it has crashed on a text
            middle = len(texts) // 2
            return self._batch(texts[:middle]) + self._batch(texts[middle:])
        for line in done.stderr.splitlines():
            if (error := _ERROR.match(line)) and int(error[1]) % 2 == 0:
                self.errors[texts[int(error[1]) // 2 - 1]] = error[2]
        results: list[Assembled | None] = [None] * len(texts)
        number, found = -1, 0
        for line in done.stdout.splitlines():
            if match := _LABEL.match(line):
                number, found = int(match[1]), 0
            elif (match := _LINE.match(line)) and number >= 0:
                found += 1
                data = bytes(int(byte, 16) for byte in match[2].split(","))
                word = int.from_bytes(data, "little"), len(data), fold(match[1])
                results[number] = word if found == 1 else None
        return results


__all__ = ["Assembled", "Assembler"]
