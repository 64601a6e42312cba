"""Names of namespaces and classes: as GDB 13 shows and finds them for the same program on a host."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.errors import Error

pytestmark = pytest.mark.llvm

ENUMERATORS = [
    ("side", "ns::Right"),
    ("(ns::Side)-1", "ns::Left"),
    ("ns::Left", "ns::Left"),
    ("kind", "ns::Kind::B"),
    ("y", "ns::in::Y"),
    ("hidden", "(anonymous namespace)::H1"),
    ("flags", "(F1 | F4)"),
    ("nested", "{bits = (Nested::P1 | Nested::P4)}"),
    ("Nested::P4", "Nested::P4"),
    ("ns::Base::Off", "ns::Base::Off"),
    ("base.state = ns::Base::Off", "ns::Base::Off"),
    ('$_as_string(side)', '"ns::Right"'),
]
SIZES = [
    ("sizeof(char &)", "1"),
    ("sizeof(const ns::Base &)", "4"),
    ("sizeof(ns::Derived &&)", "4"),
    ("sizeof(int *)", "8"),
    ("sizeof(half(4))", "4"),
    ("half == &half", "true"),
    ("sizeof(ushort)", "2"),
]
MEMBERS = [
    ("base.count", "2"),
    ("base.limit", "3"),
    ("derived.count", "2"),
    ("(&derived)->limit", "3"),
    ("&derived.count == &ns::Base::count", "true"),
    ("base.twice == base.twice", "true"),
]
REFUSED = [
    ("ns::Base::twice == base.twice", "Invalid type combination in equality test."),
    ("base.nosuch", "There is no member or method named nosuch."),
    ("(&nested)->nosuch", "There is no member named nosuch."),
    ("base.Off", "There is no member or method named Off."),
    ("base.never", "Cannot take address of method never."),
    ("base.over", "cannot resolve overloaded method `over': no arguments supplied"),
    ("ns::L1", 'No symbol "L1" in namespace "ns".'),
    ("ns::Kind::Left", 'no constant named "Left" in enum "ns::Kind"'),
]


@pytest.fixture
def session(compiled: Callable[..., Path]) -> Session:
    session = Session()
    session.load(compiled("scopes.hip", "gfx90a"))
    session.launch.set_grid("1")
    session.launch.set_workgroup("1")
    session.launch.set_argument(0, "i32[1]:zeros")
    session.launch.set_argument(1, "7")
    return session


def shown(session: Session, cases: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(text, session.data.format(session.data.evaluate(text))) for text, _ in cases]


def test_scoped_names(session: Session) -> None:
    session.break_at("scopes.hip:42")
    session.run()
    assert shown(session, ENUMERATORS) == ENUMERATORS
    assert shown(session, MEMBERS) == MEMBERS
    assert shown(session, SIZES) == SIZES
    for text, message in REFUSED:
        with pytest.raises(Error) as caught:
            session.data.evaluate(text)
        assert str(caught.value) == message


SIGNATURES = [
    ("Signed::pick(int, char) const",
     "{int (const Signed * const, int, char)} ADDRESS <Signed::pick(int, char) const>"),
    ("'Signed::pick(int, char) const'",
     "{int (const Signed * const, int, char)} ADDRESS <Signed::pick(int, char) const>"),
    ("Signed::pick(unsigned)", "{int (Signed * const, unsigned int)} ADDRESS <Signed::pick(unsigned int)>"),
    ("Signed::pick(int, char) const::calls", "70"),
    ("'Signed::pick(int, char) const'::calls", "70"),
    ("wide(unsigned)", "{int (unsigned int)} ADDRESS <wide(unsigned int)>"),
    ("wide(long unsigned)", "{int (unsigned long)} ADDRESS <wide(unsigned long)>"),
    ("wide(unsigned int)::kept", "6"),
]


def test_functions_by_their_parameters(session: Session) -> None:
    found = [(text, re.sub("0x[0-9a-f]+", "ADDRESS", value)) for text, value in shown(session, SIGNATURES)]
    assert found == SIGNATURES
    for name, line in (("wide(unsigned)", 46), ("wide(long unsigned)", 47), ("Signed::pick(int, char) const", 50)):
        assert [place.location.line for place in session.break_at(name).locations] == [line]


def test_enumerators_of_a_function_belong_to_no_namespace(session: Session) -> None:
    session.break_at("scopes.hip:20")
    session.run()
    cases = [("l", "L1"), ("L0", "L0"), ("(Inner)0", "L0")]
    assert shown(session, cases) == cases
