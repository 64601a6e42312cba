"""The canonical form: the result of each rewriting of an expression, and expressions that must stay unchanged."""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import pytest

from rocdbg import llvmdi

R = "DIOpReferrer(i64)"


def at(bits: int, type: str, name: str = "Bit") -> str:
    return f"{R}, DIOpConstant(i64 {bits}), DIOp{name}Offset({type})"


CASES = {
    "address cancels": (f"{R}, DIOpAddrOf(5), DIOpDeref(i64)", R),
    "addresses cancel": (f"{R}, DIOpAddrOf(5), DIOpAddrOf(5), DIOpDeref(ptr addrspace(5)), DIOpDeref(i64)", None),
    "address of a composite": (
        f"{R}, DIOpConstant(i8 1), DIOpComposite(2, i72), DIOpAddrOf(5), DIOpDeref(i72)",
        f"{R}, DIOpConstant(i8 1), DIOpComposite(2, i72)",
    ),
    "an address stays": (f"{R}, DIOpAddrOf(5)", f"{R}, DIOpAddrOf(5)"),
    "constants": ("DIOpConstant(i8 100), DIOpConstant(i8 100), DIOpAdd(), DIOpSExt(i64)", "DIOpConstant(i64 -56)"),
    "constants of floats": ("DIOpConstant(float 1.5), DIOpConstant(float 2.0), DIOpMul(), DIOpConvert(i64)", "DIOpConstant(i64 3)"),
    "division by zero": (
        "DIOpConstant(i64 1), DIOpConstant(i64 0), DIOpDiv()", "DIOpConstant(i64 1), DIOpConstant(i64 0), DIOpDiv()"
    ),
    "neutral": (f"{R}, DIOpConstant(i64 0), DIOpAdd(), DIOpConstant(i64 1), DIOpMul()", f"{R}, DIOpRead()"),
    "read twice": (f"{R}, DIOpRead(), DIOpRead()", f"{R}, DIOpRead()"),
    "read of a value": (f"{R}, DIOpConstant(i64 1), DIOpAdd(), DIOpRead()", f"{R}, DIOpConstant(i64 1), DIOpAdd()"),
    "a read of a place stays": (f"{R}, DIOpRead()", f"{R}, DIOpRead()"),
    "types": (f"{R}, DIOpReinterpret(double), DIOpReinterpret(<2 x i32>)", "DIOpReferrer(<2 x i32>)"),
    "no offset": (at(0, "double"), "DIOpReferrer(double)"),
    "offsets add up": (
        f"{at(8, 'i56')}, DIOpConstant(i8 2), DIOpByteOffset(i8)",
        f"{R}, DIOpConstant(i64 3), DIOpByteOffset(i8)",
    ),
    "an offset into a part that is one": (
        "DIOpConstant(i16 6), DIOpConstant(i8 0), DIOpBitOffset(i8), DIOpConstant(i64 0), DIOpConvert(i5), "
        "DIOpComposite(2, i13), DIOpConstant(i16 1), DIOpBitOffset(i1)",
        "DIOpConstant(i16 6), DIOpConstant(i64 1), DIOpBitOffset(i1)",
    ),
    "nested composites": (
        f"{at(0, 'i8')}, {at(8, 'i8')}, DIOpConstant(i8 1), DIOpComposite(2, i16), DIOpComposite(2, i24)",
        f"{R}, DIOpConstant(i64 0), DIOpByteOffset(i16), DIOpConstant(i8 1), DIOpComposite(2, i24)",
    ),
    "neighbours": (f"{at(0, 'i32')}, {at(4, 'i32', 'Byte')}, DIOpComposite(2, i64)", R),
    "neighbours, not all": (f"{at(8, 'i8')}, {at(16, 'i8')}, DIOpComposite(2, i16)", f"{R}, DIOpConstant(i64 1), DIOpByteOffset(i16)"),
    "neighbours the wrong way round": (
        f"{at(32, 'i32')}, {at(0, 'i32')}, DIOpComposite(2, i64)",
        f"{at(4, 'i32', 'Byte')}, {at(0, 'i32', 'Byte')}, DIOpComposite(2, i64)",
    ),
    "constants next to each other": ("DIOpConstant(i8 1), DIOpConstant(i8 2), DIOpComposite(2, i16)", "DIOpConstant(i16 513)"),
    "undefined next to undefined": (
        f"DIOpConstant(i8 undef), DIOpConstant(i8 undef), {R}, DIOpComposite(3, i80)",
        f"DIOpConstant(i16 undef), {R}, DIOpComposite(2, i80)",
    ),
    "a part of a composite": (
        f"DIOpConstant(i8 1), {R}, DIOpComposite(2, i72), DIOpConstant(i8 8), DIOpBitOffset(i64)", R
    ),
    "a part of a part": (
        f"DIOpConstant(i8 1), {R}, DIOpComposite(2, i72), DIOpConstant(i8 5), DIOpByteOffset(i8)",
        f"{R}, DIOpConstant(i64 4), DIOpByteOffset(i8)",
    ),
    "across parts": (f"DIOpConstant(i8 1), {R}, DIOpComposite(2, i72), DIOpConstant(i64 4), DIOpBitOffset(i8)", ...),
    "select all": (
        f"DIOpConstant(i64 1), DIOpExtend(2), {R}, DIOpExtend(2), DIOpConstant(i8 3), DIOpSelect()", f"{R}, DIOpExtend(2)"
    ),
    "select none": (
        f"{R}, DIOpExtend(2), DIOpConstant(i64 1), DIOpExtend(2), DIOpConstant(i8 4), DIOpSelect()", f"{R}, DIOpExtend(2)"
    ),
    "select some": (f"{R}, DIOpExtend(2), DIOpConstant(i64 1), DIOpExtend(2), DIOpConstant(i8 1), DIOpSelect()", ...),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_canonical(name: str) -> None:
    operations, expected = CASES[name]
    text = (
        "DBG_DEF !2, i64 %v\nnop\n!1 = !DILocalVariable(\"x\")\n"
        f"!2 = distinct !DILifetime(object: !1, location: !DIExpr({operations}))\n"
    )
    info = llvmdi.DebugInfo(llvmdi.read_text(text))
    if expected is None:  # an address of an address is not well-formed: nothing but DIOpDeref takes one
        with pytest.raises(llvmdi.NotWellFormed):
            llvmdi.canonical_expression(info, info.segments[0])
        return
    found = str(llvmdi.canonical_expression(info, info.segments[0]))
    assert found == f"!DIExpr({operations if expected is ... else expected})"
