"""Typed names: how they are split, and what they match."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocdbg.dwarf.info.name_matching import component, normalise, parse_name, spelled

# typed name, links, global, parameters
SPLITS = [
    ("f", ["f"], False, None),
    ("a::b::c", ["a", "b", "c"], False, None),
    ("::f", ["f"], True, None),
    ("S<a::b, 3>::f", ["S<a::b,3>", "f"], False, None),
    ("f<g(int)>", ["f<g(int)>"], False, None),
    ("f(int, char *)", ["f"], False, "(int,char*)"),
    ("f ( void )", ["f"], False, "()"),
    ("f(unsigned   int)", ["f"], False, "(unsigned int)"),
    ("(anonymous namespace)::f", ["(anonymous namespace)", "f"], False, None),
    ("C::operator()", ["C", "operator()"], False, None),
    ("C::operator()(int)", ["C", "operator()"], False, "(int)"),
    ("operator<", ["operator<"], False, None),
    ("operator<<(int)", ["operator<<"], False, "(int)"),
    ("C::operator->", ["C", "operator->"], False, None),
    ("operator bool", ["operator bool"], False, None),
    ("$_0::operator()", ["$_0", "operator()"], False, None),
    ("", [""], False, None),
]


@pytest.mark.parametrize(("text", "links", "is_global", "parameters"), SPLITS, ids=[case[0] for case in SPLITS])
def test_parse(text: str, links: list[str], is_global: bool, parameters: str | None) -> None:
    query = parse_name(text)
    assert [link.base + (link.arguments or "") for link in query.components] == links
    assert (query.is_global, query.parameters) == (is_global, parameters)


MATCHES = [
    ("f", ("ns", "f"), True),
    ("s::f", ("ns", "f"), False),
    ("ns::f", ("ns", "f"), True),
    ("::f", ("ns", "f"), False),
    ("::f", ("f",), True),
    ("f", ("f<int>",), True),
    ("f<int>", ("f<int>",), True),
    ("f<int>", ("f<char>",), False),
    ("f<int>", ("f",), False),
    ("S::f", ("S<a, b>", "f"), True),
    ("a::S<a,b>::f", ("S<a, b>", "f"), False),
    ("operator<", ("operator<",), True),
    ("operator", ("operator<",), False),
]


@pytest.mark.parametrize(("typed", "links", "expected"), MATCHES)
def test_match(typed: str, links: tuple[str, ...], expected: bool) -> None:
    assert parse_name(typed).accepts(tuple(map(component, links))) is expected


@given(st.text(alphabet="ab:<>(), *&~operatr[]$0", max_size=30))
def test_any_text_can_be_parsed(text: str) -> None:
    query = parse_name(text)
    assert query.components
    assert normalise(normalise(text)) == normalise(text)


SPELLINGS = [  # as compilers write names, and as demanglers and GDB do
    ("pair<const char *, S<int> >", "pair<char const*, S<int> >"),
    ("A<const B<const int *, const C<D> &> *const>", "A<B<int const*, C<D> const&> const* const>"),
    ("A<int *const>", "A<int* const>"),
    ("f<int (*)(const int &)>", "f<int (*)(int const&)>"),
    ("remove<int &>", "remove<int&>"),
    ("x<const unsigned long &, 3U>", "x<unsigned long const&, 3u>"),
    ("S<const volatile int>", "S<int const volatile>"),
    ("A<&x>", "A<&x>"),
    ("operator const int *", "operator int const*"),
    ("operator new", "operator new"),
    ("operator<", "operator<"),
]


@pytest.mark.parametrize(("written", "expected"), SPELLINGS)
def test_names_are_spelled_as_demanglers_do(written: str, expected: str) -> None:
    assert spelled(written) == expected
    assert normalise(written) == normalise(expected)
