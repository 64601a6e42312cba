"""The document's sentences as tables (`tables/*.txt`): what is well-formed, and what it locates.

What is well-formed is evaluated, lowered, and the DWARF evaluated: both have to say the same.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocdbg import llvmdi
from rocdbg.llvmdi.object_evaluator import Evaluator
from tests.llvmdi.machine import Machine, by_dwarf, by_llvm

TABLES = Path(__file__).parent / "tables"
HEAD = """target triple = "amdgcn-amd-amdhsa"
!llvm.dbg.cu = !{!0}
!1 = !DIFile(filename: "a.cl", directory: "/")
!6 = !DISubroutineType(types: !{null})
"""
UNIT = "!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, emissionKind: FullDebug, globals: !{{{}}})\n"
FUNCTION = (
    '!5 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !6, unit: !0, '
    "spFlags: DISPFlagDefinition, retainedNodes: !{{{}}})\n"
)


def rows(name: str) -> Iterator[tuple[str, ...]]:
    for line in (TABLES / name).read_text().splitlines():
        if line and not line.startswith("#"):
            cells = tuple(cell.strip() for cell in line.split("|"))
            yield cells


def wrong(text: str) -> list[str]:
    try:
        return [str(finding) for finding in llvmdi.check(llvmdi.read_text(text)) if not finding.is_note]
    except llvmdi.ReadError as error:
        return [str(error)]


# Expressions

VALUES = {
    "%b": 0x81, "%s": 0x8002, "%w": 0x89ABCDEF, "%x": 0x1122334455667788, "%y": 5, "%f": 0x3FC00000,
    "%d": 0xC004000000000000, "%h": 0x3800, "%p": 0x10, "%g": 0x1000, "%v": 0x00000004000000030000000200000001, "%m": 10,
    "%q": 0x100,
}  # fmt: skip
PLACES = {
    "%b": "v1", "%s": "s1", "%w": "v2", "%x": "v[4:5]", "%y": "s[6:7]", "%f": "v8", "%d": "v[10:11]", "%h": "v12", "%p": "v13",
    "%g": "v[14:15]", "%v": "v[16:19]", "%m": "s[20:21]", "%q": "v[22:23]", "@gv": 0x2000,
}  # fmt: skip
PARAMETERS = (
    "i8 %b, i16 %s, i32 %w, i64 %x, i64 %y, float %f, double %d, half %h, ptr addrspace(5) %p, ptr addrspace(1) %g, "
    "<4 x i32> %v, i64 %m, i64 %q"
)
MEMORY = {5: {0: bytes(range(256))}, 0: {0: bytes((n & 255) ^ 0x5A for n in range(0x3000))}}
KINDS = {
    "EntityStorage": "entity", "ImplicitStorage": "implicit", "MemoryStorage": "memory", "UndefinedStorage": "undefined",
    "ImplicitAddressStorage": "address",
}  # fmt: skip


def inputs_of(cell: str) -> list[str]:
    if cell.startswith("="):
        return [cell]
    return re.split(r",\s*(?![^(<]*[)>])", cell) if cell else []


def expression_text(referrer: str, inputs: str, operations: str) -> str:
    nodes, calls, arguments, retained, kept, before = "", "", [], ["!10"], "", ""
    for index, item in enumerate(inputs_of(inputs)):
        fragment, lifetime = f"!{30 + 2 * index}", f"!{31 + 2 * index}"
        arguments.append(fragment)
        nodes += f"{fragment} = distinct !{'DIExprCode' if item == 'code' else 'DIFragment'}()\n"
        if item == "code":
            retained.append(fragment)
            calls += f"call void @llvm.dbg.label(metadata {fragment})\n"
        elif item == "@gv":
            before = f"@gv = addrspace(1) global i64 0, !dbg.def {fragment}\n"
            kept = "!llvm.dbg.retainedNodes = !{!20}\n"
        elif item.startswith("="):
            nodes += f"{lifetime} = distinct !DILifetime(object: {fragment}, location: !DIExpr({item[1:]}))\n"
            retained.append(lifetime)
        elif not item.startswith("-"):
            type = item.rsplit(" ", 1)[0]
            nodes += f"{lifetime} = distinct !DILifetime(object: {fragment}, location: !DIExpr(DIOpReferrer({type})))\n"
            calls += f"call void @llvm.dbg.def(metadata {lifetime}, metadata {item})\n"
    if referrer != "computed":
        calls += f"call void @llvm.dbg.def(metadata !20, metadata {referrer})\n"
    elif not kept:
        retained.append("!20")
    objects = f", argObjects: {{{', '.join(arguments)}}}" if arguments else ""
    return (
        f"{HEAD}{before}{UNIT.format('')}{FUNCTION.format(', '.join(retained))}{kept}"
        f"define void @f({PARAMETERS}) !dbg !5 {{\nbr label %code\ncode:\n{calls}ret void\n}}\n"
        '!10 = !DILocalVariable(name: "x", scope: !5, file: !1, line: 2)\n'
        f"!20 = distinct !DILifetime(object: !10, location: !DIExpr({operations}){objects})\n{nodes}"
    )


@pytest.mark.parametrize(
    ("referrer", "inputs", "operations", "outcome"), [pytest.param(*row[1:], id=row[0]) for row in rows("expressions.txt")]
)
def test_expressions(referrer: str, inputs: str, operations: str, outcome: str) -> None:
    text = expression_text(referrer, inputs, operations)
    if outcome == "bad":
        assert wrong(text)
        return
    assert wrong(text) == []
    info = llvmdi.DebugInfo(llvmdi.read_text(text))
    node = next(node for node in info.objects if node.name == "10")
    function = info.module.functions["@f"]
    index = len(info.flows["@f"].instructions) - 1
    machine = Machine(VALUES, PLACES, MEMORY, {"code": 0x4000})
    state = llvmdi.State(machine.context(3), {**VALUES, "@gv": 0x2000}, {"code": 0x4000})
    tree = info.tree(info.segments_of[node][0])
    place = (info, machine, node, tree.bits, function, index, 3)
    if outcome == "error":
        assert by_llvm(*place) == by_dwarf(*place) == "error"
        return
    location = Evaluator(info, state).locate(node, function, index)
    storage = location.places[0].storage
    kind = KINDS.get(type(storage).__name__, "composite")
    expected = f"{tree.type} {kind}"
    *_, last = outcome.split()
    if kind == "memory":
        where = re.search(r"(\w+#)?0x([0-9a-f]+)", location.describe())
        assert where is not None
        space = {"private_lane#": 5, "local#": 3, None: 1}[where[1]]
        expected += f" {space} {int(where[2], 16):#x}" if int(where[2], 16) else f" {space} 0"
    elif last[0].isdecimal():
        expected += f" {last}"
        assert location.read(tree.bits) == int(last, 0)
    assert outcome == expected
    if tree.bits <= 2040:
        assert by_llvm(*place) == by_dwarf(*place)


# Modules


def function_text(body: str) -> str:
    functions: list[tuple[str, list[str]]] = [("f", [])]
    for item in filter(None, map(str.strip, body.split(";"))):
        word, _, rest = item.partition(" ")
        if word == "fn2":
            functions.append(("h", []))
            item = rest
            word, _, rest = item.partition(" ")
        words = rest.split()
        line = {
            "raw": lambda rest=rest: rest,
            "def": lambda words=words: f"call void @llvm.dbg.def(metadata !{words[0]}, metadata i64 {words[1]})",
            "kill": lambda rest=rest: f"call void @llvm.dbg.kill(metadata !{rest})",
            "label": lambda rest=rest: f"call void @llvm.dbg.label(metadata !{rest})",
            "at": lambda: "call void @at()",
            "br": lambda rest=rest: f"br label %{rest}",
            "if": lambda words=words: f"br i1 %c, label %{words[0]}, label %{words[1]}",
            "ret": lambda: "ret void",
        }.get(word, lambda item=item: item)()
        functions[-1][1].append(line)
    return "declare void @at()\n" + "".join(
        f"define void @{name}(i1 %c, i64 %x, i64 %y) {'!dbg !5 ' if name == 'f' else ''}{{\nentry:\n"
        + "\n".join(lines) + "\n}\n"
        for name, lines in functions
    )  # fmt: skip


def module_text(body: str, changes: str) -> str:
    nodes = {
        "7": '!DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)',
        "10": '!DILocalVariable(name: "x", scope: !5, file: !1, line: 2, type: !7)',
        "11": '!DILocalVariable(name: "y", scope: !5, file: !1, line: 2, type: !7)',
        "20": "distinct !DILifetime(object: !10, location: !DIExpr(DIOpReferrer(i64)))",
    }
    head, retained, kept, globals_of, rest = HEAD, ["!10", "!11"], [], [], ""
    for change in filter(None, map(str.strip, changes.split(";;"))):
        word, _, tail = change.partition(" ")
        if word in ("!R", "!M", "!G"):
            {"!R": retained, "!M": kept, "!G": globals_of}[word].append(tail)
        elif word.startswith("@"):
            rest += f"{word} = addrspace(1) global i64 0{', !dbg.def ' + tail if tail else ''}\n"
        elif tail == "-":
            del nodes[word[1:]]
        elif word == "!llvm.dbg.cu":
            head = head.replace("!llvm.dbg.cu = !{!0}", change)
        elif word[1:].isdecimal():
            nodes[word[1:]] = tail.removeprefix("= ")
        else:
            rest += f"{change}\n"
    if kept:
        rest += f"!llvm.dbg.retainedNodes = !{{{', '.join(kept)}}}\n"
    text = head + UNIT.format(", ".join(globals_of)) + rest + function_text(body)
    if "5" not in nodes:
        text += FUNCTION.format(", ".join(retained))
    return text + "".join(f"!{number} = {node}\n" for number, node in nodes.items())


@pytest.mark.parametrize(
    ("body", "changes", "outcome"), [pytest.param(*row[1:], id=row[0]) for row in rows("modules.txt")]
)
def test_modules(body: str, changes: str, outcome: str) -> None:
    text = module_text(body, changes)
    found = wrong(text)
    assert bool(found) == (outcome == "bad"), found
    if not outcome.startswith("{"):
        return
    info = llvmdi.DebugInfo(llvmdi.read_text(text))
    node = next(node for node in info.objects if node.name == "10")
    segments = info.segments_of.get(node, [])
    shown = ""
    for index, instruction in enumerate(info.flows["@f"].instructions):
        if text.startswith("call void @at()", instruction.offset):
            function = info.module.functions["@f"]
            active = [s.name[1:] for s in segments if s.is_bounded and s.is_active(function, index)]
            if not active:
                active = ["U" if all(segment.is_bounded for segment in segments) else "C"]
            shown += "{" + " ".join(active) + "}"
    assert shown == outcome
