"""Assembly written once and lowered to a GPU and to x86, and GDB 13's answers about the x86 program.

A session (``twins/NAME.txt``) has a source in which each ``@op`` is one instruction of either processor, on a separate
line, then commands with GDB's answers. Texts that cannot be the same, such as those of instructions, are replaced by
placeholders (`normal`). Sessions omit commands whose answers are about files or the host's runtime.

``python -m tests.assembly.twins`` asks GDB again, and needs gcc and gdb.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

FOLDER = Path(__file__).with_name("twins")
REGISTERS = {"host": ("r8d", "r9d", "r10d", "r11d"), "gpu": ("s4", "s5", "s6", "s7")}
OPS = {
    "set": ("movl ${1}, %{r}", "s_mov_b32 {r}, {1}"),
    "add": ("addl ${1}, %{r}", "s_add_u32 {r}, {r}, {1}"),
    "cmp": ("cmpl ${1}, %{r}", "s_cmp_lg_u32 {r}, {1}"),
    "bne": ("jne {0}", "s_cbranch_scc1 {0}"),
    "beq": ("je {0}", "s_cbranch_scc0 {0}"),
    "jmp": ("jmp {0}", "s_branch {0}"),
    "call": ("call {0}", "s_call_b64 s[10:11], {0}"),
    "ret": ("ret", "s_setpc_b64 s[10:11]"),
    "call2": ("call {0}", "s_call_b64 s[12:13], {0}"),
    "ret2": ("ret", "s_setpc_b64 s[12:13]"),
    "nop": ("nop", "s_nop 0"),
    "end": ("ret", "s_endpgm"),
}
"""The instructions for the host and for GPUs; ``{r}`` is the register with the number of the first operand."""
DESCRIPTOR = """
	.rodata
	.p2align 6
	.amdhsa_kernel main
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.amdhsa_next_free_vgpr 8
	.amdhsa_next_free_sgpr 32
	{more}
	.end_amdhsa_kernel
"""


class Twin(Struct, frozen=True):
    """A session. ``options`` are ``g`` for line information, and targets."""

    name: str
    options: tuple[str, ...]
    source: str
    steps: tuple[tuple[str, str], ...]

    def write(self) -> None:
        """Save it as a file."""
        steps = "".join(f">>> {command}\n{answer}" for command, answer in self.steps)
        (FOLDER / f"{self.name}.txt").write_text(f"{' '.join(self.options)}\n{self.source}%\n{steps}")


def read(path: Path) -> Twin:
    """Read a session's file."""
    options, _, rest = path.read_text().partition("\n")
    source, _, session = rest.partition("%\n")
    parts = re.split(r"^>>> (.*)\n", session, flags=re.MULTILINE)[1:]
    return Twin(path.stem, tuple(options.split()), source, tuple(zip(parts[::2], parts[1::2], strict=True)))


def lowered(source: str, side: str) -> str:
    """The assembly for ``host`` or ``gpu``, with the same lines."""

    def instruction(match: re.Match[str]) -> str:
        operands = [text.strip() for text in (match[3] or "").split(",")]
        register = REGISTERS[side][int(operands[0])] if operands[0].isdecimal() else ""
        return match[1] + OPS[match[2]][side == "gpu"].format(*operands, r=register)

    return re.sub(r"^([\w.]*:?[ \t]*)@(\w+)(?:[ \t]+(.*))?$", instruction, source, flags=re.MULTILINE)


def asked(command: str, side: str) -> str:
    """A command with its registers."""
    for number, name in enumerate(REGISTERS[side]):
        command = command.replace(f"%{number}", f"${name}")
    return command


def normal(answer: str, side: str) -> str:
    """An answer without addresses, without GPU texts about lanes and threads, and without source text."""
    for number, name in enumerate(REGISTERS[side]):
        answer = answer.replace(f"${name}", f"%{number}")
    for pattern, word in (
        (r"0x[0-9a-f]+", "ADDR"), (r"\+\d+>", "+N>"),
        (r"(?m)^(\s*(?:=> )?ADDR <[^>]*>:)\t[a-z].*", r"\1\tINSTRUCTION"),
        (r"(?m)^(\d+)\t.*$", r"\1\tSOURCE"),
        (r"\[Switching to .*\n|Starting (?:kernel|program).*\n|\[Thread debugging.*\n|Using host libthread.*\n", ""),
        (r'Thread \d+ "main" hit ', ""), (r", with lanes? [^,]*,", ","), ("Hardware watchpoint", "Watchpoint"),
        # what GDB says at a prompt only
        (r"(?:Run till exit from |Note: breakpoint |Will ignore |\(More stack frames|Continuing(?:\.| at )).*\n", ""),
        (r"code object load", "shared library load"), (r"(?m)^#\d+ .*(?:libc_start|_start \().*\n", ""),
        (r"\n?Make breakpoint pending on .*", ""), (r"(in section \.text) of .*", r"\1"), (r" \+ \d+ in ", " + N in "),
    ):
        answer = re.sub(pattern, word, answer)
    return answer.strip("\n") + "\n" if answer.strip() else ""


def assembled(twin: Twin, target: str, folder: Path) -> Path:
    """The launch file of a session's kernel."""
    more = ".amdhsa_accum_offset 8" if target in ("gfx90a", "gfx942") else ""
    (folder / "t.s").write_text(lowered(twin.source, "gpu") + DESCRIPTOR.format(more=more))
    command = ["clang-22", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "t.s", "-o", "t.co"]
    subprocess.run([*command, *(["-g"] if "g" in twin.options else [])], check=True, cwd=folder)
    launch = folder / "t.toml"
    launch.write_text('[launch]\nfile = "t.co"\nkernel = "main"\ngrid = 1\nworkgroup = 1\n')
    return launch


def recorded(twin: Twin) -> Twin:
    """The session with the current answers of GDB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "t.s").write_text(lowered(twin.source, "host") + '\t.section .note.GNU-stack,"",@progbits\n')
        debug = ["-g"] if "g" in twin.options else []
        subprocess.run(["gcc", "-no-pie", *debug, "t.s", "-o", "t"], check=True, cwd=folder)
        arguments = [
            word for command, _ in twin.steps
            for word in ("-ex", f"echo >>> {command}\\n", "-ex", asked(command, "host"))
        ]
        run = subprocess.run(
            ["gdb", "-q", "-nx", "-batch", *arguments, "t"], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )
    parts = re.split(r"^>>> (.*)\n", run.stdout, flags=re.MULTILINE)[1:]
    answers = [normal(answer, "host") for answer in parts[1::2]]
    return Twin(twin.name, twin.options, twin.source, tuple(zip(parts[::2], answers, strict=True)))


def sessions() -> Iterator[Twin]:
    """All sessions."""
    return (read(path) for path in sorted(FOLDER.glob("*.txt")))


if __name__ == "__main__":
    for each in sessions():
        if len(sys.argv) < 2 or each.name in sys.argv[1:]:
            recorded(each).write()
