"""Golden sessions on kernels with the heterogeneous extensions, as they appear at the prompt.

A file has comment lines (``# ...``), ``%file PATH`` (below ``demo_kernels/extensions``, or ``parting``: the program of
lane_pc_program.py) and ``%arch TARGET``, then commands after ``(rocdbg) `` with their output below.
``ROCDBG_UPDATE_GOLDEN=1`` writes the files again; read the difference before committing it.
"""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest

from rocdbg.cli.repl import run_statement
from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger import Session
from tests.debugger.lane_pc_program import SOURCE, build

ROOT = Path(__file__).resolve().parents[2]
EXTENSIONS = ROOT / "demo_kernels" / "extensions"
FILES = sorted((Path(__file__).parent / "golden").glob("*.txt"))
PROMPT = "(rocdbg) "


@pytest.fixture(scope="module")
def parting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("parting"))


def run(golden: str, session: Session) -> str:
    """The current text of the file."""
    text = io.StringIO()
    shell = Shell(session, Writer(text), Writer(text))
    for line in golden.splitlines():
        if line.startswith(("#  ", "# ", "%")) and not text.getvalue().count(PROMPT):
            text.write(line + "\n")
        elif line.startswith(PROMPT):
            text.write(line + "\n")
            run_statement(shell, line.removeprefix(PROMPT).strip(), lambda prompt: "end")
    return text.getvalue().replace(str(ROOT), "<root>")


def session_for(golden: str, parting: Path | None) -> Session:
    directives = dict(line[1:].split(" ", 1) for line in golden.splitlines() if line.startswith("%"))
    session = Session()
    if directives["file"] == "parting":
        assert parting is not None
        session.load(parting)
        session.sources.program_directory = SOURCE.parent
        session.launch.set_kernel("kernel")
        session.launch.set_grid("32")
        session.launch.set_workgroup("32")
        session.launch.set_argument(0, "i32[34]:zeros")
    else:
        session.load(EXTENSIONS / directives["file"], directives.get("arch"))
    return session


@pytest.mark.llvm
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_session(path: Path, parting: Path) -> None:
    expected = path.read_text(encoding="utf-8")
    got = run(expected, session_for(expected, parting))
    if os.environ.get("ROCDBG_UPDATE_GOLDEN"):
        path.write_text(got, encoding="utf-8")
    assert got == expected


@pytest.mark.llvm
def test_beside_the_compilers_unit(tmp_path: Path) -> None:
    """A unit with only line tables does not hide a unit that describes the functions."""
    session = session_for("%file parting", build(tmp_path, keep_unit=True))
    golden = (Path(__file__).parent / "golden" / "parting_then.txt").read_text(encoding="utf-8")
    place = re.compile(r"(?<=\.debug_info\+)0x\w+")  # entries are after those of the other unit
    assert place.sub("", run(golden, session)) == place.sub("", golden)
