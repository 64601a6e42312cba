"""Names of symbols as in GDB 13: the output of `demangle -l ada -- NAME`."""

from __future__ import annotations

import pytest

from rocdbg.codeobject.gnat_names import gnat_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("find_entry.calls", "find_entry[calls]"), ("f.xY", "f[xY]"), ("f_.x", "f_[x]"), ("a.b.c", "a.b[c]"),
        ("f.x_y", "f.x_y"), ("f.x1", "f.x1"), ("f.x.12", "f.x"), ("f.1", "f"), ("kern.", "kern[]"),
        ("a__b", "a.b"), ("f__g.x", "f.g[x]"), ("x__", "x__"), ("tab__2", "tab"), ("a__1_2", "a"), ("x$3", "x"),
        ("rowB", "row"), ("sizeTB", "size"), ("xTKB", "x"), ("getX", "get"), ("aXb", "a"), ("getN", "get"),
        ("f_E3s", "f"), ("TK__x", ".x"), ("a___Xb", "a"), ("_ada_main", "main"),
        ("plain", "plain"), ("plain_x", "plain_x"), ("foo1", "foo1"), ("_x", "_x"), ("a___b", "a___b"),
        ("Find.x", "Find.x"), ("itemBB", "itemBB"), ("B", "B"), ("tableTB_1", "tableTB_1"), ("", ""),
    ],
)
def test_names(name: str, shown: str) -> None:
    assert gnat_name(name) == shown
