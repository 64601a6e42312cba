"""Link-time optimisation by GCC: functions are described before GCC decides which of them to inline."""

from __future__ import annotations

import subprocess
from pathlib import Path

from rocdbg.dwarf.info import DebugInfo
from tests.dwarf.info.conftest import debug_sections

SOURCE = """
static inline int twice(int v) { __asm__ volatile("nop"); return 2 * v + 1; }
static int never(int v) { return v; }
int both(int v);
int used(int *p) { int a = both(p[0]); p[1] = a; return twice(p[2]) + sizeof(never); }
__attribute__((noinline)) int both(int v) { return v * v; }
int again(int v) { return both(v) + twice(v); }
"""


def test_functions(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(SOURCE)
    command = ["gcc", "-g", "-O2", "-flto", "-shared", "-fPIC", "-w", "a.c", "-o", "a.so"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    info = DebugInfo(debug_sections(tmp_path / "a.so"), architecture="")
    (twice,) = info.functions_named("twice")
    assert not twice.is_inline and not twice.ranges
    assert len(info.inlined_instances(twice)) == 2
    (both,) = info.functions_named("both")
    assert both.ranges and info.inlined_instances(both) == []
    assert info.functions_named("never") == []
