"""Debug information that LLVM rejects is reported, and debug information that it reads is read."""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import re
import subprocess

import pytest

from rocdbg import llvmdi

BODY = '''target triple = "amdgcn-amd-amdhsa"
@g = global i32 0
define void @f(i64 %x, i32 %w, ptr %p, float %r) !dbg !5 {{
  {record}
  ret void
}}
!llvm.dbg.cu = !{{!0}}
!llvm.module.flags = !{{!2}}
!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.cl", directory: "/")
!2 = !{{i32 2, !"Debug Info Version", i32 3}}
!5 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DISubroutineType(types: !{{null}})
!7 = !DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)
!10 = !DILocalVariable(name: "x", scope: !5, file: !1, line: 2, type: !7)
!30 = !DILocation(line: 3, column: 1, scope: !5)
!31 = !DILocation(line: 3, column: 1, scope: !14)
!14 = distinct !DISubprogram(name: "g", scope: !1, file: !1, line: 1, type: !6, unit: !0, spFlags: DISPFlagDefinition)
{node}
'''

RECORDS = {
    "#dbg_value(i64 %x, !10, !DIExpression(), !30)": None,
    "#dbg_value(i64 %x, !10, !DIExpression(35, 8, 34), !30)": "DW_OP_plus needs two entries",
    "#dbg_value({ i8, i8 } { i8 1, i8 2 }, !10, !DIExpression(), !30)": None,
    "#dbg_value(i8 257, !10, !DIExpression(), !30)": None,
    "#dbg_value(<vscale x 4 x i8> zeroinitializer, !10, !DIExpression(), !30)": "size of <vscale x 4 x i8> is not known",
    "#dbg_declare(i64 %x, !10, !DIExpression(), !30)": None,
    "#dbg_value(i64 %x, !10, !DIExpression())": "expected 4 arguments, found 3",
    "#dbg_value(metadata i64 %x, !10, !DIExpression(), !30)": "is not a value of type metadata",
    "#dbg_value(i64 %x, !10, !DIExpression(), !30), !dbg !30": "unexpected ',' after a debug record",
    "#dbg_value(i64 %x, !10, !DIExpression(), !5)": "the location of #dbg_value must be a DILocation",
    "#dbg_value(i64 %x, !10, !DIExpression(), !31)": "must belong to the same function",
    "#dbg_value(!7, !10, !DIExpression(), !30)": "the first operand of #dbg_value must be a value",
    "#dbg_value(i64 %w, !10, !DIExpression(), !30)": "%w has type i32, but is used with type i64",
    "#dbg_value(i64 %z, !10, !DIExpression(), !30)": "@f has no value %z",
    "#dbg_value(ptr @h, !10, !DIExpression(), !30)": "@h is not defined",
    "#dbg_value(!DIArgList(i64 %x, i64 %z), !10, !DIExpression(DW_OP_LLVM_arg, 0), !30)": "@f has no value %z",
    "#dbg_declare(float %r, !10, !DIExpression(), !30)": "#dbg_declare takes a pointer, not float",
    "#dbg_assign(i64 %x, !10, !DIExpression(), !7, ptr %p, !DIExpression(), !30)": "the fourth operand of #dbg_assign must be a DIAssignID",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_LLVM_fragment, 0, 64), !30)": "the fragment covers all of x, so it is not a fragment",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_LLVM_fragment, 32, 64), !30)": "bits 32 to 95 are not all within x",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_LLVM_fragment, 0, 32, DW_OP_deref), !30)": "DW_OP_LLVM_fragment must be the last",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_stack_value, DW_OP_deref), !30)": "DW_OP_stack_value must be last",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_piece, 4), !30)": "DW_OP_piece cannot be in a !DIExpression",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_constu), !30)": "DW_OP_constu takes 1 operands, not 0",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_consts, -5), !30)": "expected an operand that is not negative",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_constu, 18446744073709551616), !30)": "does not fit into 64 bits",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_swap), !30)": "DW_OP_swap needs two entries",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_deref, DW_OP_LLVM_entry_value, 1), !30)": "must cover one operation",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_nonsense), !30)": "there is no operation 'DW_OP_nonsense'",
    "#dbg_value(i64 %x, !10, !DIExpression(DW_OP_LLVM_convert, 8, DW_ATE_nonsense), !30)": "there is no encoding",
}  # fmt: skip

NODES = {
    '!90 = !DILocalVariable(name: "y", scope: !5, memorySpace: DW_MSPACE_LLVM_private)': None,  # AMD's
    '!90 = distinct !DISubprogram(name: "y", flags: DIFlagPrototyped | DIFlagThunk, spFlags: DISPFlagOptimized)': None,
    "!90 = !DISubrange(count: !10, lowerBound: -1)": None,
    '!90 = !DITemplateValueParameter(type: !7, value: ptr @g)': None,
    "!90 = !DINonsense()": "there is no kind of node '!DINonsense'",
    '!90 = !DILocalVariable(name: "y", scope: !5, colour: 1)': "a DILocalVariable has no field 'colour'",
    '!90 = !DILocalVariable(name: "y")': "a DILocalVariable needs the field 'scope'",
    '!90 = !DILocalVariable(name: 5, scope: !5)': "'name' must be a string",
    '!90 = !DILocalVariable(name: "y", scope: !5, arg: -1)': "'arg' must be a number that is not negative",
    '!90 = !DILocalVariable(name: "y", scope: null)': "'scope' cannot be null",
    "!90 = !DILocation(line: 1, column: 70000, scope: !5)": "70000 does not fit into 'column', which has 16 bits",
    '!90 = distinct !DISubprogram(name: "y", flags: DIFlagNonsense)': "'DIFlagNonsense' is not a value of 'flags'",
    '!90 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: Nonsense)': "'emissionKind' must be one of",
}  # fmt: skip


def found(text: str) -> list[str]:
    try:
        return [str(finding) for finding in llvmdi.check(llvmdi.read_text(text))]
    except llvmdi.ReadError as error:
        return [str(error)]


def llvms(text: str) -> str | None:
    """LLVM's message; "" if it reads the text, None if it drops the debug information."""
    done = subprocess.run(["llvm-as-22", "-o", "/dev/null", "-"], input=text, capture_output=True, text=True, timeout=60)
    error = re.search(r"<stdin>:(\d+:\d+): error", done.stderr)
    if error is not None:
        return error[1]
    return "" if not done.returncode and "ignoring" not in done.stderr else None


TEXTS = [(BODY.format(record=record, node=""), words) for record, words in RECORDS.items()]
TEXTS += [(BODY.format(record="", node=node), words) for node, words in NODES.items()]


@pytest.mark.llvm
@pytest.mark.parametrize(("text", "words"), TEXTS, ids=[*RECORDS, *NODES])
def test_as_llvm(text: str, words: str | None) -> None:
    findings = found(text)
    if words is None:
        assert findings == []
    else:
        assert any(words in finding for finding in findings), findings
    notes = all(": note: " in finding for finding in findings)
    if "memorySpace" not in text:
        assert (llvms(text) == "") == notes


def test_what_has_a_value_and_no_name_is_numbered() -> None:
    text = """define void @f(i32, i32)
  #0
{
  add i32 0, 0
  store i32 %3, ptr null
  br label %4
  call i32 @g()
  call void @h()
  ret void
}
"""
    (function,) = llvmdi.read_text(text).functions.values()
    names = [(block.label, [item.name for item in block.instructions]) for block in function.blocks]
    assert names == [("2", ["%3", "", ""]), ("4", ["%5", "", ""])]


def test_lines_mean_nothing() -> None:
    text = """target triple =
  "amdgcn-amd-amdhsa"
define "a"="b" i32 @f(i32 %x) { entry: ret i32 %x }
define void @g(i32 %x)
  #0
  !dbg !5
{
  %y = add i32
    %x, 1
  call
    void @h(i32
      %y)
  br label
    %b
b:
  ret void
}
!1 = !{null}!2 = !{!1}!5 = distinct !DISubprogram(name: "g")
"""
    module = llvmdi.read_text(text)
    assert [finding.reason for finding in llvmdi.check(module)] == []
    assert [(b.label, [i.opcode for i in b.instructions]) for f in module.functions.values() for b in f.blocks] == [
        ("entry", ["ret"]), ("0", ["add", "call", "br"]), ("b", ["ret"]),
    ]  # fmt: skip
    assert sorted(module.nodes) == ["1", "2", "5"]
