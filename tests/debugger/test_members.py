"""``.*`` and ``->*``, and members of virtual bases: as in GDB 13 for the same program on a host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.errors import Error

pytestmark = pytest.mark.llvm

SHOWN = [
    ("pmi", "&A::jj"),
    ("a.*pmi", "1331"),
    ("pa->*pmi", "1331"),
    ("a.*l", "121"),
    ("&A::j", "&A::j"),
    ("a.*(&A::j)", "121"),
    ("2 * a.*pmi + 1", "2663"),
    ("null_pmi", "NULL"),
    ("pmf", "NULL"),
    ("sizeof(a.*pmi)", "4"),
    ("sizeof(pmi)", "8"),
    ("sizeof(pmf)", "16"),
    ("cc.*l", "5"),
    ("dd.*pmi", "2"),
    ("cc.j", "5"),
    ("cc.jj + dd.jj", "10"),
    ("(*(B *) &cc).jj", "8"),
    ("a.*pmi = 9", "9"),
    ("a", "{j = 121, jj = 9}"),
    ("dd", "{<A> = {j = 1, jj = 2}, d = 3}"),
]
REFUSED = [
    ("a.*null_pmi", "Attempt to take contents of a null pointer to a member."),
    ("a.*5", "non-pointer-to-member value used in pointer-to-member construct"),
    ("a.*pmf", "Cannot access memory at address 0x0"),
]


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_members(compiled: Callable[..., Path], target: str) -> None:
    session = Session()
    session.load(compiled("members.hip", target))
    session.launch.set_grid("64")
    session.launch.set_workgroup("64")
    session.launch.set_argument(0, "i32[64]:zeros")
    session.break_at("members.hip:23")
    session.run()
    assert [(text, session.data.format(session.data.evaluate(text))) for text, _ in SHOWN] == SHOWN
    assert session.data.format(session.data.evaluate("cc")).startswith("{<B> = {<A> = {j = 5, jj = 8}, _vptr$B = 0x")
    for text, message in REFUSED:
        with pytest.raises(Error) as caught:
            session.data.evaluate(text)
        assert str(caught.value) == message
