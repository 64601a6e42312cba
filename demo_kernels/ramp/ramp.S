// output[i] = i * i + bias, written by hand. One source for all targets: what differs between the
// generations is in the macros below.

#if defined(__gfx1030__) || defined(__gfx1100__)
#define ADD v_add_nc_u32
#define WAVE32 1
#else
#define ADD v_add_u32
#define WAVE32 0
#endif

.text
.globl ramp
.p2align 8
.type ramp,@function
ramp:                                   // s[0:1] kernarg segment, s2 workgroup, v0 work-item
    s_load_dwordx2 s[4:5], s[0:1], 0x0  // output
    s_load_dword s6, s[0:1], 0x8        // bias
    s_lshl_b32 s7, s2, 6                // 64 work-items a workgroup
    v_and_b32 v0, 0x3ff, v0             // x of a packed work-item id
    ADD v0, s7, v0                      // i
    v_mul_lo_u32 v1, v0, v0
    v_lshlrev_b32 v2, 2, v0             // byte offset
    s_waitcnt lgkmcnt(0)
    ADD v1, s6, v1
    global_store_dword v2, v1, s[4:5]
    s_endpgm
.Lend:
.size ramp, .Lend - ramp

.rodata
.p2align 6
.amdhsa_kernel ramp
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_system_sgpr_workgroup_id_x 1
    .amdhsa_next_free_vgpr 3
    .amdhsa_next_free_sgpr 8
    .amdhsa_kernarg_size 16
#if defined(__gfx90a__) || defined(__gfx942__)
    .amdhsa_accum_offset 4
#endif
#if WAVE32
    .amdhsa_wavefront_size32 1
#endif
.end_amdhsa_kernel

.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: ramp
    .symbol: ramp.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
#if WAVE32
    .wavefront_size: 32
#else
    .wavefront_size: 64
#endif
    .sgpr_count: 8
    .vgpr_count: 3
    .max_flat_workgroup_size: 64
    .args:
      - {.name: output, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
      - {.name: bias, .size: 4, .offset: 8, .value_kind: by_value}
...
.end_amdgpu_metadata
