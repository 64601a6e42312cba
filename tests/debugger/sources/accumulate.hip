// Sums that each lane keeps for itself, and a local that a called function changes.
__attribute__((device, noinline)) void put(int *place, int value)
{
    *place = value;
    *place = value + 1;
}

extern "C" __attribute__((global)) void accumulate(const float *in, float *out, int n)
{
    int lane = __builtin_amdgcn_workitem_id_x();
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += in[k * 32 + lane];
    out[lane] = sum;
}

extern "C" __attribute__((global)) void host(int *out)
{
    int x = 0;
    int v = __builtin_amdgcn_workitem_id_x();
    put(&x, v);
    put(&x, v + 7);
    out[v] = x;
}
