// Debug traps, and variables of functions that other places name: helper::inner, 'traps.hip'::hidden.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define ITEM (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())

static __device__ int hidden = 21;

__device__ int helper(int n)
{
    static int inner = 12;
    __shared__ int tally[4];
    tally[n & 3] = n;
    inner += n + hidden;
    return inner + tally[1];
}

__device__ static inline __attribute__((always_inline)) void check(int i)
{
    if (i == 5)
        __builtin_debugtrap(); // in a call inlined
}

extern "C" __global__ void kern(int *out, int n)
{
    int i = ITEM;
    check(i);
    __builtin_debugtrap(); // in the kernel
    out[i] = helper(i + n);
}

extern "C" __global__ void other(int *out, int n)
{
    extern __shared__ int dynamic[];
    int i = ITEM;
    dynamic[i] = n;
    out[i] = helper(i) + dynamic[0]; // dynamic LDS is written
}
