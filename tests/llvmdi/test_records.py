"""Debug records in use today: the instructions at which they are in force, parts of variables, DIOps in
`!DIExpression`.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import pytest

from rocdbg import llvmdi
from tests.llvmdi.machine import Machine, by_dwarf, by_llvm

HEAD = '!1 = !DILocalVariable(name: "x", type: !2)\n!2 = !DIBasicType(size: 64)\n'


def held(text: str) -> dict[str, str]:
    """The instructions at which each record of x is in force, by its first operand."""
    info = llvmdi.DebugInfo(llvmdi.read_text(text + HEAD))
    assert [str(finding) for finding in llvmdi.check(info.module) if not finding.is_note] == []
    return {
        f"{segment.arguments[0]}".split()[-1]: " ".join(f"{a}-{b - 1}" for a, b in segment.ranges)
        for segment in info.segments
    }


def record(value: str, expression: str = "", kind: str = "value") -> str:
    return f"  #dbg_{kind}({value}, !1, !DIExpression({expression}), !3)\n"


LOW, HIGH = "DW_OP_LLVM_fragment, 0, 32", "DW_OP_LLVM_fragment, 32, 32"


def function(*blocks: str) -> str:
    return "define void @f(i1 %c, i64 %a, i64 %b, i32 %l, i32 %h, ptr %p) {\n" + "".join(blocks) + "}\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (function(record("i64 %a"), "  nop\n", record("i64 %b"), "  ret void\n"), {"%a": "1-1", "%b": "3-3"}),
        (function(record("ptr %p", kind="declare"), "  nop\n  ret void\n"), {"%p": "0-2"}),
        (
            function(record("i64 %a"), "  br i1 %c, label %t, label %e\nt:\n  br label %e\ne:\n  ret void\n"),
            {"%a": "1-3"},
        ),
        # On one of two paths only: after the join it is not known.
        (
            function("  br i1 %c, label %t, label %e\nt:\n", record("i64 %a"), "  br label %e\ne:\n  ret void\n"),
            {"%a": "2-2"},
        ),
        # Another on one path: neither holds after the join.
        (
            function(record("i64 %a"), "  br i1 %c, label %t, label %e\nt:\n", record("i64 %b"),
                     "  br label %e\ne:\n  ret void\n"),
            {"%a": "1-1", "%b": "3-3"},
        ),
        # A loop that changes nothing keeps it, one that changes it does not.
        (function(record("i64 %a"), "  br label %l\nl:\n  br i1 %c, label %l, label %e\ne:\n  ret void\n"), {"%a": "1-3"}),
        (
            function(record("i64 %a"), "  br label %l\nl:\n  nop\n", record("i64 %b"),
                     "  br i1 %c, label %l, label %e\ne:\n  ret void\n"),
            {"%a": "1-1", "%b": "4-5"},
        ),
        # Parts are ended by parts that overlap, and by the whole.
        (
            function(record("i32 %l", LOW), record("i32 %h", HIGH), "  nop\n", record("i64 %a"), "  ret void\n"),
            {"%l": "1-2", "%h": "2-2", "%a": "4-4"},
        ),
        (
            function(record("i64 %a"), "  nop\n", record("i32 %l", LOW), "  ret void\n"), {"%a": "1-1", "%l": "3-3"}
        ),
        ("define void @f(i64 %a) {\n  call void @llvm.dbg.value(metadata i64 %a, metadata !1, metadata !DIExpression()), "
         "!dbg !3\n  ret void\n}\n", {"%a": "1-1"}),
    ],
    ids=["value", "declare", "branch", "join", "other", "loop", "changed", "parts", "part", "intrinsic"],
)  # fmt: skip
def test_where_records_hold(body: str, expected: dict[str, str]) -> None:
    assert held(body) == expected


def test_inlined_variables_are_apart() -> None:
    text = function(
        "  #dbg_value(i64 %a, !1, !DIExpression(), !3)\n  #dbg_value(i64 %b, !1, !DIExpression(), !4)\n  ret void\n"
    )
    text += "!3 = !DILocation(line: 1, inlinedAt: !5)\n!4 = !DILocation(line: 1, inlinedAt: !6)\n"
    text += "!5 = distinct !DILocation(line: 2)\n!6 = distinct !DILocation(line: 3)\n"
    assert held(text) == {"%a": "1-2", "%b": "2-2"}
    info = llvmdi.DebugInfo(llvmdi.read_text(text + HEAD))
    placement = llvmdi.Placement(llvmdi.parse_places({"%a": "s[4:5]", "%b": "s[6:7]"}))
    entries = [entry for entry in llvmdi.lower(info, placement).entries if entry.node is not None]
    assert [(entry.name, entry.inlined) for entry in entries] == [
        ("x", info.module.nodes["5"]), ("x", info.module.nodes["6"]),
    ]  # fmt: skip


DIOPS = "DIOpArg(0, i32), DIOpArg(1, i32), DIOpComposite(2, i64)"
CASES = {
    "parts": (function(record("i32 %l", LOW), record("i32 %h", HIGH), "  ret void\n"), 2, (0x2222222211111111, 2**64 - 1)),
    "a part": (function(record("i32 %h", HIGH), "  ret void\n"), 1, (0x2222222200000000, 2**64 - 2**32)),
    "undefined": (function(record("i64 undef"), "  ret void\n"), 1, (0, 0)),
    "a constant": (function(record("i64 7"), "  ret void\n"), 1, (7, 2**64 - 1)),
    "a pointer": (function(record("ptr addrspace(5) %p", kind="declare"), "  ret void\n"), 1, (0x0706050403020100, 2**64 - 1)),
    "beside a pointer": (
        function(record("ptr addrspace(5) %p", "DW_OP_plus_uconst, 8", "declare"), "  ret void\n"), 1,
        (0x0F0E0D0C0B0A0908, 2**64 - 1),
    ),
    "through a pointer": (function(record("ptr addrspace(5) %p", "DW_OP_deref"), "  ret void\n"), 1, (0x0706050403020100, 2**64 - 1)),
    "a sum": (
        function(record("i64 %a", "DW_OP_plus_uconst, 5, DW_OP_stack_value"), "  ret void\n"), 1, (105, 2**64 - 1)
    ),
    "signs": (
        function(record("i64 %a", "DW_OP_neg, DW_OP_consts, 18446744073709551613, DW_OP_div, DW_OP_stack_value"), "  ret void\n"), 1,
        (33, 2**64 - 1),
    ),
    "of two": (
        function(record("!DIArgList(i64 %a, i64 %b)", "DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_mul, DW_OP_stack_value"),
                 "  ret void\n"), 1, (100 * 7, 2**64 - 1),
    ),
    "converted": (
        function(record("i32 %h", "DW_OP_LLVM_convert, 32, DW_ATE_signed, DW_OP_LLVM_convert, 64, DW_ATE_signed, "
                        "DW_OP_stack_value"), "  ret void\n"), 1, (0x22222222, 2**64 - 1),
    ),
    "of two, one of them gone": (
        function(record("!DIArgList(i64 %a, i64 poison)", "DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_mul, DW_OP_stack_value"),
                 "  ret void\n"), 1, (0, 0),
    ),
    "one of two, the other gone": (
        function(record("!DIArgList(i64 %a, i64 poison)", "DIOpArg(0, i64)"), "  ret void\n"), 1, (100, 2**64 - 1),
    ),
    "a part gone": (
        function(record("i32 %l", "DIOpArg(0, i32), DIOpFragment(0, 32)"),
                 record("i32 poison", "DIOpArg(0, i32), DIOpFragment(32, 32)"), "  ret void\n"), 2, (0x11111111, 2**32 - 1),
    ),
    "DIOps": (function(record("!DIArgList(i32 %l, i32 %h)", DIOPS), "  ret void\n"), 1, (0x2222222211111111, 2**64 - 1)),
    "DIOps in memory": (
        function(record("ptr addrspace(5) %p", "DIOpArg(0, ptr addrspace(5)), DIOpDeref(i64)", "declare"), "  ret void\n"),
        1, (0x0706050403020100, 2**64 - 1),
    ),
    "DIOps, extended": (function(record("i32 %h", "DIOpArg(0, i32), DIOpSExt(i64)"), "  ret void\n"), 1, (0x22222222, 2**64 - 1)),
    "DIOps, parts": (
        function(record("i32 %l", "DIOpArg(0, i32), DIOpFragment(0, 32)"),
                 record("i32 %h", "DIOpArg(0, i32), DIOpFragment(32, 32)"), "  ret void\n"),
        2, (0x2222222211111111, 2**64 - 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    text, index, expected = CASES[name]
    info = llvmdi.DebugInfo(llvmdi.read_text(text.replace("ptr %p)", "ptr addrspace(5) %p)") + HEAD))
    assert [segment.trouble for segment in info.segments if segment.trouble] == []
    assert [str(finding) for finding in llvmdi.check(info.module)] == []
    machine = Machine(
        {"%a": 100, "%b": 7, "%l": 0x11111111, "%h": 0x22222222, "%p": 0},
        {"%a": "v[2:3]", "%b": "s[4:5]", "%l": "v6", "%h": "s7", "%p": "frame+0"},
    )
    machine.frame[:16] = bytes(range(16))
    place = (info.module.functions["@f"], index, 5)
    assert by_llvm(info, machine, info.objects[0], 64, *place) == expected
    for dialect in ("amd", "proposal2020", "llvm22"):
        assert by_dwarf(info, machine, info.objects[0], 64, *place, dialect) == expected


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("DW_OP_LLVM_entry_value, 1", "DW_OP_LLVM_entry_value has no translation into DIOps"),
        ("DW_OP_LLVM_poisoned", "DW_OP_LLVM_poisoned has no translation into DIOps"),
        ("DW_OP_plus", "DW_OP_plus needs two entries on the stack"),
        ("DW_OP_LLVM_arg, 3", "there is no operand 3: the record has 1"),
        ("DW_OP_LLVM_convert, 32, DW_ATE_float", "DW_OP_LLVM_convert to anything but an integer cannot be translated"),
    ],
)
def test_what_has_no_translation_is_noted(expression: str, words: str) -> None:
    text = function(record("i64 %a", expression), "  ret void\n") + HEAD
    (finding,) = llvmdi.check(llvmdi.read_text(text))
    assert finding.is_note
    assert finding.reason == f"not translated: {words}"
    (entry,) = llvmdi.lower(llvmdi.DebugInfo(llvmdi.read_text(text)), llvmdi.Placement({})).entries
    assert words in str(entry.trouble)
