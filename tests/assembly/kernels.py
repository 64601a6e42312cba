"""Kernels written by hand, without `.type` and `.size`; functions that assemble and debug them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from rocdbg import Debugger

HEAD = '\t.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n'
TAIL = """
	.rodata
	.p2align 6
	.amdhsa_kernel {kernel}
	.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.amdhsa_next_free_vgpr 16
	.amdhsa_next_free_sgpr 40
	{more}
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {{.name: {kernel}, .symbol: {kernel}.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 40,
     .vgpr_count: 16, .max_flat_workgroup_size: 256,
     .args: [{{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global, .name: p}}]}}
...
	.end_amdgpu_metadata
"""
LAUNCH = """
[launch]
file = "k.co"
kernel = "{kernel}"
grid = [64, 1, 1]
workgroup = [64, 1, 1]
[[arg]]
name = "p"
buffer = "u32[64]"
init = "zeros"
"""

# A loop between labels, as authors write it first.
LOOP = """\
	.text
	.p2align 8
	.globl k
k:
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	v_lshlrev_b32 v1, 2, v0
	s_mov_b32 s4, 3
	s_waitcnt lgkmcnt(0)
L_loop:
	v_add_u32 v0, 1, v0
	s_sub_u32 s4, s4, 1
	s_cmp_gt_u32 s4, 0
	s_cbranch_scc1 L_loop
L_done:
	global_store_dword v1, v0, s[2:3]
	s_endpgm
"""

# Names for registers, functions that return through registers of their own, labels that no symbol table has.
CALLS = """\
	.set s_ptr, 0
	.set v_tid, 0
	.set v_acc, 4
	.equ N_ITER, 3
	.set big, 0x123456789a
	.set neg, -5
	s_cnt = 8
	.text
	.p2align 8
scale:                              // returns through s[10:11]
	v_mul_lo_u32 v[v_acc], v[v_acc], 2
	s_cmp_eq_u32 s8, 2
	s_cbranch_scc0 1f
	v_add_u32 v[v_acc], 100, v[v_acc]
1:
	s_nop 0
	s_setpc_b64 s[10:11]
deep:
	s_mov_b64 s[20:21], s[12:13]
	s_getpc_b64 s[14:15]
	s_add_u32 s14, s14, scale@rel32@lo+4
	s_addc_u32 s15, s15, scale@rel32@hi+12
	s_swappc_b64 s[10:11], s[14:15]
	s_setpc_b64 s[20:21]
	.p2align 8
kern:
	s_load_dwordx2 s[2:3], s[s_ptr:s_ptr+1], 0x0
	v_lshlrev_b32 v1, 2, v[v_tid]
	v_mov_b32 v[v_acc], v0
	v_mov_b32 v[v_acc+1], 1.0
	s_mov_b32 s[s_cnt], N_ITER
	s_waitcnt lgkmcnt(0)
.Lloop:
	s_call_b64 s[10:11], scale
	s_sub_u32 s8, s8, 1
	s_cmp_gt_u32 s8, 0
	s_cbranch_scc1 .Lloop
	v_cmp_gt_u32 vcc, 5, v0
	s_and_saveexec_b64 s[16:17], vcc
	s_cbranch_execz L_join
	v_add_u32 v[v_acc], 7, v[v_acc]
	s_getpc_b64 s[14:15]
	s_add_u32 s14, s14, deep@rel32@lo+4
	s_addc_u32 s15, s15, deep@rel32@hi+12
	s_swappc_b64 s[12:13], s[14:15]
L_join:
	s_mov_b64 exec, s[16:17]
L_done:
	global_store_dword v1, v[v_acc], s[2:3]
	s_endpgm
"""


def build(folder: Path, text: str, kernel: str, target: str = "gfx90a", *options: str, debug: bool = True) -> Path:
    """Assemble and link a kernel, and write a launch file for it; return the path of the launch file."""
    more = ".amdhsa_accum_offset 16" if target == "gfx90a" else ""
    (folder / "k.s").write_text(HEAD.format(target=target) + text + TAIL.format(kernel=kernel, more=more))
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}", "-filetype=obj", "-o", "k.o", "k.s"]
    subprocess.run([*command, *(["-g"] if debug else [])], check=True, cwd=folder)
    subprocess.run(["ld.lld-22", "-shared", *options, "k.o", "-o", "k.co"], check=True, cwd=folder)
    launch = folder / "k.toml"
    launch.write_text(LAUNCH.format(kernel=kernel))
    return launch


def session(launch: Path, commands: str) -> dict[str, str]:
    """The output of each of some commands, given one per line."""
    debugger = Debugger(launch)
    return {line: debugger.execute(line, to_string=True) for line in commands.strip().splitlines()}
