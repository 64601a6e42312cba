"""Reading LLVM assembly: types and their sizes, literals, instructions, metadata, and text that is none of these."""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocdbg import llvmdi
from rocdbg.llvmdi.llvm_constants import parse_operand
from rocdbg.llvmdi.llvm_lexer import Source, tokenize
from rocdbg.llvmdi.module import Node, Operand, Ref, Text, Words
from rocdbg.llvmdi.token_cursor import Cursor

EXAMPLES = sorted((Path(__file__).parent / "examples").glob("*.ll"))
NAMED = "%S = type { i8, i64 }\n%P = type <{ i8, i64 }>\n%R = type { %S, [3 x i16] }\n"


def operand(text: str, named: str = "") -> tuple[Operand, llvmdi.Module]:
    module = llvmdi.read_text(named)
    source = Source(text, "t")
    return parse_operand(Cursor(source, tokenize(source))), module


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("i1", 1), ("i33", 33), ("half", 16), ("bfloat", 16), ("float", 32), ("double", 64), ("x86_fp80", 80),
        ("fp128", 128), ("ptr", 64), ("ptr addrspace(3)", 32), ("ptr addrspace(5)", 32), ("ptr addrspace(7)", 160),
        ("i32 addrspace(5)*", 32), ("i8**", 64), ("<4 x i1>", 4), ("<3 x i32>", 96), ("[4 x i33]", 256), ("[3 x i8]", 24),
        ("{ i8, i64 }", 128), ("<{ i8, i64 }>", 72), ("%S", 128), ("%P", 72), ("%R", 192), ("{}", 0), ("[0 x i8]", 0),
        ("<2 x ptr addrspace(5)>", 64),
    ],
)  # fmt: skip
def test_sizes(text: str, bits: int) -> None:
    found, module = operand(f"{text} undef", NAMED)
    assert found.type is not None
    assert module.layout.bits(found.type) == bits


@pytest.mark.parametrize("text", ["void", "%T", "<vscale x 4 x i32>", "[4294967296 x [4294967296 x i8]]", 'target("a")'])
def test_no_size(text: str) -> None:
    found, module = operand(f"{text} undef", "%T = type { %T }\n")
    assert found.type is not None
    with pytest.raises(llvmdi.NotWellFormed):
        module.layout.bits(found.type)


def test_a_layout_of_its_own() -> None:
    module = llvmdi.read_text('target datalayout = "e-p:32:32-p5:16:16-i64:32"\n%T = type { i8, i64 }\n')
    source = Source("%T undef", "t")
    found = parse_operand(Cursor(source, tokenize(source)))
    assert found.type is not None
    assert module.layout.bits(found.type) == 96
    assert module.layout.pointers == {0: (32, 32), 5: (16, 16)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("i8 -1", 0xFF), ("i8 255", 0xFF), ("i1 true", 1), ("i64 9223372036854775808", 1 << 63), ("float 1.0", 0x3F800000),
        ("float 0x3FB99999A0000000", 0x3DCCCCCD), ("double 0x3FF0000000000000", 0x3FF0000000000000),
        ("double 1.5e+00", 0x3FF8000000000000), ("half 0xH3C00", 0x3C00), ("bfloat 0xR3F80", 0x3F80),
        ("bfloat 1.0", 0x3F80), ("fp128 0xL00000000000000003FFF000000000000", 0x3FFF << 112),
        ("half 0x3FF8000000000000", 0x3E00), ("bfloat 0x3FF8000000000000", 0x3FC0), ("half 0xFFF0000000000000", 0xFC00),
        ("float 0x7FF0000020000000", 0x7F800001), ("i8 257", 1), ("i8 -129", 0x7F), ("i64 u0xFFFFFFFFFFFFFFFFF", (1 << 64) - 1),
        ("ptr null", 0), ("<2 x i16> <i16 1, i16 2>", 0x20001), ("[2 x i8] [i8 1, i8 2]", 0x201),
        ("<4 x i8> splat (i8 3)", 0x03030303), ("{ i8, i64 } zeroinitializer", 0),
    ],
)  # fmt: skip
def test_literals(text: str, value: int) -> None:
    found, _ = operand(text)
    assert (found.kind, found.value) == ("constant", value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("i8 +5", "t:1:4: '+5' is not a literal of type i8"), ("i8 many", "t:1:4: 'many' is not a value of type i8"), ("i8 1.5", "t:1:4: '1.5' is not a literal of type i8"),
        ("i0 1", "t:1:1: an integer type must have 1 to 8388608 bits"), ("ptr 5", "t:1:5: the only literal of a pointer type is null; use inttoptr for a number"),
        ("float 0x1", "t:1:7: 0x1 cannot be represented exactly as a float"), ("float 1", "t:1:7: '1' is an integer, not a literal of type float"),
        ("float 0.1", "t:1:7: 0.1 cannot be represented exactly as a float"), ("float 0x7FF0000000000001", "t:1:7: 0x7FF0000000000001 cannot be represented exactly as a float"),
        ("i64 null", "t:1:5: 'null' is a pointer, not a value of type i64"), ("i64 none", "t:1:5: 'none' is a token, not a value of type i64"),
        ("[2 x i8] splat (i8 1)", "t:1:10: 'splat' is not a value of type [2 x i8]"), ("half 0xR3F80", "t:1:6: a half in hexadecimal must begin with 0xH"),
        ("bfloat 1.1", "t:1:8: 1.1 cannot be represented exactly as a bfloat"), ("i32 true", "t:1:5: 'true' is of type i1, not i32"),
        ("<2 x i8> <i8 1>", "t:1:10: 1 elements are given for a value of type <2 x i8>"), ("<2 x i8> <i8 1, i9 1>", "t:1:10: an element of <2 x i8> has the wrong type i9"),
        ("half 1e9", "t:1:6: '1' is an integer, not a literal of type half"), ("half 70000.0", "t:1:6: 70000.0 does not fit half"), ("foo 1", "t:1:1: 'foo' is not a type"),
        ("i8", "t:1:3: expected a value of type i8"), ("<0 x i8> undef", "t:1:1: a vector must have at least one element"),
    ],
)  # fmt: skip
def test_no_literals(text: str, words: str) -> None:
    with pytest.raises(llvmdi.ReadError) as caught:
        operand(text)
    assert str(caught.value) == words


FUNCTION = """
%T = type { i8, i64 }
define internal noundef range(i32 0, 9) i32 @f(i32 %0, ptr addrspace(5) byval(%T) align 4 %p, ...) #0 !dbg !1 {
  %2 = alloca [3 x i16], align 4, addrspace(5)
  %n = alloca i8, i32 4, addrspace(5)
  %3 = add nsw i32 %0, 1, !dbg !2
  %4 = icmp slt <4 x i32> zeroinitializer, zeroinitializer
  %5 = getelementptr inbounds nuw %T, ptr addrspace(5) %p, i32 0, i32 1
  %6 = load %T, ptr addrspace(5) %p, align 4
  %7 = extractvalue { i8, { float, i16 } } undef, 1, 0, !dbg !2
  %8 = select i1 true, double 1.0, double 2.0
  %9 = tail call noundef i64 @g(i32 noundef 5) #1
  %10 = shufflevector <4 x i8> undef, <4 x i8> undef, <2 x i32> <i32 0, i32 1>
  %11 = extractelement <4 x i8> zeroinitializer, i32 0
  %12 = cmpxchg ptr %q, i32 0, i32 1 acq_rel monotonic
  %13 = atomicrmw add ptr %q, i16 1 monotonic, align 2
  %14 = addrspacecast ptr addrspace(5) %p to ptr
  %15 = phi float [ 1.0, %1 ], [ 2.0, %b ]
  %16 = call i32 (ptr, ...) @printf(ptr null, i32 1)
  %17 = freeze %T %6
  %18 = insertvalue { i8, i16 } undef, i8 1, 0
  %19 = sext <2 x i8> %10 to <2 x i64>
  %20 = frobnicate i32 5
  %21 = extractvalue %T %6, 1
  %22 = landingpad { ptr, i32 }
          cleanup
  store ptr getelementptr inbounds nuw inrange(-16, 24) (i8, ptr @g, i64 16), ptr %14
  switch i32 %3, label %b [
    i32 0, label %a
    i32 1, label %"odd name"
  ]
a:
  br label %b
"odd name":
  ret i32 0
b:                                                ; preds = %a
  br i1 true, label %a, label %b, !dbg !2
}
!1 = distinct !DISubprogram(name: "f")
!2 = !DILocation(line: 1, scope: !1)
"""
TYPES = {
    "%0": "i32", "%p": "ptr addrspace(5)", "%2": "ptr addrspace(5)", "%n": "ptr addrspace(5)", "%3": "i32", "%4": "<4 x i1>",
    "%5": "ptr addrspace(5)", "%6": "%T", "%7": "float", "%8": "double", "%9": "i64", "%10": "<2 x i8>", "%11": "i8",
    "%12": "{ i32, i1 }", "%13": "i16", "%14": "ptr", "%15": "float", "%16": "i32", "%17": "%T", "%18": "{ i8, i16 }",
    "%19": "<2 x i64>", "%20": "None", "%21": "i64",
    "%22": "{ ptr, i32 }",
}  # fmt: skip


def test_functions() -> None:
    module = llvmdi.read_text(FUNCTION)
    function = module.functions["@f"]
    found = {parameter.name: str(parameter.type) for parameter in function.parameters}
    found |= {instruction.name: str(instruction.type) for instruction in function.instructions if instruction.name}
    assert found == TYPES
    assert [block.label for block in function.blocks] == ["1", "a", "odd name", "b"]
    allocas = [str(i.allocated) for i in function.instructions if i.opcode == "alloca"]
    assert allocas == ["[3 x i16]", "[4 x i8]"]
    info = llvmdi.DebugInfo(module)
    assert info.flows["@f"].successors == [(3, 1, 2), (3,), (), (1, 3)]
    node = info.subprogram_of(function)
    assert node is not None
    assert node.fields == {"name": Text("f")}


def test_a_function_on_one_line() -> None:
    module = llvmdi.read_text("define { i8, i8 } @f() { ret { i8, i8 } undef }\ndefine void @g() {\nret void }\n")
    found = {name: [i.opcode for i in function.instructions] for name, function in module.functions.items()}
    assert found == {"@f": ["ret"], "@g": ["ret"]}
    assert str(module.functions["@f"].result) == "{ i8, i8 }"


def test_metadata() -> None:
    module = llvmdi.read_text(
        '!llvm.ident = !{!0, !1}\n!0 = !{!"text\\22", i32 7, null, !1, ptr @g, !{!"in place"}}\n'
        '!1 = distinct !DISubprogram(name: "f", flags: DIFlagPublic | DIFlagPrototyped, line: 5, unit: !2, isLocal: true, '
        'a: -3, types: !{null, !0})\n!2 = !GenericDINode(tag: DW_TAG_null, header: "h")\n'
    )
    first, second, third, fourth, fifth, sixth = module.nodes["0"].elements
    assert (first, third, fourth) == (Text('text"'), None, Ref("1", fourth.offset if isinstance(fourth, Ref) else 0))
    assert isinstance(second, Operand)
    assert (second.value, str(second)) == (7, "i32 7")
    assert isinstance(fifth, Operand)
    assert fifth.name == "@g"
    assert isinstance(sixth, Node)
    assert sixth.elements == (Text("in place"),)
    fields = module.nodes["1"].fields
    assert fields["flags"] == Words("DIFlagPublic | DIFlagPrototyped")
    assert (fields["line"], fields["a"], fields["isLocal"]) == (5, -3, Words("true"))
    assert module.nodes["1"].distinct
    assert module.node(fields["unit"]) is module.nodes["2"]
    assert list(module.named) == ["llvm.ident"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("!1 = !{", "t:1:8: expected '}', found the end of the text"),
        ("!1 = !{)", "t:1:8: ')' has no matching opening bracket"),
        ("!1 = !{}\n!1 = !{}", "t:2:1: !1 is defined twice"),
        ("!1 = foo", "t:1:6: expected a metadata node"),
        ("!1 = !DIFoo(5)", "t:1:13: expected the name of a field"),
        ("!1 = !DIFoo(a: 1, a: 2)", "t:1:19: the field 'a' occurs twice"),
        ("!1 = !DIExpr(5)", "t:1:14: expected an operation"),
        ("!1 = !DIExpr(DIOpArg(x))", "t:1:22: expected a type, a number or a literal"),
        ("define void @f() {\n", "t:2:1: the function's body does not end"),
        ("define void @f() {\n  %1 = \n}", "t:3:1: expected an instruction"),
        ("define void @f() {\n  #dbg_foo(i32 1)\n}", "t:2:3: '#dbg_foo' is not a debug record"),
        ("define void @f() {\n  #dbg_value(i32 1)\n}", "t:2:3: expected 4 arguments, found 1"),
        ("define void @f() ret void }", "t:1:27: '}' has no matching opening bracket"),
        ("declare void @f()\ndeclare void @f()", "t:2:9: @f is defined twice"),
        ("%T = type { i8", "t:1:15: expected '}', found the end of the text"),
        ("%T = type i8\n%T = type i8", "t:2:1: the type %T is defined twice"),
        ('target datalayout = "p:x"', "t:1:21: 'p:x' in the data layout cannot be read"),
        ("@g = global i32 0\n@g = global i32 0", "t:2:1: @g is defined twice"),
        ("!1 = !{" + "!{" * 70 + "}" * 71, "t:1:136: the text is nested more than 64 deep"),
        ("%T = type " + "[1 x " * 70 + "i8" + "]" * 70, "t:1:331: the text is nested more than 64 deep"),
        ("\x01", "t:1:1: unexpected character U+0001"),
        ('!1 = !{!"', "t:1:9: the string does not end"),
    ],
    ids=range(22),
)  # fmt: skip
def test_errors(text: str, words: str) -> None:
    with pytest.raises(llvmdi.ReadError) as caught:
        llvmdi.read_text(text, "t")
    assert str(caught.value) == words


@pytest.mark.llvm
def test_bitcode(tmp_path: Path) -> None:
    text, bitcode = tmp_path / "f.ll", tmp_path / "f.bc"
    text.write_text("define i32 @f(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n")
    subprocess.run(["llvm-as-22", str(text), "-o", str(bitcode)], check=True, timeout=60)
    module = llvmdi.read(bitcode)
    assert [(i.name, str(i.type)) for i in module.functions["@f"].instructions] == [("%y", "i32"), ("", "None")]
    bitcode.write_bytes(b"BC\xc0\xde" + bytes(50))
    with pytest.raises(llvmdi.ReadError, match="llvm-dis cannot read it"):
        llvmdi.read(bitcode)


def test_bitcode_without_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bitcode = tmp_path / "f.bc"
    bitcode.write_bytes(b"BC\xc0\xde")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(llvmdi.ReadError) as caught:
        llvmdi.read(bitcode)
    assert str(caught.value) == f"{bitcode} is bitcode; install llvm-dis, or give the module as text (.ll)"


@settings(max_examples=60)
@given(data=st.data(), path=st.sampled_from(EXAMPLES))
def test_truncated(data: st.DataObject, path: Path) -> None:
    text = path.read_text()
    cut = text[: data.draw(st.integers(0, len(text)))]
    try:
        llvmdi.check(llvmdi.read_text(cut))
    except llvmdi.ReadError as error:
        assert error.position is not None
