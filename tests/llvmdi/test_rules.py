"""Every rule of the specification, with an input that breaks it and the message about it."""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import pytest

from rocdbg import llvmdi

X = '!1 = !DILocalVariable("x")\n'
LIFETIME = "!2 = distinct !DILifetime(object: !1, location: {})\n"


def expression(operations: str, bounded: bool = True, arguments: str = "") -> str:
    """x with one lifetime segment, of a 64-bit referrer."""
    start = "%v = i64 ...\nDBG_DEF !2, i64 %v\nnop\n" if bounded else ""
    arguments = f", argObjects: {{{arguments}}}" if arguments else ""
    return f"{start}{X}!2 = distinct !DILifetime(object: !1, location: !DIExpr({operations}){arguments})\n"


def found(text: str) -> list[str]:
    return [
        f"{finding.position.line}: {finding.reason} [{finding.rule}]"
        for finding in llvmdi.check(llvmdi.read_text(text))
        if not finding.is_note
    ]


OPERATIONS = {
    "empty": ("", "5: an expression must leave one entry on the stack, not 0 [DIExpr]"),
    "two left": ("DIOpReferrer(i64), DIOpReferrer(i64)", "5: an expression must leave one entry on the stack, not 2 [DIExpr]"),
    "unknown": ("DIOpFoo()", "5: there is no operation 'DIOpFoo' [DIExpr]"),
    "stack": ("DIOpReferrer(i64), DIOpAdd()", "5: DIOpAdd takes 2 stack entries, but the stack has 1 [stack]"),
    "no parameter": ("DIOpReferrer()", "5: DIOpReferrer takes 1 parameters, not 0 [DIOpReferrer]"),
    "wrong parameter": ("DIOpReferrer(5)", "5: DIOpReferrer takes a type for T [DIOpReferrer]"),
    "no literal": ("DIOpConstant(i64)", "5: DIOpConstant takes a type and a literal [DIOpConstant]"),
    "referrer size": ("DIOpReferrer(i32)", "5: DIOpReferrer gives the type i32, which has 32 bits, to a referrer of 64 bits [DIOpReferrer]"),
    "argument": ("DIOpArg(0, i64)", "5: DIOpArg asks for input 0, but there are 0 inputs [DIOpArg]"),
    "type object": ("DIOpTypeObject(i64)", "5: DIOpTypeObject can be used only in the expression of a type property [DIOpTypeObject]"),
    "reinterpret": (
        "DIOpReferrer(i64), DIOpReinterpret(i32)", "5: DIOpReinterpret gives the type i32, which has 32 bits, to a location of 64 bits [DIOpReinterpret]"
    ),
    "convert": ("DIOpReferrer(i64), DIOpConvert({ i64 })", "5: DIOpConvert cannot convert values of type { i64 } [DIOpConvert]"),
    "convert lanes": (
        "DIOpReferrer(<2 x i32>), DIOpConvert(i64)", "5: DIOpConvert cannot convert <2 x i32> to i64 [DIOpConvert]"
    ),
    "bit offset": (
        "DIOpReferrer(i64), DIOpConstant(float 1.0), DIOpBitOffset(i8)",
        "5: DIOpBitOffset takes an offset of an integral type, not float [DIOpBitOffset]",
    ),
    "byte offset": (
        "DIOpReferrer(i64), DIOpReferrer(ptr), DIOpByteOffset(i8)",
        "5: DIOpByteOffset takes an offset of an integral type, not ptr [DIOpByteOffset]",
    ),
    "composite size": (
        "DIOpReferrer(i64), DIOpConstant(i8 0), DIOpComposite(2, i64)",
        "5: DIOpComposite gives the type i64, which has 64 bits, to parts of 72 bits [DIOpComposite]",
    ),
    "composite twice": (
        "DIOpReferrer(i64), DIOpReferrer(i64), DIOpComposite(2, i128)", "5: two parts of the composite share bits of %v [DIOpComposite]"
    ),
    "composite partly twice": (
        "DIOpReferrer(i64), DIOpReferrer(i64), DIOpConstant(i8 32), DIOpBitOffset(i32), DIOpComposite(2, i96)",
        "5: two parts of the composite share bits of %v [DIOpComposite]",
    ),
    "extend": ("DIOpReferrer([2 x i32]), DIOpExtend(2)",
               "5: DIOpExtend takes elements of an integral, floating point or pointer type, not [2 x i32] [DIOpExtend]"),
    "extend by none": ("DIOpReferrer(i64), DIOpExtend(0)", "5: DIOpExtend takes a count from 1 to 65536, not 0 [DIOpExtend]"),
    "select mask": (
        "DIOpConstant(i8 0), DIOpExtend(9), DIOpConstant(i8 1), DIOpExtend(9), DIOpConstant(i8 1), DIOpSelect()",
        "5: DIOpSelect takes a mask of at least 9 bits, not 8 [DIOpSelect]",
    ),
    "select types": (
        "DIOpConstant(i8 0), DIOpExtend(4), DIOpConstant(i16 1), DIOpExtend(4), DIOpConstant(i8 1), DIOpSelect()",
        "5: DIOpSelect takes two vectors of one type, not <4 x i8> and <4 x i16> [DIOpSelect]",
    ),
    "address used": (
        "DIOpReferrer(i64), DIOpAddrOf(5), DIOpRead()",
        "5: DIOpRead cannot be applied to an implicit address; only DIOpDeref can [DIOpAddrOf]",
    ),
    "address of another type": (
        "DIOpReferrer(i64), DIOpAddrOf(5), DIOpDeref(double)",
        "5: DIOpDeref gives the type double to an object that has type i64 by its implicit address [DIOpDeref]",
    ),
    "dereferenced value": ("DIOpReferrer(i64), DIOpDeref(i8)", "5: DIOpDeref takes a pointer, not i64 [DIOpDeref]"),
    "undefined read": ("DIOpConstant(i64 undef), DIOpRead()", "5: DIOpRead reads an undefined value [read]"),
    "read beyond": (
        "DIOpReferrer(i64), DIOpConstant(i8 60), DIOpBitOffset(i8), DIOpRead()",
        "5: DIOpRead reads 8 bits from bit 60 of 64 bits [read]",
    ),
    "read before": (
        "DIOpReferrer(i64), DIOpConstant(i8 -1), DIOpByteOffset(i8), DIOpConvert(i64)",
        "5: DIOpConvert reads 8 bits from bit -8 of 64 bits [read]",
    ),
    "operands": (
        "DIOpReferrer(i64), DIOpConstant(i32 1), DIOpAdd()", "5: DIOpAdd takes two operands of one type, not i64 and i32 [DIOpAdd]"
    ),
    "shift": (
        "DIOpReferrer(double), DIOpReferrer(double), DIOpShr()", "5: DIOpShr takes integral operands, not double [DIOpShr]"
    ),
    "shift left": ("DIOpReferrer(double), DIOpReferrer(double), DIOpShl()", "5: DIOpShl takes integral operands, not double [DIOpShl]"),
    "struct": ("DIOpReferrer({ i64 }), DIOpReferrer({ i64 }), DIOpMul()", "5: DIOpMul takes numbers, not { i64 } [DIOpMul]"),
    "lane": ("DIOpPushLane(float)", "5: DIOpPushLane takes an integral type, not float [DIOpPushLane]"),
    "narrower": ("DIOpReferrer(i64), DIOpZExt(i32)", "5: DIOpZExt must convert to a type that is wider than i64 [DIOpZExt]"),
    "no size": ("DIOpReferrer(%opaque)", "5: the type %opaque is not defined [DIOpReferrer]"),
    "fragments": ("DIOpFragment(0, 8), DIOpReferrer(i64), DIOpFragment(0, 8)", "5: the expression has more than one DIOpFragment [DIOpFragment]"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str) -> None:
    operations, words = OPERATIONS[name]
    assert found(expression(operations)) == [words]


def test_a_referrer_needs_a_bounded_segment() -> None:
    words = "2: DIOpReferrer cannot be used in a lifetime segment that is not bounded, because it has no referrer [DIOpReferrer]"
    assert found(expression("DIOpReferrer(i64)", bounded=False)) == [words]


def test_lanes_are_of_gpus() -> None:
    text = 'target triple = "x86_64-pc-linux-gnu"\n' + expression("DIOpPushLane(i32)")
    assert found(text) == ["6: DIOpPushLane cannot be used in a program without lanes [DIOpPushLane]"]
    assert found(text.replace("x86_64-pc-linux-gnu", "amdgcn-amd-amdhsa")) == []


FRAGMENT = "!3 = distinct !DIFragment()\n!4 = distinct !DILifetime(object: !3, location: !DIExpr(DIOpConstant(i32 1)))\n"
REST = {
    "size of an input": (
        expression("DIOpArg(0, i64)", False, "!3") + FRAGMENT,
        ["2: DIOpArg gives the type i64, which has 64 bits, to an input of 32 bits [DIOpArg]"],
    ),
    "composite of one object twice": (
        "DBG_DEF !4, i32 %v\n" + expression("DIOpArg(0, i32), DIOpArg(0, i32), DIOpComposite(2, i64)", False, "!3")
        + FRAGMENT.replace("DIOpConstant(i32 1)", "DIOpReferrer(i32)"),
        ["3: two parts of the composite share bits of %v [DIOpComposite]"],
    ),
    "composite through a fragment": (
        "DBG_DEF !6, i64 %v\n" + expression("DIOpArg(0, i64), DIOpArg(1, i64), DIOpComposite(2, i128)", False, "!3, !5")
        + FRAGMENT.replace("DIOpConstant(i32 1))", "DIOpArg(0, i64)), argObjects: {!5}")
        + "!5 = distinct !DIFragment()\n!6 = distinct !DILifetime(object: !5, location: !DIExpr(DIOpReferrer(i64)))\n",
        ["3: two parts of the composite share bits of %v [DIOpComposite]"],
    ),
    "two definitions": (
        "DBG_DEF !2, i64 %v\nDBG_DEF !2, i64 %v\n" + X + LIFETIME.format("!DIExpr(DIOpReferrer(i64))"),
        ["4: !2 must be referenced by 1 call of llvm.dbg.def, but is referenced by 2 [bounded lifetime segment]"],
    ),
    "a kill alone": (
        "DBG_KILL !2\n" + X + LIFETIME.format("!DIExpr(DIOpConstant(i8 1))"),
        ["3: !2 must be referenced by 1 call of llvm.dbg.def, but is referenced by 0 [bounded lifetime segment]"],
    ),
    "a kill before": (
        "DBG_KILL !2\nDBG_DEF !2, i64 %v\n" + X + LIFETIME.format("!DIExpr(DIOpReferrer(i64))"),
        ["1: this llvm.dbg.kill of !2 is not reachable from its llvm.dbg.def [llvm.dbg.kill]"],
    ),
    "a kill in another branch": (
        "define void @f(i1 %c, i64 %v) {\n br i1 %c, label %a, label %b\na:\n"
        " call void @llvm.dbg.def(metadata !2, metadata i64 %v)\n ret void\nb:\n"
        " call void @llvm.dbg.kill(metadata !2)\n ret void\n}\n" + X + LIFETIME.format("!DIExpr(DIOpReferrer(i64))"),
        ["7: this llvm.dbg.kill of !2 is not reachable from its llvm.dbg.def [llvm.dbg.kill]"],
    ),
    "a kill in another function": (
        "define void @f(i64 %v) {\n call void @llvm.dbg.def(metadata !2, metadata i64 %v)\n ret void\n}\n"
        "define void @g() {\n call void @llvm.dbg.kill(metadata !2)\n ret void\n}\n"
        + X + LIFETIME.format("!DIExpr(DIOpReferrer(i64))"),
        ["6: this llvm.dbg.kill of !2 is not reachable from its llvm.dbg.def [llvm.dbg.kill]"],
    ),
    "a kill behind a kill": (
        "DBG_DEF !2, i64 %v\nDBG_KILL !2\nDBG_KILL !2\n" + X + LIFETIME.format("!DIExpr(DIOpReferrer(i64))"),
        ["3: every path to this llvm.dbg.kill of !2 passes through another llvm.dbg.kill of it [llvm.dbg.kill]"],
    ),
    "a kill by way of a loop": (
        "define void @f(i1 %c, i64 %v) {\n br label %a\na:\n call void @llvm.dbg.kill(metadata !2)\n"
        " call void @llvm.dbg.def(metadata !2, metadata i64 %v)\n br i1 %c, label %a, label %b\nb:\n ret void\n}\n"
        + X + LIFETIME.format("!DIExpr(DIOpReferrer(i64))"),
        [],
    ),
    "kills on two paths": (
        "define void @f(i1 %c, i64 %v) {\n call void @llvm.dbg.def(metadata !2, metadata i64 %v)\n"
        " br i1 %c, label %a, label %b\na:\n call void @llvm.dbg.kill(metadata !2)\n ret void\nb:\n"
        " call void @llvm.dbg.kill(metadata !2)\n ret void\n}\n" + X + LIFETIME.format("!DIExpr(DIOpReferrer(i64))"),
        [],
    ),
    "no lifetime": (
        "DBG_DEF !1, i64 %v\n" + X, ["1: the first argument of llvm.dbg.def must be a DILifetime [intrinsics]"]
    ),
    "no value": (
        "DBG_DEF !2, !1\n" + X + LIFETIME.format("!DIExpr(DIOpConstant(i8 1))"),
        ["1: the second argument of llvm.dbg.def must be a value [intrinsics]"],
    ),
    "another type": (
        "define void @f(i64 %v) {\n call void @llvm.dbg.def(metadata !2, metadata i32 %v)\n ret void\n}\n"
        + X + LIFETIME.format("!DIExpr(DIOpReferrer(i32))"),
        ["2: %v has type i64, but is used with type i32 [llvm.dbg.def]"],
    ),
    "no such value": (
        "define void @f() {\n call void @llvm.dbg.def(metadata !2, metadata i32 %v)\n ret void\n}\n"
        + X + LIFETIME.format("!DIExpr(DIOpReferrer(i32))"),
        ["2: @f has no value %v [llvm.dbg.def]"],
    ),
    "no such block": ("define void @f() {\n br label %b\n}\n", ["2: there is no block 'b' [control flow]"]),
    "object": (
        "!2 = distinct !DILifetime(object: !3, location: !DIExpr(DIOpConstant(i8 1)))\n!3 = !{}\n",
        ["1: !2 is not used for any variable [lifetime graph]", "1: the object of !2 must be a DIObject [DILifetime]"],
    ),
    "location": (X + LIFETIME.format("!1"), ["2: the location of a lifetime must be a DIExpr [DILifetime]"]),
    "input": (
        expression("DIOpArg(0, i8)", False, "!3") + "!3 = !{}\n",
        ["2: input 0 of !2 must be a DIObject or a DICode [DILifetime]"],
    ),
    "distinct": (
        expression("DIOpArg(0, i32)", False, "!3") + FRAGMENT.replace("distinct ", "", 1),
        ["3: a DIFragment must be distinct [DIFragment]"],
    ),
    "missing metadata": (
        X + LIFETIME.format("!7"),
        ["2: the location of a lifetime must be a DIExpr [DILifetime]", "2: the node !7 is not defined [metadata]"],
    ),
    "label": (
        expression("DIOpArg(0, i64)", False, "!3") + "!3 = distinct !DIExprCode()\n",
        ["3: !3 must be referenced by 1 call of llvm.dbg.label, but is referenced by 0 [llvm.dbg.label]"],
    ),
    "label twice": (
        "DBG_LABEL !3\nnop\nDBG_LABEL !3\n" + expression("DIOpArg(0, i64)", False, "!3") + "!3 = distinct !DIExprCode()\n",
        ["6: !3 must be referenced by 1 call of llvm.dbg.label, but is referenced by 2 [llvm.dbg.label]"],
    ),
    "no label": ("DBG_LABEL !1\n" + X, ["1: the argument of llvm.dbg.label must be a DICode [intrinsics]"]),
    "two globals": (
        "@g = i64, addrspace(1) !dbg.def !3\n@h = i64, addrspace(1) !dbg.def !3\n!llvm.dbg.retainedNodes = !{!2}\n"
        + expression("DIOpArg(0, ptr addrspace(1))", False, "!3") + "!3 = distinct !DIFragment()\n",
        ["6: !3 is the fragment of 2 global variables [global variable]"],
    ),
    "a global with a lifetime": (
        "@g = i64, addrspace(1) !dbg.def !3\n!llvm.dbg.retainedNodes = !{!2}\n"
        + expression("DIOpArg(0, ptr addrspace(1))", False, "!3") + FRAGMENT,
        ["5: !3, the fragment of @g, cannot be the object of a lifetime [global variable]"],
    ),
    "a property as an input": (
        expression("DIOpArg(0, i32)", False, "!3") + FRAGMENT
        + "!5 = !DICompositeType(tag: DW_TAG_array_type, rank: !3)\n",
        ["2: input 0 of !2 is the fragment of a type property, which cannot be an input [DICompositeType]"],
    ),
    "a property twice": (
        "!5 = !DICompositeType(tag: DW_TAG_array_type, rank: !3, associated: !3)\n" + FRAGMENT,
        ["2: !3 is used as the property of 2 fields, but may be used for only one [DICompositeType]"],
    ),
    "a property of no array": (
        "!5 = !DICompositeType(tag: DW_TAG_structure_type, rank: !3)\n" + FRAGMENT,
        ["1: 'rank' refers to !3, but only an array type can have this property [DICompositeType]"],
    ),
    "size of the object": (
        "!5 = !DICompositeType(tag: DW_TAG_array_type, size: 64, rank: !3)\n"
        + FRAGMENT.replace("DIOpConstant(i32 1)", "DIOpTypeObject(i32)"),
        ["3: DIOpTypeObject gives the type i32, which has 32 bits, to an object of 64 bits [DIOpTypeObject]"],
    ),
    "cycle": (
        expression("DIOpArg(0, i64)", False, "!3")
        + "!3 = distinct !DIFragment()\n"
        "!4 = distinct !DILifetime(object: !3, location: !DIExpr(DIOpArg(0, i64)), argObjects: {!1})\n",
        ["1: the location of x depends on itself [lifetime graph]"],
    ),
    "unreachable": (
        X + FRAGMENT, ["2: !3 is not used for any variable [lifetime graph]", "3: !4 is not used for any variable [lifetime graph]"]
    ),
    "unreachable code": (
        "DBG_LABEL !3\n!3 = distinct !DIExprCode()\n" + expression("DIOpConstant(i8 1)", False),
        ["2: !3 is not used for any variable [lifetime graph]"],
    ),
    "retained variable": (
        '!0 = distinct !DISubprogram(name: "f", retainedNodes: !{})\n!1 = !DILocalVariable(name: "x", scope: !0)\n'
        "define void @f(i8 %v) !dbg !0 {\n call void @llvm.dbg.def(metadata !2, metadata i8 %v)\n ret void\n}\n"
        + LIFETIME.format("!DIExpr(DIOpReferrer(i8))"),
        ["2: x is not listed in the retainedNodes of its DISubprogram [DISubprogram]"],
    ),
    "retained lifetime": (
        '!0 = distinct !DISubprogram(name: "f", retainedNodes: !{!1})\n!1 = !DILocalVariable(name: "x", scope: !0)\n'
        + LIFETIME.format("!DIExpr(DIOpConstant(i8 1))"),
        ["3: !2 is not listed in the retainedNodes of its DISubprogram [DISubprogram]"],
    ),
    "retained by the module": (
        '@g = i64, addrspace(1) !dbg.def !3\n!llvm.dbg.cu = !{!0}\n!0 = !DICompileUnit(globals: !{!1})\n'
        '!1 = !DIGlobalVariable("g")\n!3 = distinct !DIFragment()\n'
        "!2 = distinct !DILifetime(object: !1, location: !DIExpr(DIOpArg(0, ptr addrspace(1)), DIOpDeref(i64)), "
        "argObjects: {!3})\n",
        ["6: !2 is not listed in !llvm.dbg.retainedNodes [DISubprogram]"],
    ),
    "globals": (
        '!llvm.dbg.cu = !{!0}\n!llvm.dbg.retainedNodes = !{!2}\n!0 = !DICompileUnit(globals: !{})\n'
        '!1 = !DIGlobalVariable("g")\n' + LIFETIME.format("!DIExpr(DIOpConstant(i8 1))"),
        ["4: g is not listed in the globals of a DICompileUnit [DICompileUnit]"],
    ),
    "unit": (
        "!0 = !DICompileUnit()\n" + expression("DIOpConstant(i8 1)", False),
        ["1: the unit is not listed in !llvm.dbg.cu [DICompileUnit]"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REST)
def test_the_rest(name: str) -> None:
    text, words = REST[name]
    assert sorted(found(text)) == sorted(words)


@pytest.mark.parametrize(("type", "words"), [
    ("i32", "i32, which has 32 bits, to an input that has a segment of 64 bits"), ("i64", "i64, which has 64 bits, to an input of 32 bits"),
])
def test_segments_of_an_input_have_its_size(type: str, words: str) -> None:
    text = (
        "define void @f(i32 %a, i64 %b) {\n"
        "call void @llvm.dbg.def(metadata !4, metadata i32 %a)\ncall void @llvm.dbg.kill(metadata !4)\n"
        "call void @llvm.dbg.def(metadata !5, metadata i64 %b)\ncall void @llvm.dbg.kill(metadata !5)\nret void\n}\n"
        '!1 = !DILocalVariable(name: "x")\n'
        f"!2 = distinct !DILifetime(object: !1, location: !DIExpr(DIOpArg(0, {type})), argObjects: {{!3}})\n"
        "!3 = distinct !DIFragment()\n"
        "!4 = distinct !DILifetime(object: !3, location: !DIExpr(DIOpReferrer(i32)))\n"
        "!5 = distinct !DILifetime(object: !3, location: !DIExpr(DIOpReferrer(i64)))\n"
    )
    [finding] = [each for each in llvmdi.check(llvmdi.read_text(text)) if not each.is_note]
    assert finding.rule == "DIOpArg" and finding.reason == f"DIOpArg gives the type {words}"


def test_two_computed_segments_are_noted() -> None:
    text = X + LIFETIME.format("!DIExpr(DIOpConstant(i8 1))") + LIFETIME.format("!DIExpr(DIOpConstant(i8 1))").replace("!2", "!3")
    notes = [finding.reason for finding in llvmdi.check(llvmdi.read_text(text)) if finding.is_note]
    assert notes == ["x has 2 computed lifetime segments"]


@pytest.mark.parametrize(
    ("operations", "bits"),
    [
        ("DIOpReferrer(i64), DIOpExtend(2)", 128),  # the specification's own lane PC extends a register
        ("DIOpConstant(i8 0), DIOpConstant(i8 0), DIOpComposite(2, i16)", 16),  # implicit bits may be there twice
        ("DIOpReferrer(i64), DIOpReferrer(i64), DIOpConstant(i8 32), DIOpBitOffset(i32), "
         "DIOpReferrer(i64), DIOpReinterpret(double), DIOpRead(), DIOpComposite(2, i96), DIOpComposite(2, i160)", None),
        ("DIOpReferrer(i64), DIOpReinterpret(ptr addrspace(1)), DIOpDeref([3 x i24])", 96),
    ],
)  # fmt: skip
def test_well_formed(operations: str, bits: int | None) -> None:
    module = llvmdi.read_text(expression(operations))
    findings = [finding.rule for finding in llvmdi.check(module)]
    assert findings == (["DIOpComposite"] if bits is None else [])
    if bits is not None:
        info = llvmdi.DebugInfo(module)
        assert info.tree(info.segments[0]).bits == bits
