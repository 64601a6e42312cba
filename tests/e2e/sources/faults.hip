// One kernel per way to go wrong. Lanes do so on the line marked "here".
#include "trace.h"

__device__ int *volatile nowhere;

extern "C" __global__ void global_write(int *out, int n)
{
    int i = ITEM;
    int *p = out + i;
    if (i % 16 == 3)
        p += 1 << 28;
    *p = i;                                              // here: global_write
}

extern "C" __global__ void null_read(int *out, int n)
{
    int i = ITEM;
    int *p = i == n ? nullptr : out;
    out[i] = *p;                                         // here: null_read
}

extern "C" __global__ void lds_read(int *out, int n)
{
    __shared__ int tile[64];
    int i = ITEM;
    tile[i & 63] = i;
    SYNC();
    int j = i == n ? 1 << 20 : i & 63;
    out[i] = tile[j];                                    // here: lds_read
}

extern "C" __global__ void private_write(int *out, int n)
{
    int a[8];
    int i = ITEM;
    volatile int *p = a;
    if (i == n)
        p += 1 << 24;
    p[i & 7] = 1;                                        // here: private_write
    out[i] = p[i & 7];
}

__device__ __noinline__ int load(const int *p, int k)
{
    int wanted = k * 2;
    return p[wanted];                                    // here: deep
}

extern "C" __global__ void deep(int *out, int n)
{
    int i = ITEM;
    int k = i == n ? 1 << 27 : 1;
    out[i] = load(out, k);                               // call: deep
}

extern "C" __global__ void abort_some(int *out, int n)
{
    int i = ITEM;
    out[i] = i;
    if (i == n)
        __builtin_trap();                                // here: abort_some
}

extern "C" __global__ void stop_here(int *out, int n)
{
    int i = ITEM;
    if (i % 2)
        __builtin_debugtrap();                           // here: stop_here
    out[i] = i + 1;
}

extern "C" __global__ void bad_code(int *out, int n)
{
    int i = ITEM;
    __asm__ volatile(".long 0xbf7fffff");                // here: bad_code
    out[i] = i;
}

extern "C" __global__ void odd_atomic(int *out, int n)
{
    int i = ITEM;
    int *p = i == n ? (int *)((char *)out + 2) : out;
    __atomic_fetch_add(p, 1, __ATOMIC_RELAXED);          // here: odd_atomic
}

extern "C" __global__ void endless(int *out, int n)
{
    volatile int *p = out;
    while (p[0] != 123456)                               // here: endless
        ;
}
