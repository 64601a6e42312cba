"""Attributes that break their rules, at the prompt: they are reported once, and the session continues with all other
information.

The kernel and its debug information are `described_kernel`'s; x is the lane's number at line 3, S and P are at
local#0x4, where the kernel stores 5 and 10.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import rocdbg
from rocdbg import dwarf
from rocdbg.dwarf.operation_assembler import assemble
from tests.damage.described_kernel import FRAME_CODE, Described, build

pytestmark = pytest.mark.llvm

EXEC = 17
LANES, ITERATIONS, CONSTANT, LANE_PC, ACTIVE, BASE, LINK, LIST, TWICE, TWO_PLACES = range(4, 14)
"""The indices of k's attributes."""
VALUE = assemble("lit15")
MASK = assemble(("regx", EXEC))
BASED = assemble(("fbreg", 4))
NO_BASE = 0x3FFE
FEW = assemble("lit0", "stack_value", ("extend", 64, 32))
IN_LDS = assemble("drop", "lit8", "lit3", "form_aspace_address")
IN_REGISTER = assemble("drop", ("regx", 2563), "push_lane", "lit4", "mul", "offset")
CONSTANT_7 = assemble("drop", "lit7", "stack_value")
NOWHERE = assemble("drop", "undefined")

# what is other, a command, its answer, what is named and what is used instead ("" nothing)
CASES = [
    ("all is well", [], "print x", "$1 = 0", ""),
    ("lanes 0", [("k", LANES, None, 0)], "print $_lane_count", "", "DW_AT_LLVM_lanes of k at"),
    ("an active lane", [("k", ACTIVE, 0x3E08, MASK)], "print x", "$1 = 0", ""),
    ("a mask that is a value", [("k", ACTIVE, 0x3E08, VALUE)], "print x", "$1 = 0", "DW_AT_LLVM_active_lane of k at"),
    ("a mask that is undefined", [("k", ACTIVE, 0x3E08, assemble("undefined"))], "print x", "$1 = 0",
     "DW_AT_LLVM_active_lane of k at .debug_info+0x"),
    ("a mask of no operations", [("k", ACTIVE, 0x3E08, b"\xff")], "print x", "$1 = 0", "EXEC is used"),
    ("a mask in no register", [("k", ACTIVE, 0x3E08, assemble(("regx", 9999)))], "print x", "$1 = 0", "EXEC is used"),
    ("a mask that a list gives elsewhere only", [("k", LIST, 0x3E08, None)], "print x", "$1 = 0", "EXEC is used"),
    ("a lane PC of fewer lanes", [("k", LANE_PC, 0x3E0B, FEW)], "print $__lane_pc_array", "$1 = ",
     "DW_AT_LLVM_lane_pc of k at"),
    ("a lane PC that fails", [("k", LANE_PC, 0x3E0B, assemble("deref"))], "print $__lane_pc_array", "$1 = ",
     "DW_AT_LLVM_lane_pc of k at"),
    ("a mask in two places", [("k", TWICE, 0x3E08, None)], "print x", "$1 = 0", "but is in 2 places: register exec"),
    ("a mask in memory in two places", [("k", TWO_PLACES, 0x3E08, None)], "info lanes", " A     AMDGPU Lane 1:1:1:1/63",
     "DW_AT_LLVM_active_lane of k at .debug_info+0x"),
    ("a lane PC in two places", [("k", TWO_PLACES, 0x3E0B, None)], "print $__lane_pc_array", "<repeats 64 times>",
     "lane positions are recovered from machine code"),
    ("iterations in two places", [("k", TWO_PLACES, 0x3E0A, None), ("k", ITERATIONS, NO_BASE, None)], "iteration",
     "[Current iteration is 0 of 1]", "but is in 2 places: memory at local#0x4"),
    ("constant iterations 0", [("k", CONSTANT, 0x3E0A, 0), ("k", ITERATIONS, NO_BASE, None)], "iteration",
     "[Current iteration is 0 of 1]", "the value is 0, but must be greater than 0"),
    ("iterations before constant lanes", [("k", LANES, NO_BASE, None), ("k", CONSTANT, 0x3E0A, 32)], "iteration",
     "[Current iteration is 0 of 4]", ""),
    ("lanes behind iterations", [("k", LANES, NO_BASE, None), ("k", CONSTANT, 0x3E0A, 32)], "print $_lane_count",
     "$1 = 32", ""),
    ("iterations as an expression", [], "iteration", "[Current iteration is 0 of 4]", ""),
    ("iterations in a register", [("k", ITERATIONS, None, assemble(("regx", 2563)))], "iteration",
     "[Current iteration is 0 of 1]", "DW_AT_LLVM_iterations of k at"),
    ("iterations -1", [("k", ITERATIONS, None, assemble(("consts", -1), "stack_value"))], "iteration",
     "[Current iteration is 0 of 1]", "the value is -1, but must be greater than 0"),
    ("iterations that are an address", [("k", ITERATIONS, None, assemble("lit4"))], "iteration",
     "[Current iteration is 0 of 1]", "implicit location description"),
    ("constant iterations behind lanes", [("k", ITERATIONS, 0x3FFE, None), ("k", CONSTANT, 0x3E0A, None)], "iteration",
     "[Current iteration is 0 of 2]", ""),
    ("constant iterations beside upstream's lanes",
     [("k", LANES, 0x3E11, None), ("k", ITERATIONS, 0x3FFE, None), ("k", CONSTANT, 0x3E0A, None)], "iteration",
     "[Current iteration is 0 of 2]", ""),
    ("a static link in a register", [("k", LINK, 0x48, assemble(("regx", 36)))], "info frame", "Stack level 0",
     "DW_AT_static_link of k at"),
    ("a static link in memory", [("k", LINK, 0x48, assemble("lit8", "lit6", "form_aspace_address"))], "info frame",
     " static link: memory at private_wave#0x8", ""),
    ("a static link in two places", [("k", TWO_PLACES, 0x48, None)], "info frame", "Stack level 0",
     "DW_AT_static_link of k at"),
    ("a frame base in two places", [("k", TWO_PLACES, 0x40, None), ("k", BASE, NO_BASE, None)], "info frame",
     "Locals at private_wave#0x0", "DW_AT_frame_base of k at"),
    ("a variable based on two places", [
        ("k", TWO_PLACES, 0x40, None), ("k", BASE, NO_BASE, None), ("s", 2, None, BASED)], "info locals",
     "s = <error reading variable s (DW_AT_location of s in k at", "variables that are based on it have no value"),
    ("a frame base that is a value", [("k", BASE, None, assemble("lit1", "stack_value"))], "info frame",
     "Locals at private_wave#0x0", "the frame base must be in memory, but is"),
    ("a frame base of no operations", [("k", BASE, None, b"\xff")], "print x", "$1 = 0", ""),
    ("an encoding that there is not", [("int", 1, None, 0)], "print x", "$1 = 0", "DW_AT_encoding of int at"),
    ("a vector of 0", [("vector", 3, None, 0)], "print v", "$1 = 5", "DW_AT_LLVM_vector_size of vec at"),
    ("a vector of 2", [], "print v", "$1 = {5, 10}", ""),
    ("members of an object in memory", [], "print s", "$1 = {<struct B> = {z = 5}, a = 5, b = 10}", ""),
    ("a member in other memory", [("struct.b", 2, None, IN_LDS)], "print s",
     "$1 = {<struct B> = {z = 5}, a = 5, b = 10}", ""),
    ("a member in a register", [("struct.b", 2, None, IN_REGISTER)], "print s.b", "$1 = 10", ""),
    ("a member that is a constant", [("struct.b", 2, None, CONSTANT_7)], "print s", "a = 5, b = 7}", ""),
    ("a member that is nowhere", [("struct.b", 2, None, NOWHERE)], "print s", "a = 5, b = <optimized out>}", ""),
    ("a member in memory that cannot be read", [("struct.b", 2, None, assemble("drop", "lit0"))], "print s",
     "a = 5, b = <error: Cannot access memory at address 0x0>}", ""),
    ("a base in memory that cannot be read", [("struct.base", 1, None, assemble("drop", "lit0"))], "print s",
     "{<struct B> = <error: Cannot access memory at address 0x0>, a = 5, b = 10}", ""),
    ("a base that is a constant", [("struct.base", 1, None, CONSTANT_7)], "print s", "B> = {z = 7}, a = 5", ""),
    ("a base that is nowhere", [("struct.base", 1, None, NOWHERE)], "print s.a", "$1 = 5", ""),
    ("a member of a base elsewhere", [("struct.base", 1, None, CONSTANT_7)], "print s.z", "$1 = 7", ""),
    ("a member whose place fails", [("struct.b", 2, None, b"\xff")], "print s", "a = 5, b = <optimized out>}",
     "DW_AT_data_member_location of b at"),
    ("an object in several kinds of pieces", [("p", 2, None, assemble(
        "lit4", "lit3", "form_aspace_address", ("piece", 4), "lit9", "stack_value", ("piece", 4),
        ("piece", 4)))], "print p", "$1 = {a = 5, b = 9, c = <optimized out>}", ""),
    ("an object whose rest is missing", [("p", 2, None, assemble(
        "lit4", "lit3", "form_aspace_address", ("piece", 4)))], "print p",
     "$1 = {a = 5, b = <optimized out>, c = <optimized out>}", ""),
    ("an implicit value of the beginning", [("p", 2, None, assemble(("implicit_value", bytes((7, 0, 0, 0)))))],
     "print p", "$1 = {a = 7, b = <optimized out>, c = <optimized out>}", ""),
]


# an implicit pointer's expression before the entry's offset, what dereferencing shows
IMPLICIT_POINTERS = [
    ("into the space of the type", "lit3", "$1 = 0"),
    ("into another space", "lit5", "points into address space 0x5 (private_lane), but pointers of its type point into "
    "address space "
     "0x3 (local)"),
    ("of DWARF 5, without a space", None, "$1 = 0"),
]


@pytest.mark.parametrize(
    ("space", "answer"), [case[1:] for case in IMPLICIT_POINTERS], ids=[case[0] for case in IMPLICIT_POINTERS]
)
def test_implicit_pointers(space: str | None, answer: str, described: Described, tmp_path: Path) -> None:
    """Dereferences the pointer q, whose type points into local memory, and which points to x."""
    [x] = dwarf.open(described.file).named("x")
    code = assemble(("implicit_pointer", x.offset, 0)) if space is None else assemble(
        space, ("aspace_implicit_pointer", x.offset, 0)
    )
    debugger = stopped(tmp_path, described.patched(("q", 2, None, code)))
    try:
        shown = debugger.execute("print *q", to_string=True)
    except rocdbg.Error as error:
        shown = str(error)
    assert answer in shown
    assert "q = <synthetic pointer>" in debugger.execute("info locals", to_string=True)
    assert "#0  k () at /nowhere/k.c:4" in debugger.execute("bt", to_string=True)
    assert "5\t" in debugger.execute("next", to_string=True)


def test_a_base_type_without_size(described: Described, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A type without contents has no number to show."""
    debugger = stopped(tmp_path, described.patched(("int", 2, None, 0)))
    with pytest.raises(rocdbg.Error, match="The size of type <damaged type> is not known"):
        debugger.execute("print x", to_string=True)
    assert "x = <unspecified>\n" in debugger.execute("info locals", to_string=True)
    assert "#0  k () at /nowhere/k.c:4" in debugger.execute("bt", to_string=True)
    assert capsys.readouterr().err.count("the base type int has no size") == 1


@pytest.mark.parametrize("code", [
    bytes((0x0F, 127, 0x30, 0x36, 0xE9, 0x02)), bytes((0x0F, 4, 0x30, 0x36, 0xE9, 0x7F)),
    bytes((0x0F, 4, 0x13, 0x13, 0x13, 0x13)), bytes((0x3F, 4, 0x30, 0x36, 0xE9, 0x02)),
])
def test_call_frame_information_that_is_damaged(
    code: bytes, described: Described, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The damage is named once, and the other information about frames is used."""
    assert described.file.count(FRAME_CODE) == 1
    debugger = stopped(tmp_path, described.file.replace(FRAME_CODE, code))
    assert debugger.execute("print x", to_string=True) == "$1 = 0\n"
    assert "#0  k () at /nowhere/k.c:4" in debugger.execute("bt", to_string=True)
    debugger.execute("info frame", to_string=True)
    assert "5\t" in debugger.execute("next", to_string=True)
    debugger.execute("info frame", to_string=True)
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")]
    assert len(told) == 1 and "Call frame information of k in .debug_frame" in told[0]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Described:
    return build(tmp_path_factory.mktemp("described"))


def stopped(folder: Path, file: bytes) -> rocdbg.Debugger:
    (folder / "k.co").write_bytes(file)
    (folder / "k.toml").write_text(
        '[launch]\nfile = "k.co"\nkernel = "k"\ngrid = [64, 1, 1]\nworkgroup = [64, 1, 1]\n'
    )
    debugger = rocdbg.Debugger(folder / "k.toml")
    debugger.execute("break 4", to_string=True)
    debugger.execute("run", to_string=True)
    return debugger


@pytest.mark.parametrize(("patches", "command", "answer", "named"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_rule(
    patches: list[tuple[str, int, int | None, bytes | int | None]], command: str, answer: str, named: str,
    described: Described, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    debugger = stopped(tmp_path, described.patched(*patches))
    shown = debugger.execute(command, to_string=True)
    assert answer in shown
    assert "#0  k () at /nowhere/k.c:4" in debugger.execute("bt", to_string=True)
    assert "5\t" in debugger.execute("next", to_string=True)
    assert " = 100\n" in debugger.execute("print x", to_string=True)
    debugger.execute("bt", to_string=True)
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")]
    about = [line for line in told if "DW_AT_" in line]
    assert len(about) == bool(named) and all(named in line for line in about)
