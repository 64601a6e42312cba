"""Shaders of AMDPAL and Mesa: made by LLVM from its own language, and listed; compute shaders run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import msgpack
import pytest

from rocdbg import Debugger
from rocdbg.codeobject import CodeObject, Shader
from rocdbg.codeobject.shaders import mapping_text
from rocdbg.errors import Error

pytestmark = pytest.mark.llvm

# out[i] = in[i] * factor, read through private memory, + what is in entry 12 + the count of workgroups
BODY = """
  %l = zext i32 %lo to i64
  %h = zext i32 %hi to i64
  %h2 = shl i64 %h, 32
  %a = or i64 %l, %h2
  %p = inttoptr i64 %a to ptr addrspace(1)
  %x = and i32 %tid, 1023
  %b = mul i32 %group, 32
  %i = add i32 %b, %x
  %e = getelementptr i32, ptr addrspace(1) %p, i32 %i
  %v = load i32, ptr addrspace(1) %e
  %m = mul i32 %v, %factor
  %s = alloca [4 x i32], addrspace(5)
  %k = and i32 %factor, 3
  %sp = getelementptr i32, ptr addrspace(5) %s, i32 %k
  store volatile i32 %m, ptr addrspace(5) %sp
  %m2 = load volatile i32, ptr addrspace(5) %sp
"""
PAL = f"""
declare i64 @llvm.amdgcn.s.getpc()
declare i32 @llvm.amdgcn.workgroup.id.x()
define amdgpu_cs void @scale(i32 inreg %git, i32 inreg %lo, i32 inreg %hi, i32 inreg %factor, i32 inreg %spill,
    i32 inreg %clo, i32 inreg %chi, i32 inreg %id, i32 %tid) {{
  %group = GROUP
{BODY}
  %pc = call i64 @llvm.amdgcn.s.getpc()
  %high = and i64 %pc, -4294967296
  %sl = zext i32 %spill to i64
  %st = or i64 %high, %sl
  %stp = inttoptr i64 %st to ptr addrspace(4)
  %s12 = getelementptr i32, ptr addrspace(4) %stp, i32 12
  %spilled = load i32, ptr addrspace(4) %s12
  %cl = zext i32 %clo to i64
  %ch = zext i32 %chi to i64
  %ch2 = shl i64 %ch, 32
  %ca = or i64 %cl, %ch2
  %cp = inttoptr i64 %ca to ptr addrspace(4)
  %groups = load i32, ptr addrspace(4) %cp
  %t = add i32 %m2, %spilled
  %r = add i32 %t, %groups
  store i32 %r, ptr addrspace(1) %e
  ret void
}}
define amdgpu_ps <4 x float> @pixel(i32 inreg %git, float %x) {{
  %r = insertelement <4 x float> zeroinitializer, float %x, i32 0
  ret <4 x float> %r
}}
"""
MESA = f"""
define amdgpu_cs void @scale(i32 inreg %lo, i32 inreg %hi, i32 inreg %factor, i32 inreg %group, i32 %tid) {{
{BODY}
  store i32 %m2, ptr addrspace(1) %e
  ret void
}}
define i32 @called(i32 %x) noinline {{
  ret i32 %x
}}
define amdgpu_kernel void @kernel(ptr addrspace(1) %out, i32 %v) {{
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %e = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %e
  ret void
}}
"""
GLOBAL_TABLE, SPILL_TABLE, GROUP_COUNTS = 0x10000000, 0x10000002, 0x10000006
MAPPING = [GLOBAL_TABLE, 0, 1, 2, SPILL_TABLE, GROUP_COUNTS]
"""The mapping of the first six registers; the address of the counts takes the seventh too."""
REGISTERS = {0x2E13: 7 << 1 | 1 << 7} | {0x2E40 + index: word for index, word in enumerate(MAPPING)}
METADATA = {
    2: {".registers": REGISTERS},
    3: {
        ".compute_registers": {".tgid_x_en": True},
        ".hardware_stages": {".cs": {".user_sgprs": 7, ".user_data_reg_map": MAPPING + [0xFFFFFFFF] * 26}},
    },
}


def compiled(folder: Path, text: str, triple: str, processor: str, metadata: Any = None) -> Path:
    source = f'target triple = "{triple}"\n{text}\n'
    if isinstance(metadata, dict):
        data = "".join(f"\\{byte:02X}" for byte in msgpack.packb(metadata))
        source += f'!amdgpu.pal.metadata.msgpack = !{{!0}}\n!0 = !{{!"{data}"}}\n'
    elif metadata is not None:
        source += f"!amdgpu.pal.metadata = !{{!0}}\n!0 = !{{{', '.join(f'i32 {word}' for word in metadata)}}}\n"
    command = ["llc-22", f"-mcpu={processor}", "-filetype=obj", "-o", "shader.o"]
    subprocess.run(command, input=source, text=True, check=True, cwd=folder)
    return folder / "shader.o"


def compiled_pal(folder: Path, processor: str, version: int) -> Path:
    root = {"amdpal.version": [version, 0], "amdpal.pipelines": [METADATA[version]]}
    group = "call i32 @llvm.amdgcn.workgroup.id.x()" if processor.startswith("gfx12") else "add i32 %id, 0"
    return compiled(folder, PAL.replace("GROUP", group), "amdgcn-amd-amdpal", processor, root)


def launch(path: Path, kernel: str, more: str, expect: object) -> Path:
    file = path.with_suffix(".toml")
    file.write_text(f"""[launch]
file = "{path.name}"
kernel = "{kernel}"
grid = 64
workgroup = 32
{more}
[[arg]]
name = "data"
buffer = "u32[64]"
init = "arange"
offset = 0
expect = {expect}
""")
    return file


@pytest.mark.parametrize(
    ("processor", "version"), [("gfx900", 2), ("gfx1030", 2), ("gfx1100", 3), ("gfx1201", 3), ("gfx1201", 2)]
)
def test_a_compute_shader_of_pal(processor: str, version: int, tmp_path: Path) -> None:
    path = compiled_pal(tmp_path, processor, version)
    data = [0, 0, 3, *[0] * 9, 100]
    debugger = Debugger(launch(path, "scale", f"user_data = {data}", [3 * n + 102 for n in range(64)]))
    assert "exited normally" in debugger.execute("run", to_string=True)
    debugger.execute("start")
    assert debugger.execute("output $s3", to_string=True) == "3"
    debugger.execute("stepi 3")
    debugger.execute(f"record save {tmp_path}/run")
    restored = Debugger()
    restored.execute(f"record restore {tmp_path}/run")
    assert restored.execute("output $s3", to_string=True) == "3"


def test_what_is_listed_of_pal(tmp_path: Path) -> None:
    debugger = Debugger(compiled_pal(tmp_path, "gfx1030", 2))
    listed = [line.split() for line in debugger.execute("info kernels", to_string=True).splitlines()[1:]]
    assert [" ".join(line) for line in listed] == [
        "scale 8 128 0 32 0 16 (waves) cs (compute): s0 global internal table, s1-s3 entries 0-2, s4 spill table, "
        "s5 address of the workgroup counts",
        "pixel 8 128 0 0 0 16 (waves) ps (pixels)",
    ]
    metadata = debugger.execute("info metadata", to_string=True)
    for line in (
        "11795:           143  # COMPUTE_PGM_RSRC2",
        "11840:           268435456  # COMPUTE_USER_DATA_0: global internal table",
        "11841:           0  # COMPUTE_USER_DATA_1: entry 0",
        "11844:           268435458  # COMPUTE_USER_DATA_4: spill table",
        "41395:           1  # SPI_PS_INPUT_ENA",
    ):
        assert f"      {line}\n" in metadata


@pytest.mark.parametrize("processor", ["gfx900", "gfx1030", "gfx1100"])
def test_mesa(processor: str, tmp_path: Path) -> None:
    path = compiled(tmp_path, MESA, "amdgcn-mesa-mesa3d", processor)
    # A driver adds the workgroup's id and its own user data to what the compiler requests.
    more = "user_data = [0, 0, 3]\nregisters = { COMPUTE_PGM_RSRC2 = 0x8b }"
    debugger = Debugger(launch(path, "scale", more, [3 * n for n in range(64)]))
    assert "exited normally" in debugger.execute("run", to_string=True)
    rows = debugger.execute("info kernels", to_string=True).splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["kernel", "scale"]
    assert "11795:           5  # COMPUTE_PGM_RSRC2" in debugger.execute("info metadata", to_string=True)


def test_no_operating_system(tmp_path: Path) -> None:
    text = """
define amdgpu_cs void @scale(i32 inreg %lo, i32 inreg %hi, i32 inreg %factor, i32 inreg %group, i32 %tid) {
  %x = and i32 %tid, 1023
  %b = mul i32 %group, 32
  %i = add i32 %b, %x
  %l = zext i32 %lo to i64
  %h = zext i32 %hi to i64
  %h2 = shl i64 %h, 32
  %a = or i64 %l, %h2
  %p = inttoptr i64 %a to ptr addrspace(1)
  %e = getelementptr i32, ptr addrspace(1) %p, i32 %i
  %v = load i32, ptr addrspace(1) %e
  %m = mul i32 %v, %factor
  store i32 %m, ptr addrspace(1) %e
  %odd = icmp eq i32 %group, 1
  br i1 %odd, label %trap, label %rest
trap:
  call void @llvm.trap()
  unreachable
rest:
  store i32 5, ptr addrspace(1) %e
  ret void
}
"""
    path = compiled(tmp_path, text, "amdgcn--", "gfx900")
    more = "user_data = [0, 0, 3]\nregisters = { COMPUTE_PGM_RSRC2 = 0x86 }"
    debugger = Debugger(launch(path, "scale", more, [5] * 32 + [3 * n for n in range(32, 64)]))
    output = debugger.execute("run", to_string=True)
    assert "as expected" in output
    assert "exited normally" in output  # llvm.trap ends the wave, and no more
    assert "cs (compute)" in debugger.execute("info kernels", to_string=True)


CHAIN = """
declare void @llvm.amdgcn.cs.chain(ptr, i32, <3 x i32>, i32, i32, ...)
define amdgpu_cs_chain void @second(<3 x i32> inreg %s, i32 %x) {
  %lo = extractelement <3 x i32> %s, i32 0
  %hi = extractelement <3 x i32> %s, i32 1
  %factor = extractelement <3 x i32> %s, i32 2
  %l = zext i32 %lo to i64
  %h = zext i32 %hi to i64
  %h2 = shl i64 %h, 32
  %a = or i64 %l, %h2
  %p = inttoptr i64 %a to ptr addrspace(1)
  %e = getelementptr i32, ptr addrspace(1) %p, i32 %x
  %m = mul i32 %x, %factor
  store i32 %m, ptr addrspace(1) %e
  ret void
}
define amdgpu_cs void @first(<3 x i32> inreg %s, i32 %tid) {
  %x = and i32 %tid, 1023
  call void(ptr, i32, <3 x i32>, i32, i32, ...) @llvm.amdgcn.cs.chain(
      ptr @second, i32 -1, <3 x i32> inreg %s, i32 %x, i32 0)
  unreachable
}
"""


def test_a_chain_of_shaders(tmp_path: Path) -> None:
    registers = {0x2E13: 3 << 1, **{0x2E40 + n: n for n in range(3)}}
    root = {"amdpal.version": [2, 1], "amdpal.pipelines": [{".registers": registers}]}
    path = compiled(tmp_path, CHAIN, "amdgcn-amd-amdpal", "gfx1200", root)
    expect = [3 * n for n in range(32)] + list(range(32, 64))
    debugger = Debugger(launch(path, "first", "user_data = [0, 0, 3]", expect))
    debugger.execute("break second")
    assert "in second ()" in debugger.execute("run", to_string=True)
    debugger.execute("delete")
    assert "exited normally" in debugger.execute("continue", to_string=True)


OPENCL = """
struct pair { int first; float second; };
int helper(int x) { return x * 3; }
kernel void k(global int *out, int v) {
  struct pair both = {v, 2.0f};
  out[__builtin_amdgcn_workitem_id_x()] = helper(both.first);
}
"""


def test_debug_information_of_mesa(tmp_path: Path) -> None:
    command = ["clang-22", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-mesa-mesa3d", "-mcpu=gfx900", "-nogpulib"]
    command += ["-g", "-O0", "-c", "-", "-o", "shader.o"]
    subprocess.run(command, input=OPENCL, text=True, check=True, cwd=tmp_path)
    more = 'kernarg = ""\n[[arg]]\nvalue = 7\ntype = "u32"\noffset = 8\n'
    file = launch(tmp_path / "shader.o", "k", more, [21] * 32 + list(range(32, 64)))
    debugger = Debugger(file)
    debugger.execute("break helper")
    assert "helper (x=7)" in debugger.execute("run", to_string=True)
    assert ", v=7) at " in debugger.execute("up", to_string=True)
    assert debugger.execute("info locals", to_string=True) == "both = {first = 7, second = 2}\n"
    debugger.execute("delete")
    assert "exited normally" in debugger.execute("continue", to_string=True)


def test_a_kernel_of_mesa(tmp_path: Path) -> None:
    path = compiled(tmp_path, MESA, "amdgcn-mesa-mesa3d", "gfx900")
    more = '[[arg]]\nvalue = 7\ntype = "u32"\noffset = 8\n'
    file = launch(path, "kernel", 'kernarg = ""\n' + more, [7] * 32 + list(range(32, 64)))
    assert "exited normally" in Debugger(file).execute("run", to_string=True)


def test_the_first_form_of_pals_metadata(tmp_path: Path) -> None:
    text = PAL.replace("@scale", "@_amdgpu_cs_main").replace("GROUP", "add i32 %id, 0")
    pairs = [word for pair in REGISTERS.items() for word in pair]
    path = compiled(tmp_path, text, "amdgcn-amd-amdpal", "gfx900", pairs)
    expect = [3 * n + 102 for n in range(64)]
    debugger = Debugger(launch(path, "_amdgpu_cs_main", f"user_data = {[0, 0, 3, *[0] * 9, 100]}", expect))
    assert "exited normally" in debugger.execute("run", to_string=True)
    assert "  11840:           268435456  # COMPUTE_USER_DATA_0" in debugger.execute("info metadata", to_string=True)


def test_registers_without_a_mapping_are_those_of_the_text(tmp_path: Path) -> None:
    root = {"amdpal.version": [2, 1], "amdpal.pipelines": [{}]}
    text = PAL.replace("GROUP", "add i32 %id, 0")
    shader = CodeObject(compiled(tmp_path, text, "amdgcn-amd-amdpal", "gfx900", root).read_bytes()).kernels["scale"]
    assert isinstance(shader, Shader)
    assert mapping_text(shader.program, 16) == (
        "s0 global internal table, s1 per-shader internal table, s2-s11 entries 0-9, s12 spill table, "
        "s13 address of the workgroup counts, s15 GDS range"
    )


@pytest.mark.parametrize(
    ("kernel", "more", "reason"),
    [
        ("pixel", "user_data = []", "it is a shader for pixels (ps); only compute shaders can be launched"),
        ("scale", 'kernarg = ""', "[launch] kernarg: scale is a shader; give `user_data`"),
        ("scale", "", "`offset` can be given only with `user_data`"),
        (
            "scale", "user_data = []\nregisters = { COMPUTE_PGM_RSRC2 = 0 }",
            "user data is given, but COMPUTE_PGM_RSRC2 of the shader asks for none",
        ),
        (
            "scale", "user_data = []\nregisters = { COMPUTE_USER_DATA_3 = 0x1000000b }",
            "its user data asks for view id, which no dispatch has",
        ),
        ("scale", "user_data = [-1]", "[launch] user_data: [-1] is not a list of 32-bit numbers"),
        ("scale", "registers = { S0 = 1 }", "register S0 cannot be given for a launch; those that can are "
        "COMPUTE_PGM_RSRC1"),
        ("scale", "registers = 5", "[launch] registers: 5 is not a table of 32-bit numbers"),
    ],
)  # fmt: skip
def test_bad_launches(kernel: str, more: str, reason: str, tmp_path: Path) -> None:
    file = launch(compiled_pal(tmp_path, "gfx900", 2), kernel, more, [0] * 64)
    with pytest.raises(Error) as caught:
        Debugger(file).execute("run")
    assert reason in str(caught.value)
