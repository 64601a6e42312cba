// Functions that only gfx1250 has as instructions.
#define KERNEL(name, type, function) \
    extern "C" __attribute__((global)) void name(type *out, const type *in) \
    { \
        int i = __builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workgroup_id_x(); \
        out[i] = function(in[i]); \
    }

KERNEL(tanh_f32, float, __builtin_amdgcn_tanhf)
KERNEL(tanh_f16, _Float16, __builtin_amdgcn_tanhh)
KERNEL(tanh_bf16, __bf16, __builtin_amdgcn_tanh_bf16)
KERNEL(exp2_bf16, __bf16, __builtin_amdgcn_exp2_bf16)
KERNEL(log2_bf16, __bf16, __builtin_amdgcn_log_bf16)
KERNEL(rcp_bf16, __bf16, __builtin_amdgcn_rcp_bf16)
KERNEL(rsq_bf16, __bf16, __builtin_amdgcn_rsq_bf16)
KERNEL(sqrt_bf16, __bf16, __builtin_amdgcn_sqrt_bf16)

extern "C" __attribute__((global)) void fma_bf16(__bf16 *out, const __bf16 *a, const float *b, const float *c)
{
    int i = __builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workgroup_id_x();
    out[i] = (__bf16)__builtin_fmaf((float)a[i], b[i], c[i]);
}

extern "C" __attribute__((global)) void copy(unsigned *out, const unsigned *in)
{
    __attribute__((shared)) unsigned memory[1024];
    int i = __builtin_amdgcn_workitem_id_x();
    typedef __attribute__((address_space(1))) int *Global;
    typedef __attribute__((address_space(3))) int *Local;
    __builtin_amdgcn_global_load_async_to_lds_b32((Global)(in + i), (Local)(memory + (i ^ 5)), 0, 0);
    __builtin_amdgcn_s_wait_asynccnt(0);
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_global_store_async_from_lds_b32((Global)(out + i), (Local)(memory + i), 0, 0);
    __builtin_amdgcn_s_wait_asynccnt(0);
}
