"""Functions whose recursive calls the compiler has turned into loops: the results of these calls are not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg import isa
from rocdbg.debugger import Session
from rocdbg.debugger.base.focus import Focus
from rocdbg.debugger.program.source_text.assigned_names import names_assigned_from
from rocdbg.debugger.program.source_text.source_tokens import tokens_of
from rocdbg.debugger.running.stop_events import StopReason
from rocdbg.errors import Error
from tests.debugger.conftest import SOURCES

Compile = Callable[..., Path]

# (text, the names that get values from calls of f)
TEXTS = [
    ("int r = f(n - 1) + n;", {"r"}),
    ("r = g(n) + f(n - 1);", {"r"}),
    ("int a = f(1); int b = a + 2; c = 3; d = b;", {"a", "b", "d"}),
    ("b = a; a = f(1);", {"a", "b"}),
    ("r += f(n);", {"r"}),
    ("if (n) r = f(n); else s = 2;", {"r"}),
    ("int r(f(n));", {"r"}),
    ("point r{1, f(n)};", {"r"}),
    ("p.x = f(n); q->y = p.x;", {"p", "x", "q", "y"}),
    ("int r = n, s = f(n);", {"s"}),
    ("for (int k = f(1); k < 3; ++k) a = 2;", {"k", "for"}),
    ("return f(n - 1);", set()),
    ("int r = n; f(r);", set()),
    ("r = f(n", {"r"}),
    ("(*p) = f(n);", {"p"}),
    ("if (n) (*p).x = f(n);", {"p", "x"}),
    ("if (n) *p = f(n);", {"p"}),
    ("a[(i)] = f(n);", {"a", "i"}),
    ("a[g(i, k)] = f(n);", {"a", "g", "i", "k"}),
    ("r and_eq f(n); s xor_eq r;", {"r", "s"}),
    ("int &r = a; r = f(n);", {"r", "a"}),
    ("auto &[r, s] = pair; s = f(n);", {"r", "s", "pair"}),
    ("auto [r, s] = f(n);", {"r", "s"}),
    ("int *p = &a; *p = f(n);", {"p", "a"}),
    ("q = &a; p = q; *p = f(n);", {"q", "p", "a"}),
    ("int a[4]; p = a + 1; p[1] = f(n);", {"p", "a"}),
    ("p = a & b; p = f(n);", {"p"}),
    ("v = *p; p = &a; v = f(n);", {"v"}),
    ("for (auto x : values(f(n))) s += x;", {"for", "x", "values", "s"}),
    ("for (auto &x : a) x = f(n);", {"for", "x", "a"}),
    ("object.member[2].set(f(n)); r = object;", {"object", "member", "set", "r"}),
    ("swap(a, f(n));", {"swap", "a"}),
    ("swap(*a.b, f(n) + 1, g(k), m + 1, &(c[j]), (d));", {"swap", "a", "b", "c", "j", "d"}),
    ("int g(const int *a, int b) { int r = f(n); c = a[b]; }", {"r"}),
    ("first = in[left]; int rest(f(in, left - 1)); all = rest; all += first;", {"rest", "all"}),
    ("p = g(a); *p = f(n); r = a[2];", {"p", "a", "g", "r"}),
    ("by_value(a, f(n));", {"by_value"}),
    ("r = by_value(a, f(n));", {"by_value", "r"}),
    # arguments that are not just the name of an object
    ("int v[4]; g(v + 1, f(n)); r = v[2];", {"v", "g", "r"}),
    ("p = &a; g(p + k, f(n)); r = a + p[0];", {"a", "p", "g", "r"}),
    ("p = &a; g(p + k, f(n)); r = a;", {"a", "p", "g", "r"}),
    ("g(x ? &a : &b, f(n)); r = a;", {"g"}),
    ("g(c ? v : w, f(n)); r = v[0] + w[0];", {"g", "v", "w", "r"}),
    ("g(h(v), f(n)); r = v[0]; s = k;", {"g", "h", "v", "r"}),
    ("g(a * 2, f(n)); r = a;", {"g"}),
    # calls of templates, and of what an expression yields
    ("g<int>(a, f(n)); r = a;", {"g", "a", "r"}),
    ("g<k, pair<int, 2>>(a, f(n));", {"g", "a"}),
    ("g<1>(a); b = c < d > (f(n));", {"b", "c"}),
    ("(*g)(a, f(n));", {"a"}),
    ("table[k](a, f(n));", {"a"}),
    ("r = (float)(a + f(n));", {"r"}),
    # inline assembly
    ('asm("v_add %0, %1, %2" : "=v"(r) : "v"(k), "v"(f(n)));', {"r", "k", "f", "n"}),
    ('asm volatile("" : "+v"(r), "=v"(s) : "v"(t)); t = f(n);', {"r", "s", "t"}),
    ('__asm__ __volatile__("" : "=v"(r)); t = f(n);', {"t"}),
]


@pytest.mark.parametrize(("text", "names"), TEXTS)
def test_names_that_depend_on_calls(text: str, names: set[str]) -> None:
    tokens = list(tokens_of(text))
    calls = {index for index, token in enumerate(tokens) if token.text == "f"}
    assert names_assigned_from(tokens, calls.__contains__, {"f", "by_value"}.__contains__) == names


def test_time_grows_with_the_text() -> None:
    tokens = list(tokens_of("r = " + "g(" * 4000 + "f(n)" + ")" * 4000 + "; s = r;"))
    steps = Counter[str]()
    calls = {index for index, token in enumerate(tokens) if token.text == "f"}

    def takes_values(name: str) -> bool:
        steps[name] += 1
        return True

    assert names_assigned_from(tokens, calls.__contains__, takes_values) == {"g", "r", "s"}
    assert steps == {"g": 4000, "f": 1}


INPUT = [(7 * i + 3) % 11 for i in range(64)]


def mixed(found: set[int], m: int, depth: int) -> int:
    if depth <= 0:
        return m
    rest = mixed(found, m >> 1, depth - 1) if m & 1 else mixed(found, m + depth, depth - 2)
    found |= {rest, (m * depth + 1) ^ rest}
    return (m * depth + 1) ^ rest


def total(found: set[int], left: int) -> int:
    if not left:
        return 0
    rest = total(found, left - 1)
    found |= {rest, rest + INPUT[left]}
    return rest + INPUT[left]


def pairs(found: set[int], n: int) -> int:
    if n < 2:
        return n
    left, right = pairs(found, n - 1), pairs(found, n - 2)
    found |= {left, right, left + right}
    return left + right


def right_values(lane: int) -> dict[str, set[int]]:
    found = {name: set[int]() for name in ("mixed", "total", "pairs")}
    number = INPUT[lane]
    mixed(found["mixed"], number + 900, 5 + (number & 3))
    total(found["total"], number & 7)
    pairs(found["pairs"], number & 3)
    return found


@pytest.mark.llvm
@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_results_are_right_or_not_known(compiled: Compile, target: str) -> None:
    session = Session()
    session.load(compiled("recursive.hip", target, "-O2"))
    session.sources.program_directory = SOURCES
    session.launch.set_kernel("recursive")
    session.launch.set_grid("32")
    session.launch.set_workgroup("32")
    session.launch.set_argument(0, "i32[64]:zeros")
    session.launch.set_argument(1, f"i32[64]:{INPUT}")
    code = session.inferior.need_program().code_object
    for symbol in code.symbols:
        if symbol.name in ("recursive", "_ZL5mixedii", "_ZL5pairsi"):
            data = code.sections[".text"].data[symbol.value - code.sections[".text"].address :][: symbol.size]
            for instruction in isa.disassemble(data, code.target.name, address=symbol.value):
                session.break_at(f"*{instruction.address:#x}")
    names = ["mixed_rest", "mixed_all", "total_rest", "total_all", "pairs_left", "pairs_right", "pairs_all"]
    event, visits, seen, wrong = session.run(), dict[int, int](), set[str](), list[str]()
    while event.reason is StopReason.BREAKPOINT:
        pc = session.inferior.wave(1).pc
        visits[pc] = visits.get(pc, 0) + 1
        for lane in (2, 5, 21) if visits[pc] <= 2 else ():
            for name in (*names, "keep", "first", "n"):
                try:
                    value = session.data.evaluate(name, Focus(1, lane)).as_int()
                except Error:
                    continue
                seen.add(name)
                if name in names and value not in right_values(lane)[name.partition("_")[0]]:
                    wrong.append(f"{name} at {pc:#x} in lane {lane}: {value}")
        event = session.running.proceed()
    assert event.reason is StopReason.EXITED
    assert not wrong
    assert {"keep", "first", "n"} <= seen

