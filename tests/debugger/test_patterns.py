"""Regular expressions as in GDB, checked against `grep`, which has the same matcher."""

from __future__ import annotations

import subprocess

import pytest

from rocdbg.debugger.base.patterns import PatternError, Syntax, compile_pattern

TEXTS = [
    "", "sum", "fill", "sum|fill", "a", "aa", "aaa", "a+", "b", "xa", "x^a", "a$b", "*a", "]", "w", "\\", "abab", "ab",
    "1+", "word", "(a)", "a{2}", "-", "c", ".", "a?", "a.c", "abc", "^a", "$a", "ba", "a b", "_x9", "{1}",
]
PATTERNS = [
    "", "sum|fill", r"sum\|fill", "a+", r"a\+", "^a", "a$", "x^a", "a$b", "*a", r"\(*a\)", "[]a]", "[^]a]", "[a-c]",
    r"[\w]", r"a\{2\}", r"a\{2,\}", r"a\{0,1\}b", r"\(ab\)\1", "a**", "[[:digit:]]+", "[^[:alnum:]]", r"\<wo",
    r"rd\>", "(a)", "a{2}", r"a\?b", ".*b", "[a-]", r"\.", "^*a", r"\(^a\)", r"a\|^b", "$a", "[.]", "a.c", "a?",
    r"\w\+9", r"x\|", "[~&]", r"^\(a\|b\)*$",
]


@pytest.fixture(scope="module")
def lines() -> str:
    return "".join(f"{text}\n" for text in TEXTS)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_finds_what_grep_finds(pattern: str, lines: str) -> None:
    command = ["grep", "-e", pattern]
    found = subprocess.run(command, input=lines, text=True, capture_output=True, check=False, timeout=60)
    compiled = compile_pattern(pattern)
    assert [text for text in TEXTS if compiled.search(text)] == found.stdout.split("\n")[:-1]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("[", "Unmatched [ or [^"),
        ("[a", "Unmatched [ or [^"),
        (r"\(a", r"Unmatched ( or \("),
        (r"a\)", r"Unmatched ( or \("),
        ("a\\", "Trailing backslash"),
        ("[b-a]", "Invalid range end"),
        (r"a\{1", r"Unmatched \{"),
        (r"a\{x\}", r"Invalid content of \{\}"),
        (r"a\{2,1\}", r"Invalid content of \{\}"),
        (r"a\{99999\}", "Regular expression too big"),
        (r"\1", "Invalid back reference"),
        ("[[:x:]]", "Invalid character class name"),
    ],
)
def test_says_what_is_wrong(pattern: str, message: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert str(caught.value) == f"Invalid regexp: {message}"


def test_the_older_matcher_repeats_without_backslashes() -> None:
    compiled = compile_pattern(r"^ab+c?$", syntax=Syntax.EMACS)
    assert [text for text in ("ab", "abbc", "ab+", "a") if compiled.search(text)] == ["ab", "abbc"]
    assert compile_pattern(r"a\{2\}", syntax=Syntax.EMACS).search("a{2}")


def test_keeps_how_it_was_typed() -> None:
    assert compile_pattern(r"a\|b", ignore_case=True).pattern == r"a\|b"
    assert compile_pattern("AB", ignore_case=True).search("xabx")
