"""Random well-typed expressions: as written, in canonical form and lowered to DWARF, they give the same bits."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rocdbg import llvmdi
from rocdbg.dwarf.operation_table import DIALECTS
from rocdbg.llvmdi.object_evaluator import Evaluator, State
from tests.llvmdi.machine import Machine, by_dwarf, by_llvm

BINARY = ("Add", "Sub", "Mul", "Div", "Mod", "And", "Or", "Xor", "Shl", "Shr", "AShr", "LShr")
WIDTHS = (1, 8, 13, 16, 32, 33, 64)
VALUES = {
    "%a": [lane * 0x01234567 + 0x89ABCDEF for lane in range(64)],
    "%b": [lane * 0x1111111111111111 & (1 << 64) - 1 for lane in range(64)],
    "%c": 0x7FFF1234,
    "%d": 0xF00DFACE12345678,
    "%e": 0x40490FDB,
}
VALUES = {
    name: [item & 0xFFFFFFFF for item in value] if name == "%a" and isinstance(value, list) else value
    for name, value in VALUES.items()
}
PLACES = {"%a": "v1", "%b": "v[2:3]", "%c": "s4", "%d": "slot+8", "%e": "s9", "%m": "frame+32"}
MACHINE = Machine(VALUES, PLACES)
MACHINE.frame[32:40] = bytes(range(0xA1, 0xA9))
ARGUMENTS = {"%a": "i32", "%b": "i64", "%c": "i32", "%d": "i64", "%e": "float", "%m": "ptr addrspace(5)"}
"""Each argument is a separate fragment, in this order."""


def _leaf(width: int) -> st.SearchStrategy[str]:
    literal = st.integers(-(1 << width - 1), (1 << width) - 1).map(lambda v: f"DIOpConstant(i{width} {v})")
    found = [literal, st.just(f"DIOpPushLane(i{width})")] if width >= 8 else [literal]
    for index, (name, type) in enumerate(ARGUMENTS.items()):
        if type == f"i{width}":
            found.append(st.just(f"DIOpArg({index}, {type})"))
        elif name == "%e" and width == 32:
            found.append(st.just(f"DIOpArg({index}, float), DIOpReinterpret(i32)"))
        elif name == "%m" and width in (8, 16, 32, 64):
            found.append(st.just(f"DIOpArg({index}, ptr addrspace(5)), DIOpDeref(i{width})"))
    return st.one_of(found)


@st.composite
def expressions(draw: st.DrawFn, width: int, depth: int) -> str:
    """The operations that leave one entry of type i`width`."""
    if depth == 0:
        return draw(_leaf(width))

    def child(bits: int = width) -> str:
        return draw(expressions(bits, depth - 1))

    kind = draw(st.sampled_from(("leaf", "binary", "convert", "read", "deref", "offset", "composite", "select")))
    if kind == "binary":
        name = draw(st.sampled_from(BINARY))
        return f"{child()}, {child()}, DIOp{name}()"
    if kind == "convert":
        other = draw(st.sampled_from(WIDTHS))
        narrow = ["SExt", "ZExt"] if other < width else []
        return f"{child(other)}, DIOp{draw(st.sampled_from(['Convert', *narrow]))}(i{width})"
    if kind == "read":
        return f"{child()}, DIOpRead()"
    if kind == "deref":
        return f"{child()}, DIOpAddrOf(5), DIOpDeref(i{width})"
    if kind == "offset" and width < 64:
        larger = draw(st.sampled_from([w for w in WIDTHS if w > width]))
        bits = draw(st.integers(0, larger - width))
        if bits % 8 == 0 and draw(st.booleans()):
            return f"{child(larger)}, DIOpConstant(i8 {bits // 8}), DIOpByteOffset(i{width})"
        return f"{child(larger)}, DIOpConstant(i16 {bits}), DIOpBitOffset(i{width})"
    if kind == "composite" and width > 1:
        low = draw(st.sampled_from([w for w in (1, 8, 16, 31, 32) if w < width]))
        parts = [draw(_piece(part, depth - 1)) for part in (low, width - low)]
        return f"{', '.join(parts)}, DIOpComposite(2, i{width})"
    if kind == "select" and width in (16, 32, 64):
        lanes, bits = draw(st.sampled_from([(2, width // 2), (width // 8, 8)]))
        zero, one = (f"{draw(_piece(bits, depth - 1))}, DIOpRead(), DIOpExtend({lanes})" for _ in range(2))
        mask = draw(_leaf(16 if lanes > 8 else 8))
        return f"{zero}, {one}, {mask}, DIOpSelect(), DIOpReinterpret(i{width})"
    return draw(_leaf(width))


@st.composite
def _piece(draw: st.DrawFn, width: int, depth: int) -> str:
    """A part of random width."""
    if width in WIDTHS:
        return draw(expressions(width, depth))
    return f"{draw(expressions(64, depth))}, DIOpConvert(i{width})"


def _text(operations: str, bits: int) -> str:
    lines = ["%x = i32 ..."]
    metadata = [f'!0 = !DILocalVariable(name: "x", type: !1)\n!1 = !DIBasicType(size: {bits})']
    for index, (name, type) in enumerate(ARGUMENTS.items()):
        number = 10 + 2 * index
        lines.append(f"DBG_DEF !{number}, {type} {name}")
        location = f"!DIExpr(DIOpReferrer({type}))"
        metadata.append(f"!{number} = distinct !DILifetime(object: !{number + 1}, location: {location})")
        metadata.append(f"!{number + 1} = distinct !DIFragment()")
    arguments = ", ".join(f"!{11 + 2 * index}" for index in range(len(ARGUMENTS)))
    metadata.append(
        f"!2 = distinct !DILifetime(object: !0, location: !DIExpr({operations}), argObjects: {{{arguments}}})"
    )
    return "\n".join([*lines, "nop", *metadata])


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.data(), width=st.sampled_from(WIDTHS), lane=st.sampled_from((0, 1, 37, 63)))
def test_all_forms_agree(data: st.DataObject, width: int, lane: int) -> None:
    operations = data.draw(expressions(width, data.draw(st.integers(1, 4))))
    module = llvmdi.read_text(_text(operations, width))
    info = llvmdi.DebugInfo(module)
    function = module.functions["@"]
    index = len(ARGUMENTS) + 1
    found = [finding for finding in llvmdi.check(module) if not finding.is_note]
    # Parts of a composite that are the same bits are not well-formed; everything else is, by construction.
    assume({finding.rule for finding in found} != {"DIOpComposite"})
    assert found == []
    x = info.objects[0]
    here = by_llvm(info, MACHINE, x, width, function, index, lane)
    dialect = data.draw(st.sampled_from(DIALECTS))
    lowered = by_dwarf(info, MACHINE, x, width, function, index, lane, dialect)
    if here == "error":
        # A division by zero, an offset beyond: canonical code may have dropped what fails, never the other way round.
        return
    assert lowered == here, operations
    segment = info.segments_of[x][0]
    canonical = llvmdi.canonical_expression(info, segment)
    again = llvmdi.read_text(_text(re.sub(r"^!DIExpr\((.*)\)$", r"\1", str(canonical)), width))
    other = llvmdi.DebugInfo(again)
    assert by_llvm(other, MACHINE, other.objects[0], width, again.functions["@"], index, lane) == here, operations
    assert str(llvmdi.canonical_expression(other, other.segments_of[other.objects[0]][0])) == str(canonical)
    assert len(canonical.operations) <= len(info.expression(segment).operations)


@pytest.mark.parametrize(
    ("operations", "bits", "value"),
    [
        ("DIOpArg(2, i32), DIOpConstant(i32 3), DIOpSub()", 32, 0x7FFF1231),
        ("DIOpConstant(i8 -7), DIOpConstant(i8 2), DIOpDiv()", 8, 0xFD),
        ("DIOpConstant(i8 -8), DIOpConstant(i8 1), DIOpShr()", 8, 0xFC),
        ("DIOpConstant(i8 -8), DIOpConstant(i8 1), DIOpLShr()", 8, 0x7C),
        ("DIOpConstant(i8 1), DIOpConstant(i8 3), DIOpShl()", 8, 8),
        ("DIOpConstant(i8 -8), DIOpConvert(i16)", 16, 0xFFF8),
        ("DIOpConstant(i8 -8), DIOpZExt(i16)", 16, 0x00F8),
        ("DIOpArg(4, float), DIOpConvert(i32)", 32, 3),
        ("DIOpConstant(i32 3), DIOpConvert(float), DIOpConstant(float 0.5), DIOpMul()", 32, 0x3FC00000),
        ("DIOpConstant(i8 0), DIOpConstant(i8 1), DIOpComposite(2, i16)", 16, 0x0100),
        ("DIOpArg(1, i64), DIOpConstant(i8 4), DIOpByteOffset(i32)", 32, 0x33333333),
        ("DIOpConstant(i8 1), DIOpExtend(4), DIOpConstant(i8 2), DIOpExtend(4), DIOpConstant(i4 5), DIOpSelect()",
         32, 0x01020102),
        ("DIOpPushLane(i32)", 32, 3),
        ("DIOpArg(5, ptr addrspace(5)), DIOpDeref(i16)", 16, 0xA2A1),
        ("DIOpArg(5, ptr addrspace(5))", 32, 32),
    ],
)  # fmt: skip
def test_values(operations: str, bits: int, value: int) -> None:
    module = llvmdi.read_text(_text(operations, bits))
    assert [str(finding) for finding in llvmdi.check(module) if not finding.is_note] == []
    info = llvmdi.DebugInfo(module)
    place = (module.functions["@"], len(ARGUMENTS) + 1, 3)
    assert by_llvm(info, MACHINE, info.objects[0], bits, *place) == (value, (1 << bits) - 1)
    for dialect in DIALECTS:
        assert by_dwarf(info, MACHINE, info.objects[0], bits, *place, dialect) == (value, (1 << bits) - 1)


def test_an_object_of_a_type() -> None:
    """DIOpTypeObject: the descriptor of an array gives the location of its data."""
    module = llvmdi.read_text(
        "!0 = !DICompositeType(tag: DW_TAG_array_type, size: 128, dataLocation: !1)\n"
        "!1 = distinct !DIFragment()\n"
        "!2 = distinct !DILifetime(object: !1, location: !DIExpr(DIOpTypeObject(i128), DIOpConstant(i32 8), "
        "DIOpByteOffset(ptr addrspace(1)), DIOpDeref(i32)))\n!llvm.dbg.retainedNodes = !{!2}"
    )
    assert [str(finding) for finding in llvmdi.check(module)] == []
    info = llvmdi.DebugInfo(module)
    state = State(MACHINE.context())
    state.object = Evaluator(info, state).memory(1, 0x2000)
    machine = Machine(memory={0: {0x2000: bytes(8) + (0x3000).to_bytes(8, "little"), 0x3000: b"data"}})
    state.context = machine.context()
    state.object = Evaluator(info, state).memory(1, 0x2000)
    location = Evaluator(info, state).locate(info.objects[0])
    assert location.read_bytes(4) == b"data"
    from rocdbg import dwarf

    content = llvmdi.lower(info, machine.placement).entry("!1").content
    assert isinstance(content, bytes)
    lowered = llvmdi.lower(info, machine.placement)
    context = machine.context(lowered=lowered)
    context.object = state.object
    found = dwarf.evaluate_location(content, context)
    assert found.read_bytes(4) == b"data"
