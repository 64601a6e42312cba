"""Location strings and their parsed forms; GDB 13 stops at the same places for each one that it accepts."""

from __future__ import annotations

import pytest

from rocdbg.debugger.base.errors import LocationSpecError
from rocdbg.debugger.program.location_syntax import (
    AddressSpec,
    FunctionSpec,
    LabelSpec,
    LineSpec,
    Spec,
    parse_spec,
    whole_words,
)

LINES = [
    # typed, file, line, relative
    ("12", None, 12, False),
    ("  12 ", None, 12, False),
    ("+1", None, 1, True),
    ("-2", None, -2, True),
    ("+ 3", None, 3, True),
    ("t.c:12", "t.c", 12, False),
    ("t.c : 12", "t.c", 12, False),
    ("'t.c':12", "t.c", 12, False),
    ("'t.c:12'", "t.c", 12, False),
    ('"t.c:12"', "t.c", 12, False),
    ("dir/t.c:12", "dir/t.c", 12, False),
    ("'a file.c':7", "a file.c", 7, False),
    ("-line 12", None, 12, False),
    ("-source t.c -line 12", "t.c", 12, False),
    ("-line 12 -source t.c", "t.c", 12, False),
]
FUNCTIONS = [
    # typed, name, file
    ("twice", "twice", None),
    ("t.c:twice", "twice", "t.c"),
    ('"t.c":twice', "twice", "t.c"),
    ("'t.c':'twice'", "twice", "t.c"),
    ("-function twice", "twice", None),
    ("-source t.c -function twice", "twice", "t.c"),
    ("ns::f", "ns::f", None),
    ("t.c:ns::f", "ns::f", "t.c"),
    ("'ns::f(int)'", "ns::f(int)", None),
    ("f(ns::T)", "f(ns::T)", None),
    ("f<a::b>", "f<a::b>", None),
    ("12x", "12x", None),
]
ADDRESSES = [
    ("*0x1139", "0x1139"),
    ("*main+4", "main+4"),
    ("* main", "main"),
    ("*ns::f", "ns::f"),
]
SPECS: list[tuple[str, Spec]] = [
    *((text, LineSpec(file, line, relative)) for text, file, line, relative in LINES),
    *((text, FunctionSpec(name, file)) for text, name, file in FUNCTIONS),
    *((text, AddressSpec(expression)) for text, expression in ADDRESSES),
    ("-qualified twice", FunctionSpec("twice", qualified=True)),
    ("-q twice", FunctionSpec("twice", qualified=True)),
    ("-fu twice -q", FunctionSpec("twice", qualified=True)),
    ("-q t.c:12", LineSpec("t.c", 12)),
    ("twice:again", FunctionSpec("again", "twice")),  # `twice` may be a file
    ("t.c:twice:again", FunctionSpec("twice", "t.c", "again")),
    ("-function twice -label again", FunctionSpec("twice", label="again")),
    ("-label again", LabelSpec("again")),
]


@pytest.mark.parametrize(("text", "spec"), SPECS)
def test_a_location(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("t.c:12", "t.c:12"),
        ("-q twice", "-qualified twice"),
        ("-fu twice -q", "-qualified -function twice"),
        ("-li 12 -so t.c", "-source t.c -line 12"),
        ("-func twice -lab again -s t.c", "-source t.c -function twice -label again"),
    ],
)
def test_options_are_kept_as_whole_words(typed: str, kept: str) -> None:
    assert whole_words(typed) == kept


ERRORS = [
    ("", "Empty line specification."),
    ("*", "Argument required (expression to compute)."),
    ("'twice", "unmatched quote"),
    ("t.c:", "malformed linespec error: unexpected end of input"),
    (":12", "malformed linespec error: unexpected colon"),
    ("t.c:12:3", "malformed linespec error: unexpected colon"),
    ("12 13", 'malformed linespec error: unexpected number, "13"'),
    ("12 twice", 'malformed linespec error: unexpected string, "twice"'),
    ("-nosuch twice", 'invalid explicit location argument, "-nosuch"'),
    ("-line x", 'malformed line offset: "x"'),
    ("-li", 'missing argument for "-li"'),
    ("-line 12 twice", "Garbage 'twice' at end of command"),
    ("-source t.c", "Source filename requires function, label, or line offset."),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_no_location(text: str, message: str) -> None:
    with pytest.raises(LocationSpecError) as caught:
        parse_spec(text)
    assert str(caught.value) == message
