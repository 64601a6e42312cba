// HIP without its headers: cross-lane operations, ballots, clocks, traps, messages.
#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
typedef unsigned u32;
typedef unsigned long u64;

DEVICE static inline u32 lane() {
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}

KERNEL void shuffles(u32 *out, const u32 *in) {
    u32 i = __builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workgroup_id_x();
    u32 v = in[i];
    v += __builtin_amdgcn_ds_bpermute((lane() ^ 1) * 4, v);
    v += __builtin_amdgcn_ds_permute((lane() + 1) * 4, v);
    v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, false);
    v += __builtin_amdgcn_update_dpp(v, v, 0xb1, 0xf, 0xe, true);
    v += __builtin_amdgcn_ds_swizzle(v, 0x401f);
    v ^= __builtin_amdgcn_readfirstlane(v) + __builtin_amdgcn_readlane(v, 5);
    out[i] = v;
}

KERNEL void clocks(u64 *out) {
    u64 t = __builtin_readcyclecounter();
    __builtin_amdgcn_s_sleep(3);
    out[__builtin_amdgcn_workitem_id_x()] = __builtin_readcyclecounter() - t;
    out[1] = __builtin_amdgcn_s_getreg(0x1801);
    if (out[2] == 7) __builtin_trap();
    __builtin_amdgcn_s_barrier();
}

KERNEL void ballots(u64 *out, const float *x, float a) {
    u32 i = __builtin_amdgcn_workitem_id_x();
    u64 m = __builtin_amdgcn_read_exec();
    if (x[i] > a) m ^= __builtin_amdgcn_fcmpf(x[i], a + 1.0f, 2);
    out[i] = m + __builtin_popcountl(m);
}
