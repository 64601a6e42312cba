"""Names that a function's text may contain without a declaration and without risk to its variables."""

from __future__ import annotations

import pytest

from rocdbg.debugger.program.source_text.known_names import KnownNames, KnownText
from rocdbg.debugger.program.source_text.source_texts import given_macros
from rocdbg.debugger.program.source_text.source_tokens import definitions_of, function_tokens
from rocdbg.debugger.program.source_text.unknown_macros import UnknownMacros

STANDARD = [(False, "hip/hip_runtime.h"), (False, "cmath"), (False, "stdint.h")]
OWN = [(True, "settings.h")]
OTHERS = [(False, "mine/settings.h")]

# (the function's statements, text before it, includes that were not read, whether unknown macros can do no harm)
CASES = [
    # what an unknown macro is may be anything, an assignment too, in any case and place
    ("int i = TILE;", "", STANDARD, False),
    ("int i = tile;", "", STANDARD, False),
    ("int i = a * TILE + b;", "", STANDARD, False),
    ("int i = next(3);", "", STANDARD, False),
    ("int i = (int)TILE;", "", STANDARD, False),
    ("REAL sum = 0;", "", STANDARD, False),
    ("int i = a.first;", "", STANDARD, False),
    ("int i = TILE;", "#ifndef TILE\n#define TILE 3\n#endif", STANDARD, False),
    ("int i = TILE;", "#ifdef SMALL\n#define TILE 3\n#endif", STANDARD, False),
    ("int i = TILE;", "int g;\n#ifndef TILE\n#define TILE\n#endif", STANDARD, False),
    ("int i = TILE;", "// enum { TILE };\n/* #if TILE > 3\n#endif */", STANDARD, False),
    ("int i = TILE;", "#if 0\nenum { TILE };\n#if TILE > 3\n#endif\n#endif", STANDARD, False),
    ("int i = TILE;", None, STANDARD, False),
    # a constant, wherever it is defined
    ("__shared__ int t[4][TILE + 1]; int i = TILE;", "__shared__ int t[4][TILE + 1];", OWN, True),
    ("int i = a * TILE + (b - TILE) / 2;", "#if defined(X) && TILE > 8\n#endif", OWN, True),
    ("for (int k = 0; k < TILE; ++k) a = b ? TILE : 3;", "#if TILE > 8\n#endif", STANDARD, True),
    ("int i = TILE;", "#if defined(TILE)\n#endif", OWN, False),
    ("int i = TILE;", "#ifdef TILE\n#endif", OWN, False),
    ("int i = TILE;", "static_assert(TILE % 8 == 0);", OWN, True),
    ("int i = TILE;", "constexpr int twice = 2 * TILE;", OWN, True),
    ("int t[TILE]; int i = TILE;", "int t[TILE];", OWN, False),
    # a type
    ("REAL sum = 0; const REAL *p = 0; int i = (REAL)b;", "using shown = REAL;", OWN, True),
    ("REAL sum = c, *p = d;", "REAL", OWN, True),
    # no macros
    ("int i = TILE;", "enum Sizes { SMALL = 4, TILE = 16 };", OWN, True),
    ("int i = TILE;", "constexpr unsigned TILE = 16;", OWN, True),
    ("int i = TILE;", "template <typename T, int TILE> void g() {}", OWN, True),
    ("ITEM i = a;", "struct ITEM { int x; };", OWN, True),
    ("int i = a->first + a->middle;", "struct pair { unsigned first : 3, middle : 4; };", OWN, True),
    ("int i = INT_MAX + UINT32_MAX + CHAR_BIT + threadIdx.x;", "", STANDARD, True),
    ("int i = OWN_NAME;", "", OWN, True),
    ("int i = next(3);", "static int next(int v) { return v; }", STANDARD, True),
    ("int i = TILE;", "#define TILE 3 /* or\nmore */", STANDARD, True),
    ("int i = TILE;", "#ifdef SMALL\n#define TILE 3\n#else\n#define TILE 4\n#endif", STANDARD, True),
    ("int i = TILE;", "#ifdef SMALL\n#define TILE 3\n#else\n#error size\n#endif", STANDARD, True),
    ("unsigned long first = 3, *second = 0; for (int k = 0, n = 3; k < n;) third(first);",
     "template <typename T> T *third(T x) {}", OWN, True),
    ("int i __attribute__((aligned(16))) = a;", "", STANDARD, True),
    # what could be anything
    ("UPDATE;", "static_assert(UPDATE);", STANDARD, False),
    ("{ UPDATE; }", "static_assert(UPDATE);", STANDARD, False),
    ("if (a) UPDATE;", "static_assert(UPDATE);", STANDARD, False),
    ("if (a) b = 1; else UPDATE;", "static_assert(UPDATE);", STANDARD, False),
    ("do UPDATE; while (a);", "static_assert(UPDATE);", STANDARD, False),
    ("UPDATE int i = a;", "static_assert(UPDATE);", STANDARD, False),
    ("ADD(a, 4);", "static_assert(ADD);", STANDARD, False),
    ("int i = a PLUS b;", "static_assert(PLUS);", STANDARD, False),
    ("int i = TILE b;", "static_assert(TILE);", STANDARD, False),
    ("a.TILE = 3;", "static_assert(TILE);", STANDARD, False),
    ("UPDATE = 4;", "static_assert(UPDATE);", STANDARD, False),
    ("change(&PLACE, a);", "void change(int, int); static_assert(PLACE);", STANDARD, False),
    ("int i = a & MASK; i = (a + b) & MASK;", "static_assert(MASK);", STANDARD, True),
]


def unknown(statements: str, before: str, unread: list[tuple[bool, str]] | None, producer: str = "") -> bool:
    """Whether a function's unknown macros are harmless."""
    real = "REAL c, const REAL *d, " if before == "REAL" else ""
    text = f"{before}\nvoid f({real}int a, int b)\n{{\n    {statements}\n}}\n"
    tokens = function_tokens(text, before.count("\n") + 2, "f")
    assert tokens is not None
    texts = {"f.hip": KnownText(text)}
    names = KnownNames(texts, True, True, lambda name: name in ("f",), lambda name: False)
    defined = {name: definitions_of(text).bodies[name] for name in definitions_of(text).settled}
    macros = UnknownMacros(
        texts, defined, unread, names, frozenset({"OWN_NAME", "a", "b", "c", "d"}), is_cxx=True,
        has_command_line=given_macros(producer) is not None,
    )
    return macros.are_harmless(tokens, macros.names(tokens))


@pytest.mark.parametrize(("statements", "before", "unread", "harmless"), CASES)
def test_unknown_macros_are_harmless_as_constants_and_types(
    statements: str, before: str | None, unread: list[tuple[bool, str]], harmless: bool
) -> None:
    assert unknown(statements, before or "", None if before is None else unread) is harmless


RECORD = "clang version 22 /usr/bin/clang -x hip -grecord-command-line"


@pytest.mark.parametrize(("producer", "given"), [
    ("clang version 22.1.8", None),
    (RECORD, {}),
    (f"{RECORD} -D NEXT=(n=3) -DTILE -D A\\ B=3", None),
    (f"{RECORD} -D NEXT=(n=3) -DTILE -Dstep(a,b)=a\\ +=\\ b k.hip", {
        "NEXT": (None, "(n=3)"), "TILE": (None, "1"), "step": (("a", "b"), "a+=b")}),
    (f"{RECORD} -DTILE=3 -UTILE --define-macro=A=4", {"A": (None, "4")}),
    # what else may define macros
    (f"{RECORD} -include defaults.h", None),
    (f"{RECORD} -Xclang -DTILE=3", None),
    (f"{RECORD} -Wp,-DTILE=3", None),
    (f"{RECORD} -DPASTE(a)=a##_", None),
])
def test_a_recorded_command_line_tells_its_macros(producer: str, given: dict[str, object] | None) -> None:
    found = given_macros(producer)
    shown = None if found is None else {
        name: (macro.parameters, "".join(token.text for token in macro.body)) for name, macro in found.items()
    }
    assert shown == given


@pytest.mark.parametrize(("unread", "harmless"), [(STANDARD, True), (OWN, False), (None, False)])
def test_there_are_no_others_than_those_of_a_recorded_command_line(
    unread: list[tuple[bool, str]] | None, harmless: bool
) -> None:
    assert unknown("int i = next(tile);", "", unread, RECORD) is harmless
