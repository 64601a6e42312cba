"""Damaged debug information: errors that name the position, and no other exceptions."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from rocdbg.dwarf.info import DebugInfo, DebugInfoError, Scope, describe

pytestmark = pytest.mark.llvm

Sections = dict[str, bytes]
SLOWEST = 60.0


def ask_everything(sections: Sections) -> int:
    """Ask all questions, each separately; return how many of them gave an error."""
    info = DebugInfo(sections)
    errors = 0

    def visit(scope: Scope) -> None:
        for variable in scope.variables:
            _ = variable.name, str(variable.type), variable.location, variable.decl_file, variable.decl_line
        for child in scope.children:
            visit(child)

    def functions() -> None:
        for function in info.functions_matching():
            _ = function.display_name, function.type, function.frame_base, function.call_sites
            visit(function)
            info.breakpoint_locations(function)
            info.lines_of(function)

    def units() -> None:
        for unit in info.units:
            _ = unit.name, unit.comp_dir, unit.ranges, unit.files, unit.debug_addr, unit.dialect, unit.language_name

    def types() -> None:
        for type in info.types_matching():
            describe(info.complete_type(type))

    questions: list[Callable[[], object]] = [
        functions, units, types, info.global_variables_matching,
        lambda: [info.scopes_at(pc) for pc in range(0x1800, 0x4000, 0x100)],
        lambda: [info.line_at(pc) for pc in range(0x1800, 0x4000, 0x100)],
        lambda: info.addresses_of("shapes.hip", 47), lambda: info.lines_with_code("shapes.hip"),
    ]
    for question in questions:
        try:
            question()
        except DebugInfoError as error:
            assert error.section.startswith(".debug") and error.reason in str(error)
            errors += 1
    return errors


def test_sound_sections_give_no_error(sections: Callable[..., Sections]) -> None:
    assert ask_everything(sections("shapes.hip", "-O2")) == 0
    assert ask_everything({}) == 0


@pytest.mark.parametrize("options", [("-O2",), ("-O0", "-gdwarf-4")], ids=" ".join)
def test_truncated_sections(sections: Callable[..., Sections], options: tuple[str, ...]) -> None:
    whole = sections("shapes.hip", *options)
    for name, data in whole.items():
        for length in range(0, len(data), max(1, len(data) // 6)):
            ask_everything({**whole, name: data[:length]})
        ask_everything({key: value for key, value in whole.items() if key != name})


@pytest.mark.parametrize("options", [("-O2",), ("-O0", "-gdwarf-4")], ids=" ".join)
@pytest.mark.parametrize("seed", range(25))
def test_flipped_bytes(sections: Callable[..., Sections], options: tuple[str, ...], seed: int) -> None:
    chance = random.Random(seed)
    damaged = dict(sections("shapes.hip", *options))
    for _ in range(chance.choice((1, 4, 30))):
        name = chance.choice([name for name, data in damaged.items() if data])
        data = bytearray(damaged[name])
        data[chance.randrange(len(data))] = chance.randrange(256)
        damaged[name] = bytes(data)
    started = time.monotonic()
    ask_everything(damaged)
    assert time.monotonic() - started < SLOWEST


def test_error_says_where(sections: Callable[..., Sections]) -> None:
    whole = sections("shapes.hip", "-O2")
    with pytest.raises(DebugInfoError) as caught:
        _ = DebugInfo({**whole, ".debug_info": whole[".debug_info"][:100]}).units
    error = caught.value
    assert (error.section, error.offset) == (".debug_info", 0)
    assert str(error) == (
        f"bad debug information in .debug_info at offset 0x0: {error.reason}"
    ) and error.reason.endswith("go beyond the section's end")
    with pytest.raises(DebugInfoError, match=r"in \.debug_abbrev at offset 0x0: the table would begin beyond"):
        DebugInfo({".debug_info": whole[".debug_info"]}).functions_named("add")
