"""Which names in capitals a function's text can have without its variables being at risk."""

from __future__ import annotations

import pytest

from rocdbg.debugger.program.source_tokens import function_tokens
from rocdbg.debugger.program.unknown_macros import UnknownMacros

STANDARD = [(False, "hip/hip_runtime.h"), (False, "cmath"), (False, "stdint.h")]
OWN = [(True, "settings.h")]
OTHERS = [(False, "mine/settings.h")]

# (the function's statements, text before it, includes that were not read, whether unknown macros can do no harm)
CASES = [
    ("int i = TILE;", "", STANDARD, True),
    ("int i = a * TILE + (b - TILE) / 2;", "", STANDARD, True),
    ("for (int k = 0; k < TILE; ++k) a[k] = b ? TILE : 3;", "", STANDARD, True),
    ("int i = (int)TILE;", "", STANDARD, True),
    ("REAL sum = 0; const REAL *p = a; widen<REAL>(sum, (REAL)b);", "", STANDARD, True),
    # what the macro is may come from a header of the program's own
    ("int i = TILE;", "", OWN, False),
    ("int i = TILE;", "", OTHERS, False),
    ("int i = TILE;", "", None, False),
    ("REAL sum = 0;", "", OWN, False),
    # a constant, wherever it is defined
    ("__shared__ int t[4][TILE + 1]; int i = TILE;", "__shared__ int t[4][TILE + 1];", OWN, True),
    ("int i = TILE;", "#if defined(X) && TILE > 8\n#endif", OWN, True),
    ("int i = TILE;", "#if defined(TILE)\n#endif", OWN, False),
    ("int i = TILE;", "#ifdef TILE\n#endif", OWN, False),
    ("int i = TILE;", "static_assert(TILE % 8 == 0);", OWN, True),
    ("int i = TILE;", "constexpr int twice = 2 * TILE;", OWN, True),
    ("switch (a) { case TILE: return; }", "", OWN, True),
    ("int t[TILE]; int i = TILE;", "int t[TILE];", OWN, False),
    # no macros
    ("int i = TILE;", "enum Sizes { SMALL = 4, TILE = 16 };", OWN, True),
    ("int i = TILE;", "constexpr unsigned TILE = 16;", OWN, True),
    ("int i = TILE;", "template <typename T, int TILE> void f()", OWN, True),
    ("ITEM i = a;", "struct ITEM { int x; };", OWN, True),
    ("int i = INT_MAX + UINT32_MAX + CHAR_BIT;", "", OWN, True),
    ("int i = OWN_NAME;", "", OWN, True),
    # what could be anything
    ("UPDATE;", "", STANDARD, False),
    ("{ UPDATE; }", "", STANDARD, False),
    ("if (a) UPDATE;", "", STANDARD, False),
    ("if (a) b = 1; else UPDATE;", "", STANDARD, False),
    ("do UPDATE; while (a);", "", STANDARD, False),
    ("label: UPDATE;", "", STANDARD, False),
    ("switch (a) { case 3: UPDATE; }", "", STANDARD, False),
    ("UPDATE int i = a;", "", STANDARD, False),
    ("ADD(a, 4);", "", STANDARD, False),
    ("int i = a PLUS b;", "", STANDARD, False),
    ("int i = TILE b;", "", STANDARD, False),
    ("a.TILE = 3;", "", STANDARD, False),
    ("UPDATE = 4;", "", STANDARD, False),
    ("UPDATE++;", "", STANDARD, False),
    ("change(&PLACE, a);", "", STANDARD, False),
    ("change((int *)&PLACE, a);", "", STANDARD, False),
    ("int i = a & MASK; i = (a + b) & MASK;", "", STANDARD, True),
    ("int i = TILE; ADD(i, TILE);", "static_assert(TILE);", OWN, False),
]


@pytest.mark.parametrize(("statements", "before", "unread", "harmless"), CASES)
def test_unknown_macros_are_harmless_as_operands_and_types(
    statements: str, before: str, unread: list[tuple[bool, str]] | None, harmless: bool
) -> None:
    text = f"{before}\nvoid f(int a, int b)\n{{\n    {statements}\n}}\n"
    tokens = function_tokens(text, before.count("\n") + 2, "f")
    assert tokens is not None
    macros = UnknownMacros({"f.hip": text}, ["PI"], unread, True, frozenset({"OWN_NAME"}))
    assert macros.are_harmless(tokens, macros.names(tokens)) is harmless
