"""Entries that compilers for GPUs seldom write, made by hand: memory spaces, common blocks, entry points, strings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocdbg.debugger import Session

pytestmark = pytest.mark.llvm
SOURCE = Path(__file__).parent / "sources" / "spaces.s"
LANGUAGES = {"opencl": 0x15, "hip": 0x30, "c": 0x2C}


def build(folder: Path, code: int, language: str = "opencl") -> Session:
    """The source, with a code for DW_AT_LLVM_memory_space and a language."""
    text = SOURCE.read_text().replace("SPACE\n", f"{code:#x}\n").replace(
        '"spaces.cl"\n        .byte 0x15', f'"spaces.cl"\n        .byte {LANGUAGES[language]:#x}'
    )
    (folder / "spaces.s").write_text(text)
    output = folder / "spaces.co"
    subprocess.run(
        ["clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", str(folder / "spaces.s"), "-o", str(output)],
        check=True,
    )
    session = Session()
    session.load(output)
    return session


@pytest.mark.parametrize(
    ("code", "language", "pointer"),
    [
        (0x3E0F, "opencl", "@local int *"), (0x3E0D, "opencl", "@local int *"), (0x3E0F, "hip", "@shared int *"),
        (0x3E0F, "c", "@group int *"),
    ],
)
def test_memory_spaces(code: int, language: str, pointer: str, tmp_path: Path) -> None:
    """A.2.14, with the names of the language, under both codes; vendors' spaces have no names."""
    types = build(tmp_path, code, language).types
    assert types.whatis("pointer") == pointer
    assert types.ptype("pointer") == [f"type = {pointer}"]
    assert types.whatis("*pointer") == pointer.removesuffix(" *")
    assert types.whatis("number") == "@constant int"
    assert types.whatis("vendors") == "int"


def shown(session: Session, expression: str) -> str:
    return session.data.format(session.data.evaluate(expression))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return build(tmp_path_factory.mktemp("rare"), 0x3E0F)


def test_qualified_values_are_values(session: Session) -> None:
    assert shown(session, "number + 1") == "43"


def test_a_base_type_of_addresses_has_their_address_space(session: Session) -> None:
    """Appendix A.5.1 of the specification defines this."""
    assert session.types.whatis("where") == "shared_address"
    assert shown(session, "where") == "(shared_address) local#0x40"
    assert shown(session, "plain") == "(address) 0x40"


def test_a_string_is_as_long_as_it_says(session: Session) -> None:
    """DW_AT_string_length gives the place of the length."""
    assert shown(session, "text") == '"kern"'
    assert shown(session, "sizeof(text)") == "4"
    assert shown(session, "text_of_bits") == '"kern"'


def test_a_reference_to_what_cannot_be_read(session: Session) -> None:
    assert shown(session, "nowhere") == "(int &) <error reading variable: Cannot access memory at address 0x40>"


def test_variables_of_a_common_block(session: Session) -> None:
    """Appendix A.4.2 of the specification defines their locations."""
    (function,) = session.inferior.need_program().info.functions_named("whole")
    assert [variable.name for variable in function.variables] == ["first", "other"]
    (function,) = session.inferior.need_program().info.functions_named("user")
    assert [variable.name for variable in function.variables] == ["first", "other"]


def test_an_entry_point_is_a_place(session: Session) -> None:
    program = session.inferior.need_program()
    (second,), (whole,) = program.info.functions_named("second"), program.info.functions_named("whole")
    assert second.low_pc == (whole.low_pc or 0) + 4
    assert second.high_pc == whole.high_pc
    assert program.info.function_at(second.low_pc or 0) == whole
    (place,) = session.places.resolve("second")
    assert program.to_file(place.address) == second.low_pc
