#!/usr/bin/env python3
"""Fuzz the reader of LLVM assembly and all later stages: hostile texts, numbered.

    benchmarks/fuzz_llvmdi.py [--seconds 60] [--inputs N] [--first NUMBER] [FILE.ll ...]
    benchmarks/fuzz_llvmdi.py --replay NUMBER [FILE.ll ...]

Input NUMBER is always the same text if the seeds (the worked examples of the tests, and the given files) are the same.
Every input must give a result or a `rocdbg.Error` within a second of processor time. An input that fails is printed
with the command that replays it, and the exit status is 1.
"""

# ruff: noqa: E501  (tables)
from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from rocdbg import Error, llvmdi  # noqa: E402
from rocdbg.llvmdi.di_operations import OPERATIONS  # noqa: E402
from rocdbg.llvmdi.explaining import explanation_lines  # noqa: E402
from rocdbg.llvmdi.llvm_lexer import Source, tokenize  # noqa: E402
from rocdbg.llvmdi.module_listing import lowered_lines, object_lines  # noqa: E402

SLOW = 1.0
"""Seconds of processor time that one input may take."""
PLACES = llvmdi.parse_places({
    "%x": "v[3:4]", "%y": "s[4:5]", "%p": "v5", "%x.addr": "frame+16", "%p.addr": "frame+24", "%x.lo": "v6", "%x.hi": "s7",
    "%x.lo.addr": "frame+32", "%x.hi.addr": "frame+40", "$r0": "s0", "$r1": "v1", "%frame.index.0": "slot+4",
    "@g": 0x1000, "@g.lo": 0x2000, "@g.hi": 0x2004, "%x.hi.lo": "v8", "%x.hi.hi": "v9", "%0": "s9", "$PC": "pc",
    "$EXEC": "exec", "%1": [[0, 32, "s[10:11]"], [32, 48, "v40.0"]], "%3": "s[12:13]",
})  # fmt: skip
TYPES = (
    "i1", "i8", "i33", "i64", "i8388607", "float", "bfloat", "x86_fp80", "ptr", "ptr addrspace(5)", "ptr addrspace(9)",
    "<4 x i8>", "<65536 x i64>", "<vscale x 4 x i8>", "[3 x i24]", "[4294967295 x [4294967295 x i64]]", "{ i8, i64 }", "{}",
    "<{ i8, i64 }>", "%T", "void", "metadata", "[0 x i8]",
)  # fmt: skip
WORDS = (
    "!1", "!2", "!3", "!99", "!DIExpr(", "!DILifetime(object: !1, location: ", "distinct", "undef", "null", "...", "(", ")",
    "{", "}", "<", ">", ",", "=", "!", '"', "\n", ";", "metadata", "label %a", "br", "0", "-1", "18446744073709551616",
    "9" * 500, "0x" + "F" * 300, "1.5", "1e999", "0xK1", "argObjects: {!1, !2}", "!{", "x", "@g", "$r0", "DBG_DEF !2, $r0\n",
    "DBG_KILL !2\n", "DBG_LABEL !3\n", "#dbg_value(i32 %x, !1, !DIExpression(DW_OP_plus_uconst, 5, DW_OP_stack_value), !9)\n",
    "#dbg_declare(ptr %x, !1, !DIExpression(DW_OP_LLVM_fragment, 8, 8), !9)\n", "!DIArgList(i32 %x, i64 1)", "\x00", "\x1b[2J",
    "DW_OP_LLVM_arg, 1, DW_OP_mul", "DW_OP_LLVM_convert, 8, DW_ATE_signed", "call void @llvm.dbg.def(metadata !2, metadata i64 %x)\n",
    "define void @f(i64 %x) {\n", "}\n", "switch i32 %x, label %a [ i32 0, label %b ]\n", "%T = type { %T, ptr }\n",
    'target datalayout = "e-p:32:32-i64:0-v1:1"\n', "type: !1", "scope: !1", "baseType: !1", "size: 18446744073709551616",
    "[" * 100, "{" * 100, "(" * 100, "<4 x " * 80, "ptr" + "*" * 100, "!{" * 70, "é", "\u202e",
)  # fmt: skip


def seeds(paths: list[str]) -> list[str]:
    files = sorted((ROOT / "tests" / "llvmdi" / "examples").glob("*.ll")) + [Path(path) for path in paths]
    return [path.read_text() for path in files]


def random_expression(r: random.Random) -> str:
    """Operations in a row that are mostly wrong, and sometimes long."""
    parts = []
    for _ in range(r.choice((1, 2, 3, 5, 8, 200))):
        info = r.choice(tuple(OPERATIONS.values()))
        arguments: list[str] = []
        for parameter in info.parameters:
            if parameter.kind == "literal":
                arguments[-1] += " " + r.choice(("0", "1", "-1", "255", "undef", "1.0", "...", "zeroinitializer"))
            elif parameter.kind == "type":
                arguments.append(r.choice(TYPES))
            else:
                arguments.append(str(r.choice((0, 1, 2, 64, 4096, 1 << 32, 1 << 70))))
        parts.append(f"{info.name}({', '.join(arguments)})")
    return f"!DIExpr({', '.join(parts)})"


def growth(r: random.Random) -> str:
    """Texts that expand a little input to a lot: chains and fans of fragments, deep trees, many blocks."""
    count = r.choice((10, 60, 150, 400))
    kind = r.randrange(5)
    if kind == 0:  # each fragment takes in the one before, twice
        lines = ['!0 = !DILocalVariable("x")', "!1 = distinct !DILifetime(object: !0, location: !DIExpr(DIOpArg(0, i8)), argObjects: {!10})"]
        for i in range(count):
            code = "DIOpArg(0, i8), DIOpArg(1, i8), DIOpAdd()" if i < count - 1 else "DIOpConstant(i8 1)"
            lines += [f"!{10 + 2 * i} = distinct !DIFragment()",
                      f"!{11 + 2 * i} = distinct !DILifetime(object: !{10 + 2 * i}, location: !DIExpr({code}), argObjects: {{!{12 + 2 * i}, !{12 + 2 * i}}})"]
        return "\n".join(lines)
    operations = {
        1: "DIOpConstant(i8 1), " + "DIOpAddrOf(5), DIOpDeref(i8), " * count + "DIOpRead()",
        2: ", ".join(["DIOpConstant(i8 1)"] * count) + f", DIOpComposite({count}, i{8 * count})",
        3: "DIOpConstant(i64 1), " + "DIOpConstant(i64 2), DIOpMul(), " * count + "DIOpRead()",
    }.get(kind)
    if operations is not None:
        return f'!0 = !DILocalVariable("x")\n!1 = distinct !DILifetime(object: !0, location: !DIExpr({operations}))'
    lines = ['!0 = !DILocalVariable("x")', "define void @f(i1 %c, i64 %x) {", "br label %b0"]
    for i in range(count):
        lines += [f"b{i}:", f"call void @llvm.dbg.def(metadata !{i + 1}, metadata i64 %x)",
                  f"br i1 %c, label %b{(i * 7) % count}, label %b{(i * 3 + 1) % count}"]
    lines.append("}")
    lines += [f"!{i + 1} = distinct !DILifetime(object: !0, location: !DIExpr(DIOpReferrer(i64)))" for i in range(count)]
    return "\n".join(lines)


def text_of(number: int, texts: list[str]) -> str:
    """The text of the input that has this number."""
    r = random.Random(number)
    kind = r.randrange(100)
    if kind == 0:
        return growth(r)
    if kind == 1:
        return "".join(chr(r.choice((r.randrange(128), r.randrange(0x3000)))) for _ in range(r.randrange(200)))
    text = r.choice(texts)
    if kind < 30:
        start = text.find("!DIExpr(", r.randrange(len(text)))
        if start >= 0:
            return text[:start] + random_expression(r) + text[text.find("\n", start) - 1 :]
    for _ in range(r.choice((1, 1, 2, 4, 10))):
        try:
            spots = [token.offset for token in tokenize(Source(text, ""))]
        except Error:
            spots = list(range(0, len(text), 7))
        first, last = sorted((r.choice(spots), r.choice(spots)))
        action = r.randrange(7)
        if action == 0:
            text = text[:first] + text[last:][:100_000]
        elif action == 1:
            text = text[:first] + r.choice(WORDS) + text[first:]
        elif action == 2:
            end = spots[min(spots.index(first) + 1, len(spots) - 1)]
            text = text[:first] + r.choice((r.choice(WORDS), r.choice(TYPES))) + " " + text[end:]
        elif action == 3:
            text = text[:first]
        elif action == 4:
            text = text[:last] + text[first:last][:5000] + text[last:]
        elif action == 5:
            at = r.randrange(len(text) + 1)
            text = text[:at] + chr(r.randrange(256)) + text[at + 1 :]
        else:
            other = r.choice(texts)
            text = text[:first] + other[r.randrange(len(other)) :][:300] + text[first:]
    return text


def run(text: str) -> str:
    """Run every operation on a text; return the kind of end."""
    module = llvmdi.read_text(text, "fuzz.ll")
    findings = llvmdi.check(module)
    for finding in findings:
        str(finding)
    info = llvmdi.DebugInfo(module)
    kinds: list[Callable[[], object]] = [
        lambda: list(object_lines(info, canonical=True)),
        lambda: list(explanation_lines(info, info.objects)),
        lambda: list(lowered_lines(llvmdi.lower(info, llvmdi.Placement(PLACES)))),
    ]
    for action in kinds:
        with suppress(Error):
            action()
    evaluator = llvmdi.Evaluator(info, llvmdi.State(None, dict.fromkeys(PLACES, 1)))
    for node in info.objects[:8]:
        for flow in [None, *info.flows.values()]:
            with suppress(Error):
                location = evaluator.locate(node, flow.function if flow else None, 3)
                location.describe()
                location.read_known(8)
    return "well-formed" if not any(not finding.is_note for finding in findings) else "not well-formed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--inputs", type=int, default=1 << 60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--replay", type=int)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    texts = seeds(options.files)
    if options.replay is not None:
        text = text_of(options.replay, texts)
        print(text)
        print(run(text))
        return 0
    ends: Counter[str] = Counter()
    slowest = (0.0, 0)
    bad = 0
    stop = time.monotonic() + options.seconds
    number = options.first
    while time.monotonic() < stop and number < options.first + options.inputs:
        text = text_of(number, texts)
        start = time.process_time()
        try:
            ends[run(text)] += 1
        except Error as error:
            ends[type(error).__name__] += 1
        except Exception:  # any exception is a bug for the fuzzer to report
            traceback.print_exc()
            print(f"input {number}: replay with {sys.argv[0]} --replay {number}")
            bad += 1
        took = time.process_time() - start
        slowest = max(slowest, (took, number))
        if took > SLOW:
            print(f"input {number} takes {took:.2f} s: replay with {sys.argv[0]} --replay {number}")
            bad += 1
        number += 1
    print(f"{number - options.first} inputs, {dict(ends)}; slowest {slowest[0]:.3f} s (input {slowest[1]}); {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
