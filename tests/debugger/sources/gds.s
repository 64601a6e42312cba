// A dword in global data share, written and read back.
.text
.globl share
.p2align 8
.type share,@function
share:
  v_mov_b32 v1, 8
  v_mov_b32 v2, 0x1234
  s_mov_b32 m0, 0x1000
  ds_write_b32 v1, v2 gds
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v3, v1 gds
  s_waitcnt lgkmcnt(0)
  s_endpgm
.Lend:
.size share, .Lend-share
.rodata
.p2align 6
.amdhsa_kernel share
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: share, .symbol: share.kd, .kernarg_segment_size: 0, .group_segment_fixed_size: 0,
     .private_segment_fixed_size: 0, .kernarg_segment_align: 8, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 16,
     .max_flat_workgroup_size: 256}
...
.end_amdgpu_metadata
