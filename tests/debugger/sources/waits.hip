#define __global__ __attribute__((global))
#define __device__ __attribute__((device, noinline))

__device__ int deep(int n, int d)
{
    volatile int kept = n;
    if (n <= 0)
        return d;
    return deep(n - 1, d + 1) + kept;
}

extern "C" __global__ void waits(volatile int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x(), s = 0;
    if (i == 0) {
        for (int j = 0; j < n; ++j)
            s += out[j & 63] ^ i;
    } else {
        s = i * 3;
    }
    out[i] = s;
    for (int j = 0; j < n; ++j) s += out[(i + j) & 63] & 1;
    s += deep((n - i) & 7, 0);
    for (int j = 0; j < 20; ++j)
        if (j % 3 == (i & 1))
            s += deep(j & 3, j);
    out[i] = s;
}
