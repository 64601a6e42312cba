"""ROCgdb's dw2-lane-pc test: its expectations hold for every encoding of the debug information.

A golden file has comment lines, and commands after ``(rocdbg) `` with their output below. ``ROCDBG_UPDATE_GOLDEN=1``
writes the files again; read the difference before committing it.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import rocdbg
from rocdbg.cli.repl import run_statement
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger import Session
from tests.rocgdb.lane_pc_program import SOURCE, Variant, build, compile_plainly

pytestmark = pytest.mark.llvm
FILES = sorted((Path(__file__).parent / "golden").glob("*.txt"))
PROMPT = "(rocdbg) "
Built = Callable[[Variant], Path]

VARIANTS = {
    "as_the_test": Variant(),
    "2020": Variant(dialect="proposal2020", augmentation="[amdgpu:v0.0]"),
    "upstream_attributes": Variant(dialect="llvm22", lanes=64),
    "lanes_and_augmentation": Variant(lanes=64, augmentation="[amdgpu:v0.0]"),
    "lists_by_number": Variant(lists=True, list_index=True, lanes=64),
    "indexed_addresses": Variant(indexed=True, unit_range=True),
    "version_4": Variant(version=4, lists=True),
    "version_4_2020": Variant(version=4, dialect="proposal2020", augmentation="[amdgpu:v0.0]", lanes=64),
    "own_lines": Variant(own_lines=True),
    "behind_the_compilers_unit": Variant(keep_unit=True),
    "frame_base": Variant(frame_base=True, unit_range=True, lanes=64),
    "2020_unmarked": Variant(dialect="proposal2020"),
}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """``built(variant)``: the path of the code object, made once."""
    folder = tmp_path_factory.mktemp("lane_pc")
    made: dict[Variant, Path] = {}

    def get(variant: Variant) -> Path:
        if variant not in made:
            made[variant] = build(folder / str(len(made)), variant)
        return made[variant]

    return get


def run(golden: str, path: Path) -> str:
    """The current form of a golden text."""
    session = Session()
    session.load(path)
    session.sources.program_directory = SOURCE.parent
    session.launch.set_kernel("kernel")
    session.launch.set_grid("32")
    session.launch.set_workgroup("32")
    session.launch.set_argument(0, "i32[32]:zeros")
    session.launch.set_argument(1, "i32[34]:zeros")
    text = io.StringIO()
    shell = Shell(session, Writer(text), Writer(text))
    for line in golden.splitlines():
        if line.startswith("# "):
            text.write(line + "\n")
        elif line.startswith(PROMPT):
            text.write(line + "\n")
            run_statement(shell, line.removeprefix(PROMPT), lambda prompt: "end")
    return text.getvalue().replace(f"{SOURCE.parent}/", "")  # version 4 has whole paths


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_session(path: Path, built: Built, tmp_path: Path) -> None:
    """``execution_*``: ROCgdb's lane-execution test, without information about the positions of waiting lanes;
    ``plain_*``: the machine code determines these positions.
    """
    expected = path.read_text(encoding="utf-8")
    plain = path.stem.startswith(("execution", "plain"))
    got = run(expected, compile_plainly(tmp_path) if plain else built(Variant()))
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        path.write_text(got, encoding="utf-8")
    assert got == expected


FEWER = """\
# Functions of eight lanes on a wave of 64 (DW_AT_LLVM_lanes 8): there are no others.
(rocdbg) break lane_pc.hip:48
Breakpoint 1 at 0x2014: file lane_pc.hip, line 48.
(rocdbg) run
Starting kernel kernel, grid [32,1,1], workgroup [32,1,1]
[Switching to thread 1, lane 1 (AMDGPU Lane 1:1:1:1/1 (0,0,0)[1,0,0])]

Thread 1 "kernel" hit Breakpoint 1, with lanes [1 3 5 7], part_ways (gid=72, in=..., out=...) at lane_pc.hip:48
48	      elem = weights[gid] + 2;  // if_1_then_2
(rocdbg) info lanes -all
  Id   State Target Id                            Frame\x20
  0    I     AMDGPU Lane 1:1:1:1/0 (0,0,0)[0,0,0] part_ways (gid=72, in=..., out=...) at lane_pc.hip:57
* 1    A     AMDGPU Lane 1:1:1:1/1 (0,0,0)[1,0,0] part_ways (gid=72, in=..., out=...) at lane_pc.hip:48
  2    I     AMDGPU Lane 1:1:1:1/2 (0,0,0)[2,0,0] part_ways (gid=72, in=..., out=...) at lane_pc.hip:57
  3    A     AMDGPU Lane 1:1:1:1/3 (0,0,0)[3,0,0] part_ways (gid=72, in=..., out=...) at lane_pc.hip:48
  4    I     AMDGPU Lane 1:1:1:1/4 (0,0,0)[4,0,0] part_ways (gid=72, in=..., out=...) at lane_pc.hip:57
  5    A     AMDGPU Lane 1:1:1:1/5 (0,0,0)[5,0,0] part_ways (gid=72, in=..., out=...) at lane_pc.hip:48
  6    I     AMDGPU Lane 1:1:1:1/6 (0,0,0)[6,0,0] part_ways (gid=72, in=..., out=...) at lane_pc.hip:57
  7    A     AMDGPU Lane 1:1:1:1/7 (0,0,0)[7,0,0] part_ways (gid=72, in=..., out=...) at lane_pc.hip:48
(rocdbg) lane 8
Lane 8 does not exist on this thread.
(rocdbg) lane apply 7-9 -q print $_lane
warning: Lane 8 does not exist on this thread.
warning: Lane 9 does not exist on this thread.
$1 = 7
(rocdbg) print $_lane_count
$2 = 8
(rocdbg) up
#1  0x00007f0000103c1c in kernel () at lane_pc.hip:96
96	  part_ways(gid, in, out);
(rocdbg) print sizeof($__lane_pc_array) / sizeof(void *)
$3 = 8
"""


def test_fewer_lanes_than_the_wave_has(built: Built) -> None:
    assert run(FEWER, built(Variant(lanes=8))) == FEWER


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "as_the_test"])
@pytest.mark.parametrize("file", ["dwarf", "step_then"])
def test_other_ways_to_write_it(file: str, name: str, built: Built) -> None:
    """The session is the same, regardless of the placement of codes, lists and addresses."""
    expected = (Path(__file__).parent / "golden" / f"{file}.txt").read_text(encoding="utf-8")
    offset = re.compile(r"(?<=\.debug_info\+)0x\w+")  # of entries, which differ in size
    assert offset.sub("", run(expected, built(VARIANTS[name]))) == offset.sub("", expected)


HAND_WRITTEN = re.compile(r"\(rocdbg\) (?:\w+/?\w* )+\$?(?:_lane_pc\b|foo|gid|elem).*")
"""Commands about facts that only the hand-written debug information has."""
LANE_FILES = [path for path in FILES if path.stem in ("next", "step_else", "step_then", "step_waiting")]
PLAIN_FILE = next(path for path in FILES if path.stem == "plain_lanes")


def places(text: str) -> str:
    """A session's output about places and lanes, without arguments, values and their numbers."""
    text = re.sub(r"<(\w+)\([^<>]*\)(\+\d+)?>", r"<\1\2>", text)
    text = re.sub(r"(\w+) \([^()]*\)(?= at )", r"\1", text)
    text = re.sub(r"^\$\d+ = ", "$ = ", text, flags=re.MULTILINE)
    text = text.replace("Positions of inactive lanes are synthesised from machine code.\n", "")
    blocks = re.split(r"^(?=\(rocdbg\) )", text, flags=re.MULTILINE)
    return "".join(block for block in blocks if not HAND_WRITTEN.match(block))


@pytest.mark.parametrize("target", ["gfx942", "gfx1030", "gfx1100"])
def test_plain_code_of_other_targets(target: str, tmp_path: Path) -> None:
    """Masks of 32 and 64 lanes, and stack addresses of lanes and of waves: the session is the same."""
    expected = PLAIN_FILE.read_text(encoding="utf-8")
    got = run(expected, compile_plainly(tmp_path, target))
    assert re.sub(r"0x[0-9a-f]+", "ADDRESS", got) == re.sub(r"0x[0-9a-f]+", "ADDRESS", expected)


@pytest.mark.parametrize("is_annotated", [False, True], ids=["synthesised", "annotated"])
def test_plain_code_is_where_the_test_expects_it(is_annotated: bool, tmp_path: Path) -> None:
    """Without hand-written information, rocdbg uses what clang describes and what machine code shows."""
    path = compile_plainly(tmp_path)
    if is_annotated:
        rocdbg.annotate(path, path)
    compared = 0
    for file in (*LANE_FILES, PLAIN_FILE):
        expected = file.read_text(encoding="utf-8")
        commands = expected
        if is_annotated:
            commands = expected.replace(PROMPT, f"{PROMPT}set lane-pc-synthesis off\n{PROMPT}", 1)
        got = run(commands, path).replace(f"{PROMPT}set lane-pc-synthesis off\n", "")
        assert places(got) == places(expected), file.stem
        compared += places(expected).count(" at lane_pc.hip:")
    assert compared > 30
