"""Parsing of locations, breakpoint arguments, lane masks; plug-ins."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocdbg.debugger import Session, lane_list, lane_ranges
from rocdbg.debugger.base.errors import BreakpointError, LocationSpecError, PluginError
from rocdbg.debugger.breakpoints.break_arguments import parse_tail, split_location
from rocdbg.debugger.breakpoints.breakpoint_table import parse_numbers
from rocdbg.debugger.program.location_syntax import AddressSpec, FunctionSpec, LineSpec, Spec, parse_spec

SPECS: list[tuple[str, Spec]] = [
    ("12", LineSpec(None, 12)),
    ("+3", LineSpec(None, 3, relative=True)),
    ("-2", LineSpec(None, -2, relative=True)),
    ("k.hip:12", LineSpec("k.hip", 12)),
    ("../a b/k.hip:12", LineSpec("../a b/k.hip", 12)),
    ("'k.hip':12", LineSpec("k.hip", 12)),
    ("kern", FunctionSpec("kern")),
    ("ns::kern<float>", FunctionSpec("ns::kern<float>")),
    ("k.hip:ns::kern", FunctionSpec("ns::kern", "k.hip")),
    ("add(int, int)", FunctionSpec("add(int, int)")),
    ("'add(int, int)'", FunctionSpec("add(int, int)")),
    ("*0x1000 + 4", AddressSpec("0x1000 + 4")),
    ("-line 3", LineSpec(None, 3)),
    ("-source k.hip -line 3", LineSpec("k.hip", 3)),
    ("-function kern", FunctionSpec("kern")),
]


@pytest.mark.parametrize(("text", "spec"), SPECS, ids=[s[0] for s in SPECS])
def test_location(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec


@pytest.mark.parametrize("text", ["", "k.hip:"])
def test_bad_location(text: str) -> None:
    with pytest.raises(LocationSpecError):
        parse_spec(text)


ARGUMENTS = [
    ("kern", ("kern", None, None, None)),
    ("kern if i > 3", ("kern", "i > 3", None, None)),
    ("kern if(i)", ("kern", "(i)", None, None)),
    ("k.hip:3 thread 2", ("k.hip:3", None, 2, None)),
    ("k.hip:3 thread 2:5 if x == 1", ("k.hip:3", "x == 1", 2, 5)),
    ("kern lane 7", ("kern", None, None, 7)),
    ("if x", ("", "x", None, None)),
    ("", ("", None, None, None)),
    ("iffy", ("iffy", None, None, None)),
]


@pytest.mark.parametrize(("text", "expected"), ARGUMENTS, ids=[a[0] for a in ARGUMENTS])
def test_break_arguments(text: str, expected: tuple[str, str | None, int | None, int | None]) -> None:
    location, words = split_location(text)
    tail = parse_tail(words)
    assert (location, tail.condition, tail.thread, tail.lane) == expected


BAD_ARGUMENTS = [
    ("kern thread x", "Invalid thread ID: x"),
    ("kern lane -1", "Invalid lane ID: -1"),
    ("kern thread 1 junk", "Junk at end of arguments."),
]


@pytest.mark.parametrize(("text", "message"), BAD_ARGUMENTS)
def test_bad_break_arguments(text: str, message: str) -> None:
    with pytest.raises(BreakpointError) as caught:
        parse_tail(split_location(text)[1])
    assert str(caught.value) == message


def test_numbers() -> None:
    assert parse_numbers("1 3-5") == [1, 3, 4, 5]
    with pytest.raises(BreakpointError, match="Bad breakpoint number 'x'"):
        parse_numbers("x")


MASKS = [(0, ""), (1, "0"), (0b1011, "0-1 3"), ((1 << 32) - 1 | 1 << 40, "0-31 40")]


@pytest.mark.parametrize(("mask", "text"), MASKS)
def test_lane_ranges(mask: int, text: str) -> None:
    assert lane_ranges(mask) == text
    assert sum(1 << lane for lane in lane_list(mask)) == mask


PLUGIN = '''
"""Doubles numbers."""
from rocdbg.debugger.values import c_types as ctypes
from rocdbg.debugger.values.value import Value

def double(host, values):
    return Value.of_int(ctypes.INT, 2 * values[0].as_int())

def broken(host, values):
    return values[5]

def printer(value):
    if str(value.type) == "unsigned char":
        return "byte"
    if str(value.type) == "short":
        raise RuntimeError("no shorts")

def register(api):
    api.function("double", double)
    api.function("broken", broken)
    api.pretty_printer(printer)
'''


def test_plugin(tmp_path: Path) -> None:
    path = tmp_path / "doubler.py"
    path.write_text(PLUGIN)
    session = Session()
    plugin = session.plugins.load(str(path))
    assert (plugin.name, plugin.description, plugin.functions) == ("doubler", "Doubles numbers.", ["double", "broken"])
    assert session.data.format(session.data.evaluate("$double(21)")) == "42"
    with pytest.raises(PluginError, match=r"Plug-in doubler: function \$broken failed: IndexError"):
        session.data.evaluate("$broken(1)")
    assert session.data.format(session.data.evaluate("(unsigned char) 7")) == "byte"
    assert session.warnings.take() == []
    assert session.data.format(session.data.evaluate("(short) 7")) == "7"
    assert session.warnings.take() == [
        "Plug-in doubler: a pretty-printer failed and is switched off: RuntimeError: no shorts"
    ]
    assert session.data.format(session.data.evaluate("(short) 7")) == "7"
    assert session.warnings.take() == []
    with pytest.raises(PluginError, match="already loaded"):
        session.plugins.load(str(path))


def test_plugins_that_cannot_be_loaded(tmp_path: Path) -> None:
    session = Session()
    path = tmp_path / "bad.py"
    path.write_text("1 / 0")
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        session.plugins.load(str(path))
    path.write_text("x = 1")
    with pytest.raises(PluginError, match="has no function register"):
        session.plugins.load(str(path))
    with pytest.raises(PluginError, match="No plug-in nosuch is installed"):
        session.plugins.load("nosuch")
    assert session.plugins.plugins == {}
