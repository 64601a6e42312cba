"""Collects the tables of this folder (`*.txt`; the notation is described in notation.py) and runs their programs.

All programs of a table and a target are assembled at once. Each runs in a separate dispatch with one wave, from its
first instruction to its end; the state is then compared.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocdbg.codeobject import open_file
from rocdbg.sim.core.run_options import RunOptions
from rocdbg.sim.core.stops import StopKind
from rocdbg.sim.core.wave import Wave
from rocdbg.sim.device.dispatch import Dispatch
from rocdbg.sim.device.machine import LoadedCodeObject, Machine

if "vector_notation" not in sys.modules:
    _spec = importlib.util.spec_from_file_location("vector_notation", Path(__file__).with_name("notation.py"))
    assert _spec is not None and _spec.loader is not None
    _module = importlib.util.module_from_spec(_spec)
    sys.modules["vector_notation"] = _module
    _spec.loader.exec_module(_module)

notation: Any = sys.modules["vector_notation"]

BUFFER = 4096
LDS = 65536
PRIVATE = 4096
BUDGET = 100_000


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    if file_path.suffix == ".txt":
        return Table.from_parent(parent, path=file_path)
    return None


class Table(pytest.File):
    """One text file."""

    def collect(self) -> Iterator[pytest.Item]:
        self.devices: dict[tuple[str, int], Device] = {}
        self.programs = notation.programs(self.path.read_text())
        several = len({(p.target, p.wave_size) for p in self.programs}) > 1
        for program in self.programs:
            suffix = f"-{program.target}/{program.wave_size}" if several else ""
            name = f"{program.line}:{program.title or program.instructions[-1]}{suffix}"
            yield Case.from_parent(self, name=name, program=program)

    def device(self, program: Any) -> Device:
        """The machine on which the program is loaded, with all others of this table and target."""
        key = program.target, program.wave_size
        if key not in self.devices:
            members = [p for p in self.programs if (p.target, p.wave_size) == key]
            folder = self.session.config._tmp_path_factory.mktemp(self.path.stem)  # type: ignore[attr-defined]
            self.devices[key] = Device(*key, members, folder)
        return self.devices[key]


class Case(pytest.Item):
    """One program on one target."""

    def __init__(self, *, program: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.program = program
        self.add_marker(pytest.mark.llvm)

    def runtest(self) -> None:
        table = self.parent
        assert isinstance(table, Table)
        differences = table.device(self.program).run(self.program)
        if differences:
            raise Difference("\n".join(differences))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Difference):
            code = "\n".join(f"    {instruction}" for instruction in self.program.instructions)
            return f"{self.path.name}:{self.program.line} on {self.program.target}\n{code}\n{excinfo.value}"
        excinfo.traceback = excinfo.traceback.cut(path=__file__)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.program.line - 1, self.name


class Difference(Exception):
    """The state after a program differs from the expected one."""


class Device:
    """A machine on which the programs of one table are loaded."""

    def __init__(self, target: str, wave_size: int, members: list[Any], folder: Path) -> None:
        self.target, self.wave_size = target, wave_size
        source, output = folder / "programs.s", folder / "programs.o"
        source.write_text(assembly(target, wave_size, members))
        command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}", "-filetype=obj"]
        if target.startswith(("gfx11", "gfx12")):
            command.append("-mattr=+real-true16")
        if target.startswith(("gfx10", "gfx11", "gfx12")):
            command.append(f"-mattr=+wavefrontsize{wave_size}")
        done = subprocess.run([*command, str(source), "-o", str(output)], capture_output=True, text=True)
        if done.returncode:
            raise Difference(f"llvm-mc-22 refuses the table's programs:\n{done.stderr}")
        linked = folder / "programs.co"
        subprocess.run(["ld.lld-22", "-shared", str(output), "-o", str(linked)], check=True)
        self.machine = Machine(target)
        self.loaded: LoadedCodeObject = self.machine.load(open_file(linked))
        self.memory = self.machine.memory.allocate(BUFFER)
        self.ends = frozenset(self.loaded.symbol_address(f"end{p.line}") for p in members)

    def run(self, program: Any) -> list[str]:
        """The differences from the expected state, as text."""
        kernel = self.loaded.code_object.kernels["vectors"]
        dispatch = self.machine.dispatch(kernel, (program.lanes, 1, 1), (program.lanes, 1, 1), b"")
        try:
            return self._run(program, dispatch)
        finally:
            dispatch.release()

    def _run(self, program: Any, dispatch: Dispatch) -> list[str]:
        wave = dispatch.waves[0]
        wave.sgprs[:124] = 0
        wave.m0 = 0
        wave.clear_vectors()
        wave.scc = 0
        wave.exec = (1 << program.lanes) - 1
        wave.pc = self.loaded.symbol_address(f"begin{program.line}")
        self.machine.memory.write(self.memory.address, bytes(BUFFER))
        for item in program.before:
            self._set(wave, dispatch, program, item)
        stop = dispatch.run(RunOptions(stop_pcs=self.ends, budget=BUDGET))
        if stop.kind is not StopKind.BREAKPOINT:
            return [f"ended with {stop.kind.name} at {stop.instruction or hex(wave.pc)} {stop.fault or ''}"]
        return [
            difference
            for item in program.after
            for difference in self._compare(wave, dispatch, program, item)
        ]

    # -- places: each is one or more cells of some bits, named for messages ----------------------------------

    def _set(self, wave: Wave, dispatch: Dispatch, program: Any, item: Any) -> None:
        if item.place == "lanes":
            return
        for lane, _, new, _ in self._cells(program, item):
            size = new.size if item.place in ("mem", "lds") else item.count * 4
            self._write(wave, dispatch, item, lane, new.bits & (1 << 8 * size) - 1, size)

    def _compare(self, wave: Wave, dispatch: Dispatch, program: Any, item: Any) -> Iterator[str]:
        for lane, name, wanted, size in self._cells(program, item):
            found = self._read(wave, dispatch, item, lane, size)
            limited = notation.Value(wanted.text, wanted.bits & (1 << 8 * size) - 1, wanted.kind)
            if not notation.agrees(limited, found, item.near):
                yield f"  {name}: {found:#x}, wanted {wanted.text} ({limited.bits:#x})"

    def _cells(self, program: Any, item: Any) -> Iterator[tuple[int, str, Any, int]]:
        """(lane or byte offset, name, value, bytes) of each cell in an assignment."""
        name = item.text.replace("~", "=").partition("=")[0]
        size = 2 if item.half else item.count * 4
        if item.place in ("mem", "lds"):
            offset = item.index
            for value in item.values:
                value = value or notation.Value("_", 0, None)
                if value.text != "_":
                    yield offset, f"{item.place}@{offset:#x}", value, value.size
                offset += value.size
            return
        if item.place not in ("v", "a", "private"):
            if item.place in ("vcc", "exec"):
                size = self.wave_size // 8
            address = None if item.address is None else self.memory.address + item.address
            value = item.values[0] if address is None else notation.Value("&mem", address, None)
            yield 0, name, value, size
            return
        for lane in range(program.lanes if item.lane is None else 1):
            if item.linear is not None:
                bits = item.linear[0] * lane + item.linear[1]
                value = notation.Value(str(bits), bits, None)
            elif item.address is not None:
                value = notation.Value("&mem", self.memory.address + item.address, None)
            elif len(item.values) == 1:
                value = item.values[0]
            else:
                value = item.values[lane] if lane < len(item.values) else None
            if value is not None:
                at = lane if item.lane is None else item.lane
                yield at, name if item.lane is not None else f"{name}[{at}]", value, size

    def _write(self, wave: Wave, dispatch: Dispatch, item: Any, lane: int, bits: int, size: int) -> None:
        place = item.place
        if place in ("mem", "lds"):
            data = bits.to_bytes(size, "little")
            if place == "mem":
                self.machine.memory.write(self.memory.address + lane, data)
            else:
                wave.lds[lane : lane + size] = list(data)
        elif place == "private":
            self.machine.memory.write(wave.scratch_address(lane, item.index), bits.to_bytes(4, "little"))
        elif place in ("v", "a"):
            for k in range(item.count):
                register = (wave.vgpr if place == "v" else wave.agpr)(item.index + k)
                register[lane] = (
                    bits >> 32 * k & 0xFFFF_FFFF
                    if not item.half
                    else _merge(int(register[lane]), bits, item.half)
                )
        elif place == "s":
            for k in range(item.count):
                wave.set_sgpr(item.index + k, bits >> 32 * k)
        elif place in notation.SPECIAL:
            wave.set_sgpr(notation.SPECIAL[place], bits)
        else:
            setattr(wave, place, bits)

    def _read(self, wave: Wave, dispatch: Dispatch, item: Any, lane: int, size: int) -> int:
        place = item.place
        if place == "mem":
            return int.from_bytes(self.machine.memory.read(self.memory.address + lane, size), "little")
        if place == "lds":
            return int.from_bytes(wave.lds[lane : lane + size].tobytes(), "little")
        if place == "private":
            data = self.machine.memory.read(wave.scratch_address(lane, item.index), 4)
            return int.from_bytes(data, "little")
        if place in ("v", "a"):
            read = wave.vgpr if place == "v" else wave.agpr
            found = sum(int(read(item.index + k)[lane]) << 32 * k for k in range(item.count))
        elif place == "s":
            found = sum(wave.sgpr(item.index + k) << 32 * k for k in range(item.count))
        elif place in notation.SPECIAL:
            found = wave.sgpr(notation.SPECIAL[place])
        else:
            found = int(getattr(wave, place))
        if item.half:
            found = found >> (16 if item.half == "h" else 0) & 0xFFFF
        return found


def _merge(old: int, half: int, which: str) -> int:
    """A register with one half replaced."""
    half &= 0xFFFF
    return old & 0xFFFF | half << 16 if which == "h" else old & 0xFFFF_0000 | half


def assembly(target: str, wave_size: int, members: list[Any]) -> str:
    """One kernel whose code is the programs, each between the symbols beginN and endN (N: its line)."""
    lines = [".globl vectors", ".p2align 8", ".type vectors,@function", "vectors:"]
    for program in members:
        number = program.line
        lines += [f".globl begin{number}, end{number}", f"begin{number}:"]
        lines += [f"  {instruction}" for instruction in program.instructions]
        lines += [f"end{number}:", "  s_endpgm"]
    # Instruction prefetch and the decoder may look after the last one.
    lines += ["  s_nop 0"] * 64
    lines += [
        ".rodata",
        ".p2align 6",
        ".amdhsa_kernel vectors",
        "  .amdhsa_next_free_sgpr 96",
        "  .amdhsa_kernarg_size 8",
    ]
    lines += [f"  .amdhsa_group_segment_fixed_size {LDS}", f"  .amdhsa_private_segment_fixed_size {PRIVATE}"]
    if target in ("gfx90a", "gfx942", "gfx950"):
        lines += ["  .amdhsa_next_free_vgpr 512", "  .amdhsa_accum_offset 256"]
    else:
        lines += ["  .amdhsa_next_free_vgpr 256"]
    if target.startswith(("gfx10", "gfx11", "gfx12")):
        lines += [f"  .amdhsa_wavefront_size32 {int(wave_size == 32)}"]
    if target.startswith(("gfx11", "gfx12", "gfx94", "gfx95")):
        lines += ["  .amdhsa_enable_private_segment 1"]
    return "\n".join([*lines, ".end_amdhsa_kernel", ""])
