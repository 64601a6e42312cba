"""`python -m tests.gdb.explore [--seed N] [--sessions N] [--commands N] [--templates PATH] [PROGRAM...]`: search for
unknown differences.

Runs random sessions on the programs of the comparison (or on the given source: PATH.c, PATH.cpp, PATH.cl) through GDB
and rocdbg, and prints the differences, grouped by command and message. The golden sessions contain known differences;
this program finds unknown ones. Variables are initially zero on both sides, because uninitialised memory would differ.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import random
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tests.gdb.build as build
import tests.gdb.compare as compare
from tests.gdb.normalise import NO_DEBUG_INFORMATION, normalise
from tests.gdb.random_sessions import TEMPLATES, names_of, random_session, templates
from tests.gdb.record import BLOCK_PROMPTS, END
from tests.gdb.record import SETTINGS as RECORDING
from tests.gdb.session_files import Session

STOPPING = re.compile(r"(next|step|continue|finish|until|stepi|nexti|advance|return|jump|run|kill|start|call)\b")
"""Commands that move the program: if their answers differ, all later answers do."""
MARK = "\2\n"
"""A mark after each answer: GDB executes the lines of a block that it refuses as commands, with a prompt for each."""
THREAD = re.compile(r"(?m)^(Thread 1 \().*$")
HISTORY = re.compile(r"\$\$?\d*(?!\w)|show values|(p|print|output|call|inspect|x)(/\w*)?$")
"""Commands about the history, or about earlier output."""
CODE = re.compile(r"(?m)^(=>|  ) (ADDRESS[^\n:\t]*(?:::[^\n:\t]*)*):\t.*$")
"""An instruction, which differs between the two sides."""
OFFSET = re.compile(r"\+\d+>")
HOST_SYMBOLS = re.compile(
    r"(?m)^(?:ADDRESS  .*|No line number information available for address ADDRESS <_ZN?K?S.*>)\n"
)
"""Symbols of the C and C++ libraries, which only the host's program has."""
NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?: '[^\n]*')?")
SHOWN = 12
"""The maximum number of printed lines of an answer."""


def recorded(made: Session, folder: Path) -> list[str]:
    """GDB's answers up to its end."""
    program = folder / made.program
    if not program.exists():
        build.build_native(made.program, folder)
    settings = [word for text in RECORDING for word in ("-iex", f"set {text}")]
    typed = "".join("\n".join(each.lines) + "\necho \\002\\n\n" for each in made.commands)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    result = subprocess.run(
        ["gdb", "-q", "-nx", *settings, str(program)],
        input=typed.encode(),
        cwd=build.PROGRAMS,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
    )
    output = result.stdout.decode("utf-8", "backslashreplace").replace(END, "")
    output = output.replace(str(folder) + "/", "").replace(str(build.PROGRAMS), "<programs>")
    answers = re.sub(r"\AReading symbols from .*\n", "", output).split(MARK)[:-1]
    cleaned = []
    for each, answer in zip(made.commands, answers, strict=False):
        text = NO_DEBUG_INFORMATION.sub("", BLOCK_PROMPTS.sub("", answer) if len(each.lines) > 1 else answer)
        cleaned.append(text if not text or text.endswith("\n") else text + "\n")
    return cleaned


def pairs(made: Session, folder: Path) -> list[tuple[str, str, str]]:
    """(command, GDB's answer, rocdbg's), until a command that moves the program differs, or ends in a signal or in its
    caller.
    """
    found = []
    ahead = 0
    theirs = recorded(made, folder)
    functions = names_of(build.PROGRAMS / build.source(made.program)).functions
    code = re.compile(rf"(?:\b|(?<=\d))(?:{'|'.join(map(re.escape, functions or ['nothing']))})\b(?!\()")
    for command, gdb, rocdbg in zip(made.commands, theirs, compare.answers(made, folder), strict=False):
        typed = command.lines[0]
        got = compare._renumbered(rocdbg, -ahead)
        left, right = (_shared(text) for text in (gdb, got))
        if re.search(r"received signal|\bbegin( \(\)|,\n)", left):
            break
        apart = ahead != 0 and HISTORY.search(typed) is not None
        if not typed.startswith("show values"):
            ahead += len(compare.VALUE.findall(rocdbg)) - len(compare.VALUE.findall(gdb))
        bytes_of_code = code.search(typed) is not None and NUMBER.sub("#", left) == NUMBER.sub("#", right)
        if apart or "has unknown return type" in left:
            continue
        found.append(("\n>".join(command.lines), left, left if bytes_of_code else right))
        if left != right and STOPPING.match(typed):
            break
    return found


def _shared(text: str) -> str:
    """An answer without the parts that a program on the host and one on a device cannot share."""
    text = THREAD.sub(r"\1...", normalise(text))
    if CODE.search(text):
        text = OFFSET.sub("+N>", CODE.sub(r"\1 \2:", text))
    return HOST_SYMBOLS.sub("", text)


def form(command: str, gdb: str, rocdbg: str) -> str:
    """The key by which differences are grouped."""
    word = " ".join(re.findall(r"[a-z/-]+", command)[:1])
    return f"{word}: {_shape(gdb)} | {_shape(rocdbg)}"


def _shape(text: str) -> str:
    return re.sub(r"\d+|\"[^\"]*\"|'[^']*'", "#", text)[:40].replace("\n", " ")


@contextlib.contextmanager
def zeroed() -> Iterator[None]:
    """Programs are built so that their variables are initially zero."""
    plain = build._compile
    build._compile = lambda command: plain([command[0], "-ftrivial-auto-var-init=zero", *command[1:]])
    yield
    build._compile = plain


@contextlib.contextmanager
def loaded(sources: list[str]) -> Iterator[list[str]]:
    """The programs' names; the user's own sources are among them meanwhile."""
    own = [build.PROGRAMS / Path(each).name for each in sources if Path(each).suffix]
    for each in sources:
        if Path(each).suffix:
            shutil.copy(each, build.PROGRAMS)
    yield [Path(each).stem for each in sources]
    for path in own:
        path.unlink()


def main() -> None:
    """Print the groups, the largest first."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--commands", type=int, default=60)
    parser.add_argument("--templates", type=Path, default=TEMPLATES, help="a file like templates.txt")
    parser.add_argument("--show", type=int, default=2, help="members of each group that are printed")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    kinds = (".c", ".cpp", ".cl")
    every = sorted(path.stem for path in build.PROGRAMS.iterdir() if path.suffix in kinds and path.stem != "host_main")
    groups: dict[str, list[str]] = collections.defaultdict(list)
    total = 0
    forms = templates(options.templates)
    with tempfile.TemporaryDirectory() as work, zeroed(), loaded(options.programs or every) as programs:
        for index in range(options.sessions):
            program = programs[index % len(programs)]
            folder = Path(work) / program
            folder.mkdir(exist_ok=True)
            names = names_of(build.PROGRAMS / build.source(program))
            rng = random.Random(options.seed * 10_000 + index)
            made = random_session(names, program, rng, options.commands, forms)
            try:
                found = pairs(made, folder)
            except subprocess.TimeoutExpired:
                print(f"session {index} ({program}): GDB does not end")
                continue
            total += len(found)
            for command, gdb, rocdbg in found:
                if gdb != rocdbg:
                    lines = [f"  -{line}" for line in gdb.splitlines()[:SHOWN]]
                    lines += [f"  +{line}" for line in rocdbg.splitlines()[:SHOWN]]
                    groups[form(command, gdb, rocdbg)].append("\n".join([f"[{program} {index}] {command}", *lines]))
    for name, members in sorted(groups.items(), key=lambda item: -len(item[1])):
        print(f"== {len(members)} x {name}", *members[: options.show], sep="\n")
    print(f"{total - sum(map(len, groups.values()))} of {total} pairs are equal")


if __name__ == "__main__":
    main()
