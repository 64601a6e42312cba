"""Long work checks whether it should end: as often as there is work, and it ends when it should."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import rocdbg
from rocdbg import dwarf, isa, work
from rocdbg.analysis.control_flow import FunctionCode
from rocdbg.analysis.prologue import PrologueRows
from rocdbg.analysis.register_effects import BY_CONVENTION
from rocdbg.analysis.saved_registers import Functions
from rocdbg.arch.dwarf_registers import PC
from rocdbg.arch.targets import target_by_name
from rocdbg.codeobject import elf_symbols
from rocdbg.debugger.expr.parsing.lexer import tokenize
from rocdbg.debugger.reports import memory_search
from rocdbg.debugger.values.value_storage import Address
from rocdbg.dwarf.cfi_rule_types import UndefinedRule
from rocdbg.dwarf.info import entry_skipping, line_program, unit_index

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))
import file_growth as growth

SIZES = (20, 80, 320)


def opened(data: bytes, folder: Path) -> rocdbg.Debugger:
    path = folder / "file.co"
    path.write_bytes(data)
    return rocdbg.Debugger(path)


def asked(make: Callable[[int], bytes], command: str) -> Callable[[int, Path], None]:
    """A file of a size is opened, and one query is made."""

    def do(size: int, folder: Path) -> None:
        with suppress(rocdbg.Error):
            opened(make(size), folder).execute(command, to_string=True)

    return do


def checked(make: Callable[[int], bytes]) -> Callable[[int, Path], None]:
    """The debug information of such a file is checked."""

    def do(size: int, folder: Path) -> None:
        path = folder / "file.co"
        path.write_bytes(make(size))
        dwarf.check(dwarf.open(path))

    return do


WORK: dict[str, Callable[[int, Path], object]] = {
    "tokens": lambda size, folder: tokenize("1+" * size + "1"),
    "instructions": lambda size, folder: list(isa.disassemble(bytes(4 * size), "gfx90a")),
    "symbols": asked(growth.symbols, "info address s1"),
    "notes": asked(growth.notes, "info kernels"),
    "kernels in YAML": asked(growth.yaml, "info kernels"),
    "sections": asked(growth.sections, "info files"),
    "relocations": asked(growth.relocations, "info kernels"),
    "functions": asked(growth.functions, "info functions f5"),
    "types": asked(growth.types, "info types ."),
    "line rows": asked(growth.rows, "info line 5"),
    "frame entries": checked(growth.frames),
    "operations": asked(growth.operations, "info scope saxpy"),
    "rules of DWARF": checked(growth.locals_),
}


@pytest.fixture(autouse=True)
def _slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes are enough for more than one check."""
    for module, name in (
        (elf_symbols, "_SLICE"), (entry_skipping, "_SLICE"), (line_program, "_SLICE"), (unit_index, "SLICE"),
    ):
        monkeypatch.setattr(module, name, 16)


@contextmanager
def ended_at(number: int) -> Iterator[None]:
    """Work inside the block is asked to end at its n-th check."""
    looks = 0

    def ask() -> bool:
        nonlocal looks
        looks += 1
        return looks == number

    with work.asking(ask):
        yield


@pytest.mark.parametrize("name", WORK)
def test_looks_grow_with_the_work_and_each_ends_it(name: str, tmp_path: Path) -> None:
    do = WORK[name]
    do(2, tmp_path)
    counts = []
    for size in SIZES:
        before = work.units()
        do(size, tmp_path)
        counts.append(work.units() - before)
    assert counts[1] < 5 * counts[0]
    assert counts[2] < 5 * counts[1]
    assert counts[2] - counts[1] > 2 * (counts[1] - counts[0]) > 0
    for number in (1, counts[0] // 2, counts[0]):
        with pytest.raises(work.Stopped), ended_at(number):
            do(SIZES[0], tmp_path)


def test_loops_of_expressions_end_when_they_are_asked_to() -> None:
    loop = bytes.fromhex("0a ff7f 31 1c 12 28 faff")  # 32767; minus 1, while it is not 0
    with pytest.raises(work.Stopped), ended_at(1000):
        dwarf.evaluate(dwarf.Expression(loop, "amd"), dwarf.SimpleContext())


def test_searches_of_memory_end_when_they_are_asked_to() -> None:
    class Zeros:
        def read(self, space: int, address: int, size: int) -> bytes:
            return bytes(size)

    where = memory_search.SearchSpace(Address(0, 0), 100 * memory_search.CHUNK)
    with pytest.raises(work.Stopped), ended_at(50):
        list(memory_search.matches(Zeros(), where, b"x", lambda text: None))  # type: ignore[arg-type]


def test_an_analysis_that_was_ended_leaves_no_guess() -> None:
    """During the analysis of a function, its changes are assumed to follow the convention; not after the analysis was
    ended.
    """
    code = bytes.fromhex("000080bf") * 8 + bytes.fromhex("1e1d80be")  # s_nop; s_setpc_b64 s[30:31]
    function = FunctionCode(0, len(code))
    functions = Functions(lambda pc: function, lambda at, size: code[at : at + size], "gfx90a", 64, True)
    with pytest.raises(work.Stopped), ended_at(1):
        functions.clobbers(0)
    assert functions.clobbers(0) != BY_CONVENTION


def test_a_kernels_rules_need_no_analysis_of_what_it_calls() -> None:
    kernel = FunctionCode(0, 64, is_kernel=True)

    def read(address: int, size: int) -> bytes:
        raise AssertionError("its code is read")

    row = PrologueRows(target_by_name("gfx90a"), 64, lambda pc: kernel, read).row(8)
    assert row is not None
    assert row.rules == {PC: UndefinedRule()}
