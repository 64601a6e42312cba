"""A context without a running program: each question has an answer or an error, regardless of its source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.expr.environments.program_environment import FileMemory, StaticContext
from rocdbg.debugger.frames.frame_context import FrameContext
from rocdbg.errors import Error

pytestmark = pytest.mark.llvm
ASKED = sorted(name for name in vars(FrameContext) if not name.startswith("_"))
WITH_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "register_location": (16,), "entry_register_location": (16,), "call_site_value": (1,), "indexed_address": (0,),
    "tls_location": (0,), "read_memory": (0, 0, 4, None), "write_memory": (0, 0, b"1234", None), "die": (11, False),
}  # fmt: skip
OF_FRAMES = ("at_lane", "for_unit")


@pytest.mark.parametrize("name", [name for name in ASKED if name not in OF_FRAMES])
def test_every_question_is_answered(name: str, compiled: Callable[..., Path]) -> None:
    session = Session()
    session.load(compiled("lanes.hip", "gfx90a", "-O0"))
    context = StaticContext(session.inferior.program, FileMemory(session.inferior.program))
    try:
        found = getattr(context, name)
        if callable(found):
            found(*WITH_ARGUMENTS.get(name, ()))
    except Error as error:
        assert "object has no" not in str(error)
