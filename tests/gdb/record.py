"""Record GDB's answers: `python -m tests.gdb.record [SESSION...]`. Needs gdb 13, gcc and clang-22."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.gdb.build import BOTH_SETTINGS, HERE, PROGRAMS, build_native
from tests.gdb.normalise import NO_DEBUG_INFORMATION
from tests.gdb.session_files import Session, read_session, session_names, write_golden

END = "\1\n"
"""The prompt: GDB reads a pipe and echoes nothing, so each answer is the text between two prompts."""
BLOCK_PROMPTS = re.compile(r"(?m)^[ >]*>")
SETTINGS = [
    "width 0",
    "height 0",
    *BOTH_SETTINGS,
    r"prompt \001\n",
]


def record(session: Session, folder: Path) -> list[str]:
    """GDB's answer to each command. Raises ValueError if GDB gave another number of answers."""
    program = build_native(session.program, folder)
    command = ["gdb", "-q", "-nx", *(word for text in SETTINGS for word in ("-iex", f"set {text}")), str(program)]
    typed = "".join(line + "\n" for each in session.commands for line in each.lines)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # GDB itself may crash; its core would be among the programs
    result = subprocess.run(
        command, input=typed.encode(), cwd=PROGRAMS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120
    )
    output = result.stdout.decode("utf-8", "backslashreplace")
    _, *answers, _ = output.split(END)
    if len(answers) != len(session.commands):
        raise ValueError(f"{len(session.commands)} commands, {len(answers)} answers:\n{output[-2000:]}")
    recorded = []
    for each, answer in zip(session.commands, answers, strict=True):
        text = BLOCK_PROMPTS.sub("", answer) if len(each.lines) > 1 else answer
        text = NO_DEBUG_INFORMATION.sub("", text)
        text = text.replace(str(folder) + "/", "").replace(str(PROGRAMS), "<programs>").replace(str(HERE), "<tests>")
        recorded.append(each.counted(text if not text or text.endswith("\n") else text + "\n"))
    return recorded


def main(names: list[str]) -> None:
    """Record the named sessions, or all."""
    for name in names or session_names():
        session = read_session(name)
        with tempfile.TemporaryDirectory() as folder:
            write_golden(name, session, record(session, Path(folder)))
        print(f"{name}: {len(session.commands)} answers")


if __name__ == "__main__":
    main(sys.argv[1:])
