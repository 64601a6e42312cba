"""Expressions without a program: C's arithmetic, types and GDB's text, in a table."""

from __future__ import annotations

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.base.errors import ExpressionError, NoSymbolError
from rocdbg.debugger.values.format_letters import Format


def show(text: str, fmt: str = "", session: Session | None = None) -> str:
    session = session or Session()
    return session.data.format(session.data.evaluate(text), Format.parse(fmt) if fmt else None)


# Every line was checked against GDB 13 on a host program where GDB has the notion.
VALUES = [
    ("1 + 2 * 3", "7"),
    ("(1 + 2) * 3", "9"),
    ("5 / 2", "2"),
    ("-5 / 2", "-2"),
    ("-5 % 3", "-2"),
    ("5 / 2.0", "2.5"),
    ("1.0f / 3", "0.333333343"),
    ("1.0 / 3", "0.33333333333333331"),
    ("0.1f", "0.100000001"),
    ("1e100", "1e+100"),
    ("1.5e10", "15000000000"),
    ("-1.0 / 0", "-inf"),
    ("5u - 6", "4294967295"),
    ("-1 < 1u", "0"),
    ("-1L < 1u", "1"),
    ("-1L == 0xffffffffffffffff", "1"),
    ("1 << 31", "-2147483648"),
    ("1 << 33", "0"),
    ("1L << 33", "8589934592"),
    ("-1 >> 1", "-1"),
    ("0x80000000", "2147483648"),
    ("2147483648", "2147483648"),
    ("0xffffffffffffffff", "18446744073709551615"),
    ("~0", "-1"),
    ("!5", "0"),
    ("077", "63"),
    ("0b101", "5"),
    ("0d101", "101"),
    ("0t17", "17"),
    ("1'000", "1000"),
    ("'a'", "97 'a'"),
    ("'\\n'", "10 '\\n'"),
    ("'\\0'", "0 '\\000'"),
    ("'\\''", "39 '\\''"),
    ("'a' + 1", "98"),
    ("(char) 200", "-56 '\\310'"),
    ("(unsigned char) 200", "200 '\\310'"),
    ("(short) -1", "-1"),
    ("(short) 0x18000", "-32768"),
    ("(_Bool) 5", "true"),
    ("(int) 3.99", "3"),
    ("(int) -3.99", "-3"),
    ("(float) 16777217", "16777216"),
    ("1 == 1", "1"),
    ("1 > 2 ? 3 : 4", "4"),
    ("1, 2", "2"),
    ("1 && 0 || 1", "1"),
    ("0 && 1 / 0", "0"),
    ("6 & 3 | 8 ^ 1", "11"),
    ("sizeof(int)", "4"),
    ("sizeof(double) + sizeof 'a'", "9"),
    ("sizeof(int *)", "8"),
    ("sizeof(int [3][5])", "60"),
    ("sizeof(float4)", "16"),
    ("_Alignof(double)", "8"),
    ('"abc"', '"abc"'),
    ('"a" "b"', '"ab"'),
    ('"tab\\tquote\\""', '"tab\\tquote\\""'),
    ('sizeof("abc")', "4"),
    ("{1, 2, 3}", "{1, 2, 3}"),
    ("{1, 2, 3}[1]", "2"),
    ("(float4)(1, 2, 3, 4)", "{1, 2, 3, 4}"),
    ("(float4) 2", "{2, 2, 2, 2}"),
    ("(float4)(1, 2, 3, 4) + 1", "{2, 3, 4, 5}"),
    ("((float4)(1, 2, 3, 4)).wz", "{4, 3}"),
    ("((int4)(1, 2, 3, 4)).s2", "3"),
    ("(float *) 0x1000", "(float *) 0x1000"),
    ("(float *) 0x1000 + 2", "(float *) 0x1008"),
    ("(int *) 0x1010 - (int *) 0x1000", "4"),
    ("(void *) 0", "(void *) 0x0"),
    ("local#0x10", "(void *) local#0x10"),
    ("private_lane#0", "(void *) private_lane#0x0"),
    ("(int *) local#0x10 + 1", "(int *) local#0x14"),
    ("generic#0x1000", "(void *) generic#0x1000"),
    ("global#0x1000", "(void *) 0x1000"),
    ("(half) 0.1", "0.099976"),
    ("(bfloat16) 0.1", "0.1001"),
    ("(bfloat16) 1.00390625", "1"),  # halfway: to the even one
    ("(bfloat16) 1.01171875", "1.016"),
    ("(bfloat16) -1.01171875", "-1.016"),
    ("(bfloat16) 3.4e38", "inf"),
    ("(half) 2049", "2048"),
    ("(half) 2051", "2052"),
    ("(half) 65520", "inf"),
    ("static_cast<int>(2.5) + 1", "3"),
    ("0x1ffffffffffffffff", "18446744073709551615"),
    ("$nonexistent", "void"),
    ("$_isvoid($nonexistent)", "1"),
    ('$_streq("a", "a")', "1"),
    ('$_strlen("four")', "4"),
    ('$_regex("kernel", "ker.*")', "1"),
    ("(char) 97 == 'a'", "1"),
]


@pytest.mark.parametrize(("text", "expected"), VALUES, ids=[v[0] for v in VALUES])
def test_value(text: str, expected: str) -> None:
    assert show(text) == expected


FORMATS = [
    ("-1", "x", "0xffffffff"),
    ("(short) -1", "x", "0xffff"),
    ("10", "t", "1010"),
    ("0", "t", "0"),
    ("8", "o", "010"),
    ("0", "o", "0"),
    ("5", "z", "0x00000005"),
    ("-1", "u", "4294967295"),
    ("0xffffffff", "d", "-1"),
    ("65", "c", "65 'A'"),
    ("353", "c", "97 'a'"),
    ("1.5f", "x", "0x3fc00000"),
    ("1078530011", "f", "3.14159274"),
    ("5", "a", "0x5"),
    ("{1, 2}", "x", "{0x1, 0x2}"),
    ('"abc"', "x", "{0x61, 0x62, 0x63, 0x0}"),
    ('"abc"', "d", "{97, 98, 99, 0}"),
    ('"abc"', "s", '"abc"'),
    ("(float *) 0x10", "x", "0x10"),
    ("(float *) 0x10", "d", "16"),
    ("local#0x10", "a", "local#0x10"),
]


@pytest.mark.parametrize(("text", "fmt", "expected"), FORMATS)
def test_format(text: str, fmt: str, expected: str) -> None:
    assert show(text, fmt) == expected


TYPES = [
    ("5 + 1L", "long"),
    ("5u + 1", "unsigned int"),
    ("'a'", "char"),
    ("'a' + 'b'", "int"),
    ("1.0f * 2", "float"),
    ("1.0f * 2.0", "double"),
    ("1 == 1", "int"),
    ('"abc"', "char [4]"),
    ("sizeof(int)", "int"),
    ("2147483648", "long"),
    ("0x80000000", "unsigned int"),
    ("(float (*)[4]) 0", "float (*)[4]"),
    ("unsigned long int", "unsigned long"),
    ("const char *", "const char *"),
    ("int (*)(int)", "int (*)(int)"),
    ("void (*)(float *, int [2])", "void (*)(float *, int [2])"),
    ("int (*)()", "int (*)()"),
]


@pytest.mark.parametrize(("text", "expected"), TYPES)
def test_type(text: str, expected: str) -> None:
    assert Session().types.whatis(text) == expected


ERRORS = [
    ("1 +", "A syntax error in expression, near `'."),
    ("1 2", "A syntax error in expression, near `2'."),
    ("(1", "A syntax error in expression, near `'."),
    ("1 / 0", "Division by zero"),
    ("1 % 0", "Division by zero"),
    ("1.0 % 2", "Integer-only operation on floating point number."),
    ("&1", "Attempt to take address of value not located in memory."),
    ("5 @ 2", "Only values in memory can be extended with '@'."),
    ("5 = 6", "Left operand of assignment is not an lvalue."),
    ("'", "Unmatched single quote."),
    ('"abc', "Unterminated string in expression."),
    ("0x", 'Invalid number "0x".'),
    ("09", 'Invalid number "09".'),
    ("99999999999999999999", "Numeric constant too large."),
    ("int(2.5)", "A syntax error in expression, near `2.5)'."),
    ("nullptr", 'No symbol table is loaded.  Use the "file" command.'),
    ("gibberish#0", "Address space gibberish not recognised by the architecture"),
    ("int", "Attempt to use a type name as an expression"),
    ("5[1]", "cannot subscript something of type `int'"),
    ("(1).x", "Attempt to extract a component of a value that is not a structure."),
    ("{1, 2}[2]", "no such vector element"),
    ("$1", "History has not yet reached $1."),
    ("(struct nosuch *) 0", "No struct type named nosuch."),
    ("*(int *) 8", "Cannot access memory at address 0x8"),
    ("*(int *) local#8", "Cannot access memory at address local#0x8"),
    ("$_isvoid()", "You must provide one argument for $_isvoid."),
]


@pytest.mark.parametrize(("text", "message"), ERRORS, ids=[e[0] for e in ERRORS])
def test_error(text: str, message: str) -> None:
    from rocdbg.errors import Error

    with pytest.raises(Error) as caught:
        show(text)
    assert str(caught.value) == message


def test_unknown_name_says_which() -> None:
    with pytest.raises(NoSymbolError) as caught:
        show("nosuch + 1")
    assert caught.value.name == "nosuch"
    assert str(caught.value) == 'No symbol table is loaded.  Use the "file" command.'


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    with pytest.raises(ExpressionError, match="nested too deeply"):
        show("(" * 5000 + "1" + ")" * 5000)


def test_convenience_variables_and_history() -> None:
    session = Session()
    assert show("$a = 5", session=session) == "5"
    assert show("$a += 2", session=session) == "7"
    assert show("$a++", session=session) == "7"
    assert show("++$a", session=session) == "9"
    assert show("$b = 1.5", session=session) == "1.5"
    for text in ("10", "20", "30"):
        session.history.record(session.data.evaluate(text))
    assert [show(t, session=session) for t in ("$", "$$", "$$2", "$1", "$2 + $3")] == ["30", "20", "10", "10", "50"]


def test_convenience_variable_changes_its_type() -> None:
    session = Session()
    session.data.evaluate("$a = 'x'")
    assert session.types.whatis("$a") == "char"
    session.data.evaluate("$a = 2.5")
    assert session.types.whatis("$a") == "double"


def test_sizeof_has_no_side_effects() -> None:
    session = Session()
    session.data.evaluate("$a = 1")
    assert show("sizeof($a++)", session=session) == "4"
    assert show("$a", session=session) == "1"


def test_input_radix() -> None:
    session = Session()
    session.settings.input_radix = 16
    assert show("10", session=session) == "16"


def test_output_radix() -> None:
    session = Session()
    session.settings.output_radix = 16
    assert show("16", session=session) == "0x10"
