"""The families of hostile files, and the use of each: everything that a session does with a file."""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import functools
import io
import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rocdbg.cli.command_registry import Registry
from rocdbg.cli.leaving_commands import Quit
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.codeobject import CodeObject, list_entries, open_modules
from rocdbg.debugger.session import Session
from rocdbg.errors import Error

from . import bundles, dwarf_files, elf_files, launch_files, metadata_notes

Single = Callable[[random.Random], bytes]


@dataclass(frozen=True)
class Attack:
    """Files by name, the file that is opened, and the command lines that follow."""

    files: dict[str, bytes]
    opened: str
    arch: str | None
    commands: tuple[str, ...]


STATIC = (
    "info functions", "info types", "info variables", "info scope saxpy", "list saxpy", "break saxpy", "info line saxpy",
    "info source", "info sources", "disassemble saxpy", "info kernels", "info files", "info sharedlibrary", "show launch",
    "maint info line-table", "maint dwarf cfi saxpy", "tbreak saxpy.hip:5", "rbreak s", "info symbol 0x1a00", "info address saxpy",
    "info address x", "x/4i saxpy", "list 1,20", "info line 5", "info scope saxpy.hip:6", "print sizeof(S)", "ptype/o S", "kernel saxpy",
    "print saxpy", "ptype saxpy", "whatis x", "print x", "print &x", "list x", "info breakpoints", "maint dwarf explain x", "info frame",
    "print (int)x", "print *x@3", "info symbol saxpy", "disassemble /s saxpy", "break saxpy.hip:8", "info functions s", "info types S",
)
START = (
    "set instruction-budget 20000", "set grid 64", "set workgroup 64", "set arg 0 f32:1", "set arg 1 f32[64]", "set arg 2 f32[64]",
    "set arg 3 64", "start", "bt", "info locals", "info args", "info frame",
)
RUNNING = (
    "print x", "print &x", "ptype x", "x/4x &x", "print *x", "print x[1]", "print/x x", "display x", "info registers pc exec", "up", "down",
    "next", "step", "info lanes 0-1", "list", "info line", "info scope saxpy", "maint dwarf explain x", "print $_siginfo", "finish",
    "print sizeof(x)", "whatis &x", "print x.m", "print x == x", "print -pretty -- x", "info symbol $pc", "maint dwarf cfi", "bt full", "print a+1",
    "set var x = 1", "print $v0", "watch x", "until", "advance saxpy.hip:9", "continue", "frame 1", "info source", "tbreak 9", "print y", "output x",
)


def _commands(rng: random.Random, data: bytes, running: float) -> tuple[str, ...]:
    """Command lines about the contents of a file."""
    chosen = list(rng.sample(STATIC, rng.choice((3, 5, 12))))
    words = [found.decode() for found in set(re.findall(rb"[A-Za-z_]\w{0,6}", data[:200_000]))]
    words = sorted(words)
    for _ in range(4):
        word = rng.choice(words) if words and rng.random() < 0.5 else rng.choice(("S", "T", "U", "V", "x", "y", "S0", "T1", "struct S", "union T"))
        form = rng.choice(("ptype {}", "whatis {}", "ptype/o {}", "print sizeof({})", "print ({} *)0", "print *({} *)0x1a00", "info scope {}",
                           "print {}", "list {}", "print/x *({} *)0x1a00", "info types {}", "break {}", "ptype {}::m", "print &(({} *)0)->m"))
        chosen.append(form.format(word))
    rng.shuffle(chosen)
    if rng.random() < running:
        chosen += START + tuple(rng.sample(RUNNING, rng.choice((4, 8, 16)))) + ("kill",)
    return tuple(chosen)


def _object(make: Single, running: float, suffix: str = ".co", arch: str | None = None) -> Callable[[random.Random], Attack]:
    def attack(rng: random.Random) -> Attack:
        data = make(rng)
        return Attack({f"file{suffix}": data}, f"file{suffix}", arch, _commands(rng, data, running))

    return attack


def _launch(make: Callable[[random.Random], dict[str, bytes]]) -> Callable[[random.Random], Attack]:
    def attack(rng: random.Random) -> Attack:
        commands = ("show launch", "set instruction-budget 20000", "print $x", "print $y", "run", "info kernels", "print $x", "show convenience")
        return Attack(make(rng), "launch.toml", None, commands)

    return attack


KINDS: dict[str, Callable[[random.Random], Attack]] = {
    "headers": _object(elf_files.headers, 0.05),
    "symbols": _object(elf_files.symbols, 0.1),
    "notes": _object(elf_files.notes, 0.05),
    "sections": _object(elf_files.sections, 0.2),
    "msgpack": _object(metadata_notes.msgpack_note, 0.15),
    "yaml": _object(metadata_notes.yaml_note, 0.1),
    "bundles": _object(bundles.bundle, 0.05, ".hipfb", "gfx90a"),
    "entries": _object(dwarf_files.entries, 0.12),
    "entries2": _object(dwarf_files.entries, 0.12),
    "lines": _object(dwarf_files.lines, 0.1),
    "frames": _object(dwarf_files.frames, 0.2),
    "launch": _launch(launch_files.files),
    "npy": _launch(launch_files.npy_files),
}
"""Every kind makes an attack from a random generator."""

NAMES = tuple(KINDS)


def attack_of(number: int) -> tuple[str, Attack]:
    """The attack with a number, and its kind; they are always the same for a number."""
    kind = NAMES[number % len(NAMES)]
    return kind, KINDS[kind](random.Random(f"{kind} {number}"))


class ErrorWithoutWords(Exception):
    """A `rocdbg.Error` with an empty message, with more than a line, or with text that no terminal can show."""


class Log:
    """The errors that occurred, and the output; each must be encodable and not empty."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.text = ""

    def error(self, error: Error) -> None:
        text = str(error)
        text.encode()
        if not text:
            raise ErrorWithoutWords(repr(error))
        self.errors.append(text)

    def written(self, text: str) -> None:
        text.encode()
        self.text += text


@functools.cache
def _shared_registry() -> Registry:
    """The commands of all sessions: attacks add none, and creating them took half of the time."""
    registry = Shell(Session(), Writer(io.StringIO()), Writer(io.StringIO())).registry
    registry.complete()
    return registry


def survive(attack: Attack, folder: Path, log: Log | None = None) -> int:
    """Perform everything on an attack; raises anything that is not a `rocdbg.Error`. Returns how many steps worked."""
    log = log or Log()
    for name, data in attack.files.items():
        (folder / name).write_bytes(data)
    worked = 0
    path = folder / attack.opened
    if attack.opened != "launch.toml":
        try:
            list_entries(path)
            for code_object in open_modules(path, attack.arch):
                worked += _use(code_object, log)
        except Error as error:
            log.error(error)
    out = io.StringIO()
    session = Session()
    shell = Shell(session, Writer(out), Writer(out), interactive=False, registry=_shared_registry())
    try:
        session.load(path, attack.arch)
    except Error as error:
        log.error(error)
        return worked
    for command in attack.commands:
        try:
            shell.execute(command)
            worked += 1
        except Error as error:
            log.error(error)
        except Quit:
            break
        log.written(out.getvalue())
        out.seek(0)
        out.truncate()
    session.launch.release()
    return worked


def _use(code_object: CodeObject, log: Log) -> int:
    """Use everything that the library provides for a code object, part by part."""
    worked = 0
    steps: list[Callable[[], object]] = [
        lambda: code_object.metadata, lambda: [section.data for section in code_object.sections.values()],
        lambda: code_object.load(0x100000), lambda: code_object.elf, lambda: code_object.dynamic_symbols.names(),
        lambda: [code_object.symbols.at(symbol.value) for symbol in code_object.symbols],
        lambda: [(k.metadata, k.descriptor.user_sgprs(), k.entry_address) for k in map(code_object.kernels.find, code_object.kernels) if k],
    ]
    for step in steps:
        try:
            step()
            worked += 1
        except Error as error:
            log.error(error)
    return worked


def fifo(folder: Path) -> None:
    """A pipe that launch files name: opening it waits for ever."""
    path = folder / "fifo"
    if not path.exists():
        os.mkfifo(path)


def warm_up(folder: Path) -> None:
    """Import in the parent everything that workers need, so that imports do not count as an input's time and memory."""
    survive(Attack({"file.co": elf_files.BASE.read_bytes()}, "file.co", None, STATIC + START), folder)
