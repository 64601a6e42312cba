"""`rocdbg llvmdi` and `maint llvmdi`: whole outputs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import rocdbg
from rocdbg.cli.main import main

EXAMPLES = Path(__file__).parent / "examples"


@pytest.fixture(autouse=True)
def _in_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)


PRINTED = """\
DILocalVariable x (!1), 64 bits
  !2, bounded, @ 2..2, referrer i64 %x
    !DIExpr(DIOpReferrer(i64), DIOpAddrOf(5), DIOpDeref(i64))
"""
EXPLAINED = """\
DILocalVariable x (!1), 64 bits
  @ 0..1: nowhere
  @ 2..2: !2
  @ 3..4: nowhere
  !2, bounded, @ 2..2, referrer i64 %x
    DIOpReferrer(i64)  (i64)
    DIOpAddrOf(5)      (ptr addrspace(5))
    DIOpDeref(i64)     (i64)
    is value %x
"""
LOWERED = """\
0x00000020: DW_TAG_variable x
            DW_AT_location:
              [0x4, 0x8): DW_OP_regx 0x24, DW_OP_piece 0x4, DW_OP_regx 0x25, DW_OP_piece 0x4, \
DW_OP_LLVM_user DW_OP_LLVM_piece_end
"""


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("check", "promoted.ll"), "well-formed.\n"),
        (("print", "promoted.ll"), PRINTED),
        (("canonical", "promoted.ll"), PRINTED.replace(", DIOpAddrOf(5), DIOpDeref(i64)", "")),
        (("explain", "promoted.ll", "x"), EXPLAINED),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_the_tool_and_the_command_say_the_same(
    arguments: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["llvmdi", *arguments]) == 0
    assert capsys.readouterr() == (text, "")
    assert rocdbg.Debugger().execute(f"maint llvmdi {' '.join(arguments)}", to_string=True) == text


def test_lowering_with_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = tmp_path / "places.toml"
    places.write_text('[places]\n"%x" = "s[4:5]"\n')
    assert main(["llvmdi", "lower", "promoted.ll", "--places", str(places)]) == 0
    assert capsys.readouterr() == (LOWERED, "")
    assert rocdbg.Debugger().execute(f"maint llvmdi lower promoted.ll {places}", to_string=True) == LOWERED


def test_without_places_it_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["llvmdi", "lower", "promoted.ll", "--dialect", "llvm22"]) == 1
    words = "0x00000020: DW_TAG_variable x\n            error: the place of %x is not known\n"
    assert capsys.readouterr() == (words, "")


def test_notes_and_broken_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["llvmdi", "check", "global.ll"]) == 0
    assert capsys.readouterr().out == (
        "global.ll:8:15: note: 'DIFragment' without '!' [spelling]\n"
        "global.ll:11:53: note: 'DIDeref' [spelling]\n"
        "well-formed, 2 notes.\n"
    )
    file = tmp_path / "wrong.ll"
    file.write_text("!1 = distinct !DIFragment()\n")
    assert main(["llvmdi", "check", str(file)]) == 1
    assert capsys.readouterr().out == (
        f"{file}:1:15: not well-formed: !1 is not used for any variable [lifetime graph]\n1 rule broken.\n"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("!1 = !DIFoo(a: )", "{file}:1:16: expected metadata\n"),
        ('!1 = !{!"never ends}', "{file}:1:9: the string does not end\n"),
    ],
)
def test_errors(text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wrong.ll"
    file.write_text(text)
    assert main(["llvmdi", "check", str(file)]) == 1
    assert capsys.readouterr() == ("", words.format(file=file))


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["llvmdi", "print", "nofile.ll"]) == 1
    assert capsys.readouterr() == ("", "nofile.ll: cannot be read: No such file or directory\n")


@pytest.mark.parametrize("words", [["check"], ["lower"], ["lower", "--places"]])
def test_devices_and_pipes_are_refused(words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    module = tmp_path / "empty.ll"
    module.write_text("")
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe"), str(tmp_path)):
        files = [str(module), *words[1:], path] if words[1:] else [path]
        assert main(["llvmdi", words[0], *files]) == 1
        assert capsys.readouterr() == ("", f"{path}: is not a regular file\n")
