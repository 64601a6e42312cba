"""Supplementary files: output is the same whether strings and types are in a second file or in the same file.

The compiler's assembly is split: strings and type entries go to a separate file, and forms refer to it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rocdbg import Debugger

pytestmark = pytest.mark.llvm

SOURCE = """
struct Point { int px; float py; };
__attribute__((global)) void scale(int *data, int factor) {
  Point point = {factor, 2.0f};
  int index = __builtin_amdgcn_workitem_id_x();
  data[index] = data[index] * point.px;
}
"""
LAUNCH = """
[launch]
file = "k.co"
grid = 64
[[arg]]
buffer = "i32[64]"
init = "arange"
[[arg]]
value = 3
"""
COMMANDS = ("break 6", "run", "info locals", "info args", "ptype point", "whatis data", "ptype Point")
FORMS = {".debug_sup": (0x1D, 0x1C), ".gnu_debugaltlink": (0x1F21, 0x1F20)}
"""The forms of strings and references."""
SUM = '.byte 4, 1, 2, 3, 4'
HEAD = 12
"""Bytes before the entries of the second file: the unit's header, and an entry that contains all others."""


def assembly(folder: Path) -> str:
    (folder / "k.hip").write_text(SOURCE)
    command = [
        "clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a",
        "-gdwarf-4", "-O0", "--no-gpu-bundle-output", "-S", "k.hip", "-o", "-",
    ]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def assembled(folder: Path, text: str, name: str, *options: str) -> None:
    (folder / "k.s").write_text(text)
    command = ["clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", *options, "k.s", "-o", name]
    subprocess.run(command, cwd=folder, check=True)


def taken_apart(text: str, section: str) -> tuple[str, str]:
    """The object's assembly without strings and types, and that of the file that has them."""
    string_form, reference_form = FORMS[section]
    info = re.search(r"\.Lcu_begin0:\n.*?\.Ldebug_info_end0:\n", text, re.DOTALL)
    strings = re.search(r'\t\.section\t\.debug_str,.*?(?=\t\.section)', text, re.DOTALL)
    abbreviations = re.search(r"\t\.section\t\.debug_abbrev.*?(?=\t\.section)", text, re.DOTALL)
    assert info and strings and abbreviations
    # the subprogram is the unit's first child; after it there are types
    own, end, types = info[0].partition("End Of Children Mark\n")
    first = re.search(r"Abbrev \[\d+\] 0x([0-9a-f]+):", types)
    assert first
    moved = int(first[1], 16) - HEAD

    def shifted(lines: str) -> str:
        pattern = r"\.long\t(\d+)(?= +; DW_AT_type)"
        return re.sub(pattern, lambda found: f".long\t{int(found[1]) - moved}", lines)

    offsets, position = {}, 0
    for label, value in re.findall(r'(\.Linfo_string\d+):\n\t\.asciz\t"(.*?)"', strings[0]):
        offsets[label] = position
        position += len(value) + 1

    def numbered(lines: str) -> str:
        return re.sub(r"\.Linfo_string\d+", lambda found: str(offsets[found[0]]), lines)

    forms = re.sub(r"\.byte\t14( +; DW_FORM_strp)", rf".uleb128 {string_form}\1", abbreviations[0])
    forms = re.sub(r"\.byte\t19( +; DW_FORM_ref4)", rf".uleb128 {reference_form}\1", forms)
    rest = "\t.byte\t0\n.Ldebug_info_end0:\n"
    main = text.replace(info[0], numbered(shifted(own)) + end + rest).replace(strings[0], "")
    main = main.replace(abbreviations[0], forms)
    partial = "\t.byte\t99\n\t.byte\t60\n\t.byte\t1\n\t.byte\t0\n\t.byte\t0\n\t.byte\t0\n"
    table = re.sub(r"(\t\.byte\t0 +; EOM\(3\)\n)", partial, abbreviations[0])
    header = own.partition("\t.byte\t1  ")[0]
    other = f'\t.section\t.debug_info,"",@progbits\n{header}\t.byte\t99\n{numbered(shifted(types))}{strings[0]}{table}'
    links = {
        ".debug_sup": ('.short 5\n.byte 0\n.asciz "types.sup"\n' + SUM, '.short 5\n.byte 1\n.asciz ""\n' + SUM),
        ".gnu_debugaltlink": ('.asciz "types.sup"\n.byte 1, 2, 3, 4', ""),
    }
    main += f'\t.section\t{section},"",@progbits\n{links[section][0]}\n'
    if section == ".debug_sup":
        other += f'\t.section\t{section},"",@progbits\n{links[section][1]}\n'
    else:
        other += '\t.section\t.note.gnu.build-id,"a",@note\n.long 4, 4, 3\n.asciz "GNU"\n.byte 1, 2, 3, 4\n'
    return main, other


def said(folder: Path) -> list[str]:
    (folder / "k.toml").write_text(LAUNCH)
    debugger = Debugger(folder / "k.toml")
    return [debugger.execute(command, to_string=True) for command in COMMANDS]


@pytest.mark.parametrize("section", FORMS)
def test_strings_and_types_of_a_second_file(section: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = assembly(tmp_path)
    assembled(tmp_path, text, "k.co")
    wanted = said(tmp_path)
    assert "px = 3" in wanted[2]

    main, other = taken_apart(text, section)
    assembled(tmp_path, other, "types.sup", "-c")
    assembled(tmp_path, main, "k.co")
    assert said(tmp_path) == wanted
    assert capfd.readouterr().err == ""

    (tmp_path / "types.sup").rename(tmp_path / "elsewhere")
    Debugger(tmp_path / "k.co").execute("info types .")
    assert f"could not find supplementary DWARF file (types.sup) for {tmp_path}/k.co" in capfd.readouterr().err

    assembled(tmp_path, other.replace("1, 2, 3, 4", "1, 2, 3, 5"), "types.sup", "-c")
    Debugger(tmp_path / "k.co").execute("info types .")
    assert f"{tmp_path}/types.sup is not the supplementary file of {tmp_path}/k.co: " in capfd.readouterr().err
