"""Variables of the subprograms around a nested one, found through DW_AT_static_link (A.3.3.5 (3))."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.base.errors import ExpressionError
from rocdbg.debugger.frames.frame_context import FrameContext
from tests.debugger.nested_subprograms import SOURCE, build

pytestmark = pytest.mark.llvm


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Stopped in ``inner``, called by the innermost of three frames of ``outer``."""
    session = Session()
    session.load(build(tmp_path_factory.mktemp("nested")))
    session.sources.program_directory = SOURCE.parent
    session.launch.set_kernel("kernel")
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[64]:zeros")
    session.break_at("inner")
    session.run()
    yield session
    session.running.kill()


def link_to(session: Session, context: FrameContext) -> None:
    """Make the frame's canonical frame address equal to the static link."""
    assert context.cfa is not None
    session.data.evaluate(f"$s60 = {context.cfa.places[0].bit_offset // 8}")


def shown(session: Session, expression: str) -> str:
    return session.data.format(session.data.evaluate(expression))


def test_the_frame_is_that_of_the_link(session: Session) -> None:
    frames = [frame for frame in session.focus.frames() if frame.name == "outer"]
    assert len(frames) == 3
    for depth, frame in enumerate(frames):
        link_to(session, frame.context)
        assert shown(session, "depth") == str(depth)
        assert shown(session, "hidden") == str(10 * depth), "not the variable outside functions"
        assert shown(session, "depth + n") == str(depth)


def test_it_can_be_written(session: Session) -> None:
    frame = next(frame for frame in session.focus.frames() if frame.name == "outer")
    link_to(session, frame.context)
    session.data.evaluate("hidden = 77")
    assert frame.scope.frame == 1
    assert session.data.format(session.at(frame.scope).data.evaluate("hidden")) == "77"


def test_no_frame_is_that_of_the_link(session: Session) -> None:
    session.data.evaluate("$s60 = 0x123450")
    with pytest.raises(ExpressionError, match="No frame is currently executing in block outer"):
        session.data.evaluate("depth")


def test_names_of_the_function_itself_come_first(session: Session) -> None:
    assert shown(session, "n") == "0"
    assert [variable.name for variable in session.data.environment().local_variables()] == ["n"]
