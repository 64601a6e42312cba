"""Values recovered in optimised code, compared with those in unoptimised code."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

from msgspec import Struct, field

from rocdbg import isa
from rocdbg.arch.lane_sets import lane_list
from rocdbg.debugger import Session, StopReason
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.values.value_storage import AbsentError
from tests.breadth import EVERYTHING

SOURCES = Path(__file__).parent / "sources"
GROUP = 40
ITEMS = 2 * GROUP
LOOKED_AT = range(2, 64, 7 if EVERYTHING else 21)
"""The lanes that are examined."""

Key = tuple[str, str, int]
"""A variable: its function, its name, and the line of its declaration."""


class Values(Struct):
    """The values of variables in work-items, and how often variables of optimised code had a value."""

    of: dict[tuple[Key, int], set[bytes]] = field(default_factory=dict)
    told: Counter[Key] = field(default_factory=Counter)
    recovered: Counter[Key] = field(default_factory=Counter)
    none: Counter[Key] = field(default_factory=Counter)


def compile_object(source: str, target: str, output: Path, *options: str) -> Path:
    """A relocatable object."""
    if source.endswith(".cl"):
        language = ["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}"]
    else:
        language = ["-x", "hip", "--offload-device-only", "-nogpuinc", f"--offload-arch={target}"]
    text = output.with_suffix(".s")
    subprocess.run(
        ["clang-22", *language, "-nogpulib", "-w", "-g", *options, "-S", source, "-o", str(text)],
        cwd=SOURCES, check=True, timeout=120,
    )
    assemble = ["clang-22", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-c", str(text), "-o", str(output)]
    subprocess.run(assemble, check=True, timeout=60)
    return output


def link(objects: list[Path], output: Path) -> Path:
    """A code object."""
    subprocess.run(["ld.lld-22", "-shared", *map(str, objects), "-o", str(output)], check=True, timeout=60)
    return output


def session_on(path: Path, kernel: str) -> Session:
    """A session on a kernel that takes (out, in, count, wide); nothing has run."""
    session = Session()
    session.load(path)
    session.sources.program_directory = SOURCES
    session.launch.set_kernel(kernel)
    session.launch.set_grid(str(ITEMS))
    session.launch.set_workgroup(str(GROUP))
    numbers = ", ".join(str((7 * n * n + 13 * n + 5) % 61) for n in range(128))
    for index, text in enumerate(("i32[1024]:zeros", f"i32[128]:[{numbers}]", "50", "77309411328")):
        session.launch.set_argument(index, text)
    return session


def addresses(session: Session, *, lines_only: bool) -> list[int]:
    """The instructions of all functions, or the first of each line."""
    program = session.inferior.need_program()
    text = program.code_object.sections[".text"]
    named = [symbol for symbol in program.code_object.symbols if symbol.size and symbol.is_defined]
    ranges = [(program.code_object.address_of(symbol), symbol.size) for symbol in named]
    found = isa.disassemble(text.data, program.code_object.target.name, address=text.address)
    inside = [i.address for i in found if any(low <= i.address < low + size for low, size in ranges)]
    if not lines_only:
        return inside
    starts: list[int] = []
    before: int | None = None
    for address in inside:
        row = program.info.line_at(address)
        if row is not None and row.line and row.line != before:
            starts.append(address)
        before = row.line if row is not None else None
    return starts


def watch(session: Session, *, lines_only: bool) -> Values:
    """Run to the end, looking at the variables of all frames at every line or instruction; in ``./test`` at every other
    instruction."""
    for address in addresses(session, lines_only=lines_only)[:: 1 if lines_only or EVERYTHING else 2]:
        session.break_at(f"*{address:#x}")
    values = Values()
    event = session.run()
    while event.reason is StopReason.BREAKPOINT:
        thread = event.scope.thread
        assert thread is not None
        wave = session.inferior.wave(thread)
        for lane in set(lane_list(wave.exec_mask & wave.used_lanes)) & set(LOOKED_AT):
            item = wave.workgroup[0] * GROUP + wave.index * wave.lane_count + lane
            look(session, Focus(thread, lane), item, values, lines_only)
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED, event
    return values


def look(session: Session, focus: Focus, item: int, values: Values, lines_only: bool) -> None:
    """Add the variables of a lane's frames; with ``lines_only``, only those after the lines of their declarations."""
    for frame in session.focus.frames(focus):
        environment = session.data.environment(frame.scope)
        for variable in (v for scope in frame.scopes for v in scope.variables if v.name and v.decl_line):
            if lines_only and (frame.line or 0) <= variable.decl_line + variable.is_parameter:
                continue
            key = (frame.name or "").partition("(")[0], variable.name, variable.decl_line
            value = environment.value_of(variable)
            try:
                data = value.contents()
            except AbsentError:
                values.none[key] += 1
                continue
            (values.recovered if value.recovered else values.told)[key] += 1
            if value.recovered or lines_only:
                values.of.setdefault((key, item), set()).add(bytes(data))


def wrong(optimised: Values, plain: Values, called_often: frozenset[str]) -> list[str]:
    """Recovered values that differ from those of the unoptimised code.

    For functions in ``called_often``, the values of any call are accepted; other variables must have had only one
    value.
    """
    found = []
    for (key, item), seen in optimised.of.items():
        had = plain.of.get((key, item))
        if had is None:
            continue  # a lane that does not come there: there is nothing to compare
        if not (seen <= had if key[0] in called_often else seen == had):
            found.append(f"{key}, item {item}: {sorted(map(bytes.hex, seen))}, is {sorted(map(bytes.hex, had))}")
    return found
