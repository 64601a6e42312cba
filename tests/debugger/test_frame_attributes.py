"""Attributes of functions that give a frame's static link and return address (A.3.3.5)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.frames.frame_context import FrameContext, static_link
from rocdbg.debugger.frames.physical_frame import PhysicalFrame
from tests.debugger.lane_pc_program import SOURCE, build

pytestmark = pytest.mark.llvm


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Stopped in ``innermost``; all other tests use the call frame information of this function."""
    session = Session()
    session.load(build(tmp_path_factory.mktemp("attributes")))
    session.sources.program_directory = SOURCE.parent
    session.launch.set_kernel("kernel")
    session.launch.set_grid("32")
    session.launch.set_workgroup("32")
    session.launch.set_argument(0, "i32[34]:zeros")
    session.break_at("innermost")
    session.run()
    yield session
    session.running.kill()


def without_rules(context: FrameContext) -> FrameContext:
    assert context.pc is not None
    physical = PhysicalFrame(context.program, context.access, context.pc, lambda pc, wave_size: None)
    return FrameContext(physical, context.lane)


def test_return_address_where_no_rules_are_known(session: Session) -> None:
    """The result is registers s30 and s31, as the rules say here; the violation (the text requires memory) is reported
    once.
    """
    unwound = session.focus.frame().context
    context = without_rules(unwound)
    assert context.found_row is None and unwound.found_row is not None
    session.warnings.take()
    assert context.return_address() == unwound.return_address() != 0
    caller = context.next_frame()
    assert caller is not None and caller.function is not None
    assert caller.function.name == "called"
    (named,) = session.warnings.take()
    assert named.startswith("DW_AT_return_addr of innermost at .debug_info+0x")
    assert "the result must be a location in memory, but is composite" in named
    assert without_rules(unwound).return_address() == unwound.return_address()
    assert session.warnings.take() == []


def test_no_return_address(session: Session) -> None:
    """A function without the attribute and without rules: the caller is not known."""
    caller = session.focus.frame().context.next_frame()
    assert caller is not None
    assert without_rules(caller).return_address() is None


def test_static_link(session: Session) -> None:
    context = session.focus.frame().context
    link = static_link(context)
    assert link is not None
    assert link.describe() == "memory at private_wave#0x40"
    caller = context.next_frame()
    assert caller is not None and static_link(caller) is None
