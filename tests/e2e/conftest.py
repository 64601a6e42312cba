"""Kernels compiled with clang-22, and sessions on them; comparison with the values that a kernel itself stored."""

from __future__ import annotations

import importlib.util
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rocdbg import isa
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger import Session, StopReason
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.values.value_storage import AbsentError
from rocdbg.errors import Error
from rocdbg.launch.contents import ContentKind, Contents
from rocdbg.launch.elements import ArrayType
from rocdbg.launch.spec import ArgumentSpec

SOURCES = Path(__file__).parent / "sources"
ITEMS, GROUP_SIZE, SLOTS = 160, 80, 64
UNTOUCHED = 0x5A5A_5A5A_5A5A_5A5A
"""The contents of the trace buffer where nothing was stored."""
_TRACE = re.compile(r"^\s*(TRACEF?)\((.+?), (.+)\);\s*$")

Start = Callable[..., Session]
Cell = tuple[int, int]
"""A slot of the trace buffer and a work-item."""


@dataclass
class Comparison:
    """Comparison of the debugger's output on the TRACE lines with the values that the kernel stored there.

    ``wrong``: shown differently; ``missed``: stored by a work-item for which no breakpoint on the line stopped;
    ``spurious``: a stop for a work-item that stored nothing; ``absent``: the debugger reported that the value does not
    exist.
    """

    stopped: set[Cell] = field(default_factory=set)
    seen: dict[Cell, int | str] = field(default_factory=dict)
    stored: dict[Cell, int] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)

    @property
    def wrong(self) -> list[str]:
        return [
            f"slot {slot}, item {item}: {self.texts[slot]} is shown as {seen}, is {self.stored[slot, item]}"
            for (slot, item), seen in self.seen.items()
            if isinstance(seen, int) and (slot, item) in self.stored and seen != self.stored[slot, item]
        ]

    @property
    def missed(self) -> list[Cell]:
        return sorted(self.stored.keys() - self.stopped)

    @property
    def spurious(self) -> list[Cell]:
        return sorted(self.stopped - self.stored.keys())

    @property
    def absent(self) -> dict[Cell, str]:
        return {cell: seen for cell, seen in self.seen.items() if isinstance(seen, str)}

    @property
    def right(self) -> int:
        return sum(self.stored.get(cell) == seen for cell, seen in self.seen.items())


def item_of(session: Session, thread: int, lane: int) -> int:
    """The number of a lane's work-item, counted over the whole grid."""
    wave = session.inferior.wave(thread)
    return wave.workgroup[0] * GROUP_SIZE + wave.index * wave.lane_count + lane


def marks(session: Session) -> list[int]:
    """The addresses of the instructions that mark TRACE lines."""
    program = session.inferior.need_program()
    text = program.code_object.sections[".text"]
    target = program.code_object.target
    found = isa.disassemble(text.data, target.name, address=text.address)
    return [instruction.address for instruction in found if instruction.text == "s_nop 5"]


def follow_trace(session: Session, source: str, sample: int = 1) -> Comparison:
    """Run to the end over breakpoints on all TRACE lines, evaluating each line's expression for each lane.

    With ``sample``, only for one lane in this many, and for different lanes on each line.
    """
    result = Comparison()
    lines = {
        number: match.groups()
        for number, text in enumerate((SOURCES / source).read_text().splitlines(), 1)
        if (match := _TRACE.match(text))
    }
    for address in marks(session):
        session.break_at(f"*{address:#x}")
    event = session.run()
    while event.reason is StopReason.BREAKPOINT:
        thread = event.scope.thread
        assert thread is not None
        line = session.focus.frame().line
        assert line in lines, f"stopped at line {line}, which traces nothing"
        kind, slot_text, text = lines[line]
        for lane in lane_list(event.lanes):
            scope = Focus(thread, lane)
            if slot_text.isdigit() and (line + lane) % sample:
                result.stopped.add((int(slot_text), item_of(session, thread, lane)))
                continue
            try:
                slot = session.data.evaluate(slot_text, scope).as_int()
            except AbsentError:
                continue  # in a loop whose counter is gone: which pass this is cannot be told
            result.texts[slot] = text
            cell = slot, item_of(session, thread, lane)
            result.stopped.add(cell)
            try:
                value = session.data.evaluate(f"+({text})", scope)
                seen: int | str = (
                    int.from_bytes(struct.pack("<d", value.as_float()), "little", signed=True)
                    if kind == "TRACEF"
                    else _signed(value.as_int())
                )
            except AbsentError as error:
                seen = str(error)
            except Error as error:
                seen = f"error: {error}"
            result.seen[cell] = seen
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED, event
    bound = session.launch.bound
    assert bound is not None
    buffer = bound.buffers[0].contents.view(np.int64).reshape(SLOTS, ITEMS)
    for slot, item in zip(*np.nonzero(buffer != UNTOUCHED), strict=True):
        result.stored[int(slot), int(item)] = int(buffer[slot, item])
    return result


def _signed(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


@pytest.fixture
def trace() -> Callable[..., Comparison]:
    """`follow_trace`."""
    return follow_trace


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """``compiled("flow.hip", "gfx90a", "-O2")``: the path of a code object. Further words are further options."""
    folder = tmp_path_factory.mktemp("e2e")

    def compile_(source: str, target: str = "gfx90a", *options: str) -> Path:
        options = options or ("-O0",)
        output = folder / f"{source}.{target}.{'.'.join(options)}.co"
        if not output.exists():
            if source.endswith(".hip"):
                command = ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib",
                           f"--offload-arch={target}", "--no-gpu-bundle-output"]
            else:
                command = ["clang-22", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa",
                           f"-mcpu={target}", "-nogpulib", "-Wno-unused-command-line-argument"]
            subprocess.run(
                [*command, "-g", "-w", *options, source, "-o", str(output)], cwd=SOURCES, check=True, timeout=120
            )
        return output

    return compile_


@pytest.fixture
def start(compiled: Callable[..., Path]) -> Start:
    """``start("flow.hip", "flow", [arguments], "gfx90a", "-O2")``: a session in which nothing has run.

    The first argument is the trace buffer, the others are those given.
    """

    def make(source: str, kernel: str, arguments: list[str], target: str = "gfx90a", *options: str) -> Session:
        session = Session()
        session.load(compiled(source, target, *options))
        session.sources.program_directory = SOURCES
        session.launch.set_kernel(kernel)
        session.launch.set_grid(str(ITEMS))
        session.launch.set_workgroup(str(GROUP_SIZE))
        array = ArrayType.parse(f"i64[{SLOTS * ITEMS}]")
        init = Contents(ContentKind.LIST, "trace", values=(UNTOUCHED,) * (SLOTS * ITEMS))
        session.launch.spec.arguments = [ArgumentSpec("arg 0", "trace", array, init)]
        for index, text in enumerate(arguments, 1):
            session.launch.set_argument(index, text)
        return session

    return make


@pytest.fixture(scope="session")
def dwarfdump() -> ModuleType:
    """The module next to this file."""
    specification = importlib.util.spec_from_file_location("e2e_dwarfdump", Path(__file__).with_name("dwarfdump.py"))
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module
