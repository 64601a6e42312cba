"""The rules of the specification as a table: small expressions and modules, and which rule each breaks (none:
well-formed).

`test_rules.py` has the message of every rule; this table has the limits of what the rules allow and forbid.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import pytest

from rocdbg import dwarf, llvmdi


def rules(text: str) -> list[str]:
    """The rules that a text breaks."""
    findings = llvmdi.check(llvmdi.read_text(text))
    return sorted({finding.rule for finding in findings if not finding.is_note})


def bounded(operations: str) -> str:
    """x in a bounded segment with a referrer of 64 bits; !3 is a fragment of 32 bits, !5 one without any location."""
    return f"""%v = i64 ...
DBG_DEF !2, i64 %v
DBG_DEF !4, i32 %w
nop
!1 = !DILocalVariable("x")
!2 = distinct !DILifetime(object: !1, location: !DIExpr({operations}), argObjects: {{!3, !5}})
!3 = distinct !DIFragment()
!4 = distinct !DILifetime(object: !3, location: !DIExpr(DIOpReferrer(i32)))
!5 = distinct !DIFragment()
"""


# operations, and the rule that they break
EXPRESSIONS = [
    # one entry is left
    ("DIOpReferrer(i64)", ""),
    ("", "DIExpr"),
    ("DIOpReferrer(i64), DIOpArg(0, i32)", "DIExpr"),
    ("DIOpConstant(i8 0), DIOpConstant(i8 0), DIOpConstant(i8 0), DIOpAdd()", "DIExpr"),
    # fewer entries than an operation takes
    ("DIOpRead()", "stack"),
    ("DIOpDeref(i8)", "stack"),
    ("DIOpAddrOf(5)", "stack"),
    ("DIOpConvert(i8)", "stack"),
    ("DIOpReinterpret(i8)", "stack"),
    ("DIOpReferrer(i64), DIOpBitOffset(i8)", "stack"),
    ("DIOpReferrer(i64), DIOpByteOffset(i8)", "stack"),
    ("DIOpReferrer(i64), DIOpComposite(2, i64)", "stack"),
    ("DIOpExtend(2)", "stack"),
    ("DIOpConstant(i8 0), DIOpExtend(8), DIOpConstant(i8 0), DIOpSelect()", "stack"),
    *((f"DIOpReferrer(i64), DIOp{name}()", "stack") for name in ("Add", "Sub", "Mul", "Div", "Shr", "Shl")),
    # operations and parameters as figure 1 has them
    ("DIOpNothing()", "DIExpr"),
    ("DIOpReferrer", "DIOpReferrer"),
    ("DIOpReferrer(i64, i64)", "DIOpReferrer"),
    ("DIOpReferrer(64)", "DIOpReferrer"),
    ("DIOpArg(0)", "DIOpArg"),
    ("DIOpArg(i32, 0)", "DIOpArg"),
    ("DIOpConstant(5)", "DIOpConstant"),
    ("DIOpConstant(i64)", "DIOpConstant"),
    ("DIOpConstant(i64 %v)", "DIOpConstant"),
    ("DIOpConstant(i64 0), DIOpConvert()", "DIOpConvert"),
    ("DIOpConstant(i64 0), DIOpConvert(8)", "DIOpConvert"),
    ("DIOpConstant(i8 0), DIOpComposite(i8, 1)", "DIOpComposite"),
    ("DIOpConstant(i8 0), DIOpComposite(1)", "DIOpComposite"),
    ("DIOpConstant(i8 0), DIOpExtend()", "DIOpExtend"),
    ("DIOpReferrer(i64), DIOpAddrOf()", "DIOpAddrOf"),
    ("DIOpReferrer(i64), DIOpAddrOf(ptr)", "DIOpAddrOf"),
    ("DIOpReferrer(i64), DIOpAddrOf(16777216)", "DIOpAddrOf"),
    ("DIOpReferrer(ptr), DIOpDeref()", "DIOpDeref"),
    ("DIOpReferrer(ptr), DIOpDeref(8)", "DIOpDeref"),
    ("DIOpReferrer(i64), DIOpConstant(i64 1), DIOpAdd(i64)", "DIOpAdd"),
    ("DIOpPushLane()", "DIOpPushLane"),
    # DIOpReferrer: as many bits as the referrer, regardless of the type
    ("DIOpReferrer(double)", ""),
    ("DIOpReferrer(ptr)", ""),
    ("DIOpReferrer(ptr addrspace(1))", ""),
    ("DIOpReferrer(<2 x float>)", ""),
    ("DIOpReferrer([8 x i8])", ""),
    ("DIOpReferrer({ i32, i32 })", ""),
    ("DIOpReferrer(<{ i8, i56 }>)", "DIOpReferrer"),
    ("DIOpReferrer(<{ i8, i8, i16, i32 }>)", ""),
    ("DIOpReferrer(i63)", "DIOpReferrer"),
    ("DIOpReferrer(i65)", "DIOpReferrer"),
    ("DIOpReferrer(ptr addrspace(5))", "DIOpReferrer"),
    ("DIOpReferrer(void)", "DIOpReferrer"),
    ("DIOpReferrer(label)", "DIOpReferrer"),
    ("DIOpReferrer(%unknown)", "DIOpReferrer"),
    # DIOpArg
    ("DIOpArg(0, i32)", ""),
    ("DIOpArg(0, float)", ""),
    ("DIOpArg(0, ptr addrspace(3))", ""),
    ("DIOpArg(0, i16)", "DIOpArg"),
    ("DIOpArg(0, i64)", "DIOpArg"),
    ("DIOpArg(1, i64)", ""),  # an object without a location has no size that could differ
    ("DIOpArg(2, i64)", "DIOpArg"),
    # DIOpTypeObject
    ("DIOpTypeObject(i64)", "DIOpTypeObject"),
    # DIOpConstant
    ("DIOpConstant(i1 true)", ""),
    ("DIOpConstant(i64 undef)", ""),
    ("DIOpConstant(i64 -1)", ""),
    ("DIOpConstant(float 1.5)", ""),
    ("DIOpConstant(double 0x3FF0000000000000)", ""),
    ("DIOpConstant(ptr null)", ""),
    ("DIOpConstant(ptr addrspace(5) null)", ""),
    ("DIOpConstant(<2 x i16> <i16 1, i16 2>)", ""),
    ("DIOpConstant([2 x i8] zeroinitializer)", ""),
    ("DIOpConstant({ i8, i32 } zeroinitializer)", ""),
    ("DIOpConstant(<2 x i16> undef)", ""),
    ("DIOpConstant({ i8, i32 } { i8 1, i32 2 })", ""),
    ("DIOpConstant({ i8, [2 x i16] } { i8 1, [2 x i16] [i16 2, i16 3] })", ""),
    ("DIOpConstant({ i8, i32 } { i8 undef, i32 undef })", ""),
    ("DIOpConstant([2 x i8] c\"ab\")", ""),
    ("DIOpConstant([2 x [2 x i8]] [[2 x i8] c\"ab\", [2 x i8] zeroinitializer])", ""),
    ("DIOpConstant({} {})", ""),
    ("DIOpConstant(i64 u0xFF)", ""),
    ("DIOpConstant({ i8, i32 } { i8 1, i16 2 })", "DIOpConstant"),
    ("DIOpConstant({ i8, i32 } { i8 1 })", "DIOpConstant"),
    ("DIOpConstant(i64 { i8 1 })", "DIOpConstant"),
    ("DIOpConstant(<2 x i8> [i8 1, i8 2])", "DIOpConstant"),
    ("DIOpConstant({ i8, ptr } { i8 1, ptr @g })", "DIOpConstant"),
    ("DIOpConstant(ptr inttoptr (i64 5 to ptr))", "DIOpConstant"),
    # DIOpConvert
    ("DIOpReferrer(i64), DIOpConvert(i8)", ""),
    ("DIOpReferrer(i64), DIOpConvert(i128)", ""),
    ("DIOpReferrer(i64), DIOpConvert(double)", ""),
    ("DIOpReferrer(double), DIOpConvert(i8)", ""),
    ("DIOpReferrer(ptr), DIOpConvert(i64)", ""),
    ("DIOpReferrer(<2 x i32>), DIOpConvert(<2 x i64>)", ""),
    ("DIOpReferrer(<2 x i32>), DIOpConvert(<4 x i16>)", "DIOpConvert"),
    ("DIOpReferrer([2 x i32]), DIOpConvert(i64)", "DIOpConvert"),
    ("DIOpReferrer(i64), DIOpConvert([2 x i32])", "DIOpConvert"),
    # DIOpReinterpret
    ("DIOpReferrer(i64), DIOpReinterpret(double)", ""),
    ("DIOpReferrer(i64), DIOpReinterpret(<4 x half>)", ""),
    ("DIOpReferrer(i64), DIOpReinterpret(ptr addrspace(4))", ""),
    ("DIOpReferrer(i64), DIOpReinterpret({ i32, i32 })", ""),
    ("DIOpReferrer(i64), DIOpReinterpret(i32)", "DIOpReinterpret"),
    ("DIOpReferrer(i64), DIOpReinterpret(ptr addrspace(3))", "DIOpReinterpret"),
    ("DIOpConstant(i64 undef), DIOpReinterpret(double)", ""),
    # offsets: of an integral type; what they lead to may be of any size until it is read
    ("DIOpReferrer(i64), DIOpConstant(i32 8), DIOpBitOffset(i8)", ""),
    ("DIOpReferrer(i64), DIOpConstant(i32 60), DIOpBitOffset(i32)", ""),
    ("DIOpReferrer(i64), DIOpConstant(i32 -8), DIOpBitOffset(i8)", ""),
    ("DIOpReferrer(i64), DIOpArg(0, i32), DIOpBitOffset(i8)", ""),
    ("DIOpReferrer(i64), DIOpPushLane(i32), DIOpByteOffset(i8)", ""),
    ("DIOpReferrer(i64), DIOpConstant(i1 true), DIOpByteOffset(i8)", ""),
    ("DIOpReferrer(i64), DIOpConstant(i8 undef), DIOpBitOffset(i8)", "read"),
    ("DIOpReferrer(i64), DIOpConstant(i8 undef), DIOpByteOffset(i8)", "read"),
    ("DIOpReferrer(i64), DIOpConstant(double 1.0), DIOpByteOffset(i8)", "DIOpByteOffset"),
    ("DIOpReferrer(i64), DIOpConstant(<1 x i8> <i8 1>), DIOpBitOffset(i8)", "DIOpBitOffset"),
    ("DIOpReferrer(i64), DIOpConstant(ptr null), DIOpBitOffset(i8)", "DIOpBitOffset"),
    ("DIOpConstant(i64 undef), DIOpConstant(i8 8), DIOpBitOffset(i8)", ""),
    # DIOpComposite
    ("DIOpArg(0, i32), DIOpConstant(i32 0), DIOpComposite(2, i64)", ""),
    ("DIOpArg(0, i32), DIOpComposite(1, float)", ""),
    ("DIOpConstant(i8 0), DIOpConstant(i16 1), DIOpComposite(2, i24)", ""),
    ("DIOpConstant(i8 undef), DIOpConstant(i8 1), DIOpComposite(2, i16)", ""),
    ("DIOpComposite(0, {})", ""),
    ("DIOpComposite(0, [0 x i8])", ""),
    ("DIOpComposite(0, i8)", "DIOpComposite"),
    ("DIOpConstant(i8 0), DIOpConstant(i8 1), DIOpComposite(2, i8)", "DIOpComposite"),
    ("DIOpConstant(i8 0), DIOpConstant(i8 1), DIOpComposite(2, i32)", "DIOpComposite"),
    ("DIOpConstant(i8 0), DIOpConstant(i8 1), DIOpComposite(2, { i8, i32 })", "DIOpComposite"),
    ("DIOpReferrer(i64), DIOpReinterpret(double), DIOpReferrer(i64), DIOpComposite(2, i128)", "DIOpComposite"),
    ("DIOpReferrer(i64), DIOpRead(), DIOpReferrer(i64), DIOpComposite(2, i128)", ""),
    ("DIOpReferrer(i64), DIOpRead(), DIOpReferrer(i64), DIOpRead(), DIOpComposite(2, i128)", ""),
    ("DIOpArg(0, i32), DIOpArg(0, i32), DIOpComposite(2, i64)", "DIOpComposite"),
    ("DIOpArg(0, i32), DIOpArg(0, i32), DIOpConvert(i32), DIOpComposite(2, i64)", ""),
    ("DIOpReferrer(i64), DIOpConstant(i8 0), DIOpBitOffset(i32), DIOpReferrer(i64), DIOpConstant(i8 32), DIOpBitOffset(i32), DIOpComposite(2, i64)", ""),
    ("DIOpReferrer(i64), DIOpConstant(i8 0), DIOpBitOffset(i32), DIOpReferrer(i64), DIOpConstant(i8 31), DIOpBitOffset(i32), DIOpComposite(2, i64)", "DIOpComposite"),
    ("DIOpReferrer(i64), DIOpConstant(i8 4), DIOpByteOffset(i32), DIOpReferrer(i64), DIOpConstant(i8 32), DIOpBitOffset(i32), DIOpComposite(2, i64)", "DIOpComposite"),
    ("DIOpArg(0, i32), DIOpConstant(i8 0), DIOpComposite(2, i40), DIOpArg(0, i32), DIOpComposite(2, i72)", "DIOpComposite"),
    # the same memory twice, which constants show
    ("DIOpConstant(ptr null), DIOpDeref(i8), DIOpConstant(ptr null), DIOpDeref(i8), DIOpComposite(2, i16)", "DIOpComposite"),
    ("DIOpReferrer(ptr), DIOpDeref(i8), DIOpReferrer(ptr), DIOpDeref(i8), DIOpComposite(2, i16)", "DIOpComposite"),
    ("DIOpReferrer(ptr), DIOpDeref(i8), DIOpReferrer(ptr), DIOpDeref(i8), DIOpConstant(i8 8), DIOpBitOffset(i8), DIOpComposite(2, i16)", ""),
    # DIOpExtend
    ("DIOpConstant(i8 0), DIOpExtend(64)", ""),
    ("DIOpReferrer(double), DIOpExtend(2)", ""),
    ("DIOpReferrer(ptr), DIOpExtend(2)", ""),
    ("DIOpConstant(i64 undef), DIOpExtend(2)", ""),
    ("DIOpConstant(i8 0), DIOpExtend(1)", ""),
    ("DIOpConstant(i8 0), DIOpExtend(0)", "DIOpExtend"),
    ("DIOpReferrer(<2 x i32>), DIOpExtend(2)", "DIOpExtend"),
    ("DIOpReferrer({ i32, i32 }), DIOpExtend(2)", "DIOpExtend"),
    # DIOpSelect
    ("DIOpConstant(i8 0), DIOpExtend(8), DIOpConstant(i8 1), DIOpExtend(8), DIOpConstant(i8 1), DIOpSelect()", ""),
    ("DIOpConstant(i8 0), DIOpExtend(8), DIOpConstant(i8 1), DIOpExtend(8), DIOpReferrer(i64), DIOpSelect()", ""),
    ("DIOpConstant(i8 0), DIOpExtend(8), DIOpConstant(i8 1), DIOpExtend(8), DIOpReferrer(i64), DIOpReinterpret(<64 x i1>), DIOpSelect()", ""),
    ("DIOpConstant(i8 0), DIOpExtend(8), DIOpConstant(i8 1), DIOpExtend(8), DIOpConstant(i7 1), DIOpSelect()", "DIOpSelect"),
    ("DIOpConstant(i8 0), DIOpExtend(8), DIOpConstant(i8 1), DIOpExtend(8), DIOpConstant(i8 undef), DIOpSelect()", "read"),
    ("DIOpConstant(i8 0), DIOpExtend(8), DIOpConstant(i8 1), DIOpExtend(9), DIOpConstant(i16 1), DIOpSelect()", "DIOpSelect"),
    ("DIOpConstant(i8 0), DIOpConstant(i8 1), DIOpConstant(i8 1), DIOpSelect()", "DIOpSelect"),
    ("DIOpConstant(i64 undef), DIOpExtend(2), DIOpReferrer(i64), DIOpExtend(2), DIOpConstant(i8 1), DIOpSelect()", ""),
    # implicit addresses: DIOpDeref and nothing else
    ("DIOpReferrer(i64), DIOpAddrOf(5)", ""),
    ("DIOpReferrer(i64), DIOpAddrOf(0)", ""),
    ("DIOpReferrer(i64), DIOpAddrOf(16777215)", ""),
    ("DIOpConstant(i64 5), DIOpAddrOf(5), DIOpDeref(i64)", ""),
    ("DIOpConstant(i64 undef), DIOpAddrOf(5)", ""),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpDeref(i64)", ""),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpDeref(i32)", "DIOpDeref"),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpDeref(double)", "DIOpDeref"),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpAddrOf(5)", "DIOpAddrOf"),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpRead()", "DIOpAddrOf"),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpReinterpret(i32)", "DIOpAddrOf"),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpConvert(i64)", "DIOpAddrOf"),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpExtend(2)", "DIOpAddrOf"),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpComposite(1, i32)", "DIOpAddrOf"),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpConstant(i8 0), DIOpBitOffset(i8)", "DIOpAddrOf"),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpConstant(ptr addrspace(5) null), DIOpAdd()", "DIOpAddrOf"),
    # DIOpDeref
    ("DIOpReferrer(ptr), DIOpDeref(i8)", ""),
    ("DIOpReferrer(ptr addrspace(1)), DIOpDeref([100 x i64])", ""),
    ("DIOpReferrer(ptr), DIOpDeref(ptr), DIOpDeref(i8)", ""),
    ("DIOpConstant(ptr addrspace(5) null), DIOpDeref(i32)", ""),
    ("DIOpReferrer(i64), DIOpDeref(i8)", "DIOpDeref"),
    ("DIOpReferrer(<1 x ptr>), DIOpDeref(i8)", "DIOpDeref"),
    ("DIOpReferrer(ptr), DIOpDeref(void)", "DIOpDeref"),
    ("DIOpConstant(ptr undef), DIOpDeref(i8)", "read"),
    # reading what is there, beyond it, and what is undefined
    ("DIOpReferrer(i64), DIOpRead()", ""),
    ("DIOpReferrer({ i32, i32 }), DIOpRead()", ""),
    ("DIOpReferrer(i64), DIOpConstant(i8 32), DIOpBitOffset(i32), DIOpRead()", ""),
    ("DIOpReferrer(i64), DIOpConstant(i8 33), DIOpBitOffset(i32), DIOpRead()", "read"),
    ("DIOpReferrer(i64), DIOpConstant(i8 8), DIOpByteOffset(i8), DIOpRead()", "read"),
    ("DIOpReferrer(i64), DIOpConstant(i8 -1), DIOpBitOffset(i8), DIOpRead()", "read"),
    ("DIOpConstant(i8 0), DIOpConstant(i8 0), DIOpBitOffset(i16), DIOpRead()", "read"),
    ("DIOpConstant(i8 0), DIOpConstant(i8 1), DIOpComposite(2, i16), DIOpConstant(i8 8), DIOpBitOffset(i8), DIOpRead()", ""),
    ("DIOpConstant(i8 0), DIOpConstant(i8 1), DIOpComposite(2, i16), DIOpConstant(i8 9), DIOpBitOffset(i8), DIOpRead()", "read"),
    ("DIOpConstant(i8 0), DIOpExtend(2), DIOpConstant(i8 2), DIOpByteOffset(i8), DIOpRead()", "read"),
    ("DIOpReferrer(i64), DIOpReferrer(i64), DIOpShl(), DIOpConstant(i8 8), DIOpByteOffset(i8), DIOpRead()", "read"),
    ("DIOpPushLane(i32), DIOpConstant(i8 1), DIOpBitOffset(i32), DIOpRead()", "read"),
    ("DIOpReferrer(ptr), DIOpDeref(i8), DIOpConstant(i16 1000), DIOpByteOffset(i64), DIOpRead()", ""),
    ("DIOpConstant(i64 undef), DIOpRead()", "read"),
    ("DIOpConstant(i64 undef), DIOpConvert(i8)", "read"),
    ("DIOpConstant(i64 undef), DIOpReferrer(i64), DIOpAdd()", "read"),
    ("DIOpReferrer(i64), DIOpConstant(i64 undef), DIOpShl()", "read"),
    ("DIOpConstant(i64 undef), DIOpReinterpret(double), DIOpRead()", "read"),
    ("DIOpConstant(i64 undef), DIOpConstant(i8 8), DIOpBitOffset(i8), DIOpRead()", "read"),
    ("DIOpConstant(i8 undef), DIOpConstant(i8 1), DIOpComposite(2, i16), DIOpRead()", "read"),
    ("DIOpConstant(i8 undef), DIOpConstant(i8 1), DIOpComposite(2, i16), DIOpConstant(i8 8), DIOpBitOffset(i8), DIOpRead()", ""),
    ("DIOpConstant(i8 undef), DIOpConstant(i8 1), DIOpComposite(2, i16), DIOpConstant(i8 7), DIOpBitOffset(i8), DIOpRead()", "read"),
    ("DIOpConstant(i8 undef), DIOpExtend(4), DIOpRead()", "read"),
    ("DIOpConstant(i64 undef), DIOpAddrOf(5), DIOpDeref(i64), DIOpRead()", "read"),
    ("DIOpArg(1, i64), DIOpRead()", "read"),
    # arithmetic: two entries of one type
    *((f"DIOpReferrer(i64), DIOpConstant(i64 3), DIOp{name}()", "") for name in ("Add", "Sub", "Mul", "Div", "Shr", "Shl")),
    *((f"DIOpReferrer(double), DIOpConstant(double 3.0), DIOp{name}()", "") for name in ("Add", "Sub", "Mul", "Div")),
    *((f"DIOpReferrer(double), DIOpConstant(double 3.0), DIOp{name}()", f"DIOp{name}") for name in ("Shr", "Shl")),
    *((f"DIOpReferrer(<2 x i32>), DIOpReferrer(<2 x i32>), DIOp{name}()", f"DIOp{name}") for name in ("Shr", "Shl")),
    *((f"DIOpReferrer(ptr), DIOpReferrer(ptr), DIOp{name}()", f"DIOp{name}") for name in ("Shr", "Shl")),
    *((f"DIOpReferrer(i64), DIOpConstant(i32 3), DIOp{name}()", f"DIOp{name}") for name in ("Add", "Sub", "Mul", "Div", "Shr", "Shl")),
    ("DIOpReferrer(i64), DIOpReferrer(double), DIOpAdd()", "DIOpAdd"),
    ("DIOpReferrer(ptr), DIOpReferrer(ptr addrspace(1)), DIOpAdd()", "DIOpAdd"),
    ("DIOpReferrer(<2 x i32>), DIOpReferrer(<4 x i16>), DIOpAdd()", "DIOpAdd"),
    ("DIOpReferrer([8 x i8]), DIOpReferrer([8 x i8]), DIOpAdd()", "DIOpAdd"),
    # DIOpPushLane
    ("DIOpPushLane(i32)", ""),
    ("DIOpPushLane(i64)", ""),
    ("DIOpPushLane(double)", "DIOpPushLane"),
    ("DIOpPushLane(ptr)", "DIOpPushLane"),
    ("DIOpPushLane(<2 x i32>)", "DIOpPushLane"),
]  # fmt: skip


@pytest.mark.parametrize(("operations", "rule"), EXPRESSIONS)
def test_expressions(operations: str, rule: str) -> None:
    assert rules(bounded(operations)) == ([rule] if rule else [])


UNSIGNED = ["DIOpArg(-1, i32)", "DIOpConstant(i8 0), DIOpExtend(-1)", "DIOpReferrer(i64), DIOpAddrOf(-1)"]


@pytest.mark.parametrize("operations", UNSIGNED)
def test_unsigned_parameters(operations: str) -> None:
    with pytest.raises(llvmdi.ReadError, match="expected a number that is not negative"):
        rules(bounded(operations))


X = '!1 = !DILocalVariable("x")\n'
F = "!3 = distinct !DIFragment()\n"
G = "!5 = distinct !DIFragment()\n"
DEF = " call void @llvm.dbg.def(metadata {}, metadata i64 %v)\n"
KILL = " call void @llvm.dbg.kill(metadata {})\n"
ONE = "!DIExpr(DIOpConstant(i64 1))"
REFERRER = "!DIExpr(DIOpReferrer(i64))"


def life(name: str, object: str, location: str = ONE, inputs: str | None = None) -> str:
    arguments = "" if inputs is None else f", argObjects: {{{inputs}}}"
    return f"{name} = distinct !DILifetime(object: {object}, location: {location}{arguments})\n"


def function(*blocks: str, name: str = "f", after: str = "") -> str:
    """A function of blocks "label: instructions"; a line "-> a b" ends one with a branch, a block without it returns.
    """
    lines = [f"define void @{name}(i1 %c, i64 %v){after} {{"]
    for block in blocks:
        label, _, body = block.partition(":")
        body, _, targets = body.partition("->")
        names = [f"label %{target}" for target in targets.split()]
        end = f" br i1 %c, {', '.join(names)}" if len(names) == 2 else f" br {names[0]}" if names else " ret void"
        for word, text in (("def", DEF), ("kill", KILL)):
            body = body.replace(f" {word} !2", "\n" + text.format("!2").rstrip()).replace(
                f" {word} !4", "\n" + text.format("!4").rstrip()
            )
        lines += [f"{label}:", *(line for line in body.strip("\n").splitlines() if line.strip()), end]
    return "\n".join([*lines, "}", ""])


DEFINED = X + life("!2", "!1", REFERRER)

MODULES = {
    # DILifetime: fields
    "computed": (X + life("!2", "!1"), []),
    "computed with no inputs": (X + life("!2", "!1", inputs=""), []),
    "an object without lifetimes": (X, []),
    "no object": (X + f"!2 = distinct !DILifetime(location: {ONE})\n", ["DILifetime", "lifetime graph"]),
    "no location": (X + "!2 = distinct !DILifetime(object: !1)\n", ["DILifetime"]),
    "the object is a label": (
        function("a: call void @llvm.dbg.label(metadata !1)") + '!1 = !DILabel(name: "l")\n' + life("!2", "!1"),
        ["DILifetime", "lifetime graph"],
    ),
    "the object is a type": (
        '!1 = !DIBasicType(name: "int", size: 32)\n' + life("!2", "!1"), ["DILifetime", "lifetime graph"]
    ),
    "not distinct": (X + life("!2", "!1").replace("distinct ", ""), ["DILifetime"]),
    "an input is a variable": (
        X + '!3 = !DILocalVariable("y")\n' + life("!2", "!1", "!DIExpr(DIOpArg(0, i64))", "!3") + life("!4", "!3"), []
    ),
    "an input is a lifetime": (X + life("!2", "!1", inputs="!4") + '!3 = !DILocalVariable("y")\n' + life("!4", "!3"), ["DILifetime"]),
    "an input is a type": (X + life("!2", "!1", inputs="!3") + '!3 = !DIBasicType(name: "int", size: 32)\n', ["DILifetime"]),
    "an input twice": (
        X + F + life("!2", "!1", "!DIExpr(DIOpArg(0, i64), DIOpArg(1, i64), DIOpAdd())", "!3, !3") + life("!4", "!3"), []
    ),
    "a referrer of a computed segment": (X + life("!2", "!1", REFERRER), ["DIOpReferrer"]),
    # DIFragment and DIExprCode
    "a fragment not distinct": (X + "!3 = !DIFragment()\n" + life("!2", "!1", inputs="!3"), ["DIFragment"]),
    "a code location": (
        X + "!3 = distinct !DIExprCode()\n" + life("!2", "!1", "!DIExpr(DIOpArg(0, i64))", "!3")
        + function("a: call void @llvm.dbg.label(metadata !3)"), []
    ),
    "a code location without label": (X + "!3 = distinct !DIExprCode()\n" + life("!2", "!1", inputs="!3"), ["llvm.dbg.label"]),
    "a code location with two labels": (
        X + "!3 = distinct !DIExprCode()\n" + life("!2", "!1", inputs="!3")
        + function("a: call void @llvm.dbg.label(metadata !3)\n -> b", "b: call void @llvm.dbg.label(metadata !3)"),
        ["llvm.dbg.label"],
    ),
    "the size of a code location": (
        X + "!3 = distinct !DIExprCode()\n" + life("!2", "!1", "!DIExpr(DIOpArg(0, i32))", "!3")
        + function("a: call void @llvm.dbg.label(metadata !3)"), ["DIOpArg"]
    ),
    "a label that nobody uses": (function("a: call void @llvm.dbg.label(metadata !1)") + '!1 = !DILabel(name: "l")\n', []),
    # bounded segments
    "bounded": (function("a: def !2") + DEFINED, []),
    "bounded and killed": (function("a: def !2 kill !2") + DEFINED, []),
    "two definitions": (function("a: def !2 def !2") + DEFINED, ["bounded lifetime segment"]),
    "two definitions on two paths": (
        function("a: -> b c", "b: def !2", "c: def !2") + DEFINED, ["bounded lifetime segment"]
    ),
    "definitions in two functions": (
        function("a: def !2") + function("a: def !2", name="g") + DEFINED, ["bounded lifetime segment"]
    ),
    "a kill without definition": (function("a: kill !2") + X + life("!2", "!1"), ["bounded lifetime segment"]),
    "kill before definition": (function("a: kill !2 def !2") + DEFINED, ["llvm.dbg.kill"]),
    "kill in a block before": (function("a: kill !2 -> b", "b: def !2") + DEFINED, ["llvm.dbg.kill"]),
    "kill in another branch": (function("a: -> b c", "b: def !2", "c: kill !2") + DEFINED, ["llvm.dbg.kill"]),
    "kill where paths join": (function("a: def !2 -> b c", "b: -> d", "c: -> d", "d: kill !2") + DEFINED, []),
    "kill on one path": (function("a: def !2 -> b c", "b: kill !2", "c:") + DEFINED, []),
    "kill on both paths": (function("a: def !2 -> b c", "b: kill !2", "c: kill !2") + DEFINED, []),
    "kill on one path and behind both": (
        function("a: def !2 -> b c", "b: kill !2 -> d", "c: -> d", "d: kill !2") + DEFINED, []
    ),
    "kill on both paths and behind them": (
        function("a: def !2 -> b c", "b: kill !2 -> d", "c: kill !2 -> d", "d: kill !2") + DEFINED, ["llvm.dbg.kill"]
    ),
    "kill twice in a row": (function("a: def !2 kill !2 kill !2") + DEFINED, ["llvm.dbg.kill"]),
    "kill behind a loop": (function("a: def !2 -> b", "b: -> b c", "c: kill !2") + DEFINED, []),
    "kill in a loop": (function("a: def !2 -> b", "b: kill !2 -> b c", "c:") + DEFINED, []),
    "kill before definition in a loop": (function("a: -> b", "b: kill !2 def !2 -> b c", "c:") + DEFINED, []),
    "kill in a block that nothing reaches": (
        function("a: def !2", "b: kill !2") + DEFINED, ["llvm.dbg.kill"]
    ),
    "kill in another function": (function("a: def !2") + function("a: kill !2", name="g") + DEFINED, ["llvm.dbg.kill"]),
    "two segments of one object": (
        function("a: def !2 def !4") + DEFINED + life("!4", "!1", REFERRER), []
    ),
    "bounded and computed": (function("a: def !2") + DEFINED + life("!4", "!1"), []),
    "kills on two ways out of three": (
        "define void @f(i32 %c, i64 %v) {\na:\n" + DEF.format("!2")
        + " switch i32 %c, label %b [ i32 0, label %d i32 1, label %e ]\nb:\n ret void\nd:\n" + KILL.format("!2")
        + " br label %e\ne:\n" + KILL.format("!2") + " ret void\n}\n" + DEFINED, []
    ),
    "kills in both ends of an invoke": (
        "define void @f(i64 %v) personality ptr null {\na:\n" + DEF.format("!2")
        + " invoke void @g() to label %b unwind label %d\nb:\n" + KILL.format("!2") + " ret void\nd:\n"
        " %l = landingpad { ptr, i32 } cleanup\n" + KILL.format("!2") + " resume { ptr, i32 } %l\n}\n" + DEFINED, []
    ),
    "kill before definition, round a loop": (
        function("a: -> b", "b: kill !2 -> c d", "c: def !2 -> b", "d:") + DEFINED, []
    ),
    "kill behind two blocks with kills": (
        function("a: def !2 -> b c", "b: kill !2 -> d", "c: kill !2 -> d", "d: -> e", "e: kill !2") + DEFINED,
        ["llvm.dbg.kill"],
    ),
    "a kill after another in a loop": (
        function("a: def !2 -> b", "b: kill !2 -> c", "c: kill !2 -> b") + DEFINED, ["llvm.dbg.kill"]
    ),
    "a segment in blocks that nothing reaches": (function("a:", "b: def !2 kill !2") + DEFINED, []),
    # intrinsics
    "def of a variable": (function("a: call void @llvm.dbg.def(metadata !1, metadata i64 %v)") + X, ["intrinsics"]),
    "def of metadata": (
        function("a: call void @llvm.dbg.def(metadata !2, metadata !1)") + X + life("!2", "!1"), ["intrinsics"]
    ),
    "def of undef": (
        function("a: call void @llvm.dbg.def(metadata !2, metadata i64 undef)") + X + life("!2", "!1"), []
    ),
    "def of undef that is used": (
        function("a: call void @llvm.dbg.def(metadata !2, metadata i64 undef)") + DEFINED, []
    ),
    "def of undef that is read": (
        function("a: call void @llvm.dbg.def(metadata !2, metadata i64 undef)") + X
        + life("!2", "!1", "!DIExpr(DIOpReferrer(i64), DIOpRead())"), ["read"]
    ),
    "def of a constant": (
        function("a: call void @llvm.dbg.def(metadata !2, metadata i64 7)") + DEFINED, []
    ),
    "def of a value of another type": (
        function("a: call void @llvm.dbg.def(metadata !2, metadata double %v)") + X
        + life("!2", "!1", "!DIExpr(DIOpReferrer(double))"), ["llvm.dbg.def"]
    ),
    "def of a value that is not there": (
        function("a: call void @llvm.dbg.def(metadata !2, metadata i64 %nothing)") + DEFINED, ["llvm.dbg.def"]
    ),
    "kill of a variable": (function("a: call void @llvm.dbg.kill(metadata !1)") + X, ["intrinsics"]),
    "label of a variable": (function("a: call void @llvm.dbg.label(metadata !1)") + X, ["intrinsics"]),
    "pseudo MIR": ("DBG_DEF !2, $vgpr0\nnop\nDBG_KILL !2\n" + DEFINED, []),
    "pseudo MIR of a constant": ("DBG_DEF !2, i64 7\nnop\n" + DEFINED, []),
    "pseudo MIR, label of a lifetime": ("DBG_LABEL !2\n" + X + life("!2", "!1"), ["intrinsics"]),
    "fields that a lifetime has not": (
        X + life("!2", "!1").replace("object", "size: 4, object"), ["DILifetime"]
    ),
    "fields that a fragment has not": (
        X + life("!2", "!1", inputs="!3") + '!3 = distinct !DIFragment(name: "f")\n', ["DIFragment"]
    ),
    "no object at all": (f"!2 = distinct !DILifetime(object: null, location: {ONE})\n", ["DILifetime", "lifetime graph"]),
    "no location at all": (X + life("!2", "!1", "null"), ["DILifetime"]),
    "no input at all": (X + life("!2", "!1", inputs="null"), ["DILifetime"]),
    "inputs in a node of their own": (
        X + F + "!2 = distinct !DILifetime(object: !1, location: !DIExpr(DIOpArg(0, i64)), argObjects: !9)\n!9 = !{!3}\n"
        + life("!4", "!3"), []
    ),
    "one expression of two": (
        X + '!3 = !DILocalVariable("y")\n!9 = !DIExpr(DIOpConstant(i64 1))\n' + life("!2", "!1", "!9")
        + life("!4", "!3", "!9"), []
    ),
    # global variables
    "a global's fragment": (
        '@g = global i64 0, !dbg.def !3\n!1 = !DIGlobalVariable("g")\n' + F
        + life("!2", "!1", "!DIExpr(DIOpArg(0, ptr), DIOpDeref(i64))", "!3") + "!llvm.dbg.retainedNodes = !{!2}\n", []
    ),
    "a global's fragment has the size of a pointer": (
        '@g = global i64 0, !dbg.def !3\n!1 = !DIGlobalVariable("g")\n' + F
        + life("!2", "!1", "!DIExpr(DIOpArg(0, i32))", "!3") + "!llvm.dbg.retainedNodes = !{!2}\n", ["DIOpArg"]
    ),
    "a fragment of two globals": (
        '@g = global i64 0, !dbg.def !3\n@h = global i64 0, !dbg.def !3\n!1 = !DIGlobalVariable("g")\n' + F
        + life("!2", "!1", inputs="!3") + "!llvm.dbg.retainedNodes = !{!2}\n", ["global variable"]
    ),
    "a global's fragment with a lifetime": (
        '@g = global i64 0, !dbg.def !3\n!1 = !DIGlobalVariable("g")\n' + F + life("!2", "!1", inputs="!3")
        + life("!4", "!3") + "!llvm.dbg.retainedNodes = !{!2, !4}\n", ["global variable"]
    ),
    "a global's fragment that nobody uses": ("@g = global i64 0, !dbg.def !3\n" + F, ["lifetime graph"]),
    "a global's dbg.def of a variable": (
        '@g = global i64 0, !dbg.def !1\n!1 = !DIGlobalVariable("g")\n', ["global variable"]
    ),
    # type properties
    "a property": (
        "!1 = !DICompositeType(tag: DW_TAG_array_type, size: 64, dataLocation: !3)\n" + F
        + life("!4", "!3", "!DIExpr(DIOpTypeObject(i64))"), []
    ),
    "an object of another size": (
        "!1 = !DICompositeType(tag: DW_TAG_array_type, size: 64, dataLocation: !3)\n" + F
        + life("!4", "!3", "!DIExpr(DIOpTypeObject(i32))"), ["DIOpTypeObject"]
    ),
    "a property of two types": (
        "!1 = !DICompositeType(tag: DW_TAG_array_type, size: 64, rank: !3)\n"
        "!2 = !DICompositeType(tag: DW_TAG_array_type, size: 32, rank: !3)\n" + F + life("!4", "!3"), ["DICompositeType"]
    ),
    "a property in two fields": (
        "!1 = !DICompositeType(tag: DW_TAG_array_type, size: 64, rank: !3, associated: !3)\n" + F + life("!4", "!3"),
        ["DICompositeType"],
    ),
    "two properties": (
        "!1 = !DICompositeType(tag: DW_TAG_array_type, size: 64, rank: !3, associated: !5)\n" + F + G + life("!4", "!3")
        + life("!6", "!5"), []
    ),
    "a property as an input": (
        "!7 = !DICompositeType(tag: DW_TAG_array_type, size: 64, rank: !3)\n" + F + life("!4", "!3") + X
        + life("!2", "!1", inputs="!3"), ["DICompositeType"]
    ),
    "an object of a variable": (X + life("!2", "!1", "!DIExpr(DIOpTypeObject(i64))"), ["DIOpTypeObject"]),
    "an object of a fragment that a property uses": (
        "!7 = !DICompositeType(tag: DW_TAG_array_type, size: 64, rank: !3)\n" + F
        + life("!4", "!3", "!DIExpr(DIOpArg(0, i64))", "!5") + G + life("!6", "!5", "!DIExpr(DIOpTypeObject(i64))"), []
    ),
    "an object of a fragment that a variable uses too": (
        "!7 = !DICompositeType(tag: DW_TAG_array_type, size: 64, rank: !3)\n" + F
        + life("!4", "!3", "!DIExpr(DIOpArg(0, i64))", "!5") + G + life("!6", "!5", "!DIExpr(DIOpTypeObject(i64))")
        + X + life("!2", "!1", "!DIExpr(DIOpArg(0, i64))", "!5"), ["DIOpTypeObject"]
    ),
    # the lifetime graph
    "of itself": (X + life("!2", "!1", inputs="!1"), ["lifetime graph"]),
    "fragments of each other": (
        X + F + G + life("!2", "!1", inputs="!3") + life("!4", "!3", inputs="!5") + life("!6", "!5", inputs="!3"),
        ["lifetime graph"],
    ),
    "a chain": (X + F + G + life("!2", "!1", inputs="!3") + life("!4", "!3", inputs="!5") + life("!6", "!5"), []),
    "a fragment of two": (
        X + F + life("!2", "!1", inputs="!3") + '!5 = !DILocalVariable("y")\n' + life("!6", "!5", inputs="!3")
        + life("!4", "!3"), []
    ),
    "a fragment alone": (F, ["lifetime graph"]),
    "a fragment and its lifetime alone": (F + life("!4", "!3"), ["lifetime graph"]),
    "a code location alone": (
        function("a: call void @llvm.dbg.label(metadata !3)") + "!3 = distinct !DIExprCode()\n", ["lifetime graph"]
    ),
    "fragments of each other alone": (F + G + life("!4", "!3", inputs="!5") + life("!6", "!5", inputs="!3"), ["lifetime graph"]),
    # what has to be retained
    "a variable that is retained": (
        function("a: def !2", after=" !dbg !9") + DEFINED.replace('("x")', '(name: "x", scope: !9)')
        + "!9 = distinct !DISubprogram(retainedNodes: !{!1})\n", []
    ),
    "a variable that is not retained": (
        function("a: def !2", after=" !dbg !9") + DEFINED.replace('("x")', '(name: "x", scope: !9)')
        + "!9 = distinct !DISubprogram(retainedNodes: !{})\n", ["DISubprogram"]
    ),
    "a variable without retained nodes": (
        function("a: def !2", after=" !dbg !9") + DEFINED.replace('("x")', '(name: "x", scope: !9)')
        + "!9 = distinct !DISubprogram()\n", ["DISubprogram"]
    ),
    "a label that is retained": (
        function("a: call void @llvm.dbg.label(metadata !1)", after=" !dbg !9") + '!1 = !DILabel(name: "l", scope: !9)\n'
        + '!3 = !DILocalVariable("y")\n' + life("!4", "!3") + "!9 = distinct !DISubprogram(retainedNodes: !{!1, !4})\n", []
    ),
    "a label that is not retained": (
        function("a: call void @llvm.dbg.label(metadata !1)", after=" !dbg !9") + '!1 = !DILabel(name: "l", scope: !9)\n'
        + '!3 = !DILocalVariable("y")\n' + life("!4", "!3") + "!9 = distinct !DISubprogram(retainedNodes: !{!4})\n",
        ["DISubprogram"],
    ),
    "a computed segment that is not retained": (
        '!1 = !DILocalVariable(name: "x", scope: !9)\n' + life("!2", "!1")
        + "!9 = distinct !DISubprogram(retainedNodes: !{!1})\n", ["DISubprogram"]
    ),
    "a computed segment that is retained": (
        '!1 = !DILocalVariable(name: "x", scope: !9)\n' + life("!2", "!1")
        + "!9 = distinct !DISubprogram(retainedNodes: !{!1, !2})\n", []
    ),
    "a computed segment of two functions": (
        '!1 = !DILocalVariable(name: "x", scope: !9)\n!3 = !DILocalVariable(name: "y", scope: !8)\n'
        + life("!2", "!1", inputs="!3") + "!9 = distinct !DISubprogram(retainedNodes: !{!1, !2})\n"
        "!8 = distinct !DISubprogram(retainedNodes: !{!3})\n", ["DISubprogram"]
    ),
    "a computed segment of two functions, of the module": (
        '!1 = !DILocalVariable(name: "x", scope: !9)\n!3 = !DILocalVariable(name: "y", scope: !8)\n'
        + life("!2", "!1", inputs="!3") + "!9 = distinct !DISubprogram(retainedNodes: !{!1})\n"
        "!8 = distinct !DISubprogram(retainedNodes: !{!3})\n!llvm.dbg.retainedNodes = !{!2}\n", []
    ),
    "a code location that is retained": (
        '!1 = !DILocalVariable(name: "x", scope: !9)\n!3 = distinct !DIExprCode()\n'
        + life("!2", "!1", "!DIExpr(DIOpArg(0, i64))", "!3")
        + function("a: call void @llvm.dbg.label(metadata !3)", after=" !dbg !9")
        + "!9 = distinct !DISubprogram(retainedNodes: !{!1, !2, !3})\n", []
    ),
    "a code location that is not retained": (
        '!1 = !DILocalVariable(name: "x", scope: !9)\n!3 = distinct !DIExprCode()\n'
        + life("!2", "!1", "!DIExpr(DIOpArg(0, i64))", "!3")
        + function("a: call void @llvm.dbg.label(metadata !3)", after=" !dbg !9")
        + "!9 = distinct !DISubprogram(retainedNodes: !{!1, !2})\n", ["DISubprogram"]
    ),
    "a global by way of a local variable, retained in the function": (
        '!1 = !DIGlobalVariable("g")\n!3 = !DILocalVariable(name: "y", scope: !9)\n'
        + life("!2", "!1", "!DIExpr(DIOpArg(0, i64))", "!3") + "!9 = distinct !DISubprogram(retainedNodes: !{!2, !3})\n", []
    ),
    "a global by way of a local variable, retained in the module": (
        '!1 = !DIGlobalVariable("g")\n!3 = !DILocalVariable(name: "y", scope: !9)\n'
        + life("!2", "!1", "!DIExpr(DIOpArg(0, i64))", "!3") + "!9 = distinct !DISubprogram(retainedNodes: !{!3})\n"
        "!llvm.dbg.retainedNodes = !{!2}\n", ["DISubprogram"]
    ),
    "a local variable by way of a global, retained in the function": (
        '!1 = !DILocalVariable(name: "x", scope: !9)\n!3 = !DIGlobalVariable("g")\n'
        + life("!2", "!1", "!DIExpr(DIOpArg(0, i64))", "!3") + life("!4", "!3")
        + "!9 = distinct !DISubprogram(retainedNodes: !{!1, !2})\n!llvm.dbg.retainedNodes = !{!4}\n", ["DISubprogram"]
    ),
    "a global of a unit, retained nowhere": (
        '!1 = !DIGlobalVariable("g")\n' + life("!2", "!1")
        + "!9 = distinct !DICompileUnit(globals: !{!1})\n!llvm.dbg.cu = !{!9}\n", ["DISubprogram"]
    ),
    "a unit that is not listed": (X + life("!2", "!1") + "!9 = distinct !DICompileUnit()\n", ["DICompileUnit"]),
    "a global that is not listed": (
        '!1 = !DIGlobalVariable("g")\n' + life("!2", "!1") + "!llvm.dbg.retainedNodes = !{!2}\n"
        "!9 = distinct !DICompileUnit(globals: !{})\n!llvm.dbg.cu = !{!9}\n", ["DICompileUnit"]
    ),
    "a global that is listed": (
        '!1 = !DIGlobalVariable("g")\n' + life("!2", "!1") + "!llvm.dbg.retainedNodes = !{!2}\n"
        "!9 = distinct !DICompileUnit(globals: !{!1})\n!llvm.dbg.cu = !{!9}\n", []
    ),
    # parts that are the same bits by way of fragments
    "one fragment by way of two": (
        function("a: call void @llvm.dbg.def(metadata !8, metadata i64 %v)") + X + F + G
        + life("!2", "!1", "!DIExpr(DIOpArg(0, i64), DIOpArg(1, i64), DIOpComposite(2, i128))", "!3, !5")
        + life("!4", "!3", "!DIExpr(DIOpArg(0, i64))", "!7") + life("!6", "!5", "!DIExpr(DIOpArg(0, double))", "!7")
        + "!7 = distinct !DIFragment()\n" + life("!8", "!7", REFERRER), ["DIOpComposite"]
    ),
    "one value by way of two": (
        function("a: call void @llvm.dbg.def(metadata !8, metadata i64 %v)") + X + F + G
        + life("!2", "!1", "!DIExpr(DIOpArg(0, i64), DIOpArg(1, i64), DIOpComposite(2, i128))", "!3, !5")
        + life("!4", "!3", "!DIExpr(DIOpArg(0, i64))", "!7") + life("!6", "!5", "!DIExpr(DIOpArg(0, i64), DIOpRead())", "!7")
        + "!7 = distinct !DIFragment()\n" + life("!8", "!7", REFERRER), []
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str) -> None:
    text, broken = MODULES[name]
    assert rules(text) == sorted(broken)


MISCOUNTED = [
    function("a: call void @llvm.dbg.def(metadata !2)") + DEFINED,
    function("a: call void @llvm.dbg.def(metadata !2, metadata i64 %v, metadata i64 %v)") + DEFINED,
    function("a: call void @llvm.dbg.kill()") + DEFINED,
    function("a: call void @llvm.dbg.kill(metadata !2, metadata !2)") + DEFINED,
    function("a: call void @llvm.dbg.label(metadata !1, metadata !1)") + X,
    "DBG_DEF !2\n" + DEFINED,
    "DBG_DEF !2, $vgpr0, $vgpr1\n" + DEFINED,
    "DBG_KILL !2, $vgpr0\n" + DEFINED,
]


@pytest.mark.parametrize("text", MISCOUNTED)
def test_arguments_of_intrinsics(text: str) -> None:
    with pytest.raises(llvmdi.ReadError, match=r"expected \d arguments, found \d"):
        rules(text)


# operations, the value of the referrer, the value of what they locate, and its bits; the lane is 5
VALUES = [
    ("DIOpReferrer(i64)", 5, 5, 64),
    ("DIOpReferrer(i64), DIOpConstant(i64 3), DIOpSub()", 10, 7, 64),
    ("DIOpReferrer(i64), DIOpConstant(i64 3), DIOpDiv()", 10, 3, 64),
    ("DIOpReferrer(i64), DIOpConstant(i64 -3), DIOpDiv()", 10, -3 % 2**64, 64),
    ("DIOpReferrer(i64), DIOpConstant(i64 3), DIOpMul()", 10, 30, 64),
    ("DIOpReferrer(i64), DIOpConstant(i64 3), DIOpShl()", 10, 80, 64),
    ("DIOpReferrer(i64), DIOpConstant(i64 3), DIOpShr()", 80, 10, 64),
    ("DIOpReferrer(i64), DIOpConstant(i64 3), DIOpShr()", -80 % 2**64, -10 % 2**64, 64),
    ("DIOpReferrer(i64), DIOpConstant(i64 70), DIOpShl()", 10, 0, 64),
    ("DIOpReferrer(i64), DIOpConvert(i8)", 0x1FF, 0xFF, 8),
    ("DIOpReferrer(i64), DIOpConvert(i8), DIOpConvert(i32)", 0xFF, 0xFFFFFFFF, 32),
    ("DIOpReferrer(i64), DIOpConstant(i8 8), DIOpBitOffset(i8)", 0x1234, 0x12, 8),
    ("DIOpReferrer(i64), DIOpConstant(i8 1), DIOpByteOffset(i16)", 0x123456, 0x1234, 16),
    ("DIOpReferrer(i64), DIOpConstant(i8 2), DIOpByteOffset(i32), DIOpConstant(i8 -1), DIOpByteOffset(i8)", 0x123456, 0x34, 8),
    ("DIOpConstant(i8 0), DIOpConstant(i8 1), DIOpComposite(2, i16)", 0, 0x100, 16),
    ("DIOpConstant(i8 1), DIOpConstant(i16 2), DIOpConstant(i8 3), DIOpComposite(3, i32)", 0, 0x03000201, 32),
    ("DIOpConstant(i8 7), DIOpExtend(3)", 0, 0x070707, 24),
    ("DIOpConstant(i8 1), DIOpExtend(4), DIOpConstant(i8 2), DIOpExtend(4), DIOpConstant(i4 5), DIOpSelect()", 0, 0x01020102, 32),
    ("DIOpReferrer(i64), DIOpAddrOf(5), DIOpDeref(i64)", 9, 9, 64),
    ("DIOpReferrer(i64), DIOpReinterpret(double), DIOpConvert(i32)", 0x4008000000000000, 3, 32),
    ("DIOpReferrer(i64), DIOpConvert(double)", 3, 0x4008000000000000, 64),
    ("DIOpPushLane(i32)", 0, 5, 32),
    ("DIOpConstant({ i8, i32 } { i8 1, i32 2 })", 0, 2 << 32 | 1, 64),
    ("DIOpConstant(<{ i8, i32 }> <{ i8 1, i32 2 }>)", 0, 0x201, 40),
    ("DIOpConstant([2 x i24] [i24 1, i24 2])", 0, 2 << 32 | 1, 64),
    ("DIOpConstant([3 x i8] c\"a\\62c\")", 0, 0x636261, 24),
    ("DIOpConstant(i16 s0xFF)", 0, 0xFFFF, 16),
    ("DIOpConstant(<2 x i16> <i16 1, i16 -1>), DIOpConvert(<2 x i32>)", 0, 0xFFFFFFFF00000001, 64),
    ("DIOpReferrer(i64), DIOpConstant(i64 64), DIOpShr()", -80 % 2**64, 2**64 - 1, 64),
    ("DIOpConstant(double 300.0), DIOpConvert(i8)", 0, 300 % 256, 8),
    ("DIOpConstant(double 1.0), DIOpConstant(double 0.0), DIOpDiv()", 0, 0x7FF0000000000000, 64),
    ("DIOpReferrer(i64), DIOpPushLane(i32), DIOpByteOffset(i8)", 0x060504030201 << 8, 0x05, 8),
    ("DIOpConstant(float 1.5), DIOpConstant(float 2.25), DIOpMul()", 0, 0x40580000, 32),
]


@pytest.mark.parametrize(("operations", "referrer", "value", "bits"), VALUES)
def test_values(operations: str, referrer: int, value: int, bits: int) -> None:
    module = llvmdi.read_text(bounded(operations))
    info = llvmdi.DebugInfo(module)
    state = llvmdi.State(dwarf.SimpleContext(lane=5), {"%v": referrer, "%w": 1})
    location = llvmdi.Evaluator(info, state).locate(info.objects[0], next(iter(module.functions.values())), 3)
    assert location.read(bits) == value
