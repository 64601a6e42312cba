"""Convenience variables and functions; the values are those of GDB 13 for the same expressions.

Errors have their own messages where GDB's messages come from Python, in which its functions are written.
"""

from __future__ import annotations

import pytest

from rocdbg import Debugger, Error
from rocdbg.debugger.base.focus import STATIC, Focus
from rocdbg.debugger.expr.names.convenience_variables import Convenience, string_value
from rocdbg.debugger.values import c_types
from rocdbg.debugger.values.value import Value

EXPRESSIONS = [
    # evaluated one after another in one session
    ("$x", "void"),
    ("$_isvoid($x)", "1"),
    ("$_isvoid(1)", "0"),
    ("$x = 3", "3"),
    ("$x + 1", "4"),
    ("$x++", "3"),
    ("$x", "4"),
    ("$x = 2.5", "2.5"),
    ("$_isvoid($x)", "0"),
    ('$_strlen("hello")', "5"),
    ('$_strlen("")', "0"),
    ('$_strlen("a\\0b")', "1"),
    ('$_streq("hello", "hello")', "1"),
    ('$_streq("hello", "hellp")', "0"),
    ('$_regex("hello", "^h.*o$")', "1"),
    ('$_regex("hello", "ell")', "0"),  # matched from the beginning on
    ('$_memeq("hello", "help", 3)', "1"),
    ('$_memeq("hello", "help", 4)', "0"),
    ('$_memeq("hello", "help", 0)', "1"),
    ("$_as_string(3)", '"3"'),
    ('$s = "text"', '"text"'),
    ("$_strlen($s)", "4"),
    ("$_isvoid", "<internal function _isvoid>"),
]


def test_in_one_session() -> None:
    debugger = Debugger()
    shown = [(text, debugger.execute(f"output {text}", to_string=True)) for text, _ in EXPRESSIONS]
    assert shown == EXPRESSIONS


def _in_python(kind: str, text: str) -> str:
    """GDB's message about an error in a function that GDB implements in Python."""
    return f"Python Exception <class '{kind}'>: {text}\nError occurred in Python: {text}"


ERRORS = [
    ("$_isvoid()", "You must provide one argument for $_isvoid."),
    ("$_strlen()", _in_python("TypeError", "_StrLen.invoke() missing 1 required positional argument: 'a'")),
    (
        "$_memeq()",
        _in_python("TypeError", "_MemEq.invoke() missing 3 required positional arguments: 'a', 'b', and 'length'"),
    ),
    (
        "$_streq(1, 2, 3)",
        _in_python("TypeError", "_StrEq.invoke() takes 3 positional arguments but 4 were given"),
    ),
    ('$_memeq("a", "b", -1)', _in_python("ValueError", "length must be non-negative")),
    (
        '$_regex("hello", "(")',
        _in_python("re.error", "missing ), unterminated subpattern at position 0"),
    ),
    ("$_strlen(1)", _in_python("gdb.error", "Trying to read string with inappropriate type `int'.")),
    ("$nope(1)", "Invalid data type for function to be called."),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        Debugger().execute(f"output {text}", to_string=True)
    assert str(caught.value) == message


def test_computed_variables_are_of_the_focus_and_read_only() -> None:
    convenience = Convenience()
    convenience.define_dynamic("_lane", lambda focus: Value.of_int(c_types.INT, focus.lane or 0))
    assert [convenience.get("_lane", focus).as_int() for focus in (STATIC, Focus(1, 5))] == [0, 5]
    with pytest.raises(Error, match=r"^Cannot assign to the read-only variable \$_lane\.$"):
        convenience.set("_lane", Value.of_int(c_types.INT, 1))


def test_the_last_set_is_shown_first() -> None:
    convenience = Convenience()
    for name, number in (("a", 1), ("b", 2), ("c", 3)):
        convenience.set_int(name, number)
    assert [(name, value.as_int()) for name, value in list(convenience.rows())[:3]] == [("c", 3), ("b", 2), ("a", 1)]
    assert "b" in convenience and "d" not in convenience


def test_a_function_that_is_forgotten_uncovers_the_built_in_one() -> None:
    convenience = Convenience()
    built_in = convenience.functions["_strlen"]
    convenience.functions["_strlen"] = convenience.functions["mine"] = lambda host, values: string_value(b"")
    convenience.forget_function("_strlen")
    convenience.forget_function("mine")
    assert convenience.functions["_strlen"] is built_in
    assert "mine" not in convenience.functions
