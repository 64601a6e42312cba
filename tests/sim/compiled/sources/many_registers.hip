// More than 256 values at once: gfx1250 has 1024 vector registers, of which an operand names one of 256.
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(32, 32), amdgpu_waves_per_eu(1, 1))) void
#define LANE __builtin_amdgcn_workitem_id_x()
#define ALL_ARE_LOADED asm volatile("" ::: "memory")
constexpr int COUNT = 300;

KERNEL products(float *out, const float *in)
{
    float x[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        x[i] = in[i * 32 + LANE];
    ALL_ARE_LOADED;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        out[i * 32 + LANE] = __builtin_fmaf(x[i], x[COUNT - 1 - i], x[(i + 100) % COUNT]);
}

KERNEL wide(double *out, const double *in)
{
    double x[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        x[i] = in[i * 32 + LANE];
    ALL_ARE_LOADED;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        out[i * 32 + LANE] = __builtin_fma(x[i], 3.0, x[COUNT - 1 - i]);
}

KERNEL constants(float *out, const float *in)
{
    float x[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        x[i] = in[i * 32 + LANE];
    ALL_ARE_LOADED;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        out[i * 32 + LANE] = __builtin_fmaf(x[i], 1234.5f, x[COUNT - 1 - i]) + __builtin_fmaf(x[i], x[(i + 7) % COUNT], 77.25f);
}

KERNEL shared(unsigned *out, const unsigned *in)
{
    __attribute__((shared)) unsigned memory[32 * COUNT];
    unsigned x[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        x[i] = in[i * 32 + LANE];
    ALL_ARE_LOADED;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        memory[i * 32 + (x[i] & 31)] = x[COUNT - 1 - i];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        x[i] = memory[i * 32 + LANE] ^ x[i];
    ALL_ARE_LOADED;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        out[i * 32 + LANE] = x[i] + (x[(i + 1) % COUNT] > x[i] ? 5u : 9u);
}
