"""Variables that never change according to the text of their function: one line for each way to change a variable."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rocdbg.debugger import Session
from rocdbg.debugger.program.functions_with_code import Routine
from rocdbg.debugger.program.source_text.constant_variables import Constants, ConstantVariables
from rocdbg.dwarf.info import Function

pytestmark = pytest.mark.llvm

# (statements after "int n = p[0];", whether n keeps its value; p is what the kernel was given)
STATEMENTS = [
    ("p[1] = n;", True),
    ("if (n) p[1] = n + 2;", True),
    ("p[n] = n << 2 | n & 3;", True),
    ("switch (n) { case 1: p[n] = 1; }", True),
    ("for (int i = 0; i < n; ++i) p[i] = n;", True),
    ("p[1] = sizeof(n); // n = 3", True),
    ("p[1] = n == 3 ? 1 : 2; /* n++ */", True),
    ("p[1] = p[2] ? n + 1 : n * 3;", True),
    ("int &r = p[1] ? p[2] : n; r = 4; p[1] = n;", False),
    ("int &r = p[1] ? n : p[2]; r = 4; p[1] = n;", False),
    ("p[1] = (int)(n) + (n);", True),
    ("p[1] = TWICE(n);", True),
    ("p[1] = taken(n);", True),
    ("p[1] = MAYBE(n);", False),
    ("SET(n, 2); p[1] = n;", False),
    ("asm volatile(\"\" :: \"v\"(n)); p[1] = n;", True),
    ("int k = 3, *q = &k; p[*q] = n;", True),
    ("p[1] = [&]() __attribute__((device)) { return n; }();", False),
    ("n = 2; p[1] = n;", False),
    ("n += p[1]; p[2] = n;", False),
    ("p[1] = n++;", False),
    ("p[1] = --n;", False),
    ("int *q = &n; *q = 4; p[1] = n;", False),
    ("int &r = n; r = 4; p[1] = n;", False),
    ("int &r(n); r = 4; p[1] = n;", False),
    ("int &&r = static_cast<int &&>(n); p[1] = n;", False),
    ("(p[1] ? n : p[2]) = 4; p[1] = n;", False),
    ("(n) = 4; p[1] = n;", False),
    ("change(n); p[1] = n;", False),
    ("holder h{n}; h.r = 2; p[1] = n;", False),
    ("auto f = [&]() __attribute__((device)) { n = 2; }; f(); p[1] = n;", False),
    ("auto f = [&](int k) __attribute__((device)) { p[k] = n; }; f(n + 1);", True),
    ("auto f = [&]() __attribute__((device)) -> int & { return n; }; f() = 2; p[1] = n;", False),
    ("auto f = [&]() __attribute__((device)) -> decltype(auto) { return (n); }; f() = 2; p[1] = n;", False),
    ("[](int &r) __attribute__((device)) { r = 5; }(n); p[1] = n;", False),
    ("CHANGE; p[1] = n;", False),
    ("again: if (p[n]) { p[n] = 0; goto again; }", False),
    ("for (int k = 0; k < 3; ++k) { int n = p[k]; p[k] = n; } p[1] = n;", False),
    ("n and_eq 3; p[1] = n;", False),
    ("asm(\"\" : \"+v\"(n)); p[1] = n;", False),
]
# (statements of a kernel with the parameters "pair v, int *p", whether v keeps what was passed)
OBJECTS = [
    ("p[0] = v.a;", True),
    ("p[v.a] = v.list[p[1]] + 2;", True),
    ("v.to[1] = v.a;", True),
    ("p[0] = total(v) + sizeof(v);", True),
    ("p[0] = v.inner.x;", True),
    ("p[0] = v.inner + 1;", False),
    ("p[0] = v.get();", False),
    ("p[0] = v[1];", False),
    ("p[0] = v + 1;", False),
    ("v.a = 2; p[0] = v.a;", False),
    ("v.inner.x += 2; p[0] = v.inner.x;", False),
    ("p[0] = v.list[1]++;", False),
    ("int &r = v.a; r = 2; p[0] = v.a;", False),
    ("int *q = &v.a; *q = 2; p[0] = v.a;", False),
    ("int *q = v.list; *q = 2; p[0] = v.a;", False),
    ("change(v.a); p[0] = v.a;", False),
    ("spoil(v); p[0] = v.a;", False),
    ("pair &r = v; r.a = 2; p[0] = v.a;", False),
    ("v = pair(); p[0] = v.a;", False),
    ("[&]() __attribute__((device)) { v.a = 2; }(); p[0] = v.a;", False),
]
SOURCE = """
#include <stddef.h>
#define CHANGE n = 7
#define TWICE(x) ((x) * 2)
#define SET(x, y) x = y
#ifdef NEVER
#define MAYBE(x) (x = 2)
#else
#define MAYBE(x) (x)
#endif
struct holder {{ int &r; }};
static __attribute__((device)) inline void change(int &v) {{ v = 9; }}
static __attribute__((device)) inline int taken(int v) {{ return v * 3; }}
struct whole {{ int x; __attribute__((device)) int operator+(int n) {{ return x += n; }} }};
struct pair {{
  int a, list[3]; int *to; whole inner;
  __attribute__((device)) int get() {{ return a++; }}
  __attribute__((device)) int operator[](int n) {{ return a += n; }}
  __attribute__((device)) int operator+(int n) {{ return a += n; }}
}};
static __attribute__((device)) inline int total(pair v) {{ return v.a + v.list[0]; }}
static __attribute__((device)) inline void spoil(pair &v) {{ v.a = 9; }}
{kernels}
"""
OF_OBJECTS = """extern "C" __attribute__((global)) void o{number}(pair v, int *p) {{ {statements}\n}}"""
KERNEL = """extern "C" __attribute__((global)) void k{number}(int *p) {{ int n = p[0]; {statements}\n}}"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("constant")
    kernels = "\n".join(KERNEL.format(number=i, statements=text) for i, (text, _) in enumerate(STATEMENTS))
    kernels += "\n".join(OF_OBJECTS.format(number=i, statements=text) for i, (text, _) in enumerate(OBJECTS))
    (folder / "k.hip").write_text(SOURCE.format(kernels=kernels))
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a",
         "--no-gpu-bundle-output", "-g", "-O1", "-w", "k.hip", "-o", "k.co"], cwd=folder, check=True, timeout=120,
    )
    return folder / "k.co"


def constants(path: Path, kernel: str) -> tuple[Function, Constants]:
    session = Session()
    session.load(path)
    session.sources.program_directory = path.parent
    program = session.inferior.need_program()
    function = next(f for f in program.info.functions_named(kernel) if f.low_pc is not None)
    return function, ConstantVariables(session.sources).of(program, Routine(function))


def names(path: Path, number: int) -> set[str | None]:
    return {variable.name for variable in constants(path, f"k{number}")[1].variables}


@pytest.mark.parametrize("number", range(len(OBJECTS)))
def test_an_object_that_was_passed_is_what_it_was_if_nothing_changes_it(built: Path, number: int) -> None:
    function, found = constants(built, f"o{number}")
    kept = {variable.name for variable in function.variables if variable.offset in found.objects}
    assert kept == ({"v"} if OBJECTS[number][1] else set())


@pytest.mark.parametrize("number", range(len(STATEMENTS)))
def test_a_variable_is_followed_only_if_nothing_changes_it(built: Path, number: int) -> None:
    assert ("n" in names(built, number)) is STATEMENTS[number][1]


def test_another_text_than_the_compiled_one_tells_nothing(built: Path) -> None:
    source = built.with_name("k.hip")
    text = source.read_text()
    source.write_text(text + " ")
    try:
        assert "n" not in names(built, 0)
    finally:
        source.write_text(text)


# (statements after "int n = p[0];", whether n keeps its value by the text alone, and with what the compiler recorded)
GIVEN = [
    ("p[1] = n * NEXT;", False, False),
    ("p[1] = n * next_;", False, False),
    ("p[1] = n * next_of(3);", False, False),
    ("p[1] = n + SIZE;", False, True),
    ("p[1] = n + DEFAULT;", False, True),
    ("p[1] = n + ASIDE;", True, True),
    ("p[1] = n + one.first;", False, False),
    ("p[1] = n + two.second;", True, True),
    ("REAL r = n; p[1] = r;", False, True),
]
MACROS = [
    "-DNEXT=(n=3)", "-Dnext_=(n=4)", "-Dnext_of(v)=(n=v)", "-DSIZE=16", "-DASIDE=17", "-Dfirst=q+0*(n=5)", "-DREAL=int",
]
OF_GIVEN = """
#ifndef DEFAULT
#define DEFAULT 3
#endif
#if ASIDE > 3
struct named {{ int q; }};
#endif
struct two_of {{ int unused, second; }};
static __attribute__((device)) two_of two;
static __attribute__((device)) named one;
{kernels}
"""


@pytest.mark.parametrize("recorded", ["", "-grecord-command-line", "-fdebug-macro"])
def test_macros_of_the_command_line_may_be_anything(recorded: str, tmp_path: Path) -> None:
    kernels = "\n".join(KERNEL.format(number=i, statements=row[0]) for i, row in enumerate(GIVEN))
    (tmp_path / "k.hip").write_text(OF_GIVEN.format(kernels=kernels))
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a",
         "--no-gpu-bundle-output", "-g", "-O1", "-w", *MACROS, *recorded.split(), "k.hip", "-o", "k.co"],
        cwd=tmp_path, check=True, timeout=120,
    )
    kept = {number for number in range(len(GIVEN)) if "n" in names(tmp_path / "k.co", number)}
    assert kept == {number for number, row in enumerate(GIVEN) if row[2 if recorded else 1]}


def test_a_text_without_checksum_must_have_tokens_where_code_comes_from(tmp_path: Path) -> None:
    source, text = tmp_path / "k.hip", KERNEL.format(number=0, statements="p[1] = n * 3;")
    source.write_text(text)
    subprocess.run(
        ["clang-22", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a",
         "--no-gpu-bundle-output", "-gdwarf-4", "-O1", "-w", "k.hip", "-o", "k.co"],
        cwd=tmp_path, check=True, timeout=120,
    )
    for changed, kept in [(text, True), (text.replace("p[1] = n * 3;", "p[1]  = n+30;"), False)]:
        source.write_text(changed)
        os.utime(source, ns=(0, 0))
        assert ("n" in names(tmp_path / "k.co", 0)) is kept
