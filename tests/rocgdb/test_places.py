"""``info address`` and ``info scope`` without a frame: GDB's messages for the debug information."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rocdbg.cli.shell import Shell
from rocdbg.cli.writer import Writer
from rocdbg.debugger import Session
from tests.rocgdb.conftest import Everyday
from tests.rocgdb.lane_pc_program import Variant, build

pytestmark = pytest.mark.llvm


def shown(session: Session, command: str) -> str:
    text = io.StringIO()
    Shell(session, Writer(text), Writer(text)).run_line(command)
    return text.getvalue()


EVERYDAY = [
    ("info scope base_case", """\
Scope for base_case:
Symbol x is a variable at frame base reg $s33 offset 0+4, length 4.
"""),
    ("info address base_case::x", 'Symbol "x" is a variable at frame base reg $s33 offset 0+4.\n'),
]
BY_HAND = [
    ("info address part_ways::foo", """\
Symbol "foo" is multi-location:
  Range 0x1c50-0x289c: a complex DWARF expression:
       0: DW_OP_constu 0x123456
       4: DW_OP_stack_value

.
"""),
    ("info address inner::val", 'Symbol "val" is a variable in $v0.\n'),
]


def test_compilers(everyday: Everyday) -> None:
    session = everyday()
    assert [(command, shown(session, command)) for command, _ in EVERYDAY] == EVERYDAY


def test_by_hand(tmp_path: Path) -> None:
    session = Session()
    session.load(build(tmp_path, Variant()))
    assert [(command, shown(session, command)) for command, _ in BY_HAND] == BY_HAND
